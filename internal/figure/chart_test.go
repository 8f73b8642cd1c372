package figure

import (
	"bytes"
	"encoding/xml"
	"image/color"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// wave is a grid of heights for a heat map.
type wave struct{}

func (wave) Dims() (c, r int)   { return 8, 5 }
func (wave) X(c int) float64    { return float64(c) }
func (wave) Y(r int) float64    { return float64(r) }
func (wave) Z(c, r int) float64 { return math.Sin(float64(c) + 0.5*float64(r)) }

// readers returns a figure of plots in gonum's own style and fonts, with an image, an
// arc, a closed outline and rotated text.
func readers(t *testing.T) *Figure {
	t.Helper()
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "50 % & more_", "Größe β", "µ ≤ 1 #"
	line, points, err := plotter.NewLinePoints(plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: -2}, {X: 2, Y: 3}})
	if err != nil {
		t.Fatal(err)
	}
	points.Shape = draw.RingGlyph{}
	triangle, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 0}, {X: 0, Y: 1}})
	if err != nil {
		t.Fatal(err)
	}
	triangle.Color = color.NRGBA{200, 0, 0, 100}
	p.Add(line, points, triangle)
	p.Legend.Add("both", line, points)
	p.X.Tick.Label.Rotation = math.Pi / 4

	q := NewPlot()
	heat := plotter.NewHeatMap(wave{}, palette.Heat(12, 1))
	heat.Rasterized = true
	setLabel(&q.X, Label{"X̃⁽¹⁾", `$\widetilde X^{(1)}$`})
	q.Add(heat, plotter.NewFunction(math.Cos))
	return &Figure{ID: "reader", Width: TwoColumns, Rows: [][]Panel{{
		&Chart{Plot: p}, &Chart{Title: Label{"Image", `$\mathrm{Image}$`}, Plot: q, Height: 90},
	}}}
}

// The same plot gives the same bytes in each format. Each format contains the content of
// the plot, and no other files are written.
func TestPlotOfGonumInAllFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	f := readers(t)
	b := make(map[string][]byte)
	for ext, get := range map[string]func() ([]byte, error){"png": f.PNG, "svg": f.SVG, "pdf": f.PDF, "tex": f.TeX} {
		var err1, err2 error
		b[ext], err1 = get()
		again, err2 := get()
		if err1 != nil || err2 != nil || !bytes.Equal(b[ext], again) {
			t.Errorf("%s: two drawings differ, or %v, %v", ext, err1, err2)
		}
	}
	if files, _ := os.ReadDir("."); len(files) > 0 {
		t.Errorf("drawing left %v", files)
	}
	for ext, words := range map[string][]string{
		"tex": {
			`50 \% \& more\_`, `Größe \ensuremath{\beta}`, `\ensuremath{\le} 1 \#`, `$\mathrm{Image}$`, `$\widetilde X^{(1)}$`,
			"rotate=45", "rotate=90", "-- cycle", "opacity=0.392", `\figcell 7 `,
		},
		"svg": {`fill-opacity="0.392"`},
		"pdf": {"/utf8liberationserif-regular", "/utf8liberationsans-regular"},
	} {
		for _, w := range words {
			if !bytes.Contains(b[ext], []byte(w)) {
				t.Errorf("%s does not hold %q", ext, w)
			}
		}
	}
}

// An SVG defines each outline once, and defines exactly the outlines that it uses.
func TestSVGDefinesEachGlyphOnce(t *testing.T) {
	for _, f := range append(small(), readers(t)) {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s.svg: %v", f.ID, err)
			}
		}
		find := func(pattern string) (out []string) {
			for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(svg), -1) {
				out = append(out, m[1])
			}
			slices.Sort(out)
			return out
		}
		ids, uses := find(`<path id="(\w+)"`), find(`<use href="#(\w+)"`)
		outlines := find(`<path id="\w+" d="([^"]+)"`)
		if len(uses) <= len(ids) {
			t.Errorf("%s.svg uses %d glyphs of %d", f.ID, len(uses), len(ids))
		}
		if !slices.Equal(ids, slices.Compact(slices.Clone(uses))) {
			t.Errorf("%s.svg: the glyphs defined are not those used", f.ID)
		}
		if len(slices.Compact(outlines)) != len(ids) {
			t.Errorf("%s.svg defines an outline twice", f.ID)
		}
	}
}

