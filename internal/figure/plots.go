package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dashes and shapes distinguish series without their colours.
var (
	dashes = [][]vg.Length{
		nil, {5, 1.5}, {1.2, 1.2}, {5, 1.5, 1.2, 1.5}, {2.8, 1.2}, {8, 2.5}, {5, 1.5, 1.2, 1.5, 1.2, 1.5},
	}
	shapes = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, stroked(circle), stroked(cross), stroked(plus),
	}
)

// Mark returns the k-th mark, in a colour.
func Mark(k int, c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: 1.9, Shape: shapes[k%len(shapes)]}
}

// stroked is a glyph of lines. The lines of gonum's glyphs are too faint.
type stroked func(p vg.Point, r vg.Length) vg.Path

func (path stroked) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, p vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: 0.9})
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
	return append(line(p, vg.Point{X: d, Y: d}), line(p, vg.Point{X: d, Y: -d})...)
}

func plus(p vg.Point, r vg.Length) vg.Path {
	return append(line(p, vg.Point{X: r}), line(p, vg.Point{Y: r})...)
}

func line(p, d vg.Point) (path vg.Path) {
	path.Move(p.Sub(d))
	path.Line(p.Add(d))
	return path
}

// diamond is a glyph that gonum lacks.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, p vg.Point) {
	x, y := vg.Point{X: 1.1 * sty.Radius}, vg.Point{Y: 1.35 * sty.Radius}
	c.FillPolygon(sty.Color, []vg.Point{p.Add(y), p.Add(x), p.Sub(y), p.Sub(x)})
}

// New returns a panel with an empty plot: sizes of text for print, round ticks, axes that meet at the corner of the
// data, and a horizontal grid.
func New(title string) *Panel {
	p := FromPlot(plot.New())
	p.Title, p.free = title, [2]bool{true, true}
	p.BackgroundColor = nil
	p.X.Width, p.Y.Width, p.X.Padding, p.Y.Padding = 0, 0, 0, 0
	p.Add(&plotter.Grid{Horizontal: draw.LineStyle{Color: Faint, Width: 0.4}}, spine{}, p.names)
	return p
}

// spine is a plotter of the lines of the axes. Gonum would draw them below the grid.
type spine struct{}

func (spine) Plot(c draw.Canvas, _ *plot.Plot) {
	c.StrokeLines(axisLine, []vg.Point{{X: c.Min.X, Y: c.Max.Y}, c.Min, {X: c.Max.X, Y: c.Min.Y}})
}

const axisWidth = 0.6

var (
	axisLine = draw.LineStyle{Color: Black, Width: axisWidth}
	thin     = draw.LineStyle{Color: Grey, Width: 0.5}
)

// FromPlot returns a copy of a plot as a panel with its title, in the style of [New] where it has gonum's defaults,
// but with axes off the data, and with a legend at the top above the frame.
func FromPlot(of *plot.Plot) *Panel {
	q := *of
	inf := math.Inf(1)
	p := &Panel{Plot: &q, Title: q.Title.Text, Aspect: 0.62, names: &names{}, extent: [4]float64{inf, -inf, inf, -inf}}
	q.Title.Text = ""
	if s, ok := q.Y.Scale.(shaped); ok {
		p.shape = s.frame
	}
	restyle(&q.Legend.TextStyle, 12, smallSize, label{0.85, 0.21})
	replace(&q.Legend.ThumbnailWidth, 20, 16)
	replace(&q.Legend.Padding, 0, 2)
	if !q.Legend.Top {
		replace(&q.Legend.YOffs, 0, 3) // off the axis
	}
	for k, a := range []*plot.Axis{&q.X, &q.Y} {
		replace(&a.Width, 0.5, axisWidth)
		replace(&a.Tick.Width, 0.5, axisWidth)
		replace(&a.Tick.Length, 8, 2.5)
		replace(&a.Label.Padding, 0, 4)
		restyle(&a.Label.TextStyle, 12, labelSize, axisName{label{0.85, 0.21}})
		switch a.Tick.Marker.(type) {
		case plot.DefaultTicks, plot.LogTicks:
			if a.Tick.Marker = about(6 - k); isLog(a.Scale) {
				a.Tick.Marker = decades
			}
		}
		replace(&a.Padding, 5, 3)
	}
	restyle(&q.X.Tick.Label, 10, smallSize, label{0.69 + 2.5/smallSize, 0})
	restyle(&q.Y.Tick.Label, 10, smallSize, label{0.69, 0})
	if q.Legend.Top {
		q.Add(above(q.Legend.Rectangle(draw.Canvas{}).Size().Y + 5)) // off marks at the top of the frame
	}
	return p
}

