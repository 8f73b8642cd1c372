package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// A MultiParent is one of the settings of Figures 5 and 7.
type MultiParent struct {
	Name    string // trigram, halves or fourgram; with -printed in the printed setting
	Title   string
	Short   string // for tables
	Graph   *graph.DAG
	Parents []string // names of the parents, in the order of their lists; positions are counted from 1
	Seeds   int      // number of runs with weights

	// Printed selects the setting that the paper prints in place of the setting of the released code.
	Printed bool
}

// MultiSequences is the number of test sequences on which a run is compared with the reference predictors.
const MultiSequences = 1 << 14

// MultiParents returns the settings of Figure 7, in its order, in the version of the released code.
func MultiParents() []MultiParent {
	// The released code counts i from 0, so that floor(i/2) is (i-1)/2 rounded down.
	return []MultiParent{
		{
			Name: "trigram", Title: "3-gram", Short: "3-gram",
			Graph: graph.NGram(32, 2), Parents: []string{"$i-2$", "$i-1$"}, Seeds: 3,
		},
		{
			Name: "halves", Title: `$i-1$ and $\lfloor i/2\rfloor$`, Short: "halves",
			Graph: graph.Halves(32), Parents: []string{`$\lfloor i/2\rfloor$`, "$i-1$"}, Seeds: 4,
		},
		{
			Name: "fourgram", Title: "4-gram", Short: "4-gram",
			Graph: graph.NGram(32, 3), Parents: []string{"$i-3$", "$i-2$", "$i-1$"}, Seeds: 1,
		},
	}
}

// InPrint returns the setting that the paper prints for the same graph, with one run. The
// 4-gram has runs in the sweep several-parents only, without weights.
func (m MultiParent) InPrint() MultiParent {
	m.Name, m.Short, m.Seeds, m.Printed = m.Name+"-printed", m.Short+", printed", 1, true
	if len(m.Parents) > 2 {
		m.Seeds = 0
	}
	return m
}

// PrintedParents returns the printed settings of Figure 7 that have runs.
func PrintedParents() []MultiParent {
	var ms []MultiParent
	for _, m := range MultiParents() {
		if m = m.InPrint(); m.Seeds > 0 {
			ms = append(ms, m)
		}
	}
	return ms
}

// MultiParentNamed returns the setting of a name, such as halves or halves-printed.
func MultiParentNamed(name string) (MultiParent, error) {
	all := append(MultiParents(), PrintedParents()...)
	return named("setting of Figure 7", all, func(m MultiParent) string { return m.Name }, name)
}

// Spec returns the setting of the released code with one head for each parent: S = 5, alpha = 0.1, roots that
// share a Dirichlet law, 2^16 steps of AdamW from attention matrices of standard deviation 1e-4. The printed
// setting has alpha = 1, uniform roots, k heads in the second layer, a standard deviation of 0.01 and no weight
// decay; it borrows the schedule of the code.
func (m MultiParent) Spec(seed int) train.Spec {
	k := len(m.Parents)
	s := train.Spec{
		Task:      train.Task2{Parents: m.Graph.Parents(), States: 5, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{k, 1}, Init: 1e-4},
		Optimiser: train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 1e-4},
		Batch:     1024, Steps: 1 << 16, Seed: uint64(seed), Test: 1 << 16, Every: 1 << 9,
	}
	if m.Printed {
		s.Task = train.Task2{Parents: m.Graph.Parents(), States: 5, Prior: "dirichlet(1)", UniformRoots: true}
		s.Model = train.Disentangled{Heads: [2]int{k, k}, Init: 0.01}
		s.Optimiser = train.AdamW{Rate: 0.01, Schedule: train.Cosine}
	}
	return s
}

// multiSpecs returns the specification of every run in the settings, ordered by seed.
func multiSpecs(ms []MultiParent) []train.Spec {
	var specs []train.Spec
	for seed := 0; slices.ContainsFunc(ms, func(m MultiParent) bool { return seed < m.Seeds }); seed++ {
		for _, m := range ms {
			if seed < m.Seeds {
				specs = append(specs, m.Spec(seed))
			}
		}
	}
	return specs
}

// A MultiResult has the runs in a setting of Figures 5 and 7.
type MultiResult struct {
	MultiParent
	Runs []*MultiRun // by seed
}

