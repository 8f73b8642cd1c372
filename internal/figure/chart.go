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

func (h *Chart) Layout(w vg.Length) (Room, error) {
	if h.Plot == nil {
		return Room{}, errors.New("chart without a plot")
	}
	if err := errors.Join(settle(&h.Plot.X, "x"), settle(&h.Plot.Y, "y")); err != nil {
		return Room{}, err
	}
	return roomOf(h.Plot, frameSize(w, h.Height)), nil
}

func (h *Chart) Draw(c draw.Canvas) error {
	drawPlot(h.Plot, c)
	return nil
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

// roomOf returns the margins of a plot whose data are in a frame of the given size. It
// iterates, because gonum's margins depend a little on the size of the whole plot.
func roomOf(p *plot.Plot, frame vg.Point) Room {
	r := Room{Width: frame.X, Height: frame.Y}
	if min(frame.X, frame.Y) < 3*smallSize { // gonum may subtract more than that
		const start = 100
		r.Left, r.Right, r.Top, r.Bottom = start, start, start, start
	}
	for range 50 {
		outer := r.outer(vg.Rectangle{Max: frame})
		in := p.DataCanvas(draw.Canvas{Rectangle: outer})
		dx, dy := frame.X-in.Size().X, frame.Y-in.Size().Y
		r.Left, r.Bottom = in.Min.X-outer.Min.X, in.Min.Y-outer.Min.Y
		r.Right, r.Top = outer.Max.X-in.Max.X, outer.Max.Y-in.Max.Y
		if math.Abs(float64(dx))+math.Abs(float64(dy)) < 1e-9 {
			break
		}
	}
	return r
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
func NewPlot() *plot.Plot {
	p := plot.New()
	p.Title.TextStyle = textStyle(labelSize, text.XCenter, text.YTop)
	p.Title.Padding = 4
	p.Legend.TextStyle = textStyle(smallSize, text.XLeft, text.YBottom)
	p.Legend.ThumbnailWidth = sampleSize
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle, a.Tick.LineStyle = axisLine, axisLine
		a.Tick.Length = tickLength
		a.Padding = -axisWidth / 2
		a.Label.Padding = 4
		a.Label.TextStyle = textStyle(labelSize, text.XCenter, text.YBottom)
		setLabel(a, Label{})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = about(6), about(5)
	p.X.Tick.Label = textStyle(smallSize, text.XCenter, text.YTop)
	p.X.Tick.Label.Handler = typesetter{ascent: capHeight + 2.5/smallSize}
	p.Y.Tick.Label = textStyle(smallSize, text.XRight, text.YCenter)
	// Gonum measures a space in the font of the ticks, but leaves one in the font of the label.
	p.Y.Padding += p.Y.Tick.Label.Width(" ") - p.Y.Label.TextStyle.Width(" ")
	return p
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
