package figure

import (
	"bytes"
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// PDF draws the figure as one page of its size, and embeds the glyphs that it uses. Its
// bytes depend on the figure alone.
func (f *Figure) PDF() ([]byte, error) {
	return f.write(func(w, h vg.Length) (vg.Canvas, func(io.Writer) error) {
		k := f.scale()
		size := fpdf.SizeType{Wd: k * float64(w), Ht: k * float64(h)}
		doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: size})
		doc.SetCreationDate(time.Unix(0, 0).UTC())
		doc.SetModificationDate(time.Unix(0, 0).UTC())
		doc.SetCatalogSort(true)
		doc.SetAutoPageBreak(false, 0)
		doc.SetTitle(f.name(), true)
		doc.SetSubject(f.Description(), true)
		doc.AddPage()
		if k == 1 {
			return newCanvas(&page{doc: doc, h: size.Ht, fonts: make(map[string]bool)}), doc.Output
		}
		doc.TransformBegin()
		doc.Transform(fpdf.TransformMatrix{A: k, D: k})
		return newCanvas(&page{doc: doc, h: size.Ht, fonts: make(map[string]bool)}), func(b io.Writer) error {
			doc.TransformEnd()
			return doc.Output(b)
		}
	})
}

// page is the device that writes a page of PDF, whose y points down.
type page struct {
	doc   *fpdf.Fpdf
	h     float64
	fonts map[string]bool // already added to doc
}

func (d *page) stroke(p vg.Path, s state) {
	d.doc.SetDrawColor(rgb(s))
	d.doc.SetLineWidth(float64(s.Width))
	var dashes []float64
	for _, x := range s.Dashes {
		dashes = append(dashes, float64(x))
	}
	d.doc.SetDashPattern(dashes, float64(s.DashOffs))
	d.path(p, s, "D")
}

func (d *page) fill(p vg.Path, s state) {
	d.doc.SetFillColor(rgb(s))
	d.path(p, s, "F")
}

func rgb(s state) (r, g, b int) {
	c := s.color()
	return int(c.R), int(c.G), int(c.B)
}

func (d *page) path(p vg.Path, s state, style string) {
	if a := s.color().A; a < 255 {
		d.doc.SetAlpha(float64(a)/255, "Normal")
		defer d.doc.SetAlpha(1, "Normal")
	}
	for _, c := range p {
		x, y := float64(c.Pos.X), d.h-float64(c.Pos.Y)
		switch c.Type {
		case vg.MoveComp:
			d.doc.MoveTo(x, y)
		case vg.LineComp:
			d.doc.LineTo(x, y)
		case vg.CurveComp:
			a, b := c.Control[0], c.Control[1]
			d.doc.CurveBezierCubicTo(float64(a.X), d.h-float64(a.Y), float64(b.X), d.h-float64(b.Y), x, y)
		case vg.CloseComp:
			d.doc.ClosePath()
		}
	}
	d.doc.DrawPath(style)
}

func (d *page) glyphs(f font.Face, text string, s state) {
	name := f.Name()
	if !d.fonts[name] {
		var raw bytes.Buffer
		if _, err := f.Face.WriteSourceTo(nil, &raw); err != nil {
			d.doc.SetErrorf("font %s: %w", name, err)
			return
		}
		d.doc.AddUTF8FontFromBytes(name, "", raw.Bytes())
		d.fonts[name] = true
	}
	d.doc.SetFont(name, "", float64(f.Font.Size))
	d.doc.SetTextColor(rgb(s))
	m := s.at
	if m == gg.Translate(m.X0, m.Y0) {
		d.doc.Text(m.X0, d.h-m.Y0, text)
		return
	}
	d.doc.TransformBegin()
	d.doc.Transform(fpdf.TransformMatrix{A: m.XX, B: m.YX, C: m.XY, D: m.YY, E: m.X0, F: m.Y0})
	d.doc.Text(0, d.h, text)
	d.doc.TransformEnd()
}
