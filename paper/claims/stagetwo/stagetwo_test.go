package stagetwo

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// Growth by one in each step, and the bounds of a second derivative at e^beta = 4,
// mu = z/2 = gamma = 1/2, r = 1/4 and two states.
func TestInequalitiesOfStageTwo(t *testing.T) {
	check := compare.With(t)
	var lines [][2]float64
	for _, target := range []float64{0.03, 0.5, 1, 2, 3} {
		for _, rate := range []float64{1, 0.125} {
			steps := math.Ceil(target / rate)
			lines = append(lines, [2]float64{steps - 1, (math.Exp(2*target) - 1) / rate}, [2]float64{steps * rate, target + 1})
		}
	}
	check.Inequalities("growth by one", func(w *ledger.Worst) {
		betaClimb{timeOfClimb, 1, 1, 1, bothRates}.climb(w, "", 0.5, func(float64) float64 { return 1 })
	}, lines...)
	half, four, curve := exact.Frac(1, 2), exact.Int(4), curvature{reach: 1, last: ledger.MustBound(`2\gamma^5S^{-3}e^{-2\beta}`)}
	var got []float64
	at := convexInstance{
		s: exact.Int(2), gamma: half, mu: half, r: exact.Frac(1, 4), z: exact.Int(1), expBeta: four, expBetaMu: exact.Int(2),
	}
	for _, step := range curve.steps(at) {
		got = append(got, exact.Float(step.LHS), exact.Float(step.RHS))
	}
	second, first, next := 2.5*3.1875/math.Pow(2.375, 3), 4.5/math.Pow(5.75, 3), 4.5/4096
	check.Each("a second derivative and its bounds", got,
		[]float64{second, second, second, second, first, second, next, first, 0.0625 / 128, next})
	check.Inequalities("the first bound", func(w *ledger.Worst) { curve.compare(w, at) }, [2]float64{first, second})
	u := compare.Asymmetrics()[0]
	for drops, want := range map[string][]float64{
		"": {0.4, 0.3}, rootsAtMost: {0.4, 0.4}, entriesAbove: {math.Sqrt(0.52), 0.3}, spreadAtLeast: {0.4, 0.3},
	} {
		b := ghatBound{drops: drops}
		for k, r := range []float64{0.1, 0.7} {
			check("the largest gamma", b.gamma(u.Chain(), r), want[k])
		}
	}
	check("a gamma rounded down", exact.Float(ghatBound{drops: rootsAtMost}.rationalGamma(u.First, half)), 0.399999)
}

// The growth of beta on a long chain, at a length that can be enumerated.
func TestGrowthOnALongChainIsThePopulationGradient(t *testing.T) {
	const n, eps, beta = 4, 0.125, 1.5
	for _, c := range longChains(n) {
		c.Eps = eps
		logits := make([]float64, n*(n+1)/2)
		logits[0], logits[1], logits[4] = 50, 50, 50 // the parents; the query's row is uniform
		var bases [][]float64
		for _, base := range c.Bases {
			bases = append(bases, base.Floats())
		}
		p := instruments.NewSmallPopulation(graph.Chain(n), instruments.MustOrbit(2, bases...), eps, beta, logits)
		want := -p.Gradients(theory.QueryInSequence).Gradient(p.Model).DeltaBeta
		compare.With(t)("the growth of beta", c.Growth(beta).Float(), want)
	}
}

// The growth of beta on a cycle over two states, against G2 by enumeration.
func TestGrowthOnACycleIsTheTraceOfG2(t *testing.T) {
	attention := exact.Rats("1 0 0 0 0; 1 0 0 0 0; 0 1 0 0 0; 0 0 1 0 0; 0 0 0 0 1")
	swap, eps := []exact.Matrix{exact.Rats("0 1; 1 0")}, exact.Frac(1, 7)
	for _, reading := range []theory.Reading{theory.QueryApart, theory.QueryInSequence} {
		trace := instruments.ExactPopulation(graph.Chain(5), eps, reading, swap...).G2(attention, exact.Int(2)).Trace()
		want := exact.Sub(new(big.Rat), trace)
		if got := (cycle{S: 2, T: 5, ExpBeta: exact.Int(4), Eps: eps, Reading: reading}).growth(); got.Cmp(want) != 0 {
			t.Errorf("%v: the growth is %v, want %v", reading, got, want)
		}
	}
}

// Lemma 10 is open where no instance satisfies its hypotheses.
func TestGrowthCanBeOpen(t *testing.T) {
	compare.Verdicts(t, thmStageTwoLower, map[string]compare.Outcome{
		"no chain":          {Check: growthOfChains(1. / 12), Want: ledger.Open},
		"range not reached": {Check: farGrowth(60), Want: ledger.Open},
	})
}
