package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TeX returns the figure as one tikzpicture in the document's fonts, with curves in axes of
// pgfplots. All names that it defines are local to the picture. A document that defines a colour
// before, such as figblue, changes it.
func (f *Figure) TeX() ([]byte, error) {
	return f.write(func(w, h vg.Length) (vg.Canvas, func(io.Writer) error) {
		t := &tikz{colors: make(map[string]color.NRGBA)}
		return newCanvas(t), func(b io.Writer) error {
			fmt.Fprintf(b, "%% Figure %s. Needs \\usepackage{pgfplots} and \\pgfplotsset{compat=1.18}.\n", f.ID)
			begin, end := "", ""
			if f.scale() != 1 {
				begin, end = "\\setbox0\\hbox\\bgroup", "\\egroup\\scalebox{"+num(f.scale())+"}{\\box0}"
			}
			fmt.Fprintf(b, "%s\n%s\n%s\\begin{tikzpicture}[x=1bp,y=1bp,line cap=butt,line join=miter,"+
				"figtext/.style={inner sep=0bp,outer sep=0bp}]\n", inert, unstyled, begin)
			if t.narrowed {
				fmt.Fprintf(b, "%s\n", narrow)
			}
			for _, n := range slices.Sorted(maps.Keys(t.colors)) {
				c := t.colors[n]
				fmt.Fprintf(b, "\\providecolor{%s}{RGB}{%d,%d,%d}\n", n, c.R, c.G, c.B)
			}
			fmt.Fprintf(b, "\\useasboundingbox (0,0) rectangle (%s,%s);\n", num(w), num(h))
			fmt.Fprintf(b, "%s\\end{tikzpicture}%s\\endgroup%%\n", t.b.String(), end)
			return t.err
		}
	})
}

// tikz is the device that writes LaTeX.
type tikz struct {
	b        strings.Builder
	colors   map[string]color.NRGBA
	narrowed bool  // some text has a limited width
	err      error // the first error
}

// inert begins a group in which the characters of TikZ's syntax are ordinary.
// Languages of babel make some of them active, such as the semicolon in French.
const inert = "\\begingroup\\catcode`\\:12\\catcode`\\;12\\catcode`\\!12\\catcode`\\?12\\catcode`\\\"12" +
	"\\catcode`\\<12\\catcode`\\>12\\catcode`\\|12\\catcode`\\=12\\catcode`\\'12 %"

// unstyled empties the styles of every part of a picture, which the document may have changed.
var unstyled = emptied("tikzset", "picture", "scope", "path", "node", "rectangle node", "mark") + "%\n" +
	emptied("pgfplotsset", "axis", "boxed x axis", "boxed y axis", "linear axis", "semilogx axis", "semilogy axis",
		"loglog axis", "axis plot", "axis plot post", "axis plot no 1", "mark", "tick", "minor tick", "major tick",
		"x tick", "y tick", "minor x tick", "minor y tick", "major x tick", "major y tick", "tick label", "x tick label",
		"y tick label", "axis label", "axis x label", "axis y label", "axis grid", "major grid", "axis x grid",
		"axis y grid", "major x grid", "major y grid", "outer x axis line", "outer y axis line", "x axis line",
		"y axis line", "error bar", "axis title") + "%"

// emptied returns a command that empties the styles of the given parts.
func emptied(command string, parts ...string) string {
	return "\\" + command + "{every " + strings.Join(parts, "/.style={},every ") + "/.style={}}"
}

// narrow defines \fignarrow{width}{text}, which narrows text that is wider than the width.
const narrow = `\def\fignarrow#1#2{\setbox0=\hbox{#2}\ifdim\wd0>#1\resizebox{#1}{\height}{\box0}\else\box0\fi}`

// num writes a length to three digits after the point.
func num[T ~float64](x T) string {
	s := strconv.FormatFloat(float64(x), 'f', 3, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		s = "0"
	}
	return s
}

// short writes a value to six digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// colorNames are the names of colours in LaTeX. Others have names that are made of their bytes.
var colorNames = map[color.RGBA]string{
	black: "black", white: "white", grey: "figgrey", lightGrey: "figlightgrey", highlight: "figred", queryFill: "figquery",
	lineColors[0]: "figblue", lineColors[1]: "figvermilion", lineColors[2]: "figgreen",
	lineColors[3]: "figpurple", lineColors[4]: "figorange", lineColors[5]: "figsky",
}

// color returns the name of a colour without its opacity.
func (t *tikz) color(x color.Color) string {
	c := nrgba(x)
	c.A = 255
	name := colorNames[color.RGBA(c)]
	switch name {
	case "":
		return t.define(c)
	case "black", "white":
	default:
		t.colors[name] = c
	}
	return name
}

