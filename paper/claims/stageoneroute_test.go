package claims

import (
	"math"
	"math/big"
	"slices"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file has second routes to what the rows on stage 1 enclose or follow: to
// the gradients of long in-context graphs, and to the times of stage 1.

// pairsByCounts compares the enclosures on in-context graphs with the library's
// gradients at lengths where both are had.
func pairsByCounts(tell told) {
	for _, in := range []struct {
		t   int64
		pis []exact.Matrix
	}{
		{225, []exact.Matrix{exact.Rats("9/10 1/10; 2/5 3/5")}},
		{121, []exact.Matrix{exact.Rats("1/2 1/3 1/6; 1/10 3/5 3/10; 2/7 1/7 4/7")}},
		{169, pullToward},
	} {
		root := exact.Frac(int64(math.Round(math.Sqrt(float64(in.t)))), 1)
		g, s := graph.InContext(int(in.t)), len(in.pis[0])
		someEps := exact.Frac(1, 10)
		bases := make([][]float64, len(in.pis))
		for k, pi := range in.pis {
			bases[k] = pi.Floats()
		}
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			ghat, err := theory.GHat(g, mustOrbit(s, bases...), exact.Float(someEps), reading)
			if err != nil {
				panic("claims: " + err.Error())
			}
			long := newLongStageOne(root, someEps, reading, in.pis...)
			long.rowsByEntries(tell)
			long.holdsGradient(tell, ghat.RawMatrix().Data, g.T())
		}
		newLongInContext(in.pis[0], exact.Frac(in.t, 1), someEps, theory.QueryApart).holdsErrors(tell, g)
	}
}

// holdsGradient asks whether the enclosures of ghat and g* hold the entries of
// ghat on t positions, those of g* with twice the shift of Lemma 23 to either side.
func (c longStageOne) holdsGradient(tell told, ghat []float64, t int) {
	place := func(role int) int {
		if role == queryRole {
			return t - 1
		}
		return role
	}
	s, eps := float64(len(c.pis[0])), exact.Float(c.eps)
	shift := 6 * s * s / (eps * eps) * math.Pow(float64(t), -2) // twice that of Lemma 23, as e^x - 1 < 2x
	for _, i := range []int{ownRoot, ownChild, queryRole} {
		for _, j := range columns(i) {
			v := ghat[place(i)*t+place(j)]
			sum := exact.Point(new(big.Rat))
			for _, chain := range c.chains {
				sum = sum.Add(chain.ghat(i, j))
			}
			sum = sum.Quo(exact.Point(exact.Frac(int64(len(c.pis)), 1)))
			star := c.gstar(i, j)
			tell("an enclosure of ghat", holds(sum, v-1e-9, v+1e-9), 1)
			tell.each("how far g* may be off", []float64{
				exact.Float(exact.Sub(sum.Lo, star.Lo)), exact.Float(exact.Sub(star.Hi, sum.Hi)),
			}, []float64{shift, shift})
		}
	}
}

// rowsByEntries compares what is enclosed of a row of g* with what its entries leave: its
// force, how far it is from that of g, and the lead of its last column.
func (c longStageOne) rowsByEntries(tell told) {
	twoS := 2 * float64(len(c.pis[0]))
	for _, i := range []int{ownRoot, ownChild, queryRole} {
		var lo, hi, less []float64
		for _, j := range columns(i) {
			star, g := c.gstar(i, j), exact.Float(c.g(i, j))
			lo, hi = append(lo, exact.Float(star.Lo)), append(hi, exact.Float(star.Hi))
			less = append(less, lo[len(lo)-1]-g, hi[len(hi)-1]-g)
		}
		force := c.drive(i)
		tell.each("the force on a row", []float64{exact.Float(force.Lo), exact.Float(force.Hi)},
			[]float64{max(slices.Max(lo)-slices.Min(hi), 0) / twoS, (slices.Max(hi) - slices.Min(lo)) / twoS})
		tell("how far a row is from g", exact.Float(c.distance(i, c.g).Hi), max(slices.Max(less), -slices.Min(less)))
		last, lead := len(lo)-1, c.gap(i, i)
		tell.each("the lead of a position", []float64{exact.Float(lead.Lo), exact.Float(lead.Hi)},
			[]float64{lo[last] - slices.Max(hi[:last]), hi[last] - slices.Max(lo[:last])})
	}
}

// holds tells, as 1 or 0, whether an interval holds another.
func holds(x exact.Interval, lo, hi float64) float64 {
	return unit(exact.Float(x.Lo) <= lo && hi <= exact.Float(x.Hi))
}

