package figure

import (
	"errors"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Chart is a panel that shows a plot of gonum. In LaTeX it is drawn in lines and
// text; its text is escaped and uses the document's fonts.
type Chart struct {
	Title  Label
	Plot   *plot.Plot
	Height float64 // of the frame in points; zero means 0.62 times its width
}

func (h *Chart) Heading() Label { return h.Title }

func (h *Chart) Layout(w vg.Length) (r Room, err error) {
	defer caught(&err)
	if h.Plot == nil {
		return Room{}, errors.New("chart without a plot")
	}
	size := frameSize(w, h.Height)
	if s, ok := h.Plot.Y.Scale.(shaped); ok {
		size = s.frame(w)
	}
	p, err := h.plot(size)
	if err != nil {
		return Room{}, err
	}
	if r = roomOf(p, size); !onPage(r.Left) {
		err = errors.New("plot: the labels leave no room for a frame: shorten those of the ticks, or the names of NominalX " +
			"or NominalY")
	}
	return r, err
}

func (h *Chart) Draw(c draw.Canvas) (err error) {
	defer caught(&err)
	p, err := h.plot(c.Size())
	if err == nil {
		drawPlot(p, c)
	}
	return err
}

// plot returns a copy of the plot with complete axes for a frame.
func (h *Chart) plot(frame vg.Point) (*plot.Plot, error) {
	p := *h.Plot
	for a, length := range map[*plot.Axis]vg.Length{&p.X: frame.X, &p.Y: frame.Y} {
		if n, ok := a.Tick.Marker.(indices); ok {
			a.Tick.Marker = indexTicks(int(n), length)
		}
	}
	err := errors.Join(settle(&p.X, "x"), settle(&p.Y, "y"))
	spread(&p.X, frame.X)
	return &p, err
}

// shaped is the vertical scale of a plot of one [Matrix] or [Graph], which has the size of its frame.
type shaped struct {
	plot.Normalizer
	frame func(width vg.Length) vg.Point
}

// shaped reports whether the plot is one of a [Matrix] or a [Graph].
func (h *Chart) shaped() bool {
	_, ok := h.Plot.Y.Scale.(shaped)
	return ok
}

// caught turns a panic with a text into an error. So gonum reports a value below 0 on a logarithmic axis.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case string:
		*err = errors.New("plot: " + r)
	default:
		panic(r)
	}
}

// frameSize returns the size of a frame of a width, at least 60, and a height. A height
// of zero stands for 0.62 times the width.
func frameSize(w vg.Length, height float64) vg.Point {
	w = snap(max(w, 60))
	if height > 0 {
		return vg.Point{X: w, Y: snap(vg.Length(height))}
	}
	return vg.Point{X: w, Y: snap(0.62 * w)}
}

// roomOf returns the margins of a plot whose data are in a frame of the given size. It iterates, because gonum's
// margins depend a little on the size of the whole plot. It starts without margins, and where labels are wider than
// the frame, from which gonum subtracts them, with wide ones. The margins are infinite if no size has room for labels.
func roomOf(p *plot.Plot, frame vg.Point) Room {
	for _, start := range []vg.Length{0, 100, 1 << 12} {
		if start == 0 && min(frame.X, frame.Y) < 3*smallSize { // gonum may subtract more than that
			continue
		}
		r := Room{Width: frame.X, Height: frame.Y, Left: start, Right: start, Top: start, Bottom: start}
	settling:
		for range 50 {
			outer := r.outer(vg.Rectangle{Max: frame})
			in := p.DataCanvas(draw.Canvas{Rectangle: outer})
			dx, dy := frame.X-in.Size().X, frame.Y-in.Size().Y
			r.Left, r.Bottom = in.Min.X-outer.Min.X, in.Min.Y-outer.Min.Y
			r.Right, r.Top = outer.Max.X-in.Max.X, outer.Max.Y-in.Max.Y
			switch off := math.Abs(float64(dx)) + math.Abs(float64(dy)); {
			case off < 1e-9:
				return r
			case math.IsNaN(off):
				break settling
			}
		}
	}
	return Room{Left: vg.Length(math.Inf(1))}
}

