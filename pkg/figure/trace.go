package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// Red is the colour of what a picture wants to be looked at first.
const Red Ink = -3

// Arrow adds a curve that leaves the point (x0, y0) and reaches (x1, y1) with
// its head, each at an angle in degrees, counted from the right and upwards:
// Arrow(..., 0, 0, 90, 1, 0, 90) rises from the first point and comes down on
// the second. The handles of the curve are pull times the distance of the two
// points; 0 gives a straight line.
func (d *Drawing) Arrow(k Ink, width float64, dashed bool, x0, y0, out, x1, y1, in, pull float64) {
	const head = 4.2
	d.items = append(d.items, func(p pen, x, y float64) {
		if pull == 0 {
			out = math.Atan2(y1-y0, x1-x0) * 180 / math.Pi
			in = out + 180
		}
		sin0, cos0 := math.Sincos(out * math.Pi / 180)
		sin1, cos1 := math.Sincos(in * math.Pi / 180)
		xb, yb := x1+0.8*head*cos1, y1+0.8*head*sin1 // base of the head
		h := pull * math.Hypot(x1-x0, y1-y0)
		var c vg.Path
		c.Move(pt(x+x0, y+y0))
		c.CubeTo(pt(x+x0+h*cos0, y+y0+h*sin0), pt(x+xb+h*cos1, y+yb+h*sin1), pt(x+xb, y+yb))
		s := stroke{color: k.color(), width: width}
		if dashed {
			s.dash = []float64{2.5, 1.8}
		}
		p.stroke(c, s)
		const wing = 0.38 * head
		xw, yw := x+x1+1.1*head*cos1, y+y1+1.1*head*sin1
		p.fill(polygon(
			[]float64{x + x1, xw + wing*sin1, x + xb, xw - wing*sin1},
			[]float64{y + y1, yw - wing*cos1, y + yb, yw + wing*cos1}), k.color())
	})
}

// Frame adds the outline of a rectangle with its lower left corner at (x0, y0).
func (d *Drawing) Frame(k Ink, width, x0, y0, w, h float64) {
	d.items = append(d.items, func(p pen, x, y float64) {
		p.stroke(rect{x + x0, y + y0, w, h}.path(), stroke{color: k.color(), width: width})
	})
}
