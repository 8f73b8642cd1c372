package figure

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Axes is a panel of curves and points. Its legend stands above the frame,
// where it hides nothing.
type Axes struct {
	Title  Label
	X, Y   Axis
	Series []Series
	Levels []Level
	// Height of the frame in points; zero means 0.62 times its width.
	Height float64
}

// An Axis is one coordinate. With Min = Max = 0 the range is that of the data
// and a margin of 4 %; a value outside a given range is an error.
type Axis struct {
	Label    Label
	Min, Max float64
	Log      bool // base 10; all values and a given range must be positive
	// Every is the distance of the ticks of an axis that is not logarithmic,
	// which stand at its multiples; zero chooses a round one.
	Every float64
}

// A Series is a curve, or a set of points, in its own colour and dash or mark, of
// which there are seven: no two of so many series differ in their colour alone.
type Series struct {
	Label Label // empty: not in the legend
	X, Y  []float64
	// Err, if not nil, is the half-length of the interval about each Y, for
	// instance one standard deviation: a band about a curve, bars on points.
	Err    []float64
	Points bool // marks instead of a curve
	// Color and Mark count from 1 in the order of the palette; zero takes the
	// place of the series.
	Color, Mark int
}

// Curve returns the values of f at the points x as a series.
func Curve(label Label, x []float64, f func(x float64) float64) Series {
	s := Series{Label: label, X: x}
	for _, v := range x {
		s.Y = append(s.Y, f(v))
	}
	return s
}

// A Level is a dashed horizontal line of reference.
type Level struct {
	Label Label
	Y     float64
}

// interval returns the ends of the i-th interval.
func (s Series) interval(i int) (lo, hi float64) {
	if s.Err == nil {
		return s.Y[i], s.Y[i]
	}
	return s.Y[i] - s.Err[i], s.Y[i] + s.Err[i]
}

func (a *Axes) color(i int) color.RGBA {
	k := a.Series[i].Color
	if k == 0 {
		k = i + 1
	}
	return lineColors[(k-1)%len(lineColors)]
}

func (a *Axes) check() error {
	for i, s := range a.Series {
		if err := s.Label.check(); err != nil {
			return err
		}
		if len(s.X) == 0 || len(s.X) != len(s.Y) || s.Err != nil && len(s.Err) != len(s.X) {
			return fmt.Errorf("series %d (%s): %d x, %d y and %d err, want equally many",
				i, s.Label.Text, len(s.X), len(s.Y), len(s.Err))
		}
		if s.Color < 0 || s.Mark < 0 {
			return fmt.Errorf("series %d (%s): colour %d and mark %d count from 1", i, s.Label.Text, s.Color, s.Mark)
		}
		for k := range s.X {
			lo, hi := s.interval(k)
			for _, v := range []struct {
				name string
				axis Axis
				v    float64
			}{{"x", a.X, s.X[k]}, {"y", a.Y, s.Y[k]}, {"lower end of y", a.Y, lo}, {"upper end of y", a.Y, hi}} {
				if err := v.axis.admits(v.v); err != nil {
					return fmt.Errorf("series %d (%s), point %d: %s = %w", i, s.Label.Text, k, v.name, err)
				}
			}
		}
	}
	for i, l := range a.Levels {
		if err := l.Label.check(); err != nil {
			return err
		}
		if err := a.Y.admits(l.Y); err != nil {
			return fmt.Errorf("level %d (%s): y = %w", i, l.Label.Text, err)
		}
	}
	for _, x := range []Axis{a.X, a.Y} {
		if err := x.Label.check(); err != nil {
			return err
		}
		if x.Every < 0 || math.IsNaN(x.Every) {
			return fmt.Errorf("axis %q has ticks every %v, want a positive distance, or 0", x.Label.Text, x.Every)
		}
		if x.Min > x.Max || x.Min != x.Max && x.Log && x.Min <= 0 {
			return fmt.Errorf("axis %q has the bad range [%v, %v]", x.Label.Text, x.Min, x.Max)
		}
	}
	if len(a.Series)+len(a.Levels) == 0 {
		return fmt.Errorf("axes without series")
	}
	return nil
}

