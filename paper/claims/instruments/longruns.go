package instruments

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

// A longRun is one long sequence in stage 2 with A1_*: children attend to their
// parents, roots in one of three ways. By Lemma 9 the output depends on beta alone.
type longRun struct {
	parents []int
	pi      *theory.Chain
	roots   RootRows
	x       []int // tokens; sums sets the query
	astray  bool  // planted: children attend to position 1
}

// newLongRun draws a sequence.
func newLongRun(r *rand.Rand, g *graph.Forest, pi *theory.Chain, roots RootRows) longRun {
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

// runSums are sums over the positions with weights v = e^(beta (z-1))/T. Here z is the
// attention of the position to tokens s of the query.
type runSums struct {
	v, vz     float64   // of v and v z
	spread    float64   // of |z - mu(s)|^2/T over the roots
	hit, hitZ []float64 // of v and v z over the positions that carry each token
}

// sums returns the sums for the query s.
func (run longRun) sums(s int, beta float64) runSums {
	t := len(run.x)
	share := 1 / float64(t)
	out := runSums{hit: make([]float64, run.pi.S), hitZ: make([]float64, run.pi.S)}
	run.x[t-1] = s
	mu, zero, seen := run.pi.Mu[s], float64(num.Exp(-beta)*share), 0.0
	for i, a := range run.x {
		seen += Indicator(a == s)
		z, p := 0.0, run.parents[i]
		switch {
		case p >= 0 && !run.astray:
			z = Indicator(run.x[p] == s)
		case p >= 0:
			z = Indicator(run.x[0] == s)
		case run.roots == RootsUniform:
			z = seen / float64(i+1)
		case run.roots == RootsOnThemself:
			z = Indicator(a == s)
		default:
			z = Indicator(run.x[0] == s)
		}
		if p < 0 {
			out.spread += float64((z-mu)*(z-mu)) * share
		}
		v := share
		switch {
		case z == 0:
			v = zero
		case z < 1:
			v = float64(share * num.Exp(beta*(z-1)))
		}
		vz := float64(v * z)
		out.v, out.vz = out.v+v, out.vz+vz
		out.hit[a], out.hitZ[a] = out.hit[a]+v, out.hitZ[a]+vz
	}
	return out
}

// A Setting has the arguments of limits and bounds other than pi.
type Setting struct {
	T             float64
	R, Beta, Eps  float64
	Lambda, Decay float64 // 1 - gamma/S, and 1/T_eff(lambda)
	Gamma, TEff   float64
	Spread        float64 // 1/T sum_{i in R} |z~_i - mu(s)|^2
	P, Mu, MuTo   float64 // pi(s'|s), mu(s), mu(s')
}

// limits returns numerator and denominator of eq. (39), over e^beta, for
// pi(s'|s) = p and mu(s') = to; ones give eq. (40).
func (c Setting) limits(p, to float64) (above, below float64) {
	return theory.E12Terms(p, c.Mu, to, c.R, c.Beta)
}

// A Convergence is the statement of one of Lemmas 30 to 32: a quantity, its limit,
// and two bounds of the root mean square of the difference. The proof has the first
// bound, a sum of terms with constants; the second is the printed order.
type Convergence struct {
	value        func(x runSums, to int, c Setting) float64
	Limit        func(c Setting) float64
	bound        func(c Setting) []float64
	Order        func(c Setting) float64
	Roots        RootRows // RootsUniform if empty
	Scaled       float64  // planted: a factor of the limit, 1 if zero
	drop         int      // planted: the omitted term of the bound, counted from 1
	WithoutOrder bool     // planted: the order is not checked
	Astray       bool     // planted: children attend to position 1

	// Bias, if not nil, bounds the square of the difference between the limit and pi(s'|s).
	Bias func(c Setting) float64
	// Tail, if not nil, returns a threshold and a bound of the probability that the value is not above it.
	Tail func(c Setting, states int) (threshold, most float64)
}

// Without returns the check of the bound without a term, counted from 1, where roots attend to themselves.
func (q Convergence) Without(term int) ledger.Check {
	q.drop, q.WithoutOrder, q.Roots = term, true, RootsOnThemself
	return q.Check
}

// A tally has, for several sequences, the squares of the deviations from the limit
// and the arguments of the bounds.
type tally struct{ squares, spreads, small, tails, biases, most []float64 }

// Check decides the bounds on chains. On samples of other graphs and longer sequences
// it tests the bounds and the order: twice the constant that T = 128 needs must
// serve all T. The mean of a sample must not exceed either by three standard errors.
func (q Convergence) Check(e *ledger.Env, w *ledger.Worst) string {
	for _, pi := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("19/20 1/20; 1/20 19/20")} {
		for _, t := range []int{16, 64, 256}[:e.Budget(3, 2)] {
			if e.Err() == nil {
				q.chain(w, pi, t)
			}
		}
	}
	const note = "Proved. Both sides are enclosed on chains over two states, as sums over pair counts; on other " +
		"graphs, and up to T = 65536, means of samples are below the bounds and the order, which fall like 1/T, " +
		"faster than printed. Such a mean counts against either at three standard errors; the verdict rests on what " +
		"is enclosed."
	if !w.Holds() {
		return note
	}
	var samples ledger.Worst
	for _, family := range []string{"chain", "in-context", "spider"} {
		for k, prior := range StageTwoPriors() {
			if e.Err() == nil && k < e.Budget(2, 1) && (family != "spider" || k < e.Budget(1, 0)) {
				q.family(e, &samples, family, uint64(k), theory.Chains(prior)[0])
			}
		}
	}
	w.Include(&samples)
	if samples.Failed() {
		return "A mean of a sample is above."
	}
	return note
}

