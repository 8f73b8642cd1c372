package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// A Pen draws on a canvas, in points from the lower left corner of a drawing.
type Pen struct {
	draw.Canvas
	least *float64 // size of text so far
}

// Drawing returns a panel of a size in points with what f draws, later things over earlier ones. It calls f once to
// find the least size of type.
func Drawing(title string, w, h float64, f func(Pen)) *Panel {
	p := New(title)
	p.HideAxes()
	p.Plot = plot.New()
	p.HideAxes()
	p.X.Padding, p.Y.Padding, p.names.hidden, p.BackgroundColor = 0, 0, true, nil
	p.size = vg.Point{X: vg.Length(w), Y: vg.Length(h)}
	p.Add(drawing{p.size.X, f})
	p.least = labelSize
	f(Pen{draw.Canvas{Canvas: new(recorder.Canvas)}, &p.least})
	return p
}

// Redrawn says how a drawing is drawn for a width of at most w.
func (p *Panel) Redrawn(f func(w float64) *Panel) *Panel { p.redraw = f; return p }

// drawing scales what is drawn to the frame of its panel.
type drawing struct {
	width vg.Length
	draw  func(Pen)
}

func (d drawing) Plot(c draw.Canvas, _ *plot.Plot) {
	c.Push()
	c.Translate(c.Min)
	if k := float64(c.Size().X / d.width); math.Abs(k-1) > 1e-3 {
		c.Scale(k, k)
	}
	d.draw(Pen{draw.Canvas{Canvas: c.Canvas}, new(float64)})
	c.Pop()
}

func pt(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: vg.Length(y)} }

// Line draws lines through points x0, y0, x1, y1, ….
func (p Pen) Line(k color.Color, width float64, xys ...float64) {
	var ps []vg.Point
	for i := 0; i+1 < len(xys); i += 2 {
		ps = append(ps, pt(xys[i], xys[i+1]))
	}
	p.StrokeLines(draw.LineStyle{Color: k, Width: vg.Length(width)}, ps)
}

// Frame outlines a rectangle with its lower left corner at (x, y).
func (p Pen) Frame(k color.Color, width, x, y, w, h float64) {
	outline(p.Canvas, draw.LineStyle{Color: k, Width: vg.Length(width)}, vg.Rectangle{Min: pt(x, y), Max: pt(x+w, y+h)})
}

// Box fills a rectangle with a tint of its colour, and outlines it.
func (p Pen) Box(k color.RGBA, x, y, w, h float64) {
	p.SetColor(mix(White, k, 0.3))
	p.Fill(vg.Rectangle{Min: pt(x, y), Max: pt(x+w, y+h)}.Path())
	p.Frame(k, 0.6, x, y, w, h)
}

// Disc draws a disc, outlined in the colour.
func (p Pen) Disc(k color.Color, x, y, radius float64, fill color.Color) {
	p.SetColor(fill)
	p.Fill(circle(pt(x, y), vg.Length(radius)))
	p.SetLineStyle(draw.LineStyle{Color: k, Width: 0.7})
	p.Stroke(circle(pt(x, y), vg.Length(radius)))
}

// Mark draws the k-th mark, as in [Panel.Points].
func (p Pen) Mark(c color.Color, k int, x, y float64) { p.DrawGlyphNoClip(Mark(k, c), pt(x, y)) }

// Text writes a label that starts (-1), is centred (0) or ends (1) at x, with its middle at height y.
func (p Pen) Text(k color.Color, size float64, align int, s string, x, y float64) {
	sty := Style(size, text.XAlignment(-float64(align+1)/2), text.YCenter)
	sty.Color, *p.least = k, min(*p.least, size)
	p.FillText(sty, pt(x, y), s)
}

