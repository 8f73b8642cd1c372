package claims

import (
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// This file has second routes to what rows compute for themselves, in rationals or
// in floats, where the library computes it too or few sequences are to be summed.

// lossesBySummation compares the losses at A1 = A2 = 0 in both readings.
func lossesBySummation(tell told) {
	for _, u := range unlikes() {
		s, t := len(u.first), u.graph.T()
		p := population{u.graph, "prior", u.thrice()}
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			terms := logTerms{map[string]exact.Vector{}, map[string][]int{}}
			p.queries(reading, func(weight *big.Rat, pi exact.Matrix, x []int, query int) {
				terms.add(x, query, exact.Quo(weight, perState(s)), pi[query])
			})
			zero := smallPopulation{u.graph, u.prior(), theory.NewReduced(s, t, 0), 1 / float64(t)}
			loss, _ := zero.gradients(reading).Loss(zero.model)
			tell("a loss at A1 = A2 = 0", loss, atZero(terms.byCount(t)).Float())
		}
	}
}

// secondGradientsInFloats compares the gradient of A2 for attention in halves.
func secondGradientsInFloats(tell told) {
	attention := exact.Rats("1 0 0 0 0; 1/2 1/2 0 0 0; 0 1 0 0 0; 0 1/2 0 1/2 0; 1/2 0 1/2 0 0")
	u := unlikes()[1]
	s, t := len(u.first), u.graph.T()
	m := theory.NewReduced(s, t, 2*math.Log(1.5))
	for i, row := range attention {
		for j, p := range row[:i+1] {
			m.A1[i*t+j] = -1000 * unit(p.Sign() == 0)
		}
	}
	for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
		p := smallPopulation{u.graph, u.prior(), m, 0.1}
		got := exactG2(u.graph, u.thrice(), attention, exact.Frac(3, 2), exact.Frac(1, 10), reading)
		tell.each("G2", got.Floats(), p.gradients(reading).Gradient(m).G2)
	}
}

// toParents has each position with a parent attend to it alone, and leaves the rows of roots.
func toParents(m *theory.Reduced, g *graph.Forest) {
	for i, p := range g.Parents() {
		for j := range i + 1 {
			if p != graph.Root && j != p {
				m.A1[i*m.T+j] = -1000
			}
		}
	}
}

// predictionsOfModel compares the predictions after stage 1 with the model's.
func predictionsOfModel(tell told) {
	for _, u := range unlikes() {
		s, t := len(u.first), u.graph.T()
		m := theory.NewReduced(s, t, 1.5)
		toParents(m, u.graph)
		for x := range task.Sequences(s, t) {
			for query := range s {
				want, _, _ := m.Predict(x, query)
				tell.each("a prediction", idealPrediction(u.graph, x, query, s, 1.5), want)
			}
		}
		someX := []int{0, 1, 1, 0, 1, 0}[:t]
		for query := range s {
			want, _, _ := m.Predict(someX, query)
			tell("a prediction", idealPredictionEnclosed(u.graph, someX, query, exact.Frac(3, 2)).Float(), want[query])
		}
	}
}

// errorsBySummation compares the errors of Lemma 24 (lem-concentration-a1), and
// e^beta - 1 with its series.
func errorsBySummation(tell told) {
	const eps = 0.15
	for _, u := range unlikes() {
		c, t := u.chain(), float64(u.graph.T())
		for _, at := range [][2]int{{1, 0}, {4, 1}, {2, 2}, {4, 4}} {
			i, j := at[0], at[1]
			law := enumeratedLaw(u.first, u.graph, i, j)
			for k, got := range gradientErrors(u.graph, c, i, j, eps) {
				state, s := k/c.S, k%c.S
				mu, expected, square := c.Mu[state], 0.0, 0.0
				for x, p := range exact.Sequences(u.graph, u.first) {
					frequency := float64(occurrences(state, x)) / t
					expected += exact.Float(p) * (unit(x[i] == state) - frequency) * unit(x[j] == s) / (frequency + eps)
					square += exact.Float(p) * (frequency - mu) * (frequency - mu)
				}
				limit := exact.Float(law[state][s]) / mu
				for b := range c.S {
					limit -= exact.Float(law[b][s])
				}
				tell("an error of the gradient", got.whole, math.Abs(expected-limit))
				tell("an error of the gradient at mu", got.bias, eps/(mu+eps)*math.Abs(limit))
				tell("the deviation of muhat", got.sigma, math.Sqrt(square))
			}
		}
	}
	for _, beta := range []float64{1e-9, 0.99e-4, 1.01e-4, 0.5} {
		tell("e^beta - 1", unit(math.Abs(expMinusOne(beta)/math.Expm1(beta)-1) < 1e-8), 1)
	}
}