// settingOf returns the setting without s, s' and beta.
func settingOf(g *graph.Forest, pi *theory.Chain) Setting {
	r := g.RootFraction()
	c := Setting{T: float64(g.T()), R: r, TEff: g.TEff(), Gamma: min(pi.Gamma(), 1-r)}
	c.Lambda = 1 - pi.Gamma()/float64(pi.S)
	c.Eps, c.Decay = 1/math.Sqrt(c.TEff), 1/g.TEffLambda(c.Lambda)
	return c
}

// at returns the setting for s, s' and beta.
func (c Setting) at(pi *theory.Chain, s, to int, beta float64) Setting {
	c.Beta, c.P, c.Mu, c.MuTo = beta, pi.Pi.At(s, to), pi.Mu[s], pi.Mu[to]
	return c
}

// most returns the bound of the mean square.
func (q Convergence) most(c Setting) float64 {
	root := 0.0
	for k, term := range q.bound(c) {
		if k+1 != q.drop {
			root += term
		}
	}
	return root * root
}

// chain decides the bounds on a chain over two states. The bounds are rounded down by
// more than their rounding errors.
func (q Convergence) chain(w *ledger.Worst, base exact.Matrix, t int) {
	const below = 1 - 1e-9
	pi, law := theory.MustChain(base.Floats(), 2), LongChain{Bases: []exact.Matrix{base}, T: t}
	most := func(bound float64) exact.Interval { return exact.Point(new(big.Rat).SetFloat64(below * bound)) }
	general := settingOf(graph.Chain(t), pi)
	var spread [2]float64
	for s := range spread {
		spread[s] = exact.Float(law.meanOf(s, 0, func(x runSums) float64 { return x.spread }).Lo)
	}
	for s, to := range Pairs(2) {
		for _, beta := range append([]float64{0}, longBetas...) {
			c := general.at(pi, s, to, beta)
			c.Spread = spread[s]
			limit := cmp.Or(q.Scaled, 1) * q.Limit(c)
			at := func() ledger.Instance {
				return ledger.Instance{"graph": "chain", "T": t, "pi": base, "s": s + 1, "s'": to + 1, "beta": beta}
			}
			w.UpTo(1).AtMostInterval(law.meanOf(s, beta, func(x runSums) float64 {
				off := q.value(x, to, c) - limit
				return float64(off * off)
			}), most(q.most(c)), at)
			if q.Bias != nil && beta > 0 { // at beta = 0 both sides are |mu(s') - pi(s'|s)|
				w.UpTo(1).AtMostRounded(math.Pow(limit-c.P, 2), below*q.Bias(c), chainWithin, at)
			}
			if q.Tail != nil {
				threshold, rare := q.Tail(c, 2)
				w.UpTo(1).AtMostInterval(law.meanOf(s, beta, func(x runSums) float64 {
					return Indicator(below*q.value(x, to, c) <= threshold)
				}), most(rare), at)
			}
		}
	}
}

