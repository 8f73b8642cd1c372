package claims

import (
	"math"
	"math/big"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// This file has second routes to bounds whose instances stay far below them, with
// the numbers of the statement put in by hand, and to the form for three states.

// concentrationAsPrinted compares the limits and the bounds of Lemmas 30 to 32 with
// what the statements print, at one setting.
func concentrationAsPrinted(tell told) {
	c := unlikes()[1].chain()
	const s, to = 1, 2
	q := setting{
		t: 40, r: 0.3, beta: 1.5, eps: 0.2, lambda: 0.8, decay: 0.06, gamma: 0.7, teff: 25, spread: 0.04,
		p: c.Pi[s*c.S+to], mu: c.Mu[s], to: c.Mu[to],
	}
	tell("the limit of E3", e3Concentration.limit(q), c.E3Limit(s, 0.3, 1.5))
	tell("the limit of E1/E2", e12Concentration.limit(q), c.E12Limit(s, to, 0.3, 1.5))
	e, em := math.Exp(1.5), math.Exp(1.5*q.mu)
	tell("the limit of f", fConcentration.limit(q),
		(0.7*(e-1)*q.mu*q.p+0.7*q.to+0.3*em*q.to)/(0.7*(e-1)*q.mu+0.7+0.3*em))
	roots, alone := math.Sqrt(0.3*0.04), math.Sqrt(1.5/160)
	b := (0.7*(e-1)*q.mu + 0.7 + 0.3*em) / e
	tell.each("the bound of Lemma 30", e3Concentration.bound(q), []float64{math.Sqrt(0.075*q.mu) / b, 2.5 * roots / b})
	tell.each("the bound of Lemma 32", fConcentration.bound(q), []float64{
		math.Sqrt(0.06*q.p*q.mu) / b, math.Sqrt(0.075*q.mu) / b, math.Sqrt(q.to*0.06) / (e * b), 1.5 * roots / b, alone / b,
	})
	tell("the bias of Lemma 32", fConcentration.bias(q), (q.to-q.p)*(q.to-q.p)*math.Exp(-3*(1-q.mu))/(b*b))
	b = (0.7*(e-1)*q.mu*q.p + 0.7*q.to + 0.3*em*q.to) / e
	tell.each("the bound of Lemma 31", e12Concentration.bound(q), []float64{
		math.Sqrt(0.06*q.mu*q.p) / b, math.Sqrt(q.to*0.06) / (e * b), 0.2 / b, 2.5 * roots / b, alone / b,
	})
	threshold, most := fConcentration.tail(q, 3)
	tell("the threshold of Lemma 32", threshold, 0.343/36)
	tell("the tail of Lemma 32", most, 0.24/(q.mu*q.p*0.49))
	for _, order := range []func(setting) float64{e3Concentration.order, e12Concentration.order, fConcentration.order} {
		tell("the order of Lemmas 30 to 32", order(q), 3.25/5*math.Log(40))
	}
	for _, u := range unlikes() {
		rare := settingOf(graph.MustNew(graph.Root, graph.Root, 0, graph.Root, graph.Root), u.chain())
		tell("gamma where few have a parent", rare.gamma, min(u.chain().Gamma(), 0.2))
		tell("T_eff", longTEff(u.graph), u.graph.TEff())
		tell("T_eff(lambda)", decayOfForest(u.graph, 0.7), 1/u.graph.TEffLambda(0.7))
	}
	tell("35 S^2/gamma^2", exact.Float(gradientConstant(pullAway, 2)), 35*9/0.0225)
	tell("35 S^3/gamma^2", exact.Float(gradientConstant(pullAway, 3)), 35*27/0.0225)
	tell("32 S^2/gamma^2", exact.Float(concentrationConstant(pullAway)), 32*9/0.0225)
	tell("35 S^3/(gamma^2 sqrt(T_eff))", gradientBound(3, 0.2, 64, 3), 35*27/0.04/8)
}

// threeStatesInFloats compares the form for three states with its formula, at one
// measure and several C, and what decides that it is positive.
func threeStatesInFloats(tell told) {
	mu := [3]float64{0.2, 0.3, 0.5}
	spread := spreadForm([3]exact.Range{exact.At(0.2), exact.At(0.3), exact.At(0.5)})
	const slope, root, r, s, t = 0.3, 0.4, 1.7, 0.6, 1.3
	form := threeForm(spread, exact.At(slope), exact.At(root), exact.At(r), exact.At(s), exact.At(t))
	two := mu[0] + mu[1]
	f := [2][3]float64{
		{math.Sqrt(mu[1] / two), -math.Sqrt(mu[0] / two), 0},
		{math.Sqrt(mu[0] * mu[2] / two), math.Sqrt(mu[1] * mu[2] / two), -math.Sqrt(two)},
	}
	for _, c := range [][4]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 2, -3, 5}, {2, 1, 4, -1}, {1, 1, 2, 3}} {
		sum, size := 0.0, c[0]*c[0]+c[1]*c[1]+c[2]*c[2]+c[3]*c[3]
		for i := range mu {
			for k := range mu {
				p := 0.0
				for ab := range c {
					p += c[ab] * f[ab/2][i] * f[ab%2][k]
				}
				sum += mu[k] / mu[i] * p * p
			}
		}
		trace, det := c[0]+c[3], c[0]*c[3]-c[1]*c[2]
		want := size - slope*sum - root/2*(t*trace*trace+(1.25*size-2*det)/t) - s*(sum-r*size)
		tell("spread(C)", formAt(spread, c), sum)
		tell("the form for three states", formAt(form, c), want)
	}
	for i := range form {
		for j := range form {
			tell("the form is symmetric", form[i][j].Lo, form[j][i].Lo)
		}
	}
	tell("a least pivot", pivotOf(ranges([4][4]float64{{2, 1, 0, 1}, {1, 3, 1, 0}, {0, 1, 4, 1}, {1, 0, 1, 5}})), 2)
	tell("a least pivot", pivotOf(ranges([4][4]float64{{5, 1, 2, 1}, {1, 4, 1, 3}, {2, 1, 3, 1}, {1, 3, 1, 4}})), 69./40)
	tell("a least pivot", pivotOf(ranges([4][4]float64{{1, 0, 0, 0}, {0, -3, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}})), -3)
	even := [3]exact.Range{exact.At(0.3), exact.At(0.3), exact.At(0.4)}
	for _, times := range []float64{1, 2, 9} {
		least := leastPivot(exact.At(0.6), even, exact.At(times)).Lo
		tell("whether the form for three states is positive", unit(least > 0), unit(times < 5))
	}
	for _, at := range [][4]float64{
		{0.5, 0.2, 0.3, 0.5},
		{0.65, 0.2, 0.3, 0.5},
		{0.5, 0.3, 0.2, 0.5},
		{0.5, 0.2, 0.45, 0.35},
		{0.7, 0.3, 0.33, 0.37},
		{0.5, 0.17, 0.18, 0.65},
		{0.7, 0.2, 0.3, 0.5},
		{0.6, 0.3, 0.3, 0.4},
		{0.6, 0.33, 0.33, 0.34},
		{0.6, 0.22, 0.22, 0.56},
		{0.7, 0.24, 0.32, 0.44},
		{0.7, 0.26, 0.3, 0.44},
	} {
		gamma, mu := at[0], []float64{at[1], at[2], at[3]}
		room := (1 - gamma) * (1 - gamma)
		for _, m := range mu {
			room -= (m - gamma/3) * (m - gamma/3)
		}
		may := mayBe(exact.At(gamma), [3]exact.Range{exact.At(mu[0]), exact.At(mu[1]), exact.At(mu[2])})
		ordered := gamma/3 <= mu[0] && slices.IsSorted(mu)
		tell("what a measure may be", unit(may), unit(ordered && room >= gamma*gamma*mu[0]/3))
	}
}

