package figure

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Axes is a panel of curves and points. The legend stands above the frame and hides no data.
type Axes struct {
	Title  Label
	X, Y   Axis
	Series []Series
	Levels []Level
	Ends   bool // the names of curves stand at their right ends, as those of levels do, and not in the legend
	// Height of the frame in points; zero means 0.62 times its width.
	Height float64

	unexplained bool // without a legend
}

// An Axis is one coordinate. With Min = Max = 0 its range is the range of the data
// and a margin of 4 %. A value outside a given range is an error.
type Axis struct {
	Label    Label
	Min, Max float64
	Log      bool // base 10; all values and a given range must be positive
	// Every is the distance of the ticks, which stand at its multiples; zero
	// chooses a round distance. Logarithmic axes ignore it.
	Every float64
}

// A Series is a curve or a set of points. There are seven colours, dashes and marks, so that
// seven series can be distinguished without their colours.
type Series struct {
	Label Label // empty: not in the legend
	X, Y  []float64
	// Err, if not nil, is the half-length of the interval about each Y, for
	// instance one standard deviation. A curve has a band, points have bars.
	Err    []float64
	Points bool    // marks instead of a curve
	Width  float64 // of a curve in points; zero means 1.1
	// Color and Mark count from 1 in the palette; zero stands for the number of the series.
	Color, Mark int
}

// A Level is a dashed horizontal reference line, with its name at its right end.
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
	return lineColors[(cmp.Or(a.Series[i].Color, i+1)-1)%len(lineColors)]
}

func (a *Axes) check() error {
	if len(a.Series)+len(a.Levels) == 0 {
		return fmt.Errorf("axes without series")
	}
	labels := []Label{a.X.Label, a.Y.Label}
	for i, s := range a.Series {
		labels = append(labels, s.Label)
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
		labels = append(labels, l.Label)
		if err := a.Y.admits(l.Y); err != nil {
			return fmt.Errorf("level %d (%s): y = %w", i, l.Label.Text, err)
		}
	}
	return checkAll(labels)
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

// dress sets the label, range and ticks of an axis of a plot. At first the range of p
// is the range of the data. The name of the axis, x or y, stands in errors.
func (x Axis) dress(p *plot.Axis, name string) error {
	setLabel(p, x.Label)
	if x.Log {
		p.Tick.Marker, p.Scale = powersOfTen, plot.LogScale{}
	}
	if x.Min != x.Max {
		p.Min, p.Max = x.Min, x.Max
		if !(x.Min < x.Max) || flat(x.Min, x.Max) {
			return fmt.Errorf("axis %s %q has the bad range [%v, %v]", name, x.Label.Text, x.Min, x.Max)
		}
	}
	bare := x.Min != x.Max || p.Min > p.Max || flat(p.Min, p.Max) // without a margin
	if err := settle(p, name); err != nil {
		return err
	}
	switch {
	case bare:
	case x.Log:
		r := math.Pow(p.Max/p.Min, 0.04)
		p.Min, p.Max = max(p.Min/r, math.SmallestNonzeroFloat64), min(p.Max*r, math.MaxFloat64)
	default:
		m := 0.04 * (p.Max - p.Min)
		p.Min, p.Max = max(p.Min-m, -math.MaxFloat64), min(p.Max+m, math.MaxFloat64)
	}
	if x.Every != 0 && !x.Log {
		if n := (p.Max - p.Min) / x.Every; !(n > 0 && n <= mostTicks) {
			return fmt.Errorf("axis %s %q has ticks every %v on [%v, %v], want a positive distance and at most %d ticks, or 0",
				name, x.Label.Text, x.Every, p.Min, p.Max, mostTicks)
		}
		p.Tick.Marker = multiplesOf(x.Every)
	}
	return nil
}

// settle gives an axis without data the range of one unit or one power of ten, exchanges swapped
// limits, and widens a range that is too narrow. It returns an error for a range that cannot be drawn.
func settle(p *plot.Axis, name string) error {
	log := isLog(p.Scale)
	free, open := math.IsInf(p.Min, 1), math.IsInf(p.Max, -1) // limits that neither data nor the caller have set
	switch {
	case free && open && log:
		p.Min, p.Max = 1, 10
	case free && open:
		p.Min, p.Max = 0, 1
	case free && log:
		p.Min = p.Max / 10
	case free:
		p.Min = 0
	case open && log:
		p.Max = 10 * p.Min
	case open:
		p.Max = 0
	}
	if p.Min > p.Max {
		p.Min, p.Max = p.Max, p.Min
	}
	width := p.Max - p.Min
	switch {
	case math.IsNaN(p.Min+p.Max) || math.IsInf(p.Min, 0) || math.IsInf(p.Max, 0):
		return fmt.Errorf("axis %s %q has the range [%v, %v], want finite numbers", name, p.Label.Text, p.Min, p.Max)
	case log && p.Min <= 0:
		return fmt.Errorf("logarithmic axis %s %q needs values above 0; the least is %v", name, p.Label.Text, p.Min)
	case log && p.Max <= p.Min*(1+1e-10):
		p.Min, p.Max = max(p.Min/2, math.SmallestNonzeroFloat64), min(2*p.Max, math.MaxFloat64)
	case log:
	case width > widest:
		return fmt.Errorf("axis %s %q has the range [%v, %v], want a width of at most %v",
			name, p.Label.Text, p.Min, p.Max, widest)
	case flat(p.Min, p.Max):
		m := max(0.5, 1e-3*max(math.Abs(p.Min), math.Abs(p.Max)))
		p.Min, p.Max = max(p.Min-m, -math.MaxFloat64), min(p.Max+m, math.MaxFloat64)
	}
	return nil
}

// widest is the largest width of a linear axis or scale, so that its multiples are finite.
const widest = 1e300

func isLog(scale plot.Normalizer) bool {
	if inverted, ok := scale.(plot.InvertedScale); ok {
		scale = inverted.Normalizer
	}
	_, log := scale.(plot.LogScale)
	return log
}

// flat reports whether the ends of a range are equal up to rounding errors.
func flat(lo, hi float64) bool {
	return lo <= hi && hi-lo <= max(1e-10*max(math.Abs(lo), math.Abs(hi)), 1e-300)
}

func (a *Axes) Heading() Label { return a.Title }

func (a *Axes) Layout(w vg.Length) (Room, error) {
	if err := a.check(); err != nil {
		return Room{}, err
	}
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
	if t, page := latex(c); t != nil && inTeX(p.X) && inTeX(p.Y) {
		a.legend(c.Size().X).Plot(c, p)
		a.ends().Plot(c, p)
		a.pgfplots(t, p, mappedRectangle(page, c.Rectangle))
		return nil
	}
	drawPlot(p, c)
	return nil
}

// plot returns the plot of checked axes with a legend for a frame of width w.
func (a *Axes) plot(w vg.Length) (*plot.Plot, error) {
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
	p.Add(spine{}, a.legend(w), a.ends())
	err := errors.Join(a.X.dress(&p.X, "x"), a.Y.dress(&p.Y, "y"))
	spread(&p.X, w)
	return p, err
}

// bare is a plotter without GlyphBoxes, whose space would separate the axes.
type bare struct{ ranged }

type ranged interface {
	plot.Plotter
	plot.DataRanger
}

// spine is a plotter of the lines of the axes. Gonum would draw them below the grid.
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

// outline returns the border of the band: upper ends in order, lower ends in reverse.
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
	style := draw.LineStyle{Color: a.color(i), Dashes: dashes[a.mark(i)%len(dashes)]}
	style.Width = vg.Length(cmp.Or(a.Series[i].Width, 1.1))
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
	thinLine  = draw.LineStyle{Color: grey, Width: 0.5}
)

