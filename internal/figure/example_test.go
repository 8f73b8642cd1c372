package figure_test

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"learncausal/internal/figure"
)

// A plot of gonum as a figure.
func ExampleChart() {
	dir, _ := os.MkdirTemp("", "figures")
	defer os.RemoveAll(dir)

	p := figure.NewPlot()
	p.X.Label.Text, p.Y.Label.Text = "x", "sin x"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 2*math.Pi, -1, 1
	p.Add(plotter.NewFunction(math.Sin))
	f := &figure.Figure{ID: "sine", Rows: [][]figure.Panel{{&figure.Chart{Plot: p}}}}
	paths, err := f.Export(dir)

	for _, path := range paths {
		fmt.Println(filepath.Base(path))
	}
	fmt.Println(err)
	// Output:
	// sine.png
	// sine.svg
	// sine.pdf
	// sine.tex
	// <nil>
}

// disc is a panel of another package.
type disc struct{}

func (disc) Heading() figure.Label { return figure.Text("A disc") }

func (disc) Layout(w vg.Length) (figure.Room, error) {
	w = min(w, vg.Inch)
	return figure.Room{Width: w, Height: w}, nil
}

func (disc) Draw(c draw.Canvas) error {
	style := draw.GlyphStyle{Color: color.Black, Radius: c.Size().X / 2}
	draw.CircleGlyph{}.DrawGlyph(&c, style, c.Center())
	return nil
}

// A panel of another package and a graph in one row.
func ExamplePanel() {
	forest := &figure.Graph{Parents: []int{-1, 0, 0, 1}}
	f := &figure.Figure{ID: "beside", Width: figure.TwoColumns, Rows: [][]figure.Panel{{disc{}, forest}}}
	tex, err := f.TeX()
	fmt.Println(len(tex) > 0, err)
	// Output:
	// true <nil>
}
