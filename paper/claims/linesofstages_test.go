package claims

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// This file has second routes to lines of the rows on both stages, on finite samples and
// on the main theorems; lineroutes.go says what such a route is.

// stageOneLines compares lines of stage 1 with theirs: a time of one step at least, the
// force on a root, the distance of ghat from g, and the errors of Lemma 24.
func stageOneLines(tell told) {
	one := exact.Frac(1, 1)
	tell.lines("a time of one step", func(w *ledger.Worst) {
		printedTime(one, one).atLeastOne(w, exact.Rats("3")[0])
	}, [2]float64{1, 22 * math.Log(18)})
	u := unlikes()[0]
	gamma := min(u.chain().Gamma(), theory.MustChain(u.other.Floats(), 2).Gamma())
	root := &firstStage{graph: graph.Chain(3), prior: u.prior(), t: 3, s: 2, teff: 4, ghat: mat.NewDense(3, 3, []float64{6: 0.3, -0.1, 0.2})}
	tell.lines("the force on a root", func(w *ledger.Worst) { root.decideRoot(w, 2) }, [2]float64{0.1, 35 * 4 / gamma / gamma / 2})
	lead := &firstStage{graph: graph.Chain(4), prior: u.prior(), t: 4, s: 2, teff: 4, ghat: mat.NewDense(4, 4, []float64{8: 0.2, 0.5, 0.2, 15: 0})}
	tell.lines("the lead of a parent", func(w *ledger.Worst) { lead.decideLead(w, 2, 0.25) }, [2]float64{0.25, 0.3}, [2]float64{0.25, 0.3})
	odds, last := -math.Ln2, -1.0
	for ; odds < math.Log(3); last++ { // three positions, of which one leads
		p := 1 / (1 + math.Exp(-odds))
		odds += p * (1 - p) * 3 / 2
	}
	tell.lines("the time of a row", func(w *ledger.Worst) { printedTime(one, one).decideRow(w, lead, 2) }, [2]float64{last, 14 * math.Log(12)})
	p := 1 / (1 + math.Exp(-0.1))
	mean := 0.75 * (2*p - 1)
	odds = 0.1 + p*(0.75-mean) + (1-p)*(0.75+mean)
	tell.lines("the drift of a row", func(w *ledger.Worst) {
		driftBound{constant: 4, until: 4, start: 0.1, excess: 0.5}.drive(w, 2, 1, func(_, j int) float64 { return []float64{1, -1}[j] })
	}, [2]float64{1/(1+math.Exp(-odds)) - 0.5, 0.5})
	g, pi, far := graph.Chain(4), exact.Rats("3/5 3/10 1/10; 1/5 1/5 3/5; 3/10 1/2 1/5"), 0.0
	for i := range 4 {
		for j, v := range exactGHat(g, i, exact.Frac(1, 2), theory.QueryInSequence, relabelings(pi)...) {
			if j < 3 {
				far = max(far, math.Abs(exact.Float(exact.Sub(v, enumeratedGradient(pi, g, i, j)))))
			}
		}
	}
	tell("the distance of ghat from g", distanceToIdeal(g, unevenPrior(), theory.QueryInSequence), far)
	const eps = 0.15
	var lines [][2]float64
	for k, err := range gradientErrors(u.graph, u.chain(), 1, 0, eps) {
		mu := u.chain().Mu[k/2]
		most := 2*err.bias + 1.15*(2*err.sigma/((mu+eps)*(mu+2*eps))+12*err.sigma*err.sigma/(eps*mu*(mu+eps)))
		lines = append(lines, [2]float64{err.whole, most})
	}
	tell.lines("the errors of Lemma 24", func(w *ledger.Worst) {
		concentrationOn(w, u.graph, u.first, eps, 2, 3, [2]int{1, 0})
	}, lines...)
}

