package figure

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Of a table that is fitted to a width: its type, \footnotesize, and the space
// between its columns, in points.
const (
	narrowType = 8
	narrowGap  = 5
)

// concise explains the form of a number with its error in a fitted table.
const concise = ` A number in brackets is the standard error in units of the last digit.`

// Fit returns the table in a narrow form, whose LaTeX fits the width: in small type,
// errors in brackets, heads broken into lines. Where that does not do, the leading
// columns of text are broken too, or the columns stand in several blocks one below
// the other, each with the first Keys columns. Widths are estimated with the font of
// the screen. Export writes its LaTeX alone.
func (t *Table) Fit(w Width) *Table {
	fitted := *t
	fitted.Long, fitted.Shares, fitted.fitted = false, nil, w
	for _, row := range t.Rows {
		if slices.ContainsFunc(row, func(c Cell) bool { return c.hasErr }) {
			fitted.Caption += concise
			break
		}
	}
	return &fitted
}

// keys returns the number of columns that name a row.
func (t *Table) keys() int { return max(t.Keys, 1) }

// concise returns what a reader sees of a cell in a fitted table: 0.505(5) for
// 0.505 ± 0.005.
func (c Cell) concise() Label {
	if !c.hasErr {
		return c.shown()
	}
	number := Value(c.value, c.digits).shown()
	err := "(" + strconv.FormatFloat(c.err*math.Pow10(c.digits), 'f', 0, 64) + ")"
	return Label{number.Text + err, strings.TrimSuffix(number.TeX, "$") + err + "$"}
}

// A narrowColumn is a column of a fitted table.
type narrowColumn struct {
	head  []Label // its lines
	width float64
	text  bool // aligned on the left
	wrap  bool // broken at the width
}

func (t *Table) narrowColumns() []narrowColumn {
	var all []narrowColumn
	for j, head := range t.Columns {
		c := narrowColumn{text: t.align(j, "l", "r") == "l"}
		for _, r := range t.Rows {
			c.width = max(c.width, r[j].concise().Width(narrowType))
		}
		c.head = []Label{head}
		if head.TeX == "" {
			c.head = nil
			for _, line := range breakWords(head.Text, c.width, narrowType) {
				c.head = append(c.head, Text(line))
			}
		}
		for _, l := range c.head {
			c.width = max(c.width, l.Width(narrowType))
		}
		all = append(all, c)
	}
	return all
}

