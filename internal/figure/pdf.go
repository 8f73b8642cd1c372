package figure

import (
	"bytes"
	"image"
	"image/color"
	"io"
	"math"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// pdfCanvas is a page with the glyphs that it uses. The canvas of gonum has letters of Western Europe only, whole
// fonts of 200 kB, and the time.
type pdfCanvas struct {
	*fpdf.Fpdf
	w, h  vg.Length
	fonts map[string]bool
	color color.NRGBA
	width vg.Length
	saved []color.NRGBA
}

func newPDF(w, h vg.Length, title, subject string) *pdfCanvas {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: float64(w), Ht: float64(h)}})
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetCatalogSort(true)
	doc.SetAutoPageBreak(false, 0)
	doc.SetTitle(title, true)
	doc.SetSubject(subject, true)
	doc.AddPage()
	c := &pdfCanvas{Fpdf: doc, w: w, h: h, fonts: map[string]bool{}}
	vg.Initialize(c)
	return c
}

// The y of fpdf points down. Its transformations are about our origin, (0, h) there.

func (c *pdfCanvas) at(p vg.Point) (x, y float64) { return float64(p.X), float64(c.h - p.Y) }

func (c *pdfCanvas) Size() (w, h vg.Length)   { return c.w, c.h }
func (c *pdfCanvas) Translate(p vg.Point)     { c.TransformTranslate(float64(p.X), -float64(p.Y)) }
func (c *pdfCanvas) Rotate(rad float64)       { c.TransformRotate(rad*180/math.Pi, 0, float64(c.h)) }
func (c *pdfCanvas) Scale(x, y float64)       { c.TransformScale(100*x, 100*y, 0, float64(c.h)) }
func (c *pdfCanvas) SetLineWidth(w vg.Length) { c.width = w; c.Fpdf.SetLineWidth(float64(w)) }

func (c *pdfCanvas) SetLineDash(dashes []vg.Length, offset vg.Length) {
	var all []float64
	for _, d := range dashes {
		all = append(all, float64(d))
	}
	c.SetDashPattern(all, float64(offset))
}

func (c *pdfCanvas) SetColor(k color.Color) {
	if k == nil {
		k = color.Black
	}
	c.color = color.NRGBAModel.Convert(k).(color.NRGBA)
	r, g, b := int(c.color.R), int(c.color.G), int(c.color.B)
	c.SetDrawColor(r, g, b)
	c.SetFillColor(r, g, b)
	c.SetTextColor(r, g, b)
}

func (c *pdfCanvas) Push() { c.saved = append(c.saved, c.color); c.TransformBegin() }

func (c *pdfCanvas) Pop() {
	c.TransformEnd()
	c.SetColor(c.saved[len(c.saved)-1])
	c.saved = c.saved[:len(c.saved)-1]
}

func (c *pdfCanvas) Stroke(p vg.Path) {
	if c.width > 0 {
		c.path(p, "D")
	}
}

func (c *pdfCanvas) Fill(p vg.Path) { c.path(p, "F") }

func (c *pdfCanvas) path(p vg.Path, style string) {
	if c.color.A < 255 {
		c.SetAlpha(float64(c.color.A)/255, "Normal")
		defer c.SetAlpha(1, "Normal")
	}
	for _, q := range curves(p) {
		x, y := c.at(q.Pos)
		switch q.Type {
		case vg.MoveComp:
			c.MoveTo(x, y)
		case vg.LineComp:
			c.LineTo(x, y)
		case vg.CurveComp:
			x0, y0 := c.at(q.Control[0])
			x1, y1 := c.at(q.Control[1])
			c.CurveBezierCubicTo(x0, y0, x1, y1, x, y)
		case vg.CloseComp:
			c.ClosePath()
		}
	}
	c.DrawPath(style)
}

func (c *pdfCanvas) FillString(f font.Face, p vg.Point, s string) {
	name := f.Name()
	if !c.fonts[name] {
		var raw bytes.Buffer
		if _, err := f.Face.WriteSourceTo(nil, &raw); err != nil {
			c.SetError(err)
		}
		c.AddUTF8FontFromBytes(name, "", raw.Bytes())
		c.fonts[name] = true
	}
	c.SetFont(name, "", float64(f.Font.Size))
	x, y := c.at(p)
	c.Text(x, y, s)
}

func (c *pdfCanvas) DrawImage(r vg.Rectangle, m image.Image) { pixels(c, r, m) }

func (c *pdfCanvas) WriteTo(w io.Writer) (int64, error) { return 0, c.Output(w) }