// The data are drawn in the frame of the layout, whatever labels gonum writes around it.
func TestPlotFillsItsFrame(t *testing.T) {
	f := readers(t)
	l, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range l.panels {
		c := draw.Canvas{Canvas: newCanvas(&edges{}), Rectangle: p.frame}
		seen := false
		q := *f.Rows[0][i].(*Chart).Plot
		q.Add(frameProbe(func(got vg.Rectangle) {
			seen = true
			low, high := got.Min.Sub(p.frame.Min), got.Max.Sub(p.frame.Max)
			for _, d := range []vg.Length{low.X, low.Y, high.X, high.Y} {
				if math.Abs(float64(d)) > 1e-6 {
					t.Errorf("panel %d: data in %v, want %v", i, got, p.frame)
					return
				}
			}
		}))
		if err := (&Chart{Plot: &q}).Draw(c); err != nil || !seen {
			t.Errorf("panel %d: %v, drawn: %v", i, err, seen)
		}
	}
}

type frameProbe func(vg.Rectangle)

func (f frameProbe) Plot(c draw.Canvas, _ *plot.Plot) { f(c.Rectangle) }

// Our canvas applies transformations as gonum's canvases do.
func TestCanvasTransforms(t *testing.T) {
	e := &edges{}
	c := newCanvas(e)
	c.Translate(vg.Point{X: 10, Y: 20})
	c.Push()
	c.Rotate(math.Pi / 2)
	c.Scale(2, 3)
	var p vg.Path
	p.Move(vg.Point{X: 5})
	p.Arc(vg.Point{}, 5, 0, math.Pi)
	c.Fill(p)
	c.Pop()
	c.Fill(vg.Rectangle{Max: vg.Point{X: 1, Y: -40}}.Path())
	// Half a circle of radius 5, stretched by 2 and 3 and turned to the left.
	want := edges{x0: -5, y0: -20, x1: 11, y1: 30}
	for i, d := range []vg.Length{e.x0 - want.x0, e.y0 - want.y0, e.x1 - want.x1, e.y1 - want.y1} {
		if math.Abs(float64(d)) > 1e-9 {
			t.Errorf("edge %d: got %+v, want %+v", i, *e, want)
		}
	}
}

// A parabola is the cubic curve whose handles are two thirds of its own.
func TestParabolaAsCubicCurve(t *testing.T) {
	var p vg.Path
	p.Move(vg.Point{})
	p.QuadTo(vg.Point{X: 3, Y: 6}, vg.Point{X: 6})
	c := mappedPath(gg.Identity(), p)[1].Control
	if want := []vg.Point{{X: 2, Y: 4}, {X: 4, Y: 4}}; !slices.Equal(c, want) {
		t.Errorf("handles %v, want %v", c, want)
	}
}

// Gonum takes the middle of a logarithmic axis to be near its end, and would
// reserve space for the label there.
func TestLabelOfALogarithmicAxisTakesNoSpaceAtItsEnd(t *testing.T) {
	a := &Axes{
		X:      Axis{Label: Text("a label of some length"), Log: true},
		Series: []Series{{X: []float64{1, 1e4}, Y: []float64{0, 1}}},
	}
	r, err := a.Layout(100)
	if err != nil || r.Right > 10 {
		t.Errorf("%v pt on the right, %v", r.Right, err)
	}
}

// Seven curves, or sets of points, differ in their dashes or marks as well as in
// their colours, on the screen and in LaTeX.
func TestSeriesDifferWithoutColor(t *testing.T) {
	for _, points := range []bool{false, true} {
		a := &Axes{Y: Axis{Min: 0, Max: 8}}
		for i := range len(lineColors) {
			y := float64(i + 1)
			a.Series = append(a.Series, Series{X: []float64{0, 1}, Y: []float64{y, y}, Points: points})
		}
		tex, err := (&Figure{ID: "seven", Rows: [][]Panel{{a}}}).TeX()
		if err != nil {
			t.Fatal(err)
		}
		styles := make(map[string]bool)
		for _, m := range regexp.MustCompile(`\\addplot\[(.*)\] table`).FindAllStringSubmatch(string(tex), -1) {
			styles[regexp.MustCompile(`black|fig[a-z]+`).ReplaceAllString(m[1], "")] = true
		}
		if len(styles) != len(a.Series) {
			t.Errorf("points %v: %d styles without their colours, want %d: %v", points, len(styles), len(a.Series), styles)
		}
	}
	d := &Drawing{W: 80, H: 10}
	for i := range marks {
		d.Mark(Black, i+1, float64(10*i+5), 5)
	}
	png, err := (&Figure{ID: "marks", Rows: [][]Panel{{d}}}).PNG()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "marks.png", png)
}

