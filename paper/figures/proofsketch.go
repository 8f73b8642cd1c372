package figures

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/vg"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// sketchPrior is the prior of the pictures of Section 5.1: the relabelings of two matrices, one
// that tends to stay in its state and one that tends to leave it, whose traces have mean one.
func sketchPrior() *markov.Finite {
	return trial.MustPrior("orbit(0.8 0.15 0.05; 0.2 0.7 0.1; 0.15 0.45 0.4 | " +
		"0.05 0.85 0.10; 0.75 0.03 0.22; 0.13 0.85 0.02)")
}

// sketchGraph has two trees on 11 positions. Its ninth position, sketchRow, has earlier relatives of
// every kind: parent, grandparent, sibling, uncle, and positions of the other tree.
func sketchGraph() *graph.Forest { return graph.MustNew(-1, 0, 0, 1, -1, 3, 1, 4, 3, 8, -1) }

const sketchRow = 8 // counted from 0

// margin returns m_ip - max_{j != p, j <= i} m_ij for a T x T matrix such as g or ghat.
// It is positive if row i is largest at position p.
func margin(m mat.Matrix, i, p int) float64 {
	largest := math.Inf(-1)
	for j := range i + 1 {
		if j != p {
			largest = max(largest, m.At(i, j))
		}
	}
	return m.At(i, p) - largest
}

// LeastMargin returns min_i m_ip(i) - max_{j != p(i), j <= i} m_ij over the positions
// with a parent in g, for a T x T matrix m such as g or ghat.
func LeastMargin(m mat.Matrix, g *graph.Forest) float64 {
	if rows, columns := m.Dims(); rows != g.T() || columns != g.T() {
		panic(fmt.Sprintf("figures: a %d x %d matrix for a graph of %d positions", rows, columns, g.T()))
	}
	least := math.Inf(1)
	for _, e := range g.Edges() {
		least = min(least, margin(m, e[1], e[0]))
	}
	return least
}

// flowEnd is the time at which flow ends.
const flowEnd = 60.0

// flow returns times and attentions of gradient descent on one row of A1 along a fixed
// g_i, in small steps from A_i = 0:
//
//	dA_i/dt = J(S(A_i)) g_i
func flow(g []float64) (times []float64, attention [][]float64) {
	const step, each = 0.05, 10
	a, s := make([]float64, len(g)), make([]float64, len(g))
	for n := 0; float64(n)*step <= flowEnd; n++ {
		num.Softmax(s, a)
		if n%each == 0 {
			times = append(times, float64(n)*step)
			attention = append(attention, slices.Clone(s))
		}
		mean := floats.Dot(s, g)
		for j := range a {
			a[j] += step * s[j] * (g[j] - mean)
		}
	}
	return times, attention
}

// sketchRows is the row on Figure 4, for which the paper prints no number.
func sketchRows() []Row {
	g := sketchGraph()
	least := LeastMargin(theory.G(sketchPrior(), g), g)
	return []Row{{
		Figure: 4, ID: "fig-proof-sketch", What: "gradient of a row by position", Setting: "text",
		Paper: "largest at the parent",
		Ours:  words("in each row, by at least %.3f", least), Interval: "exact",
		Verdict: verdict(least > 0, "not in each row"),
	}}
}

// proofSketch is Figure 4, why row s_9 of the first attention matrix finds the parent: (a) the graph, (b) g_ij and
// its upper bound, (c) the attention under descent along g_i.
func proofSketch() *figure.Figure {
	g := sketchGraph()
	return &figure.Figure{
		Width: figure.TwoColumns,
		Alt: "A causal graph on 11 positions. Below, marks of gradient, information and their bound by position, " +
			"all largest at the parent; and the attention on the parent, which grows to 1 while all others die " +
			"out.",
		Caption: fmt.Sprintf(`Why descent finds the parent. (a)~A causal graph. (b)~The idealized gradient `+
			`$g_{%[1]d,j}$ of row $s_{%[1]d}$. Its bound is $\frac12 I_{\chi^2}(s_{%[1]d};s_j)+\frac12 `+
			`I_{\chi^2}(s_{%[1]d};s_{%[2]d})$, so that it is largest at the parent $s_{%[2]d}$, where both terms `+
			`are; marks of one position stand side by side. (c)~The attention of the row `+
			`under descent along $g_{%[1]d}$, from uniform.`, sketchRow+1, g.Parent(sketchRow)+1),
		Rows: [][]*figure.Panel{
			{figure.Causal("Causal graph", &figure.Forest{Parents: g.Parents(), Query: true})},
			{gradientPanel(g), descentPanel(g)},
		},
	}
}