// family tests one family and one pi of a prior.
func (q Convergence) family(e *ledger.Env, w *ledger.Worst, family string, prior uint64, pi *theory.Chain) {
	constant := map[[3]int]float64{}
	for k, t := range []int{128, 4096, 65536} {
		g := graph.FamilyNamed(family).New(t)
		c := settingOf(g, pi)
		source := rand.New(e.Stream(family, prior, uint64(t)))
		tallies := map[[3]int]*tally{}
		for range []int{60, 60, e.Budget(6, 3)}[k] {
			run := newLongRun(source, g, pi, cmp.Or(q.Roots, RootsUniform))
			run.astray = q.Astray
			q.add(tallies, run, c)
		}
		inOrder := func(a, b [3]int) int { return slices.Compare(a[:], b[:]) }
		for _, key := range slices.SortedFunc(maps.Keys(tallies), inOrder) {
			squares := num.Average(tallies[key].squares)
			c := c.at(pi, key[0], key[1], longBetas[key[2]])
			c.Spread = num.Average(tallies[key].spreads).Mean
			at := func() ledger.Instance {
				return ledger.Instance{
					"family": family, "T": t, "pi": ledger.Grid(pi.Pi.RawMatrix().Data, pi.S),
					"s": key[0] + 1, "s'": key[1] + 1, "beta": c.Beta,
				}
			}
			low := squares.Mean - 3*squares.StdErr
			w.UpTo(1).Sampled(low, q.most(c), at)
			if q.Tail != nil {
				small, most := num.Average(tallies[key].small), num.Average(tallies[key].tails)
				w.UpTo(1).Sampled(small.Mean-3*small.StdErr, most.Mean, at)
			}
			if q.Bias != nil {
				w.UpTo(1).Sampled(num.Average(tallies[key].biases).Mean, num.Average(tallies[key].most).Mean, at)
			}
			if q.WithoutOrder {
				continue
			}
			order := q.Order(c)
			if k == 0 {
				constant[key] = 2 * squares.Mean / order
			}
			w.UpTo(1).Sampled(low, constant[key]*order, at)
		}
	}
}

var longBetas = []float64{1, 3, 8}

// add adds the values of one sequence for all s, s' and beta.
func (q Convergence) add(tallies map[[3]int]*tally, run longRun, c Setting) {
	for s := range run.pi.S {
		for b, beta := range longBetas {
			x := run.sums(s, beta)
			for to := range run.pi.S {
				c := c.at(run.pi, s, to, beta)
				limit := cmp.Or(q.Scaled, 1) * q.Limit(c)
				off, key := q.value(x, to, c)-limit, [3]int{s, to, b}
				if tallies[key] == nil {
					tallies[key] = new(tally)
				}
				t := tallies[key]
				t.squares, t.spreads = append(t.squares, float64(off*off)), append(t.spreads, x.spread)
				if q.Bias != nil {
					t.biases, t.most = append(t.biases, math.Pow(limit-c.P, 2)), append(t.most, q.Bias(c))
				}
				if q.Tail != nil {
					threshold, most := q.Tail(c, run.pi.S)
					t.small, t.tails = append(t.small, Indicator(q.value(x, to, c) <= threshold)), append(t.tails, most)
				}
			}
		}
	}
}

