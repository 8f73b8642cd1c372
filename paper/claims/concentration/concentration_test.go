package concentration

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
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
		decideLength(w, instruments.FamilyMember{Family: "", Graph: graph.Chain(4)}, exact.Rats("1/2")[0], anyForest, bounds)
	}, [2]float64{2, 32. / 13}, [2]float64{4. / 3, 32. / 13}, [2]float64{4. / 3, 32. / 13})
	check.Inequalities("the bounds for siblings", func(w *ledger.Worst) {
		decideLength(w, instruments.FamilyMember{Family: "", Graph: star}, exact.Rats("1/3")[0], anyForest, bounds)
	}, [2]float64{4. / 3, 2.88}, [2]float64{1.6, 2.88}, [2]float64{1, 2.88})
	check.Inequalities("the pairs at a distance", func(w *ledger.Worst) {
		decideDistances(w, star, []int{0, 1, 2}, ledger.MustBound(`\frac53Ln`))
	}, [2]float64{3, 10}, [2]float64{4, 10}, [2]float64{2, 10})
}

// The slack of the tightest inequalities on covariances and on dependent pairs, against the minimum
// over all pairs of positions, or distances, and of states.
func TestTightestDecays(t *testing.T) {
	check := compare.With(t)
	for _, u := range compare.Asymmetrics() {
		c := u.Chain()
		covariance, dependent := 2.0, 2.0
		for i, j := range instruments.Pairs(instruments.NearForest.T() - 1) {
			decay := math.Pow(c.Lambda(), float64(instruments.NearForest.Distance(i, j)+1))
			for k, p := range c.Joint(instruments.NearForest, i, j).RawMatrix().Data {
				product := c.Mu[k/c.S] * c.Mu[k%c.S]
				covariance = min(covariance, ledger.Slack(math.Abs(p-product)/math.Sqrt(product), decay))
			}
		}
		bound := ledger.NewEnv(t.Context(), lemCovariance, true).Bound(0)
		check("the tightest covariance", ledger.Slack(covarianceSides(c, 1, bound)), covariance)
		for d := range 4 {
			decay := math.Pow(1-mat.Min(c.Pi), float64(d))
			for k, p := range c.Pi.RawMatrix().Data {
				m, m2 := c.Mu[k/c.S], c.Mu[k%c.S]
				first, middle := m*p*p*(c.Power(d).At(k%c.S, k/c.S)-m), math.Pow(m, 1.5)/math.Sqrt(m2)*p*p*decay
				dependent = min(dependent, ledger.Slack(first, middle), ledger.Slack(middle, math.Sqrt(m*m2)*p*decay))
			}
		}
		bounds := compare.Bounds(*lemChatVarDependent.Correction)
		check("the tightest dependent pair", ledger.Slack(dependentSides(c, lambdaOf, bounds)), dependent)
	}
}
