package figure

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// texCanvas writes LaTeX for the package pgf. Text has the fonts of the document. Coordinates are those of the page,
// so that no transformation, and no style of TikZ or pgfplots, reaches the picture.
type texCanvas struct {
	w, h  vg.Length
	b     bytes.Buffer
	state texState
	saved []texState
	set   [2]string // colour and pen that the file has set last
}

type texState struct {
	width  vg.Length
	dashes []vg.Length
	color  color.NRGBA
	at     affine
}

// affine maps (x, y) to (a x + c y + e, b x + d y + f).
type affine struct{ a, b, c, d, e, f float64 }

func (m affine) of(p vg.Point) vg.Point {
	x, y := float64(p.X), float64(p.Y)
	return pt(float64(m.a*x)+float64(m.c*y)+m.e, float64(m.b*x)+float64(m.d*y)+m.f)
}

// before returns the map that applies n and then m.
func (m affine) before(n affine) affine {
	o := m.of(vg.Point{X: vg.Length(n.e), Y: vg.Length(n.f)})
	return affine{
		float64(m.a*n.a) + float64(m.c*n.b), float64(m.b*n.a) + float64(m.d*n.b),
		float64(m.a*n.c) + float64(m.c*n.d), float64(m.b*n.c) + float64(m.d*n.d), float64(o.X), float64(o.Y),
	}
}

// scale is the factor of lengths.
func (m affine) scale() vg.Length { return vg.Length(math.Sqrt(math.Abs(m.a*m.d - float64(m.b*m.c)))) }

func newTeX(w, h vg.Length) *texCanvas {
	t := &texCanvas{w: w, h: h}
	t.state.at = affine{a: 1, d: 1}
	vg.Initialize(t)
	return t
}

func (t *texCanvas) Size() (w, h vg.Length)                 { return t.w, t.h }
func (t *texCanvas) SetLineWidth(w vg.Length)               { t.state.width = w }
func (t *texCanvas) SetLineDash(d []vg.Length, _ vg.Length) { t.state.dashes = d }
func (t *texCanvas) Push()                                  { t.saved = append(t.saved, t.state) }
func (t *texCanvas) Scale(x, y float64)                     { t.apply(affine{a: x, d: y}) }
func (t *texCanvas) apply(m affine)                         { t.state.at = t.state.at.before(m) }

func (t *texCanvas) Pop() {
	k := len(t.saved) - 1
	t.state, t.saved = t.saved[k], t.saved[:k]
}

func (t *texCanvas) SetColor(c color.Color) {
	if c == nil {
		c = color.Black
	}
	t.state.color = color.NRGBAModel.Convert(c).(color.NRGBA)
}

func (t *texCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	t.apply(affine{cos, sin, -sin, cos, 0, 0})
}

func (t *texCanvas) Translate(p vg.Point) { t.apply(affine{1, 0, 0, 1, float64(p.X), float64(p.Y)}) }

func (t *texCanvas) put(format string, args ...any) { fmt.Fprintf(&t.b, format+"%%\n", args...) }

// num writes a number to three digits.
func num[T ~float64](x T) string {
	s := strconv.FormatFloat(float64(x), 'f', 3, 64)
	if s = strings.TrimRight(strings.TrimRight(s, "0"), "."); s == "-0" {
		return "0"
	}
	return s
}

// texColors are the colours that a document can define before.
var texColors = map[color.NRGBA]string{}

func init() {
	for name, c := range map[string]color.RGBA{
		"figblue": Colors[0], "figvermilion": Colors[1], "figgreen": Colors[2], "figpurple": Colors[3],
		"figorange": Colors[4], "figsky": Colors[5], "figred": Red, "figgrey": Grey,
	} {
		texColors[color.NRGBA(c)] = name
	}
}

// hexColor returns the name of a colour, or its hexadecimal digits.
func hexColor(c color.NRGBA) string {
	if name := texColors[color.NRGBA{c.R, c.G, c.B, 255}]; name != "" {
		return name
	}
	return fmt.Sprintf("%02X%02X%02X", c.R, c.G, c.B)
}

