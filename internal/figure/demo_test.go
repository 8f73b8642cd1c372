package figure

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/plot/plotter"
)

// figure2 is a stand-in for trained weights in the layout of the paper's
// Figure 2: noise, and a strong pattern in the three blocks.
func figure2(S, T int, parents []int) *Figure {
	d := S + T
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func(r, c int, sd float64) [][]float64 {
		m := make([][]float64, r)
		for i := range m {
			m[i] = make([]float64, c)
			for j := range m[i] {
				m[i][j] = sd * rng.NormFloat64()
			}
		}
		return m
	}
	a1, a2, w := noise(d, d, 0.12), noise(2*d, 2*d, 0.3), noise(S, 4*d, 0.05)
	for i, p := range parents {
		if p >= 0 {
			a1[S+i][S+p] += 9 + rng.NormFloat64()
		}
	}
	for i := range S {
		for j := range S {
			x := -0.4
			if i == j {
				x = 6
			}
			a2[i][d+j] += x
			w[i][2*d+j] += x / 3
		}
	}
	token, position := Text("Token"), Text("Position")
	x := Label{"X̃", `$\widetilde X$`}
	ax := Label{"attn(X̃; Ã⁽¹⁾)", `$\mathrm{attn}(\widetilde X;\widetilde A^{(1)})$`}
	ah := Label{"attn(h⁽¹⁾; Ã⁽²⁾)", `$\mathrm{attn}(h^{(1)};\widetilde A^{(2)})$`}
	inner := func(n int) []Group {
		var g []Group
		for range n {
			g = append(g, Group{token, S}, Group{position, T})
		}
		return g
	}
	return &Figure{ID: "demo-weights", Width: TwoColumns, Caption: `Made-up weights.`, Rows: [][]Panel{
		{
			&Matrix{
				Title: Label{"Ã⁽¹⁾", `$\widetilde A^{(1)}$`}, Values: a1,
				Rows: [][]Group{inner(1)}, Columns: [][]Group{inner(1)},
				Blocks: []Block{{S, S, T, T}}, Scale: Scale{Palette: Signed},
			},
			&Matrix{
				Title: Label{"Ã⁽²⁾", `$\widetilde A^{(2)}$`}, Values: a2,
				Rows: [][]Group{inner(2), {{x, d}, {ax, d}}}, Columns: [][]Group{inner(2), {{x, d}, {ax, d}}},
				Blocks: []Block{{0, d, S, S}}, Scale: Scale{Palette: Signed},
			},
		},
		{&Matrix{
			Title: Label{"Wₒᵀ", `$W_O^\top$`}, Values: w,
			Rows: [][]Group{{{token, S}}}, Columns: [][]Group{inner(4), {{x, d}, {ax, d}, {ah, 2 * d}}},
			Blocks: []Block{{0, 2 * d, S, S}}, Scale: Scale{Palette: Signed},
		}},
	}}
}

// demos are figures of the sizes that the paper needs.
func demos() []*Figure {
	var icl []int
	for i := range 20 {
		if i%2 == 1 && i < 19 {
			icl = append(icl, i-1)
		} else {
			icl = append(icl, -1)
		}
	}
	random := []int{-1, -1, 1, -1, -1, 4, -1, 5, 3, 4, 8, 6, 1, 3, 5, -1, 6, 1, 3, -1}
	chain := []int{-1}
	for i := range 18 {
		chain = append(chain, i)
	}
	chain = append(chain, -1)
	return append([]*Figure{
		figure2(10, 20, icl),
		{ID: "demo-graph-6", Rows: [][]Panel{{&Graph{Parents: []int{-1, 0, 0, 1, 2, -1}, Query: true}}}},
		{ID: "demo-graph-20", Rows: [][]Panel{
			{&Graph{Title: Text("random"), Parents: random, Query: true}},
			{&Graph{Title: Text("chain"), Parents: chain, Query: true}},
		}},
		{ID: "demo-graph-20-wide", Width: TwoColumns, Rows: [][]Panel{{&Graph{Parents: random, Query: true}}}},
		threeByThree(icl),
	}, demoAxes()...)
}