// stageTwoLines compares lines of stage 2 with theirs: growth by one in each step, and
// the chain of bounds of a second derivative, at e^beta = 4, mu = z/2 = gamma = 1/2, r = 1/4
// and two states.
func stageTwoLines(tell told) {
	var lines [][2]float64
	for _, target := range []float64{0.03, 0.5, 1, 2, 3} {
		for _, rate := range []float64{1, 0.125} {
			steps := math.Ceil(target / rate)
			lines = append(lines, [2]float64{steps - 1, (math.Exp(2*target) - 1) / rate}, [2]float64{steps * rate, target + 1})
		}
	}
	tell.lines("growth by one", func(w *ledger.Worst) {
		betaClimb{time: timeOfClimb}.climb(w, "", 0.5, func(float64) float64 { return 1 })
	}, lines...)
	half, four := exact.Frac(1, 2), exact.Frac(4, 1)
	var got []float64
	at := convexInstance{
		s: exact.Frac(2, 1), gamma: half, mu: half, r: exact.Frac(1, 4), z: exact.Frac(1, 1), expBeta: four, expBetaMu: exact.Frac(2, 1),
	}
	for _, step := range (curvature{}).steps(at) {
		got = append(got, exact.Float(step.lhs), exact.Float(step.rhs))
	}
	second, first, next := 2.5*3.1875/math.Pow(2.375, 3), 4.5/math.Pow(5.75, 3), 4.5/4096
	tell.each("a second derivative and its bounds", got,
		[]float64{second, second, second, second, first, second, next, first, 0.0625 / 128, next})
	tell.lines("the first bound of a second derivative", func(w *ledger.Worst) { curvature{}.compare(w, at) },
		[2]float64{first, second})
	u := unlikes()[0]
	norm, _ := twoNorms(u.chain())
	for _, of := range []struct {
		factor ghatFactor
		want   float64
	}{
		{printedGHat, math.Pow(0.4, 8) / 128},
		{printedGHat.times(8, -4, -3, 1), 4 * math.Pow(0.4, 4) / 8},
		{sharpGHat(2, 0), 0.7 * norm},
		{sharpGHat(1, 20), 5 * math.Pow(0.4, 4)},
	} {
		tell("a factor of ghat", of.factor.float(2, 0.4, 0.3, norm), of.want)
		tell("a factor of ghat", exact.Float(of.factor.rational(u.first, exact.Frac(2, 5), exact.Frac(3, 10))), of.want)
	}
	for drops, want := range map[string][]float64{
		"": {0.4, 0.3}, rootsAtMost: {0.4, 0.4}, entriesAbove: {math.Sqrt(0.52), 0.3}, spreadAtLeast: {0.4, 0.3},
	} {
		b := ghatBound{drops: drops}
		for k, r := range []float64{0.1, 0.7} {
			tell("the largest gamma", b.gamma(u.chain(), r), want[k])
		}
	}
	tell("a gamma rounded down", exact.Float(ghatBound{drops: rootsAtMost}.rationalGamma(u.first, half)), 0.399999)
}

// sampleLines compares lines of finite samples with theirs: the tail of the mean of two
// samples, predictions at a small beta, how often a token of measure 3/4 or 1/4 is rare
// among two roots and the query, and from which T on that is below 1/T.
func sampleLines(tell told) {
	law := sampleLaw{exact.Rats("-1 0 1")[0], exact.Rats("1/20 9/10 1/20")[0]}
	tell.lines("the tail of a mean", func(w *ledger.Worst) {
		law.decideTail(w, func(second, most, n, l float64) float64 { return second * most / n * l }, exact.Frac(15, 2), 2, 2, ledger.Instance{})
	}, [2]float64{0.005, 2 * math.Exp(-2)}, [2]float64{0, 2 * math.Exp(-4)}, [2]float64{0, 2 * math.Exp(-8)})
	tell.lines("a shift of the prediction", func(w *ledger.Worst) {
		decideShift(w, exact.Frac(1, 4), exact.Frac(2, 1), exact.Rats("1 2 0 1")[0])
	}, [2]float64{0.05, 0.25})
	tell.lines("a shift of the prediction by T", func(w *ledger.Worst) {
		decideShiftRate(w, exact.Frac(3, 1), exact.Frac(3, 2), exact.Frac(3, 2))
	}, [2]float64{math.Expm1(1./27) / 4, 1. / 54})
	tell.lines("the size of a gradient", func(w *ledger.Worst) {
		const someT = 2
		half := exact.Frac(1, 2)
		decideSize(w, exact.Frac(3, 4), half, half, someT, false)
	}, [2]float64{0.5, 1.5})
	rare := rareToken{power: 2, exponent: azumaExponent, enough: func(float64, float64) float64 { return 3 }}
	tell.lines("how often a token is rare", func(w *ledger.Worst) {
		rare.decide(w, rareCase{familyMember{"", rootsOnly(3)}, exact.Rats("3/4 1/4; 3/4 1/4")})
	}, [2]float64{17. / 32, 440. / 81}, [2]float64{17. / 32, 2 * math.Exp(-1./384)}, [2]float64{17. / 32, 2. / 3})
	var lines [][2]float64
	for s := 2.0; s <= 10; s++ {
		for gamma := 0.1; gamma < 1.01; gamma += 0.1 {
			t := math.Ceil(4 * math.Pow(s, 3) / math.Pow(gamma, 6) * (1 - 1e-12))
			lines = append(lines, [2]float64{math.Log(t), math.Pow(gamma, 4) * (t - 2) * (t - 2) / t / (2 * s * s)})
		}
	}
	rare.enough = polynomial(4, 3, 6)
	tell.lines("how long is enough", rare.decideThreshold, lines...)
}

