package figure

import (
	"errors"
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
)

// A Drawing is a panel of lines, boxes, marks and texts at given places, for
// pictures that are neither curves nor matrices nor forests. Lengths are in
// points from the lower left corner of the frame, y points up. What is added
// first lies lowest.
type Drawing struct {
	Title Label
	W, H  float64 // of the frame

	items []func(p pen, x, y float64) // drawn with the frame's corner at (x, y)
	texts []Label
}

// An Ink is a colour of the palette, counted from 1, or one of the constants.
type Ink int

const (
	Black Ink = 0
	Grey  Ink = -1
	Faint Ink = -2
)

func (k Ink) color() color.RGBA {
	switch {
	case k == Red:
		return highlight
	case k == Faint:
		return lightGrey
	case k < 0:
		return grey
	case k == 0:
		return black
	}
	return lineColors[(int(k)-1)%len(lineColors)]
}

// Line adds a straight line.
func (d *Drawing) Line(k Ink, width, x0, y0, x1, y1 float64) {
	d.items = append(d.items, func(p pen, x, y float64) {
		p.stroke(segment(x+x0, y+y0, x+x1, y+y1), stroke{color: k.color(), width: width})
	})
}

// Fall adds a curve that leaves its first and reaches its last point vertically.
func (d *Drawing) Fall(k Ink, width, x0, y0, x1, y1 float64) {
	d.items = append(d.items, func(p pen, x, y float64) {
		var c vg.Path
		c.Move(pt(x+x0, y+y0))
		c.CubeTo(pt(x+x0, y+(y0+y1)/2), pt(x+x1, y+(y0+y1)/2), pt(x+x1, y+y1))
		p.stroke(c, stroke{color: k.color(), width: width})
	})
}

// Box adds a rectangle with its lower left corner at (x0, y0), outlined in the
// colour and filled with a light tint of it.
func (d *Drawing) Box(k Ink, x0, y0, w, h float64) {
	d.items = append(d.items, func(p pen, x, y float64) {
		r := rect{x + x0, y + y0, w, h}.path()
		p.fill(r, mix(white, k.color(), 0.3))
		p.stroke(r, stroke{color: k.color(), width: 0.6})
	})
}

// Mark adds a mark, the shape counted from 1 as in a Series.
func (d *Drawing) Mark(k Ink, mark int, x0, y0 float64) {
	d.items = append(d.items, func(p pen, x, y float64) {
		p.fill(markPath(max(mark, 1)-1, x+x0, y+y0), k.color())
	})
}

// Text adds a label of the given size, its middle at height y0, that starts at
// x0 (align -1), is centred there (0) or ends there (1).
func (d *Drawing) Text(k Ink, size float64, align int, l Label, x0, y0 float64) {
	d.texts = append(d.texts, l)
	d.items = append(d.items, func(p pen, x, y float64) {
		p.text(l, x+x0, y+y0, textStyle{size: size, h: anchor(align), v: middle, color: k.color()})
	})
}

func (d *Drawing) check() error {
	var errs []error
	for _, l := range d.texts {
		errs = append(errs, l.check())
	}
	if d.W <= 0 || d.H <= 0 {
		errs = append(errs, fmt.Errorf("drawing of %v x %v points, want a positive size", d.W, d.H))
	}
	return errors.Join(errs...)
}

func (d *Drawing) title() Label                   { return d.Title }
func (d *Drawing) margins(float64) margins        { return margins{} }
func (d *Drawing) widths() (lo, hi float64)       { return d.W, d.W }
func (d *Drawing) frame(float64) (fw, fh float64) { return d.W, d.H }
func (d *Drawing) draw(p pen, r rect) {
	for _, item := range d.items {
		item(p, r.x, r.y)
	}
}
