package report

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
)

// manyMatches is the least number of matching positions that counts as many.
const manyMatches = 3

// QuerySharesTable has the mean shares of the query's attention in the second layer of
// each trained model, on its first n test sequences.
func QuerySharesTable(rs []experiment.SingleRun, n int) (*figure.Table, error) {
	t := newTable(
		fmt.Sprintf(`Mean shares of the query's attention in the second layer, on %d test sequences. `+
			`A position matches if its parent has the query's token; roots are those but the query.`, n),
		"Graph", "share on: matching, other children, roots, itself",
		fmt.Sprintf("on itself where: none matches, %d or more do", manyMatches))
	t.ID = "query-shares"
	for _, r := range rs {
		all, err := r.QueryShares(n)
		if err != nil {
			return nil, err
		}
		var matching, other, roots, itself, none, many []float64
		for _, a := range all {
			matching, other = append(matching, a.Matching), append(other, a.Other)
			roots, itself = append(roots, a.Roots), append(itself, a.Itself)
			if a.Matches == 0 {
				none = append(none, a.Itself)
			}
			if a.Matches >= manyMatches {
				many = append(many, a.Itself)
			}
		}
		row := []any{r.Title}
		for _, v := range [][]float64{matching, other, roots, itself, none, many} {
			row = append(row, figure.Value(stat.Mean(v, nil), 2))
		}
		addRow(t, row...)
	}
	return t, nil
}