// axisName sets the label of an axis. It reports zero width: gonum would keep space for the
// label at a wrong middle of a logarithmic axis.
type axisName struct{ label }

func (a axisName) Box(s string, f font.Font) (w, h, d vg.Length) {
	_, h, d = a.label.Box(s, f)
	return 0, h, d
}

// above is a plotter without ink that keeps a height above the frame, in which gonum draws a legend at the top.
type above vg.Length

func (above) Plot(draw.Canvas, *plot.Plot) {}

func (h above) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: vg.Length(h)}}}}
}

// shaped is the vertical scale of a plot that sets the size of its frame.
type shaped struct {
	plot.Normalizer
	frame func(width vg.Length) vg.Point
}

// replace sets a length that has gonum's default.
func replace(x *vg.Length, standard, to vg.Length) {
	if *x == standard {
		*x = to
	}
}

// restyle sets the typeface, and the size if it is gonum's default.
func restyle(s *text.Style, standard, to vg.Length, h text.Handler) {
	s.Font.Typeface, s.Font.Variant, s.Handler = "Liberation", "Sans", h
	replace(&s.Font.Size, standard, to)
}

// Axes names the axes.
func (p *Panel) Axes(x, y string) *Panel { p.X.Label.Text, p.Y.Label.Text = x, y; return p }

// XRange and YRange set the range of an axis, outside of which data are an error.
func (p *Panel) XRange(low, high float64) *Panel {
	p.X.Min, p.X.Max, p.free[0] = low, high, false
	return p
}

func (p *Panel) YRange(low, high float64) *Panel {
	p.Y.Min, p.Y.Max, p.free[1] = low, high, false
	return p
}

// Log makes axes logarithmic.
func (p *Panel) Log(axes ...*plot.Axis) *Panel {
	for _, a := range axes {
		a.Scale, a.Tick.Marker = plot.LogScale{}, decades
	}
	return p
}

// Every puts the ticks of an axis at the multiples of a step.
func (p *Panel) Every(a *plot.Axis, step float64) *Panel {
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return labelled(multiples(lo, hi, step)) })
	return p
}

// Curve adds a line, in the k-th colour and dash, counted from 0, and with half the lengths of intervals a translucent
// band. An empty name has no entry in the legend; a name that begins with a space stands in the CSV alone.
func (p *Panel) Curve(k int, name string, x, y []float64, half ...float64) *plotter.Line {
	l := &plotter.Line{XYs: p.points(name, x, y, half)}
	if len(half) > 0 {
		n := len(x)
		xys := make(plotter.XYs, 2*n)
		for i := range x {
			xys[i], xys[2*n-1-i] = plotter.XY{X: x[i], Y: y[i] + half[i]}, plotter.XY{X: x[i], Y: y[i] - half[i]}
		}
		c := Colors[k%len(Colors)]
		p.Add(bare{&plotter.Polygon{XYs: []plotter.XYs{xys}, Color: color.NRGBA{c.R, c.G, c.B, 64}}})
	}
	l.LineStyle = draw.LineStyle{Color: Colors[k%len(Colors)], Width: 1.1, Dashes: dashes[k%len(dashes)]}
	p.Add(bare{l})
	p.names.add(name, l)
	return l
}

// Points adds marks, in the k-th colour and shape, with half the lengths of intervals also bars.
func (p *Panel) Points(k int, name string, x, y []float64, half ...float64) *plotter.Scatter {
	s := &plotter.Scatter{XYs: p.points(name, x, y, half), GlyphStyle: Mark(k, Colors[k%len(Colors)])}
	if len(half) > 0 {
		e := &plotter.YErrorBars{XYs: s.XYs, CapWidth: 3}
		e.LineStyle = draw.LineStyle{Color: s.Color, Width: 0.7}
		for _, h := range half {
			e.YErrors = append(e.YErrors, struct{ Low, High float64 }{h, h})
		}
		p.Add(bare{e})
	}
	p.Add(bare{s})
	p.names.add(name, s)
	return s
}

// Level adds a dashed line with its name at the right.
func (p *Panel) Level(name string, y float64) {
	p.levels = append(p.levels, []string{Plain(name), "", digits(y), "", ""})
	p.Y.Min, p.Y.Max = min(p.Y.Min, y), max(p.Y.Max, y)
	p.ends.all = append(p.ends.all, end{name, Black, y})
	p.Add(level(y))
	p.showEnds()
}

