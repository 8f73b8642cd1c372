package finitesample

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

var lemma33 = stageOneError{theory.QueryInSequence, compare.Bounds(thmFiniteStage1)}

// The bounds for finite samples against their formulas, for S = 3 and gamma = 1/5, and for a matrix
// over two states.
func TestSampleBoundsAsPrinted(t *testing.T) {
	check := compare.With(t)
	gamma, n := exact.Frac(1, 5), exact.Int(50)
	two := exact.Point(exact.Int(2))
	check("2 S^2/gamma^2", exact.Float(errorScale(3, gamma)), 450)
	check("Bernstein's bound for moments", sampleError(3, gamma, n, two).Float(), 450*(math.Sqrt(0.24)+0.04))
	check("the bound on a second moment", exact.Float(momentBound(3, gamma, 2)), 3*450*450)
	check("the bound on a fifth moment", exact.Float(momentBound(3, gamma, 5)), 60*3*math.Pow(450, 5))
	check("a fourth moment", exact.Float(fourthMoment(3, gamma)), 16*12*3*math.Pow(450, 4))
	check("log(2 T^2/delta)", unionLog(exact.Int(10), exact.Frac(1, 100)).Float(), math.Log(20000))
	for fourth, want := range map[int64]float64{10: 0.2, 400: 0.2, 401: 0} {
		check("a likely error", exact.Float(likelyError(exact.Int(4), exact.Int(fourth), exact.Int(25))), want)
	}
	check("a likely error", exact.Float(likelyError(new(big.Rat), exact.Int(1), n)), 0)
	check("Bernstein's bound", bernstein(0.3, 5, 40, 2), math.Sqrt(0.03)+10./120)
	rare := rareBounds(thmFiniteStage1StepUnion)
	check("Azuma's exponent", rare.exponent(0.5, 3, 10, 7), 0.0625*0.64*7/18)
	check("the length that is enough", rare.length(0.5, 2), 4*8*64)
	pi := exact.Rats("4/5 1/5; 3/10 7/10")
	check("the bound of Lemma 33", lemma33.claimed(pi, exact.Int(7), two).Float(), 11*math.Pow(2, 2.5)/0.16*2/7)
	mu, variance := []float64{0.6, 0.4}, 0.0
	for s, row := range [][]float64{{0.8, 0.2}, {0.3, 0.7}} {
		for to, p := range row {
			gain := max(p/(mu[to]+0.05+0.1)-1, 0)
			variance += mu[s] * mu[to] * gain * gain
		}
	}
	check("the least variance", exact.Float(leastVariance(pi, exact.Int(100), exact.Frac(1, 10))), variance)
}

// rareBounds returns the claim on rare tokens with the bounds of a claim.
func rareBounds(c ledger.Claim) rareToken {
	b := compare.Bounds(c)
	return rareToken{power: 2, chebyshev: b[0], azuma: b[1], enough: b[2]}
}

// The moments of one sample's gradients against sums over all sequences, from the form that the proof of
// Lemma 33 gives Z.
func TestMomentsOfOneSample(t *testing.T) {
	check := compare.With(t)
	const eps = 0.25
	for _, u := range compare.Asymmetrics() {
		pi, t, s := u.First.Floats(), u.Graph.T(), len(u.First)
		for _, at := range [][2]int{{1, 0}, {4, 1}, {2, 2}, {t - 1, t - 1}} {
			law, want := exact.GradientLaw(u.Graph, at[0], at[1], exact.Frac(1, 4), u.First), make([]float64, 4)
			for x, chance := range exact.Sequences(u.Graph, u.First) {
				query, z := x[t-1], 0.0
				if x[at[1]] != query {
					continue
				}
				for to := range s {
					frequency := float64(instruments.Occurrences(to, x)) / float64(t)
					z += pi[query*s+to] * (instruments.Indicator(x[at[0]] == to) - frequency) / (frequency + eps) * float64(s)
				}
				for p := range want {
					want[p] += exact.Float(chance) * math.Pow(math.Abs(z), float64(p+2))
				}
			}
			got := exact.Vector{law.Moment(2), law.Absolute(3), law.Moment(4), law.Absolute(5)}
			check.Each("a moment of one sample", got.Floats(), want)
		}
	}
}

