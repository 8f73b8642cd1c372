package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

// All lengths are in PostScript points (1/72 in); y points up.

// A pen is what a panel draws with: either a page of glyphs and shapes (PNG,
// SVG, PDF) or LaTeX source.
type pen interface {
	stroke(p vg.Path, s stroke)
	fill(p vg.Path, c color.RGBA)
	shade(p vg.Path, c color.RGBA) // fills with shadeOpacity
	text(l Label, x, y float64, s textStyle)
	// cells fills r with the matrix, row 0 on top, coloured by the scale.
	cells(r rect, m [][]float64, s scale)
}

// Bands let grid lines and other bands shine through.
const shadeOpacity = 0.25

type stroke struct {
	color color.RGBA
	width float64
	dash  []float64 // lengths of dashes and gaps
}

// An anchor says which point of a text stands at its position.
type anchor int

const (
	left   anchor = -1
	middle anchor = 0
	right  anchor = 1
	bottom anchor = -1
	top    anchor = 1
)

type textStyle struct {
	size   float64
	h, v   anchor
	turned bool // by 90 degrees, reading upwards
	bold   bool
	color  color.RGBA
}

// Sizes of text at the final size of the figure.
const (
	labelSize = 8
	smallSize = 7
)

type rect struct{ x, y, w, h float64 }

func (r rect) top() float64   { return r.y + r.h }
func (r rect) right() float64 { return r.x + r.w }

func (r rect) path() vg.Path {
	return polygon([]float64{r.x, r.right(), r.right(), r.x}, []float64{r.y, r.y, r.top(), r.top()})
}

func pt(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: vg.Length(y)} }

func polyline(x, y []float64) vg.Path {
	var p vg.Path
	for i := range x {
		if i == 0 {
			p.Move(pt(x[i], y[i]))
		} else {
			p.Line(pt(x[i], y[i]))
		}
	}
	return p
}

func polygon(x, y []float64) vg.Path {
	p := polyline(x, y)
	p.Close()
	return p
}

func segment(x0, y0, x1, y1 float64) vg.Path {
	return polyline([]float64{x0, x1}, []float64{y0, y1})
}

// circle returns four cubic arcs; their radius errs by less than 0.03 %.
func circle(x, y, r float64) vg.Path {
	k := 0.5522847498 * r
	var p vg.Path
	p.Move(pt(x+r, y))
	p.CubeTo(pt(x+r, y+k), pt(x+k, y+r), pt(x, y+r))
	p.CubeTo(pt(x-k, y+r), pt(x-r, y+k), pt(x-r, y))
	p.CubeTo(pt(x-r, y-k), pt(x-k, y-r), pt(x, y-r))
	p.CubeTo(pt(x+k, y-r), pt(x+r, y-k), pt(x+r, y))
	p.Close()
	return p
}