func (x Axis) admits(v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%v is not finite", v)
	case x.Log && v <= 0:
		return fmt.Errorf("%v on a logarithmic axis, want a positive number", v)
	case x.Min != x.Max && (v < x.Min || v > x.Max):
		return fmt.Errorf("%v lies outside the axis [%v, %v]: widen it, data are never clipped", v, x.Min, x.Max)
	}
	return nil
}

// dress gives an axis of a plot, whose range is that of the data, its label, range and
// ticks.
func (x Axis) dress(p *plot.Axis) {
	SetLabel(p, x.Label)
	if x.Every > 0 {
		p.Tick.Marker = multiples(x.Every)
	}
	if x.Log {
		p.Tick.Marker, p.Scale = LogTicks{}, plot.LogScale{}
	}
	switch {
	case x.Min != x.Max:
		p.Min, p.Max = x.Min, x.Max
	case p.Min > p.Max: // no data
		p.Min, p.Max = 0, 1
	case x.Log && p.Min == p.Max:
		p.Min, p.Max = p.Min/2, p.Max*2
	case x.Log:
		r := math.Pow(p.Max/p.Min, 0.04)
		p.Min, p.Max = p.Min/r, p.Max*r
	case p.Min == p.Max:
		p.Min, p.Max = p.Min-0.5, p.Max+0.5
	default:
		m := 0.04 * (p.Max - p.Min)
		p.Min, p.Max = p.Min-m, p.Max+m
	}
}

func (a *Axes) Heading() Label { return a.Title }

func (a *Axes) Layout(w vg.Length) (Room, error) {
	size := frameSize(w, a.Height)
	p, err := a.plot(size.X)
	if err != nil {
		return Room{}, err
	}
	return roomOf(p, size), nil
}

func (a *Axes) Draw(c draw.Canvas) error {
	p, err := a.plot(c.Size().X)
	if err != nil {
		return err
	}
	if t, page := latex(c); t != nil {
		a.legend(c.Size().X).Plot(c, p)
		a.pgfplots(t, p, mappedRectangle(page, c.Rectangle))
		return nil
	}
	drawPlot(p, c)
	return nil
}

// Plot returns the panel as a plot without its title, to add to. Its legend
// stands above the frame, in lines that fit a frame as wide as a column.
func (a *Axes) Plot() (*plot.Plot, error) { return a.plot(vg.Length(OneColumn) - 40) }

// plot returns the plot with a legend for a frame of width w.
func (a *Axes) plot(w vg.Length) (*plot.Plot, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	p := NewPlot()
	p.BackgroundColor = nil
	p.X.Width, p.Y.Width = 0, 0 // see spine
	p.Add(&plotter.Grid{Horizontal: gridLine})
	for i, s := range a.Series {
		if s.Err != nil && !s.Points {
			p.Add(bare{a.band(i)})
		}
	}
	for _, l := range a.Levels {
		p.Add(l.line())
		p.Y.Min, p.Y.Max = min(p.Y.Min, l.Y), max(p.Y.Max, l.Y)
	}
	for i, s := range a.Series {
		if !s.Points {
			p.Add(bare{a.curve(i)})
			continue
		}
		if s.Err != nil {
			p.Add(bare{a.bars(i)})
		}
		p.Add(bare{a.points(i)})
	}
	p.Add(spine{}, a.legend(w))
	a.X.dress(&p.X)
	a.Y.dress(&p.Y)
	return p, nil
}

// bare is a plotter that takes no room beside the frame, so that the axes meet
// at its corner.
type bare struct{ ranged }

type ranged interface {
	plot.Plotter
	plot.DataRanger
}

// spine is a plotter of the axes' lines. Those of gonum lie below the grid.
type spine struct{}

func (spine) Plot(c draw.Canvas, _ *plot.Plot) {
	c.StrokeLines(axisLine, []vg.Point{{X: c.Min.X, Y: c.Max.Y}, c.Min, {X: c.Max.X, Y: c.Min.Y}})
}

func (s Series) points() plotter.XYs {
	xys := make(plotter.XYs, len(s.X))
	for i := range xys {
		xys[i] = plotter.XY{X: s.X[i], Y: s.Y[i]}
	}
	return xys
}

// outline is the border of the band: there along the upper ends, back along
// the lower ones.
func (s Series) outline() plotter.XYs {
	n := len(s.X)
	xys := make(plotter.XYs, 2*n)
	for i, x := range s.X {
		lo, hi := s.interval(i)
		xys[i], xys[2*n-1-i] = plotter.XY{X: x, Y: hi}, plotter.XY{X: x, Y: lo}
	}
	return xys
}