// holdsErrors asks the same of the errors of Lemma 24, and compares the moments of
// muhat with those of the law of the counts, on two lengths for those of a pair.
func (c longInContext) holdsErrors(tell told, g *graph.Forest) {
	chain, t := theory.MustChain(c.pi.Floats(), len(c.pi)), float64(g.T())
	for _, at := range [][2]int{{ownChild, ownRoot}, {ownChild, ownChild}, {ownRoot, otherChild}} {
		for k, e := range gradientErrors(g, chain, at[0], at[1], exact.Float(c.eps)) {
			x := magnitude(c.error(at[0], at[1], k%chain.S, k/chain.S))
			tell("an enclosure of an error", holds(x, e.whole+1e-9, e.whole-1e-9), 1)
		}
	}
	for state, mu := range chain.Mu {
		moment := func(g *graph.Forest) float64 {
			sum := 0.0
			for n, p := range theory.CountLaw(g, chain.Pi, chain.Mu, state) {
				off := float64(n) - float64(g.T())*mu
				sum += p * off * off
			}
			return sum
		}
		pair := moment(graph.InContext(7)) - moment(graph.InContext(5))
		tell("the bound on the variance of muhat", exact.Float(c.secondMoment(state)), (25+pair*t/2)/(t*t))
	}
}

// timesByIntegration compares the times of stage 1 with each other: closed forms,
// numbers of steps, the flow of a row, and the integral that they come from.
func timesByIntegration(tell told) {
	one := exact.Frac(1, 1)
	for _, in := range [][2]int64{{5, 2}, {10, 7}, {40, 40}, {7, 300}} {
		n, alpha := exact.Frac(in[0], 1), exact.Frac(1, in[1])
		nf, af := float64(in[0]), 1/float64(in[1])
		from, to := -num.Log(nf-1), num.Log(1/af-1)
		integral := 0.0
		const someParts = 4000
		for k := range someParts { // Gauss's rule with two points
			for _, point := range []float64{0.5 - 1/math.Sqrt(12), 0.5 + 1/math.Sqrt(12)} {
				w := from + (to-from)/someParts*(float64(k)+point)
				integral += (to - from) / someParts / 2 * (2 + num.Exp(w) + num.Exp(-w))
			}
		}
		sharp := sharpTime(1, 2, 0.25)
		for _, q := range []parentTime{sharp, printedTime(one, one), timeToEnd(one, 1)} {
			small := 1e-11 * q.steps(nf, af, 1e-11)
			tell("a time in closed form", q.closed(n, alpha).Float(), small)
		}
		for _, eta := range []int64{1, 3} {
			bound := timeBound(alpha, n, exact.Frac(2, 5), exact.Frac(eta, 1)).Float()
			tell("a number of steps", bound, sharp.steps(nf, af, 0.4*float64(eta)))
		}
		tell("the time of one leader", leaderTime(n, alpha).Float(), integral)
		flowArrives(tell, int(in[0]), af)
	}
}

// flowArrives compares when a row of n positions has attention 1-alpha at one that
// leads by 2/5, the others at 1/5, with the same steps for its odds: the leader's
// entry of A moves by 1/20 in each, the others' against it by 1/(20 (n-1)), in the
// time 1/(8 P(1-P)). In small steps it is the time of one leader, up to their size.
func flowArrives(tell told, n int, alpha float64) {
	h := make([]float64, n)
	for j := range h {
		h[j] = 0.2
	}
	h[1] = 0.6
	odds, step, want, last := 1/float64(n-1), num.Exp(0.05*float64(n)/float64(n-1)), 0.0, 0.0
	for odds < 1/alpha-1 {
		last = (2 + odds + 1/odds) / 8
		odds, want = odds*step, want+last
	}
	tell("the time of the flow", arrivalTime(h, 1, alpha), want)
	tell("a flow that is led elsewhere", unit(math.IsInf(arrivalTime(h, 0, alpha), 1)), 1)
	t, p := rowFlow(h, want-last/2, nil)
	tell("when a flow stops", t, want-last/2)
	tell("the odds where it stops", p[1]/(1-p[1]), odds/math.Sqrt(step))
	small := leaderTime(exact.Frac(int64(n), 1), exact.FromFloats([]float64{alpha}, 1)[0][0])
	tell("the time of one leader", unit(math.Abs(want/small.Float()*float64(n)/float64(n-1)*0.4-1) < 0.06), 1)
}

