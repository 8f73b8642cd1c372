package mainresults

import (
	"math"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
)

// The loss and the error of the model that predicts the law of the tokens, against sums over all
// sequences.
func TestTokenLossIsASumOverSequences(t *testing.T) {
	check := compare.With(t)
	const eps = 0.25
	g, base := graph.Chain(4), exact.Rats("4/5 1/5; 3/10 7/10")
	swapped := exact.Rats("1/5 4/5; 7/10 3/10")
	var gap, square float64
	for _, pi := range []exact.Matrix{base, swapped, exact.Rats("7/10 3/10; 1/5 4/5"), exact.Rats("3/10 7/10; 4/5 1/5")} {
		for x, chance := range exact.Sequences(g, pi) {
			weight, far := exact.Float(chance)/4, 0.0
			for b, q := range pi[x[3]] {
				f, p := float64(instruments.Occurrences(b, x))/4, exact.Float(q)
				gap += weight * p * (math.Log(p) - math.Log(f+eps))
				far += math.Abs((f+eps)/1.5 - p)
			}
			square += weight / 2 * far * far
		}
	}
	l := newTokenLoss(g, base, exact.Frac(1, 4))
	check("L - L*", l.gap.Float(), gap)
	check("log(1 + S eps)", l.shift.Float(), math.Log(1.5))
	check("the mean of |q - pi|^2/2", exact.Float(l.square), square)
}

// The logarithms at the threshold of Lemma 32, and the mixture in the limit.
func TestInequalitiesOfTheStepsOfTheoremOne(t *testing.T) {
	check := compare.With(t)
	pi := exact.Rats("4/5 1/5; 2/5 3/5")
	var lines [][2]float64
	for _, p := range []float64{0.5, 0.75} {
		for _, f := range []float64{0, 1. / 160, 11. / 160, 1} {
			most := 16 * (math.Abs(f-p) + 1./3)
			if f < 1./16 {
				most *= 4
			}
			lines = append(lines, [2]float64{math.Abs(math.Log((f + 1./3) / p)), most})
		}
	}
	check.Inequalities("the difference of logarithms", func(w *ledger.Worst) {
		logDifferences(w, exact.Frac(1, 16), exact.Int(16), exact.Frac(1, 2), exact.Frac(1, 3))
	}, lines...)
	rest := 0.75 + math.Exp(1./3)/4
	weight, divergence := rest/(math.Expm1(0.5)/2+rest), 0.0
	for to, p := range []float64{0.8, 0.2} {
		far := []float64{2. / 3, 1. / 3}[to] - p
		divergence += weight * weight * far * far / (p + weight*far)
	}
	check.Inequalities("the mixture in the limit", func(w *ledger.Worst) {
		e := ledger.NewEnv(t.Context(), thmMainStepBias, true)
		biasClaim{gamma: 1}.decide(e, w, pi, exact.Frac(2, 5), exact.Frac(1, 4), exact.Frac(1, 2), 0)
	}, [2]float64{weight, 2 * math.Exp(-1./6)}, [2]float64{0, 1e-40}, [2]float64{0, 1e-40},
		[2]float64{divergence, 16 / math.Pow(0.4, 5) * math.Exp(-0.2)})
	check.Inequalities("where the bound says nothing", func(w *ledger.Worst) { decideEmpty(w, 5, 2, 3, 24) },
		[2]float64{1, 20 * math.Ln2 * math.Pow(2, -0.125)}, [2]float64{1.5 * math.Ln2, 20 * math.Ln2 * math.Pow(2, -0.125)})
	law := lossLaw{exact.Frac(1, 10), exact.Rats("1/2 1/5 0")[0], exact.Rats("1/5 3/10 1/2")[0], []bool{true, false, true}}
	lhs, rhs := law.sides(exact.Point)
	check.Each("the Cauchy-Schwarz step", []float64{lhs.Float(), rhs.Float()},
		[]float64{0.2*0.6*11 + 0.3*0.3 + 0.5*0.1*11, (math.Sqrt(0.05+0.012) + 0.1) * 8})
}
