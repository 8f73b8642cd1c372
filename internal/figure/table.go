package figure

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	number "learncausal/pkg/num"
)

// A Table can be written as LaTeX (booktabs), CSV and Markdown.
type Table struct {
	ID      string
	Caption string // LaTeX: plain text, and formulas between dollar signs
	Columns []string
	// Groups are a second head over neighbouring columns, or nil. Their sizes add up to the
	// number of columns, and an empty label has no head.
	Groups []Group
	Rows   [][]Cell
	// Long means a longtable, which breaks over pages, and stands on pages with one column.
	Long bool
	// Shares are the widths of the columns in LaTeX, in parts of the line, or 0 for the natural
	// width; nil means all natural. Text breaks in a column with a share. With the share 1 it
	// has no head and stands below the row. A long table with shares has small type.
	Shares []float64
}

// NewTable returns a table without rows. Each head is the name of a column, or
// "group: name, name" for neighbouring columns under a common head.
func NewTable(caption string, heads ...string) *Table {
	t := &Table{Caption: caption}
	for _, s := range heads {
		group, names, grouped := strings.Cut(s, ": ")
		if !grouped {
			group, names = "", s
		}
		all := strings.Split(names, ", ")
		t.Columns = append(t.Columns, all...)
		t.Groups = append(t.Groups, Group{Name: group, Size: len(all)})
	}
	return t
}

// Add appends a row; see [CellOf].
func (t *Table) Add(values ...any) {
	row := make([]Cell, len(values))
	for i, v := range values {
		row[i] = CellOf(v)
	}
	t.Rows = append(t.Rows, row)
}

// A Cell of a table is a text, a number, or a number with its error.
type Cell struct {
	label, raw string // a label, and LaTeX in its place, or ""
	value, err float64
	digits     int
	number     bool
	hasErr     bool
}

// Words is a cell with a label.
func Words(label string) Cell { return Cell{label: label} }

// Raw is a cell with a text and, in LaTeX, with source.
func Raw(text, tex string) Cell { return Cell{label: text, raw: tex} }

// Value is a cell with a number, shown with the given digits after the point.
func Value(v float64, digits int) Cell { return Cell{value: v, digits: digits, number: true} }

// PlusMinus is a cell with a number and its error.
func PlusMinus(v, err float64, digits int) Cell {
	return Cell{value: v, err: err, digits: digits, number: true, hasErr: true}
}

// CellOf returns the cell of a table with a value: a bool is yes or no, an integer a count, a
// float64 a number with three digits after the point, and a [num.Estimate] mean and standard
// error with four. It panics for a type that is not below.
func CellOf(v any) Cell {
	switch v := v.(type) {
	case string:
		return Words(v)
	case bool:
		return CellOf(map[bool]string{true: "yes", false: "no"}[v])
	case int:
		return Value(float64(v), 0)
	case float64:
		return Value(v, 3)
	case number.Estimate:
		return PlusMinus(v.Mean, v.StdErr, 4)
	case Cell:
		return v
	}
	panic(fmt.Sprintf("figure: a cell of type %T, want string, bool, int, float64, "+
		"num.Estimate or figure.Cell", v))
}

// Shown returns the cell as a label.
func (c Cell) Shown() string {
	if !c.number {
		return c.label
	}
	s := strconv.FormatFloat(c.value, 'f', c.digits, 64)
	if !c.hasErr {
		return s
	}
	return "$" + s + ` \pm ` + strconv.FormatFloat(c.err, 'f', c.digits, 64) + "$"
}

// Text returns the cell without markup.
func (c Cell) Text() string { return Plain(c.Shown()) }

// tex returns the LaTeX of a cell that has passed check.
func (c Cell) tex() string {
	if c.raw != "" {
		return c.raw
	}
	tex, _ := latex(c.Shown())
	return tex
}

