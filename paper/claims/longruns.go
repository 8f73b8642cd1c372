package claims

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// A longRun is stage 2 on one long sequence, with A1_*: children attend to their
// parents, roots in one of three ways. By Lemma 9 all depends on beta alone.
type longRun struct {
	parents []int
	pi      *theory.Chain
	roots   rootRows
	x       []int // but for the query, whose token is s
	astray  bool  // planted: children attend to position 1
}

// newLongRun draws a sequence.
func newLongRun(r *rand.Rand, g *graph.Forest, pi *theory.Chain, roots rootRows) longRun {
	run := longRun{parents: g.Parents(), pi: pi, roots: roots, x: make([]int, g.T())}
	for i, p := range run.parents {
		law := pi.Mu
		if p >= 0 {
			law = pi.Pi.RawRowView(run.x[p])
		}
		a := 0
		for u := r.Float64() - law[0]; u >= 0 && a < pi.S-1; u -= law[a] {
			a++
		}
		run.x[i] = a
	}
	return run
}

// runSums are means over the positions of e^(beta (z-1)) and of that times z, of
// both over those that carry a token, and, over the roots, of |z - mu(s)|^2.
type runSums struct {
	v, vz, spread float64
	hit, hitZ     []float64
}

// sums returns those of the query s.
func (run longRun) sums(s int, beta float64) runSums {
	t := len(run.x)
	share := 1 / float64(t)
	out := runSums{hit: make([]float64, run.pi.S), hitZ: make([]float64, run.pi.S)}
	run.x[t-1] = s
	mu, zero, seen := run.pi.Mu[s], num.Exp(-beta)*share, 0.0
	for i, a := range run.x {
		seen += unit(a == s)
		z, p := 0.0, run.parents[i]
		switch {
		case p >= 0 && !run.astray:
			z = unit(run.x[p] == s)
		case p >= 0:
			z = unit(run.x[0] == s)
		case run.roots == rootsUniform:
			z = seen / float64(i+1)
		case run.roots == rootsOnThemself:
			z = unit(a == s)
		default:
			z = unit(run.x[0] == s)
		}
		if p < 0 {
			out.spread += float64((z-mu)*(z-mu)) * share
		}
		v := share
		switch {
		case z == 0:
			v = zero
		case z < 1:
			v *= num.Exp(beta * (z - 1))
		}
		vz := float64(v * z)
		out.v, out.vz = out.v+v, out.vz+vz
		out.hit[a], out.hitZ[a] = out.hit[a]+v, out.hitZ[a]+vz
	}
	return out
}

// A setting is what limits and bounds depend on beside pi.
type setting struct {
	t             int
	r, beta, eps  float64
	lambda, decay float64 // 1 - gamma/S, and 1/T_eff(lambda)
	gamma, teff   float64
	spread        float64 // 1/T sum_{i in R} |z~_i - mu(s)|^2
	p, mu, to     float64 // pi(s'|s), mu(s), mu(s')
}

// limits returns numerator and denominator of eq. (39), over e^beta, for
// pi(s'|s) = p and mu(s') = to; ones give eq. (40).
func (c setting) limits(p, to float64) (above, below float64) {
	return theory.E12Terms(p, c.mu, to, c.r, c.beta)
}

// A convergence is what one of Lemmas 30 to 32 says: a quantity and its limit,
// the terms of the bound of the root of the mean square that the proof has with
// constants, and the order of the printed bound.
type convergence struct {
	value  func(x runSums, to int, c setting) float64
	limit  func(c setting) float64
	bound  func(c setting) []float64
	order  func(c setting) float64
	roots  rootRows // uniform
	scaled float64  // planted: what the limit is multiplied by, 1
	drop   int      // planted: the term of the bound that is left out, from 1
	silent bool     // planted: only the bound, not the order
	astray bool     // planted: children attend to position 1

	// bias, if not nil, bounds the square of what the limit is off from pi(s'|s).
	bias func(c setting) float64
	// tail, if not nil, returns a threshold and a bound of the probability that the
	// value is not above it.
	tail func(c setting, states int) (threshold, most float64)
}

// without returns the check of the bound without a term, counted from 1, where
// roots attend to themselves.
func (q convergence) without(term int) ledger.Check {
	q.drop, q.silent, q.roots = term, true, rootsOnThemself
	return q.check
}

