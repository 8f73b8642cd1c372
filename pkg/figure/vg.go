package figure

import (
	"bytes"
	"image/color"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi is twice the usual 96 dots per inch of a screen.
const dpi = 192

// pixel is the size of a dot in points. Frames and cells are whole multiples
// of it.
const pixel = 72.0 / dpi

// snap rounds x to whole pixels, with some slack for rounding errors below.
func snap(x float64) float64 { return math.Floor(x/pixel+1e-6) * pixel }

// PNG draws the figure at 192 dots per inch on white.
func (f *Figure) PNG() ([]byte, error) {
	return f.onCanvas(func(w, h vg.Length) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))}
	}, func(c vg.Canvas) surface { return canvas{c} })
}

// SVG draws the figure with its glyphs as outlines, since a browser without
// our font would set the text in another width.
func (f *Figure) SVG() ([]byte, error) {
	return f.onCanvas(func(w, h vg.Length) vg.CanvasWriterTo { return vgsvg.New(w, h) },
		func(c vg.Canvas) surface { return outlines{canvas{c}} })
}

func (f *Figure) onCanvas(open func(w, h vg.Length) vg.CanvasWriterTo, on func(vg.Canvas) surface) ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	c := open(vg.Length(l.w), vg.Length(l.h))
	p := page{on(c)}
	p.fill(rect{0, 0, l.w, l.h}.path(), white)
	l.draw(p)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// canvas is a surface on gonum's vector graphics.
type canvas struct{ vg.Canvas }

func (c canvas) stroke(p vg.Path, s stroke) {
	c.SetColor(s.color)
	c.SetLineWidth(vg.Length(s.width))
	var dash []vg.Length
	for _, d := range s.dash {
		dash = append(dash, vg.Length(d))
	}
	c.SetLineDash(dash, 0)
	c.Stroke(p)
}

func (c canvas) fill(p vg.Path, col color.RGBA) {
	c.SetColor(col)
	c.Fill(p)
}

func (c canvas) shade(p vg.Path, col color.RGBA) {
	c.SetColor(color.NRGBA{col.R, col.G, col.B, shadeOpacity * 256})
	c.Fill(p)
}

// moveTo puts the origin at (x, y), for text in the given colour, until the
// function that it returns is called.
func (c canvas) moveTo(x, y float64, turned bool, col color.RGBA) (back func()) {
	c.Push()
	c.SetColor(col)
	c.Translate(pt(x, y))
	if turned {
		c.Rotate(math.Pi / 2)
	}
	return c.Pop
}

func (c canvas) glyphs(f font.Face, x, y float64, turned bool, s string, col color.RGBA) {
	defer c.moveTo(x, y, turned, col)()
	c.FillString(f, vg.Point{}, s)
}

// outlines is a canvas that fills the outlines of glyphs.
type outlines struct{ canvas }

func (c outlines) glyphs(f font.Face, x, y float64, turned bool, s string, col color.RGBA) {
	defer c.moveTo(x, y, turned, col)()
	var b sfnt.Buffer
	var p vg.Path
	for i, r := range s {
		g, err := f.Face.GlyphIndex(&b, r)
		if err != nil {
			panic("figure: embedded font: " + err.Error())
		}
		// In units of 1/64 of 1/64 of the size: the buffer rounds to 1/64.
		segments, err := f.Face.LoadGlyph(&b, g, fixed.Int26_6(math.Round(64*64*float64(f.Font.Size))), nil)
		if err != nil {
			panic("figure: embedded font: " + err.Error())
		}
		glyph := string(r)
		at := f.Width(s[:i]+glyph) - f.Width(glyph) // with kerning
		place := func(q fixed.Point26_6) vg.Point {
			const unit = 64 * 64
			return vg.Point{X: at + vg.Length(q.X)/unit, Y: -vg.Length(q.Y) / unit}
		}
		for k, q := range segments {
			switch q.Op {
			case sfnt.SegmentOpMoveTo:
				if k > 0 {
					p.Close()
				}
				p.Move(place(q.Args[0]))
			case sfnt.SegmentOpLineTo:
				p.Line(place(q.Args[0]))
			case sfnt.SegmentOpQuadTo:
				p.QuadTo(place(q.Args[0]), place(q.Args[1]))
			case sfnt.SegmentOpCubeTo:
				p.CubeTo(place(q.Args[0]), place(q.Args[1]), place(q.Args[2]))
			}
		}
		if len(segments) > 0 {
			p.Close()
		}
	}
	c.Fill(p)
}