func (t *tikz) define(c color.NRGBA) string {
	n := fmt.Sprintf("fig%02x%02x%02x", c.R, c.G, c.B)
	t.colors[n] = c
	return n
}

func xy(p vg.Point) string { return "(" + num(p.X) + "," + num(p.Y) + ")" }

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

func (t *tikz) stroke(p vg.Path, s state) {
	o := t.line(s.LineStyle)
	if c := s.color(); c.A < 255 {
		o += ",draw opacity=" + opacity(c)
	}
	t.printf("\\draw[%s] ", o)
	t.path(p)
}

// line returns the options of a line.
func (t *tikz) line(s draw.LineStyle) string {
	o := t.color(s.Color) + ",line width=" + num(s.Width) + "bp"
	if len(s.Dashes) > 0 {
		o += ",dash pattern="
		for i, d := range s.Dashes {
			o += []string{"on ", "off "}[i%2] + num(d) + "bp "
		}
	}
	return strings.TrimSpace(o)
}

func (t *tikz) printf(format string, args ...any) { fmt.Fprintf(&t.b, format, args...) }

func (t *tikz) fill(p vg.Path, s state) {
	o := t.color(s.Color)
	if c := s.color(); c.A < 255 {
		o += ",fill opacity=" + opacity(c)
	}
	t.printf("\\fill[%s] ", o)
	t.path(p)
}

// texFont selects the document's font at a size, rounded down to the points of Computer Modern.
func texFont(size vg.Length, bold bool) string {
	size = vg.Length(math.Floor(float64(size)))
	f := fmt.Sprintf("\\fontsize{%s}{%s}\\selectfont", num(size), num(1.2*float64(size)))
	if bold {
		f += "\\bfseries"
	}
	return f
}

// text sets LaTeX source on the baseline that starts, is centred or ends at p. It is
// no wider than room; zero means no limit.
func (t *tikz) text(tex string, sty text.Style, p vg.Point, room vg.Length) {
	if !onPage(p.X, p.Y) {
		t.err = cmp.Or(t.err, errNoPlace)
		return
	}
	o := "anchor=base"
	switch {
	case sty.XAlign > text.XCenter:
		o += " west"
	case sty.XAlign < text.XCenter:
		o += " east"
	}
	o += ",figtext,font=" + texFont(sty.Font.Size, sty.Font.Weight >= xfont.WeightBold)
	if sty.Rotation != 0 {
		o += ",rotate=" + num(sty.Rotation*180/math.Pi)
	}
	if c := t.color(sty.Color); c != "black" {
		o += ",text=" + c
	}
	if room > 0 {
		t.narrowed = true
		tex = "\\fignarrow{" + num(room) + "bp}{" + tex + "}"
	}
	t.printf("\\node[%s] at %s {%s};\n", o, xy(p), tex)
}

// glyphs sets a string that does not come from a Label. It is centred where our font
// would centre it, since the document's font has another width.
func (t *tikz) glyphs(f font.Face, s string, st state) {
	tex, err := EscapeTeX(s)
	if err != nil && t.err == nil {
		t.err = err
	}
	sty := text.Style{Font: f.Font, Color: st.Color, XAlign: text.XCenter, Rotation: turn(st.at)}
	t.text(tex, sty, mapped(st.at, vg.Point{X: f.Width(s) / 2}), 0)
}

// cells writes a macro for each run of cells of one colour, with its column, row, width, height
// and colour. TeX reads this ten times faster than a matrix plot of pgfplots.
func (t *tikz) cells(r vg.Rectangle, rows, columns int, at func(i, j int) color.NRGBA) {
	cw, ch := r.Size().X/vg.Length(columns), r.Size().Y/vg.Length(rows)
	t.printf("\\begin{scope}[shift={(%s,%s)},x=%sbp,y=-%sbp]\n", num(r.Min.X), num(r.Max.Y), num(cw), num(ch))
	t.printf("%s\n", `\def\figcell#1 #2 #3 #4 #5;{\pgfsetfillcolor{fig#5}`+
		`\pgfpathrectangle{\pgfpointxy{#1}{#2}}{\pgfpointxy{#3}{#4}}\pgfusepath{fill}}`)
	eachRun(rows, columns, at, func(i, j, k int, c color.NRGBA) {
		w, h := float64(k-j), 1.0
		if k < columns {
			w += min(0.5, overlap/float64(cw))
		}
		if i+1 < rows {
			h += min(0.5, overlap/float64(ch))
		}
		t.printf("\\figcell %d %d %s %s %s;\n", j, i, num(w), num(h), strings.TrimPrefix(t.define(c), "fig"))
	})
	t.printf("\\end{scope}\n")
}
