package figure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Number is a result that prose quotes.
type Number struct {
	ID       string      `json:"id"`
	Value    float64     `json:"value"`
	StdErr   float64     `json:"stderr,omitempty"`   // 0 means none
	Interval *[2]float64 `json:"interval,omitempty"` // for instance of 95 % confidence
	Paper    string      `json:"paper,omitempty"`    // the value that the paper prints, such as "0.837 ± 0.054"
	Runs     []string    `json:"runs,omitempty"`     // addresses of its runs, or the folder of their sweep
	Verdict  string      `json:"verdict,omitempty"`  // of the statement that the value belongs to, one word
	// Digits is the number of digits after the point. Zero means two digits of the
	// standard error, or three digits of the value, or a whole number in full.
	Digits int `json:"-"`
	// Whole means no digits after the point.
	Whole bool `json:"-"`
}

func (n Number) digits() int {
	switch {
	case n.Whole:
		return 0
	case n.Digits > 0:
		return n.Digits
	case n.StdErr > 0:
		return places(n.StdErr, 2)
	case n.Value == math.Trunc(n.Value):
		return 0
	}
	return places(n.Value, 3)
}

// places returns the number of digits after the point that shows k digits of v.
func places(v float64, k int) int {
	// Rounding may raise the exponent: 0.0996 to two digits is 0.10.
	s := strconv.FormatFloat(math.Abs(v), 'e', k-1, 64)
	e, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	return max(0, k-1-e)
}

// Shown returns the value in the form that prose quotes.
func (n Number) Shown() Label { return n.decimal(n.Value) }

// decimal writes v to the digits of n. Without Digits, Whole or StdErr, it writes a
// value below 1e-3 or from 1e7 on with a power of ten.
func (n Number) decimal(v float64) Label {
	if a := math.Abs(v); n.Digits == 0 && !n.Whole && n.StdErr == 0 && a > 0 && (a < 1e-3 || a >= 1e7) {
		return signedLabel(strconv.FormatFloat(v, 'e', 2, 64))
	}
	return signedLabel(strconv.FormatFloat(v, 'f', n.digits(), 64))
}

// Numbers are results of a paper, in any order.
type Numbers []Number

// digitNames spell the digits, which names of macros cannot contain.
var digitNames = strings.Fields("Zero One Two Three Four Five Six Seven Eight Nine")

// macroName returns the name of a LaTeX macro for an id: a prefix, and each part of the id with
// a capital letter and its digits spelled out, as in valFigNineMean for fig9-mean.
func macroName(name, id string) string {
	for _, part := range strings.Split(id, "-") {
		up := true
		for _, c := range part {
			switch {
			case c >= '0' && c <= '9':
				name += digitNames[c-'0']
				up = true
				continue
			case up:
				name += strings.ToUpper(string(c))
			default:
				name += string(c)
			}
			up = false
		}
	}
	return name
}

// sorted returns the numbers in the order of their ids. It returns an error for a bad or
// repeated id, a value that is not finite, and a negative standard error.
func (ns Numbers) sorted() (Numbers, error) {
	s := append(Numbers{}, ns...)
	slices.SortFunc(s, func(a, b Number) int { return strings.Compare(a.ID, b.ID) })
	for i, n := range s {
		if err := checkID(n.ID); err != nil {
			return nil, err
		}
		for _, v := range []float64{n.Value, n.StdErr} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("figure: number %s: %v is not finite", n.ID, v)
			}
		}
		if n.StdErr < 0 {
			return nil, fmt.Errorf("figure: number %s: standard error %v is negative", n.ID, n.StdErr)
		}
		if i > 0 && s[i-1].ID == n.ID {
			return nil, fmt.Errorf("figure: two numbers have the id %s", n.ID)
		}
	}
	return s, nil
}

// JSON returns the numbers sorted by id.
func (ns Numbers) JSON() ([]byte, error) {
	s, err := ns.sorted()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(s)
	return b.Bytes(), err
}

// TeX returns LaTeX macros: for each number its value, its digits without markup (suffix
// Digits), which siunitx, pgfmath and \ifdim can read, and where they exist the forms with the
// suffixes PM (value ± standard error), Interval, Paper and Verdict. The macros work in text
// and in formulas, and a document may read them twice. Two macros of one name are an error.
func (ns Numbers) TeX() ([]byte, error) {
	s, err := ns.sorted()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("% One macro per number; digits in names are spelled out.\n" + once("figvalues"))
	owner := make(map[string]string)
	for _, n := range s {
		name := macroName("val", n.ID)
		define := func(suffix, body string) {
			if o, ok := owner[name+suffix]; ok && err == nil {
				err = fmt.Errorf("figure: numbers %s and %s both define \\%s: rename one", o, n.ID, name+suffix)
			}
			owner[name+suffix] = n.ID
			fmt.Fprintf(&b, "\\newcommand{\\%s}{%s}\n", name+suffix, body)
		}
		formula := func(l Label) string { return strings.Trim(l.TeX, "$") }
		define("", `\ensuremath{`+formula(n.Shown())+`}`)
		define("Digits", strconv.FormatFloat(n.Value, 'f', n.digits(), 64))
		if n.StdErr > 0 {
			define("PM", `\ensuremath{`+formula(PlusMinus(n.Value, n.StdErr, n.digits()).Shown())+`}`)
		}
		if i := n.Interval; i != nil {
			define("Interval", `\ensuremath{[`+formula(n.decimal(i[0]))+`, `+formula(n.decimal(i[1]))+`]}`)
		}
		for _, m := range []struct{ suffix, text string }{{"Paper", n.Paper}, {"Verdict", n.Verdict}} {
			tex, e := EscapeTeX(m.text)
			if e != nil {
				return nil, fmt.Errorf("figure: number %s: %w", n.ID, e)
			}
			if tex != "" {
				define(m.suffix, tex)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// Export writes numbers.json and values.tex into dir and returns their paths.
func (ns Numbers) Export(dir string) ([]string, error) {
	return export(dir, format{"numbers.json", ns.JSON}, format{"values.tex", ns.TeX})
}
