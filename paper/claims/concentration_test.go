package claims

import (
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
)

// The bounds of T_eff(lambda) on three positions and the query: a path at lambda = 1/2, where it is
// 32/13, and two siblings at 1/3, where it is 72/25; and the pairs of siblings and parent by distance.
func TestLengthsByHand(t *testing.T) {
	check := compare.With(t)
	bounds := compare.Bounds(lemTEffLeaves)
	bounds = append(bounds, compare.Bounds(*lemTEffLeaves.Correction)...)
	star := graph.Star(4)
	check.Inequalities("the bounds for a path", func(w *ledger.Worst) {
		decideLength(w, familyMember{"", graph.Chain(4)}, exact.Rats("1/2")[0], anyForest, bounds)
	}, [2]float64{2, 32. / 13}, [2]float64{4. / 3, 32. / 13}, [2]float64{4. / 3, 32. / 13})
	check.Inequalities("the bounds for siblings", func(w *ledger.Worst) {
		decideLength(w, familyMember{"", star}, exact.Rats("1/3")[0], anyForest, bounds)
	}, [2]float64{4. / 3, 2.88}, [2]float64{1.6, 2.88}, [2]float64{1, 2.88})
	check.Inequalities("the pairs at a distance", func(w *ledger.Worst) { decideDistances(w, star, []int{0, 1, 2}, ledger.MustBound(`\frac53Ln`)) },
		[2]float64{3, 10}, [2]float64{4, 10}, [2]float64{2, 10})
}
