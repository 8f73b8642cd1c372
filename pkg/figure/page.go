package figure

import (
	"image/color"
	"math"
	"sync"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
)

// A surface shows shapes and strings of glyphs.
type surface interface {
	stroke(p vg.Path, s stroke)
	fill(p vg.Path, c color.RGBA)
	shade(p vg.Path, c color.RGBA)
	glyphs(f font.Face, x, y float64, turned bool, s string, c color.RGBA)
}

// page is the pen that sets text itself.
type page struct{ surface }

var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

func face(size float64, bold bool) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return fonts().Lookup(f, vg.Length(size))
}

func hasGlyph(c rune) bool {
	var b sfnt.Buffer
	i, err := face(labelSize, false).Face.GlyphIndex(&b, c)
	return err == nil && i != 0
}

// Raised and lowered text is smaller and moved by these parts of the size.
const (
	scriptScale = 0.72
	raise       = 0.36
	lower       = 0.16
	capHeight   = 0.69 // of Liberation Sans
	xHeight     = 0.53
	descent     = 0.21
)

func (r run) face(size float64, bold bool) font.Face {
	if r.level != 0 {
		size *= scriptScale
	}
	return face(size, bold)
}

// textWidth returns the width of s as set by page.text.
func textWidth(s string, size float64, bold bool) float64 {
	w := 0.0
	for _, r := range runs(s) {
		f := r.face(size, bold)
		w += float64(f.Width(r.text))
	}
	return w
}

func (p page) text(l Label, x, y float64, s textStyle) {
	along := -float64(s.h+1) / 2 * textWidth(l.Text, s.size, s.bold)
	up := 0.0 // of the baseline; vertical anchors refer to the capitals
	switch s.v {
	case middle:
		up = -capHeight / 2 * s.size
	case top:
		up = -capHeight * s.size
	}
	put := func(f font.Face, dx, dy float64, t string) {
		if s.turned {
			p.glyphs(f, x-dy, y+dx, true, t, s.color)
		} else {
			p.glyphs(f, x+dx, y+dy, false, t, s.color)
		}
	}
	for _, r := range runs(l.Text) {
		f := r.face(s.size, s.bold)
		dy := up
		switch r.level {
		case 1:
			dy += raise * s.size
		case -1:
			dy -= lower * s.size
		}
		put(f, along, dy, r.text)
		w := float64(f.Width(r.text))
		if r.accent != 0 {
			// The spacing accent is drawn for a letter of x-height.
			g := string(accents[r.accent].glyph)
			size := float64(f.Font.Size)
			lift := max(0, glyphTop(f, r.text)-xHeight*size)
			put(f, along+(w-float64(f.Width(g)))/2, dy+lift, g)
		}
		along += w
	}
}

// glyphTop returns the height of the first glyph of s above the baseline, that
// of a capital letter where the font has none.
func glyphTop(f font.Face, s string) float64 {
	var b sfnt.Buffer
	size := float64(f.Font.Size)
	c, _ := utf8.DecodeRuneInString(s)
	i, err := f.Face.GlyphIndex(&b, c)
	if err != nil {
		return capHeight * size
	}
	box, _, err := f.Face.GlyphBounds(&b, i, fixed.Int26_6(math.Round(64*size)), xfont.HintingNone)
	if err != nil {
		return capHeight * size
	}
	return -float64(box.Min.Y) / 64
}

func (p page) cells(r rect, m [][]float64, s scale) {
	cw, ch := r.w/float64(len(m[0])), r.h/float64(len(m))
	eachRun(m, s, cw, ch, func(i, j int, w, h float64, c color.RGBA) {
		top := r.top() - float64(i)*ch
		p.fill(rect{r.x + float64(j)*cw, top - h, w, h}.path(), c)
	})
}