// drawPlot draws a plot whose data are in the rectangle of c.
func drawPlot(p *plot.Plot, c draw.Canvas) {
	r := roomOf(p, c.Size())
	p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: r.outer(c.Rectangle)})
}

const (
	tickLength = 2.5
	tickGap    = 3 // from a tick or the frame to its number
	axisWidth  = 0.6
)

var axisLine = draw.LineStyle{Color: black, Width: axisWidth}

// NewPlot returns an empty plot in the style of [Axes]: sizes of text for
// print, round ticks, and axes that meet at the corner of the data.
func NewPlot() *plot.Plot { return styled(plot.New(), -axisWidth/2) }

// Styled returns a copy of a plot in the style of [NewPlot], but with axes 3 pt off the data, which may have no
// margin, and with a legend at the top above the frame. It keeps what differs from gonum's defaults.
func Styled(p *plot.Plot) *plot.Plot { return styled(p, 3) }

func styled(p *plot.Plot, gap vg.Length) *plot.Plot {
	q := *p
	restyle(&q.Title.TextStyle, 12, labelSize, typesetter{ascent: capHeight})
	restyle(&q.Legend.TextStyle, 12, smallSize, typesetter{ascent: accentHeight, descent: descent})
	replace(&q.Title.Padding, 0, 4)
	replace(&q.Legend.ThumbnailWidth, 20, sampleSize)
	replace(&q.Legend.Padding, 0, 2)
	if !q.Legend.Top {
		replace(&q.Legend.YOffs, 0, 3) // off the axis
	}
	for k, a := range []*plot.Axis{&q.X, &q.Y} {
		replace(&a.Width, 0.5, axisWidth)
		replace(&a.Tick.Width, 0.5, axisWidth)
		replace(&a.Tick.Length, 8, tickLength)
		replace(&a.Label.Padding, 0, 4)
		restyle(&a.Label.TextStyle, 12, labelSize, nil)
		setLabel(a, Text(a.Label.Text))
		switch a.Tick.Marker.(type) {
		case plot.DefaultTicks, plot.LogTicks:
			a.Tick.Marker = about(6 - k)
			if isLog(a.Scale) {
				a.Tick.Marker = powersOfTen
			}
		}
	}
	restyle(&q.X.Tick.Label, 10, smallSize, typesetter{ascent: capHeight + 2.5/smallSize})
	restyle(&q.Y.Tick.Label, 10, smallSize, typesetter{ascent: capHeight})
	replace(&q.X.Padding, 5, gap)
	// Gonum measures a space in the font of the ticks, but leaves one in the font of the label.
	replace(&q.Y.Padding, 5, gap+q.Y.Tick.Label.Width(" ")-q.Y.Label.TextStyle.Width(" "))
	if q.Legend.Top {
		q.Add(above(q.Legend.Rectangle(draw.Canvas{}).Size().Y + 5)) // off marks at the top of the frame
	}
	return &q
}

// above is a plotter without ink that keeps a height above the frame, in which gonum draws a legend at the top.
type above vg.Length

func (above) Plot(draw.Canvas, *plot.Plot) {}

func (h above) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: vg.Length(h)}}}}
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

// setLabel sets the label of an axis of a plot, with its TeX form.
func setLabel(a *plot.Axis, l Label) {
	a.Label.Text = l.Text
	a.Label.TextStyle.Handler = axisLabel{typesetter{ascent: accentHeight, descent: descent, label: l}}
}

// axisLabel sets the label of an axis. It reports zero width: gonum would keep space for the
// label at a wrong middle of a logarithmic axis.
type axisLabel struct{ typesetter }

func (t axisLabel) Box(s string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = t.typesetter.Box(s, f)
	return 0, height, depth
}