// stepsByRecursion compares a row with one leader, step by step, with the recursion
// of the logarithm of its odds, and the time that stage 1 is given with the least at
// which the rows looked at have lost no more than 1/T.
func stepsByRecursion(tell told) {
	for _, in := range [][3]float64{{5, 0.5, 0.1}, {10, 1. / 7, 1}, {40, 1. / 40, 3}} {
		n, alpha, etaDelta := in[0], in[1], in[2]
		w, steps, least := -num.Log(n-1), 0.0, 1.0
		for ; w < num.Log(1/alpha-1); steps++ {
			p := 1 / (1 + num.Exp(-w))
			w += etaDelta * p * (1 - p) * n / (n - 1)
			least = min(least, 1/(1+num.Exp(-w))-p)
		}
		last, fell := sharpTime(1, 2, 0.25).follow(int(n), etaDelta, alpha, func(h []float64) {
			clear(h)
			h[0] = 1
		})
		tell("the last step of a row", last, steps-1)
		tell("the least rise in a step", -fell, least)
	}
	for _, prior := range stageTwoPriors() {
		enough := stageOneTimeConstant(prior) / 2
		for _, part := range []float64{1, 0.97} {
			lost := 0.0
			for _, family := range []string{"chain", "in-context"} {
				c := newFirstStage(graph.FamilyNamed(family), 32, prior)
				for _, i := range c.someChildren(6) {
					lost = max(lost, 1-c.attentionAfter(i, part*enough)[c.graph.Parent(i)])
				}
			}
			tell("what the rows with a parent have lost", unit(lost <= 1./32+1e-9), unit(part == 1))
		}
	}
}

// boundsInFloats compares what the rows on roots and on intervals are stated with.
func boundsInFloats(tell told) {
	someEps := exact.Frac(1, 27)
	c := newLongStageOne(exact.Frac(27, 1), someEps, theory.QueryInSequence, pullToward...)
	steps, i := exact.Frac(500, 1), exact.Frac(300, 1)
	log, constant := math.Log(729), 16*8/math.Pow(0.19, 3)
	x := exact.Interval{Lo: exact.Frac(-2, 1), Hi: exact.Frac(3, 2)}
	y := exact.Interval{Lo: exact.Frac(-5, 1), Hi: exact.Frac(-4, 1)}
	z := exact.Interval{Lo: exact.Frac(7, 1), Hi: exact.Frac(8, 1)}
	ends := func(x exact.Interval) []float64 { return []float64{exact.Float(x.Lo), exact.Float(x.Hi)} }
	for _, few := range []float64{1, 500} {
		last, off := lateRootRests(c, exact.Frac(int64(few), 1))
		drive := 4 * few * exact.Float(c.drive(ownRoot).Hi)
		tell.each("how far the last root is from even", []float64{exact.Float(last), exact.Float(off.Lo), exact.Float(off.Hi)},
			[]float64{727, 0, drive / (727 * 727) * unit(drive <= 727)})
	}
	tell("T^-rate", decayAt(exact.Frac(5, 1), exact.Rat("13/20")).Float(), math.Pow(25, -0.65))
	tell("T^-1/2", decayAt(exact.Frac(5, 1), nil).Float(), 0.2)
	tell("the printed bound", linearInTime(c, steps, i).Float(), 500.0/27/300/300)
	tell("the printed bound", printedAtEnd(c, steps, i).Float(), 27*log/300/300)
	tell("the printed bound", printedAtEnd(c, steps, exact.Frac(13, 1)).Float(), 1)
	tell("the time of the rows with a parent", exact.Float(childrenDone(c)), math.Ceil(constant*729*log))
	tell("the time of the rows with a parent", unit(childrenDone(c).IsInt()), 1)
	for k, x := range []string{"7/2", "-7/2", "4"} {
		tell("an integer from above", exact.Float(ceiling(exact.Rat(x))), []float64{4, -3, 4}[k])
	}
	tell.each("|x|", ends(magnitude(x)), []float64{0, 2})
	tell.each("|x|", ends(magnitude(y)), []float64{4, 5})
	tell.each("|x|", ends(magnitude(z)), []float64{7, 8})
	tell.each("a spread", ends(spreadOf([]exact.Interval{x, y, z})), []float64{11, 13})
	tell.each("a spread", ends(spreadOf([]exact.Interval{x, x})), []float64{0, 3.5})
	for _, exponent := range []string{"-2", "2", "0", "-3/2"} {
		e := exact.Rat(exponent)
		tell("a power", power(exact.Frac(3, 1), e).Float(), math.Pow(3, exact.Float(e)))
	}
	third := exact.Rat("1/3")
	for _, less := range []string{"1/10", "1/100000000000000"} {
		l, r := between(exact.Point(third), exact.Point(exact.Sub(third, exact.Rat(less))))
		tell("numbers between", unit(l.Cmp(third) <= 0 && l.Cmp(r) > 0 && r.Cmp(exact.Sub(third, exact.Rat(less))) >= 0), 1)
	}
	tell("the spread of a row", offCentre([]float64{-1, 2, 0.5}), 1.5)
	tell("how far a row is from even", offUniform([]float64{0.3, 0.6, 0.1}), 0.6-1.0/3)
	tell("how far a row is from even", offUniform([]float64{0.5, 0.48, 0.02}), 1.0/3-0.02)
	tell("gamma", exact.Float(leastOverS(pullAway)), 0.15)
}