// sizesByHand compares what the number of samples is to be with its formulas, at pi =
// (4/5, 1/5; 1/5, 4/5), T = 10^12 and delta = 1/100, and the moments of one sample's
// gradient over two tokens with sums over four sequences.
func sizesByHand(tell told) {
	pi, root := exact.Rats("4/5 1/5; 1/5 4/5"), exact.Frac(1_000_000, 1)
	samples, log := perLength(exact.Frac(1, 1)), math.Log(200e24)
	tell("K", errorConstant(pi).Float(), 150)
	tell("a number of samples", samples(exact.Frac(3, 1), logOf(exact.Frac(2, 1))).Float(), 9*math.Ln2)
	tell("fewer samples", perLength(exact.Frac(19, 20))(exact.Frac(3, 1), logOf(exact.Frac(2, 1))).Float(), math.Pow(3, 1.9)*math.Ln2)
	off := errorAt(pi, root, samples)
	gain := 0.8/(0.5+5e-12+1e-6) - 1
	tell("a likely error", exact.Float(off.Lo), gain/math.Sqrt(2)/math.Sqrt(log)*1e-6/2)
	tell("an error that is not exceeded", exact.Float(off.Hi), 50*(2e-6+1e-12))
	var lines [][2]float64
	pi = exact.Rats("3/4 1/4; 1/2 1/2")
	for _, at := range [][2]int{{0, 0}, {0, 0}, {1, 0}, {1, 1}} {
		var moments [7]float64
		for x := range task.Sequences(2, 2) {
			z, chance := 0.0, []float64{2. / 3, 1. / 3}[x[0]]/2
			for b, p := range pi[x[1]] {
				frequency := float64(occurrences(b, x)) / 2
				z += 2 * exact.Float(p) * (unit(x[at[0]] == b) - frequency) / (frequency + 0.5)
			}
			for p := range moments {
				moments[p] += chance * math.Pow(math.Abs(z), float64(p)) * unit(x[at[1]] == x[1])
			}
		}
		for p, most := range map[int]float64{2: 2, 3: 6, 4: 24, 5: 120, 6: 720} {
			lines = append(lines, [2]float64{moments[p], most * math.Pow(32, float64(p))})
		}
		lines = append(lines, [2]float64{0, 1}) // whose bound is seen in samplesAsPrinted
	}
	tell.lines("the moments of one sample", func(w *ledger.Worst) {
		stageOneError{}.decideSmall(w, graph.Chain(2), exact.Frac(1, 2), pi)
	}, lines...)
}

// samplesByLength compares the lines of Lemmas 33 and 34 for N and T up to 3^438 with their
// formulas, at pi = (9/10, 1/10; 1/2, 1/2), where mu = (5/6, 1/6) and gamma = 1/5, and
// where an entry of the gradient of A2 has the variance and the fourth moment of its law.
func samplesByLength(tell told) {
	pi, half := pullToward[0], exact.Frac(1, 2)
	g := graph.Chain(3)
	law := secondGradientLaw(g, 0, 0, half, pi)
	second := exact.Float(law.central(2))
	own := func(p, mu float64) float64 { return mu * mu * math.Pow(p/(mu+5./729+1./27)-1, 2) }
	variance, constant := own(0.9, 5./6)+own(0.5, 1./6), 11*math.Pow(2, 2.5)*25
	error1 := func(l, n float64) float64 { return 200 * (2*math.Sqrt(l/n) + l/n) }
	inN := [][2]float64{{error1(math.Log(200*729*729), 1) / 2, constant * math.Log(72900)}}
	var inT, later [][2]float64
	off := func(root float64) float64 { return max(root/10-2-200*math.Sqrt2, 0) }
	for _, root := range []int64{2000, 3000} {
		tell("an error that some sequence has", exact.Float(leastError(2, exact.Frac(1, 5), exact.Frac(root, 1))), off(float64(root)))
	}
	for _, k := range []float64{3, 57, 111, 165, 219} {
		root := math.Pow(3, k)
		n := root * root
		l := math.Log(n) + n*math.Log(10) // of T/delta
		above := error1(math.Log(200*729*729), n)
		inN = append(inN, [2]float64{(math.Sqrt(variance/n)/2*unit(k > 3) + above) / 2, constant * math.Log(72900) / root})
		inT = append(inT, [2]float64{(off(root) + error1(l+math.Log(2*n), 1)) / 2, constant * l})
		later = append(later, [2]float64{math.Sqrt(second/n) / 2, math.Sqrt(2*math.Log(800)) / root})
	}
	tell.lines("the error by N", func(w *ledger.Worst) { stageOneError{}.decideInN(w, pi) }, inN...)
	tell.lines("the error by T", func(w *ledger.Worst) { stageOneError{}.decideInT(w, pi) }, inT...)
	tell.lines("the error of stage 2 by N", func(w *ledger.Worst) { stageTwoError{rate: half}.decideLarge(w, g, pi) }, later...)
}