// LoadMulti loads or trains the runs in the settings.
func LoadMulti(ctx context.Context, get trial.Getter, settings ...MultiParent) ([]MultiResult, error) {
	return trial.Each(ctx, settings, func(ctx context.Context, m MultiParent) (MultiResult, error) {
		rs, err := trial.Each(ctx, multiSpecs([]MultiParent{m}), func(ctx context.Context, s train.Spec) (*MultiRun, error) {
			r, err := get(ctx, s)
			if err != nil {
				return nil, err
			}
			return NewMultiRun(m.Graph, r), nil
		})
		return MultiResult{m, rs}, err
	})
}

func multiRuns(ctx context.Context, r *Results) ([]MultiResult, error) {
	return once(r, "multi-parent", func() ([]MultiResult, error) { return LoadMulti(ctx, r.Get, MultiParents()...) })
}

func printedRuns(ctx context.Context, r *Results) ([]MultiResult, error) {
	return once(r, "multi-parent-printed", func() ([]MultiResult, error) {
		return LoadMulti(ctx, r.Get, PrintedParents()...)
	})
}

// multiLosses returns the runs with their losses: the setting of the released code, and then the printed setting.
func multiLosses(ctx context.Context, r *Results) ([]MultiResult, error) {
	return once(r, "multi-parent-losses", func() ([]MultiResult, error) {
		all, err := joined(multiRuns, printedRuns)(ctx, r)
		if err != nil {
			return nil, err
		}
		return MultiLosses(ctx, all)
	})
}

// SplitSeeds returns the number of runs whose heads split the parents.
func (m MultiResult) SplitSeeds() int {
	return count(m.Runs, func(r *MultiRun) bool { return r.HasSplit() })
}

// Outside returns the largest Outside of the runs.
func (m MultiResult) Outside() float64 { return slices.Max(mapped(m.Runs, (*MultiRun).Outside)) }

// A MultiRun is a run on a graph with k parents, its k heads matched with the k places in the lists of parents.
type MultiRun struct {
	Graph *graph.DAG
	Run   *runs.Run
	// Head[l] is the head matched with the parents p(i)_l: the assignment with
	// the largest mean attention over the nodes.
	Head []int
	// Attention[l][i] is the attention S(A1)_{i,p(i)_l} of Head[l], 0 for a root. At the last
	// position, p(i)_l is the parent l of the label.
	Attention [][]float64
	// OnSequences is Attention with S(h0 A1 h0^T), averaged over test sequences, in
	// place of the softmax of the position block.
	OnSequences [][]float64
	Losses      *Losses // set by [MultiLosses]
	Splitting
}

// NewMultiRun matches the heads of a run with the parents of its graph.
func NewMultiRun(g *graph.DAG, r *runs.Run) *MultiRun {
	p, parents, last := r.Final.Disentangled().PositionAttentions(), g.Parents(), g.T()-1
	m := &MultiRun{Graph: g, Run: r, Splitting: newSplitting(g, trial.Edges(p, r.Spec))}
	on := func(head []int) (sum float64) {
		for i, ps := range parents[:last] {
			for l, j := range ps {
				sum += p[head[l]].At(i, j)
			}
		}
		return sum
	}
	m.Head = slices.MaxFunc(combin.Permutations(len(p), len(p)), func(a, b []int) int { return cmp.Compare(on(a), on(b)) })
	parents[last] = parents[last+1]
	m.Attention = m.onParents(p, parents[:last+1])
	m.OnSequences = m.onParents(r.Spec.MeanAttention(r.Final.Weights), parents[:last+1])
	return m
}

