package figures

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// SingleParent is one of the three settings of Figures 2 and 6.
type SingleParent struct {
	Name  string // chain, icl or random
	Title string
	Graph *graph.Forest
}

// SingleParents returns the settings of Figure 6, in its order.
func SingleParents() []SingleParent {
	return []SingleParent{
		{"chain", "Markov chain", graph.Chain(20)},
		{"icl", "In-context learning", graph.InContext(20)},
		{"random", "Random causal graph", trial.RandomGraph()},
	}
}

// SingleParentNamed returns the setting of a name: chain, icl or random.
func SingleParentNamed(name string) (SingleParent, error) {
	return named("setting of Figure 6", SingleParents(), func(s SingleParent) string { return s.Name }, name)
}

// Spec returns the authors' setting: S=10, T=20, rows Dirichlet(0.1), 2^17 steps on 1024 fresh
// sequences each, learning rate 1 with cosine decay, zero initialisation, 2^16 test sequences.
func (s SingleParent) Spec() train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: s.Graph.Parents(), States: 10, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Cosine},
		Batch:     1024, Steps: 1 << 17, Test: 1 << 16, Every: 1 << 10,
	}
}

// A SingleRun is the run of one of the settings of Figures 2 and 6.
type SingleRun struct {
	SingleParent
	Run    *runs.Run
	Losses *Losses // set by [SingleParentLosses]
}

// SingleRuns loads or trains the runs of the settings.
func SingleRuns(ctx context.Context, r *Results) ([]SingleRun, error) {
	return once(r, "single-parent", func() ([]SingleRun, error) {
		return trial.Each(ctx, SingleParents(), func(ctx context.Context, s SingleParent) (SingleRun, error) {
			run, err := r.Get(ctx, s.Spec())
			return SingleRun{SingleParent: s, Run: run}, err
		})
	})
}

// Weights returns the trained weights.
func (r SingleRun) Weights() *model.Weights { return r.Run.Final.Disentangled() }

// Recovered returns the number of edges p(i) -> i with argmax_j S(A1)_ij = p(i), and the number of all edges.
func (r SingleRun) Recovered() (found, edges int) {
	attention := r.Weights().PositionAttention()
	for _, e := range r.Graph.Edges() {
		if floats.MaxIdx(attention.RawRowView(e[1])) == e[0] {
			found++
		}
	}
	return found, len(r.Graph.Edges())
}

// Sparsity returns the sparsity pattern of the trained weights.
func (r SingleRun) Sparsity() Sparsity { return measureSparsity(r.Weights(), r.Graph) }

// on returns the run on the graph of a name: chain, icl or random.
func on(rs []SingleRun, name string) SingleRun {
	return rs[slices.IndexFunc(rs, func(r SingleRun) bool { return r.Name == name })]
}

// inductionHead is Figure 2: all weights of the run on the in-context-learning graph.
func inductionHead(rs []SingleRun) (*figure.Figure, error) {
	r := on(rs, "icl")
	f, err := WeightsFigure("", r.Weights(), r.Graph)
	if err != nil {
		return nil, err
	}
	f.Alt = "Heat maps of three weight matrices below arcs from odd positions to the next. In the first, the dark " +
		"cells of a framed block repeat the arcs; in the two others a framed block has a dark diagonal."
	f.Caption = `(a)~The in-context-learning graph. (b--d)~Weights after training on it (` + settingTeX(r.Run.Spec) +
		`). The outlined blocks are those of the sparsity pattern; each colour scale covers all entries of its matrix.`
	return f, nil
}