// The LaTeX of a curve keeps its ends and all points whose removal would be visible.
func TestCurvesAreThinInLaTeX(t *testing.T) {
	at := func(v plotter.XY) r2.Vec { return r2.Vec{X: v.X, Y: v.Y} }
	wave := make(plotter.XYs, 5001)
	for i := range wave {
		wave[i].X = float64(i) / 10
		wave[i].Y = 100 * math.Sin(wave[i].X/30)
	}
	got := thin(wave, at)
	if len(got) > 500 {
		t.Errorf("%d points of %d are left", len(got), len(wave))
	}
	k := 0 // the segment of got in which a point of the wave lies
	for _, v := range wave {
		if v == got[min(k+1, len(got)-1)] {
			k++
			continue
		}
		if d := distance(at(v), at(got[k]), at(got[min(k+1, len(got)-1)])); d > 0.02 {
			t.Errorf("%v is %v from the curve", v, d)
		}
	}
	if k != len(got)-1 || got[0] != wave[0] {
		t.Errorf("the curve from %v goes to point %d of %d", got[0], k, len(got))
	}
	for _, c := range []struct{ curve, want plotter.XYs }{
		{plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 2}}, plotter.XYs{{X: 0, Y: 0}, {X: 2, Y: 2}}},
		{plotter.XYs{{X: 0, Y: 0}, {X: 3, Y: 0}, {X: 1, Y: 0}}, plotter.XYs{{X: 0, Y: 0}, {X: 3, Y: 0}, {X: 1, Y: 0}}},
		{plotter.XYs{{X: 0, Y: 0}, {X: 0, Y: 1}, {X: 0, Y: 0}}, plotter.XYs{{X: 0, Y: 0}, {X: 0, Y: 1}, {X: 0, Y: 0}}},
		{plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 0.03}, {X: 2, Y: 0}}, plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 0.03}, {X: 2, Y: 0}}},
		{plotter.XYs{{X: 1, Y: 1}}, plotter.XYs{{X: 1, Y: 1}}},
	} {
		if got := thin(c.curve, at); !slices.Equal(got, c.want) {
			t.Errorf("of %v %v is left, want %v", c.curve, got, c.want)
		}
	}
}

// Limits in the other order, and one limit alone, give the axis that gonum draws.
func TestSwappedAndLoneLimitsFollowGonum(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		lo, hi, wantLo, wantHi float64
		scale                  plot.Normalizer
	}{
		{3, 1, 1, 3, plot.LinearScale{}},
		{3, 1, 1, 3, plot.LogScale{}},
		{inf, -inf, 0, 1, plot.LinearScale{}},
		{inf, 5, 0, 5, plot.LinearScale{}},
		{-2, -inf, -2, 0, plot.LinearScale{}},
		{2, -inf, 0, 2, plot.LinearScale{}},
		{inf, -inf, 1, 10, plot.LogScale{}},
		{inf, 50, 5, 50, plot.LogScale{}},
		{2, -inf, 2, 20, plot.LogScale{}},
	} {
		a := plot.Axis{Min: c.lo, Max: c.hi, Scale: c.scale}
		if err := settle(&a, "x"); err != nil || a.Min != c.wantLo || a.Max != c.wantHi {
			t.Errorf("%T [%v, %v]: [%v, %v], %v, want [%v, %v]",
				c.scale, c.lo, c.hi, a.Min, a.Max, err, c.wantLo, c.wantHi)
		}
	}
}

// A path has a gap where a point has no place on a page, whatever the next part is.
func TestPathsBreakWhereThereIsNoPlace(t *testing.T) {
	at := func(x float64) vg.Point { return vg.Point{X: vg.Length(x)} }
	var p, q vg.Path
	p.Move(at(0))
	for _, x := range []float64{1, math.NaN(), 2, 3, math.Inf(-1), 1e5} {
		p.Line(at(x))
	}
	p.CubeTo(at(math.NaN()), at(4), at(5))
	p.Arc(at(6), 1, 0, math.Pi)
	p.Close()
	for _, c := range unbroken(p) {
		q = append(q, vg.PathComp{Type: c.Type, Pos: c.Pos})
	}
	want := vg.Path{
		{Type: vg.MoveComp, Pos: at(0)},
		{Type: vg.LineComp, Pos: at(1)},
		{Type: vg.MoveComp, Pos: at(2)},
		{Type: vg.LineComp, Pos: at(3)},
		{Type: vg.MoveComp, Pos: at(7)},
		{Type: vg.ArcComp, Pos: at(6)},
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("got %v, want %v", q, want)
	}
}