// largerLimit returns the check with the limit times a factor.
func largerLimit(q convergence, factor float64) ledger.Check {
	q.scaled = factor
	return q.check
}

// withLimit replaces the limit, and withBias the bound of what it is off.
func withLimit(q convergence, limit func(setting) float64) ledger.Check {
	q.limit, q.silent = limit, false
	return q.check
}

func withBias(q convergence, bias func(setting) float64) ledger.Check {
	q.bias = bias
	return q.check
}

// fThreshold replaces the threshold of the tail.
func fThreshold(q convergence, threshold float64) ledger.Check {
	tail := q.tail
	q.tail = func(c setting, states int) (float64, float64) {
		_, most := tail(c, states)
		return threshold, most
	}
	return q.check
}

// A tally has the squares of the deviations from the limit on several sequences,
// and what the bounds depend on.
type tally struct{ squares, spreads, small, tails, biases, most []float64 }

// check decides the bounds on chains, and holds bounds and order against samples of
// other graphs and longer sequences: twice the constant that T = 128 needs must
// serve all T. A mean of a sample counts against either at three standard errors.
func (q convergence) check(e *ledger.Env) ledger.Finding {
	var w, samples ledger.Worst
	for _, pi := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("19/20 1/20; 1/20 19/20")} {
		for _, t := range []int{16, 64, 256}[:e.Budget(3, 2)] {
			if e.Err() == nil {
				q.chain(&w, pi, t)
			}
		}
	}
	f := w.Finding("Proved. Both sides are enclosed on chains over two states, as sums over pair counts; on other graphs, and up to T = 65536, means of samples are below the bounds and the order, which fall like 1/T, faster than printed. Such a mean counts against either at three standard errors; the verdict rests on what is enclosed.")
	if f.Verdict != ledger.Holds {
		return f
	}
	for _, family := range []string{"chain", "in-context", "spider"} {
		for k, prior := range stageTwoPriors() {
			if e.Err() == nil && k < e.Budget(2, 1) && (family != "spider" || k < e.Budget(1, 0)) {
				q.family(e, &samples, family, uint64(k), theory.Chains(prior)[0])
			}
		}
	}
	f = f.Counting(samples.Finding(""))
	if samples.Failed() { // two routes to a term differ
		return samples.Finding("")
	}
	if samples.Margin() < 0 {
		f = samples.Finding("A mean of a sample is above.")
		f.Tier, f.Verdict = ledger.ConsistentWith, ledger.Inconsistent
	}
	return f
}

// settingOf returns what does not depend on s, s' and beta.
func settingOf(g *graph.Forest, pi *theory.Chain) setting {
	r := g.RootFraction()
	c := setting{t: g.T(), r: r, teff: longTEff(g), gamma: min(pi.Gamma(), 1-r), lambda: 1 - pi.Gamma()/float64(pi.S)}
	c.eps, c.decay = 1/math.Sqrt(c.teff), decayOfForest(g, c.lambda)
	return c
}

// at returns the setting for s, s' and beta.
func (c setting) at(pi *theory.Chain, s, to int, beta float64) setting {
	c.beta, c.p, c.mu, c.to = beta, pi.Pi.At(s, to), pi.Mu[s], pi.Mu[to]
	return c
}

// most returns the bound of the mean square.
func (q convergence) most(c setting) float64 {
	root := 0.0
	for k, term := range q.bound(c) {
		if k+1 != q.drop {
			root += term
		}
	}
	return root * root
}

