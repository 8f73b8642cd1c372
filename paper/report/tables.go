package report

import "learncausal/paper/figure"

// NewTable returns a table with the given heads and no rows yet.
func NewTable(id string, heads ...string) *figure.Table {
	return &figure.Table{ID: id, Columns: columns(heads...)}
}