// Ticks may have several lines, as gonum's own example of plot.TimeTicks has.
func TestLabelsOfSeveralLines(t *testing.T) {
	p := NewPlot()
	p.X.Tick.Marker = plot.TimeTicks{Format: "2006-01-02\n15:04"}
	p.Add(must(plotter.NewLine(plotter.XYs{{X: 0, Y: 1}, {X: 3 * 86400, Y: 2}})))
	f := &Figure{ID: "time", Rows: [][]Panel{{&Chart{Plot: p}}}}
	at := regexp.MustCompile(`at \(([0-9.]+),([0-9.]+)\) \{(1970-01-01|00:00)\}`).FindAllStringSubmatch(string(must(f.TeX())), 2)
	if len(at) != 2 {
		t.Fatalf("%q: want the two lines of the first tick", at)
	}
	upper, lower := must(strconv.ParseFloat(at[0][2], 64)), must(strconv.ParseFloat(at[1][2], 64))
	if at[0][1] != at[1][1] || math.Abs(upper-lower-linePitch*smallSize) > 0.01 {
		t.Errorf("%q: want two lines below each other", at)
	}
	must(f.PDF())
	must(f.SVG())
	must(f.PNG())
}

// Names at the ends of curves and levels are not in the legend, do not overlap and stand beside the frame.
func TestNamesAtTheEndsOfCurves(t *testing.T) {
	at := regexp.MustCompile(`at \([0-9.]+,([0-9.]+)\) \{(?:\\fignarrow\{[0-9.]+bp\})?\{?name [a-e]`)
	for _, y := range [][]float64{{1, 1, 1, 1, 9}, {9, 9, 8.9, 8.8, 1}, {5, 5.1, 5, 5.2, 5.1}, {1, 3, 5, 7, 9}} {
		a := &Axes{Ends: true, Height: 60, Y: Axis{Min: 1, Max: 9}, Levels: []Level{{Text("name a"), y[0]}}}
		for i, end := range y[1:] {
			s := Series{Label: Text("name " + string(rune('b'+i))), X: []float64{0, 1}, Y: []float64{1, end}}
			a.Series = append(a.Series, s)
		}
		f := &Figure{ID: "ends", Rows: [][]Panel{{a}}}
		frame := must(f.layout()).panels[0].frame
		tex := string(must(f.TeX()))
		if n := strings.Count(tex, "name b"); n != 1 {
			t.Errorf("a curve has its name %d times", n)
		}
		var ys []float64
		for _, m := range at.FindAllStringSubmatch(tex, -1) {
			ys = append(ys, must(strconv.ParseFloat(m[1], 64))+capHeight*smallSize/2)
		}
		slices.Sort(ys)
		if len(ys) != len(y) || ys[0] < float64(frame.Min.Y)-1 || ys[len(ys)-1] > float64(frame.Max.Y)+1 {
			t.Errorf("ends %v: names at %v, want five in %v", y, ys, frame)
		}
		for i := range len(ys) - 1 {
			if ys[i+1]-ys[i] < smallSize {
				t.Errorf("ends %v: names at %v, want %d pt between two", y, ys, smallSize)
			}
		}
	}
}

// No two numbers of a horizontal axis overlap, whatever the width and the direction.
func TestNumbersOfAnAxisDoNotOverlap(t *testing.T) {
	for _, scale := range []plot.Normalizer{plot.LogScale{}, plot.InvertedScale{Normalizer: plot.LogScale{}}} {
		for _, w := range []vg.Length{30, 75, 300} {
			p := NewPlot()
			p.X.Min, p.X.Max, p.X.Scale, p.X.Tick.Marker = 32, 2048, scale, powersOfTen
			p = must((&Chart{Plot: p}).plot(vg.Point{X: w, Y: 50}))
			last, n := math.Inf(-1), 0
			for _, tick := range p.X.Tick.Marker.Ticks(32, 2048) {
				x, half := p.X.Norm(tick.Value)*float64(w), float64(p.X.Tick.Label.Width(tick.Label))/2
				if tick.Label == "" {
					continue
				}
				if n++; math.Abs(x-last) < 2*half {
					t.Errorf("%T of %v: %s overlaps the number before", scale, w, tick.Label)
				}
				last = x
			}
			if n == 0 || w == 300 && n != 6 {
				t.Errorf("%T of %v: %d numbers", scale, w, n)
			}
		}
	}
}

// A letter and its accent are one character, as macOS writes them apart.
func TestDecomposedLetters(t *testing.T) {
	for text, want := range map[string]string{
		"cafe\u0301": "café", "s\u0326 \u021b": `{\textcommabelow{s}} {\textcommabelow{t}}`, "x\u2009∑": `x\,\ensuremath{\sum}`,
		"X\u0303": `\~{X}`,
	} {
		if got, err := EscapeTeX(text); got != want || err != nil || Text(text).check() != nil {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}
