package claims

import (
	"math"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/task"
)

// This file has second routes to what decides: to the accumulators of the ledger, to
// ranges, and to what a row asks of a chain or a prior.

// decisionsByHand compares what the methods of a Worst come to, its sides and what the
// instances take up on the average, with what they are said to.
func decisionsByHand(tell told) {
	at := func() ledger.Instance { return ledger.Instance{} }
	third, half := exact.Frac(1, 3), exact.Frac(1, 2)
	wide := exact.Interval{Lo: exact.Frac(1, 4), Hi: half}
	for _, of := range []struct {
		take             func(w *ledger.Worst)
		want             ledger.Verdict
		lhs, rhs, margin float64
	}{
		{func(w *ledger.Worst) { w.AtMost(1, 4, at); w.AtMost(3, 4, at); w.AtMost(2, 4, at) }, ledger.Holds, 3, 4, 0.25},
		{func(w *ledger.Worst) { w.AtMost(2, 1, at) }, ledger.Open, 2, 1, -0.5},
		{func(w *ledger.Worst) { w.Keep(1, 4, at) }, ledger.Holds, 1, 4, 0.75},
		{func(w *ledger.Worst) { w.Keep(0, 0, at); w.Keep(0, 4, at); w.Keep(1, 0, at) }, ledger.Open, 1, 0, -1},
		{func(w *ledger.Worst) { w.AtMostRat(third, half, at) }, ledger.Holds, 1. / 3, 0.5, 1. / 3},
		{func(w *ledger.Worst) {
			w.AtMostRat(third, half, at)
			w.AtMostRat(exact.Frac(0, 1), exact.Frac(0, 1), at)
		}, ledger.Holds, 1. / 3, 0.5, 1. / 3},
		{func(w *ledger.Worst) { w.AtMostRat(half, third, at) }, ledger.Fails, 0.5, 1. / 3, -1. / 3},
		{func(w *ledger.Worst) { w.AtMostInterval(exact.Point(third), exact.Point(half), at) }, ledger.Holds, 1. / 3, 0.5, 1. / 3},
		{func(w *ledger.Worst) { w.AtMostInterval(exact.Point(half), exact.Point(third), at) }, ledger.Fails, 0.5, 1. / 3, -1. / 3},
		{func(w *ledger.Worst) { w.AtMostInterval(exact.Point(third), wide, at) }, ledger.Open, 1. / 3, 0.375, 1. / 9},
		{func(w *ledger.Worst) { w.AtMostRounded(1, 1.25, 0.1, at) }, ledger.Holds, 1, 1.25, 0.2},
		{func(w *ledger.Worst) { w.AtMostRounded(1, 1.25, 0.3, at) }, ledger.Open, 1, 1.25, 0.2},
		{func(w *ledger.Worst) { w.AtMostRounded(1.25, 1, 0.3, at) }, ledger.Open, 1.25, 1, -0.2},
		{func(w *ledger.Worst) { w.AtMost(1, 8, at); w.AtMostRounded(1.25, 1, 0.1, at) }, ledger.Fails, 1.25, 1, -0.2},
		{func(w *ledger.Worst) { w.EqualRat("", half, third, at) }, ledger.Fails, 0.5, 1. / 3, -1. / 3},
		{func(w *ledger.Worst) { w.EqualMatrix("", exact.Rats("1 2; 4 7"), exact.Rats("1 2; 4 8"), at) }, ledger.Fails, 7, 8, -0.125},
		{func(w *ledger.Worst) { w.EqualMatrix("", exact.Rats("1 2; 4 7"), exact.Rats("1 2; 4 7"), at) }, ledger.Holds, 1, 1, 0},
		{func(w *ledger.Worst) { w.Equal([]float64{1, 4, 9}, []float64{1.5, 5, 9}, 0.1, at) }, ledger.Fails, 1, 1.5, -1. / 3},
		{func(w *ledger.Worst) { w.Equal([]float64{1, 4, 9}, []float64{1, 5, 9}, 0.3, at) }, ledger.Holds, 4, 5, 0},
		{func(w *ledger.Worst) { w.Equal([]float64{math.NaN(), 1}, []float64{math.NaN(), 2}, 0.1, at) }, ledger.Fails, 1, 2, -0.5},
	} {
		var w ledger.Worst
		of.take(&w)
		f := w.Finding("")
		tell("a verdict", unit(f.Verdict == of.want), 1)
		tell.each("sides and margin", []float64{f.LHS, f.RHS, f.Margin}, []float64{of.lhs, of.rhs, of.margin})
	}
	for _, of := range [][2]float64{{1, 1}, {3, 3 + 2e-9}, {3, 3 - 2e-9}, {3, 3 + 4e-9}, {3, 3 - 4e-9}, {0, 9e-14}, {0, 2e-13}, {1, -1}} {
		var w ledger.Worst
		sameNumber(&w, "", of[0], of[1])
		far := math.Abs(of[1] - of[0])
		tell("whether two numbers agree", unit(!w.Failed()), unit(far <= max(1e-9*of[0], 1e-13)))
	}
	for of, want := range map[[3]float64]ledger.Verdict{ // exponent, claimed and rival
		{-1, -0.5, -2}:   ledger.Consistent,
		{-0.4, -0.5, -2}: ledger.Inconsistent,
		{-2.1, -0.5, -2}: ledger.Open,
		{0.01, 0.5, -2}:  ledger.Open,
		{0.01, 0, -2}:    ledger.Inconsistent,
		{-0.01, 0, -2}:   ledger.Consistent,
	} {
		d := ledger.Trend{Claimed: of[1], Rival: of[2]}
		for _, x := range []float64{1, 3, 4, 11} {
			d.Add(x, 7*math.Pow(x, of[0]))
		}
		f := d.Finding()
		tell("the verdict of a trend", unit(f.Verdict == want), 1)
		tell.each("its sides and margin", []float64{f.LHS, f.RHS, f.Margin}, []float64{of[0], of[1], of[1] - of[0]})
	}
}

