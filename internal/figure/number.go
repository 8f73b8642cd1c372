package figure

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// A Number is a result that prose quotes.
type Number struct {
	ID       string
	Value    float64
	Interval string // in words, as "0.82 to 0.83 (95 %)"
	Paper    string // the value that the paper prints, such as "0.837 ± 0.054"
	// Digits is the number of digits after the point. Zero means three digits of the value, or a whole number in full.
	Digits int
	Whole  bool // no digits after the point
}

func (n Number) digits() int {
	switch {
	case n.Whole:
		return 0
	case n.Digits > 0:
		return n.Digits
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

// Shown returns the value in the form that prose quotes. Without Digits or Whole, a value below 1e-3 or from 1e7 on
// has a power of ten.
func (n Number) Shown() string {
	if a := math.Abs(n.Value); n.Digits == 0 && !n.Whole && a > 0 && (a < 1e-3 || a >= 1e7) {
		return power(strconv.FormatFloat(n.Value, 'e', 2, 64))
	}
	return strconv.FormatFloat(n.Value, 'f', n.digits(), 64)
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
// repeated id, and for a value that is not finite.
func (ns Numbers) sorted() (Numbers, error) {
	s := append(Numbers{}, ns...)
	slices.SortFunc(s, func(a, b Number) int { return strings.Compare(a.ID, b.ID) })
	for i, n := range s {
		if err := checkID(n.ID); err != nil {
			return nil, err
		}
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
			return nil, fmt.Errorf("figure: number %s: %v is not finite", n.ID, n.Value)
		}
		if i > 0 && s[i-1].ID == n.ID {
			return nil, fmt.Errorf("figure: two numbers have the id %s", n.ID)
		}
	}
	return s, nil
}

// TeX returns LaTeX macros: for each number its value, and where they exist the forms with the suffixes Interval and
// Paper. The macros work in text and in formulas. A value without sign and power of ten is its digits alone, which
// siunitx, pgfmath and \ifdim can read. A document may read the macros twice. Two macros of one name are an error.
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
		shown := strings.Trim(n.Shown(), "$")
		if strings.Trim(shown, "0123456789.") != "" {
			shown = `\ensuremath{` + shown + `}`
		}
		define("", shown)
		for _, m := range []struct{ suffix, text string }{{"Interval", n.Interval}, {"Paper", n.Paper}} {
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

// Export writes values.tex into dir and returns its path.
func (ns Numbers) Export(dir string) ([]string, error) {
	return export(dir, format{"values.tex", ns.TeX})
}

// notInID matches what no id has.
var notInID = regexp.MustCompile(`[^a-z0-9]+`)

// Number returns the number of a cell under an id, in which signs are hyphens; false if the cell is a text.
func (c Cell) Number(id string) (Number, bool) {
	letters := strings.ReplaceAll(norm.NFKD.String(strings.ToLower(id)), "\u0303", "") // a tilde joins its letter
	id = strings.Trim(notInID.ReplaceAllString(letters, "-"), "-")
	return Number{ID: id, Value: c.value, Digits: c.digits, Whole: c.digits == 0}, c.number
}

// Numbers returns the numbers of the cells. Their ids are the table's, the first cells of the row, as many as tell the
// rows apart, and the head of the column.
func (t *Table) Numbers() (ns Numbers) {
	keys := make([]string, len(t.Rows))
	for keyed := range t.Columns {
		seen := map[string]bool{}
		for i, r := range t.Rows {
			keys[i] += " " + r[keyed].Text()
			seen[keys[i]] = true
		}
		if len(seen) < len(t.Rows) {
			continue
		}
		for i, r := range t.Rows {
			for j, head := range t.flatHead()[keyed+1:] {
				if n, ok := r[keyed+1+j].Number(t.ID + keys[i] + " " + head); ok {
					ns = append(ns, n)
				}
			}
		}
		break
	}
	return ns
}