// faded returns the colour of a band, which is translucent.
func faded(c color.RGBA) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, 64} }

// dashes distinguish curves without their colours.
var dashes = [][]vg.Length{
	nil, {5, 1.5}, {1.2, 1.2}, {5, 1.5, 1.2, 1.5}, {2.8, 1.2}, {8, 2.5}, {5, 1.5, 1.2, 1.5, 1.2, 1.5},
}

func (a *Axes) mark(i int) int { return cmp.Or(a.Series[i].Mark, i+1) - 1 }

// marks are the shapes of points, their names in pgfplots, and the widths of their
// lines. There are as many marks as colours.
var marks = []struct {
	shape draw.GlyphDrawer
	name  string
	width vg.Length
}{
	{draw.CircleGlyph{}, "*", 0},
	{draw.BoxGlyph{}, "square*", 0},
	{draw.PyramidGlyph{}, "triangle*", 0},
	{diamond{}, "diamond*", 0},
	{stroked(circle), "o", markLine},
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

// stroked is a glyph of lines. The lines of gonum's glyphs are too faint.
type stroked func(p vg.Point, r vg.Length) vg.Path

func (path stroked) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, p vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: markLine})
	c.Stroke(path(p, sty.Radius))
}

// circle is not closed: the line from its end, a rounding error off its start, would have a corner with a spike.
func circle(p vg.Point, r vg.Length) (path vg.Path) {
	path.Move(vg.Point{X: p.X + r, Y: p.Y})
	path.Arc(p, r, 0, 2*math.Pi)
	return path
}

func cross(p vg.Point, r vg.Length) vg.Path {
	d := r / math.Sqrt2
	return twoLines(p, vg.Point{X: d, Y: d}, vg.Point{X: d, Y: -d})
}

func plus(p vg.Point, r vg.Length) vg.Path { return twoLines(p, vg.Point{X: r}, vg.Point{Y: r}) }

// twoLines returns the lines from p-a to p+a and from p-b to p+b.
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
