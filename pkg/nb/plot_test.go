package nb

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"learncausal/pkg/graph"
)

// pixels draws the plots and returns the picture.
func pixels(t *testing.T, plots ...*plot.Plot) image.Image {
	t.Helper()
	width := vg.Length(onePlot)
	if len(plots) > 1 {
		width = allPlots
	}
	b, err := drawn(width, plots...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// box returns the least rectangle with all pixels of the colour in the columns before to.
func box(m image.Image, c color.Color, to int) (r image.Rectangle) {
	want := color.RGBAModel.Convert(c)
	for y := range m.Bounds().Dy() {
		for x := range to {
			if color.RGBAModel.Convert(m.At(x, y)) == want {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

func TestMatrixEntriesAreSquaresInTheirPlaces(t *testing.T) {
	p := plot.New()
	h := AddMatrix(p, mat.NewDense(2, 3, []float64{-1, 0, 0, 0, 0, 0.5}))
	m := pixels(t, p)
	of := func(v float64) image.Rectangle {
		c, err := h.Colors.At(v)
		if err != nil {
			t.Fatal(err)
		}
		return box(m, c, m.Bounds().Dx()-2*barSpace) // without the bar
	}
	first, last := of(-1), of(0.5)
	for _, cell := range []image.Rectangle{first, last} {
		if cell.Dx() < 100 || cell.Dx()-cell.Dy() > 2 || cell.Dy()-cell.Dx() > 2 {
			t.Errorf("a cell covers %v, want a square", cell)
		}
	}
	if right, down := last.Min.X-first.Max.X, last.Min.Y-first.Max.Y; right < 100 || down < -2 || down > 2 {
		t.Errorf("the cells (1, 1) and (2, 3) are at %v and %v, want one cell between them from left to right", first, last)
	}
}

func TestMatrixWithoutSpreadIsDrawn(t *testing.T) {
	for _, v := range []float64{0, 1, -2, 1e-300, 1e300} {
		p := plot.New()
		AddMatrix(p, mat.NewDense(1, 1, []float64{v})).Format = "%.1g"
		pixels(t, p)
	}
}

func TestNumbersAreWhole(t *testing.T) {
	left, right, bare := plot.New(), plot.New(), plot.New()
	AddMatrix(left, mat.NewDense(1, 2, []float64{1, 0}))
	AddMatrix(right, mat.NewDense(1, 2, []float64{-0.157, 0.576}))
	bare.Title.Text, bare.X.Max, bare.Y.Max = "Title", 1, 1
	bare.HideY() // the number at 0 stands left of the axis
	for _, plots := range [][]*plot.Plot{{left, right}, {bare, right}, {bare}} {
		m := pixels(t, plots...)
		for x := range m.Bounds().Dx() {
			for y := range m.Bounds().Dy() {
				atEdge := x == 0 || x == m.Bounds().Dx()-1 || y == 0 || y == m.Bounds().Dy()-1
				if r, _, _, _ := m.At(x, y).RGBA(); atEdge && r < 0xffff {
					t.Fatalf("ink at pixel (%d, %d), on the edge of a picture of %v pixels", x, y, m.Bounds().Max)
				}
			}
		}
	}
	for in, want := range map[string]string{"-0.00": "0.00", "-0": "0", "-0.01": "-0.01", "0.5": "0.5"} {
		if got := unsigned(in); got != want {
			t.Errorf("entry %s is printed as %s, want %s", in, got, want)
		}
	}
}

func TestArcsLeadFromParentsToChildren(t *testing.T) {
	blue := color.RGBA{0x00, 0x72, 0xb2, 0xff}
	var widths []int
	for _, g := range []*graph.Forest{graph.MustNew(-1, -1, -1, -1), graph.MustNew(-1, 0, -1, -1), graph.MustNew(-1, -1, 0, -1)} {
		p := plot.New()
		AddGraph(p, g)
		m := pixels(t, p)
		widths = append(widths, box(m, blue, m.Bounds().Dx()).Dx())
	}
	if widths[0] != 0 || widths[1] < 100 || widths[2] < 2*widths[1]-20 || widths[2] > 2*widths[1]+20 {
		t.Errorf("arcs over 0, 1 and 2 positions are %v pixels wide", widths)
	}
}

func TestPlotsStandSideBySide(t *testing.T) {
	line := func() *plot.Plot {
		p := plot.New()
		p.Add(plotter.NewFunction(math.Sqrt))
		return p
	}
	one, three := pixels(t, line()).Bounds(), pixels(t, line(), line(), line()).Bounds()
	if one.Dx() != 2*onePlot || three.Dx() != 2*allPlots || three.Dy() >= one.Dy() {
		t.Errorf("one plot has %v pixels, three have %v", one.Max, three.Max)
	}
}

func TestFivePlotsFillTwoRows(t *testing.T) {
	line := func() *plot.Plot {
		p := plot.New()
		p.Add(plotter.NewFunction(math.Sqrt))
		return p
	}
	four, five := pixels(t, line(), line(), line(), line()), pixels(t, line(), line(), line(), line(), line())
	if five.Bounds().Dx() != four.Bounds().Dx() || five.Bounds().Dy() < 2*four.Bounds().Dy()-8*edge {
		t.Errorf("four plots have %v pixels, five have %v", four.Bounds().Max, five.Bounds().Max)
	}
	ink := box(five, color.Black, four.Bounds().Dx()/4)
	if ink.Max.Y < 3*five.Bounds().Dy()/4 {
		t.Errorf("the first column has ink in %v, want it in both rows", ink)
	}
}

func TestStripHasAllPlotsWithoutAProgram(t *testing.T) {
	p := plot.New()
	p.Add(plotter.NewFunction(math.Sqrt))
	page := strip("<roots>", []*plot.Plot{p, p, p})
	if n := strings.Count(page, `<img src="data:image/png;base64,`); n != 3 || !strings.Contains(page, `alt="&lt;roots&gt;, 2 of 3"`) {
		t.Errorf("%d images, want 3 with a description each: %.300s", n, page)
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "<style") || strings.Contains(page, " on") {
		t.Errorf("a program, which JupyterLab removes: %.300s", page)
	}
}

func TestPlotDescribesThePicture(t *testing.T) {
	p := plot.New()
	p.Add(plotter.NewFunction(math.Exp))
	out, _ := capture(t)
	Plot("the exponential function", p)
	if got := out.String(); !strings.Contains(got, "pixels: the exponential function]") {
		t.Errorf("outside of a notebook: %q", got)
	}
}

func TestIndicesOfAMatrixDoNotOverlap(t *testing.T) {
	for n, want := range map[int]string{
		2: "1 2", 8: "1 2 3 4 5 6 7 8", 10: "1 2 4 6 8 10", 24: "1 5 10 15 20", 32: "1 10 20 30", 64: "1 20 40 60",
	} {
		if got := labels(indices(n)); got != want {
			t.Errorf("%d rows: ticks at %s, want %s", n, got, want)
		}
	}
}

func labels(ticks []plot.Tick) string {
	var all []string
	for _, tick := range ticks {
		if tick.Label != "" {
			all = append(all, tick.Label)
		}
	}
	return strings.Join(all, " ")
}

func TestAxesHaveRoundNumbers(t *testing.T) {
	for _, c := range []struct {
		of           plot.TickerFunc
		lo, hi       float64
		want, reason string
	}{
		{linearTicks, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0", "fifths"},
		{linearTicks, -0.9, 0.31, "-0.8 -0.6 -0.4 -0.2 0.0 0.2", "the zero has no sign"},
		{linearTicks, 1.96, 14.2, "2 4 6 8 10 12 14", "whole numbers"},
		{linearTicks, 100, 16384, "5000 10000 15000", "thousands"},
		{linearTicks, 7e-6, 3e-5, "0.000010 0.000015 0.000020 0.000025 0.000030", "small numbers"},
		{logTicks, 8, 512, "10 100", "two powers are enough"},
		{logTicks, 0.02, 0.3, "0.02 0.05 0.1 0.2", "one power, and values below it"},
		{logTicks, 0.31, 0.47, "0.4", "a short range"},
		{logTicks, 3, 9, "3 4 5 6 7 8 9", "no power"},
	} {
		if got := labels(c.of(c.lo, c.hi)); got != c.want {
			t.Errorf("%s, from %v to %v: %s, want %s", c.reason, c.lo, c.hi, got, c.want)
		}
	}
	p := plot.New()
	p.X.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.ConstantTicks{{Value: 1, Label: "one"}}
	p.Add(plotter.NewFunction(math.Sqrt))
	p.X.Min, p.X.Max = 3, 9
	pixels(t, p)
	if x, y := labels(p.X.Tick.Marker.Ticks(3, 9)), labels(p.Y.Tick.Marker.Ticks(0, 2)); x != "3 4 5 6 7 8 9" || y != "one" {
		t.Errorf("ticks %q and %q, want the numbers of a logarithmic axis, and those of the cell", x, y)
	}
}
