package nb

import (
	"fmt"
	"strings"

	"learncausal/internal/figure"
)

// A TextTable is a table that a cell fills line by line.
type TextTable struct {
	Caption string // in LaTeX
	table   figure.Table
	left    []bool // by column: it has text, and is aligned to the left
}

// NewTable returns a table without lines. A head is plain text, and may hold formulas
// between dollar signs, which Markdown shows.
func NewTable(heads ...string) *TextTable {
	t := &TextTable{table: figure.Table{ID: "table"}, left: make([]bool, len(heads))}
	t.table.Columns = append(t.table.Columns, heads...)
	return t
}

// Line adds a line with one value for each head: a string, a bool, an int, a float64 to three digits, a num.Estimate
// or a [Cell]. It panics for other values.
func (t *TextTable) Line(values ...any) {
	if n := len(t.table.Columns); len(values) != n {
		panic(fmt.Sprintf("nb: line of %d values below %d heads", len(values), n))
	}
	line := make([]figure.Cell, len(values))
	for i, v := range values {
		if c, ok := v.(Cell); ok {
			v = c.cell
		}
		line[i] = figure.CellOf(v)
		switch v.(type) {
		case string, bool:
			t.left[i] = true
		}
	}
	t.table.Rows = append(t.table.Rows, line)
}

// Show shows the table above its caption.
func (t *TextTable) Show() {
	text := t.markdown()
	if t.Caption != "" {
		text += "\n" + Caption(t.Caption)
	}
	Markdown("%s", text)
}

func (t *TextTable) markdown() string {
	head, rest, _ := strings.Cut(Must(t.table.Markdown()), "\n")
	_, lines, _ := strings.Cut(rest, "\n")
	align := "|"
	for _, left := range t.left {
		align += map[bool]string{true: "---|", false: "--:|"}[left]
	}
	return head + "\n" + align + "\n" + lines
}

// A Cell is a number in a table, in the form that [Rounded] or [Fixed] gives it.
type Cell struct{ cell figure.Cell }

// Rounded returns a cell with a number to three digits, and a power of ten if needed.
func Rounded(v float64) Cell {
	return Cell{figure.Words(figure.Plain(figure.Number{Value: v}.Shown()))}
}

// Fixed returns a cell with a number to the given number of digits after the point.
func Fixed(v float64, digits int) Cell { return Cell{figure.Value(v, digits)} }
