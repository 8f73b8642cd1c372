package report

import (
	"fmt"
	"math"
	"strconv"

	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// SketchPrior is the prior of the pictures of Section 4.1: the relabelings of
// two matrices over three states, one that tends to stay in its state and one
// that tends to leave it, whose traces have mean one.
func SketchPrior() *markov.Finite {
	p, err := markov.ParsePrior("orbit(0.8 0.15 0.05; 0.2 0.7 0.1; 0.15 0.45 0.4 | 0.05 0.85 0.10; 0.75 0.03 0.22; 0.13 0.85 0.02)", 3)
	if err != nil {
		panic("report: " + err.Error())
	}
	return p.(*markov.Finite)
}

// SketchGraph has two trees on 11 positions, and relatives of every kind before
// its ninth: parent, grandparent, brother, uncle, and strangers.
func SketchGraph() *graph.Forest {
	g, err := graph.New([]int{-1, 0, 0, 1, -1, 3, 1, 4, 3, 8, -1})
	if err != nil {
		panic("report: " + err.Error())
	}
	return g
}

// ProofSketch is Figure 4, drawn from numbers: row s_9 of SketchGraph.
func ProofSketch() *figure.Figure {
	return ProofSketchFigure("fig-proof-sketch", SketchGraph(), SketchPrior(), 8)
}

// ProofSketchFigure shows why row i of the first attention matrix finds p(i):
// (a) the graph, (b) g_ij and what bounds it by position j, (c) the attention of
// the row under gradient descent along g_i. It panics where i has no parent.
func ProofSketchFigure(id string, g *graph.Forest, p *markov.Finite, i int) *figure.Figure {
	t, parent := g.T(), g.Parent(i)
	if parent == graph.Root {
		panic(fmt.Sprintf("report: position %d is a root, want one with a parent", i))
	}
	info, grad := theory.Information(theory.ChiSquared, p, g), theory.G(p, g)
	var x, gs, is, bounds []float64
	for j := range i + 1 {
		x, gs = append(x, float64(j+1)), append(gs, grad[i*t+j])
		if j < i {
			is = append(is, info[i*t+j])
			bounds = append(bounds, (info[i*t+j]+info[i*t+parent])/2)
		}
	}
	row, at := subscript(i+1), subscript(parent+1)
	shares := &figure.Axes{
		Title:  figure.Text("Descent from uniform attention"),
		Height: 105,
		X:      figure.Axis{Label: figure.Label{Text: "Step, in units of ST/(β₀η₁)", TeX: `Step, in units of $ST/(\beta_0\eta_1)$`}, Min: 0, Max: flowEnd},
		Y:      figure.Axis{Label: figure.Label{Text: "Attention of s" + row, TeX: fmt.Sprintf("Attention of $s_{%d}$", i+1)}, Min: 0, Max: 1},
	}
	steps, attention := flow(grad[i*t : i*t+i+1])
	other := 0
	if parent == 0 {
		other = 1
	}
	for j := range i + 1 {
		s := figure.Series{X: steps, Color: 4, Mark: 1}
		if j == parent {
			s.Color = 1
			s.Label = figure.Label{Text: "on its parent s" + at, TeX: fmt.Sprintf("on its parent $s_{%d}$", parent+1)}
		} else if j == other {
			s.Label = figure.Text("on each of the others")
		}
		for _, a := range attention {
			s.Y = append(s.Y, a[j])
		}
		shares.Series = append(shares.Series, s)
	}
	return &figure.Figure{
		ID: id, Width: figure.TwoColumns,
		Caption: fmt.Sprintf(`Why descent finds the parent. (a)~A causal graph. (b)~The idealized gradient $g_{%[1]d,j}$ of row $s_{%[1]d}$. Its bound is $\frac12 I_{\chi^2}(s_{%[1]d};s_j)+\frac12 I_{\chi^2}(s_{%[1]d};s_{%[2]d})$, so that it is largest at the parent $s_{%[2]d}$, where both terms are. (c)~The attention of the row under descent along $g_{%[1]d}$, from uniform.`, i+1, parent+1),
		Rows: [][]figure.Panel{
			{&figure.Graph{Title: figure.Text("Causal graph"), Parents: g.Parents(), Query: true}},
			{&figure.Axes{
				Title:  figure.Label{Text: "Gradient of the row of s" + row, TeX: fmt.Sprintf("Gradient of the row of $s_{%d}$", i+1)},
				Height: 105,
				X:      figure.Axis{Label: positionJ, Min: 0.5, Max: float64(i) + 1.5},
				Y:      figure.Axis{Label: figure.Text("Gradient, information")},
				Series: []figure.Series{ // the gradient on top
					{Label: figure.Label{Text: "I(s" + row + "; sⱼ)", TeX: fmt.Sprintf(`$I_{\chi^2}(s_{%d};s_j)$`, i+1)}, X: x[:i], Y: is, Points: true, Color: 2, Mark: 2},
					{Label: figure.Label{Text: "bound on g" + row + "ⱼ", TeX: fmt.Sprintf("bound on $g_{%d,j}$", i+1)}, X: x[:i], Y: bounds, Points: true, Color: 3, Mark: 3},
					{Label: figure.Label{Text: "g" + row + "ⱼ", TeX: fmt.Sprintf("$g_{%d,j}$", i+1)}, X: x, Y: gs, Points: true, Color: 1, Mark: 1},
				},
			}, shares},
		},
	}
}

// subscript returns n in Unicode subscripts.
func subscript(n int) string {
	text := ""
	for _, c := range strconv.Itoa(n) {
		text += string('₀' + c - '0')
	}
	return text
}

const flowEnd = 60.0

// flow follows gradient descent on one row of A1 along a fixed g_i in small
// steps, from A_i = 0, and returns times and attentions:
//
//	dA_i/dt = J(S(A_i)) g_i
func flow(g []float64) (times []float64, attention [][]float64) {
	const step, each = 0.05, 10
	a, s := make([]float64, len(g)), make([]float64, len(g))
	for n := 0; float64(n)*step <= flowEnd; n++ {
		total, mean := 0.0, 0.0
		for j, v := range a {
			s[j] = math.Exp(v)
			total += s[j]
		}
		for j := range s {
			s[j] /= total
			mean += s[j] * g[j]
		}
		if n%each == 0 {
			times = append(times, float64(n)*step)
			attention = append(attention, append([]float64(nil), s...))
		}
		for j := range a {
			a[j] += step * s[j] * (g[j] - mean)
		}
	}
	return times, attention
}

// A NamedGraph is a graph with the title of its panel.
type NamedGraph struct {
	Title string
	Graph *graph.Forest
}

// SketchGraphs are four kinds of forest on 12 positions.
func SketchGraphs() []NamedGraph {
	tree, err := graph.New([]int{-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, -1})
	if err != nil {
		panic("report: " + err.Error())
	}
	two, err := graph.New([]int{-1, 0, -1, 1, 2, 0, 4, 3, 2, 6, 3, -1})
	if err != nil {
		panic("report: " + err.Error())
	}
	return []NamedGraph{{"Markov chain", graph.Chain(12)}, {"In-context learning", graph.InContext(12)}, {"Binary tree", tree}, {"Two trees", two}}
}

// GradientMap is the idealized gradient of SketchGraphs under SketchPrior.
func GradientMap() *figure.Figure { return GradientMapFigure("fig-gij", SketchGraphs(), SketchPrior()) }

// GradientMapFigure draws g_ij beside the adjacency matrix of each graph, two
// graphs in a row.
func GradientMapFigure(id string, gs []NamedGraph, p *markov.Finite) *figure.Figure {
	f := &figure.Figure{
		ID: id, Width: figure.TwoColumns,
		Caption: `Adjacency matrix of a causal graph, row $i$ with its parent in column $p(i)$, beside the idealized gradient $g_{ij}$. The parent is the largest entry of its row; rows of roots vanish but for the last, in which the query, drawn uniformly, has $g_{TT}\neq0$.`,
	}
	var maps []*figure.Matrix
	most := 0
	for _, n := range gs {
		most = max(most, n.Graph.T())
	}
	cell := 86 / float64(most) // four matrices and a bar fit the width
	for k, n := range gs {
		adj := &figure.Matrix{
			Title: figure.Text(n.Title), Values: adjacency(n.Graph), Cell: cell,
			Scale:  figure.Scale{Palette: figure.Signed, Hidden: true},
			XLabel: positionJ,
		}
		grad := &figure.Matrix{
			Title:  figure.Label{Text: "gᵢⱼ", TeX: "$g_{ij}$"},
			Values: matrixRows(theory.G(p, n.Graph), n.Graph.T()), Cell: cell, XLabel: positionJ,
		}
		maps = append(maps, grad)
		if k%2 == 0 {
			f.Rows, adj.YLabel = append(f.Rows, nil), positionI
		}
		last := len(f.Rows) - 1
		f.Rows[last] = append(f.Rows[last], adj, grad)
	}
	figure.ShareScale(figure.Scale{Palette: figure.Signed}, maps...)
	return f
}