// Ends puts the names of the curves at their right ends, and not into the legend.
func (p *Panel) Ends() *Panel {
	for _, e := range p.names.all {
		if l, ok := e.thumb.(*plotter.Line); ok {
			c := color.RGBAModel.Convert(l.Color).(color.RGBA)
			p.ends.all = append(p.ends.all, end{e.name, c, l.XYs[len(l.XYs)-1].Y})
		}
	}
	p.names.all = slices.DeleteFunc(p.names.all, func(n name) bool { _, is := n.thumb.(*plotter.Line); return is })
	p.showEnds()
	return p
}

func (p *Panel) showEnds() {
	if !p.ends.shown {
		p.ends.shown = true
		p.Add(&p.ends)
	}
}

type level float64

func (l level) Plot(c draw.Canvas, p *plot.Plot) {
	y := c.Y(p.Y.Norm(float64(l)))
	c.StrokeLine2(draw.LineStyle{Color: Grey, Width: 0.8, Dashes: []vg.Length{3, 2}}, c.Min.X, y, c.Max.X, y)
}

// ends is a plotter of names at the right ends of curves and levels, moved apart where they would overlap.
type ends struct {
	all   []end
	shown bool
}

type end struct {
	name  string
	color color.RGBA
	y     float64
}

func (e *ends) Plot(c draw.Canvas, p *plot.Plot) {
	const pitch = smallSize + 1
	all := slices.Clone(e.all)
	at := func(e end) vg.Length { return c.Y(p.Y.Norm(e.y)) }
	slices.SortStableFunc(all, func(a, b end) int { return cmp.Compare(at(a), at(b)) })
	y := make([]vg.Length, len(all))
	for i := range all {
		y[i] = at(all[i])
	}
	for range 100 { // neighbours that are too near move apart
		for i := 1; i < len(y); i++ {
			if d := pitch - (y[i] - y[i-1]); d > 1e-9 {
				y[i-1], y[i] = y[i-1]-d/2, y[i]+d/2
			}
		}
	}
	for i, e := range all {
		sty := Style(smallSize, text.XLeft, text.YCenter)
		sty.Color = e.color
		if math.Abs(float64(y[i]-at(e))) > 1 {
			c.StrokeLine2(thin, c.Max.X, at(e), c.Max.X+4, y[i])
		}
		c.FillText(sty, vg.Point{X: c.Max.X + 5, Y: y[i]}, e.name)
	}
}

// GlyphBoxes reserves the space.
func (e *ends) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	w := vg.Length(0)
	for _, one := range e.all {
		w = max(w, vg.Length(TextWidth(one.name, smallSize))+8) // LaTeX may need 3 pt more
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: w}}}}
}

// bare is a plotter without GlyphBoxes, which would move the axes away.
type bare struct{ ranged }

type ranged interface {
	plot.Plotter
	plot.DataRanger
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }

// points keeps the points of a series for the CSV, and the first error in them.
func (p *Panel) points(name string, x, y, half []float64) plotter.XYs {
	p.series++
	name = cmp.Or(strings.TrimSpace(Plain(name)), strconv.Itoa(p.series))
	if n := len(x); n == 0 || len(y) != n || len(half) != 0 && len(half) != n {
		p.fail("series %q has %d x, %d y and %d half-lengths, want equally many", name, n, len(y), len(half))
		return nil
	}
	xys := make(plotter.XYs, len(x))
	for i := range x {
		xys[i] = plotter.XY{X: x[i], Y: y[i]}
		e, h := "", 0.0
		if len(half) > 0 {
			e, h = digits(half[i]), half[i]
		}
		if s := x[i] + y[i] + h; math.IsNaN(s) || math.IsInf(s, 0) {
			p.fail("series %q, point %d: (%v, %v) ± %v is not finite", name, i, x[i], y[i], h)
		}
		p.extent[0], p.extent[1] = min(p.extent[0], x[i]), max(p.extent[1], x[i])
		p.extent[2], p.extent[3] = min(p.extent[2], y[i]-h), max(p.extent[3], y[i]+h)
		p.data = append(p.data, []string{name, digits(x[i]), digits(y[i]), e, ""})
	}
	return xys
}

func (p *Panel) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// settle completes the ranges of the axes: those that follow from the data of [New] have a margin of 4 %. It returns an
// error for a range that cannot be drawn, and for data outside of a range, which gonum would clip.
func (p *Panel) settle() error {
	if p.Plot == nil {
		return fmt.Errorf("a panel without a plot")
	}
	if p.err != nil {
		return p.err
	}
	for k, a := range []*plot.Axis{&p.X, &p.Y} {
		if err := settle(a, "xy"[k:k+1], p.free[k] && len(p.data) > 0 && p.heat == nil); err != nil {
			return err
		}
		p.free[k] = false
		low, high, eps := p.extent[2*k], p.extent[2*k+1], 1e-9*(a.Max-a.Min)
		if p.series > 0 && (low < a.Min-eps || high > a.Max+eps) {
			return fmt.Errorf("data from %v to %v lie outside the axis %s, [%v, %v]: widen it, data are never clipped",
				low, high, "xy"[k:k+1], a.Min, a.Max)
		}
	}
	return nil
}

