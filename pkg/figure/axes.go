package figure

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
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
}

// A Series is a curve, or a set of points, in its own colour and dash or mark.
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
			return fmt.Errorf("series %d (%s): %d x, %d y and %d err, want equally many", i, s.Label.Text, len(s.X), len(s.Y), len(s.Err))
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

// settle returns the axis with its range.
func (x Axis) settle(values func(yield func(float64))) Axis {
	if x.Min != x.Max {
		return x
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	values(func(v float64) { lo, hi = min(lo, v), max(hi, v) })
	if x.Log {
		r := math.Pow(hi/lo, 0.04)
		if lo == hi {
			r = 2
		}
		x.Min, x.Max = lo/r, hi*r
		return x
	}
	m := 0.04 * (hi - lo)
	if lo == hi {
		m = 0.5
	}
	x.Min, x.Max = lo-m, hi+m
	return x
}

func (a *Axes) axes() (x, y Axis) {
	x = a.X.settle(func(yield func(float64)) {
		for _, s := range a.Series {
			for _, v := range s.X {
				yield(v)
			}
		}
	})
	y = a.Y.settle(func(yield func(float64)) {
		for _, s := range a.Series {
			for i := range s.Y {
				lo, hi := s.interval(i)
				yield(lo)
				yield(hi)
			}
		}
		for _, l := range a.Levels {
			yield(l.Y)
		}
	})
	if x.Min > x.Max { // levels only
		x.Min, x.Max = 0, 1
	}
	return x, y
}

// unit returns the place of v on the axis in [0, 1].
func (x Axis) unit(v float64) float64 {
	if x.Log {
		return math.Log(v/x.Min) / math.Log(x.Max/x.Min)
	}
	return (v - x.Min) / (x.Max - x.Min)
}

func (x Axis) ticks(n int) (major, minor []float64) {
	if x.Log {
		return logTicks(x.Min, x.Max)
	}
	return niceTicks(x.Min, x.Max, n), nil
}

func (a *Axes) title() Label { return a.Title }

func (a *Axes) widths() (lo, hi float64) { return 60, math.Inf(1) }

func (a *Axes) frame(w float64) (fw, fh float64) {
	w = snap(w)
	if a.Height > 0 {
		return w, snap(a.Height)
	}
	return w, snap(0.62 * w)
}

const (
	tickLength = 2.5
	sampleSize = 16.0 // of a legend
	legendLine = labelSize + 4.0
)

const (
	xTicks = 6
	yTicks = 5
)

func (a *Axes) yTickWidth() float64 {
	_, y := a.axes()
	w := 0.0
	major, _ := y.ticks(yTicks)
	for _, l := range tickLabels(major, y.Log) {
		w = max(w, textWidth(l.Text, smallSize, false))
	}
	return w
}

func (a *Axes) margins(w float64) margins {
	m := margins{
		left:   tickLength + 2 + a.yTickWidth(),
		right:  8, // half of the last label
		bottom: tickLength + 2 + smallSize,
		top:    float64(len(a.legendRows(w))) * legendLine,
	}
	if m.top > 0 {
		m.top += 2
	} else {
		m.top = 3
	}
	if !a.X.Label.empty() {
		m.bottom += labelSize + 5
	}
	if !a.Y.Label.empty() {
		m.left += labelSize + 5
	}
	return m
}

type entry struct {
	label  Label
	series int // or -1 for a level
	width  float64
}

// sample returns the width of the sample of an entry.
func (a *Axes) sample(series int) float64 {
	if series >= 0 && a.Series[series].Points {
		return sampleSize / 2
	}
	return sampleSize
}

// legendRows breaks the legend into rows of width w.
func (a *Axes) legendRows(w float64) [][]entry {
	var all []entry
	for i, s := range a.Series {
		if !s.Label.empty() {
			all = append(all, entry{label: s.Label, series: i})
		}
	}
	for _, l := range a.Levels {
		if !l.Label.empty() {
			all = append(all, entry{label: l.Label, series: -1})
		}
	}
	var rows [][]entry
	used := math.Inf(1)
	for _, e := range all {
		e.width = a.sample(e.series) + 4 + textWidth(e.label.Text, smallSize, false) + 10
		if used+e.width-10 > w {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += e.width
	}
	return rows
}

func (a *Axes) draw(p pen, r rect) {
	a.legend(p, r)
	if t, ok := p.(*tikz); ok {
		a.pgfplots(t, r)
		return
	}
	x, y := a.axes()
	place := func(xs, ys []float64) (px, py []float64) {
		for i := range xs {
			px = append(px, r.x+x.unit(xs[i])*r.w)
			py = append(py, r.y+y.unit(ys[i])*r.h)
		}
		return px, py
	}
	xMajor, xMinor := x.ticks(xTicks)
	yMajor, yMinor := y.ticks(yTicks)
	for _, v := range yMajor {
		px, py := place([]float64{x.Min, x.Max}, []float64{v, v})
		p.stroke(polyline(px, py), stroke{color: lightGrey, width: 0.4})
	}
	for i, s := range a.Series {
		if s.Err != nil && !s.Points {
			p.shade(polygon(place(s.outline())), a.color(i))
		}
	}
	for _, l := range a.Levels {
		px, py := place([]float64{x.Min, x.Max}, []float64{l.Y, l.Y})
		p.stroke(polyline(px, py), levelStroke)
	}
	for i, s := range a.Series {
		px, py := place(s.X, s.Y)
		if !s.Points {
			p.stroke(polyline(px, py), a.lineStroke(i))
			continue
		}
		c := a.color(i)
		for k := range px {
			if s.Err != nil {
				lo, hi := s.interval(k)
				_, ends := place([]float64{s.X[k], s.X[k]}, []float64{lo, hi})
				bar := stroke{color: c, width: 0.7}
				p.stroke(segment(px[k], ends[0], px[k], ends[1]), bar)
				for _, e := range ends {
					p.stroke(segment(px[k]-1.5, e, px[k]+1.5, e), bar)
				}
			}
			p.fill(markPath(a.mark(i), px[k], py[k]), c)
		}
	}

	line := stroke{color: black, width: 0.6}
	p.stroke(polyline([]float64{r.x, r.x, r.right()}, []float64{r.top(), r.y, r.y}), line)
	small := textStyle{size: smallSize, color: black}
	xLabels, yLabels := tickLabels(xMajor, x.Log), tickLabels(yMajor, y.Log)
	for k, v := range append(xMajor, xMinor...) {
		px := r.x + x.unit(v)*r.w
		l := tickLength
		if k >= len(xMajor) {
			l = tickLength / 2
		} else {
			p.text(xLabels[k], px, r.y-tickLength-2, with(small, middle, top))
		}
		p.stroke(segment(px, r.y, px, r.y-l), line)
	}
	for k, v := range append(yMajor, yMinor...) {
		py := r.y + y.unit(v)*r.h
		l := tickLength
		if k >= len(yMajor) {
			l = tickLength / 2
		} else {
			p.text(yLabels[k], r.x-tickLength-2, py, with(small, right, middle))
		}
		p.stroke(segment(r.x, py, r.x-l, py), line)
	}
	m := a.margins(r.w)
	label := textStyle{size: labelSize, color: black}
	if !x.Label.empty() {
		p.text(x.Label, r.x+r.w/2, r.y-m.bottom+descent*labelSize+0.5, with(label, middle, bottom))
	}
	if !y.Label.empty() {
		st := with(label, middle, top)
		st.turned = true
		p.text(y.Label, r.x-m.left+0.5, r.y+r.h/2, st)
	}
}

// outline is the border of the band: there along the upper ends, back along
// the lower ones.
func (s Series) outline() (x, y []float64) {
	for i := range s.X {
		_, hi := s.interval(i)
		x, y = append(x, s.X[i]), append(y, hi)
	}
	for i := len(s.X) - 1; i >= 0; i-- {
		lo, _ := s.interval(i)
		x, y = append(x, s.X[i]), append(y, lo)
	}
	return x, y
}

var levelStroke = stroke{color: grey, width: 0.8, dash: []float64{3, 2}}

// dashes tell curves apart without their colours.
var dashes = [][]float64{nil, {5, 1.5}, {1.2, 1.2}, {5, 1.5, 1.2, 1.5}}

func (a *Axes) lineStroke(i int) stroke {
	c := a.color(i)
	return stroke{color: c, width: 1.1, dash: dashes[a.mark(i)%len(dashes)]}
}

func (a *Axes) mark(i int) int {
	if k := a.Series[i].Mark; k > 0 {
		return k - 1
	}
	return i
}

// marks are the shapes of points and their names in pgfplots.
var marks = []string{"*", "square*", "triangle*", "diamond*"}

func markPath(k int, x, y float64) vg.Path {
	const r = 1.9
	switch marks[k%len(marks)] {
	case "square*":
		return rect{x - 0.88*r, y - 0.88*r, 1.76 * r, 1.76 * r}.path()
	case "triangle*":
		return polygon([]float64{x, x + 1.1*r, x - 1.1*r}, []float64{y + 1.25*r, y - 0.7*r, y - 0.7*r})
	case "diamond*":
		return polygon([]float64{x, x + 1.1*r, x, x - 1.1*r}, []float64{y + 1.35*r, y, y - 1.35*r, y})
	}
	return circle(x, y, r)
}

func (a *Axes) legend(p pen, r rect) {
	rows := a.legendRows(r.w)
	for k, row := range rows {
		x := r.x
		y := r.top() + 2 + legendLine*(float64(len(rows)-1-k)+0.5)
		for _, e := range row {
			end := x + a.sample(e.series)
			if e.series < 0 {
				p.stroke(segment(x, y, end, y), levelStroke)
			} else {
				s := a.Series[e.series]
				c := a.color(e.series)
				if s.Points {
					p.fill(markPath(a.mark(e.series), x+sampleSize/4, y), c)
				} else {
					if s.Err != nil {
						p.shade(rect{x, y - 2.5, sampleSize, 5}.path(), c)
					}
					p.stroke(segment(x, y, end, y), a.lineStroke(e.series))
				}
			}
			p.text(e.label, end+4, y, textStyle{size: smallSize, h: left, v: middle, color: black})
			x += e.width
		}
	}
}

// pgfplots writes the panel as an axis of pgfplots, in place of the strokes
// that draw it on a page.
func (a *Axes) pgfplots(t *tikz, r rect) {
	x, y := a.axes()
	b := &t.b
	fmt.Fprintf(b, "\\begin{axis}[at={(%sbp,%sbp)},anchor=south west,scale only axis,width=%sbp,height=%sbp,\n", num(r.x), num(r.y), num(r.w), num(r.h))
	fmt.Fprintf(b, "  xmin=%s,xmax=%s,ymin=%s,ymax=%s,enlargelimits=false,clip=false,\n", short(x.Min), short(x.Max), short(y.Min), short(y.Max))
	for _, ax := range []struct {
		name string
		Axis
		n int
	}{{"x", x, xTicks}, {"y", y, yTicks}} {
		major, minor := ax.ticks(ax.n)
		if ax.Log {
			fmt.Fprintf(b, "  %smode=log,", ax.name)
		} else {
			b.WriteString("  ")
		}
		var at, label, small []string
		for _, v := range major {
			at = append(at, short(v))
		}
		for _, l := range tickLabels(major, ax.Log) {
			label = append(label, l.source())
		}
		for _, v := range minor {
			small = append(small, short(v))
		}
		fmt.Fprintf(b, "%stick={%s},%sticklabels={%s},minor %stick={%s},\n", ax.name, strings.Join(at, ","), ax.name, strings.Join(label, ","), ax.name, strings.Join(small, ","))
		if !ax.Label.empty() {
			fmt.Fprintf(b, "  %slabel={%s},\n", ax.name, ax.Label.source())
		}
	}
	fmt.Fprintf(b, "  axis lines*=left,axis line style={line width=0.6bp},ymajorgrids,grid style={%s},\n", t.line(stroke{color: lightGrey, width: 0.4}))
	fmt.Fprintf(b, "  tick align=outside,tick style={black,line width=0.6bp},major tick length=%sbp,minor tick length=%sbp,\n", num(tickLength), num(tickLength/2))
	fmt.Fprintf(b, "  tick label style={font=%s,inner sep=1.5bp},label style={font=%s,inner sep=0bp},\n", texFont(smallSize, false), texFont(labelSize, false))
	fmt.Fprintf(b, "  xlabel style={at={(axis description cs:0.5,0)},yshift=-%sbp,anchor=north},ylabel style={at={(axis description cs:0,0.5)},yshift=%sbp,anchor=south}]\n",
		num(tickLength+smallSize+4), num(tickLength+5.5+a.yTickWidth()))
	table := func(options string, columns []string, rows ...[]float64) {
		fmt.Fprintf(b, "\\addplot[%s] table[%s] {\n", options, strings.Join(columns, ","))
		for i := range rows[0] {
			for k := range rows {
				if k > 0 {
					b.WriteString(" ")
				}
				b.WriteString(short(rows[k][i]))
			}
			b.WriteString("\n")
		}
		b.WriteString("}")
	}
	xyColumns := []string{"x index=0", "y index=1"}
	for i, s := range a.Series {
		if s.Err != nil && !s.Points {
			xs, ys := s.outline()
			table("draw=none,fill="+t.color(a.color(i))+",fill opacity="+num(shadeOpacity), xyColumns, xs, ys)
			b.WriteString(" -- cycle;\n")
		}
	}
	for _, l := range a.Levels {
		table(t.line(levelStroke), xyColumns, []float64{x.Min, x.Max}, []float64{l.Y, l.Y})
		b.WriteString(";\n")
	}
	for i, s := range a.Series {
		if !s.Points {
			table(t.line(a.lineStroke(i)), xyColumns, s.X, s.Y)
			b.WriteString(";\n")
			continue
		}
		c := a.color(i)
		o := fmt.Sprintf("only marks,%s,mark=%s,mark size=1.9bp,mark options={line width=0bp}", t.color(c), marks[a.mark(i)%len(marks)])
		if s.Err == nil {
			table(o, xyColumns, s.X, s.Y)
		} else {
			o += ",error bars/.cd,y dir=both,y explicit,error bar style={line width=0.7bp},error mark options={rotate=90,mark size=1.5bp,line width=0.7bp}"
			table(o, append(xyColumns, "y error index=2"), s.X, s.Y, s.Err)
		}
		b.WriteString(";\n")
	}
	b.WriteString("\\end{axis}\n")
}