// Arrow draws a curve with a head from (x0, y0), in the direction out, to (x1, y1), from the direction in, both in
// degrees. Its handles are pull times as long as the distance; 0 gives a straight line.
func (p Pen) Arrow(k color.Color, width float64, dashed bool, x0, y0, out, x1, y1, in, pull float64) {
	if pull == 0 {
		out = math.Atan2(y1-y0, x1-x0) * 180 / math.Pi
		in = out + 180
	}
	sty := draw.LineStyle{Color: k, Width: vg.Length(width)}
	if dashed {
		sty.Dashes = []vg.Length{2.5, 1.8}
	}
	p.arrow(sty, 4.2, pt(x0, y0), out, pt(x1, y1), in, vg.Length(pull*math.Hypot(x1-x0, y1-y0)))
}

func (p Pen) arrow(
	sty draw.LineStyle, head vg.Length, a vg.Point, out float64, b vg.Point, in float64, pull vg.Length,
) {
	towards := func(degrees float64) vg.Point { s, c := math.Sincos(degrees * math.Pi / 180); return pt(c, s) }
	from, to := towards(out), towards(in)
	base := b.Add(to.Scale(0.8 * head))
	var path vg.Path
	path.Move(a)
	path.CubeTo(a.Add(from.Scale(pull)), base.Add(to.Scale(pull)), base)
	p.SetLineStyle(sty)
	p.Stroke(path)
	wing, back := vg.Point{X: to.Y, Y: -to.X}.Scale(0.38*head), b.Add(to.Scale(1.1*head))
	p.FillPolygon(sty.Color, []vg.Point{b, back.Add(wing), base, back.Sub(wing)})
}

// Node returns the label s_{i+1} of the position i, counted from 0.
func Node(i int) string { return "$s_{" + strconv.Itoa(i+1) + "}$" }

// A Forest is a plotter of positions in a row, with arcs over them from each parent to its child.
type Forest struct {
	Parents []int    // of each position, from 0; negative for a root
	Query   bool     // the last position is marked as the query
	Names   []string // of the positions, below them; without names they are s_1, …, s_T
}

// Causal returns a panel of a forest, at most w points wide.
func Causal(title string, f *Forest) *Panel {
	p := New(title)
	p.Plot = plot.New()
	p.BackgroundColor, p.names.hidden = nil, true
	if p.err = f.AddTo(p.Plot); p.err != nil {
		return p
	}
	p.shape = p.Y.Scale.(shaped).frame
	for child, parent := range f.Parents {
		if parent >= 0 {
			p.data = append(p.data, []string{"", strconv.Itoa(parent + 1), strconv.Itoa(child + 1), "", ""})
		}
	}
	return p
}

// AddTo adds the forest to an empty plot, whose axes it hides.
func (f *Forest) AddTo(p *plot.Plot) error {
	if err := f.check(); err != nil {
		return err
	}
	p.Add(f)
	p.HideAxes()
	p.X.Padding, p.Y.Padding = 0, 0
	p.Y.Scale = shaped{plot.LinearScale{}, f.frame}
	return nil
}

func (f *Forest) check() error {
	if len(f.Parents) == 0 {
		return fmt.Errorf("graph has no nodes")
	}
	if n := len(f.Names); n > 0 && n != len(f.Parents) {
		return fmt.Errorf("graph has %d names of %d nodes, want as many", n, len(f.Parents))
	}
	for i, p := range f.Parents {
		switch {
		case p < -1 || p >= i:
			return fmt.Errorf("graph edge %d -> %d: want a parent before its child, or -1 for a root", p, i)
		case f.Query && i == len(f.Parents)-1 && p != -1:
			return fmt.Errorf("graph edge %d -> %d: the query has no parent", p, i)
		}
	}
	return check(f.Names...)
}

// forestShape holds the lengths of the picture.
type forestShape struct{ step, radius, pull, arc, below, query float64 }

