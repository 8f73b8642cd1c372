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

// wideBracket is how much wider brackets are in Computer Modern than on the screen.
const wideBracket = 0.7

// concise explains the form of a number with its error in a fitted table.
const concise = ` A number in brackets is the standard error in units of the last digit.`

// Fit returns the table in a narrow form, whose LaTeX fits the width: in small type,
// errors in brackets, heads broken into lines. Where that does not do, a column whose
// words repeat becomes lines across the table, then the first column of text is
// broken, or else the columns stand in several blocks one below the other, each with
// the columns that tell the rows apart. Widths are estimated with the font of the
// screen. Export writes its LaTeX alone.
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

// keys returns how many leading columns tell the rows apart.
func (t *Table) keys() int {
	for k := 1; k < len(t.Columns); k++ {
		seen := make(map[string]bool)
		for _, r := range t.Rows {
			name := ""
			for _, c := range r[:k] {
				name += c.shown().Text + "\x00"
			}
			seen[name] = true
		}
		if len(seen) == len(t.Rows) {
			return k
		}
	}
	return 1
}

// repeats returns the first of the key columns whose words come in runs of at least
// two rows on average, or -1.
func (t *Table) repeats() int {
	for j := range t.keys() {
		runs := 0
		for i := range t.Rows {
			if t.starts(i, j) {
				runs++
			}
		}
		if t.align(j, "l", "r") == "l" && 2*runs <= len(t.Rows) {
			return j
		}
	}
	return -1
}

// starts tells whether row i is the first of several with the same words in column j.
func (t *Table) starts(i, j int) bool {
	return i == 0 || t.Rows[i][j].shown() != t.Rows[i-1][j].shown()
}

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
	// across means that its words stand in lines across the table.
	across bool
}

func (t *Table) narrowColumns() []narrowColumn {
	var all []narrowColumn
	for j, head := range t.Columns {
		c := narrowColumn{text: t.align(j, "l", "r") == "l"}
		for _, r := range t.Rows {
			w := r[j].concise().Width(narrowType)
			if r[j].hasErr {
				w += 2 * wideBracket
			}
			c.width = max(c.width, w)
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
	j := slices.IndexFunc(columns, func(c narrowColumn) bool { return !c.across })
	c, excess := &columns[j], widthOf(columns)-t.room()
	least, several := t.longestWord(j)
	if c.text && several && c.width-excess >= max(least, 0.55*c.width) {
		c.width, c.wrap = math.Floor(c.width-excess), true
		return true
	}
	return false
}

// room is the width less what rounding takes.
func (t *Table) room() float64 { return float64(t.fitted) - 0.5 }

// widthOf returns the width of columns side by side. One that stands in lines across
// the table has none.
func widthOf(columns []narrowColumn) float64 {
	w := -float64(narrowGap)
	for _, c := range columns {
		if !c.across {
			w += c.width + narrowGap
		}
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
		var some []narrowColumn
		for _, j := range js {
			some = append(some, columns[j])
		}
		return widthOf(some)
	}
	block := slices.Clone(keys)
	add := func(js []int) {
		if width(slices.Concat(block, js)) > t.room() && len(block) > len(keys) {
			all, block = append(all, block), slices.Clone(keys)
		}
		block = append(block, js...)
	}
	for _, js := range t.together() {
		if width(slices.Concat(keys, js)) <= t.room() {
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
// be with a column in lines across or a broken one, which it marks.
func (t *Table) arrangement(columns []narrowColumn) [][]int {
	if j := t.repeats(); j >= 0 && widthOf(columns) > t.room() {
		columns[j].across = true
	}
	if widthOf(columns) > t.room() && !t.wrapped(columns) {
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
func (t *Table) narrowBlock(b *bytes.Buffer, columns []narrowColumn, all []int) {
	spec, deep, across := "", 0, -1
	var js []int
	for _, j := range all {
		if columns[j].across {
			across = j
			continue
		}
		js, deep = append(js, j), max(deep, len(columns[j].head))
		spec += columns[j].spec()
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
	for i, r := range t.Rows {
		if i == 0 || across >= 0 && t.starts(i, across) {
			b.WriteString("\\midrule\n")
		}
		if across >= 0 && t.starts(i, across) {
			fmt.Fprintf(b, "\\multicolumn{%d}{@{}l@{}}{\\emph{%s: %s}} \\tabularnewline\n",
				len(js), t.Columns[across].source(), r[across].shown().source())
		}
		line(func(_ narrowColumn, j int) string { return r[j].concise().source() })
	}
	b.WriteString("\\bottomrule\n\\end{tabular}")
}

// spec returns the column in the argument of tabular.
func (c narrowColumn) spec() string {
	switch {
	case c.wrap:
		return fmt.Sprintf(`p{%sbp}`, num(c.width))
	case c.text:
		return "l"
	}
	return "r"
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

// wide tells that the table would not fit a page in type of 10 pt, and is set smaller.
func (t *Table) wide() bool { return t.Shares == nil && t.width() > float64(TwoColumns) }

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