// twoStatesByChain compares what is enclosed of the chains over two states with what
// is computed of one, and its gamma with that of both bullets of Assumption 1.
func twoStatesByChain(tell told) {
	for _, leave := range [][2]float64{{0.2, 0.4}, {0.9, 0.7}, {0.45, 0.5}, {0.1, 0.95}} {
		a, b := leave[0], leave[1]
		chain := theory.MustChain([]float64{1 - a, a, b, 1 - b}, 2)
		c := newTwoStates(exact.At(a), exact.At(b))
		tell.each("what is enclosed of two states", []float64{c.lambda.Hi, c.entries.Lo, c.entries.Hi, c.gamma.Lo, c.gamma.Hi},
			[]float64{chain.Alpha(), floorGamma(chain), floorGamma(chain), ofBoth.float(chain), ofBoth.float(chain)})
	}
}

// everywhereByHand compares what a cover of the unit interval comes to, where x <= 2
// takes one box and x <= 1/2 is left open.
func everywhereByHand(tell told) {
	for _, at := range []struct {
		most float64
		want ledger.Verdict
	}{{2, ledger.Holds}, {0.5, ledger.Open}} {
		var w ledger.Worst
		w.AtMost(0, 1, func() ledger.Instance { return nil })
		boxes := w.Everywhere([]exact.Range{{Lo: 0, Hi: 1}}, 1, func(box []exact.Range) (lhs, rhs exact.Range, asks bool) {
			return box[0], exact.At(at.most), true
		})
		tell("the boxes of a cover", float64(boxes), 1)
		tell("what a cover decides", unit(w.Finding("").Verdict == at.want), 1)
	}
}

