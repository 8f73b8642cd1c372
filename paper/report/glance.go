package report

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
)

// manyMatches is from how many matching positions on there are many.
const manyMatches = 3

// GlanceTable says where the query of each trained model looks in the second
// attention, on its first n test sequences.
func GlanceTable(rs []experiment.SingleRun, n int) (*figure.Table, error) {
	t := head(&figure.Table{ID: "glances"}, "Graph", "share on: matching, other children, roots, itself",
		fmt.Sprintf("on itself where: none matches, %d or more do", manyMatches))
	t.Caption = fmt.Sprintf(`Mean shares of the query's attention in the second layer, on %d test sequences. `+
		`A position matches if its parent has the query's token; roots are those but the query.`, n)
	for _, r := range rs {
		glances, err := r.Glances(n)
		if err != nil {
			return nil, err
		}
		var matching, other, roots, itself, none, many []float64
		for _, a := range glances {
			matching, other = append(matching, a.Matching), append(other, a.Other)
			roots, itself = append(roots, a.Roots), append(itself, a.Itself)
			if a.Matches == 0 {
				none = append(none, a.Itself)
			}
			if a.Matches >= manyMatches {
				many = append(many, a.Itself)
			}
		}
		row := []figure.Cell{words("%s", r.Title)}
		for _, v := range [][]float64{matching, other, roots, itself, none, many} {
			row = append(row, figure.Value(stat.Mean(v, nil), 2))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
