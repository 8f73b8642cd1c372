package figure

import (
	"fmt"
	"hash/fnv"
	"html"
	"image/color"
	"io"
	"strconv"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// SVG draws the figure with its glyphs as outlines, since a browser without our font would set
// the text in another width. The file has the title and the description of the figure.
func (f *Figure) SVG() ([]byte, error) {
	return f.write(func(w, h vg.Length) (vg.Canvas, func(io.Writer) error) {
		d := &svg{h: float64(h), ids: make(map[string]string)}
		c := newCanvas(d)
		c.SetColor(white)
		c.Fill(vg.Rectangle{Max: vg.Point{X: w, Y: h}}.Path())
		return c, func(b io.Writer) error {
			fmt.Fprint(b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" `)
			k := vg.Length(f.scale())
			fmt.Fprintf(b, `width="%spt" height="%spt" viewBox="0 0 %s %s">`, num(k*w), num(k*h), num(w), num(h))
			title, description := html.EscapeString(f.name()), html.EscapeString(f.Description())
			fmt.Fprintf(b, "\n<title>%s</title>\n<desc>%s</desc>\n", title, description)
			fmt.Fprintf(b, "<defs>\n%s</defs>\n%s</svg>\n", d.defs.String(), d.body.String())
			return d.err
		}
	})
}

// svg is the device that writes SVG, whose y points down.
type svg struct {
	h          float64
	defs, body strings.Builder
	ids        map[string]string // ids by the outlines in defs
	err        error
}

func (d *svg) stroke(p vg.Path, s state) {
	d.printf(`<path d="%s" fill="none"%s stroke-width="%s"`, d.data(p), paint("stroke", s), num(s.Width))
	if len(s.Dashes) > 0 {
		var lengths []string
		for _, x := range s.Dashes {
			lengths = append(lengths, num(x))
		}
		d.printf(` stroke-dasharray="%s" stroke-dashoffset="%s"`, strings.Join(lengths, " "), num(s.DashOffs))
	}
	d.printf("/>\n")
}

func (d *svg) fill(p vg.Path, s state) { d.printf("<path d=\"%s\"%s/>\n", d.data(p), paint("fill", s)) }

func (d *svg) printf(format string, args ...any) { fmt.Fprintf(&d.body, format, args...) }

// paint returns the attributes of the colour of s.
func paint(property string, s state) string {
	c := s.color()
	p := fmt.Sprintf(` %s="#%02x%02x%02x"`, property, c.R, c.G, c.B)
	if c.A < 255 {
		p += fmt.Sprintf(` %s-opacity="%s"`, property, opacity(c))
	}
	return p
}

func opacity(c color.NRGBA) string { return num(float64(c.A) / 255) }

// data returns a path in the syntax of the attribute d.
func (d *svg) data(p vg.Path) string {
	var b strings.Builder
	at := func(q vg.Point) string { return num(q.X) + " " + num(d.h-float64(q.Y)) }
	var last vg.Point
	for _, c := range p {
		switch {
		case c.Type == vg.MoveComp:
			b.WriteString("M" + at(c.Pos))
		case c.Type == vg.LineComp && c.Pos.Y == last.Y:
			b.WriteString("H" + num(c.Pos.X))
		case c.Type == vg.LineComp && c.Pos.X == last.X:
			b.WriteString("V" + num(d.h-float64(c.Pos.Y)))
		case c.Type == vg.LineComp:
			b.WriteString("L" + at(c.Pos))
		case c.Type == vg.CurveComp:
			b.WriteString("C" + at(c.Control[0]) + " " + at(c.Control[1]) + " " + at(c.Pos))
		case c.Type == vg.CloseComp:
			b.WriteString("Z")
		}
		last = c.Pos
	}
	return b.String()
}

// glyphs sets a string by references to the outlines of its glyphs.
func (d *svg) glyphs(f font.Face, text string, s state) {
	unit := float64(f.Font.Size) / float64(f.Face.UnitsPerEm())
	m := s.at
	var coefficients []string
	for _, x := range []float64{m.XX * unit, -m.YX * unit, -m.XY * unit, m.YY * unit} {
		coefficients = append(coefficients, strconv.FormatFloat(x+0, 'g', 5, 64))
	}
	coefficients = append(coefficients, num(m.X0), num(d.h-m.Y0))
	d.printf(`<g transform="matrix(%s)"%s>`, strings.Join(coefficients, " "), paint("fill", s))
	for i, r := range text {
		glyph := string(r)
		id, err := d.glyph(f, r)
		if err != nil {
			d.err = fmt.Errorf("font %s: %w", f.Name(), err)
			return
		}
		if id == "" {
			continue
		}
		x := float64(f.Width(text[:i]+glyph)-f.Width(glyph)) / unit // with kerning
		d.printf(`<use href="#%s" x="%.0f"/>`, id, x)
	}
	d.body.WriteString("</g>\n")
}

// glyph returns the id of a glyph's outline, or "" for a blank glyph. The id
// depends on the outline alone, so that several files can be part of one web page.
func (d *svg) glyph(f font.Face, r rune) (string, error) {
	var buf sfnt.Buffer
	g, err := f.Face.GlyphIndex(&buf, r)
	if err != nil {
		return "", err
	}
	// At this size the 26.6 numbers of the outline are whole units.
	segments, err := f.Face.LoadGlyph(&buf, g, fixed.I(int(f.Face.UnitsPerEm())), nil)
	if err != nil || len(segments) == 0 {
		return "", err
	}
	var b strings.Builder
	for k, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo && k > 0 {
			b.WriteString("Z")
		}
		b.WriteByte("MLQC"[s.Op])
		for j, q := range s.Args[:[]int{1, 1, 2, 3}[s.Op]] {
			if j > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%d %d", q.X.Round(), q.Y.Round())
		}
	}
	outline := b.String() + "Z"
	if d.ids[outline] == "" {
		h := fnv.New64a()
		h.Write([]byte(outline))
		d.ids[outline] = "g" + strconv.FormatUint(h.Sum64()>>24, 36)
		fmt.Fprintf(&d.defs, `<path id="%s" d="%s"/>`+"\n", d.ids[outline], outline)
	}
	return d.ids[outline], nil
}
