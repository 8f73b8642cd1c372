package show

import (
	"fmt"

	"learncausal/pkg/figure"
	"learncausal/pkg/nb"
)

// Grid shows a table made in the cell, its caption in LaTeX. The cells are those
// of package figure, or of Words.
func Grid(caption string, heads []string, rows ...[]figure.Cell) {
	t := &figure.Table{ID: "grid", Caption: caption, Rows: rows}
	for _, head := range heads {
		t.Columns = append(t.Columns, figure.Text(head))
	}
	nb.Table(t)
}

// Words formats as fmt.Sprintf does, for a cell of a Grid.
func Words(format string, args ...any) figure.Cell {
	return figure.Words(figure.Text(fmt.Sprintf(format, args...)))
}

// Int returns a cell with a whole number, for a Grid.
func Int(n int) figure.Cell { return figure.Value(float64(n), 0) }
