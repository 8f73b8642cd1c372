package claims

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// Three routes to the variance of a sum over a forest: one pass in floats, one
// in rationals, and the sum over all sequences.
func TestVarianceOverAForestAgreesWithEnumeration(t *testing.T) {
	pi := exact.Rats("1/2 1/3 1/6; 1/4 1/4 1/2; 2/5 1/5 2/5")
	g := graph.Grow(7, func(i int) int { return []int{0, 0, 1, -1, 4}[i-1] })
	weighted := func(i, x, y int) int { return i*y - 2*x }
	first, second := new(big.Rat), new(big.Rat)
	for x, p := range exact.Sequences(g, pi) {
		n := int64(0)
		for i, y := range x {
			up := -1
			if g.Parent(i) != graph.Root {
				up = x[g.Parent(i)]
			}
			n += int64(weighted(i, up, y))
		}
		first.Add(first, new(big.Rat).Mul(p, exact.Frac(n, 1)))
		second.Add(second, new(big.Rat).Mul(p, exact.Frac(n*n, 1)))
	}
	want := second.Sub(second, new(big.Rat).Mul(first, first))
	if m, v := exactMomentsOfSum(pi, g, weighted); m.Cmp(first) != 0 || v.Cmp(want) != 0 {
		t.Errorf("mean %v and variance %v, want %v and %v", m.RatString(), v.RatString(), first.RatString(), want.RatString())
	}
	mean, got := momentsOfSum(theory.MustChain(pi.Floats(), 3), g, weighted)
	if math.Abs(mean-exact.Float(first)) > 1e-12 || math.Abs(got-exact.Float(want)) > 1e-11 {
		t.Errorf("mean %v and variance %v, want %v and %v", mean, got, exact.Float(first), exact.Float(want))
	}
}

// The bounds on dependent pairs in floats, and the roots of their squares.
func TestDecayBoundsInBothArithmetics(t *testing.T) {
	check := comparing(t)
	for _, u := range asymmetrics() {
		mu := exact.MustStationary(u.first)
		for s, s2 := range pairs(len(u.first)) {
			m, m2, p := mu[s], mu[s2], u.first[s][s2]
			for _, b := range []decayBound{printedDecay, decayOfPowers, decayOfFlow, decayOfFlow.times(97, 100)} {
				bound := b.float(exact.Float(m), exact.Float(m2), exact.Float(p), 0.7)
				check("a bound on dependent pairs", bound, 0.7*math.Sqrt(exact.Float(b.square(m, m2, p))))
			}
		}
	}
}

// The bounds of T_eff(lambda) on three positions and the query: a path at lambda = 1/2, where it is
// 32/13, and two siblings at 1/3, where it is 72/25; and the pairs of siblings and parent by distance.
func TestLengthsByHand(t *testing.T) {
	check := comparing(t)
	bounds := []lengthBound{printedLength, lengthByCount, lengthByRatio}
	star := graph.Star(4)
	check.inequalities("the bounds for a path", func(w *ledger.Worst) {
		decideLength(w, familyMember{"", graph.Chain(4)}, exact.Rats("1/2")[0], anyForest, bounds)
	}, [2]float64{2, 32. / 13}, [2]float64{4. / 3, 32. / 13}, [2]float64{4. / 3, 32. / 13})
	check.inequalities("the bounds for siblings", func(w *ledger.Worst) {
		decideLength(w, familyMember{"", star}, exact.Rats("1/3")[0], anyForest, bounds)
	}, [2]float64{4. / 3, 2.88}, [2]float64{1.6, 2.88}, [2]float64{1, 2.88})
	check.inequalities("the pairs at a distance", func(w *ledger.Worst) { decideDistances(w, star, []int{0, 1, 2}, exact.Frac(5, 3)) },
		[2]float64{3, 10}, [2]float64{4, 10}, [2]float64{2, 10})
}
