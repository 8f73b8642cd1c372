package figure

import (
	"errors"
	"image"
	"image/color"
	"math"
	"slices"

	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A device writes a file of one format. Its paths are in points of the page,
// with y upwards, and consist of lines and cubic curves.
type device interface {
	stroke(p vg.Path, s state)
	fill(p vg.Path, s state)
	// glyphs sets a string from the origin of s.at along its x-axis.
	glyphs(f font.Face, text string, s state)
}

// canvas is a vg.Canvas that applies transformations for its device.
type canvas struct {
	device
	state
	saved []state
}

// A state is the colour, line style and transformation in use, which Push saves.
type state struct {
	draw.LineStyle
	at gg.Matrix // to the coordinates of the page
}

func (s state) color() color.NRGBA { return nrgba(s.Color) }

func newCanvas(d device) *canvas {
	c := &canvas{device: d, state: state{at: gg.Identity()}}
	vg.Initialize(c)
	return c
}

func (c *canvas) SetLineWidth(w vg.Length) { c.Width = w }

func (c *canvas) SetLineDash(dashes []vg.Length, offset vg.Length) {
	c.Dashes, c.DashOffs = dashes, offset
}

func (c *canvas) SetColor(x color.Color) { c.Color = x }

func (c *canvas) Rotate(rad float64) { c.at = c.at.Rotate(rad) }

func (c *canvas) Translate(p vg.Point) { c.at = c.at.Translate(float64(p.X), float64(p.Y)) }

func (c *canvas) Scale(x, y float64) { c.at = c.at.Scale(x, y) }

func (c *canvas) Push() { c.saved = append(c.saved, c.state) }

func (c *canvas) Pop() {
	k := len(c.saved) - 1
	c.state, c.saved = c.saved[k], c.saved[:k]
}

func (c *canvas) Fill(p vg.Path) { c.fill(mappedPath(c.at, p), c.state) }

func (c *canvas) Stroke(p vg.Path) {
	if c.Width > 0 {
		c.stroke(mappedPath(c.at, p), c.state)
	}
}

func (c *canvas) FillString(f font.Face, at vg.Point, text string) {
	if f.Font.Size == 0 || text == "" {
		return
	}
	s := c.state
	s.at = s.at.Translate(float64(at.X), float64(at.Y))
	c.glyphs(f, text, s)
}

// DrawImage draws the pixels of an image as cells, on a white background.
func (c *canvas) DrawImage(r vg.Rectangle, img image.Image) {
	b := img.Bounds()
	paintCells(c, r, b.Dy(), b.Dx(), func(i, j int) color.NRGBA {
		x := nrgba(img.At(b.Min.X+j, b.Min.Y+i))
		return nrgba(mix(white, color.RGBA{x.R, x.G, x.B, 255}, float64(x.A)/255))
	})
}

// latex returns the device of LaTeX that c draws on, or nil, and the map from the
// coordinates of c to the coordinates of the page.
func latex(c vg.Canvas) (*tikz, gg.Matrix) {
	for {
		switch d := c.(type) {
		case draw.Canvas:
			c = d.Canvas
		case *draw.Canvas:
			c = d.Canvas
		case *gate:
			if d.lost[len(d.lost)-1] {
				return nil, gg.Matrix{}
			}
			c = d.Canvas
		case *canvas:
			t, _ := d.device.(*tikz)
			return t, d.at
		default:
			return nil, gg.Matrix{}
		}
	}
}

// gate passes on whatever has a place on a page. A path breaks at other points, and other text is left out.
type gate struct {
	vg.Canvas
	lost []bool // whether the coordinates in use, and the saved ones before them, have no place on a page
	err  error  // that a path, a text or an image is left out
}

// passes reports whether a path, a text or an image is passed on.
func (g *gate) passes(whole bool) bool {
	if whole && !g.lost[len(g.lost)-1] {
		return true
	}
	g.err = errNoPlace
	return false
}

var errNoPlace = errors.New("lines, marks or texts have no place on the page, because their coordinates " +
	"are not finite, or beyond 16384 pt")

func (g *gate) move(now bool, to func()) {
	if k := len(g.lost) - 1; !now {
		g.lost[k] = true
	} else if !g.lost[k] {
		to()
	}
}

func (g *gate) Rotate(rad float64) { g.move(onPage(vg.Length(rad)), func() { g.Canvas.Rotate(rad) }) }

func (g *gate) Translate(p vg.Point) { g.move(onPage(p.X, p.Y), func() { g.Canvas.Translate(p) }) }

func (g *gate) Scale(x, y float64) {
	g.move(onPage(vg.Length(x), vg.Length(y)), func() { g.Canvas.Scale(x, y) })
}

func (g *gate) Push() {
	g.Canvas.Push()
	g.lost = append(g.lost, g.lost[len(g.lost)-1])
}

func (g *gate) Pop() {
	g.Canvas.Pop()
	g.lost = g.lost[:len(g.lost)-1]
}

func (g *gate) Fill(p vg.Path) { g.path(p, g.Canvas.Fill) }

func (g *gate) Stroke(p vg.Path) { g.path(p, g.Canvas.Stroke) }

func (g *gate) path(p vg.Path, paint func(vg.Path)) {
	if q := unbroken(p); len(p) > 0 && g.passes(len(q) > 0) {
		paint(q)
	}
}

func (g *gate) FillString(f font.Face, at vg.Point, text string) {
	if g.passes(onPage(at.X, at.Y)) {
		g.Canvas.FillString(f, at, text)
	}
}

func (g *gate) DrawImage(r vg.Rectangle, img image.Image) {
	if g.passes(onPage(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)) {
		g.Canvas.DrawImage(r, img)
	}
}

// onPage reports whether lengths are finite and not beyond those of TeX, 2^14 pt.
func onPage(lengths ...vg.Length) bool {
	for _, x := range lengths {
		if !(math.Abs(float64(x)) < 1<<14) {
			return false
		}
	}
	return true
}

// unbroken returns a path without the points that have no place on a page. The path has a gap there.
func unbroken(p vg.Path) (out vg.Path) {
	whole := func(c vg.PathComp) bool {
		ok := onPage(c.Pos.X, c.Pos.Y, c.Radius, vg.Length(c.Start), vg.Length(c.Angle))
		for _, q := range c.Control {
			ok = ok && onPage(q.X, q.Y)
		}
		return ok
	}
	if !slices.ContainsFunc(p, func(c vg.PathComp) bool { return !whole(c) }) {
		return p
	}
	gap, broken := true, false
	for _, c := range p {
		switch {
		case c.Type == vg.CloseComp && broken: // its line would lead over the gap
		case !whole(c):
			gap, broken = true, true
		case gap && c.Type == vg.ArcComp:
			from, _ := onCircle(c, 0)
			out = append(out, vg.PathComp{Type: vg.MoveComp, Pos: from}, c)
			gap = false
		case gap || c.Type == vg.MoveComp:
			out.Move(c.Pos)
			gap, broken = false, broken && c.Type != vg.MoveComp
		default:
			out = append(out, c)
		}
	}
	return out
}

func nrgba(c color.Color) color.NRGBA {
	if c == nil {
		return color.NRGBA{A: 255}
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

func mapped(m gg.Matrix, p vg.Point) vg.Point {
	x, y := m.TransformPoint(float64(p.X), float64(p.Y))
	return vg.Point{X: vg.Length(x), Y: vg.Length(y)}
}

// mappedRectangle maps a rectangle by m, which must not rotate it.
func mappedRectangle(m gg.Matrix, r vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{Min: mapped(m, r.Min), Max: mapped(m, r.Max)}
}

// turn returns the angle by which m rotates the x-axis.
func turn(m gg.Matrix) float64 { return math.Atan2(m.YX, m.XX) }

// mappedPath maps a path by m. Arcs and quadratic curves become cubic curves.
func mappedPath(m gg.Matrix, p vg.Path) vg.Path {
	var out vg.Path
	var last vg.Point // not mapped
	cubic := func(a, b, end vg.Point) {
		out.CubeTo(mapped(m, a), mapped(m, b), mapped(m, end))
		last = end
	}
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			out.Move(mapped(m, c.Pos))
			last = c.Pos
		case vg.LineComp:
			out.Line(mapped(m, c.Pos))
			last = c.Pos
		case vg.CurveComp:
			a, b := c.Control[0], c.Control[len(c.Control)-1]
			if len(c.Control) == 1 {
				a, b = last.Add(a.Sub(last).Scale(2./3)), c.Pos.Add(a.Sub(c.Pos).Scale(2./3))
			}
			cubic(a, b, c.Pos)
		case vg.ArcComp:
			n := math.Max(1, math.Ceil(math.Abs(c.Angle)/(math.Pi/2)))
			step := c.Angle / n
			pull := vg.Length(4. / 3 * math.Tan(step/4))
			from, out1 := onCircle(c, 0)
			if len(out) == 0 {
				out.Move(mapped(m, from))
			} else if d := from.Sub(last); math.Abs(float64(d.X))+math.Abs(float64(d.Y)) > 1e-9 {
				out.Line(mapped(m, from))
			}
			for k := 1.0; k <= n; k++ {
				to, out2 := onCircle(c, k*step)
				cubic(from.Add(out1.Scale(pull)), to.Sub(out2.Scale(pull)), to)
				from, out1 = to, out2
			}
		case vg.CloseComp:
			out.Close()
		}
	}
	return out
}

// onCircle returns the point at an angle from the start of the arc c, and the derivative.
func onCircle(c vg.PathComp, angle float64) (at, d vg.Point) {
	sin, cos := math.Sincos(c.Start + angle)
	d = vg.Point{X: -c.Radius * vg.Length(sin), Y: c.Radius * vg.Length(cos)}
	return vg.Point{X: c.Pos.X + d.Y, Y: c.Pos.Y - d.X}, d
}
