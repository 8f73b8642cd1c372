package figure

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Label is a piece of text in two forms: Unicode, and LaTeX source. An empty TeX stands for
// the escaped Text. Text may contain characters that text fonts lack: superscripts (⁽¹⁾),
// subscripts (₁), floor brackets (⌊x⌋), and combining tilde, hat and bar (X̃).
type Label struct{ Text, TeX string }

// Text returns the label that reads s in both forms.
func Text(s string) Label { return Label{Text: s} }

func (l Label) empty() bool { return l.Text == "" && l.TeX == "" }

// tex returns the LaTeX form of l.
func (l Label) tex() (string, error) {
	if l.TeX != "" {
		return l.TeX, nil
	}
	return EscapeTeX(l.Text)
}

// source returns the LaTeX form of a label that has passed check.
func (l Label) source() string {
	s, err := l.tex()
	if err != nil {
		panic("figure: unchecked label: " + err.Error())
	}
	return s
}

// Or returns l with the forms of other that l lacks: the whole label if the font has no glyph
// for a character, or its TeX if a character has no LaTeX.
func (l Label) Or(other Label) Label {
	if l.TeX == "" {
		if _, err := EscapeTeX(l.Text); err != nil {
			l.TeX = other.source()
		}
	}
	if l.check() != nil {
		return other
	}
	return l
}

// check returns an error if the label has characters without a glyph or without LaTeX.
func (l Label) check() error {
	err := l.glyphs()
	if err == nil {
		_, err = l.tex()
	}
	return err
}

// glyphs returns an error if the label has characters without a glyph.
func (l Label) glyphs() error {
	if l.Text == "" && l.TeX != "" {
		return fmt.Errorf("label with TeX %q has no Text for the screen", l.TeX)
	}
	for _, r := range runs(l.Text) {
		for _, c := range r.text {
			if r.foot == 0 && !hasGlyph(c) {
				return fmt.Errorf("label %q: the font has no glyph for %q (%U)", l.Text, c, c)
			}
		}
	}
	return nil
}