// onParents returns for each matched head, with attentions p, the attention of each
// position on its parent, 0 for a root.
func (m *MultiRun) onParents(p []*mat.Dense, parents [][]int) (rows [][]float64) {
	for l, h := range m.Head {
		row := make([]float64, len(parents))
		for i, ps := range parents {
			if len(ps) > 0 {
				row[i] = p[h].At(i, ps[l])
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// On returns the mean over the nodes of a row of Attention or OnSequences.
func (m *MultiRun) On(row []float64) float64 {
	sum := 0.0
	for _, v := range row[:len(row)-1] {
		sum += v
	}
	return sum / float64(m.Nodes)
}

// MeanAttention returns the mean over nodes and heads of Attention or OnSequences.
func (m *MultiRun) MeanAttention(rows [][]float64) float64 {
	sum := 0.0
	for _, row := range rows {
		sum += m.On(row)
	}
	return sum / float64(len(rows))
}

// MultiLosses returns the results with the losses of every run.
func MultiLosses(ctx context.Context, ms []MultiResult) ([]MultiResult, error) {
	return trial.Each(ctx, ms, func(ctx context.Context, m MultiResult) (MultiResult, error) {
		rs, err := trial.Each(ctx, m.Runs, func(ctx context.Context, r *MultiRun) (*MultiRun, error) {
			with := *r
			var err error
			with.Losses, err = r.compare(ctx, MultiSequences)
			return &with, err
		})
		return MultiResult{m.MultiParent, rs}, err
	})
}

// compare evaluates the run on the first n of its test sequences.
func (m *MultiRun) compare(ctx context.Context, n int) (*Losses, error) {
	several, ok := m.Run.Spec.Task.(train.Task2)
	if !ok {
		return nil, fmt.Errorf("figures: run %s is of a %T, want Task 2", m.Run.Address, m.Run.Spec.Task)
	}
	tk, err := several.New()
	if err != nil {
		return nil, err
	}
	b, err := trial.TestSequences(m.Run.Spec, n)
	if err != nil {
		return nil, err
	}
	trained, err := trial.ModelLosses(ctx, m.Run, b)
	if err != nil {
		return nil, err
	}
	edges := task.Losses(b, tk.Posterior)
	l := &Losses{
		Sequences: n, Model: num.Average(trained), Edges: num.Average(edges),
		ModelLessEdges: task.PairedDifference(trained, edges),
	}
	for k := range m.Head {
		one := task.Losses(b, func(f []float64, x []int) { tk.GivenParents(f, x, k) })
		l.OneParent = append(l.OneParent, num.Average(one))
	}
	return l, nil
}

// Extremes returns the least and the largest entry of the position block of the head matched
// with parent l, and the largest magnitude outside of the block.
func (m *MultiRun) Extremes(l int) (least, most, outside float64) {
	w := m.Run.Final.Disentangled()
	d := w.S + w.T
	for k, v := range w.A[0][m.Head[l]].RawMatrix().Data {
		if k/d >= w.S && k%d >= w.S {
			least, most = min(least, v), max(most, v)
		} else {
			outside = max(outside, math.Abs(v))
		}
	}
	return least, most, outside
}

// Outside returns the largest magnitude outside the position-position blocks of
// the first layer over the largest inside.
func (m *MultiRun) Outside() float64 {
	in, out := 0.0, 0.0
	for l := range m.Head {
		least, most, o := m.Extremes(l)
		in, out = max(in, -least, most), max(out, o)
	}
	return out / in
}

// Size of a cell and side of a 32 x 32 matrix, of which four fit in a row.
const (
	headCell = 2.625
	headSide = 32 * headCell
)

// headsFigure is Figure 5: the causal graph, the attention of each head of the first
// layer in the run with the median attention on the parents, and the attention by seed.
func headsFigure(all []MultiResult) *figure.Figure {
	spec := all[0].Runs[0].Run.Spec
	f := &figure.Figure{
		Width: figure.TwoColumns,
		Alt: "Rows of heat maps, one for each graph with several parents: the graph and the attention of each " +
			"head, a bright line along one of its parents. At the right the attention of every seed, above 0.9 " +
			"for each head.",
		Caption: `Attention $\mathcal S(A^{(1)})$ of the heads of the first layer (` + settingTeX(spec) + `) ` +
			`beside the causal graph: of the seeds that were run, the one with the median attention on the ` +
			`parents, and at the right every seed where there are several. ` + seedsWords(all) + headsCaption,
	}
	for _, m := range all {
		row := headsRow(m, median(m))
		if len(m.Runs) > 1 {
			row = append(row, seedStrip(m))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

// seedsWords returns the number of seeds whose heads split the parents, for each graph where not all do.
func seedsWords(all []MultiResult) string {
	words := ""
	for _, m := range all {
		if n := m.SplitSeeds(); n < len(m.Runs) {
			words += fmt.Sprintf(`On the graph with the parents %s the heads share them out in %d of %d seeds only. `,
				m.Title, n, len(m.Runs))
		}
	}
	return words
}

// median returns the run with the median attention on the parents, or with the lower of
// the two medians of an even number.
func median(m MultiResult) *MultiRun {
	sorted := slices.SortedStableFunc(slices.Values(m.Runs), func(a, b *MultiRun) int {
		return cmp.Compare(a.MeanAttention(a.Attention), b.MeanAttention(b.Attention))
	})
	return sorted[(len(sorted)-1)/2]
}

// seedStrip has the mean attention of each head on its parents by seed.
func seedStrip(m MultiResult) *figure.Panel {
	a := figure.New("Every seed").Axes("Seed", "Attention on the parent").XRange(-0.5, float64(len(m.Runs))-0.5)
	a.Every(&a.X, 1).Height = headSide
	least := 0.8
	for l, name := range m.Parents {
		var x, y []float64
		for _, r := range m.Runs {
			x = append(x, float64(r.Run.Spec.Seed)+0.24*(float64(l)-float64(len(m.Parents)-1)/2)) // side by side
			y = append(y, r.On(r.Attention[l]))
		}
		a.Points(l, name, x, y)
		least = min(least, math.Floor(5*floats.Min(y))/5)
	}
	return a.YRange(least, 1)
}

// printedHeadsFigure is headsFigure in the setting that the paper prints.
func printedHeadsFigure(all []MultiResult) *figure.Figure {
	f := headsFigure(all)
	f.Alt = "Two rows of heat maps in the paper’s setting: the graph and the attention of each head, a bright line " +
		"along one of its parents."
	spec := all[0].Runs[0].Run.Spec
	m := spec.Model.(train.Disentangled)
	f.Caption = fmt.Sprintf(`Attention $\mathcal S(A^{(1)})$ of the heads of the first layer beside the causal graph, in `+
		`the setting that the paper prints: $\alpha=%s$, uniform roots, %s heads in the second layer as well, Adam `+
		`without decay, initial standard deviation $%g$. `, alpha(priorOf(spec.Task)), inWords(m.Heads[1]), m.Init) +
		headsCaption
	return f
}

const headsCaption = `Each head has above it its mean attention on the parents that it is matched with. ` +
	`Positions are counted from 1. The last row of a graph is that of the label, on whose parents the last position ` +
	`is to attend.`

// headsRow has the causal graph and the attention of each head of a run.
func headsRow(m MultiResult, r *MultiRun) []*figure.Panel {
	row := []*figure.Panel{attended(m)}
	p := r.Run.Final.Disentangled().PositionAttentions()
	for l, h := range r.Head {
		x, heat := figure.Matrix(fmt.Sprintf("%.2f on %s", r.On(r.Attention[l]), m.Parents[l]), matrixRows(p[h]), false)
		heat.Bar, x.Cell = l == len(r.Head)-1, headCell
		row = append(row, x.Axes(positionJ, ""))
	}
	return row
}

// attended draws the positions that each position attends to in Construction 2: its
// parents, and in the last row the parents of the label.
func attended(m MultiResult) *figure.Panel {
	rows := dagRows(m.Graph)
	last := len(rows) - 1
	a := adjacencyMatrix(m.Title, append(rows[:last-1], rows[last]))
	a.Cell = headCell
	return a
}

// headWeightsFigure is Figure 7: the causal graph and all weights of the first layer. Each row
// of the position block is shown less its mean, to which the softmax is invariant.
func headWeightsFigure(all []MultiResult) *figure.Figure {
	f := &figure.Figure{
		Width: figure.TwoColumns,
		Alt: "Rows of heat maps of all first-layer weights, one for each graph: in the framed block of each head " +
			"a dark line follows one of the parents; the rest is pale.",
		Caption: `All attention weights $\widetilde A^{(1)}$ of the first layer in the runs of Figure 5, with the ` +
			`position-position block outlined; $X$ marks the coordinates of the tokens. ` +
			`From each row of the block its mean over $j\le i$ is subtracted, which no softmax sees and which would ` +
			`hide the parents. The colour scale of a row covers all entries of its matrices.`,
	}
	for _, m := range all {
		r := median(m)
		w := r.Run.Final.Disentangled()
		row := []*figure.Panel{attended(m)}
		var heads []*figure.Heat
		for l, h := range r.Head {
			x, heat := figure.Matrix(m.Parents[l], centred(w, w.A[0][h]), true)
			heat.Rows = [][]figure.Group{innermost(w, 1)}
			heat.Columns, heat.Numbered, heat.Blocks = heat.Rows, true, [][4]int{{w.S, w.S, w.T, w.T}}
			x.Cell = 2.25
			heads = append(heads, heat)
			row = append(row, x)
		}
		figure.OneScale(heads...)
		f.Rows = append(f.Rows, row)
	}
	return f
}

// centred returns a matrix of the first layer without the means of the rows of
// its position block over the positions j <= i.
func centred(w *model.Weights, a mat.Matrix) [][]float64 {
	rows := matrixRows(a)
	for i, row := range rows[w.S:] {
		seen := row[w.S : w.S+i+1]
		floats.AddConst(-stat.Mean(seen, nil), seen)
	}
	return rows
}

// multiTable lists the runs with several parents, with the split of the parents among the
// heads and the final losses of the model and the reference predictors.
func multiTable(all []MultiResult) *figure.Table {
	t := figure.NewTable(
		fmt.Sprintf(`Runs with several parents: mean attention of each head on the parent that it is `+
			`matched with, by the position block alone as Figure 5 shows it and on %d test sequences; nodes at `+
			`which each head has more than half of its attention there by the block, of all (split), and those at `+
			`which that holds for another assignment of the heads (swapped); and log-loss in nats `+
			`on %d test sequences beside the posterior mean given the edges and the best of those that compare one `+
			`parent only, with the paired excess of the trained model over the posterior mean and its standard `+
			`error. Halves is the graph with the parents $\lfloor i/2\rfloor$ and $i-1$, counted from 1; printed `+
			`is the setting of the paper ($\alpha=%s$), the other rows are in that of its code ($\alpha=%s$).`,
			train.AttentionSequences, MultiSequences, alpha(priorOf(all[len(all)-1].Spec(0).Task)),
			alpha(priorOf(all[0].Spec(0).Task))),
		"Graph", "Seed", "Attention on parents: block, sequences", "Nodes",
		"Loss: trained, posterior, one parent, excess")
	for _, m := range all {
		for _, r := range m.Runs {
			l := r.Losses
			t.Add(m.Short, int(r.Run.Spec.Seed), onParents(r, r.Attention), onParents(r, r.OnSequences),
				words("%d/%d; %d", r.Split, r.Nodes, r.Swapped),
				l.Model.Mean, l.Edges.Mean, l.BestOneParent().Mean, l.ModelLessEdges)
		}
	}
	return t
}

// onParents lists the mean of each row of Attention or OnSequences.
func onParents(r *MultiRun, rows [][]float64) string {
	var s []string
	for _, row := range rows {
		s = append(s, fmt.Sprintf("%.2f", r.On(row)))
	}
	return strings.Join(s, ", ")
}

// splitRows are the rows on Figure 5, of all stored runs of each setting.
func splitRows(context.Context, *Results) (rows []Row, err error) {
	all, err := LoadSplits()
	for _, m := range all {
		split, n, nodes := m.HaveSplit(), len(m.Runs), m.Runs[0].Nodes
		least, most := nodes, 0
		for _, r := range m.Runs {
			least, most = min(least, r.Split), max(most, r.Split)
		}
		row := Row{
			Figure: 5, ID: "fig-multi-parent", What: m.Short, Paper: "each head learns one set of parents",
			Ours: words("split in %d of %d seeds; over half on its own parent at %d to %d of %d positions (split: %.0f %%)",
				split, n, least, most, nodes, 100*SplitShare),
			Interval: shareOfRuns(split, n),
			Verdict:  overRuns(split, n),
		}
		if m.Printed {
			row.ID, row.Setting = row.ID+"-printed", "text"
		}
		rows = append(rows, row)
	}
	return rows, err
}

// outsideRows are the rows on the entries of Figure 7 outside of the blocks.
func outsideRows(all []MultiResult) (rows []Row) {
	for _, m := range all {
		rows = append(rows, Row{
			Figure: 7, ID: "fig-multi-parent-full", What: m.Short + ", other entries", Interval: "the largest",
			Ours:    words("up to %.0f %% of the block's largest in %d runs", 100*m.Outside(), len(m.Runs)),
			Verdict: notStated,
		})
	}
	return rows
}

// severalParents is the name of the sweep of more seeds.
const severalParents = "several-parents"

// Splits are the runs of runs/sweeps/several-parents.toml in one setting of Figures 5 and 7.
type Splits struct {
	MultiParent
	Runs []SplitRun // by seed
}

// A SplitRun is one run of a sweep.
type SplitRun struct {
	Splitting
	Seed  uint64
	Steps []int
	Loss  []float64 // along training, on the test set
}

// A Splitting counts the positions with parents, except the last one, at which the heads of the first layer
// split the parents: an assignment of the heads to the places in the lists of parents, the one that holds at
// most nodes.
type Splitting struct {
	Nodes   int
	Split   int // nodes where each head has over half of its attention on its own parent
	Swapped int // nodes where each head has over half of its attention on another parent
}

// SplitShare is the least share of the nodes in Split at which the heads count as having split the parents.
const SplitShare = 0.9

// HasSplit reports whether each head attends to one parent, as in the paper, at a share of at least
// SplitShare of the nodes.
func (s Splitting) HasSplit() bool { return float64(s.Split) >= SplitShare*float64(s.Nodes) }

// Fallen returns the first step at which the loss has made nine tenths of its total decrease.
func (r *SplitRun) Fallen() int {
	first, last := r.Loss[0], r.Loss[len(r.Loss)-1]
	return r.Steps[slices.IndexFunc(r.Loss, func(l float64) bool { return first-l >= 0.9*(first-last) })]
}

// HaveSplit returns the number of runs whose heads split the parents.
func (s Splits) HaveSplit() int { return count(s.Runs, func(r SplitRun) bool { return r.HasSplit() }) }

// LoadSplits reads the results of runs/sweeps/several-parents.toml, in the order of the plan.
func LoadSplits() ([]Splits, error) {
	all, err := trial.Outcomes(severalParents)
	if err != nil {
		return nil, err
	}
	return newSplits(all)
}

func newSplits(outcomes []*trial.Outcome) ([]Splits, error) {
	var all []Splits
	for _, o := range outcomes {
		setting, err := settingOf(o.Spec)
		if err == nil && o.Diverged != "" {
			err = errors.New("it has diverged")
		}
		if err != nil {
			return nil, fmt.Errorf("figures: run %s of %s: %w", o.Address, severalParents, err)
		}
		k := slices.IndexFunc(all, func(s Splits) bool { return s.Name == setting.Name })
		if k < 0 {
			k = len(all)
			all = append(all, Splits{MultiParent: setting})
		}
		all[k].Runs = append(all[k].Runs, newSplitRun(setting, o))
	}
	return all, nil
}

// settingOf returns the setting of Figures 5 and 7 that a run is in.
func settingOf(spec train.Spec) (MultiParent, error) {
	for _, m := range MultiParents() {
		for _, m := range []MultiParent{m, m.InPrint()} {
			same := m.Spec(int(spec.Seed))
			if runs.Address(same) == runs.Address(spec) {
				return m, nil
			}
		}
	}
	return MultiParent{}, fmt.Errorf("it is in no setting of Figures 5 and 7")
}

func newSplitRun(m MultiParent, o *trial.Outcome) SplitRun {
	run := SplitRun{Seed: o.Spec.Seed, Splitting: newSplitting(m.Graph, o.Edges)}
	for _, p := range o.Curve {
		run.Steps, run.Loss = append(run.Steps, p.Step), append(run.Loss, float64(p.Loss))
	}
	return run
}

// newSplitting counts from the edges of a run. A head with more than half of the attention of a node on one
// parent has less on every other, so that the head of such an edge is the only one that attends to the parent.
func newSplitting(g *graph.DAG, edges []trial.Edge) (s Splitting) {
	count := map[string]int{} // nodes where every parent is attended to, by the heads of the parents
	for i, parents := range g.Parents()[:g.T()-1] {
		if len(parents) == 0 {
			continue
		}
		s.Nodes++
		heads := make([]int, len(parents))
		for l, j := range parents {
			is := func(e trial.Edge) bool { return e.Child == i && e.Parent == j }
			heads[l] = -1
			if e := edges[slices.IndexFunc(edges, is)]; e.Attention > 0.5 {
				heads[l] = e.Head
			}
		}
		if !slices.Contains(heads, -1) {
			count[fmt.Sprint(heads)]++
		}
	}
	for _, n := range count {
		s.Split = max(s.Split, n)
		s.Swapped += n
	}
	s.Swapped -= s.Split
	return s
}

func multiFinalLosses(ctx context.Context, r *Results) (all []finalLoss, err error) {
	ms, err := multiLosses(ctx, r)
	for _, m := range ms {
		// The loss was estimated on a part of the test sequences only.
		l := m.Runs[0].Losses
		share := float64(l.Sequences) / float64(m.Runs[0].Run.Spec.Test)
		f := finalLoss{
			id: "multi-" + m.Name + "-loss-final", name: m.Short, stdErr: l.Model.StdErr * math.Sqrt(share),
		}
		if m.Name == "halves" {
			f.plotted = 0.891
		}
		for _, r := range m.Runs {
			f.seeds = append(f.seeds, finals(r.Run)...)
		}
		all = append(all, f)
	}
	return all, err
}