// formAt returns the value of a form, whose entries are known to rounding.
func formAt(form [4][4]exact.Range, c [4]float64) float64 {
	sum := 0.0
	for i := range form {
		for j := range form {
			sum += form[i][j].Lo * c[i] * c[j]
		}
	}
	return sum
}

func ranges(a [4][4]float64) (out [4][4]exact.Range) {
	for i, row := range a {
		for j, v := range row {
			out[i][j] = exact.At(v)
		}
	}
	return out
}

// samplesAsPrinted compares the bounds for finite samples with their formulas, for
// S = 3 and gamma = 1/5, and for a matrix over two states.
func samplesAsPrinted(tell told) {
	gamma, n := exact.Frac(1, 5), exact.Frac(50, 1)
	two := exact.Point(exact.Frac(2, 1))
	tell("2 S^2/gamma^2", exact.Float(errorScale(3, gamma)), 450)
	tell("Bernstein's bound for moments", sampleError(3, gamma, n, two).Float(), 450*(math.Sqrt(0.24)+0.04))
	tell("the bound on a second moment", exact.Float(momentBound(3, gamma, 2)), 3*450*450)
	tell("the bound on a fifth moment", exact.Float(momentBound(3, gamma, 5)), 60*3*math.Pow(450, 5))
	tell("a fourth moment", exact.Float(fourthMoment(3, gamma)), 16*12*3*math.Pow(450, 4))
	tell("log(2 T^2/delta)", unionLog(exact.Frac(10, 1), exact.Frac(1, 100)).Float(), math.Log(20000))
	for fourth, want := range map[int64]float64{10: 0.2, 400: 0.2, 401: 0} {
		tell("a likely error", exact.Float(likelyError(exact.Frac(4, 1), exact.Frac(fourth, 1), exact.Frac(25, 1))), want)
	}
	tell("a likely error", exact.Float(likelyError(new(big.Rat), exact.Frac(1, 1), n)), 0)
	tell("Bernstein's bound", bernstein(0.3, 5, 40, 2), math.Sqrt(0.03)+10./120)
	tell("Azuma's exponent", azumaExponent(0.5, 3, 10, 7), 0.0625*0.64*7/18)
	tell("a polynomial", polynomial(5, 3, 6)(0.5, 2), 5*8*64)
	pi := exact.Rats("4/5 1/5; 3/10 7/10")
	for rate, want := range map[string]float64{"1/2": 1. / 7, "1": 1. / 49} {
		claimed := stageOneError{rate: exact.Rat(rate)}.claimed(pi, exact.Frac(7, 1), two)
		tell("the bound of Lemma 33", claimed.Float(), 11*math.Pow(2, 2.5)/0.16*2*want)
	}
	tell("the bound of Lemma 33", stageOneError{}.claimed(pi, exact.Frac(7, 1), two).Float(), 11*math.Pow(2, 2.5)/0.16*2/7)
	mu, variance := []float64{0.6, 0.4}, 0.0
	for s, row := range [][]float64{{0.8, 0.2}, {0.3, 0.7}} {
		for to, p := range row {
			gain := max(p/(mu[to]+0.05+0.1)-1, 0)
			variance += mu[s] * mu[to] * gain * gain
		}
	}
	tell("the least variance", exact.Float(leastVariance(pi, exact.Frac(100, 1), exact.Frac(1, 10))), variance)
}

