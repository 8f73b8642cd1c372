package figure

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// TeX returns the figure as one tikzpicture, with curves as axes of pgfplots.
// It needs \usepackage{pgfplots}; text is in the document's fonts. All names
// it defines are local to the picture.
func (f *Figure) TeX() ([]byte, error) {
	l, err := f.layout()
	if err != nil {
		return nil, err
	}
	t := &tikz{colors: make(map[string]color.RGBA)}
	l.draw(t)
	var b strings.Builder
	fmt.Fprintf(&b, "%% Figure %s. Needs \\usepackage{pgfplots} and \\pgfplotsset{compat=1.18}.\n", f.ID)
	fmt.Fprintf(&b, "\\begin{tikzpicture}[x=1bp,y=1bp,line cap=butt,line join=miter]\n")
	var names []string
	for n := range t.colors {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		c := t.colors[n]
		fmt.Fprintf(&b, "\\definecolor{%s}{RGB}{%d,%d,%d}\n", n, c.R, c.G, c.B)
	}
	fmt.Fprintf(&b, "\\useasboundingbox (0,0) rectangle (%s,%s);\n", num(l.w), num(l.h))
	b.WriteString(t.b.String())
	b.WriteString("\\end{tikzpicture}%\n")
	return []byte(b.String()), nil
}

// tikz is the pen that writes LaTeX.
type tikz struct {
	b      strings.Builder
	colors map[string]color.RGBA
}

// num writes a length to 1/1000 of its unit.
func num(x float64) string {
	s := strconv.FormatFloat(x, 'f', 3, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		s = "0"
	}
	return s
}

func (t *tikz) color(c color.RGBA) string {
	switch c {
	case black:
		return "black"
	case white:
		return "white"
	}
	return t.define(c)
}

// define names a colour after its bytes.
func (t *tikz) define(c color.RGBA) string {
	n := fmt.Sprintf("fig%02x%02x%02x", c.R, c.G, c.B)
	t.colors[n] = c
	return n
}

func xy(p vg.Point) string { return "(" + num(float64(p.X)) + "," + num(float64(p.Y)) + ")" }

func (t *tikz) path(p vg.Path) {
	for i, c := range p {
		switch c.Type {
		case vg.MoveComp:
			if i > 0 {
				t.b.WriteString(" ")
			}
			t.b.WriteString(xy(c.Pos))
		case vg.LineComp:
			t.b.WriteString(" -- " + xy(c.Pos))
		case vg.CurveComp:
			t.b.WriteString(" .. controls " + xy(c.Control[0]) + " and " + xy(c.Control[1]) + " .. " + xy(c.Pos))
		case vg.CloseComp:
			t.b.WriteString(" -- cycle")
		}
	}
	t.b.WriteString(";\n")
}

func (t *tikz) stroke(p vg.Path, s stroke) {
	fmt.Fprintf(&t.b, "\\draw[%s] ", t.line(s))
	t.path(p)
}

// line returns the options of a stroke.
func (t *tikz) line(s stroke) string {
	o := t.color(s.color) + ",line width=" + num(s.width) + "bp"
	if len(s.dash) > 0 {
		o += ",dash pattern="
		for i, d := range s.dash {
			o += []string{"on ", "off "}[i%2] + num(d) + "bp "
		}
	}
	return strings.TrimSpace(o)
}

func (t *tikz) fill(p vg.Path, c color.RGBA) {
	fmt.Fprintf(&t.b, "\\fill[%s] ", t.color(c))
	t.path(p)
}

func (t *tikz) shade(p vg.Path, c color.RGBA) {
	fmt.Fprintf(&t.b, "\\fill[%s,fill opacity=%s] ", t.color(c), num(shadeOpacity))
	t.path(p)
}

// texFont selects the document's font at the given size.
func texFont(size float64, bold bool) string {
	f := fmt.Sprintf("\\fontsize{%s}{%s}\\selectfont", num(size), num(1.2*size))
	if bold {
		f += "\\bfseries"
	}
	return f
}

func (t *tikz) text(l Label, x, y float64, s textStyle) {
	// The anchors refer to the line of capitals, as on the page.
	v := map[anchor]string{bottom: "base", middle: "mid", top: "north"}[s.v]
	h := map[anchor]string{left: " west", middle: "", right: " east"}[s.h]
	if s.v == top {
		// North of the box depends on its tallest letter: hang the baseline.
		v = "base"
		if s.turned {
			x += capHeight * s.size
		} else {
			y -= capHeight * s.size
		}
	}
	o := "anchor=" + v + h + ",inner sep=0bp,outer sep=0bp,font=" + texFont(s.size, s.bold)
	if s.turned {
		o += ",rotate=90"
	}
	if s.color != black {
		o += ",text=" + t.color(s.color)
	}
	fmt.Fprintf(&t.b, "\\node[%s] at %s {%s};\n", o, xy(pt(x, y)), l.source())
}

// cells writes one short macro per run of equal colour, which TeX reads ten
// times faster than a matrix plot of pgfplots. Its arguments are the column and
// row of the run, its width and height in cells, and its colour.
func (t *tikz) cells(r rect, m [][]float64, s scale) {
	cw, ch := r.w/float64(len(m[0])), r.h/float64(len(m))
	fmt.Fprintf(&t.b, "\\begin{scope}[shift={(%s,%s)},x=%sbp,y=-%sbp]\n", num(r.x), num(r.top()), num(cw), num(ch))
	t.b.WriteString("\\def\\figcell#1 #2 #3 #4 #5;{\\pgfsetfillcolor{fig#5}\\pgfpathrectangle{\\pgfpointxy{#1}{#2}}{\\pgfpointxy{#3}{#4}}\\pgfusepath{fill}}\n")
	eachRun(m, s, cw, ch, func(i, j int, w, h float64, c color.RGBA) {
		fmt.Fprintf(&t.b, "\\figcell %d %d %s %s %s;\n", j, i, num(w/cw), num(h/ch), strings.TrimPrefix(t.define(c), "fig"))
	})
	t.b.WriteString("\\end{scope}\n")
}

// short writes a value to six digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