func (t *texCanvas) paint() {
	c := t.state.color
	if k := "{" + hexColor(c) + "}{" + num(float64(c.A)/255) + "}"; k != t.set[0] {
		t.set[0] = k
		t.put(`\figk%s`, k)
	}
}

func (t *texCanvas) Stroke(p vg.Path) {
	width := t.state.width * t.state.at.scale()
	if width <= 0 || len(p) == 0 {
		return
	}
	t.paint()
	dash := ""
	for _, d := range t.state.dashes {
		dash += "{" + num(d*t.state.at.scale()) + "bp}"
	}
	if pen := "{" + num(width) + "bp}{" + dash + "}"; pen != t.set[1] {
		t.set[1] = pen
		t.put(`\figp%s`, pen)
	}
	t.path(p, `\pgfusepathqstroke`)
}

func (t *texCanvas) Fill(p vg.Path) {
	if r, ok := rectangle(p); ok && t.state.at.b == 0 && t.state.at.c == 0 {
		a, b, c := t.state.at.of(r.Min), t.state.at.of(r.Max), t.state.color
		if size := b.Sub(a); c.A == 255 && texColors[c] == "" {
			share := func(v uint8) string { return num(float64(v) / 255) }
			t.put(`\figr %s %s %s %s%s`, share(c.R), share(c.G), share(c.B), xy(a), xy(size))
			t.set[0] = ""
			return
		}
	}
	t.paint()
	t.path(p, `\pgfusepathqfill`)
}

// rectangle reports whether a path is a rectangle as gonum draws it.
func rectangle(p vg.Path) (r vg.Rectangle, ok bool) {
	if len(p) != 5 || p[4].Type != vg.CloseComp {
		return r, false
	}
	a, b := p[0].Pos, p[2].Pos
	corner := vg.Point{X: b.X, Y: a.Y}
	other := vg.Point{X: a.X, Y: b.Y}
	ok = p[1].Pos == corner && p[3].Pos == other || p[1].Pos == other && p[3].Pos == corner
	for _, c := range p[1:4] {
		ok = ok && c.Type == vg.LineComp
	}
	return vg.Rectangle{Min: a, Max: b}, ok
}

// xy writes a point to hundredths of a point, a third of the width of a hair line.
func xy(p vg.Point) string {
	return num(math.Round(float64(p.X)*100)/100) + " " + num(math.Round(float64(p.Y)*100)/100) + " "
}

func (t *texCanvas) path(p vg.Path, use string) {
	if len(p) == 2 && p[0].Type == vg.MoveComp && p[1].Type == vg.ArcComp && p[1].Angle == 2*math.Pi {
		t.put(`\figo %s%s `, xy(t.state.at.of(p[1].Pos)), num(p[1].Radius*t.state.at.scale()))
		t.put("%s", use)
		return
	}
	for _, c := range curves(p) {
		at := t.state.at.of(c.Pos)
		switch c.Type {
		case vg.MoveComp:
			t.put(`\figm %s`, xy(at))
		case vg.LineComp:
			t.put(`\figl %s`, xy(at))
		case vg.CurveComp:
			t.put(`\figc %s%s%s`, xy(t.state.at.of(c.Control[0])), xy(t.state.at.of(c.Control[1])), xy(at))
		case vg.CloseComp:
			t.put(`\pgfpathclose`)
		}
	}
	t.put("%s", use)
}