// chain decides the bounds on a chain over two states, rounded down by more than
// their rounding errors.
func (q convergence) chain(w *ledger.Worst, base exact.Matrix, t int) {
	const below = 1 - 1e-9
	pi, law := theory.MustChain(base.Floats(), 2), longChain{bases: []exact.Matrix{base}, t: t}
	most := func(bound float64) exact.Interval { return exact.Point(new(big.Rat).SetFloat64(below * bound)) }
	general := settingOf(graph.Chain(t), pi)
	var spread [2]float64
	for s := range spread {
		spread[s] = exact.Float(law.meanOf(s, 0, func(x runSums) float64 { return x.spread }).Lo)
	}
	for s, to := range pairs(2) {
		for _, beta := range append([]float64{0}, longBetas...) {
			c := general.at(pi, s, to, beta)
			c.spread = spread[s]
			limit := cmp.Or(q.scaled, 1) * q.limit(c)
			at := func() ledger.Instance {
				return ledger.Instance{"graph": "chain", "T": t, "pi": base, "s": s + 1, "s'": to + 1, "beta": beta}
			}
			w.AtMostInterval(law.meanOf(s, beta, func(x runSums) float64 {
				off := q.value(x, to, c) - limit
				return float64(off * off)
			}), most(q.most(c)), at)
			if q.bias != nil && beta > 0 { // at beta = 0 both sides are |mu(s') - pi(s'|s)|
				w.AtMostRounded(math.Pow(limit-c.p, 2), below*q.bias(c), chainWithin, at)
			}
			if q.tail != nil {
				threshold, rare := q.tail(c, 2)
				w.AtMostInterval(law.meanOf(s, beta, func(x runSums) float64 {
					return unit(below*q.value(x, to, c) <= threshold)
				}), most(rare), at)
			}
		}
	}
}

// family tests one family and one pi of a prior.
func (q convergence) family(e *ledger.Env, w *ledger.Worst, family string, prior uint64, pi *theory.Chain) {
	constant := map[[3]int]float64{}
	for k, t := range []int{128, 4096, 65536} {
		g := graph.FamilyNamed(family).New(t)
		c := settingOf(g, pi)
		source := rand.New(e.Stream(family, prior, uint64(t)))
		tallies := map[[3]int]*tally{}
		for range []int{60, 60, e.Budget(6, 3)}[k] {
			run := newLongRun(source, g, pi, cmp.Or(q.roots, rootsUniform))
			run.astray = q.astray
			q.add(tallies, run, c)
		}
		for _, key := range slices.SortedFunc(maps.Keys(tallies), func(a, b [3]int) int { return slices.Compare(a[:], b[:]) }) {
			squares := num.Average(tallies[key].squares)
			c := c.at(pi, key[0], key[1], longBetas[key[2]])
			c.spread = num.Average(tallies[key].spreads).Mean
			at := func() ledger.Instance {
				return ledger.Instance{"family": family, "T": t, "pi": ledger.Grid(pi.Pi.RawMatrix().Data, pi.S), "s": key[0] + 1, "s'": key[1] + 1, "beta": c.beta}
			}
			low := squares.Mean - 3*squares.StdErr
			w.AtMost(low, q.most(c), at)
			if q.tail != nil {
				small, most := num.Average(tallies[key].small), num.Average(tallies[key].tails)
				w.AtMost(small.Mean-3*small.StdErr, most.Mean, at)
			}
			if q.bias != nil {
				w.AtMost(num.Average(tallies[key].biases).Mean, num.Average(tallies[key].most).Mean, at)
			}
			if q.silent {
				continue
			}
			order := q.order(c)
			if k == 0 {
				constant[key] = 2 * squares.Mean / order
			}
			w.AtMost(low, constant[key]*order, at)
		}
	}
}

var longBetas = []float64{1, 3, 8}

// add adds what one sequence has for all s, s' and beta.
func (q convergence) add(tallies map[[3]int]*tally, run longRun, c setting) {
	for s := range run.pi.S {
		for b, beta := range longBetas {
			x := run.sums(s, beta)
			for to := range run.pi.S {
				c := c.at(run.pi, s, to, beta)
				off := q.value(x, to, c) - cmp.Or(q.scaled, 1)*q.limit(c)
				key := [3]int{s, to, b}
				if tallies[key] == nil {
					tallies[key] = new(tally)
				}
				if q.bias != nil {
					tallies[key].biases = append(tallies[key].biases, math.Pow(cmp.Or(q.scaled, 1)*q.limit(c)-c.p, 2))
					tallies[key].most = append(tallies[key].most, q.bias(c))
				}
				if q.tail != nil {
					threshold, most := q.tail(c, run.pi.S)
					tallies[key].small = append(tallies[key].small, unit(q.value(x, to, c) <= threshold))
					tallies[key].tails = append(tallies[key].tails, most)
				}
				tallies[key].squares = append(tallies[key].squares, float64(off*off))
				tallies[key].spreads = append(tallies[key].spreads, x.spread)
			}
		}
	}
}