func (t *Table) check() error {
	if err := checkID(t.ID); err != nil {
		return err
	}
	if err := checkTeX(t.Columns...); err != nil {
		return fmt.Errorf("table %s: %w", t.ID, err)
	}
	if len(t.Columns) == 0 {
		return fmt.Errorf("table %s has no columns", t.ID)
	}
	if t.Shares != nil && len(t.Shares) != len(t.Columns) {
		return fmt.Errorf("table %s has %d shares, want one for each of its %d columns",
			t.ID, len(t.Shares), len(t.Columns))
	}
	if t.Groups != nil {
		sum := 0
		for _, g := range t.Groups {
			if sum += g.Size; g.Size < 1 || checkTeX(g.Name) != nil {
				return fmt.Errorf("table %s: group %q of %d columns, want a label and at least 1", t.ID, g.Name, g.Size)
			}
		}
		if sum != len(t.Columns) {
			return fmt.Errorf("table %s: groups of columns: they cover %d of %d", t.ID, sum, len(t.Columns))
		}
	}
	for i, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return fmt.Errorf("table %s: row %d has %d cells, want %d", t.ID, i, len(r), len(t.Columns))
		}
		for _, c := range r {
			if err := checkTeX(c.label); err != nil && c.raw == "" {
				return fmt.Errorf("table %s, row %d: %w", t.ID, i, err)
			}
		}
	}
	return nil
}

// flatHead returns the heads of the columns, with the names of their groups before
// them, for formats with a single line of heads.
func (t *Table) flatHead() []string { return t.heads(Plain) }

func (t *Table) heads(form func(label string) string) (heads []string) {
	for _, c := range t.Columns {
		heads = append(heads, form(c))
	}
	j := 0
	for _, g := range t.Groups {
		for k := j; k < j+g.Size && g.Name != ""; k++ {
			heads[k] = form(g.Name) + ": " + heads[k]
		}
		j += g.Size
	}
	return heads
}

// align returns numbers if column j has mostly numbers, and words otherwise.
func (t *Table) align(j int, words, numbers string) string {
	n := 0
	for _, r := range t.Rows {
		if r[j].number {
			n++
		}
	}
	if 2*n > len(t.Rows) {
		return numbers
	}
	return words
}

// spec returns the columns of the tabular, and their number, but for those that stand below their row.
func (t *Table) spec() (columns string, beside int) {
	for j := range t.Columns {
		switch {
		case t.below(j):
			continue
		case t.breaks(j):
			columns += fmt.Sprintf(`p{%g\linewidth}`, t.Shares[j])
		default:
			columns += t.align(j, "l", "r")
		}
		beside++
	}
	return columns, beside
}

// TeX returns LaTeX source to be \input: a tabular that fits the line it stands in,
// or a longtable with its caption.
func (t *Table) TeX() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	spec, beside := t.spec()
	end := ` \\`
	if t.Shares != nil {
		end = ` \tabularnewline` // \raggedright redefines \\
	}
	line := func(cell func(j int) Cell) string {
		var cells []string
		for j := range t.Columns {
			if t.below(j) {
				continue
			}
			tex := cell(j).tex()
			if t.breaks(j) {
				tex = `\raggedright ` + tex
			}
			cells = append(cells, tex)
		}
		return strings.Join(cells, " & ") + end + "\n"
	}
	heads := line(func(j int) Cell { return Words(t.Columns[j]) })
	head := "\\toprule\n" + t.groupHead() + heads + "\\midrule\n"
	var rows strings.Builder
	for i, r := range t.Rows {
		if i > 0 && !t.Long && t.inBlocks() && r[0].Shown() != t.Rows[i-1][0].Shown() {
			rows.WriteString("\\addlinespace\n")
		}
		// A row that starts with a bracket would be the argument of \\.
		rows.WriteString("{}" + line(func(j int) Cell { return r[j] }))
		for j := range r {
			if t.below(j) {
				fmt.Fprintf(&rows, `\nopagebreak\multicolumn{%d}{p{\dimexpr\linewidth-2\tabcolsep}}{\raggedright %s}`+
					"\\tabularnewline\\addlinespace\n", beside, r[j].tex())
			}
		}
	}
	var b bytes.Buffer
	if !t.Long {
		fmt.Fprintf(&b, "%% Table %s. Needs \\usepackage{booktabs,graphicx}.\n", t.ID)
		fmt.Fprintf(&b, "\\begingroup\\def\\figtable{\\begin{tabular}{%s}\n%s%s", spec, head, rows.String())
		b.WriteString("\\bottomrule\n\\end{tabular}}%\n" + fitLine)
		return b.Bytes(), nil
	}
	fmt.Fprintf(&b, "%% Table %s. Needs \\usepackage{booktabs,longtable}.\n%s\n", t.ID, beginOneColumn)
	if t.Shares != nil {
		b.WriteString("\\footnotesize\\setlength{\\tabcolsep}{3pt}%\n")
	}
	fmt.Fprintf(&b, "\\begin{longtable}{%s}\n", spec)
	if t.Caption != "" {
		fmt.Fprintf(&b, "\\caption{%s}\\label{tab:%s}\\\\\n", t.Caption, t.ID)
	}
	b.WriteString(head + "\\endfirsthead\n" + head + "\\endhead\n\\bottomrule\n\\endfoot\n")
	b.WriteString(rows.String() + "\\end{longtable}\n" + endOneColumn + "\n")
	return b.Bytes(), nil
}