// gradientPanel has g_ij, the information of s_j on s_i, and the bound of g_ij, the mean
// of the information of s_j and of the parent.
func gradientPanel(g *graph.Forest) *figure.Panel {
	const i = sketchRow
	p, parent := sketchPrior(), g.Parent(i)
	info, grad := theory.Information(theory.ChiSquared, p, g), theory.G(p, g)
	const apart = 0.17 // marks of one position do not overlap
	var x, below, above, gs, is, bounds []float64
	for j := range i + 1 {
		x, gs = append(x, float64(j+1)), append(gs, grad.At(i, j))
		if j < i {
			below, is = append(below, x[j]-apart), append(is, info.At(i, j))
			above, bounds = append(above, x[j]+apart), append(bounds, (info.At(i, j)+info.At(i, parent))/2)
		}
	}
	a := figure.New(fmt.Sprintf("Gradient of the row of $s_{%d}$", i+1)).Axes(positionJ, "Gradient, information")
	a.XRange(0.5, i+1.5).Every(&a.X, 1).Height = 105
	a.Points(1, fmt.Sprintf(`$I_{\chi^2}(s_{%d};s_j)$`, i+1), below, is)
	a.Points(0, fmt.Sprintf("$g_{%d,j}$", i+1), x, gs)
	a.Points(2, fmt.Sprintf("bound on $g_{%d,j}$", i+1), above, bounds)
	return a
}

// descentPanel has the attention of row i under gradient descent along g_i.
func descentPanel(g *graph.Forest) *figure.Panel {
	const i = sketchRow
	parent := g.Parent(i)
	a := figure.New("Descent from uniform attention").XRange(0, flowEnd).YRange(0, 1)
	a.Axes(`Step, in units of $ST/(\beta_0\eta_1)$`, fmt.Sprintf("Attention of $s_{%d}$", i+1)).Height = 105
	steps, attention := flow(theory.G(sketchPrior(), g).RawRowView(i)[:i+1])
	for j := range i + 1 {
		k, name := 3, ""
		if j == parent {
			k, name = 0, fmt.Sprintf("on its parent $s_{%d}$", parent+1)
		} else if j == 0 {
			name = "on each of the others"
		}
		l := a.Curve(k, name, steps, mapped(attention, func(at []float64) float64 { return at[j] }))
		if j != parent {
			l.Dashes = []vg.Length{5, 1.5}
		}
	}
	return a
}

// gradientMap draws the idealized gradient g_ij of four kinds of forest below the adjacency matrix of each.
func gradientMap() *figure.Figure {
	gs := []struct {
		title string
		graph *graph.Forest
	}{
		{"Markov chain", graph.Chain(12)},
		{"In-context learning", graph.InContext(12)},
		{"Binary tree", graph.MustNew(-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, -1)},
		{"Two trees", graph.MustNew(-1, 0, -1, 1, 2, 0, 4, 3, 2, 6, 3, -1)},
	}
	f := &figure.Figure{
		Width: figure.TwoColumns, Rows: make([][]*figure.Panel, 2),
		Alt: "Above, the adjacency matrices of four graphs; below, the gradient of each. The darkest cells of a " +
			"gradient are the edges of its graph.",
		Caption: `Above, the adjacency matrix of a causal graph, row $i$ with its parent in column $p(i)$; below, ` +
			`the idealized gradient $g_{ij}$ on one scale for all graphs. The parent is the largest entry of its ` +
			`row; rows of roots vanish but for the last, in which the query, drawn uniformly, has $g_{TT}\neq0$ (outlined).`,
	}
	var gradients []*figure.Heat
	for k, n := range gs {
		adj := adjacencyMatrix(n.title, matrixRows(n.graph.Adjacency())).Axes("", "")
		p, grad := figure.Matrix("$g_{ij}$", matrixRows(theory.G(sketchPrior(), n.graph)), true)
		grad.Blocks = [][4]int{{11, 11, 1, 1}}
		if p.Axes(positionJ, ""); k == 0 {
			adj.Y.Label.Text, p.Y.Label.Text = positionI, positionI
		}
		adj.Cell, p.Cell = 86./12, 86./12 // four matrices and a bar fit the width
		gradients = append(gradients, grad)
		f.Rows[0], f.Rows[1] = append(f.Rows[0], adj), append(f.Rows[1], p)
	}
	figure.OneScale(gradients...)
	return f
}
