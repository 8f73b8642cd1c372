package lemmasstagetwo

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/exact"
	"learncausal/pkg/theory"
)

// At beta = 0 the norm of the gradient is 2 kappa (1-m) for the weight m of the
// tokens s'. For beta = 8 it agrees with the differences of q.
func TestScoreGradientIsTheGradientOfTheQuotient(t *testing.T) {
	const epsilon, beta = 0.01, 8
	p, z := []float64{0.1, 0.2, 0.3, 0.4}, []float64{1, 0.25, 0.75, 0}
	if got, want := theory.ScoreGradient(0, epsilon, p, z, groupHits), 2*(0.3/0.31)*0.7; math.Abs(got-want) > 1e-14 {
		t.Errorf("norm %v at beta = 0, want %v", got, want)
	}
	a := make([]float64, len(p)) // the weight of a group divided by exp(beta z)
	for k := range p {
		a[k] = p[k] * math.Exp(-beta*z[k])
	}
	quotient := func(z []float64) float64 {
		total, hits, mean, hitMean := 0.0, 0.0, 0.0, 0.0
		for k := range z {
			w := a[k] * math.Exp(beta*z[k])
			total, mean = total+w, mean+w*z[k]
			if groupHits[k] {
				hits, hitMean = hits+w, hitMean+w*z[k]
			}
		}
		m := hits / total
		return (hitMean/total - m*mean/total) / (m + epsilon)
	}
	want := 0.0
	for k := range z {
		up, down := slices.Clone(z), slices.Clone(z)
		up[k] += 1e-5
		down[k] -= 1e-5
		want += math.Abs(quotient(up)-quotient(down)) / 2e-5
	}
	if got := theory.ScoreGradient(beta, epsilon, p, z, groupHits); math.Abs(got-want) > 1e-6*want {
		t.Errorf("norm %v at beta = 8, want %v by differences", got, want)
	}
}

// The displayed uses of Lemma 28 for errors E_n = n + 2 but E_3 = -5, epsilon = 2, e^beta = 3, a value of
// -4 and B2 = 7.
func TestQuotientsAsPrinted(t *testing.T) {
	check := compare.With(t)
	q := exact.Quotient{Value: exact.Int(-4), Below: exact.Int(7)}
	var errs [8]*big.Rat
	for n := range errs {
		errs[n] = exact.Int(n + 2)
	}
	errs[3].Neg(errs[3])
	for _, of := range []struct {
		use  quotientUse
		want float64
	}{
		{quotientE3, (4*(9+5) + 9 + 4) / 7.},
		{quotientE3Printed, 4 * (9 - 5 + 9 + 4) / 7.},
		{quotientE12, (4*(18+7+9+6) + 18 + 8) / 7.},
		{quotientE12Printed, 4 * (18 + 7 + 9 + 6 + 18 + 8) / 7.},
		{quotientF, (4*(9+5) + 18 + 7 + 9) / 7.},
		{quotientFPrinted, (4*(18+7+9) + 9 + 5) / 7.},
	} {
		check("a use of Lemma 28", exact.Float(of.use.bound(q, errs, exact.Int(3))), of.want)
	}
}

// The norm of grad q by dual numbers, against the formula that the search uses.
func TestScoreGradientByDualNumbers(t *testing.T) {
	for _, x := range [][]float64{
		{0, -3, 0.4, -1, 2, -0.3, 0.1, -0.7, 1.2, 0.5},
		{-2, -9, 6, 5, -6, -4, -8, -7, 0, 1},
		{3, 0, 1, -2, 0.5, -0.5, 2, 0.3, -1, 0.7},
	} {
		g := roundedGroups(x)
		dual := exact.Float(exact.ScoreGradient(g.beta, g.epsilon, g.weights, g.scores, groupHits))
		beta, eps, weights, scores := exact.Float(g.beta), exact.Float(g.epsilon), g.weights.Floats(), g.scores.Floats()
		compare.With(t)("|grad q|_1", theory.ScoreGradient(beta, eps, weights, scores, groupHits), dual)
	}
}

// The tail and the second moment of a binomial deviation.
func TestBinomialDeviationsByHand(t *testing.T) {
	check := compare.With(t)
	tail, square := binomialDeviation(3, exact.Frac(1, 5), exact.Frac(3, 10))
	check.Each("a binomial deviation", []float64{exact.Float(tail), exact.Float(square)}, []float64{0.104, 0.16 / 3})
	tail, square = binomialDeviation(2, exact.Frac(1, 2), exact.Frac(1, 2))
	check.Each("a binomial deviation", []float64{exact.Float(tail), exact.Float(square)}, []float64{0.5, 0.125})
}