// longRunsByScenes compares the sums over a sequence with those in rationals, for roots
// of each kind, and where children attend to their parents, or to position 1.
func longRunsByScenes(tell told) {
	u := unlikes()[1]
	for _, g := range []*graph.Forest{u.graph, graph.MustNew(graph.Root, 0, graph.Root, 0, graph.Root)} {
		for _, roots := range []rootRows{rootsUniform, rootsOnThemself, rootsOnOne} {
			c := scene{
				graph: g, pi: u.first, mu: exact.MustStationary(u.first), roots: roots, x: []int{1, 2, 2, 0, 1}, s: 1,
				denominator: 15, base: exact.Frac(11, 10),
			}
			run := longRun{u.graph.Parents(), u.chain(), roots, []int{1, 2, 2, 0, 2}, g != u.graph}
			beta, spread := 15*math.Log(1.1), 0.0
			for _, i := range g.Roots() {
				far := exact.Float(c.score(i)) - u.chain().Mu[1]
				spread += far * far / 5
			}
			sums := run.sums(1, beta)
			tell("the spread of the roots", sums.spread, spread)
			for c.a = range 3 {
				v, vz, hit, hitZ := c.averages()
				for k, want := range []*big.Rat{v, vz, hit, hitZ} {
					got := []float64{sums.v, sums.vz, sums.hit[c.a], sums.hitZ[c.a]}[k]
					tell("a sum over a sequence", got*num.Exp(beta), exact.Float(want))
				}
			}
		}
	}
}

// trainingLines compares the lines of one training with theirs, and of which trainings the
// loss is a finite sum.
func trainingLines(tell told) {
	u := unlikes()[0]
	run := &mainRun{
		firstStage: &firstStage{family: "chain", graph: graph.Chain(5), prior: u.prior(), t: 5, s: 2, teff: 7},
		r:          0.3, eps: 0.05, lost: 0.2, beta: 1.5, betaStar: 1.4,
		roots:  [][]float64{4: {0.1, 0.1, 0.1, 0.1, 0.6}},
		seen:   func() num.Estimate { return num.Estimate{Mean: 0.02, StdErr: 0.001} },
		path:   []betaStep{{0.5, num.Estimate{Mean: 0.3, StdErr: 0.01}}, {1, num.Estimate{Mean: 0.2, StdErr: 0.03}}},
		slopes: func() []float64 { return []float64{-0.31, -0.18, -0.17} },
	}
	spoilt := asStated().with(func(q *training) {
		q.shift, q.reach = 0.5, 0.9
		q.excess, q.lost = func(seen, teff float64) float64 { return seen * teff }, func(lost, t float64) float64 { return lost / t }
	})
	seen := 0.14 - math.Log(1.1)/2
	tell.lines("the lines of a training", func(w *ledger.Worst) { spoilt.compare(w, run) },
		[2]float64{0, seen + 0.005}, [2]float64{seen - 0.005, run.bound(1.4)}, [2]float64{0.04, 0.2}, [2]float64{1.26, 1.5}, [2]float64{1.5, 2.4}, [2]float64{0.01, 0.05}, [2]float64{0.02, 0.15}, [2]float64{0.03, 0.15})
	tell("the pull of the query", run.pairs(u.first.Floats()).pull, 0.6)
	someSpider, someStates := &firstStage{family: "spider", t: 5, s: 2}, &firstStage{family: "chain", t: 5, s: 3}
	for _, spoil := range []func(r *mainRun){
		func(r *mainRun) { r.roots = [][]float64{4: {0.1, 0.11, 0.1, 0.1, 0.59}} },
		func(r *mainRun) { r.firstStage = someSpider },
		func(r *mainRun) { r.firstStage = someStates },
	} {
		other := *run
		spoil(&other)
		tell("whether the loss is a finite sum", unit(other.pairs(u.first.Floats()) == nil), 1)
	}
}

