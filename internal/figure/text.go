package figure

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Sizes of text at the final size of the figure.
const (
	labelSize = 8
	smallSize = 7
	leastType = 6
)

// label is a text.Handler for plain text with formulas of LaTeX between dollar signs, as in "on $\hat g(\beta)$". On a
// canvas for LaTeX the text is LaTeX; elsewhere a formula is set from a small part of it: letters, ^, _, accents and
// symbols. A dollar sign without a second one is a character.
type label struct{ up, down float64 } // height above and depth below the baseline, in parts of the size

// A piece is a stretch of text in one size, height and font.
type piece struct {
	s          string
	size, rise float64 // in parts of the size of type
	italic     bool
	over       rune // an accent, of the first letter
}

// symbols are the characters that LaTeX has as commands in formulas, with these; names are set upright.
var symbols = pairs(`α \alpha β \beta γ \gamma δ \delta ε \varepsilon ϵ \epsilon ζ \zeta η \eta θ \theta ϑ \vartheta
	ι \iota κ \kappa λ \lambda μ \mu µ \mu ν \nu ξ \xi π \pi ρ \rho ς \varsigma σ \sigma τ \tau υ \upsilon φ \varphi
	ϕ \phi χ \chi ψ \psi ω \omega ο o Γ \Gamma Δ \Delta Θ \Theta Λ \Lambda Ξ \Xi Π \Pi Σ \Sigma Υ \Upsilon Φ \Phi
	Ψ \Psi Ω \Omega Α \mathrm{A} Β \mathrm{B} Ε \mathrm{E} Ζ \mathrm{Z} Η \mathrm{H} Ι \mathrm{I} Κ \mathrm{K}
	Μ \mathrm{M} Ν \mathrm{N} Ο \mathrm{O} Ρ \mathrm{P} Τ \mathrm{T} Χ \mathrm{X} ∞ \infty × \times · \cdot ± \pm
	≤ \le ≥ \ge ≠ \ne ≈ \approx → \to ← \leftarrow ⇒ \Rightarrow ∑ \sum ∏ \prod ∫ \int √ \surd ∂ \partial ∇ \nabla
	∈ \in ∝ \propto ⌊ \lfloor ⌋ \rfloor ⟨ \langle ⟩ \rangle ‖ \| ∥ \| ′ ' ° ^\circ − - ℓ \ell 𝔼 \mathbb{E} … \dots
	< < > > | |`)