// rangesByEnds compares ranges with the extremes over the ends of what they combine,
// one float farther out.
func rangesByEnds(tell told) {
	below := func(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
	above := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	same := func(what string, got exact.Range, lo, hi float64) {
		tell(what, unit(got == exact.Range{Lo: lo, Hi: hi}), 1)
	}
	someRanges := []exact.Range{{Lo: -0.7, Hi: 1.1}, {Lo: 0.3, Hi: 1.3}, {Lo: -2.3, Hi: -0.1}, {Lo: -0.4, Hi: 0.2}, {Lo: 0, Hi: 1}, {Lo: -1, Hi: 0}}
	for _, a := range someRanges {
		for _, b := range someRanges {
			ends := func(what string, got exact.Range, op func(x, y float64) float64) {
				x := []float64{op(a.Lo, b.Lo), op(a.Lo, b.Hi), op(a.Hi, b.Lo), op(a.Hi, b.Hi)}
				same(what, got, below(slices.Min(x)), above(slices.Max(x)))
			}
			ends("a + b", a.Add(b), func(x, y float64) float64 { return x + y })
			ends("a - b", a.Sub(b), func(x, y float64) float64 { return x - y })
			ends("a b", a.Mul(b), func(x, y float64) float64 { return x * y })
			if b.Lo*b.Hi > 0 {
				ends("a / b", a.Quo(b), func(x, y float64) float64 { return x / y })
			} else {
				same("a / 0", a.Quo(b), math.Inf(-1), math.Inf(1))
			}
			same("the smaller of a and b", a.Min(b), min(a.Lo, b.Lo), min(a.Hi, b.Hi))
			same("the larger of a and b", a.Max(b), max(a.Lo, b.Lo), max(a.Hi, b.Hi))
		}
	}
	about := exact.Range{Lo: -1, Hi: 2}
	for k, want := range [][]float64{{1, 1}, {-1, 2}, {0, 4}, {-4, 8}, {0, 16}} {
		tell.each("a power of a range", []float64{about.Pow(k).Lo, about.Pow(k).Hi}, want)
	}
	same("|a|", about.Abs(), 0, 2)
	same("|a|", someRanges[2].Abs(), 0.1, 2.3)
	same("the root of a", exact.Range{Lo: 2, Hi: 3}.Sqrt(), below(math.Sqrt(2)), above(math.Sqrt(3)))
	same("the root of a", about.Sqrt(), 0, above(math.Sqrt2))
	same("0/0 - 0/0", exact.At(math.Inf(1)).Sub(exact.At(math.Inf(1))), math.Inf(-1), math.Inf(1))
}

// primitivesByPowers compares which chains over three states are primitive, and that
// of four states which takes longest, with their powers up to the twelfth.
func primitivesByPowers(tell told) {
	chains := []exact.Matrix{exact.Rats("0 1 0 0; 0 0 1 0; 0 0 0 1; 1/2 1/2 0 0")}
	for x := range task.Sequences(7, 3) {
		pi := exact.Zero(3, 3)
		for a, k := range x {
			someSubset := k + 1
			for b := range pi[a] {
				pi[a][b].SetInt64(int64(someSubset >> b & 1))
			}
		}
		chains = append(chains, pi)
	}
	for _, pi := range chains {
		positive := false
		for k, power := 1, pi; k <= 12; k, power = k+1, power.Mul(pi) {
			positive = positive || !slices.ContainsFunc(slices.Concat(power...), isZero)
		}
		primitive, _ := isPrimitive(pi)
		tell("whether a chain is primitive", unit(primitive), unit(positive))
	}
}

// priorsByCells compares the mean of a trace under both bullets with one of cells whose
// corners are floats, and the gamma of Dirichlet priors with laws in closed form.
func priorsByCells(tell told) {
	for _, n := range []float64{64, 200, 2000} {
		var sum, least, most float64
		for a := n / 4; a < 3*n/4; a++ { // of n times the leaving probabilities
			for b := n / 4; b < 3*n/4; b++ {
				high, low := n-a-b, n-a-b-2
				near, far := min(math.Abs(high), math.Abs(low)), max(math.Abs(high), math.Abs(low))
				if high*low < 0 {
					near = 0
				}
				if sides := a + b + 2; near*near*(a*a+b*b) >= sides*sides*(n*n/16) {
					sum, least, most = sum+low+1, least+1, most+1
				} else if sides -= 2; far*far*((a+1)*(a+1)+(b+1)*(b+1)) >= sides*sides*(n*n/16) {
					sum, most = sum+min(low, 0), most+1
				}
			}
		}
		if sum < 0 {
			most = least
		}
		tell("a mean of tr pi", exact.Float(conditionedTrace(int64(n), 1, 2, true)), 1+sum/most/n)
		tell("a mean of tr pi without a condition", exact.Float(conditionedTrace(int64(n), 1, 2, false)), 1)
	}
	tell("gamma for alpha = 1", gammaAbove(10, 1), 10*(1-math.Pow(0.99, 1./90)))
	x := gammaAbove(2, 2) / 2 // with two entries of law 6 x (1-x)
	tell("gamma for alpha = 2", 3*x*x-2*x*x*x, 1-math.Sqrt(0.99))
}