// The covariance of two events is v11 v00 - v01 v10.
func TestCovarianceOfTwoEvents(t *testing.T) {
	check := compare.With(t)
	for _, v := range exact.Rats("1/10 1/5 3/10 2/5; 1/2 1/10 1/10 3/10; 0 1/6 1/3 1/2; 1/7 0 2/7 4/7") {
		f, covariance := eventCovariance(v)
		determinant := exact.Sub(exact.Mul(v[0], v[3]), exact.Mul(v[1], v[2]))
		check("the covariance of two events", exact.Float(covariance), exact.Float(exact.Abs(determinant)))
		check("the probability of an event", exact.Float(f), 1-exact.Float(v[2])-exact.Float(v[3]))
	}
}

// The tail of the mean of two samples, predictions at a small beta, the probability that a token of
// measure 3/4 or 1/4 is rare among two roots and the query, and the T from which it is below 1/T.
func TestInequalitiesOfFiniteSamples(t *testing.T) {
	check := compare.With(t)
	law := exact.SampleLaw{Values: exact.Rats("-1 0 1")[0], Weights: exact.Rats("1/20 9/10 1/20")[0]}
	tail := func(second, most, n, l float64) float64 { return second * most / n * l }
	check.Inequalities("the tail of a mean", func(w *ledger.Worst) {
		decideTail(w, law, tail, exact.Frac(15, 2), 2, 2, ledger.Instance{})
	}, [2]float64{0.005, 2 * math.Exp(-2)}, [2]float64{0, 2 * math.Exp(-4)}, [2]float64{0, 2 * math.Exp(-8)})
	check("a shift of the prediction", exact.Float(shift{exact.Int(2), exact.Rats("1 2 0 1")[0]}.size()), 0.05)
	rare := rareBounds(thmFiniteStage1StepUnion)
	enough := rare.enough
	rare.enough = ledger.MustBound("3")
	check.UpTo(1, "how often a token is rare", func(w *ledger.Worst) {
		rare.decide(w, rareCase{instruments.FamilyMember{Graph: instruments.RootsOnly(3)}, exact.Rats("3/4 1/4; 3/4 1/4")})
	}, [2]float64{17. / 32, 440. / 81}, [2]float64{17. / 32, 2 * math.Exp(-1./384)}, [2]float64{17. / 32, 2. / 3})
	var lines [][2]float64
	for s := 2.0; s <= 10; s++ {
		for gamma := 0.1; gamma < 1.01; gamma += 0.1 {
			t := math.Ceil(4 * math.Pow(s, 3) / math.Pow(gamma, 6) * (1 - 1e-12))
			lines = append(lines, [2]float64{math.Log(t), math.Pow(gamma, 4) * (t - 2) * (t - 2) / t / (2 * s * s)})
		}
	}
	rare.enough = enough
	check.Inequalities("how long is enough", rare.decideThreshold, lines...)
}