// samplesByDefinition compares the moments of one sample's gradients with sums over
// all sequences, from the form that the proof of Lemma 33 gives Z.
func samplesByDefinition(tell told) {
	const eps = 0.25
	for _, u := range unlikes() {
		pi, t, s := u.first.Floats(), u.graph.T(), len(u.first)
		for _, at := range [][2]int{{1, 0}, {4, 1}, {2, 2}, {t - 1, t - 1}} {
			law, want := gradientLaw(u.graph, at[0], at[1], exact.Frac(1, 4), u.first), make([]float64, 4)
			for x, chance := range exact.Sequences(u.graph, u.first) {
				query, z := x[t-1], 0.0
				if x[at[1]] != query {
					continue
				}
				for to := range s {
					frequency := float64(occurrences(to, x)) / float64(t)
					z += pi[query*s+to] * (unit(x[at[0]] == to) - frequency) / (frequency + eps) * float64(s)
				}
				for p := range want {
					want[p] += exact.Float(chance) * math.Pow(math.Abs(z), float64(p+2))
				}
			}
			got := []float64{exact.Float(law.moment(2)), exact.Float(law.absolute(3)), exact.Float(law.moment(4)), exact.Float(law.absolute(5))}
			tell.each("a moment of one sample", got, want)
		}
	}
}

// covariancesByDeterminant compares the covariance of two events with v11 v00 - v01 v10.
func covariancesByDeterminant(tell told) {
	for _, v := range exact.Rats("1/10 1/5 3/10 2/5; 1/2 1/10 1/10 3/10; 0 1/6 1/3 1/2; 1/7 0 2/7 4/7") {
		f, covariance := eventCovariance(v)
		determinant := exact.Sub(exact.Mul(v[0], v[3]), exact.Mul(v[1], v[2]))
		tell("the covariance of two events", exact.Float(covariance), exact.Float(exact.Abs(determinant)))
		tell("the probability of an event", exact.Float(f), 1-exact.Float(v[2])-exact.Float(v[3]))
	}
}

// quotientsAsPrinted compares the displayed uses of Lemma 28 with what is displayed,
// for errors E_n = n + 2 but E_3 = -5, epsilon = 2, e^beta = 3, a value of -4 and B2 = 7.
func quotientsAsPrinted(tell told) {
	q := quotient{value: exact.Frac(-4, 1), below: exact.Frac(7, 1)}
	var errs [8]*big.Rat
	for n := range errs {
		errs[n] = exact.Frac(int64(n+2), 1)
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
		tell("a use of Lemma 28", exact.Float(of.use.bound(q, errs, exact.Frac(3, 1))), of.want)
	}
}

// fluctuationsAsPrinted compares the enclosures of what 1/(muhat+eps) is off with
// their formulas, on in-context graphs of three lengths.
func fluctuationsAsPrinted(tell told) {
	pi := exact.Rats("4/5 1/5; 3/10 7/10")
	for _, t := range []int64{9, 49, 9999} {
		c := newLongInContext(pi, exact.Frac(t, 1), exact.Frac(1, 10), theory.QueryApart)
		for state, mu := range []float64{0.6, 0.4} {
			n, both := float64(t), mu*[]float64{0.8, 0.7}[state]
			second := (25 + n/2*2*(mu+both-2*mu*mu)) / (n * n)
			far, low, high := n*mu/2-5, -5/n, 0.0
			high = 5/n + 2/mu*second + mu*mu/0.1*math.Exp(-min(far*far/n, 1000))
			scale := (mu + 0.1) * (mu + 0.1)
			want := []float64{low / scale, high / scale}
			if far <= 0 {
				want = []float64{-1 / (mu + 0.1), 10}
			}
			got := c.fluctuation(state)
			tell.each("an enclosure of 1/(muhat+eps)", []float64{exact.Float(got.Lo), exact.Float(got.Hi)}, want)
		}
	}
}

