package figures

import (
	"fmt"
	"strings"

	"learncausal/internal/figure"
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

// addRow appends a row to a table; see [figure.CellOf].
func addRow(t *figure.Table, values ...any) {
	row := make([]figure.Cell, len(values))
	for i, v := range values {
		row[i] = figure.CellOf(v)
	}
	t.Rows = append(t.Rows, row)
}

func words(format string, args ...any) figure.Cell {
	return figure.CellOf(fmt.Sprintf(format, args...))
}
