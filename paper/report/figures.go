package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/runs"
)

var (
	token    = figure.Text("Token")
	position = figure.Text("Position")

	// Rows and columns of an adjacency or an attention matrix.
	positionI = figure.Label{Text: "Position i", TeX: "Position $i$"}
	positionJ = figure.Label{Text: "Position j", TeX: "Position $j$"}

	stream = []figure.Label{
		{Text: "X̃", TeX: `$\widetilde X$`},
		{Text: "attn(X̃; Ã⁽¹⁾)", TeX: `$\mathrm{attn}(\widetilde X;\widetilde A^{(1)})$`},
		{Text: "attn(h⁽¹⁾; Ã⁽²⁾)", TeX: `$\mathrm{attn}(h^{(1)};\widetilde A^{(2)})$`},
	}
	titleA1 = figure.Label{Text: "Ã⁽¹⁾", TeX: `$\widetilde A^{(1)}$`}
	titleA2 = figure.Label{Text: "Ã⁽²⁾", TeX: `$\widetilde A^{(2)}$`}
	titleW  = figure.Label{Text: "W̃ₒ", TeX: `$\widetilde W_O$`}
)

// GraphExample is Figure 1: the paper's example of a causal graph.
func GraphExample() *figure.Figure {
	f := GraphFigure("fig-graph-example", graph.Figure1())
	f.Caption = `The causal graph of the running example: $s_1$ and the query $s_6$ are roots, every other token is drawn given its parent.`
	return f
}

// GraphFigure draws any causal graph.
func GraphFigure(id string, g *graph.Forest) *figure.Figure {
	f := &figure.Figure{ID: id, Rows: [][]figure.Panel{{&figure.Graph{Parents: g.Parents(), Query: true}}}}
	if g.T() > 10 {
		f.Width = figure.TwoColumns
	}
	return f
}

// groups returns n times (S tokens, T positions), and the streams over them.
func groups(w *model.Weights, n int, outer ...figure.Group) [][]figure.Group {
	var inner []figure.Group
	for range n {
		inner = append(inner, figure.Group{Label: token, Size: w.S}, figure.Group{Label: position, Size: w.T})
	}
	levels := [][]figure.Group{inner}
	if len(outer) > 0 {
		levels = append(levels, outer)
	}
	return levels
}

// weightMatrices returns A1, A2 and W_O of a two-layer model as panels, with
// the three blocks of the sparsity pattern outlined.
func weightMatrices(w *model.Weights, g *graph.Forest) (a1, a2, out *figure.Matrix) {
	d := w.S + w.T
	b := Blocks(w, g)
	half := []figure.Group{{Label: stream[0], Size: d}, {Label: stream[1], Size: d}}
	signed := figure.Scale{Palette: figure.Signed}
	a1 = &figure.Matrix{
		Title: titleA1, Values: matrixRows(w.A[0][0], d), Scale: signed,
		Rows: groups(w, 1), Columns: groups(w, 1), Blocks: []figure.Block{b[0].Place},
	}
	a2 = &figure.Matrix{
		Title: titleA2, Values: matrixRows(w.A[1][0], 2*d), Scale: signed,
		Rows: groups(w, 2, half...), Columns: groups(w, 2, half...), Blocks: []figure.Block{b[1].Place},
	}
	out = &figure.Matrix{
		Title: titleW, Values: outputRows(w), Scale: signed,
		Rows:    [][]figure.Group{{{Label: token, Size: w.S}}},
		Columns: groups(w, 4, half[0], half[1], figure.Group{Label: stream[2], Size: 2 * d}),
		Blocks:  []figure.Block{b[2].Place},
	}
	return a1, a2, out
}

// WeightsFigure draws all weights of a trained two-layer model in the layout of
// Figure 2.
func WeightsFigure(id string, w *model.Weights, g *graph.Forest) *figure.Figure {
	a1, a2, out := weightMatrices(w, g)
	return &figure.Figure{ID: id, Width: figure.TwoColumns, Rows: [][]figure.Panel{{a1, a2}, {out}}}
}

// InductionHead is Figure 2, of the run on the in-context-learning graph.
func InductionHead(r *runs.Run) *figure.Figure {
	f := WeightsFigure("fig-induction-head", r.Final.Disentangled(), graph.InContext(20))
	f.Caption = `Weights after training on the in-context-learning graph ($S=10$, $T=20$, $2^{17}$ steps). The outlined blocks are those of the sparsity pattern; each colour scale covers all entries of its matrix.`
	return f
}

// SingleParentFigure is Figure 6: adjacency matrix and attention weights for
// the three graphs.
func SingleParentFigure(rs []*runs.Run) *figure.Figure {
	f := &figure.Figure{
		ID: "fig-single-parent", Width: figure.TwoColumns,
		Caption: `Adjacency matrix of the causal graph beside the trained attention matrices, for three graphs ($S=10$, $T=20$, $2^{17}$ steps).`,
	}
	for i, e := range SingleParents() {
		a1, a2, _ := weightMatrices(rs[i].Final.Disentangled(), e.Graph)
		adj := &figure.Matrix{
			Title: figure.Text(e.Title), Values: adjacency(e.Graph), Scale: figure.Scale{Hidden: true},
			XLabel: positionJ, YLabel: positionI,
		}
		f.Rows = append(f.Rows, []figure.Panel{adj, a1, a2})
	}
	return f
}