func (f *Forest) shape(w float64) (s forestShape) {
	n, most := float64(len(f.Parents)), 40.0
	if f.Names != nil {
		most = max(most, float64(longest(f.Names)))
	}
	s.step = min(most, w/n)
	s.radius = min(9.5, 0.38*s.step)
	far := 1.0
	for i, p := range f.Parents {
		if p >= 0 {
			far = max(far, float64(i-p)*s.step)
		}
	}
	// A cubic arc has 3/4 of the height of its handles. Flattening all alike avoids crossings.
	s.pull = min(0.42, min(90, max(60, w/4))/(0.65*far))
	s.arc = s.radius + 0.65*s.pull*far
	switch {
	case f.upright(s):
		s.below = float64(longest(f.Names))
	case s.radius < 7.5 || f.Names != nil:
		s.below = smallSize + 3
	}
	if f.Query && !f.upright(s) {
		s.query = smallSize + 4
	}
	return s
}

// upright reports whether the names are upright, as they are wider than a step.
func (f *Forest) upright(s forestShape) bool { return float64(longest(f.Names)) > s.step }

func (f *Forest) frame(w vg.Length) vg.Point {
	least := 5.0
	if f.Names != nil {
		least = smallSize + 1
	}
	n := float64(len(f.Parents))
	s := f.shape(max(float64(w), least*n))
	high := s.query + s.below + s.radius + max(s.arc, s.radius) + 2
	return vg.Point{X: snap(vg.Length(s.step * n)), Y: snap(vg.Length(high)) + pixel}
}

// GlyphBoxes reserves the space of the word query.
func (f *Forest) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: 5}}}}
}

func (f *Forest) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, 1, 0, 1 }

// Plot draws the forest into the canvas.
func (f *Forest) Plot(c draw.Canvas, _ *plot.Plot) {
	s, d := f.shape(float64(c.Size().X)), Pen{c, new(float64)}
	y := float64(c.Min.Y) + s.query + s.below + s.radius + 1
	x := func(i int) float64 { return float64(c.Min.X) + (float64(i)+0.5)*s.step }
	for i := range f.Parents {
		f.node(d, i, x(i), y, s)
	}
	sin, cos := math.Sincos(math.Pi / 3)
	sty := draw.LineStyle{Color: Colors[0], Width: 0.9}
	for i, p := range f.Parents {
		if p < 0 {
			continue
		}
		pull := vg.Length(s.pull * (x(i) - x(p)))
		d.arrow(sty, vg.Length(min(4, 0.28*s.step)), pt(x(p)+s.radius*cos, y+s.radius*sin), 60,
			pt(x(i)-s.radius*cos, y+s.radius*sin), 120, pull)
	}
}

// node draws node i about (x, y). Its label stands inside, or below a small node.
func (f *Forest) node(d Pen, i int, x, y float64, s forestShape) {
	last, fill := len(f.Parents)-1, White
	if f.Query && i == last {
		fill = color.RGBA{0xfd, 0xe3, 0xc4, 255}
	}
	d.Disc(Black, x, y, s.radius-0.35, fill)
	under := y - s.radius - 3 - smallSize/2
	if f.Query && i == last {
		d.SetLineStyle(draw.LineStyle{Color: Black, Width: 0.7})
		d.Stroke(circle(pt(x, y), vg.Length(s.radius-2.05)))
		if s.query > 0 && (f.Names == nil || f.Names[last] != "query") {
			d.Text(Black, smallSize, 0, "query", x, y-s.radius-s.below-smallSize/2-2)
		}
	}
	switch {
	case s.below == 0:
		d.Text(Black, labelSize, 0, Node(i), x, y+1)
	case f.Names != nil && f.upright(s):
		sty := Style(smallSize, text.XRight, text.YCenter)
		sty.Rotation = math.Pi / 2
		d.FillText(sty, pt(x, y-s.radius-3), f.Names[i])
	case f.Names != nil:
		d.Text(Black, smallSize, 0, f.Names[i], x, under)
	default:
		number, fits := strconv.Itoa(i+1), func(s string, room float64) bool { return TextWidth(s, smallSize) <= room-3 }
		if fits(Node(last), s.step) {
			number = Node(i)
		}
		if fits(strconv.Itoa(last+1), s.step) || i == 0 || (i+1)%5 == 0 {
			d.Text(Black, smallSize, 0, number, x, under)
		}
	}
}
