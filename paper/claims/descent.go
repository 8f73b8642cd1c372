package claims

import (
	"math"
	"math/big"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file has the gradient descent that several sections share: stage 1 in the
// limit beta0 -> 0, where each row of A1 moves independently of the others, the time
// in which a row finds its parent, and stage 2 from the end of stage 1.

// A memo computes a value once for each key, for all claims of the process.
type memo[K comparable, V any] struct{ values sync.Map }

func (m *memo[K, V]) get(key K, compute func() V) V {
	once, _ := m.values.LoadOrStore(key, sync.OnceValue(compute))
	return once.(func() V)()
}

// mustOrbit is markov.NewOrbit with a panic in place of an error.
func mustOrbit(s int, bases ...[]float64) *markov.Finite {
	p, err := markov.NewOrbit(s, bases...)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return p
}

// stageOnePriors are the priors of the trends of stage 1, both symmetric with
// constant mean. The first is over the relabelings of pullAway: mu = (2/3, 1/6, 1/6),
// sum_s pi(s|s)/mu(s) = S - 21/20, and roots are drawn to themselves.
var stageOnePriors = sync.OnceValue(func() []*markov.Finite {
	return []*markov.Finite{
		mustOrbit(3, []float64{0.9, 0.05, 0.05, 0.2, 0.05, 0.75, 0.2, 0.75, 0.05}),
		mustOrbit(2, []float64{0.8, 0.2, 0.2, 0.8}, []float64{0.3, 0.7, 0.9, 0.1}),
	}
})

// stageTwoPriors are the priors of the trends of stage 2, both symmetric with constant mean: one over two
// states with gamma = 2/5, and the first of stageOnePriors, with gamma = 3/20.
var stageTwoPriors = sync.OnceValue(func() []*markov.Finite {
	return []*markov.Finite{
		mustOrbit(2, []float64{0.8, 0.2, 0.4, 0.6}, []float64{0.2, 0.8, 0.6, 0.4}),
		stageOnePriors()[0],
	}
})

// A firstStage is stage 1 in the limit beta0 -> 0 on one graph, which ghat determines.
type firstStage struct {
	family string
	graph  *graph.Forest
	prior  *markov.Finite
	t, s   int
	teff   float64
	ghat   *mat.Dense // T x T, at eps = T_eff^{-1/2}, query in sequence
}

var ghats memo[[2]string, *mat.Dense] // by graph and prior

func newFirstStage(family graph.Family, t int, prior *markov.Finite) *firstStage {
	g := family.New(t)
	teff := g.TEff()
	ghat := ghats.get([2]string{g.String(), prior.String()}, func() *mat.Dense {
		ghat, err := theory.GHat(g, prior, 1/math.Sqrt(teff), theory.QueryInSequence)
		if err != nil {
			panic("claims: " + err.Error())
		}
		return ghat
	})
	return &firstStage{family.Name, g, prior, t, prior.States(), teff, ghat}
}

// eachStageOne calls visit with stage 1 under each of stageOnePriors, on the graphs of
// each family by increasing T, until the run is interrupted.
func eachStageOne(e *ledger.Env, families []string, visit func(c *firstStage)) {
	for _, prior := range stageOnePriors() {
		for _, family := range families {
			for _, t := range []int{16, 32, 64, 128, 256, 512}[:e.Budget(6, 4)] {
				if e.Err() == nil {
					visit(newFirstStage(familyNamed(e, family), t, prior))
				}
			}
		}
	}
}

// row returns ghat_i, of length i+1.
func (c *firstStage) row(i int) []float64 { return c.ghat.RawRowView(i)[:i+1] }

// force returns ghat_i / S, the h of [theory.RowFlow] for row i of A1.
func (c *firstStage) force(i int) []float64 {
	return floats.ScaleTo(make([]float64, i+1), 1/float64(c.s), c.row(i))
}

func (c *firstStage) instance() ledger.Instance {
	return ledger.Instance{"family": c.family, "T": c.t, "T_eff": c.teff, "prior": c.prior.String()}
}

// sampledChildren returns up to n positions with a parent at even distances, the last one included.
func (c *firstStage) sampledChildren(n int) []int {
	return evenSample(n, c.t, func(i int) bool { return c.graph.Parent(i) >= 0 })
}

// sampledRoots returns up to n roots other than position 0 and the query at even
// distances, the last one included.
func (c *firstStage) sampledRoots(n int) []int {
	return evenSample(n, c.t-1, func(i int) bool { return i > 0 && c.graph.Parent(i) < 0 })
}

// evenSample returns up to n of the wanted i < t at even distances, the last one included.
func evenSample(n, t int, wanted func(int) bool) []int {
	var all []int
	for i := range t {
		if wanted(i) {
			all = append(all, i)
		}
	}
	if len(all) <= n {
		return all
	}
	out := make([]int, n)
	for k := range out {
		out[k] = all[(k+1)*len(all)/n-1]
	}
	return out
}

// attentionAfter returns the attention of row i at t = constant T log T.
func (c *firstStage) attentionAfter(i int, constant float64) []float64 {
	n := float64(c.t)
	_, s := theory.RowFlow(c.force(i), constant*n*num.Log(n), nil)
	return s
}

// pullAway is a transition matrix with sum_s pi(s|s)/mu(s) = S - 21/20. For eps > 0 the gradient draws a root
// other than the query to itself, and the query away from itself.
var pullAway = exact.Rats("9/10 1/20 1/20; 1/5 1/20 3/4; 1/5 3/4 1/20")

// pullToward are two transition matrices under whose mean the query is drawn to itself.
var pullToward = []exact.Matrix{exact.Rats("9/10 1/10; 1/2 1/2"), exact.Rats("1/10 9/10; 1/2 1/2")}

// driftConstants are the candidate constants for the drift of a row.
var driftConstants = []*big.Rat{exact.Int(1), exact.Int(1000), exact.Int(1000000)}

// A gradientBound is a bound in terms of S, gamma and T_eff, such as 35 S^2 gamma^-2 T_eff^(-1/2).
// Both sides have no factor beta0/T.
type gradientBound struct{ ledger.Bound }

const effective = `T_{\mathrm{eff}}`

// constant returns the factor of the power of T_eff for the largest gamma with pi >= gamma/S.
func (b gradientBound) constant(pi exact.Matrix) *big.Rat {
	return b.Without(effective, "T", `\beta_0`).Rat(ledger.At[*big.Rat]{
		"S": exact.Int(len(pi)), `\gamma`: exact.FloorGamma(pi),
	})
}

// rate returns the power of 1/T_eff.
func (b gradientBound) rate() *big.Rat { return new(big.Rat).Neg(b.Exponent(effective)) }

// float returns the bound.
func (b gradientBound) float(s int, gamma, teff float64) float64 {
	return b.Without("T", `\beta_0`).Float(ledger.At[float64]{"S": float64(s), `\gamma`: gamma, effective: teff})
}

// gradientRounding exceeds the error of theory.GHat at eps >= 1/25.
const gradientRounding = 1e-9

// decideRoot decides the same inequality for root i.
func (c *firstStage) decideRoot(w *ledger.Worst, b gradientBound, i int) {
	bound := b.float(c.s, theory.Gamma(c.prior), c.teff)
	w.AtMostRounded(offCentre(c.force(i)), bound, gradientRounding, func() ledger.Instance {
		return c.instance().With("i", i+1)
	})
}

// offCentre returns min_c |v - c|_inf, the distance of v from the constant rows.
func offCentre(v []float64) float64 { return (slices.Max(v) - slices.Min(v)) / 2 }

// decideLead decides that ghat_ip, p the parent, exceeds the other entries of row i by the bound.
func (c *firstStage) decideLead(w *ledger.Worst, i int, bound float64) {
	row, p := c.row(i), c.graph.Parent(i)
	for j, v := range row {
		if j != p {
			w.AtMostRounded(bound, row[p]-v, gradientRounding, func() ledger.Instance {
				return c.instance().With("i", i+1).With("j", j+1)
			})
		}
	}
}

// runawayTime returns the number of steps after which row T has attention 1/2 to itself, by Lemma 8
// (lem-a1-dynamics-sharp) with delta = min_j (g*_TT - g*_Tj)/S. It is T if delta may not be positive.
func runawayTime(c exact.StageOne) *big.Rat {
	t, delta := exact.Pow(c.Root, 2), c.Gap(exact.Query, exact.Query).Lo
	if delta.Sign() <= 0 {
		return t
	}
	delta = exact.Quo(delta, exact.Int(len(c.Pis[0])))
	return exact.Ceil(exact.TimeBound(exact.Frac(1, 2), t, delta, exact.Int(1)).Hi)
}

// queryRunsAway encloses sup_j |S_j - 1/T| for row T after the given steps.
func queryRunsAway(c exact.StageOne, steps *big.Rat) (*big.Rat, exact.Interval) {
	t := exact.Pow(c.Root, 2)
	if c.Gap(exact.Query, exact.Query).Lo.Sign() <= 0 || steps.Cmp(runawayTime(c)) < 0 {
		return t, exact.Interval{Lo: new(big.Rat), Hi: exact.Int(1)}
	}
	return t, exact.Interval{Lo: exact.Sub(exact.Frac(1, 2), exact.Inv(t)), Hi: exact.Int(1)}
}

// lateRootRests encloses sup_j |S_j - 1/i| for the last root i other than the query while 4 V steps <= i, by
// Lemma 7 (lem-no-parents-corrected). After that the claim is void, and the enclosure zero.
func lateRootRests(c exact.StageOne, steps *big.Rat) (*big.Rat, exact.Interval) {
	i := exact.Sub(exact.Pow(c.Root, 2), exact.Int(2))
	drive := exact.Mul(exact.Mul(exact.Int(4), steps), c.Drive(exact.OwnRoot).Hi)
	if drive.Cmp(i) > 0 {
		return i, exact.Point(new(big.Rat))
	}
	return i, exact.Interval{Lo: new(big.Rat), Hi: exact.Quo(drive, exact.Pow(i, 2))}
}

// A rootDrift is the claim sup_j |S_j - 1/i| <= C bound after a number of steps of size eta1 beta0/T = 1, under
// the matrices pullToward. The field of returns the row i and an enclosure of the left side.
type rootDrift struct {
	of    func(c exact.StageOne, steps *big.Rat) (i *big.Rat, off exact.Interval)
	steps func(c exact.StageOne) *big.Rat
	bound func(c exact.StageOne, steps, i *big.Rat) exact.Interval
}

func (q rootDrift) check(_ *ledger.Env, w *ledger.Worst) string {
	type state struct {
		at       ledger.Instance
		lhs, rhs exact.Interval
	}
	states := map[*big.Rat]state{}
	roots := rootsOfT()[1:7]
	for _, root := range roots {
		c := exact.NewStageOne(root, exact.Inv(root), pullToward...)
		steps := q.steps(c)
		i, off := q.of(c, steps)
		at := stageOneInstance(c, exact.Query).With("i", i).With("eta1", exact.Pow(root, 6)).
			With("tau", steps).With("gamma", gammaToward)
		states[root] = state{at, off, q.bound(c, steps, i)}
	}
	order{
		lhs: func(root *big.Rat) exact.Interval { return states[root].lhs },
		rhs: func(root *big.Rat) exact.Interval { return states[root].rhs },
		at:  func(root *big.Rat) ledger.Instance { return states[root].at },
	}.decide(w, roots, driftConstants...)
	return ""
}

// driftRounding exceeds the rounding error of a row after 300 steps. Each step
// rounds entries of A below 1. Errors in A grow by a factor of at most e^2 in all,
// as J(S)v moves by at most 4 eta V max S per unit, and max S <= 2/i.
const driftRounding = 1e-12

// gammaToward is a gamma with which the prior of pullToward satisfies assumption 1.
var gammaToward = exact.Frac(19, 100)