// gapsInRationals compares what a search for priors computes in floats.
func gapsInRationals(tell told) {
	pis := []exact.Matrix{exact.Rats("9/10 1/10; 2/5 3/5"), exact.Rats("1/5 4/5; 3/10 7/10")}
	bases := []*theory.Chain{theory.MustChain(pis[0].Floats(), 2), theory.MustChain(pis[1].Floats(), 2)}
	mean := func(of func(pi exact.Matrix) *big.Rat) float64 {
		return exact.Float(exact.Add(of(pis[0]), of(pis[1]))) / 2
	}
	norm := mean(exact.FrobeniusSquared)
	for _, place := range placesOfJ {
		most := math.Inf(-1)
		for _, at := range place.pairs {
			most = max(most, mean(func(pi exact.Matrix) *big.Rat { return enumeratedGradient(pi, place.graph, at[0], at[1]) }))
		}
		tell("the least gap, "+place.name, gapCheck{places: []placeOfJ{place}}.least(bases), norm-most)
	}
	tell("half of the gap", halfGapOf(bases), mean(halfGap))
	someM, someD := exact.Frac(1, 9), exact.Frac(1, 20)
	light := lightState(4, someM, someD)
	got, entries, rows := lightNorm(4, exact.Float(someM), exact.Float(someD))
	tell("|B|_F^2 with a light state", got, exact.Float(exact.FrobeniusSquared(light)))
	tell("gamma^2 of the entries", entries*entries, exact.Float(exact.Pow(exactFloorGamma(light), 2)))
	tell("gamma^2 of the rows", rows*rows, exact.Float(ofSpread.square(light)))
	for _, pi := range []exact.Matrix{unlikes()[1].first, pullAway, exact.Rats("1/9 4/9 4/9; 1/2 1/4 1/4; 1/3 1/3 1/3")} {
		tell.each("a matrix of trace 1", withTraceFloats(pi.Floats(), 3, 1), withTrace(pi, exact.Frac(1, 1)).Floats())
		tell("its trace", exact.Float(withTrace(pi, exact.Frac(1, 1)).Trace()), 1)
	}
}

// growthOfPoint compares the growth of beta at a point of the search on a chain of four
// positions with the derivatives of the loss.
func growthOfPoint(tell told) {
	x := startAtParents()
	x[0], x[1], x[2], x[3] = 0.3, -0.4, 0.2, -2
	leave := func(x float64) float64 { return 0.02 + 0.96/(1+math.Exp(-x)) }
	a, b := leave(0.3), leave(-0.4)
	prior := mustOrbit(2, []float64{a, 1 - a, 1 - b, b}, []float64{1 - a, a, b, 1 - b})
	p := newSmallPopulation(chainOfFour, prior, math.Exp(-2), math.Exp(0.2), x[4:])
	_, d := p.complexSteps(theory.QueryApart)
	growth, _ := growthOnAChain(x)
	tell("the growth of beta on a chain", growth, -d[0]-d[3])
}

// headsForward compares the outputs of one head with the model's.
func headsForward(tell told) {
	for qkv := range task.Sequences(2, 3) {
		for x := range task.Sequences(2, 2) {
			m, _ := oneHead(qkv, x)
			tell("an output of one head", oneHeadOutput(int64(qkv[0]*qkv[1]), qkv, x).Float(), m.Forward(x).At(1, 0))
		}
	}
}