// rateLines compares the lines of the rates of the two theorems with theirs, where one
// state is heavy and hardly a position has a parent.
func rateLines(tell told) {
	var main, stranger [][2]float64
	for k := 0.0; k <= 60_000; k += 5000 {
		x, logLimit := k*math.Ln10, math.Inf(-1)
		for s, mu := range []float64{18. / 19, 1. / 19} {
			few, many := 0.1*unit(k == 0), math.Exp(x/12*(mu-1))*0.9 // e^(-x/12) is no float beyond zero
			weight, far := (few+many)/(few+many+(0.1-few)*mu), 0.0
			for to, p := range [][]float64{{0.95, 0.05}, {0.9, 0.1}}[s] {
				d := p - []float64{18. / 19, 1. / 19}[to]
				far += d * d / (p - weight*d)
			}
			logLimit = max(logLimit, 2*math.Log(weight)+math.Log(far))
			stranger = append(stranger, [2]float64{math.Exp(math.Log(weight) - math.Log(200) + 0.004*x), 1})
		}
		main = append(main, [2]float64{math.Exp(logLimit - math.Log(1.6e6) + 0.01*x), 1})
	}
	tell.lines("the rate of Theorem 1", training{fall: 0.1}.compareRate, main...)
	tell.lines("the rate of Theorem 2", func(w *ledger.Worst) { compareErrorRate(w, 0.04) }, stranger...)
}

// stepLines compares lines of the steps of Theorem 1 with theirs: the cost of finite
// samples, the logarithms with the threshold of Lemma 32, and the mixture in the limit.
func stepLines(tell told) {
	pi := exact.Rats("4/5 1/5; 2/5 3/5")
	c := trainedChain{pi: pi, t: 4, pull: 1, eps: 0.5}
	tell.lines("the cost of finite samples", func(w *ledger.Worst) {
		costClaim{cost: 8, power: 2, weight: 1, eps: 0.5}.decide(w, pi, 4, 2.5)
	}, [2]float64{c.limit(2.5) - c.excess(2.5).Float(), 8 * 1.125 / 4})
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
	tell.lines("the difference of logarithms", func(w *ledger.Worst) {
		logDifferences(w, exact.Frac(1, 16), exact.Frac(16, 1), exact.Frac(1, 2), exact.Frac(1, 3))
	}, lines...)
	rest := 0.75 + math.Exp(1./3)/4
	weight, divergence := rest/(math.Expm1(0.5)/2+rest), 0.0
	for to, p := range []float64{0.8, 0.2} {
		far := []float64{2. / 3, 1. / 3}[to] - p
		divergence += weight * weight * far * far / (p + weight*far)
	}
	tell.lines("the mixture in the limit", func(w *ledger.Worst) {
		some := biasClaim{gamma: 1, rate: 3, weight: 1, mixture: 1, root: 1}
		some.decide(w, pi, exact.Frac(2, 5), exact.Frac(1, 4), exact.Frac(1, 2), 0)
	}, [2]float64{weight, 2 * math.Exp(-1./6)}, [2]float64{0, 1e-40}, [2]float64{0, 1e-40},
		[2]float64{divergence, 16 / math.Pow(0.4, 5) * math.Exp(-0.6)})
	tell.lines("where the bound says nothing", func(w *ledger.Worst) { decideEmpty(w, 5, 3, 24) },
		[2]float64{1.5 * math.Ln2, 5 * math.Ln2 * math.Pow(2, -0.125)})
	law := lossLaw{exact.Frac(1, 10), exact.Rats("1/2 1/5 0")[0], exact.Rats("1/5 3/10 1/2")[0], []bool{true, false, true}}
	lhs, rhs := law.sides(exact.Point)
	tell.each("the Cauchy-Schwarz step", []float64{lhs.Float(), rhs.Float()},
		[]float64{0.2*0.6*11 + 0.3*0.3 + 0.5*0.1*11, (math.Sqrt(0.05+0.012) + 0.1) * 8})
}