// settle gives an axis without data the range of one unit or one power of ten, exchanges swapped limits, and widens a
// range that is too narrow, or by a margin.
func settle(a *plot.Axis, name string, margin bool) error {
	log := isLog(a.Scale)
	if math.IsInf(a.Min, 1) && math.IsInf(a.Max, -1) {
		a.Min, a.Max = 0, 1
		if log {
			a.Min, a.Max = 1, 10
		}
	}
	if math.IsInf(a.Min, 1) && !log { // only the end is given: gonum begins at 0
		a.Min = 0
	}
	if a.Min > a.Max {
		a.Min, a.Max = a.Max, a.Min
	}
	switch width := a.Max - a.Min; {
	case math.IsNaN(width) || math.IsInf(width, 0) || math.IsInf(a.Min, 0):
		return fmt.Errorf("axis %s %q has the range [%v, %v], want finite numbers", name, a.Label.Text, a.Min, a.Max)
	case width > 1e300:
		return fmt.Errorf("axis %s %q has the range [%v, %v], want a width of at most 1e300",
			name, a.Label.Text, a.Min, a.Max)
	case log && a.Min <= 0:
		return fmt.Errorf("logarithmic axis %s %q needs values above 0; the least is %v", name, a.Label.Text, a.Min)
	case log && a.Max <= a.Min*(1+1e-10):
		a.Min, a.Max = a.Min/2, 2*a.Max
	case log && margin:
		r := math.Pow(a.Max/a.Min, 0.04)
		a.Min, a.Max = a.Min/r, a.Max*r
	case log:
	case flat(a.Min, a.Max):
		m := max(0.5, 1e-3*max(math.Abs(a.Min), math.Abs(a.Max)))
		a.Min, a.Max = a.Min-m, a.Max+m
	case margin:
		a.Min, a.Max = a.Min-0.04*width, a.Max+0.04*width
	}
	return nil
}

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

// names is a plotter that shows the legend in lines above the frame.
type names struct {
	all    []name
	hidden bool
	width  vg.Length // of the frame, which gonum does not say
}

type name struct {
	name  string
	thumb plot.Thumbnailer
	wide  vg.Length
}

func (n *names) add(s string, thumb plot.Thumbnailer) {
	if s == "" || s[0] == ' ' {
		return
	}
	wide := vg.Length(16)
	if _, marks := thumb.(*plotter.Scatter); marks {
		wide = 7
	}
	n.all = append(n.all, name{s, thumb, wide})
}

// places returns the places of the entries in lines of a width, with y downwards in lines.
func (n *names) places(w vg.Length) (at []vg.Point, lines vg.Length) {
	x := vg.Length(0)
	for _, e := range n.all {
		d := e.wide + 4 + vg.Length(TextWidth(e.name, smallSize))
		if x > 0 && x+d > w {
			x, lines = 0, lines+1
		}
		at = append(at, vg.Point{X: x, Y: lines})
		x += d + 10
	}
	return at, lines + 1
}

func (n *names) height(w vg.Length) vg.Length {
	if len(n.all) == 0 || n.hidden {
		return 3
	}
	_, lines := n.places(w)
	return 11*lines + 2
}

func (n *names) draw(c draw.Canvas) {
	at, _ := n.places(c.Size().X)
	for k, e := range n.all {
		p := vg.Point{X: c.Min.X + at[k].X, Y: c.Max.Y - 11*at[k].Y - 6}
		box := vg.Rectangle{Min: p.Sub(vg.Point{Y: 3}), Max: p.Add(vg.Point{X: e.wide, Y: 3})}
		icon := draw.Canvas{Canvas: c.Canvas, Rectangle: box}
		e.thumb.Thumbnail(&icon)
		c.FillText(Style(smallSize, text.XLeft, text.YCenter), p.Add(vg.Point{X: e.wide + 4}), e.name)
	}
}

func (n *names) Plot(c draw.Canvas, _ *plot.Plot) {
	if !n.hidden {
		n.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: c.Min.X, Y: c.Max.Y}, Max: vg.Point{X: c.Max.X, Y: c.Max.Y + n.height(n.width)},
		}})
	}
}

// GlyphBoxes reserves the space.
func (n *names) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: 1, Y: n.height(n.width)}}}}
}