// breakWords breaks s at spaces into lines of the width in type of a size, or one word.
func breakWords(s string, w, size float64) (lines []string) {
	for _, word := range strings.Fields(s) {
		if k := len(lines) - 1; k >= 0 && Text(lines[k]+" "+word).Width(size) <= w {
			lines[k] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// longestWord returns the width of the widest word in a column, and whether any of
// its cells has several.
func (t *Table) longestWord(j int) (w float64, several bool) {
	for _, r := range t.Rows {
		words := strings.Fields(r[j].concise().Text)
		several = several || len(words) > 1 && r[j].label.TeX == "" && !r[j].number
		for _, word := range words {
			w = max(w, Text(word).Width(narrowType))
		}
	}
	return w, several
}

// wrapped breaks the first column if it is text and the table then fits.
func (t *Table) wrapped(columns []narrowColumn) bool {
	excess := widthOf(columns) - float64(t.fitted)
	least, several := t.longestWord(0)
	if c := &columns[0]; c.text && several && c.width-excess >= max(least, 0.55*c.width) {
		c.width, c.wrap = math.Floor(c.width-excess), true
		return true
	}
	return false
}

func widthOf(columns []narrowColumn) float64 {
	w := narrowGap * float64(len(columns)-1)
	for _, c := range columns {
		w += c.width
	}
	return w
}

// blocks returns the columns that stand in each block. Columns of a group stay
// together where they fit.
func (t *Table) blocks(columns []narrowColumn) (all [][]int) {
	var keys []int
	for j := range t.keys() {
		keys = append(keys, j)
	}
	width := func(js []int) float64 {
		w := 0.0
		for _, j := range js {
			w += columns[j].width + narrowGap
		}
		return w - narrowGap
	}
	block := slices.Clone(keys)
	add := func(js []int) {
		if width(slices.Concat(block, js)) > float64(t.fitted) && len(block) > len(keys) {
			all, block = append(all, block), slices.Clone(keys)
		}
		block = append(block, js...)
	}
	for _, js := range t.together() {
		if width(slices.Concat(keys, js)) <= float64(t.fitted) {
			add(js)
			continue
		}
		for _, j := range js {
			add([]int{j})
		}
	}
	return append(all, block)
}

// together returns the columns after the keys, those of a group in one list.
func (t *Table) together() (all [][]int) {
	group := t.groupOf()
	for j := t.keys(); j < len(t.Columns); j++ {
		if j > t.keys() && group[j] == group[j-1] && !t.Groups[group[j]].Label.empty() {
			all[len(all)-1] = append(all[len(all)-1], j)
			continue
		}
		all = append(all, []int{j})
	}
	return all
}

// groupOf returns the group of each column, or its own number without groups.
func (t *Table) groupOf() (of []int) {
	for k, g := range t.Groups {
		for range g.Size {
			of = append(of, k)
		}
	}
	for j := len(of); j < len(t.Columns); j++ {
		of = append(of, j)
	}
	return of
}

// arrangement returns the columns of each block, all in one where that fits, if need
// be with a broken first column.
func (t *Table) arrangement(columns []narrowColumn) [][]int {
	if widthOf(columns) > float64(t.fitted) && !t.wrapped(columns) {
		return t.blocks(columns)
	}
	whole := make([]int, len(columns))
	for j := range whole {
		whole[j] = j
	}
	return [][]int{whole}
}

// narrowTeX returns the LaTeX of a fitted table.
func (t *Table) narrowTeX() []byte {
	columns := t.narrowColumns()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%% Table %s, at most %s bp wide. Needs \\usepackage{booktabs}.\n", t.ID, num(t.fitted))
	fmt.Fprintf(&b, "{\\footnotesize\\setlength{\\tabcolsep}{%gbp}\\begin{tabular}{@{}l@{}}\n", narrowGap/2.0)
	for k, js := range t.arrangement(columns) {
		if k > 0 {
			b.WriteString("\\\\[6bp]\n")
		}
		t.narrowBlock(&b, columns, js)
	}
	b.WriteString("\\end{tabular}}%\n")
	return b.Bytes()
}

// narrowBlock writes some columns as a tabular.
func (t *Table) narrowBlock(b *bytes.Buffer, columns []narrowColumn, js []int) {
	spec, deep := "", 0
	for _, j := range js {
		c := columns[j]
		deep = max(deep, len(c.head))
		switch {
		case c.wrap:
			spec += fmt.Sprintf(`p{%sbp}`, num(c.width))
		case c.text:
			spec += "l"
		default:
			spec += "r"
		}
	}
	fmt.Fprintf(b, "\\begin{tabular}{@{}%s@{}}\n\\toprule\n%s", spec, t.part(js).groupHead())
	line := func(cell func(c narrowColumn, j int) string) {
		var cells []string
		for _, j := range js {
			s := cell(columns[j], j)
			if columns[j].wrap && s != "" {
				s = `\raggedright ` + s
			}
			cells = append(cells, s)
		}
		b.WriteString("{}" + strings.Join(cells, " & ") + " \\tabularnewline\n")
	}
	for k := range deep {
		line(func(c narrowColumn, _ int) string {
			if at := k - deep + len(c.head); at >= 0 {
				return c.head[at].source()
			}
			return ""
		})
	}
	b.WriteString("\\midrule\n")
	for _, r := range t.Rows {
		line(func(_ narrowColumn, j int) string { return r[j].concise().source() })
	}
	b.WriteString("\\bottomrule\n\\end{tabular}")
}

// part returns the table with some of its columns, without rows, for its groups.
func (t *Table) part(js []int) *Table {
	p := &Table{}
	if t.Groups == nil {
		return p
	}
	of := t.groupOf()
	for k, j := range js {
		if k > 0 && of[js[k-1]] == of[j] {
			p.Groups[len(p.Groups)-1].Size++
			continue
		}
		p.Groups = append(p.Groups, Group{Label: t.Groups[of[j]].Label, Size: 1})
	}
	return p
}

// width estimates the width of the table in LaTeX.
func (t *Table) width() float64 {
	if t.fitted == 0 {
		const typeSize, gap = 10, 12
		w := 0.0
		for j, head := range t.Columns {
			column := head.Width(typeSize)
			for _, r := range t.Rows {
				column = max(column, r[j].shown().Width(typeSize))
			}
			w += column + gap
		}
		return w
	}
	columns, most := t.narrowColumns(), 0.0
	for _, js := range t.arrangement(columns) {
		var some []narrowColumn
		for _, j := range js {
			some = append(some, columns[j])
		}
		most = max(most, widthOf(some))
	}
	return most
}
