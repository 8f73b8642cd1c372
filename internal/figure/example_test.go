package figure_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"learncausal/internal/figure"
)

// A plot of gonum as a figure.
func ExampleFromPlot() {
	dir, _ := os.MkdirTemp("", "figures")
	defer os.RemoveAll(dir)

	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "x", "sin x"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 2*math.Pi, -1, 1
	p.Add(plotter.NewFunction(math.Sin))
	f := &figure.Figure{ID: "sine", Rows: [][]*figure.Panel{{figure.FromPlot(p)}}}
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