// text sets LaTeX at p, narrowed to 4 pt more than the width w that it has on the screen.
func (t *texCanvas) text(s string, sty text.Style, p vg.Point, w vg.Length) {
	side := map[text.XAlignment]string{text.XLeft: ",left", text.XRight: ",right"}[sty.XAlign]
	if sty.Font.Weight >= xfont.WeightBold {
		s = `\textbf{` + s + `}`
	}
	scale := t.state.at.scale()
	turn := sty.Rotation + math.Atan2(t.state.at.b, t.state.at.a)
	at := t.state.at.of(p)
	t.put(`\figt{base%s,at={\pgfqpoint{%sbp}{%sbp}},rotate=%s}{%s}{%s}{%s}{%s}`, side, num(at.X), num(at.Y),
		num(turn*180/math.Pi), num(math.Floor(float64(sty.Font.Size*scale)+1e-6)), num((w+4)*scale),
		hexColor(color.NRGBAModel.Convert(sty.Color).(color.NRGBA)), s)
	t.set[0] = ""
}

// FillString sets text that is not a label; what LaTeX lacks is left out.
func (t *texCanvas) FillString(f font.Face, p vg.Point, s string) {
	if tex, err := latex(s); err == nil {
		t.text(tex, text.Style{Font: f.Font, Color: t.state.color}, p, f.Width(s))
	}
}

func (t *texCanvas) DrawImage(r vg.Rectangle, m image.Image) { pixels(t, r, m) }

const texHead = `\begingroup
\providecolor{figblue}{HTML}{0072B2}\providecolor{figvermilion}{HTML}{D55E00}\providecolor{figgreen}{HTML}{009E73}%
\providecolor{figpurple}{HTML}{CC79A7}\providecolor{figorange}{HTML}{E69F00}\providecolor{figsky}{HTML}{56B4E9}%
\providecolor{figred}{HTML}{E31A1C}\providecolor{figgrey}{HTML}{777777}%
\def\figcolor#1{\ifcsname\string\color@#1\endcsname\colorlet{figk}{#1}\else\definecolor{figk}{HTML}{#1}\fi}%
\def\figk#1#2{\figcolor{#1}\pgfsetcolor{figk}\pgfsetstrokeopacity{#2}\pgfsetfillopacity{#2}}%
\def\figp#1#2{\pgfsetlinewidth{#1}\pgfsetdash{#2}{0pt}}%
\def\figm#1 #2 {\pgfpathmoveto{\pgfqpoint{#1bp}{#2bp}}}%
\def\figl#1 #2 {\pgfpathlineto{\pgfqpoint{#1bp}{#2bp}}}%
\def\figo#1 #2 #3 {\pgfpathcircle{\pgfqpoint{#1bp}{#2bp}}{#3bp}}%
\def\figc#1 #2 #3 #4 #5 #6 {\pgfpathcurveto{\pgfqpoint{#1bp}{#2bp}}{\pgfqpoint{#3bp}{#4bp}}{\pgfqpoint{#5bp}{#6bp}}}%
\def\figr#1 #2 #3 #4 #5 #6 #7 {\pgfsetfillopacity{1}\pgfsys@color@rgb@fill{#1}{#2}{#3}%
  \pgfpathrectangle{\pgfqpoint{#4bp}{#5bp}}{\pgfqpoint{#6bp}{#7bp}}\pgfusepathqfill}%
\def\figt#1#2#3#4#5{\figcolor{#4}\pgfsetfillopacity{1}\pgftext[#1]{\fontsize{#2}{#2}\selectfont\color{figk}%
  \setbox0\hbox{#5}\ifdim\wd0>#3bp\resizebox{#3bp}{\height}{\box0}\else\box0\fi}}%
\begin{pgfpicture}\pgfsetbuttcap\pgfsetmiterjoin
`

func (t *texCanvas) WriteTo(w io.Writer) (int64, error) {
	// \pgfsys@color@rgb@fill has an @, which is a letter only here; babel can make > active.
	head := strings.Replace(texHead, `\begingroup`, "\\begingroup\\makeatletter\\catcode`\\>=12 ", 1)
	n, err := fmt.Fprintf(w, "%s\\makeatother\\pgfpathrectangle{\\pgfpointorigin}{\\pgfqpoint{%sbp}{%sbp}}"+
		"\\pgfusepath{use as bounding box}%%\n%s\\end{pgfpicture}\\endgroup%%\n", head, num(t.w), num(t.h), t.b.String())
	return int64(n), err
}