// checkAll returns the error of the first label that has one.
func checkAll(labels []Label) error {
	for _, l := range labels {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

// accents maps a combining accent (tilde, hat, bar) to its spacing glyph and to its LaTeX command in text mode.
var accents = map[rune]struct {
	glyph rune
	tex   string
}{
	'\u0303': {'˜', `\~`},
	'\u0302': {'ˆ', `\^`},
	'\u0304': {'¯', `\=`},
}

// superscript and subscript map raised and lowered characters to ordinary ones. Unicode has
// no lowered capital O, as in the paper's W_O, so ₒ stands for it.
var (
	superscript = pairs("⁰0¹1²2³3⁴4⁵5⁶6⁷7⁸8⁹9⁽(⁾)⁺+⁻−ⁿnⁱiᵀT")
	subscript   = pairs("₀0₁1₂2₃3₄4₅5₆6₇7₈8₉9₍(₎)₊+₋−ᵢiⱼjₖkₜtₒO")
)

// pairs maps each character of s at an even place to its successor.
func pairs(s string) map[rune]rune {
	m := make(map[rune]rune)
	r := []rune(s)
	for i := 0; i < len(r); i += 2 {
		m[r[i]] = r[i+1]
	}
	return m
}

var (
	raised  = strings.NewReplacer(strings.Split("-⁻0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹", "")...)
	lowered = strings.NewReplacer(strings.Split("-₋0₀1₁2₂3₃4₄5₅6₆7₇8₈9₉", "")...)
)

// Superscript returns k in Unicode superscripts.
func Superscript(k int) string { return raised.Replace(strconv.Itoa(k)) }

// Subscript returns k in Unicode subscripts.
func Subscript(k int) string { return lowered.Replace(strconv.Itoa(k)) }

// floors maps the floor brackets, which text fonts lack, to the direction of the foot of
// the bar that is drawn instead.
var floors = map[rune]float64{'⌊': 1, '⌋': -1}

// A run is a stretch of text at one level: 0 on the line, +1 raised, -1
// lowered. A letter with an accent and a floor bracket are separate runs.
type run struct {
	text   string
	level  int
	accent rune // combining accent, or 0
	foot   float64
}

// plain reports whether the run can be extended by more characters.
func (r run) plain() bool { return r.accent == 0 && r.foot == 0 }

func runs(s string) []run {
	var out []run
	rs := []rune(composed(s))
	for i, c := range rs {
		if _, ok := accents[c]; ok {
			continue
		}
		level := 0
		if b, ok := superscript[c]; ok {
			c, level = b, 1
		} else if b, ok := subscript[c]; ok {
			c, level = b, -1
		}
		var accent rune
		if i+1 < len(rs) && accents[rs[i+1]].glyph != 0 {
			accent = rs[i+1]
		}
		foot := floors[c]
		if k := len(out) - 1; k >= 0 && accent == 0 && foot == 0 && out[k].plain() && out[k].level == level {
			out[k].text += string(c)
			continue
		}
		out = append(out, run{string(c), level, accent, foot})
	}
	return out
}

// composed returns s with each letter and its accents as one character where Unicode has one, but for the accents
// that are drawn above any letter. Names of files on macOS are decomposed.
func composed(s string) string {
	var out []rune
	for _, c := range s {
		if k := len(out) - 1; k >= 0 && unicode.Is(unicode.Mn, c) && accents[c].glyph == 0 {
			if one := []rune(norm.NFC.String(string([]rune{out[k], c}))); len(one) == 1 {
				out[k] = one[0]
				continue
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// texText, texAccent and texMath map characters of plain text, combining accents and
// characters of formulas to LaTeX. The text works in every encoding of fonts; the ogonek and
// the barred d take their glyph from a font in T1.
var (
	texText = texPairs("\\ \\textbackslash{} { \\{ } \\} $ \\$ & \\& # \\# % \\% _ \\_ ^ \\textasciicircum{} " +
		"~ \\textasciitilde{} \" \\char34{} – -- — --- … \\dots{} \u2009 \\, ‘ ` ’ ' “ `` ” '' ‚ , „ ,, \u00a0 ~ " +
		"« \\raisebox{.25ex}{\\ensuremath{\\scriptscriptstyle\\ll}} " +
		"» \\raisebox{.25ex}{\\ensuremath{\\scriptscriptstyle\\gg}} " +
		"ł \\l{} Ł \\L{} œ \\oe{} Œ \\OE{} ı \\i{} ¿ ?` ¡ !` § \\S{} € \\texteuro{} " +
		"đ {\\fontencoding{T1}\\selectfont\\dj{}} Đ {\\fontencoding{T1}\\selectfont\\DJ{}}")
	texAccent = texPairs("\u0300 \\` \u0301 \\' \u0302 \\^ \u0303 \\~ \u0304 \\= \u0306 \\u \u0307 \\. \u0308 \\\" " +
		"\u030a \\r \u030b \\H \u030c \\v \u0326 \\textcommabelow \u0327 \\c \u0328 \\fontencoding{T1}\\selectfont\\k")
	texMath = texPairs(`< < > > | | − - ± \pm × \times · \cdot ° ^\circ ≤ \le ≥ \ge ≠ \ne ≈ \approx ∞ \infty √ \surd ∑ \sum ` +
		`→ \to ← \leftarrow ⌊ \lfloor ⌋ \rfloor α \alpha β \beta γ \gamma δ \delta ε \varepsilon ζ \zeta η \eta ` +
		`θ \theta ι \iota κ \kappa λ \lambda μ \mu µ \mu ν \nu ξ \xi ο o π \pi ρ \rho ς \varsigma σ \sigma τ \tau ` +
		`υ \upsilon φ \varphi χ \chi ψ \psi ω \omega ϕ \phi ϑ \vartheta ϵ \epsilon Α \mathrm{A} Β \mathrm{B} ` +
		`Γ \Gamma Δ \Delta Ε \mathrm{E} Ζ \mathrm{Z} Η \mathrm{H} Θ \Theta Ι \mathrm{I} Κ \mathrm{K} Λ \Lambda ` +
		`Μ \mathrm{M} Ν \mathrm{N} Ξ \Xi Ο \mathrm{O} Π \Pi Ρ \mathrm{P} Σ \Sigma Τ \mathrm{T} Υ \Upsilon Φ \Phi ` +
		`Χ \mathrm{X} Ψ \Psi Ω \Omega`)
)

// texPairs reads characters and their LaTeX, separated by single spaces.
func texPairs(s string) map[rune]string {
	m := make(map[rune]string)
	fields := strings.Split(s, " ")
	for i := 0; i < len(fields); i += 2 {
		c, _ := utf8.DecodeRuneInString(fields[i])
		m[c] = fields[i+1]
	}
	return m
}

// texLetter returns LaTeX of a letter with an accent, such as \v{c}, or "".
func texLetter(c rune) string {
	r := []rune(norm.NFD.String(string(c)))
	switch {
	case len(r) == 2 && r[0] < 0x80 && texAccent[r[1]] != "":
		return "{" + texAccent[r[1]] + "{" + string(r[0]) + "}}"
	case len(r) == 2 && r[1] == '\u0301' && texMath[r[0]] != "":
		return `\ensuremath{\acute{` + texMath[r[0]] + `}}`
	}
	return ""
}

// EscapeTeX returns LaTeX source that prints the plain text s: ASCII, Latin and Greek letters
// and common signs. A character without known LaTeX is an error.
func EscapeTeX(s string) (string, error) {
	var b strings.Builder
	for _, r := range runs(s) {
		var t strings.Builder
		for _, c := range r.text {
			switch {
			case texText[c] != "":
				t.WriteString(texText[c])
			case texMath[c] != "":
				t.WriteString(`\ensuremath{` + texMath[c] + `}`)
			case c >= ' ' && c < 0x7f, c >= 0xc0 && c <= 0xff:
				t.WriteRune(c)
			case texLetter(c) != "":
				t.WriteString(texLetter(c))
			default:
				return "", fmt.Errorf("text %q: no LaTeX known for %q (%U); give the label its TeX form", s, c, c)
			}
		}
		x := t.String()
		if r.accent != 0 {
			x = accents[r.accent].tex + "{" + x + "}"
		}
		switch r.level {
		case 1:
			x = `\textsuperscript{` + x + `}`
		case -1:
			x = `\textsubscript{` + x + `}`
		}
		b.WriteString(x)
	}
	return b.String(), nil
}