// inBlocks reports whether some neighbouring rows begin with the same text.
func (t *Table) inBlocks() bool {
	for i := 1; i < len(t.Rows); i++ {
		if t.Rows[i][0].Shown() == t.Rows[i-1][0].Shown() {
			return true
		}
	}
	return false
}

// below reports whether the text of column j stands below the row in LaTeX.
func (t *Table) below(j int) bool { return t.Shares != nil && t.Shares[j] == 1 }

// breaks reports whether the text of column j breaks into lines.
func (t *Table) breaks(j int) bool { return t.Shares != nil && t.Shares[j] > 0 }

// fitLine typesets \figtable in the size of the text, or in the largest smaller size
// in which it is no wider than the line, or scaled to the line.
const fitLine = `\sbox0{\figtable}%
\ifdim\wd0>\linewidth\small\setlength{\tabcolsep}{4pt}\sbox0{\figtable}\fi
\ifdim\wd0>\linewidth\footnotesize\setlength{\tabcolsep}{2.5pt}\sbox0{\figtable}\fi
\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\endgroup
`

// Between these commands a document has one column, as a longtable requires.
const (
	beginOneColumn = `\begingroup\makeatletter
\if@twocolumn\onecolumn\def\figcolumns{\twocolumn}\else\let\figcolumns\relax\fi\makeatother`
	endOneColumn = `\figcolumns\endgroup`
)

// groupHead returns the line of the groups in LaTeX, with rules, or "" if none has a label.
func (t *Table) groupHead() string {
	if !slices.ContainsFunc(t.Groups, func(g Group) bool { return g.Name != "" }) {
		return ""
	}
	var heads []string
	rules, from := "", 1
	for _, g := range t.Groups {
		h := ""
		if g.Name != "" {
			h = Words(g.Name).tex()
			rules += fmt.Sprintf(`\cmidrule(lr){%d-%d}`, from, from+g.Size-1)
		}
		heads = append(heads, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, g.Size, h))
		from += g.Size
	}
	return strings.Join(heads, " & ") + ` \\ ` + rules + "\n"
}

// CSV returns the table with plain headers and numbers in full precision. Errors are
// in a separate column, after the column of their numbers.
func (t *Table) CSV() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	withErr := make([]bool, len(t.Columns))
	for _, r := range t.Rows {
		for j, c := range r {
			withErr[j] = withErr[j] || c.hasErr
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := make([][]string, 1)
	for j, h := range t.flatHead() {
		lines[0] = append(lines[0], h)
		if withErr[j] {
			lines[0] = append(lines[0], h+" (error)")
		}
	}
	for _, r := range t.Rows {
		var row []string
		for j, c := range r {
			field, e := Plain(c.label), ""
			if c.number {
				field = strconv.FormatFloat(c.value, 'g', -1, 64)
			}
			if c.hasErr {
				e = strconv.FormatFloat(c.err, 'g', -1, 64)
			}
			row = append(row, field)
			if withErr[j] {
				row = append(row, e)
			}
		}
		lines = append(lines, row)
	}
	err := w.WriteAll(lines)
	return b.Bytes(), err
}

// markdown returns the cell with the formulas of its label, which notebooks show.
func (c Cell) markdown() string {
	if c.number || len(parts(c.label)) == 1 {
		return c.Text()
	}
	return c.label
}

// Markdown returns a table in GitHub's dialect.
func (t *Table) Markdown() (string, error) {
	if err := t.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(t.heads(func(s string) string { return s }))
	for j := range t.Columns {
		b.WriteString(t.align(j, "|---", "|--:"))
	}
	b.WriteString("|\n")
	for _, r := range t.Rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, c.markdown())
		}
		line(cells)
	}
	return b.String(), nil
}

// Export writes <id>.tex and <id>.csv into dir and returns their paths.
func (t *Table) Export(dir string) ([]string, error) {
	return export(dir, format{t.ID + ".tex", t.TeX}, format{t.ID + ".csv", t.CSV})
}