func (a *Axes) band(i int) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{a.Series[i].outline()}, Color: faded(a.color(i))}
}

func (a *Axes) curve(i int) *plotter.Line {
	style := draw.LineStyle{Color: a.color(i), Width: 1.1, Dashes: dashes[a.mark(i)%len(dashes)]}
	return &plotter.Line{XYs: a.Series[i].points(), LineStyle: style}
}

func (a *Axes) points(i int) *plotter.Scatter {
	return &plotter.Scatter{XYs: a.Series[i].points(), GlyphStyle: markStyle(a.color(i), a.mark(i))}
}

func (a *Axes) bars(i int) *plotter.YErrorBars {
	e := &plotter.YErrorBars{XYs: a.Series[i].points(), CapWidth: 3}
	e.LineStyle = draw.LineStyle{Color: a.color(i), Width: 0.7}
	for _, v := range a.Series[i].Err {
		e.YErrors = append(e.YErrors, struct{ Low, High float64 }{v, v})
	}
	return e
}

func (l Level) line() *plotter.Function {
	return &plotter.Function{F: func(float64) float64 { return l.Y }, Samples: 2, LineStyle: levelLine}
}

var (
	gridLine  = draw.LineStyle{Color: lightGrey, Width: 0.4}
	levelLine = draw.LineStyle{Color: grey, Width: 0.8, Dashes: []vg.Length{3, 2}}
)

// faded is the colour of a band, through which grid lines and other bands
// shine.
func faded(c color.RGBA) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, 64} }

// dashes tell curves apart without their colours, of which there are as many.
var dashes = [][]vg.Length{
	nil, {5, 1.5}, {1.2, 1.2}, {5, 1.5, 1.2, 1.5}, {2.8, 1.2}, {8, 2.5}, {5, 1.5, 1.2, 1.5, 1.2, 1.5},
}

func (a *Axes) mark(i int) int {
	if k := a.Series[i].Mark; k > 0 {
		return k - 1
	}
	return i
}

// marks are the shapes of points and their names in pgfplots, as many as colours.
// Those of lines have a width.
var marks = []struct {
	shape draw.GlyphDrawer
	name  string
	width vg.Length
}{
	{draw.CircleGlyph{}, "*", 0},
	{draw.BoxGlyph{}, "square*", 0},
	{draw.PyramidGlyph{}, "triangle*", 0},
	{diamond{}, "diamond*", 0},
	{stroked(ring), "o", markLine},
	{stroked(cross), "x", markLine},
	{stroked(plus), "+", markLine},
}

const (
	markRadius = 1.9
	markLine   = 0.9
)

func markStyle(c color.Color, k int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: markRadius, Shape: marks[k%len(marks)].shape}
}

// stroked is a glyph of lines, in place of those of gonum, whose lines are faint.
type stroked func(p vg.Point, r vg.Length) vg.Path

func (path stroked) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, p vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: markLine})
	c.Stroke(path(p, sty.Radius))
}

func ring(p vg.Point, r vg.Length) (path vg.Path) {
	path.Move(vg.Point{X: p.X + r, Y: p.Y})
	path.Arc(p, r, 0, 2*math.Pi)
	path.Close()
	return path
}

func cross(p vg.Point, r vg.Length) vg.Path {
	d := r / math.Sqrt2
	return twoLines(p, vg.Point{X: d, Y: d}, vg.Point{X: d, Y: -d})
}

func plus(p vg.Point, r vg.Length) vg.Path { return twoLines(p, vg.Point{X: r}, vg.Point{Y: r}) }

// twoLines returns lines that cross at p, each as far to both sides as its vector.
func twoLines(p, a, b vg.Point) (path vg.Path) {
	for _, d := range []vg.Point{a, b} {
		path.Move(p.Sub(d))
		path.Line(p.Add(d))
	}
	return path
}

// diamond is a glyph that gonum lacks.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, p vg.Point) {
	x, y := vg.Point{X: 1.1 * sty.Radius}, vg.Point{Y: 1.35 * sty.Radius}
	c.FillPolygon(sty.Color, []vg.Point{p.Add(y), p.Add(x), p.Sub(y), p.Sub(x)})
}