var (
	commands = func() map[string]string {
		m := pairs(`leq ≤ geq ≥ neq ≠ rightarrow → mid | lvert | rvert | ast * surd √ sqrt √ prime ′ lVert ‖ rVert ‖ Vert ‖ top ⊤ ldots …
			cdots … ln ln log log exp exp max max min min sup sup inf inf sin sin cos cos Pr Pr`)
		for c, tex := range symbols {
			if name := strings.TrimPrefix(tex, `\`); name != tex && c != "µ" && c != "∥" {
				m[name] = c
			}
		}
		return m
	}()
	accents   = pairs("hat ˆ widehat ˆ tilde ˜ widetilde ˜ bar ¯ overline ¯")
	combining = pairs("ˆ \u0302 ˜ \u0303 ¯ \u0304")
	relations = "=<>≤≥≠≈→←⇒+−×±∈"
	// similar are the letters of our font nearest to those that it lacks.
	similar = pairs("‖ || ∥ || ⟨ ‹ ⟩ › ⇒ → 𝔼 E ∈ ϵ ⊤ T ∝ ~ ∇ ∆ ℓ l ′ '")
	raised  = pairs("⁰ 0 ¹ 1 ² 2 ³ 3 ⁴ 4 ⁵ 5 ⁶ 6 ⁷ 7 ⁸ 8 ⁹ 9 ⁽ ( ⁾ ) ⁺ + ⁻ − ⁿ n ⁱ i ᵀ T")
	lowered = pairs("₀ 0 ₁ 1 ₂ 2 ₃ 3 ₄ 4 ₅ 5 ₆ 6 ₇ 7 ₈ 8 ₉ 9 ₍ ( ₎ ) ₊ + ₋ − ᵢ i ⱼ j ₖ k ₜ t ₒ O")
)

// pairs reads a map from the words of s.
func pairs(s string) map[string]string {
	m, f := map[string]string{}, strings.Fields(s)
	for i := 0; i+1 < len(f); i += 2 {
		m[f[i]] = f[i+1]
	}
	return m
}

// isNumber reports whether a label is a number, as of a tick.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "+-.0123456789") == ""
}

// parts returns the parts of a label: those with an odd index are formulas.
func parts(s string) []string {
	if p := strings.Split(s, "$"); len(p)%2 == 1 {
		return p
	}
	return []string{s}
}

// pieces parses a label.
func pieces(s string) (out []piece, err error) {
	if isNumber(s) {
		s = strings.Replace(s, "-", "−", 1)
	}
	for k, part := range parts(composed(s)) {
		if k%2 == 0 {
			out = append(out, plainPieces(part)...)
			continue
		}
		f, err := formula(part, piece{size: 1})
		if err != nil {
			return nil, fmt.Errorf("label %q: %w", s, err)
		}
		out = append(out, f...)
	}
	for _, p := range out {
		for _, c := range p.s {
			if floors[c] == 0 && !hasGlyph(c) {
				return nil, fmt.Errorf("label %q: the font has no glyph for %q (%U); write it in other words", s, c, c)
			}
		}
	}
	return out, nil
}

// Scripts of formulas, in parts of the size of type.
const scriptSize, raise, lower = 0.72, 0.36, -0.16

// plainPieces returns the pieces of text without formulas, in which Unicode may have scripts and accents.
func plainPieces(s string) (out []piece) {
	for _, c := range s {
		p := piece{s: string(c), size: 1}
		if b := raised[p.s]; b != "" {
			p = piece{s: b, size: scriptSize, rise: raise}
		} else if b := lowered[p.s]; b != "" {
			p = piece{s: b, size: scriptSize, rise: lower}
		} else if b := similar[p.s]; b != "" && !hasGlyph(c) {
			p.s = b
		}
		k := len(out) - 1
		for spacing, c := range combining {
			if p.s == c && k >= 0 { // of the letter before, which becomes a piece
				last, n := out[k].s, 0
				for i := range last {
					n = i
				}
				letter := out[k]
				letter.s, letter.over = last[n:], []rune(spacing)[0]
				if out[k].s = last[:n]; n == 0 {
					out = out[:k]
				}
				out, p.s = append(out, letter), ""
			}
		}
		k = len(out) - 1
		switch {
		case p.s == "":
		case k >= 0 && out[k].rise == p.rise && out[k].over == 0 && floors[c] == 0 && !strings.ContainsAny(out[k].s, "⌊⌋"):
			out[k].s += p.s
		default:
			out = append(out, p)
		}
	}
	return out
}

// formula parses a formula whose pieces have the size and height of at.
func formula(s string, at piece) (out []piece, err error) {
	add := func(s string, italic bool) { p := at; p.s, p.italic = s, italic; out = append(out, p) }
	for s != "" {
		var arg string
		if arg, s, err = argument(s); err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(arg, `\`)
		next := func(at piece) (inner []piece, err error) {
			if s = strings.TrimLeft(s, " "); s == "" {
				return nil, fmt.Errorf("%q has no argument", arg)
			}
			if arg, s, err = argument(s); err == nil {
				inner, err = formula(unbraced(arg), at)
			}
			return inner, err
		}
		var inner []piece
		switch {
		case arg == "^", arg == "_":
			sub := at
			sub.size *= scriptSize
			sub.rise += map[string]float64{"^": raise, "_": lower}[name] * at.size
			inner, err = next(sub)
		case arg[0] == '\\' && accents[name] != "":
			over := []rune(accents[name])[0]
			if inner, err = next(at); len(inner) > 0 {
				inner[0].over = over
			}
		case slices.Contains([]string{"mathrm", "text", "operatorname"}, name):
			if inner, err = next(at); err == nil {
				inner = upright(inner)
			}
		case slices.Contains([]string{"mathcal", "mathbb", "mathbf", "boldsymbol", "left", "right"}, name):
			inner, err = next(at)
		case name == "frac" || name == "tfrac":
			top, err1 := next(at)
			bottom, err2 := next(at)
			slash := at
			slash.s = "/"
			inner, err = slices.Concat(top, []piece{slash}, bottom), errors.Join(err1, err2)
		case arg[0] == '{':
			inner, err = formula(unbraced(arg), at)
		case arg == " " || name == "!" || arg == "~" || arg == "&":
		case arg == `\,` || arg == `\;` || arg == `\ ` || arg == `\:`:
			add("\u2009", false)
		default:
			name, italic, err := symbol(arg, len(out) > 0 && s != "" && at.rise == 0)
			if err != nil {
				return nil, err
			}
			add(name, italic)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// symbol returns the character, or the name of the function, for which a token of a formula stands, and whether it is
// italic. A relation or a function between others has thin spaces about it.
func symbol(token string, between bool) (name string, italic bool, err error) {
	name = strings.TrimPrefix(token, `\`)
	switch c, known := commands[name]; {
	case name == "|" && token[0] == '\\':
		name = "‖"
	case token[0] == '\\' && len(name) == 1 && strings.Contains("{}%$&#_", name):
	case token[0] == '\\' && !known:
		return "", false, fmt.Errorf(`the formula has \%s, which only LaTeX can set`, name)
	case token[0] == '\\':
		name = c
	case name == "-":
		name = "−"
	case name == "'":
		name = "′"
	}
	first, _ := utf8.DecodeRuneInString(name)
	if b := similar[name]; b != "" && !hasGlyph(first) {
		name = b
	}
	function := len(name) > 1 && name[0] < 0x80
	if name == ";" || name == "," {
		name += "\u2009"
	}
	if (function || strings.Contains(relations, name)) && between {
		name = "\u2009" + name + "\u2009"
	}
	letter := unicode.IsLower(first) || len(name) == 1 && unicode.IsLetter(first)
	return name, utf8.RuneCountInString(name) == 1 && letter, nil
}

func upright(all []piece) []piece {
	for i := range all {
		all[i].italic = false
	}
	return all
}

// argument cuts the first token or group from a formula.
func argument(s string) (arg, rest string, err error) {
	_, n := utf8.DecodeRuneInString(s)
	switch s[0] {
	case '\\':
		for n = 1; n < len(s) && (s[n]|32 >= 'a' && s[n]|32 <= 'z'); n++ {
		}
		n = min(max(n, 2), len(s))
		return s[:n], strings.TrimLeft(s[n:], " "), nil
	case '{':
		for n, depth := 0, 0; n < len(s); n++ {
			depth += map[byte]int{'{': 1, '}': -1}[s[n]]
			if depth == 0 {
				return s[:n+1], s[n+1:], nil
			}
		}
		return "", "", fmt.Errorf("the formula %q has a brace without its partner", s)
	case '}':
		return "", "", fmt.Errorf("the formula has a brace without its partner before %q", s)
	}
	return s[:n], s[n:], nil
}

func unbraced(s string) string {
	if strings.HasPrefix(s, "{") {
		return s[1 : len(s)-1]
	}
	return s
}

// Plain returns a label without markup, for terminals and CSV: its formulas in Unicode, as ĝ(β) and A⁽¹⁾.
func Plain(s string) string {
	all, err := pieces(s)
	if err != nil {
		return s
	}
	out, script, rise := "", "", 0.0
	for _, p := range append(all, piece{}) {
		text := strings.ReplaceAll(p.s, "\u2009", " ")
		if p.over != 0 {
			_, n := utf8.DecodeRuneInString(text)
			text = norm.NFC.String(text[:n]+combining[string(p.over)]) + text[n:]
		}
		if script != "" && p.rise != rise {
			out, script = out+scripted(script, rise > 0), ""
		}
		if rise = p.rise; rise != 0 {
			script += text
		} else {
			out += text
		}
	}
	return out
}

// scripted returns a text in the raised or lowered letters of Unicode, or behind ^ or _ where it lacks some.
func scripted(s string, up bool) string {
	from, sign, out := lowered, "_", ""
	if up {
		from, sign = raised, "^"
	}
	for _, c := range s {
		before := out
		for script, plain := range from {
			if plain == string(c) {
				out += script
			}
		}
		if out == before {
			return sign + s
		}
	}
	return out
}

// composed returns s with each letter and its accents as one character where Unicode has one, but for the accents
// that are drawn above any letter. Names of files on macOS are decomposed.
func composed(s string) string {
	var out []rune
	for _, c := range s {
		drawn := c >= 0x302 && c <= 0x304
		if k := len(out) - 1; k >= 0 && unicode.Is(unicode.Mn, c) && !drawn {
			if one := []rune(norm.NFC.String(string([]rune{out[k], c}))); len(one) == 1 {
				out[k] = one[0]
				continue
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// texText and texAccent map characters of plain text and combining accents to LaTeX that works in every encoding of
// fonts; the ogonek and the barred d take their glyph from a font in T1.
var (
	texText = pairs("\\ \\textbackslash{} { \\{ } \\} $ \\$ & \\& # \\# % \\% _ \\_ ^ \\textasciicircum{} " +
		"~ \\textasciitilde{} \" \\char34{} – -- — --- ‘ ` ’ ' “ `` ” '' ‚ , „ ,, " +
		"« \\raisebox{.25ex}{\\ensuremath{\\scriptscriptstyle\\ll}} " +
		"» \\raisebox{.25ex}{\\ensuremath{\\scriptscriptstyle\\gg}} " +
		"ł \\l{} Ł \\L{} œ \\oe{} Œ \\OE{} ı \\i{} ¿ ?` ¡ !` § \\S{} € \\texteuro{} " +
		"đ {\\fontencoding{T1}\\selectfont\\dj{}} Đ {\\fontencoding{T1}\\selectfont\\DJ{}}")
	texAccent = pairs("\u0300 \\` \u0301 \\' \u0302 \\^ \u0303 \\~ \u0304 \\= \u0306 \\u \u0307 \\. \u0308 \\\" " +
		"\u030a \\r \u030b \\H \u030c \\v \u0326 \\textcommabelow \u0327 \\c \u0328 \\fontencoding{T1}\\selectfont\\k")
)

// texLetter returns LaTeX of a character of plain text, or "".
func texLetter(c rune) string {
	s := string(c)
	r := []rune(norm.NFD.String(s))
	switch {
	case c == '\u2009':
		return `\,`
	case c == '\u00a0':
		return "~"
	case texText[s] != "":
		return texText[s]
	case c >= ' ' && c < 0x7f && c != '<' && c != '>' && c != '|':
		return s
	case symbols[s] != "":
		return `\ensuremath{` + symbols[s] + `}`
	case c >= 0xc0 && c <= 0xff:
		return s
	case len(r) == 2 && r[0] < 0x80 && texAccent[string(r[1])] != "":
		return "{" + texAccent[string(r[1])] + "{" + string(r[0]) + "}}"
	case len(r) == 2 && r[1] == '\u0301' && symbols[string(r[0])] != "":
		return `\ensuremath{\acute{` + symbols[string(r[0])] + `}}`
	}
	return ""
}

// EscapeTeX returns LaTeX source that prints the plain text s: ASCII, Latin and Greek letters
// and common signs. A character without known LaTeX is an error.
func EscapeTeX(s string) (string, error) {
	out := ""
	for _, c := range composed(s) {
		x := texLetter(c)
		switch {
		case raised[string(c)] != "":
			x = `\textsuperscript{` + texLetter([]rune(raised[string(c)])[0]) + `}`
		case lowered[string(c)] != "":
			x = `\textsubscript{` + texLetter([]rune(lowered[string(c)])[0]) + `}`
		case c >= 0x302 && c <= 0x304 && out != "":
			_, n := utf8.DecodeLastRuneInString(out)
			x, out = texAccent[string(c)]+"{"+out[len(out)-n:]+"}", out[:len(out)-n]
		}
		if x == "" {
			return "", fmt.Errorf("text %q: no LaTeX known for %q (%U); write it in other words", s, c, c)
		}
		out += x
	}
	return out, nil
}

// latex returns the LaTeX of a label.
func latex(s string) (string, error) {
	if isNumber(s) {
		return "$" + s + "$", nil
	}
	all := parts(s)
	for k := range all {
		if k%2 == 1 {
			all[k] = formulaTeX(all[k])
			continue
		}
		tex, err := EscapeTeX(all[k])
		if err != nil {
			return "", err
		}
		all[k] = tex
	}
	return strings.Join(all, ""), nil
}

// formulaTeX returns a formula with its characters of Unicode as commands.
func formulaTeX(s string) string {
	var b strings.Builder
	for _, c := range s {
		if tex := symbols[string(c)]; c >= 0x80 && tex != "" {
			b.WriteString("{" + tex + "}")
		} else {
			b.WriteRune(c)
		}
	}
	return "$" + b.String() + "$"
}

// check returns an error for a label that cannot be set in every format.
func check(labels ...string) error {
	for _, s := range labels {
		for line := range strings.SplitSeq(s, "\n") {
			if _, err := pieces(line); err != nil {
				return err
			}
		}
	}
	return checkTeX(labels...)
}

// checkTeX returns an error for a label that LaTeX cannot set. Its formulas may have any command, as in a table, which
// LaTeX and Markdown set.
func checkTeX(labels ...string) error {
	for _, s := range labels {
		for line := range strings.SplitSeq(s, "\n") {
			if _, err := latex(line); err != nil {
				return fmt.Errorf("label %q: %w", s, err)
			}
		}
	}
	return nil
}

func hasGlyph(c rune) bool {
	var b sfnt.Buffer
	f := piece{size: 1}.face(Style(labelSize, 0, 0).Font)
	i, err := f.Face.GlyphIndex(&b, c)
	return err == nil && i != 0
}

func (p piece) face(f font.Font) font.Face {
	f.Size *= vg.Length(p.size)
	if p.italic {
		f.Style = xfont.StyleItalic
	}
	return font.DefaultCache.Lookup(f, f.Size)
}

// floors are the floor brackets, which text fonts lack, with the direction of the foot of the bar drawn instead.
var floors = map[rune]vg.Length{'⌊': 1, '⌋': -1}

const floorWidth = 0.34

func (p piece) width(f font.Font) vg.Length {
	face := p.face(f)
	if c, _ := utf8.DecodeRuneInString(p.s); floors[c] != 0 {
		return floorWidth * face.Font.Size
	}
	return face.Width(p.s)
}

func (label) Cache() *font.Cache { return font.DefaultCache }

func (l label) Extents(f font.Font) font.Extents {
	up, down := vg.Length(l.up)*f.Size, vg.Length(l.down)*f.Size
	return font.Extents{Ascent: up, Descent: down, Height: 1.15 * f.Size}
}

func (label) Lines(s string) []string { return strings.Split(s, "\n") }

func (l label) Box(s string, f font.Font) (w, h, d vg.Length) {
	return width(s, f), vg.Length(l.up) * f.Size, vg.Length(l.down) * f.Size
}

// width returns the width of a line on the screen.
func width(s string, f font.Font) (w vg.Length) {
	all, err := pieces(s)
	if err != nil {
		face := font.DefaultCache.Lookup(f, f.Size)
		return face.Width(s)
	}
	for _, p := range all {
		w += p.width(f)
	}
	return w
}

// Draw sets each line of a label. A canvas of a figure keeps the error of a label that cannot be set.
func (l label) Draw(c vg.Canvas, s string, sty text.Style, at vg.Point) {
	lines := l.Lines(s)
	pitch, last := l.Extents(sty.Font).Height, vg.Length(len(lines)-1)
	sin, cos := math.Sincos(sty.Rotation)
	for i, line := range lines {
		y := pitch*(last-vg.Length(i)+vg.Length(sty.YAlign)*last) + vg.Length(float64(sty.YAlign)*(l.up+l.down))*sty.Font.Size
		l.line(c, line, sty, vg.Point{X: at.X - y*vg.Length(sin), Y: at.Y + y*vg.Length(cos)})
	}
}

// line sets a line with its baseline at a point.
func (l label) line(c vg.Canvas, s string, sty text.Style, at vg.Point) {
	if sty.Color == nil {
		sty.Color = Black
	}
	all, err := pieces(s)
	g := gateOf(c)
	if g != nil {
		tex, err2 := "", error(nil)
		t, onTeX := g.Canvas.(*texCanvas)
		if onTeX {
			tex, err2 = latex(s)
		}
		if err == nil {
			err = err2
		}
		if err == nil && !finite(at.X, at.Y) {
			err = errNoPlace
		}
		if err != nil {
			g.fail(err)
			return
		}
		if onTeX {
			t.text(tex, sty, at, width(s, sty.Font))
			return
		}
	}
	c.Push()
	defer c.Pop()
	c.Translate(at)
	if sty.Rotation != 0 {
		c.Rotate(sty.Rotation)
	}
	x := vg.Length(sty.XAlign) * width(s, sty.Font)
	for _, p := range all {
		f := p.face(sty.Font)
		rise := vg.Length(p.rise) * sty.Font.Size
		write(c, f, vg.Point{X: x, Y: rise}, p.s, sty.Color)
		if p.over != 0 {
			over, up := string(p.over), 0.19*f.Font.Size // above a capital
			first, n := utf8.DecodeRuneInString(p.s)
			if strings.ContainsRune("acegmnopqrsuvwxyzαγεηικμνοπρστυχωϵ", first) {
				up = 0
			}
			write(c, f, vg.Point{X: x + (f.Width(p.s[:n])-f.Width(over))/2, Y: rise + up}, over, sty.Color)
		}
		x += p.width(sty.Font)
	}
}

// write fills a string, and a floor bracket as lines.
func write(c vg.Canvas, f font.Face, at vg.Point, s string, k color.Color) {
	c.SetColor(k)
	first, _ := utf8.DecodeRuneInString(s)
	foot := floors[first]
	if foot == 0 {
		if s != "" {
			c.FillString(f, at, s)
		}
		return
	}
	size := f.Font.Size
	x := at.X + (floorWidth/2-foot*(floorWidth/2-0.11))*size
	var p vg.Path
	p.Move(vg.Point{X: x, Y: at.Y + 0.85*size})
	p.Line(vg.Point{X: x, Y: at.Y - 0.21*size})
	p.Line(vg.Point{X: x + foot*0.19*size, Y: at.Y - 0.21*size})
	c.SetLineWidth(0.075 * size)
	c.SetLineDash(nil, 0)
	c.Stroke(p)
}

// Style returns the style of text of a size in points.
func Style(size float64, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{
		Color: color.Black, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(size)},
		XAlign: x, YAlign: y, Handler: label{0.69, 0},
	}
}

// Width returns the width of a label at a size, in points.
func TextWidth(s string, size float64) float64 { return float64(width(s, Style(size, 0, 0).Font)) }

// Settable reports whether our font has the letters of a label.
func Settable(s string) bool { _, err := pieces(s); return err == nil }
