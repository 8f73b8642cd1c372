package stageone

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// The runaway of Lemma 7 (lem-no-parents) is not one of the limit: gradient descent on the
// exact population loss, at beta0 = 1/1000 and in both readings, gives a root's
// attention to itself while its neighbour finds its parent.
func TestRootRunsAwayOnTheExactPopulation(t *testing.T) {
	g := graph.InContext(8)
	for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
		pop, err := theory.NewPopulation(g, instruments.StageOnePriors()[0], 1/math.Sqrt(8), reading)
		if err != nil {
			t.Fatal(err)
		}
		m := theory.NewReduced(3, 8, 0.001)
		const rate = 2 * 3 * 8 / 0.001
		for range 100 {
			for k, v := range pop.Gradient(m).G1.RawMatrix().Data {
				m.A1.RawMatrix().Data[k] -= rate * v
			}
		}
		a := m.Attention()
		if root, child := a.At(6, 6), a.At(5, 4); root < 0.9 || child < 0.9 {
			t.Errorf("%v: attention %.3f of the root to itself, %.3f of the child to its parent", reading, root, child)
		}
	}
}

// A time of one step at least, and the force on a root, on one small instance each.
func TestInequalitiesOfStageOne(t *testing.T) {
	check := compare.With(t)
	one := exact.Int(1)
	check.Inequalities("a time of one step", func(w *ledger.Worst) {
		printedTime(one, one).atLeastOne(w, exact.Rats("3")[0])
	}, [2]float64{1, 22 * math.Log(18)})
	u := compare.Asymmetrics()[0]
	gamma := min(u.Chain().Gamma(), theory.MustChain(u.Other.Floats(), 2).Gamma())
	three, four := mat.NewDense(3, 3, []float64{6: 0.3, -0.1, 0.2}), mat.NewDense(4, 4, []float64{8: 0.2, 0.5, 0.2, 15: 0})
	root := &instruments.FirstStage{Graph: graph.Chain(3), Prior: u.Prior(), T: 3, S: 2, TEff: 4, GHat: three}
	check.Inequalities("the force on a root", func(w *ledger.Worst) {
		root.DecideRoot(w, instruments.GradientBound{Bound: compare.Bounds(*thmStageOneRoots.Correction)[0]}, 2)
	}, [2]float64{0.1, 35 * 4 / gamma / gamma / 2})
	lead := &instruments.FirstStage{Graph: graph.Chain(4), Prior: u.Prior(), T: 4, S: 2, TEff: 4, GHat: four}
	check.Inequalities("the lead of a parent", func(w *ledger.Worst) { lead.DecideLead(w, 2, 0.25) },
		[2]float64{0.25, 0.3}, [2]float64{0.25, 0.3})
	odds, last := -math.Ln2, -1.0
	for ; odds < math.Log(3); last++ { // three positions, of which one leads
		p := 1 / (1 + math.Exp(-odds))
		odds += p * (1 - p) * 3 / 2
	}
	check.Inequalities("the time of a row", func(w *ledger.Worst) { printedTime(one, one).decideRow(w, lead, 2) },
		[2]float64{last, 14 * math.Log(12)})
	p := 1 / (1 + math.Exp(-0.1))
	mean := 0.75 * (2*p - 1)
	odds = 0.1 + p*(0.75-mean) + (1-p)*(0.75+mean)
	drift := driftBound{until: 4, start: 0.1, excess: 0.5, bound: compare.Bounds(*lemNoParents.Correction)[0]}
	check.Inequalities("the drift of a row", func(w *ledger.Worst) {
		drift.drive(w, 2, 1, func(_, j int) float64 { return []float64{1, -1}[j] })
	}, [2]float64{1/(1+math.Exp(-odds)) - 0.5, 0.5})
}

// The times of stage 1: closed forms, numbers of steps, the flow of a row, and the integral.
func TestTimesOfStageOne(t *testing.T) {
	check := compare.With(t)
	one := exact.Int(1)
	for _, in := range [][2]int64{{5, 2}, {10, 7}, {40, 40}, {7, 300}} {
		n, alpha := exact.Int(in[0]), exact.Frac(1, in[1])
		nf, af := float64(in[0]), 1/float64(in[1])
		from, to := -num.Log(nf-1), num.Log(1/af-1)
		integral := 0.0
		const parts = 4000
		for k := range parts { // Gauss's rule with two points
			for _, point := range []float64{0.5 - 1/math.Sqrt(12), 0.5 + 1/math.Sqrt(12)} {
				w := from + (to-from)/parts*(float64(k)+point)
				integral += (to - from) / parts / 2 * (2 + num.Exp(w) + num.Exp(-w))
			}
		}
		sharp := sharpTime(1, 2, 0.25)
		for _, q := range []parentTime{sharp, printedTime(one, one), timeToEnd(one, 1)} {
			small := 1e-11 * q.steps(nf, af, 1e-11)
			check("a time in closed form", q.closed(n, alpha).Float(), small)
		}
		for _, eta := range []int64{1, 3} {
			bound := exact.TimeBound(alpha, n, exact.Frac(2, 5), exact.Int(eta)).Float()
			check("a number of steps", bound, sharp.steps(nf, af, 0.4*float64(eta)))
		}
		check("the time of one leader", exact.LeaderTime(n, alpha).Float(), integral)
		flowArrives(check, int(in[0]), af)
	}
}