// printedOrder returns (1+beta^2) T_eff^(-1/2) log T.
func printedOrder(c Setting) float64 {
	return (1 + float64(c.Beta*c.Beta)) * math.Pow(c.TEff, -0.5) * num.Log(c.T)
}

// E3Concentration is Lemma 30 (lem-concentrate-e3).
var E3Concentration = Convergence{
	value: func(x runSums, _ int, _ Setting) float64 { return x.vz / x.v },
	Limit: func(c Setting) float64 {
		above, below := c.limits(1, 1)
		return above / below
	},
	bound: func(c Setting) []float64 {
		_, k := c.limits(1, 1)
		return []float64{math.Sqrt(c.Mu*c.Decay/c.Lambda) / k, (1 + c.Beta) * math.Sqrt(c.R*c.Spread) / k}
	},
	Order: printedOrder,
}

// E12Concentration is Lemma 31 (lem-concentrate-e12).
var E12Concentration = Convergence{
	value: func(x runSums, to int, c Setting) float64 { return x.hitZ[to] / (x.hit[to] + float64(c.Eps*x.v)) },
	Limit: func(c Setting) float64 {
		above, below := c.limits(c.P, c.MuTo)
		return above / below
	},
	bound: func(c Setting) []float64 {
		_, k := c.limits(c.P, c.MuTo)
		return []float64{
			math.Sqrt(c.Mu*c.P*c.Decay) / k, num.Exp(-c.Beta) * math.Sqrt(c.MuTo*c.Decay) / k, c.Eps / k,
			(1 + c.Beta) * math.Sqrt(c.R*c.Spread) / k, math.Sqrt(5*c.R/4/c.T) / k,
		}
	},
	Order: printedOrder,
}

// FConcentration is Lemma 32 (lem-f-to-pi): the variance about the limit, and apart
// from it the bias of the limit.
var FConcentration = Convergence{
	value: func(x runSums, to int, _ Setting) float64 { return x.hit[to] / x.v },
	Limit: func(c Setting) float64 {
		_, above := c.limits(c.P, c.MuTo)
		_, below := c.limits(1, 1)
		return above / below
	},
	bound: func(c Setting) []float64 {
		_, k := c.limits(1, 1)
		return []float64{
			math.Sqrt(c.Mu*c.P*c.Decay) / k, math.Sqrt(c.Mu*c.Decay/c.Lambda) / k,
			num.Exp(-c.Beta) * math.Sqrt(c.MuTo*c.Decay) / k, c.Beta * math.Sqrt(c.R*c.Spread) / k,
			math.Sqrt(5*c.R/4/c.T) / k,
		}
	},
	Order: printedOrder,
	Bias: func(c Setting) float64 {
		_, k := c.limits(1, 1)
		return math.Pow((c.MuTo-c.P)*num.Exp(-c.Beta*(1-c.Mu))/k, 2)
	},
	Tail: func(c Setting, states int) (threshold, most float64) {
		s := float64(states)
		return math.Pow(c.Gamma, 3) / (2 * s * s), 4 * c.Decay / (c.Mu * c.P * (1 - c.R) * (1 - c.R))
	},
}

// sum returns the sum of the terms of a bound.
func (q Convergence) sum(c Setting) (sum float64) {
	for _, term := range q.bound(c) {
		sum += term
	}
	return sum
}

// RootRows describes the rows of softmax(A1_*) that belong to roots.
type RootRows string

// A root attends to all positions up to its own equally, to itself, or to position 1.
const (
	RootsUniform    RootRows = "uniform"
	RootsOnThemself RootRows = "on themselves"
	RootsOnOne      RootRows = "on position 1"
)

// Attend returns the Attend of [exact.StageTwo]: children attend to their parents.
func (r RootRows) Attend(g *graph.Forest) []int {
	out := g.Parents()
	for _, i := range g.Roots() {
		switch r {
		case RootsOnThemself:
			out[i] = i
		case RootsOnOne:
			out[i] = 0
		}
	}
	return out
}