// The number of samples at pi = (4/5, 1/5; 1/5, 4/5), T = 10^12 and delta = 1/100, and the moments of one
// sample's gradient over two tokens as sums over four sequences.
func TestSampleSizesByHand(t *testing.T) {
	check := compare.With(t)
	pi, root := exact.Rats("4/5 1/5; 1/5 4/5"), exact.Int(1_000_000)
	samples, log := perLength("1"), math.Log(200e24)
	check("K", errorConstant(pi).Float(), 150)
	check("a number of samples", samples(exact.Int(3), logOf(exact.Int(2))).Float(), 9*math.Ln2)
	check("fewer samples", perLength("19/20")(exact.Int(3), logOf(exact.Int(2))).Float(), math.Pow(3, 1.9)*math.Ln2)
	off := errorAt(pi, root, samples)
	gain := 0.8/(0.5+5e-12+1e-6) - 1
	check("a likely error", exact.Float(off.Lo), gain/math.Sqrt(2)/math.Sqrt(log)*1e-6/2)
	check("an error that is not exceeded", exact.Float(off.Hi), 50*(2e-6+1e-12))
	pi = exact.Rats("3/4 1/4; 1/2 1/2")
	for _, at := range [][2]int{{0, 0}, {0, 0}, {1, 0}, {1, 1}} {
		var moments [7]float64
		for x := range task.Sequences(2, 2) {
			z, chance := 0.0, []float64{2. / 3, 1. / 3}[x[0]]/2
			for b, p := range pi[x[1]] {
				frequency := float64(instruments.Occurrences(b, x)) / 2
				z += 2 * exact.Float(p) * (instruments.Indicator(x[at[0]] == b) - frequency) / (frequency + 0.5)
			}
			for p := range moments {
				moments[p] += chance * math.Pow(math.Abs(z), float64(p)) * instruments.Indicator(x[at[1]] == x[1])
			}
		}
		for p, most := range map[int]float64{2: 2, 3: 6, 4: 24, 5: 120, 6: 720} {
			law := exact.GradientLaw(graph.Chain(2), at[0], at[1], exact.Frac(1, 2), pi)
			check("a moment of one sample", exact.Float(law.Absolute(p)), moments[p])
			check("its bound", exact.Float(momentBound(2, exact.FloorGamma(pi), p)), most*math.Pow(32, float64(p)))
		}
	}
}

// The inequalities of Lemmas 33 and 34 for N and T up to 3^438 at pi = (9/10, 1/10; 1/2, 1/2), where
// mu = (5/6, 1/6) and gamma = 1/5, and where an entry of the gradient of A2 has the variance and the
// fourth moment of its law.
func TestSampleErrorsOfLongSequences(t *testing.T) {
	check := compare.With(t)
	pi, half := instruments.PullToward[0], exact.Frac(1, 2)
	g := graph.Chain(3)
	law := exact.SecondGradientLaw(g, 0, 0, half, pi)
	second := exact.Float(law.Central(2))
	own := func(p, mu float64) float64 { return mu * mu * math.Pow(p/(mu+5./729+1./27)-1, 2) }
	variance, constant := own(0.9, 5./6)+own(0.5, 1./6), 11*math.Pow(2, 2.5)*25
	error1 := func(l, n float64) float64 { return 200 * (2*math.Sqrt(l/n) + l/n) }
	inN := [][2]float64{{error1(math.Log(200*729*729), 1) / 2, constant * math.Log(72900)}}
	var inT, later [][2]float64
	off := func(root float64) float64 { return max(root/10-2-200*math.Sqrt2, 0) }
	for _, root := range []int64{2000, 3000} {
		check("an error of a sequence", exact.Float(leastError(2, exact.Frac(1, 5), exact.Int(root))), off(float64(root)))
	}
	for _, k := range []float64{3, 57, 111, 165, 219} {
		root := math.Pow(3, k)
		n := root * root
		l := math.Log(n) + n*math.Log(10) // of T/delta
		above := error1(math.Log(200*729*729), n) + math.Sqrt(variance/n)/2*instruments.Indicator(k > 3)
		inN = append(inN, [2]float64{above / 2, constant * math.Log(72900) / root})
		inT = append(inT, [2]float64{(off(root) + error1(l+math.Log(2*n), 1)) / 2, constant * l})
		later = append(later, [2]float64{math.Sqrt(second/n) / 2, math.Sqrt(2*math.Log(800)) / root})
	}
	check.UpTo(108, "the error by N", func(w *ledger.Worst) { lemma33.decideInN(w, pi) }, inN...)
	check.UpTo(1, "the error by T, all trivial", func(w *ledger.Worst) { lemma33.decideInT(w, pi) }, inT...)
	stageTwo := stageTwoError{square: compare.Bounds(*thmFiniteStage2.Correction)[0]}
	check.Inequalities("the error of stage 2 by N", func(w *ledger.Worst) { stageTwo.decideLarge(w, g, pi) }, later...)
}
