package figure

import (
	"image/color"
	"math"
	"strings"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Sizes of text at the final size of the figure.
const (
	labelSize = 8
	smallSize = 7
)

// Heights and widths in Liberation Sans, in parts of the size of type.
const (
	capHeight    = 0.69
	accentHeight = 0.85
	xHeight      = 0.53
	descent      = 0.21
	floorWidth   = 0.34 // of a floor bracket
	linePitch    = 1.15 // between the baselines of two lines
)

// Scale of raised and lowered text, and its shifts in parts of the size.
const (
	scriptScale = 0.72
	raise       = 0.36
	lower       = 0.16
)

// textStyle returns a style in the font of figures at a size in points. A text extends
// from its baseline to the height of capitals.
func textStyle(size float64, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: black, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)},
		XAlign: x, YAlign: y, Handler: typesetter{ascent: capHeight},
	}
}

// Draw writes the label at p in a style, and its TeX form on a canvas for LaTeX.
func (l Label) Draw(c vg.Canvas, sty text.Style, p vg.Point) {
	h := typesetter{ascent: capHeight, label: l}
	h.Draw(c, l.Text, sty, p)
}

// drawWithin is Draw with a largest width in LaTeX: the given room, or the width of the
// label on the screen if that is larger. A wider label is narrowed.
func (l Label) drawWithin(c vg.Canvas, sty text.Style, p vg.Point, room vg.Length) {
	h := typesetter{ascent: capHeight, label: l, room: max(room, textWidth(l.Text, sty.Font))}
	h.Draw(c, l.Text, sty, p)
}

// Width returns the width of the label on the screen, in points, at a size of type.
func (l Label) Width(size float64) float64 {
	return float64(textWidth(l.Text, textStyle(size, text.XLeft, text.YBottom).Font))
}

// typesetter is a text.Handler that sets the scripts and accents of a Label
// from ordinary glyphs, and the label's TeX form in LaTeX.
type typesetter struct {
	ascent, descent float64   // of its boxes, in parts of the size
	label           Label     // has the TeX form of its Text; other text is escaped
	room            vg.Length // largest width in LaTeX; 0 means no limit
}

func (typesetter) Cache() *font.Cache { return font.DefaultCache }

func (t typesetter) Extents(f font.Font) font.Extents {
	up, down := vg.Length(t.ascent)*f.Size, vg.Length(t.descent)*f.Size
	e := font.Extents{Ascent: up, Descent: down, Height: up + down}
	if down == 0 { // gonum has no other distance of lines
		e.Height = linePitch * f.Size
	}
	return e
}

func (typesetter) Lines(s string) []string { return strings.Split(s, "\n") }

func (t typesetter) Box(s string, f font.Font) (width, height, depth vg.Length) {
	e := t.Extents(f)
	return textWidth(s, f), e.Ascent, e.Descent
}

func (t typesetter) Draw(c vg.Canvas, s string, sty text.Style, p vg.Point) {
	if s == "" {
		return
	}
	sin, cos := math.Sincos(sty.Rotation)
	if lines := t.Lines(s); len(lines) > 1 {
		t.drawLines(c, lines, sty, p)
		return
	}
	e := t.Extents(sty.Font)
	up := vg.Length(sty.YAlign) * (e.Ascent + e.Descent) // shift of the baseline
	if d, at := latex(c); d != nil {
		l := t.label
		if l.Text != s {
			l = Text(s)
		}
		tex, err := l.tex()
		if err != nil && d.err == nil {
			d.err = err
		}
		sty.Rotation += turn(at)
		scale := vg.Length(math.Hypot(at.XX, at.YX))
		sty.Font.Size *= scale
		d.text(tex, sty, mapped(at, vg.Point{X: p.X - up*vg.Length(sin), Y: p.Y + up*vg.Length(cos)}), t.room*scale)
		return
	}
	c.Push()
	defer c.Pop()
	c.SetColor(sty.Color)
	c.Translate(p)
	if sty.Rotation != 0 {
		c.Rotate(sty.Rotation)
	}
	x := vg.Length(sty.XAlign) * textWidth(s, sty.Font)
	for _, r := range runs(s) {
		f := r.face(sty.Font)
		y := up
		switch r.level {
		case 1:
			y += raise * sty.Font.Size
		case -1:
			y -= lower * sty.Font.Size
		}
		w := r.width(f)
		if r.foot != 0 {
			r.floor(c, f, vg.Point{X: x, Y: y}, sty.Color)
			x += w
			continue
		}
		c.FillString(f, vg.Point{X: x, Y: y}, r.text)
		if r.accent != 0 {
			// The spacing accent fits a letter of x-height.
			g := string(accents[r.accent].glyph)
			lift := max(0, glyphTop(f, r.text)-xHeight*f.Font.Size)
			c.FillString(f, vg.Point{X: x + (w-f.Width(g))/2, Y: y + lift}, g)
		}
		x += w
	}
}