// decayOfForest returns 1/T_eff(lambda) = T^-2 sum_{i,j} lambda^d(i,j): with S_i
// the sum of lambda^d(i,j) over the subtree of i, the pairs whose last common
// ancestor is i have S_i^2 - lambda^2 sum S_child^2.
func decayOfForest(g *graph.Forest, lambda float64) float64 {
	t, total := g.T(), 0.0
	below := slices.Repeat([]float64{1}, t)
	for i := t - 1; i >= 0; i-- {
		total += float64(below[i] * below[i])
		if p := g.Parent(i); p >= 0 {
			below[p] += float64(lambda * below[i])
			total -= float64(lambda * below[i] * lambda * below[i])
		}
	}
	return total / float64(t) / float64(t)
}

// printedOrder is (1+beta^2) T_eff^power log T.
func printedOrder(power float64) func(c setting) float64 {
	return func(c setting) float64 {
		return (1 + float64(c.beta*c.beta)) * math.Pow(c.teff, power) * num.Log(float64(c.t))
	}
}

// e3Concentration is Lemma 30 (lem-concentrate-e3).
var e3Concentration = convergence{
	value: func(x runSums, _ int, _ setting) float64 { return x.vz / x.v },
	limit: func(c setting) float64 {
		above, below := c.limits(1, 1)
		return above / below
	},
	bound: func(c setting) []float64 {
		_, k := c.limits(1, 1)
		return []float64{math.Sqrt(c.mu*c.decay/c.lambda) / k, (1 + c.beta) * math.Sqrt(c.r*c.spread) / k}
	},
	order: printedOrder(-0.5),
}

// e12Concentration is Lemma 31 (lem-concentrate-e12).
var e12Concentration = convergence{
	value: func(x runSums, to int, c setting) float64 { return x.hitZ[to] / (x.hit[to] + float64(c.eps*x.v)) },
	limit: func(c setting) float64 {
		above, below := c.limits(c.p, c.to)
		return above / below
	},
	bound: func(c setting) []float64 {
		_, k := c.limits(c.p, c.to)
		return []float64{
			math.Sqrt(c.mu*c.p*c.decay) / k, num.Exp(-c.beta) * math.Sqrt(c.to*c.decay) / k, c.eps / k,
			(1 + c.beta) * math.Sqrt(c.r*c.spread) / k, math.Sqrt(5*c.r/4/float64(c.t)) / k,
		}
	},
	order: printedOrder(-0.5),
}

// fConcentration is Lemma 32 (lem-f-to-pi): the variance about the limit, and the bias
// of the limit, apart.
var fConcentration = convergence{
	value: func(x runSums, to int, _ setting) float64 { return x.hit[to] / x.v },
	limit: func(c setting) float64 {
		_, above := c.limits(c.p, c.to)
		_, below := c.limits(1, 1)
		return above / below
	},
	bound: func(c setting) []float64 {
		_, k := c.limits(1, 1)
		return []float64{
			math.Sqrt(c.mu*c.p*c.decay) / k, math.Sqrt(c.mu*c.decay/c.lambda) / k,
			num.Exp(-c.beta) * math.Sqrt(c.to*c.decay) / k, c.beta * math.Sqrt(c.r*c.spread) / k,
			math.Sqrt(5*c.r/4/float64(c.t)) / k,
		}
	},
	order: printedOrder(-0.5),
	bias: func(c setting) float64 {
		_, k := c.limits(1, 1)
		return math.Pow((c.to-c.p)*num.Exp(-c.beta*(1-c.mu))/k, 2)
	},
	tail: func(c setting, states int) (threshold, most float64) {
		s := float64(states)
		return math.Pow(c.gamma, 3) / (4 * s * s), 4 * c.decay / (c.mu * c.p * (1 - c.r) * (1 - c.r))
	},
}

// longTEff is T over the largest number of leaves of a tree, in O(T).
func longTEff(g *graph.Forest) float64 {
	parents := g.Parents()
	leaves, inner := make([]int, len(parents)), make([]bool, len(parents))
	for i := len(parents) - 1; i >= 0; i-- {
		if !inner[i] {
			leaves[i] = 1
		}
		if p := parents[i]; p >= 0 {
			leaves[p], inner[p] = leaves[p]+leaves[i], true
		}
	}
	return float64(len(parents)) / float64(slices.Max(leaves))
}