// flowArrives checks the time at which a row of n positions has attention 1-alpha at a position that
// leads by 2/5, the others at 1/5, with the same steps for its odds: the leader's entry of A moves by
// 1/20 in each, the others' against it by 1/(20 (n-1)), in the time 1/(8 P(1-P)). For small steps it is
// the time of one leader.
func flowArrives(check compare.Check, n int, alpha float64) {
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
	arrived := func(_ float64, s []float64) bool { return s[1] >= 1-alpha }
	at, _ := theory.RowFlow(h, math.Inf(1), arrived)
	check("the time of the flow", at, want)
	t, p := theory.RowFlow(h, want-last/2, nil)
	check("when a flow stops", t, want-last/2)
	check("the odds where it stops", p[1]/(1-p[1]), odds/math.Sqrt(step))
	small := exact.LeaderTime(exact.Int(n), exact.FromFloats([]float64{alpha}, 1)[0][0]).Float()
	check("the time of one leader", instruments.Indicator(math.Abs(want/small*float64(n)/float64(n-1)*0.4-1) < 0.06), 1)
}

// A row with one leader, step by step, against the recursion of the logarithm of its odds; and the
// least time at which the sampled rows have lost at most 1/T.
func TestStepsOfOneLeader(t *testing.T) {
	check := compare.With(t)
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
		check("the last step of a row", last, steps-1)
		check("the least rise in a step", -fell, least)
	}
}

// The bounds of the claims on roots, and the interval functions that they use.
func TestBoundsOnRootsAndIntervals(t *testing.T) {
	check := compare.With(t)
	lemma6 := compare.Bounds(*thmStageOneRoots.Correction)
	square, cube := instruments.GradientBound{Bound: lemma6[0]}, instruments.GradientBound{Bound: lemma6[1]}
	check("35 S^2/gamma^2", exact.Float(square.Constant(instruments.PullAway)), 35*9/0.0225)
	check("35 S^3/gamma^2", exact.Float(cube.Constant(instruments.PullAway)), 35*27/0.0225)
	check("35 S^3/(gamma^2 sqrt(T_eff))", cube.FloatAt(3, 0.2, 64), 35*27/0.04/8)
	eps := exact.Frac(1, 27)
	c := exact.NewStageOne(exact.Int(27), eps, instruments.PullToward...)
	steps, i := exact.Int(500), exact.Int(300)
	log, constant := math.Log(729), 16*8/math.Pow(0.19, 3)
	for _, few := range []float64{1, 500} {
		last, off := instruments.LateRootRests(c, exact.Int(int(few)))
		drive := 4 * few * exact.Float(c.Drive(exact.OwnRoot).Hi)
		check.Each("how far the last root is from even", exact.Vector{last, off.Lo, off.Hi}.Floats(),
			[]float64{727, 0, drive / (727 * 727) * instruments.Indicator(drive <= 727)})
	}
	check("T^-rate", instruments.DecayAt(exact.Int(5), exact.Rat("13/20")).Float(), math.Pow(25, -0.65))
	check("T^-1/2", instruments.DecayAt(exact.Int(5), nil).Float(), 0.2)
	check("the printed bound", linearInTime(c, steps, i).Float(), 500.0/27/300/300)
	check("the printed bound", printedAtEnd(c, steps, i).Float(), 27*log/300/300)
	check("the printed bound", printedAtEnd(c, steps, exact.Int(13)).Float(), 1)
	check("the time of the rows with a parent", exact.Float(childrenDone(c)), math.Ceil(constant*729*log))
	check("the time of the rows with a parent", instruments.Indicator(childrenDone(c).IsInt()), 1)
	third := exact.Rat("1/3")
	for _, less := range []string{"1/10", "1/100000000000000"} {
		below := exact.Sub(third, exact.Rat(less))
		l, r := instruments.Between(exact.Point(third), exact.Point(below))
		check("numbers between", instruments.Indicator(l.Cmp(third) <= 0 && l.Cmp(r) > 0 && r.Cmp(below) >= 0), 1)
	}
	check("the spread of a row", instruments.OffCentre([]float64{-1, 2, 0.5}), 1.5)
	check("how far a row is from even", offUniform([]float64{0.3, 0.6, 0.1}), 0.6-1.0/3)
	check("how far a row is from even", offUniform([]float64{0.5, 0.48, 0.02}), 1.0/3-0.02)
}

// A row of which one position leads takes as long as exact.LeaderTime says, and no
// longer than exact.TimeBound, in steps of some size.
func TestTimeOfOneLeader(t *testing.T) {
	const n, alpha = 40, 0.1
	one := exact.Int(1)
	small := exact.LeaderTime(exact.Int(n), exact.Frac(1, 10)).Float() * (n - 1) / n
	for _, etaDelta := range []float64{0.02, 0.5, 8} {
		q := sharpTime(1, 2, 0.25)
		last, _ := q.follow(n, etaDelta, alpha, func(h []float64) { clear(h); h[0] = 1 })
		eta := new(big.Rat).SetFloat64(etaDelta)
		most := exact.TimeBound(exact.Frac(1, 10), exact.Int(n), one, eta).Float()
		if last > most || math.Abs(most/q.steps(n, alpha, etaDelta)-1) > 1e-9 {
			t.Errorf("%v steps of %v, want at most %v", last, etaDelta, most)
		}
		if etaDelta == 0.02 && math.Abs(last*etaDelta/small-1) > 0.02 {
			t.Errorf("%v steps of %v, want a time of %v", last, etaDelta, small)
		}
	}
}