// drawLines draws lines below each other. The top of the first one or the foot of the last one is at p.
func (t typesetter) drawLines(c vg.Canvas, lines []string, sty text.Style, p vg.Point) {
	sin, cos := math.Sincos(sty.Rotation)
	pitch, last := t.Extents(sty.Font).Height, vg.Length(len(lines)-1)
	for i, line := range lines {
		rise := pitch * (last - vg.Length(i) + vg.Length(sty.YAlign)*last)
		t.Draw(c, line, sty, vg.Point{X: p.X - rise*vg.Length(sin), Y: p.Y + rise*vg.Length(cos)})
	}
}

func (r run) face(f font.Font) font.Face {
	if r.level != 0 {
		f.Size *= scriptScale
	}
	return font.DefaultCache.Lookup(f, f.Size)
}

func (r run) width(f font.Face) vg.Length {
	if r.foot != 0 {
		return floorWidth * f.Font.Size
	}
	return f.Width(r.text)
}

// floor draws a floor bracket whose left end on the baseline is at p.
func (r run) floor(c vg.Canvas, f font.Face, p vg.Point, k color.Color) {
	const bar, foot = 0.11, 0.19 // margin of the bar, length of the foot
	size := f.Font.Size
	x, inner := p.X+bar*size, p.X+(bar+foot)*size
	if r.foot < 0 {
		x, inner = p.X+(floorWidth-bar)*size, p.X+(floorWidth-bar-foot)*size
	}
	var path vg.Path
	path.Move(vg.Point{X: x, Y: p.Y + accentHeight*size})
	path.Line(vg.Point{X: x, Y: p.Y - descent*size})
	path.Line(vg.Point{X: inner, Y: p.Y - descent*size})
	c.SetColor(k)
	c.SetLineWidth(0.075 * size)
	c.SetLineDash(nil, 0)
	c.Stroke(path)
}

// textWidth returns the width of s on the screen.
func textWidth(s string, f font.Font) (w vg.Length) {
	for _, r := range runs(s) {
		w += r.width(r.face(f))
	}
	return w
}

func hasGlyph(c rune) bool {
	var b sfnt.Buffer
	f := run{}.face(textStyle(labelSize, text.XLeft, text.YBottom).Font)
	i, err := f.Face.GlyphIndex(&b, c)
	return err == nil && i != 0
}

// glyphTop returns the height of the first glyph of s above the baseline, or the
// height of a capital letter if the font has no such glyph.
func glyphTop(f font.Face, s string) vg.Length {
	var b sfnt.Buffer
	size := f.Font.Size
	c, _ := utf8.DecodeRuneInString(s)
	i, err1 := f.Face.GlyphIndex(&b, c)
	box, _, err2 := f.Face.GlyphBounds(&b, i, fixed.Int26_6(math.Round(64*float64(size))), xfont.HintingNone)
	if err1 != nil || err2 != nil {
		return capHeight * size
	}
	return -vg.Length(box.Min.Y) / 64
}
