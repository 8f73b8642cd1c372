package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Drawing is a panel of lines, boxes, marks and texts at given places, later ones over
// earlier ones. Lengths are in points from the lower left corner of the frame, y points up.
type Drawing struct {
	Title Label
	W, H  float64 // of the frame
	// For returns the drawing for a frame of at most the given width, for
	// [Figure.Fit]; nil means that the drawing has one width only.
	For func(width float64) *Drawing

	items []func(c draw.Canvas) // with the origin at the corner of the frame
	texts []Label
	small float64 // least size of a text, or 0
	scale float64 // of the lengths and the type; 0 means 1
}

// scaled returns the drawing in a fraction of its size, but with type of at least 6 pt.
func (d *Drawing) scaled(by float64) *Drawing {
	s, now := *d, cmp.Or(d.scale, 1)
	s.scale = max(now*by, min(now, leastType/cmp.Or(d.small, leastType)))
	return &s
}

const leastType = 6

// An Ink is a colour of the palette, counted from 1, or one of the constants.
type Ink int

const (
	Black Ink = 0  // text
	Grey  Ink = -1 // background lines
	Faint Ink = -2 // grids
	Red   Ink = -3 // highlights
)

func (k Ink) color() color.RGBA {
	if k > 0 {
		return lineColors[(int(k)-1)%len(lineColors)]
	}
	return map[Ink]color.RGBA{Black: black, Grey: grey, Faint: lightGrey, Red: highlight}[k]
}

func (k Ink) line(width float64) draw.LineStyle {
	return draw.LineStyle{Color: k.color(), Width: vg.Length(width)}
}

func pt(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: vg.Length(y)} }

func (d *Drawing) add(item func(c draw.Canvas)) { d.items = append(d.items, item) }

// Line adds a straight line.
func (d *Drawing) Line(k Ink, width, x0, y0, x1, y1 float64) {
	d.add(func(c draw.Canvas) { c.StrokeLines(k.line(width), []vg.Point{pt(x0, y0), pt(x1, y1)}) })
}

// Fall adds a curve between two points that is vertical at both ends.
func (d *Drawing) Fall(k Ink, width, x0, y0, x1, y1 float64) {
	d.add(func(c draw.Canvas) {
		var p vg.Path
		p.Move(pt(x0, y0))
		p.CubeTo(pt(x0, (y0+y1)/2), pt(x1, (y0+y1)/2), pt(x1, y1))
		c.SetLineStyle(k.line(width))
		c.Stroke(p)
	})
}

// Frame adds the outline of a rectangle with its lower left corner at (x0, y0).
func (d *Drawing) Frame(k Ink, width, x0, y0, w, h float64) {
	d.add(func(c draw.Canvas) {
		c.SetLineStyle(k.line(width))
		c.Stroke(vg.Rectangle{Min: pt(x0, y0), Max: pt(x0+w, y0+h)}.Path())
	})
}

// Box adds a rectangle with the corner (x0, y0), filled with a light tint of its colour.
func (d *Drawing) Box(k Ink, x0, y0, w, h float64) {
	d.add(func(c draw.Canvas) {
		c.SetColor(mix(white, k.color(), 0.3))
		c.Fill(vg.Rectangle{Min: pt(x0, y0), Max: pt(x0+w, y0+h)}.Path())
	})
	d.Frame(k, 0.6, x0, y0, w, h)
}

// Mark adds a mark, whose shape counts from 1 as in a [Series].
func (d *Drawing) Mark(k Ink, mark int, x0, y0 float64) {
	d.add(func(c draw.Canvas) { c.DrawGlyphNoClip(markStyle(k.color(), max(mark, 1)-1), pt(x0, y0)) })
}

// Text adds a label of the given size with its middle at height y0. It starts at
// x0 (align -1), is centred there (0) or ends there (1). In LaTeX it is narrowed if
// the document's font makes it wider than on the screen.
func (d *Drawing) Text(k Ink, size float64, align int, l Label, x0, y0 float64) {
	d.texts = append(d.texts, l)
	d.small = min(cmp.Or(d.small, size), size)
	sty := textStyle(size, text.XAlignment(-float64(align+1)/2), text.YCenter)
	sty.Color = k.color()
	d.add(func(c draw.Canvas) { l.drawWithin(c, sty, pt(x0, y0), 0) })
}

// Arrow adds a curve from (x0, y0) to (x1, y1) with a head at its end. The handles of the
// curve leave its ends at the angles out and in, in degrees counterclockwise from the right,
// and are pull times as long as the distance of the points. Zero gives a straight line.
func (d *Drawing) Arrow(k Ink, width float64, dashed bool, x0, y0, out, x1, y1, in, pull float64) {
	if pull == 0 {
		out = math.Atan2(y1-y0, x1-x0) * 180 / math.Pi
		in = out + 180
	}
	line := k.line(width)
	if dashed {
		line.Dashes = []vg.Length{2.5, 1.8}
	}
	direction := func(degrees float64) vg.Point {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		return pt(cos, sin)
	}
	a := arrow{from: pt(x0, y0), out: direction(out), to: pt(x1, y1), in: direction(in), head: 4.2}
	a.pull = vg.Length(pull * math.Hypot(x1-x0, y1-y0))
	d.add(func(c draw.Canvas) { a.draw(c, line) })
}

// An arrow is a curve between two points with a head at its end. The unit vectors
// out and in point from the ends to their handles.
type arrow struct {
	from, out, to, in vg.Point
	pull              vg.Length // length of the handles
	head              vg.Length // length of the head
}

func (a arrow) draw(c draw.Canvas, line draw.LineStyle) {
	base := a.to.Add(a.in.Scale(0.8 * a.head))
	var p vg.Path
	p.Move(a.from)
	p.CubeTo(a.from.Add(a.out.Scale(a.pull)), base.Add(a.in.Scale(a.pull)), base)
	c.SetLineStyle(line)
	c.Stroke(p)
	wing := vg.Point{X: a.in.Y, Y: -a.in.X}.Scale(0.38 * a.head)
	back := a.to.Add(a.in.Scale(1.1 * a.head))
	c.FillPolygon(line.Color, []vg.Point{a.to, back.Add(wing), base, back.Sub(wing)})
}

func (d *Drawing) Heading() Label { return d.Title }

func (d *Drawing) Layout(vg.Length) (Room, error) {
	if d.W <= 0 || d.H <= 0 {
		return Room{}, fmt.Errorf("drawing of %v x %v points, want a positive size", d.W, d.H)
	}
	scale := cmp.Or(d.scale, 1)
	return Room{Width: vg.Length(d.W * scale), Height: vg.Length(d.H * scale)}, checkAll(d.texts)
}

func (d *Drawing) Draw(c draw.Canvas) error {
	c.Push()
	defer c.Pop()
	c.Translate(c.Min)
	c.Scale(cmp.Or(d.scale, 1), cmp.Or(d.scale, 1))
	for _, item := range d.items {
		item(draw.Canvas{Canvas: c.Canvas})
	}
	return nil
}

// Disc adds a white disc about (x0, y0), outlined in the colour.
func (d *Drawing) Disc(k Ink, x0, y0, radius float64) {
	d.add(func(c draw.Canvas) {
		p := circle(pt(x0, y0), vg.Length(radius))
		c.SetColor(white)
		c.Fill(p)
		c.SetLineStyle(k.line(0.7))
		c.Stroke(p)
	})
}
