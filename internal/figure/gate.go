package figure

import (
	"errors"
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A gate is the canvas between a figure and a format. It keeps the first error, breaks lines at points that are not
// finite, and draws of a line with thousands of points those that can be seen.
type gate struct {
	vg.Canvas
	err error
}

var errNoPlace = errors.New("lines, marks or texts have no place on the page, because their coordinates are not " +
	"finite, or farther than some hundred pages")

func (g *gate) fail(err error) {
	if g != nil && g.err == nil {
		g.err = err
	}
}

// gateOf returns the gate below the rectangles of gonum, or nil.
func gateOf(c vg.Canvas) *gate {
	for {
		switch d := c.(type) {
		case draw.Canvas:
			c = d.Canvas
		case *draw.Canvas:
			c = d.Canvas
		case *gate:
			return d
		default:
			return nil
		}
	}
}

// farthest is the largest coordinate in points that is drawn, some hundred pages away.
const farthest = 1e5

func finite(all ...vg.Length) bool {
	return !slices.ContainsFunc(all, func(x vg.Length) bool { return !(math.Abs(float64(x)) <= farthest) })
}

func within(c vg.PathComp) bool {
	ok := finite(c.Pos.X, c.Pos.Y, c.Radius, vg.Length(c.Start), vg.Length(c.Angle))
	for _, p := range c.Control {
		ok = ok && finite(p.X, p.Y)
	}
	return ok
}

func (g *gate) Fill(p vg.Path) {
	if slices.ContainsFunc(p, func(c vg.PathComp) bool { return !within(c) }) {
		g.fail(errNoPlace)
	} else if len(p) > 0 {
		g.Canvas.Fill(thinned(p))
	}
}

// Stroke strokes the parts of a path between points that are not finite.
func (g *gate) Stroke(p vg.Path) {
	var part vg.Path
	drawn := false
	for _, c := range p {
		switch {
		case !within(c):
			drawn = g.part(part) || drawn
			part = nil
			continue
		case len(part) == 0 && c.Type == vg.CloseComp:
			continue
		case len(part) == 0 && c.Type != vg.ArcComp:
			c = vg.PathComp{Type: vg.MoveComp, Pos: c.Pos}
		}
		part = append(part, c)
	}
	if drawn = g.part(part) || drawn; !drawn && len(p) > 1 {
		g.fail(errNoPlace)
	}
}

func (g *gate) part(p vg.Path) bool {
	if len(p) > 1 {
		g.Canvas.Stroke(thinned(p))
	}
	return len(p) > 1
}

func (g *gate) FillString(f font.Face, at vg.Point, s string) {
	if !finite(at.X, at.Y) {
		g.fail(errNoPlace)
		return
	}
	g.Canvas.FillString(f, at, s)
}

func (g *gate) DrawImage(r vg.Rectangle, m image.Image) {
	if !finite(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y) {
		g.fail(errNoPlace)
		return
	}
	g.Canvas.DrawImage(r, m)
}

// Of a path with more than thinFrom points, no more are drawn than the lowest, the highest and the last in each step
// of thinStep points to the left or to the right; of any line, none that is less than flatness off the line without it.
const (
	thinFrom = 2000
	thinStep = 0.25
	flatness = 0.03
)

func thinned(p vg.Path) vg.Path {
	if len(p) < 4 || slices.ContainsFunc(p[1:], func(c vg.PathComp) bool { return c.Type != vg.LineComp }) {
		return p
	}
	if len(p) <= thinFrom {
		return straightened(p)
	}
	out := vg.Path{p[0]}
	for from := 1; from < len(p); {
		low, high, to := from, from, from
		for ; to < len(p) && math.Abs(float64(p[to].Pos.X-p[from].Pos.X)) < thinStep; to++ {
			if p[to].Pos.Y < p[low].Pos.Y {
				low = to
			}
			if p[to].Pos.Y > p[high].Pos.Y {
				high = to
			}
		}
		kept := []int{min(low, high), max(low, high), to - 1}
		for _, k := range slices.Compact(kept) {
			out = append(out, p[k])
		}
		from = to
	}
	return straightened(out)
}

func straightened(p vg.Path) vg.Path {
	out := vg.Path{p[0]}
	for from := 0; from+1 < len(p); {
		to := from + 1
		for ; to+1 < len(p) && to < from+60; to++ { // a longer line would take long to compare
			d := p[to+1].Pos.Sub(p[from].Pos)
			length := math.Hypot(float64(d.X), float64(d.Y))
			if slices.ContainsFunc(p[from+1:to+1], func(c vg.PathComp) bool {
				e := c.Pos.Sub(p[from].Pos)
				along := float64(d.X*e.X + d.Y*e.Y)
				return math.Abs(float64(d.X*e.Y-d.Y*e.X)) > flatness*length || along < 0 || along > length*length
			}) {
				break
			}
		}
		out, from = append(out, p[to]), to
	}
	return out
}

// curves returns a path of lines and cubic curves.
func curves(p vg.Path) (out vg.Path) {
	var last vg.Point
	for _, c := range p {
		switch {
		case c.Type == vg.CurveComp && len(c.Control) == 1:
			a := c.Control[0]
			out.CubeTo(last.Add(a.Sub(last).Scale(2./3)), c.Pos.Add(a.Sub(c.Pos).Scale(2./3)), c.Pos)
		case c.Type == vg.ArcComp:
			n := max(1, math.Ceil(math.Abs(c.Angle)/(math.Pi/2)))
			pull := vg.Length(4. / 3 * math.Tan(c.Angle/n/4))
			at := func(k float64) (p, d vg.Point) {
				sin, cos := math.Sincos(c.Start + float64(c.Angle*k/n))
				d = vg.Point{X: -c.Radius * vg.Length(sin), Y: c.Radius * vg.Length(cos)}
				return vg.Point{X: c.Pos.X + d.Y, Y: c.Pos.Y - d.X}, d.Scale(pull)
			}
			from, leave := at(0)
			if d := from.Sub(last); len(out) == 0 {
				out.Move(from)
			} else if math.Hypot(float64(d.X), float64(d.Y)) > 1e-9 {
				out.Line(from)
			}
			for k := 1.0; k <= n; k++ {
				to, arrive := at(k)
				out.CubeTo(from.Add(leave), to.Sub(arrive), to)
				from, leave = to, arrive
			}
			last = from
			continue
		default:
			out = append(out, c)
		}
		last = c.Pos
	}
	return out
}

// pixels fills a rectangle for each run of pixels of one colour of an image.
func pixels(c vg.Canvas, r vg.Rectangle, m image.Image) {
	b := m.Bounds()
	w, h := r.Size().X/vg.Length(b.Dx()), r.Size().Y/vg.Length(b.Dy())
	for y := range b.Dy() {
		for x, to := 0, 0; x < b.Dx(); x = to {
			k := m.At(b.Min.X+x, b.Min.Y+y)
			for to = x + 1; to < b.Dx() && m.At(b.Min.X+to, b.Min.Y+y) == k; to++ {
			}
			c.SetColor(k)
			at := vg.Point{X: r.Min.X + w*vg.Length(x), Y: r.Max.Y - h*vg.Length(y+1)}
			c.Fill(vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: w * vg.Length(to-x), Y: h})}.Path())
		}
	}
}