// singleParentFigure is Figure 6: adjacency matrix and attention weights for the three graphs,
// each relative to its largest magnitude, which its title names.
func singleParentFigure(rs []SingleRun) *figure.Figure {
	const side = 112.5 // of a matrix, in points
	f := &figure.Figure{
		Width: figure.TwoColumns,
		Alt: "Three rows, one for each graph: the adjacency matrix, the first attention matrix, whose framed " +
			"block repeats it, and the second, whose framed block has a dark diagonal.",
		Caption: `Adjacency matrix of the causal graph beside the trained attention matrices, for three graphs ` +
			`(` + settingTeX(rs[0].Run.Spec) + `). Each matrix is divided by its largest magnitude, which stands ` +
			`above it. The outlined blocks are those of the sparsity pattern: in $\widetilde A^{(1)}$ the graph ` +
			`returns. $X$ marks the coordinates of the tokens.`,
	}
	for _, r := range rs {
		w := r.Weights()
		adj := adjacencyMatrix(r.Title, matrixRows(r.Graph.Adjacency()))
		row := []*figure.Panel{adj}
		for l, a := range []*mat.Dense{w.A[0][0], w.A[1][0]} {
			groups := streamGroups(w, l)
			p, h := relative("$"+matrixLabel(l, "")+"$", a)
			if h.Rows, h.Columns, h.Blocks, h.Bar = groups, groups, [][4]int{{0, w.S + w.T, w.S, w.S}}, l == 1; l == 0 {
				h.Rows, h.Columns, h.Blocks, h.Numbered = groups[:1], groups[:1], [][4]int{{w.S, w.S, w.T, w.T}}, true
			}
			row = append(row, p)
		}
		for _, p := range row {
			p.Most = side
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// relative returns a matrix divided by its largest magnitude, which stands in the title.
func relative(title string, m *mat.Dense) (*figure.Panel, *figure.Heat) {
	largest := max(mat.Max(m), -mat.Min(m))
	var scaled mat.Dense
	scaled.Scale(1/largest, m)
	return figure.Matrix(fmt.Sprintf("%s / %.2f", title, largest), matrixRows(&scaled), true)
}

// lossFigure draws the test loss of the three runs along training, less the loss of the Bayes predictor.
func lossFigure(rs []SingleRun) *figure.Figure {
	start := rs[0].Run
	p := figure.New("").Axes("Step", "Loss above the Bayes predictor")
	p.Log(&p.X, &p.Y).Height = 120
	for k, r := range rs {
		var x, y []float64
		bayes := finals(r.Run)[0] + r.Losses.Bayes.Mean - r.Losses.Model.Mean
		for _, at := range r.Run.Curve[1:] {
			x, y = append(x, float64(at.Step)), append(y, at.Loss-bayes)
		}
		p.Curve(k, r.Title, x, y)
	}
	return figure.OneRow(figure.FullText,
		"Three falling curves of the loss above the Bayes predictor against the step, on logarithmic axes: the chain falls "+
			"first and ends highest, the random graph last.",
		fmt.Sprintf(`Test loss along training less the loss of the Bayes predictor, in nats, measured every %d steps, for `+
			`the three graphs of Figure 6. The logarithmic axis has no place for step 0, where the model predicts uniformly and `+
			`the loss is $\log %d = %.3f$.`, start.Spec.Every, start.Spec.S(), start.Curve[0].Loss), p)
}

// blocksTable compares the three blocks of the trained weights with the adjacency matrix
// and the identity, and has the relative size of the other entries.
func blocksTable(rs []SingleRun) *figure.Table {
	t := figure.NewTable(
		`The three blocks of the trained weights against the matrices that the paper says they become: `+
			`Pearson correlation of the entries, and the largest magnitude outside the block relative to the `+
			`largest inside.`,
		"Graph", "Matrix", "Target", "Correlation", "Outside / inside")
	target := map[string]string{"A1": "adjacency", "A2": "$I_S$", "W": "$I_S$"}
	title := map[string]string{"A1": titleA1, "A2": titleA2, "W": titleW}
	for _, r := range rs {
		for _, b := range r.Sparsity().Blocks() {
			t.Add(r.Title, title[b.Name], target[b.Name], figure.Value(b.Correlation, 4), b.Outside)
		}
	}
	return t
}

// lossTable has the final losses of each run and of the reference predictors.
func lossTable(rs []SingleRun) *figure.Table {
	heads := []string{"Predictor"}
	for _, r := range rs {
		heads = append(heads, r.Title)
	}
	t := figure.NewTable(
		fmt.Sprintf(`Log-loss in nats on %d test sequences, with standard errors; the last two rows are `+
			`paired differences. The Bayes predictor averages %d draws for each sequence.`,
			rs[0].Losses.Sequences, rs[0].Losses.Draws), heads...)
	for _, kind := range lossKinds {
		row := []any{kind.title}
		for _, r := range rs {
			row = append(row, kind.of(r.Losses))
		}
		t.Add(row...)
	}
	return t
}

// smallEntries is the largest ratio of entries outside a block to the largest inside that counts as small.
const smallEntries = 0.2

// weightRows are the rows on Figures 2 and 6. A block becomes the adjacency matrix if each of its rows is
// largest at the parent, and the identity if r > 0.99; other entries remain small up to smallEntries.
func weightRows(rs []SingleRun) []Row {
	var rows []Row
	identity, least, most := 1.0, math.Inf(1), 0.0
	for _, r := range rs {
		s := r.Sparsity()
		identity = min(identity, s.A2.Correlation, s.W.Correlation)
		least, most = min(least, s.Outside()), max(most, s.Outside())
		rows = append(rows, adjacencyRow(r, "fig-single-parent", r.Title+", block of A1"))
	}
	ones, rest := identityRow(identity), restRow(most)
	ones.Figure, ones.ID, ones.Interval = 6, "fig-single-parent", "three runs"
	rest.Figure, rest.ID, rest.Interval = 6, "fig-single-parent", "three runs"
	rest.Ours = words("largest %.0f to %.0f %% of the block's, by graph", 100*least, 100*most)
	return append(append(rows, ones, rest), headRows(on(rs, "icl"))...)
}

// headRows are the rows on Figure 2, which Figure 6 repeats.
func headRows(r SingleRun) []Row {
	s := r.Sparsity()
	rows := []Row{
		adjacencyRow(r, "fig-induction-head", "block of A1"),
		identityRow(min(s.A2.Correlation, s.W.Correlation)),
		restRow(s.Outside()),
	}
	rows[2].Ours = words("up to %.0f, %.0f, %.0f %% of the block's largest in A1, A2, W",
		100*s.A1.Outside, 100*s.A2.Outside, 100*s.W.Outside)
	for i := range rows {
		rows[i].Figure, rows[i].ID, rows[i].Interval = 2, "fig-induction-head", "one run"
	}
	return rows
}

func adjacencyRow(r SingleRun, id, block string) Row {
	found, edges := r.Recovered()
	return Row{
		Figure: 6, ID: id, What: block, Setting: "text, code", Paper: "becomes the adjacency matrix", Interval: "one run",
		Ours:    words("%d of %d rows largest at the parent; r = %.2f", found, edges, r.Sparsity().A1.Correlation),
		Verdict: patternOf(found, edges, "the largest entry of each row is at the parent"),
	}
}

// patternOf returns same places, with the criterion, if all edges are found, or how many are not.
func patternOf(found, edges int, criterion string) string {
	if found == edges {
		return samePlaces + ": " + criterion
	}
	return differs("%d of %d edges are not found", edges-found, edges)
}

// variedRows are the rows on Figure 6 in settings of the text alone: other rates and priors.
func variedRows(context.Context, *Results) (rows []Row, err error) {
	all, err := trial.Outcomes("single-parent")
	for _, o := range all {
		task, by := o.Spec.Task.(train.Task1), o.Spec.Optimiser.(train.SGD)
		found, edges, least := 0, 0, 1.0
		for _, e := range o.Edges {
			if e.Given {
				edges, least = edges+1, min(least, e.Attention)
				if e.Learned {
					found++
				}
			}
		}
		title := slices.IndexFunc(SingleParents(), func(s SingleParent) bool {
			return slices.Equal(s.Graph.Parents(), task.Parents)
		})
		rows = append(rows, Row{
			Figure: 6, ID: "fig-single-parent", Setting: "text", Paper: "becomes the adjacency matrix", Interval: "one run",
			What: fmt.Sprintf("%s, η = %g, α = %s, block of A1", SingleParents()[title].Title, by.Rate,
				alpha(task.Prior)),
			Ours:    words("over half of the attention on %d of %d parents, at least %.2f", found, edges, least),
			Verdict: patternOf(found, edges, "over half of the attention of each position is on the parent"),
		})
	}
	return rows, err
}

// identityRow compares the least correlation of the blocks of A2 and W with the identity.
func identityRow(least float64) Row {
	return Row{
		What: "blocks of A2, W", Setting: "text, code", Paper: "become the identity",
		Ours:    words("r ≥ %.4f", math.Floor(least*1e4)/1e4),
		Verdict: verdict(least > 0.99, "r is below 0.99"),
	}
}

// restRow has the ratio of the largest entry outside a block to the largest inside.
func restRow(most float64) Row {
	return Row{
		What: "other entries", Setting: "text, code", Paper: "remain small",
		Verdict: verdict(most < smallEntries, fmt.Sprintf("they reach %.0f %% of the block's largest", 100*most)),
	}
}

// A Block is one of the three blocks of the weights that training grows, compared with
// the matrix that it becomes according to the paper.
type Block struct {
	Name                       string  // A1, A2 or W
	Row, Column, Rows, Columns int     // its place in the matrix
	Correlation                float64 // Pearson's, of the block's entries with the target's
	Outside                    float64 // largest magnitude outside the block over the largest inside
}

// Sparsity is the sparsity pattern of trained weights.
type Sparsity struct {
	A1 Block // positions x positions of A1; target: the adjacency matrix
	A2 Block // query's token x tokens attended to in layer 1; target: the identity
	W  Block // output tokens x tokens attended to in layer 2 of W_O; target: the identity
}

// Blocks returns the three blocks.
func (s Sparsity) Blocks() []Block { return []Block{s.A1, s.A2, s.W} }

// Outside returns the largest Outside of the blocks.
func (s Sparsity) Outside() float64 { return max(s.A1.Outside, s.A2.Outside, s.W.Outside) }

// measureSparsity measures the sparsity pattern of a two-layer model with one head in
// each layer. Only the entries j <= i of A1 count; the others are masked.
func measureSparsity(w *model.Weights, g *graph.Forest) Sparsity {
	s, t := w.S, w.T
	d := s + t
	adjacent := func(i, j int) (target float64, used bool) {
		if g.Parent(i) == j {
			return 1, true
		}
		return 0, j <= i
	}
	identity := func(i, j int) (float64, bool) {
		if i == j {
			return 1, true
		}
		return 0, true
	}
	return Sparsity{
		A1: measure(Block{Name: "A1", Row: s, Column: s, Rows: t, Columns: t}, w.A[0][0], adjacent),
		A2: measure(Block{Name: "A2", Column: d, Rows: s, Columns: s}, w.A[1][0], identity),
		W:  measure(Block{Name: "W", Column: 2 * d, Rows: s, Columns: s}, w.W.T(), identity),
	}
}

// measure sets Correlation and Outside of the block b of the matrix m.
func measure(b Block, m mat.Matrix, target func(i, j int) (float64, bool)) Block {
	var have, want []float64
	inside, outside := 0.0, 0.0
	rows, columns := m.Dims()
	for i := range rows {
		for j := range columns {
			v := m.At(i, j)
			if i < b.Row || i >= b.Row+b.Rows || j < b.Column || j >= b.Column+b.Columns {
				outside = max(outside, math.Abs(v))
				continue
			}
			inside = max(inside, math.Abs(v))
			if x, used := target(i-b.Row, j-b.Column); used {
				have, want = append(have, v), append(want, x)
			}
		}
	}
	b.Correlation, b.Outside = stat.Correlation(have, want, nil), outside/inside
	return b
}

// QueryShares has the attention of the query of a disentangled transformer in the
// second layer on one sequence, by the kind of position. The shares sum to one.
type QueryShares struct {
	Matches  int     // number of positions whose parent has the query's token
	Matching float64 // on these positions
	Other    float64 // on the other positions with a parent
	Roots    float64 // on the roots except the query
	Itself   float64 // on the query
}

// queryShares returns the shares on each sequence of b, whose graph is g, for the first
// head of the second layer of w.
func queryShares(w *model.Weights, g *graph.Forest, b *task.Batch) []QueryShares {
	all := make([]QueryShares, b.Len())
	for k := range all {
		x, _ := b.Seq(k)
		query := g.T() - 1
		a := &all[k]
		for i, share := range w.Attention(x)[1][0].RawRowView(query) {
			switch p := g.Parent(i); {
			case i == query:
				a.Itself = share
			case p == graph.Root:
				a.Roots += share
			case x[p] == x[query]:
				a.Matches++
				a.Matching += share
			default:
				a.Other += share
			}
		}
	}
	return all
}

// QueryShares returns the shares of the trained model on its first n test sequences.
func (r SingleRun) QueryShares(n int) ([]QueryShares, error) {
	b, err := trial.TestSequences(r.Run.Spec, n)
	if err != nil {
		return nil, err
	}
	return queryShares(r.Weights(), r.Graph, b), nil
}

// SingleParentLosses returns the runs of Figure 6 with their losses.
func SingleParentLosses(ctx context.Context, r *Results) ([]SingleRun, error) {
	return once(r, "single-parent-losses", func() ([]SingleRun, error) {
		rs, err := SingleRuns(ctx, r)
		if err != nil {
			return nil, err
		}
		return trial.Each(ctx, rs, func(ctx context.Context, r SingleRun) (SingleRun, error) {
			losses, err := compareLosses(ctx, lossSequences, lossDraws, r.Run)
			if err == nil {
				r.Losses = losses[0]
			}
			return r, err
		})
	})
}

// singleFinalLosses returns the loss of each final model on all its test sequences.
func singleFinalLosses(ctx context.Context, r *Results) ([]finalLoss, error) {
	return once(r, "single-parent-final-losses", func() (all []finalLoss, err error) {
		rs, err := SingleRuns(ctx, r)
		for _, r := range rs {
			b, err1 := r.Run.Spec.TestSet()
			if err1 != nil {
				return nil, err1
			}
			losses, err2 := trial.ModelLosses(ctx, r.Run, b)
			if err2 != nil {
				return nil, err2
			}
			all = append(all, finalLoss{
				id: r.Name + "-loss-final", name: r.Title, seeds: finals(r.Run), stdErr: num.Average(losses).StdErr,
			})
		}
		return all, err
	})
}
