package figures

import (
	"fmt"

	"learncausal/internal/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// proofSketch is Figure 4, computed for row s_9 of the graph.
func proofSketch() *figure.Figure {
	return ProofSketchFigure("", SketchGraph(), SketchPrior(), 8)
}

// sketchRows is the row on Figure 4, for which the paper prints no number.
func sketchRows() []Row {
	g, prior := SketchGraph(), SketchPrior()
	least := LeastMargin(theory.G(prior, g), g)
	return []Row{{
		Figure: 4, ID: "fig-proof-sketch", What: "gradient of a row by position", Setting: "text",
		Paper: "largest at the parent",
		Ours:  words("in each row, by at least %.3f", least), Interval: "exact",
		Verdict: verdict(least > 0, "not in each row"),
	}}
}

// ProofSketchFigure shows why row i of the first attention matrix finds p(i): (a) the graph, (b) g_ij and its
// upper bound, (c) the attention under descent along g_i. It panics if i has no parent.
func ProofSketchFigure(id string, g *graph.Forest, p *markov.Finite, i int) *figure.Figure {
	parent := g.Parent(i)
	if parent == graph.Root {
		panic(fmt.Sprintf("figures: position %d is a root, want one with a parent", i))
	}
	return &figure.Figure{
		ID: id, Width: figure.TwoColumns,
		Caption: fmt.Sprintf(`Why descent finds the parent. (a)~A causal graph. (b)~The idealized gradient `+
			`$g_{%[1]d,j}$ of row $s_{%[1]d}$. Its bound is $\frac12 I_{\chi^2}(s_{%[1]d};s_j)+\frac12 `+
			`I_{\chi^2}(s_{%[1]d};s_{%[2]d})$, so that it is largest at the parent $s_{%[2]d}$, where both terms `+
			`are; marks of one position stand side by side. (c)~The attention of the row `+
			`under descent along $g_{%[1]d}$, from uniform.`, i+1, parent+1),
		Rows: [][]figure.Panel{
			{&figure.Graph{Title: figure.Text("Causal graph"), Parents: g.Parents(), Query: true}},
			{gradientPanel(g, p, i), descentPanel(g, p, i)},
		},
	}
}

// indexed returns a label with the index n, counted from 1, in place of %d in its TeX and,
// as subscript, in place of %s in its text.
func indexed(text, tex string, n int) figure.Label {
	return figure.Label{Text: fmt.Sprintf(text, figure.Subscript(n+1)), TeX: fmt.Sprintf(tex, n+1)}
}

// gradientPanel has g_ij, the information of s_j on s_i, and the bound of g_ij, the mean
// of the information of s_j and of the parent.
func gradientPanel(g *graph.Forest, p *markov.Finite, i int) figure.Panel {
	parent := g.Parent(i)
	info, grad := theory.Information(theory.ChiSquared, p, g), theory.G(p, g)
	is := marks(indexed("I(s%s; sⱼ)", `$I_{\chi^2}(s_{%d};s_j)$`, i), 2)
	bounds := marks(indexed("bound on g%sⱼ", "bound on $g_{%d,j}$", i), 3)
	gs := marks(indexed("g%sⱼ", "$g_{%d,j}$", i), 1)
	add := func(s *figure.Series, x, y float64) { s.X, s.Y = append(s.X, x), append(s.Y, y) }
	const apart = 0.17 // marks of one position do not overlap
	for j := range i + 1 {
		x := float64(j + 1)
		add(&gs, x, grad.At(i, j))
		if j < i {
			add(&is, x-apart, info.At(i, j))
			add(&bounds, x+apart, (info.At(i, j)+info.At(i, parent))/2)
		}
	}
	return &figure.Axes{
		Title:  indexed("Gradient of the row of s%s", "Gradient of the row of $s_{%d}$", i),
		Height: 105,
		X:      figure.Axis{Label: positionJ, Min: 0.5, Max: float64(i) + 1.5, Every: 1},
		Y:      figure.Axis{Label: figure.Text("Gradient, information")},
		Series: []figure.Series{is, gs, bounds},
	}
}

// marks returns a series of marks without points yet.
func marks(label figure.Label, style int) figure.Series {
	return figure.Series{Label: label, Points: true, Color: style, Mark: style}
}

// descentPanel has the attention of row i under gradient descent along g_i.
func descentPanel(g *graph.Forest, p *markov.Finite, i int) figure.Panel {
	parent := g.Parent(i)
	a := &figure.Axes{
		Title:  figure.Text("Descent from uniform attention"),
		Height: 105,
		X: figure.Axis{Min: 0, Max: FlowEnd, Label: figure.Label{
			Text: "Step, in units of ST/(β₀η₁)", TeX: `Step, in units of $ST/(\beta_0\eta_1)$`,
		}},
		Y: figure.Axis{Label: indexed("Attention of s%s", "Attention of $s_{%d}$", i), Min: 0, Max: 1},
	}
	steps, attention := Flow(theory.G(p, g).RawRowView(i)[:i+1])
	other := 0
	if parent == 0 {
		other = 1
	}
	for j := range i + 1 {
		s := figure.Series{X: steps, Color: 4, Mark: 2}
		if j == parent {
			s.Color, s.Mark, s.Label = 1, 1, indexed("on its parent s%s", "on its parent $s_{%d}$", parent)
		} else if j == other {
			s.Label = figure.Text("on each of the others")
		}
		for _, at := range attention {
			s.Y = append(s.Y, at[j])
		}
		a.Series = append(a.Series, s)
	}
	return a
}

// gradientMap is the idealized gradient of four kinds of forest.
func gradientMap() *figure.Figure {
	return gradientMapFigure("", SketchGraphs(), SketchPrior())
}

// gradientMapFigure draws g_ij below the adjacency matrix of each graph.
func gradientMapFigure(id string, gs []NamedGraph, p *markov.Finite) *figure.Figure {
	f := &figure.Figure{
		ID: id, Width: figure.TwoColumns, Rows: make([][]figure.Panel, 2),
		Caption: `Above, the adjacency matrix of a causal graph, row $i$ with its parent in column $p(i)$; below, ` +
			`the idealized gradient $g_{ij}$ on one scale for all graphs. The parent is the largest entry of its ` +
			`row; rows of roots vanish but for the last, in which the query, drawn uniformly, has $g_{TT}\neq0$.`,
	}
	var adjacency, gradients []*figure.Matrix
	most := 0
	for _, n := range gs {
		most = max(most, n.Graph.T())
	}
	cell := 86 / float64(most) // four matrices and a bar fit the width
	for _, n := range gs {
		adj := &figure.Matrix{Title: figure.Text(n.Title), Values: matrixRows(n.Graph.Adjacency()), Cell: cell}
		grad := &figure.Matrix{
			Title:  figure.Label{Text: "gᵢⱼ", TeX: "$g_{ij}$"},
			Values: matrixRows(theory.G(p, n.Graph)), Cell: cell, XLabel: positionJ,
		}
		adjacency, gradients = append(adjacency, adj), append(gradients, grad)
		f.Rows[0], f.Rows[1] = append(f.Rows[0], adj), append(f.Rows[1], grad)
	}
	adjacency[0].YLabel, gradients[0].YLabel = positionI, positionI
	figure.ShareScale(figure.Scale{Palette: figure.Signed}, adjacency...)
	adjacency[len(adjacency)-1].Scale.Hidden = true
	figure.ShareScale(figure.Scale{Palette: figure.Signed}, gradients...)
	return f
}