func demoAxes() []*Figure {
	var pos, mean, sd, loss, steps []float64
	for i := range 18 {
		pos = append(pos, float64(i+1))
		mean = append(mean, 0.9-0.01*float64(i))
		sd = append(sd, 0.03+0.004*float64(i))
	}
	for i := range 60 {
		steps = append(steps, math.Pow(10, float64(i)/12))
		loss = append(loss, 1.7+1/(1+steps[i]/100))
	}
	lines := func() *Axes {
		return &Axes{
			X:      Axis{Label: Label{"Position i", "Position $i$"}, Min: 0, Max: 19},
			Y:      Axis{Label: Label{"Attention on p(i)", "$\\mathcal S(A^{(1)})_{i,p(i)}$"}, Min: 0, Max: 1},
			Series: []Series{{Label: Text("mean ± sd"), X: pos, Y: mean, Err: sd}},
		}
	}
	return []*Figure{
		{ID: "demo-axes", Rows: [][]Panel{{lines()}}},
		{ID: "demo-axes-2", Width: TwoColumns, Rows: [][]Panel{{
			lines(),
			&Axes{
				X: Axis{Label: Text("Step"), Log: true}, Y: Axis{Label: Text("Test loss")},
				Series: []Series{
					{Label: Text("chain"), X: steps, Y: loss},
					{Label: Text("in-context"), X: steps, Y: mul(loss, 0.97)},
					{Label: Text("third"), X: steps, Y: mul(loss, 0.93)},
				},
				Levels: []Level{{Text("Bayes predictor"), 1.59}},
			},
			&Axes{X: Axis{Label: Text("Printed")}, Y: Axis{Label: Text("Ours"), Log: true}, Series: []Series{
				{Points: true, Label: Text("graphs"), X: pos, Y: mean, Err: sd},
				{Points: true, Label: Text("shifted"), X: pos, Y: mul(mean, 0.5)},
				{Points: true, X: pos, Y: mul(mean, 0.4)},
				{Points: true, X: pos, Y: mul(mean, 0.3)},
			}},
		}}},
		{ID: "demo-attention", Rows: [][]Panel{{
			&Matrix{
				Title: Text("Head 0"), Values: figure2(5, 12, []int{-1, 0, 1, 2, 3, 4, 5, 6}).Rows[0][0].(*Matrix).Values,
				XLabel: Label{"Position j", "Position $j$"}, YLabel: Label{"Position i", "Position $i$"},
				Scale: Scale{Label: Text("attention")},
			},
		}}},
	}
}

// variety returns a figure with all dashes and marks, axes with one value or none, a bar
// below its matrix, long titles, and every item of a drawing.
func variety() *Figure {
	dashes, marks := &Axes{Title: Text("Seven curves that differ in their dashes")},
		&Axes{X: Axis{Log: true, Max: 20, Min: 0.5}, Y: Axis{Every: 2}}
	for k := range 7 {
		y := float64(k)
		dashes.Series = append(dashes.Series, Series{Label: Text("curve"), X: []float64{1, 2}, Y: []float64{y, y + 1}})
		marks.Series = append(marks.Series, Series{
			Label: Label{"m", `$m$`}, X: []float64{1, 10}, Y: []float64{y, y + 1}, Points: true, Mark: 7 - k, Color: k + 1,
		})
	}
	single := []Series{{X: []float64{3}, Y: []float64{2}, Points: true}}
	wide := make([][]float64, 3)
	for i := range wide {
		for j := range 30 {
			wide[i] = append(wide[i], float64(i*j%7)-3)
		}
	}
	d := &Drawing{Title: Text("⌊i/2⌋ and X̃⁽¹⁾"), W: 120, H: 40}
	d.Line(Faint, 1, 0, 0, 120, 40)
	d.Fall(3, 0.8, 10, 35, 60, 5)
	d.Disc(Grey, 60, 20, 6)
	d.Mark(4, 5, 80, 20)
	d.Text(Red, 8, -1, Text("left"), 90, 30)
	d.Text(Black, 8, 1, Text("right"), 90, 10)
	d.Arrow(2, 0.9, true, 10, 5, 0, 50, 35, 180, 0.3)
	d.Text(Red, 8, 0, Text("⌊T⌋"), 30, 20)
	d.Arrow(1, 0.7, false, 20, 10, 0, 35, 30, 0, 0)
	line := must(plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: 100, Y: -2}}))
	p := NewPlot()
	p.Title.Text = "A plot of gonum"
	p.Add(line)
	p.Legend.Add("line", line)
	return &Figure{ID: "variety", Width: TwoColumns, Rows: [][]Panel{
		{dashes, marks},
		{
			&Axes{X: Axis{Log: true}, Series: single}, &Axes{Y: Axis{Log: true}, Series: single, Title: Text("One value")},
			&Axes{Levels: []Level{{Text("a level alone"), 1}}},
		},
		{&Matrix{
			Title: Text("A bar that lies"), Values: wide, Scale: Scale{Label: Text("weight"), Palette: Signed},
			Columns: [][]Group{{{Text("Tokens"), 10}, {Text("Positions"), 20}}},
		}},
		{&Chart{Plot: p, Height: 60}, &Matrix{
			Values: wide, Numbered: []int{1}, Columns: [][]Group{{{Text("A"), 10}, {Text("B"), 20}}, {{Text("Both"), 30}}},
		}},
		{&Matrix{Values: [][]float64{{2, 2}, {2, 2}}, Cell: 12}, &Matrix{
			Values: [][]float64{{0}}, Cell: 30,
			Scale: Scale{Palette: Signed},
		}, d},
	}}
}

// threeByThree is the layout of the paper's Figure 6.
func threeByThree(parents []int) *Figure {
	f := &Figure{ID: "demo-three", Width: TwoColumns}
	for range 3 {
		w := figure2(10, 20, parents)
		f.Rows = append(f.Rows, []Panel{
			&Matrix{
				Title: Text("In-context learning"), Values: w.Rows[0][0].(*Matrix).Values[10:], Scale: Scale{Hidden: true},
				XLabel: Label{"Parent j", "Parent $j$"}, YLabel: Label{"Position i", "Position $i$"},
			},
			w.Rows[0][0], w.Rows[0][1],
		})
	}
	return f
}

func mul(x []float64, c float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = c * x[i]
	}
	return y
}
