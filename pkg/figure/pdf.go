package figure

import (
	"bytes"
	"image/color"
	"time"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// PDF draws the figure as one page of its size, with the used glyphs of its
// fonts embedded. Its bytes depend on the figure alone.
//
// gonum's own PDF canvas is not used because its text is limited to Windows
// code page 1252, without Greek letters and the minus sign.
func (f *Figure) PDF() ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: l.w, Ht: l.h}})
	doc.SetCreationDate(time.Unix(0, 0).UTC())
	doc.SetModificationDate(time.Unix(0, 0).UTC())
	doc.SetCatalogSort(true)
	doc.SetAutoPageBreak(false, 0)
	doc.SetTitle(f.ID, true)
	doc.AddPage()
	l.draw(page{&sheet{doc: doc, h: l.h}})
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// sheet is a surface on a PDF page, whose y points down.
type sheet struct {
	doc *fpdf.Fpdf
	h   float64
}

func (s *sheet) stroke(p vg.Path, st stroke) {
	s.doc.SetDrawColor(int(st.color.R), int(st.color.G), int(st.color.B))
	s.doc.SetLineWidth(st.width)
	s.doc.SetDashPattern(st.dash, 0)
	s.path(p, "D")
}

func (s *sheet) fill(p vg.Path, c color.RGBA) {
	s.doc.SetFillColor(int(c.R), int(c.G), int(c.B))
	s.path(p, "F")
}

func (s *sheet) shade(p vg.Path, c color.RGBA) {
	s.doc.SetAlpha(shadeOpacity, "Normal")
	s.fill(p, c)
	s.doc.SetAlpha(1, "Normal")
}

func (s *sheet) path(p vg.Path, style string) {
	for _, c := range p {
		x, y := float64(c.Pos.X), s.h-float64(c.Pos.Y)
		switch c.Type {
		case vg.MoveComp:
			s.doc.MoveTo(x, y)
		case vg.LineComp:
			s.doc.LineTo(x, y)
		case vg.CurveComp:
			a, b := c.Control[0], c.Control[1]
			s.doc.CurveBezierCubicTo(float64(a.X), s.h-float64(a.Y), float64(b.X), s.h-float64(b.Y), x, y)
		case vg.CloseComp:
			s.doc.ClosePath()
		}
	}
	s.doc.DrawPath(style)
}

func (s *sheet) glyphs(f font.Face, x, y float64, turned bool, t string, c color.RGBA) {
	style := ""
	if f.Font.Weight == xfont.WeightBold {
		style = "B"
	}
	if s.doc.GetFontDesc("Liberation", style).Ascent == 0 {
		var raw bytes.Buffer
		if _, err := f.Face.WriteSourceTo(nil, &raw); err != nil {
			panic("figure: embedded font: " + err.Error())
		}
		s.doc.AddUTF8FontFromBytes("Liberation", style, raw.Bytes())
	}
	s.doc.SetFont("Liberation", style, float64(f.Font.Size))
	s.doc.SetTextColor(int(c.R), int(c.G), int(c.B))
	y = s.h - y
	if turned {
		s.doc.TransformBegin()
		s.doc.TransformRotate(90, x, y)
		defer s.doc.TransformEnd()
	}
	s.doc.Text(x, y, t)
}
