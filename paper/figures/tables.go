package figures

import (
	"fmt"
	"strings"

	"learncausal/internal/figure"
	"learncausal/pkg/num"
)

// newTable returns a table without rows. Each head is the name of a column, or
// "group: name, name" for neighbouring columns under a common head.
func newTable(caption string, heads ...string) *figure.Table {
	t := &figure.Table{Caption: caption}
	for _, s := range heads {
		group, names, grouped := strings.Cut(s, ": ")
		if !grouped {
			group, names = "", s
		}
		all := strings.Split(names, ", ")
		for _, name := range all {
			t.Columns = append(t.Columns, figure.Text(name))
		}
		t.Groups = append(t.Groups, figure.Group{Label: figure.Text(group), Size: len(all)})
	}
	return t
}

// addRow appends a row to a table; see [Cell].
func addRow(t *figure.Table, values ...any) {
	row := make([]figure.Cell, len(values))
	for i, v := range values {
		row[i] = Cell(v)
	}
	t.Rows = append(t.Rows, row)
}

// Cell returns the cell of a table with a value: a bool is yes or no, an integer a count, a
// float64 a number with three digits after the point, and a [num.Estimate] mean and standard
// error with four. It panics for a type that is not below.
func Cell(v any) figure.Cell {
	switch v := v.(type) {
	case string:
		return figure.Words(figure.Text(v))
	case figure.Label:
		return figure.Words(v)
	case bool:
		return Cell(map[bool]string{true: "yes", false: "no"}[v])
	case int:
		return figure.Value(float64(v), 0)
	case float64:
		return figure.Value(v, 3)
	case num.Estimate:
		return figure.PlusMinus(v.Mean, v.StdErr, 4)
	case figure.Cell:
		return v
	}
	panic(fmt.Sprintf("figures: a cell of type %T, want string, bool, int, float64, "+
		"num.Estimate, figure.Label or figure.Cell", v))
}

func words(format string, args ...any) figure.Cell { return Cell(fmt.Sprintf(format, args...)) }