// powerLawsByHand compares a fit with one through three points at 0, 1 and 3 in the
// logarithms, which are 1, 2 and 6 less 1/14, 3/28 and 1/28: the slope is 12/7, and
// with one degree of freedom half of the interval is tan(.475 pi) times its error.
func powerLawsByHand(tell told) {
	x, y := []float64{1, math.E, math.Exp(3)}, []float64{math.E, math.Exp(2), math.Exp(6)}
	law := theory.FitPowerLaw(x, y)
	slope, at := 12./7, 3-12./7*4/3
	rss := 0.0
	for k, v := range []float64{1, 2, 6} {
		miss := v - at - slope*[]float64{0, 1, 3}[k]
		rss += miss * miss
	}
	tell("an exponent", law.Exponent, slope)
	tell("the logarithm of a factor", law.Log, at)
	tell("half of an interval", law.Half, math.Tan(0.475*math.Pi)*math.Sqrt(rss/(14./3)))
}

// deviationsByHand compares the mean deviation of two sequences, of 1/2 and 2/3, beside
// one where it is not defined, and, where 1 and 4 alone have children, the bound of the
// share of the roots: mu = (4/7, 3/7), and 2/5 and 1/5 are the least entries of the columns.
func deviationsByHand(tell told) {
	var d deviation
	x := []int{0, 1, 2, 1}
	d.add([]int{0, 1}, []int{1, 2, 3}, x, 3)
	d.add([]int{0, 2, 3}, []int{3}, x, 3)
	d.add([]int{0}, nil, x, 3)
	tell("a mean deviation", d.mean(), 7./12)
	tell("the sequences with a deviation", float64(d.drawn-d.defined), 1)
	g := graph.MustNew(graph.Root, 0, 0, 0, 3, graph.Root)
	tell("the positions with children", float64(parentsOf(g)), 2)
	bound := constructionMean{}.most(g, exact.Rats("2/5 3/5; 4/5 1/5"))
	tell("the bound of the share of the roots", exact.Float(bound), (4./7/(2./5*3/7)+3./7/(1./5*4/7))/4)
}

// streamsInFloats compares the blocks of the query's last residual stream in the limit
// with the dense transformer's, on graphs where a position has two children.
func streamsInFloats(tell told) {
	for _, u := range unlikes() {
		s := len(u.first)
		k := model.ConstructionOne(u.graph, s)
		weights, d := k.Weights(betaOne, betaTwo), s+u.graph.T()
		for x := range task.Sequences(s, u.graph.T()) {
			stream := weights.Stream(x).RawRowView(u.graph.T() - 1)
			for block := range 4 {
				tell.each("a block of a stream", limitBlock(u.graph, x, k.Attended(x), s, block).Floats(), stream[block*d:(block+1)*d])
			}
		}
	}
}

