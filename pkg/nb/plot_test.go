package nb

import (
	"bytes"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"learncausal/internal/figure"
	"learncausal/internal/property"
	"learncausal/pkg/graph"
)

var regen = flag.Bool("regen", false, "write the golden pictures")

// pixels draws the plots and returns the picture.
func pixels(t *testing.T, plots ...*plot.Plot) image.Image {
	t.Helper()
	b, err := drawn(plots...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// heatMap returns a plot of a matrix.
func heatMap(title string, rows, columns int, at func(i, j int) float64) *plot.Plot {
	p, m := plot.New(), mat.NewDense(rows, columns, nil)
	m.Apply(func(i, j int, _ float64) float64 { return at(i, j) }, m)
	p.Title.Text = title
	AddMatrix(p, m)
	return p
}

// curves returns a plot of two curves on a logarithmic axis, with labels that need two lines and letters of Greek.
func curves() *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "a curve of β for 50 %", "step", "loss & more"
	p.X.Scale, p.Legend.Top = plot.LogScale{}, true
	Check(plotutil.AddLinePoints(p, "T = 20", plotter.XYs{{X: 1, Y: 2}, {X: 100, Y: 3}},
		"T = 40", plotter.XYs{{X: 1, Y: 1}, {X: 50, Y: 3}}))
	return p
}

func TestGoldenPictures(t *testing.T) {
	if p := figure.Platform(); p != figure.Pinned {
		t.Skipf("!!! NOT CHECKED: bytes of pictures are pinned on %s, this is %s", figure.Pinned, p)
	}
	lower := func(scale float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if j >= i {
				return 0
			}
			return scale * math.Sin(float64(3*i+5*j))
		}
	}
	printed, arcs := plot.New(), plot.New()
	AddMatrix(printed, mat.NewDense(2, 3, []float64{-1, 0, 0.25, 0, 0.5, -0.001}), "%.2f")
	AddGraph(arcs, graph.InContext(20))
	square := func(i, j int) float64 { return math.Abs(lower(1)(i, j)) }
	for name, plots := range map[string][]*plot.Plot{
		"matrices": {
			heatMap("Markov chain", 12, 12, lower(1)), heatMap("In-context learning", 12, 12, lower(0.576)),
			heatMap("A tree", 12, 12, square), heatMap("g", 12, 12, lower(1e-3)),
		},
		"entries": {printed, heatMap("a row", 1, 40, lower(1))},
		"curves":  {curves(), heatMap("W", 10, 5, lower(2)), arcs},
		"graph":   {arcs},
	} {
		got, path := Must(drawn(plots...)), filepath.Join("testdata", name+".png")
		if *regen {
			Check(os.WriteFile(path, got, 0o666))
		}
		if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs, or %v; look at the picture of go test -regen", path, err)
		}
	}
}

func TestSignsHaveTheirColours(t *testing.T) {
	m := pixels(t, heatMap("", 1, 3, func(_, j int) float64 { return float64(j - 1) }))
	w, y := m.Bounds().Dx(), m.Bounds().Dy()/4
	var got []color.RGBA
	for _, x := range []int{w / 6, w / 2, 3 * w / 4} {
		got = append(got, color.RGBAModel.Convert(m.At(x, y)).(color.RGBA))
	}
	orange, zero, purple := got[0], got[1], got[2]
	if orange.R <= orange.B || zero != (color.RGBA{255, 255, 255, 255}) || purple.B <= purple.G {
		t.Errorf("-1, 0 and 1 have the colours %v, want orange, white and purple", got)
	}
}

func TestExtremePlotsAreDrawnOrStopTheCell(t *testing.T) {
	var e float64 = math.Nextafter(1, 0)
	for _, c := range []struct {
		y    plotter.XYs
		log  bool
		want string
	}{
		{plotter.XYs{{X: 0, Y: e}, {X: 1, Y: 1}}, false, ""},
		{plotter.XYs{{X: 0, Y: 2}, {X: 1, Y: 1}}, true, "needs values above 0; the least is 0"},
		{plotter.XYs{{X: -1, Y: 2}, {X: 1, Y: 1}}, true, "needs values above 0; the least is -1"},
		{plotter.XYs{{X: 1, Y: math.NaN()}, {X: 2, Y: 1}}, false, "want finite numbers"},
		{plotter.XYs{{X: 1, Y: 1}, {X: math.Inf(1), Y: 1}}, true, "want finite numbers"},
	} {
		p := plot.New()
		if c.log {
			p.X.Scale = plot.LogScale{}
		}
		p.Add(&plotter.Line{XYs: c.y, LineStyle: plotter.DefaultLineStyle})
		_, err := drawn(p)
		if err == nil {
			err = errors.New("")
		}
		if got := err.Error(); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%v, logarithmic %v: error %q, want %q", c.y, c.log, got, c.want)
		}
	}
	for _, v := range []float64{0, 1, -2, 1e-300, 1e300} {
		pixels(t, heatMap("", 1, 1, func(int, int) float64 { return v }))
	}
}