// adjacency returns the T x T matrix with a one at (i, p(i)).
func adjacency(g *graph.Forest) [][]float64 {
	m := make([][]float64, g.T())
	for i := range m {
		m[i] = make([]float64, g.T())
		if p := g.Parent(i); p >= 0 {
			m[i][p] = 1
		}
	}
	return m
}

// ManyGraphsFigure is Figure 9: attention on the parent by position, ours over
// graphs and seeds, the authors' run over graphs.
func ManyGraphsFigure(c *Comparison) *figure.Figure {
	var x, ours, oursSD, paper, paperSD []float64
	for _, p := range c.Positions() {
		x = append(x, float64(p.I))
		ours, oursSD = append(ours, p.Ours), append(oursSD, p.OursSD)
		paper, paperSD = append(paper, p.Paper), append(paperSD, p.PaperSD)
	}
	return &figure.Figure{
		ID: "fig-many-graphs", Width: figure.OneColumn,
		Caption: fmt.Sprintf(`First-layer attention on the parent by position, mean $\pm$ one standard deviation: ours over 20 graphs and %d seeds, the paper's over the same graphs, one run each. Positions are counted from 0, as in the paper's plot.`, Seeds),
		Rows: [][]figure.Panel{{&figure.Axes{
			X: figure.Axis{Label: positionI, Min: 0, Max: 19},
			Y: figure.Axis{Label: figure.Label{Text: "Attention from i to p(i)", TeX: `Attention from $i$ to $p(i)$`}, Min: 0, Max: 1.1},
			Series: []figure.Series{
				{Label: figure.Text("ours"), X: x, Y: ours, Err: oursSD},
				{Label: figure.Text("paper"), X: x, Y: paper, Err: paperSD, Points: true},
			},
		}}},
	}
}

// ByGraphFigure puts our runs of each graph beside the authors' value, graphs
// in the order of our mean.
func ByGraphFigure(c *Comparison) *figure.Figure {
	order := make([]int, len(c.Mean))
	key := make([]float64, len(c.Mean))
	for i := range order {
		order[i], key[i] = i, stat.Mean(c.Mean[i], nil)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
	var x, y, px, py []float64
	for rank, g := range order {
		for _, v := range c.Mean[g] {
			x, y = append(x, float64(rank+1)), append(y, v)
		}
		px, py = append(px, float64(rank+1)), append(py, c.Printed[g])
	}
	lo := min(floats.Min(y), floats.Min(py))
	return &figure.Figure{
		ID: "fig-many-graphs-by-graph", Width: figure.OneColumn,
		Caption: `Mean attention on the parents for each of the 20 graphs: our runs, one mark a seed, and the value that the authors printed. Graphs are ordered by our mean.`,
		Rows: [][]figure.Panel{{&figure.Axes{
			X: figure.Axis{Label: figure.Text("Graph, by rank"), Min: 0, Max: 21},
			Y: figure.Axis{Label: figure.Text("Mean attention on parents"), Min: math.Floor(lo*20) / 20, Max: 1},
			Series: []figure.Series{
				{Label: figure.Text("ours"), X: x, Y: y, Points: true},
				{Label: figure.Text("paper"), X: px, Y: py, Points: true},
			},
		}}},
	}
}

// LossFigure draws the test loss of the three runs along training, with the
// predictors that it is measured against.
func LossFigure(rs []*runs.Run, losses []*Losses) *figure.Figure {
	f := &figure.Figure{
		ID: "fig-single-parent-loss", Width: figure.TwoColumns,
		Caption: fmt.Sprintf(`Test loss along training, with the loss of three predictors: the posterior mean given the edges, the authors' released formula, and the Bayes predictor. The logarithmic axis has no place for step 0, where the model predicts uniformly and the loss is $\log %d = %.3f$.`, rs[0].Spec.S(), rs[0].Curve[0].Loss),
	}
	var panels []figure.Panel
	for i, e := range SingleParents() {
		var x, y []float64
		for _, p := range rs[i].Curve[1:] {
			x, y = append(x, float64(p.Step)/1000), append(y, p.Loss)
		}
		// The predictors were evaluated on a part of the test set: their paired
		// differences to the trained model are what carries over.
		l := losses[i]
		level := func(name string, loss Estimate) figure.Series {
			v := y[len(y)-1] + loss.Mean - l.Model.Mean
			return figure.Series{Label: figure.Text(name), X: []float64{x[0], x[len(x)-1]}, Y: []float64{v, v}}
		}
		panels = append(panels, &figure.Axes{
			Title: figure.Text(e.Title),
			X:     figure.Axis{Label: figure.Text("Step / 1000"), Log: true},
			Y:     figure.Axis{Label: figure.Text("Test loss")},
			Series: []figure.Series{
				{Label: figure.Text("trained"), X: x, Y: y}, level("edges", l.Edges), level("released", l.Released), level("Bayes", l.Bayes),
			},
		})
	}
	f.Rows = [][]figure.Panel{panels}
	return f
}
