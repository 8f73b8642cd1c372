package figure

import (
	"bytes"
	"image/color"
	"math"

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
	})
}

// SVG draws the figure with live text in Liberation Sans, for which browsers
// without it take Arial or Helvetica of the same metrics.
func (f *Figure) SVG() ([]byte, error) {
	return f.onCanvas(func(w, h vg.Length) vg.CanvasWriterTo { return vgsvg.New(w, h) })
}

func (f *Figure) onCanvas(open func(w, h vg.Length) vg.CanvasWriterTo) ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	c := open(vg.Length(l.w), vg.Length(l.h))
	p := page{canvas{c}}
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

func (c canvas) glyphs(f font.Face, x, y float64, turned bool, s string, col color.RGBA) {
	c.Push()
	defer c.Pop()
	c.SetColor(col)
	c.Translate(pt(x, y))
	if turned {
		c.Rotate(math.Pi / 2)
	}
	c.FillString(f, vg.Point{}, s)
}