// Labels that are wider than their frame get a wider picture; without ink a picture is an error with the reason.
func TestAPictureHasInkOrAReason(t *testing.T) {
	word := strings.Repeat("W", 35)
	bars := func(x, y []string) *plot.Plot {
		p := plot.New()
		b, err := plotter.NewBarChart(plotter.Values{1, 2, 3}, 10)
		Check(err)
		b.Horizontal = y != nil
		p.Add(b)
		if y != nil {
			p.NominalY(y...)
		}
		if x != nil {
			p.NominalX(x...)
		}
		return p
	}
	for name, p := range map[string]*plot.Plot{
		"names on y": bars(nil, []string{"a", word, "c"}),
		"names on x": bars([]string{"a", strings.Repeat("i", 30), "c"}, nil),
		"no name":    bars(nil, nil),
		"zeros":      heatMap("", 3, 3, func(int, int) float64 { return 0 }),
	} {
		b, err := drawn(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		dark, m := 0, Must(png.Decode(bytes.NewReader(b)))
		for x := range m.Bounds().Dx() {
			for y := range m.Bounds().Dy() {
				if r, _, _, _ := m.At(x, y).RGBA(); r < 1<<15 {
					dark++
				}
			}
		}
		if dark < 200 {
			t.Errorf("%s: %d dark pixels of %v", name, dark, m.Bounds())
		}
	}
	narrow := line(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	narrow.Y.Min, narrow.Y.Max = 5, 6
	hidden := plot.New()
	hidden.HideAxes()
	endless := line(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}})
	endless.Add(written(math.Inf(1)))
	hundred := plot.New()
	hundred.Add(plotter.NewFunction(func(x float64) float64 { return 100 + x }))
	for want, p := range map[string]*plot.Plot{
		"plotter 1 of 1, *plotter.Function, draws nothing within the axes":              hundred,
		"*plotter.Line, draws nothing within the axes, x from 0 to 1 and y from 5 to 6": narrow,
		"the picture is empty":      hidden,
		"have no place on the page": endless,
		"more than 396 pt (140 mm)": bars(nil, []string{"a", strings.Repeat(word, 30), "c"}),
		"labels leave no room":      bars([]string{word, "b", word}, nil),
	} {
		_, err := drawn(p)
		property.Mentions(t, err, want)
	}
}

// line returns a plot of a line, also with values that are not finite.
func line(xys plotter.XYs) *plot.Plot {
	p := plot.New()
	p.Add(&plotter.Line{XYs: xys, LineStyle: plotter.DefaultLineStyle})
	return p
}

// written is a plotter that writes at an ordinate in points.
type written float64

func (y written) Plot(c draw.Canvas, p *plot.Plot) {
	c.FillText(p.Title.TextStyle, vg.Point{Y: vg.Length(y)}, "far")
}

// A plot keeps its settings, and is drawn twice alike.
func TestPlotsAreNotChanged(t *testing.T) {
	p := curves()
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 1, Label: "one"}}
	q := *p
	first := Must(drawn(p, p))
	if p.Title.Text != q.Title.Text || p.X.Tick.Length != q.X.Tick.Length || p.X.Min != q.X.Min {
		t.Errorf("the plot has changed from %+v to %+v", q, *p)
	}
	if !bytes.Equal(first, Must(drawn(p, p))) {
		t.Error("two drawings differ")
	}
}

func TestPlotsStandSideBySideInRowsOfFour(t *testing.T) {
	p := heatMap("", 3, 3, func(i, j int) float64 { return 1 })
	one, four := pixels(t, p).Bounds(), pixels(t, p, p, p, p).Bounds()
	five := pixels(t, p, p, p, p, p).Bounds()
	if four.Dx() < 3*one.Dx()/2 || four.Dy() > one.Dy() || five.Dx() != four.Dx() || five.Dy() < 2*four.Dy()-40 {
		t.Errorf("one plot has %v pixels, four have %v, five have %v", one.Max, four.Max, five.Max)
	}
}

func TestStripHasAllPlotsWithoutAProgram(t *testing.T) {
	p := plot.New()
	p.Add(plotter.NewFunction(math.Sqrt))
	page := strip("<roots>", []*plot.Plot{p, p, p})
	if n := strings.Count(page, `<img src="data:image/png;base64,`); n != 3 ||
		!strings.Contains(page, `alt="&lt;roots&gt;, 2 of 3"`) {
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