// trainedModelAsDefined compares the predictions of a trained model whose roots
// attend evenly with the reduced model's, and what they may be off with the formula.
func trainedModelAsDefined(tell told) {
	const r, beta, star = 0.3, 1.4, 1.2
	for _, u := range unlikes() {
		c, n := u.chain(), u.graph.T()
		run := &mainRun{
			firstStage: &firstStage{graph: u.graph, prior: u.prior(), t: n, s: c.S},
			r:          r, beta: beta, betaStar: star, roots: make([][]float64, n),
		}
		for i := range n {
			for range i + 1 {
				run.roots[i] = append(run.roots[i], 1/float64(i+1))
			}
		}
		for x := range task.Sequences(c.S, n) {
			tell.each("a prediction of a trained model", run.predict(x, c.S), idealPrediction(u.graph, x, x[n-1], c.S, beta))
		}
		gamma := min(c.Gamma(), theory.MustChain(u.other.Floats(), c.S).Gamma())
		for s, mu := range c.Mu {
			far, spread := 0.0, 0.0
			for to, p := range c.Pi[s*c.S : s*c.S+c.S] {
				far, spread = max(far, p-c.Mu[to], c.Mu[to]-p), max(spread, p-p*p)
			}
			mu = max(mu, gamma/float64(c.S))
			small, root := math.Exp(-star), math.Exp(star*(mu-1))
			weight := (0.7*small + 0.3*root) / (0.7*small + 0.3*root + 0.7*(1-small)*mu)
			tail := []float64{2: 2.5758293035, 3: 2.9351994687, 4: 3.0233414397}[c.S]
			tell("the weight of mu", mixtureWeight(mu, r, star), weight)
			tell("how far a prediction may be off", run.errorBound(c, s), weight*far+tail*math.Sqrt(spread/(0.7*mu*float64(n))))
		}
	}
}

// excessAsDefined compares what the excess loss of Theorem 1 is at most, and its limit,
// with their terms, for r = 3/10, T_eff = 7 and a run at epsilon = 1/20, at beta* = 7/5.
func excessAsDefined(tell told) {
	const star = 1.4
	eps := math.Sqrt(1. / 7)
	for _, u := range unlikes() {
		states, limit, lone := float64(len(u.first)), 0.0, 0.0
		for k, pi := range []exact.Matrix{u.first, u.other} {
			weight, c := []float64{1. / 3, 2. / 3}[k], theory.MustChain(pi.Floats(), len(pi))
			for s, mu := range c.Mu {
				lone += weight * (states - 1) / (2 * states * mu)
				rest := 0.7*math.Exp(-star) + 0.3*math.Exp(star*(mu-1))
				rest /= rest + 0.7*(1-math.Exp(-star))*mu
				for to, p := range c.Pi[s*c.S : s*c.S+c.S] {
					f := p + rest*(c.Mu[to]-p)
					limit += weight / states * p * (math.Log(p) - math.Log((f+eps)/(1+states*eps)))
				}
			}
		}
		run := &mainRun{firstStage: &firstStage{prior: u.prior(), s: len(u.first), teff: 7}, r: 0.3, eps: 0.05}
		tell("the limit of the excess loss", run.limit(star), limit)
		tell("what the excess loss is at most", run.bound(star), limit+lone/4.9)
	}
}

// tokenLossesInFloats compares the loss of the model that predicts the law of the
// tokens, and its error, with sums over all sequences.
func tokenLossesInFloats(tell told) {
	const eps = 0.25
	g, base := graph.Chain(4), exact.Rats("4/5 1/5; 3/10 7/10")
	exchanged := exact.Rats("1/5 4/5; 7/10 3/10")
	var gap, square, plain float64
	for _, pi := range []exact.Matrix{base, exchanged, exact.Rats("7/10 3/10; 1/5 4/5"), exact.Rats("3/10 7/10; 4/5 1/5")} {
		for x, chance := range exact.Sequences(g, pi) {
			weight, far := exact.Float(chance)/4, 0.0
			for b, q := range pi[x[3]] {
				f, p := float64(occurrences(b, x))/4, exact.Float(q)
				gap += weight * p * (math.Log(p) - math.Log(f+eps))
				far += math.Abs((f+eps)/1.5 - p)
				plain += weight / 2 * (f - p) * (f - p)
			}
			square += weight / 2 * far * far
		}
	}
	l := newTokenLoss(g, base, exact.Frac(1, 4))
	tell("L - L*", l.gap.Float(), gap)
	tell("log(1 + S eps)", l.shift.Float(), math.Log(1.5))
	tell("the mean of |q - pi|^2/2", exact.Float(l.square), square)
	tell("the mean of (f - pi)^2", exact.Float(l.plain), plain)
}
