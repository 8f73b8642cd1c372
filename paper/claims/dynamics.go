package claims

import (
	"math"
	"math/big"
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

// This file has the dynamics that several sections share: stage 1 in the limit
// beta0 -> 0, where every row of A1 moves by itself, and stage 2 from its end.

// A memo computes a value once per key and process, for all rows.
type memo[K comparable, V any] struct{ values sync.Map }

func (m *memo[K, V]) get(key K, compute func() V) V {
	once, _ := m.values.LoadOrStore(key, sync.OnceValue(compute))
	return once.(func() V)()
}

// mustOrbit is markov.NewOrbit for bases that are right.
func mustOrbit(s int, bases ...[]float64) *markov.Finite {
	p, err := markov.NewOrbit(s, bases...)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return p
}

// stageOnePriors are the priors of the trends of stage 1, both symmetric with
// constant mean. In the first, states that stay are heavy: mu = (2/3, 1/6, 1/6)
// and sum_s pi(s|s)/mu(s) = S - 21/20, so that roots are drawn to themselves.
var stageOnePriors = sync.OnceValue(func() []*markov.Finite {
	return []*markov.Finite{
		mustOrbit(3, []float64{0.9, 0.05, 0.05, 0.2, 0.05, 0.75, 0.2, 0.75, 0.05}),
		mustOrbit(2, []float64{0.8, 0.2, 0.2, 0.8}, []float64{0.3, 0.7, 0.9, 0.1}),
	}
})

// stageTwoPriors are the priors of the trends of stage 2, both symmetric with
// constant mean: one over two states with gamma = 2/5, and one over three under
// which early roots are drawn to themselves in stage 1, with gamma = 3/20.
var stageTwoPriors = sync.OnceValue(func() []*markov.Finite {
	return []*markov.Finite{
		mustOrbit(2, []float64{0.8, 0.2, 0.4, 0.6}, []float64{0.2, 0.8, 0.6, 0.4}),
		stageOnePriors()[0],
	}
})

// familyNamed returns one of [graph.Families], or "random forest", whose members
// the claim draws: each position is a root with probability 1/2.
func familyNamed(e *ledger.Env, name string) graph.Family {
	if name != "random forest" {
		return graph.FamilyNamed(name)
	}
	return graph.Family{Name: name, New: func(t int) *graph.Forest {
		return graph.Random(t, 0.5, e.Stream("forest", uint64(t)))
	}}
}

// growing are the families whose T_eff grows with T like a power.
var growing = []string{"chain", "in-context", "spider"}

// A firstStage is stage 1 at beta0 -> 0 on one graph: ghat, which determines it.
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

// stageOneLengths are the T of the trends of stage 1.
func stageOneLengths(e *ledger.Env) []int {
	return []int{16, 32, 64, 128, 256, 512}[:e.Budget(6, 4)]
}

// firstStages returns stage 1 on the members of a family, T by T.
func firstStages(e *ledger.Env, family string, prior *markov.Finite) []*firstStage {
	var out []*firstStage
	for _, t := range stageOneLengths(e) {
		out = append(out, newFirstStage(familyNamed(e, family), t, prior))
	}
	return out
}

// row returns ghat_i, of length i+1.
func (c *firstStage) row(i int) []float64 { return c.ghat.RawRowView(i)[:i+1] }

// force returns ghat_i / S, which moves row i of A1 by rowFlow.
func (c *firstStage) force(i int) []float64 {
	return floats.ScaleTo(make([]float64, i+1), 1/float64(c.s), c.row(i))
}

func (c *firstStage) instance() ledger.Instance {
	return ledger.Instance{"family": c.family, "T": c.t, "T_eff": c.teff, "prior": c.prior.String()}
}

// sampledChildren returns up to n positions with a parent, spread over all, the
// last included.
func (c *firstStage) sampledChildren(n int) []int {
	return evenSample(n, c.t, func(i int) bool { return c.graph.Parent(i) >= 0 })
}

// sampledRoots returns up to n roots other than 0 and the query, spread over all, the last
// included.
func (c *firstStage) sampledRoots(n int) []int {
	return evenSample(n, c.t-1, func(i int) bool { return i > 0 && c.graph.Parent(i) < 0 })
}

// evenSample returns up to n of the wanted i < t, the last included.
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

// rowFlow follows one row of A1 under gradient descent with small steps,
//
//	dA_j/dt = S_j (h_j - sum_k S_k h_k),  S = softmax(A),  A(0) = 0,
//
// with h = ghat_i / S and t = tau eta1 beta0 / T, in steps that move no entry by
// more than 1/20. It stops at time end, or after a step where done says so, and
// returns the time and the attention.
func rowFlow(h []float64, end float64, done func(t float64, attention []float64) bool) (float64, []float64) {
	a, p := make([]float64, len(h)), make([]float64, len(h))
	t := 0.0
	for {
		num.Softmax(p, a)
		if t >= end || done != nil && t > 0 && done(t, p) {
			return t, p
		}
		velocity := theory.Jacobian(p, h)
		step := end - t
		if fastest := floats.Norm(velocity, math.Inf(1)); fastest > 0 {
			step = min(step, 0.05/fastest)
		}
		if math.IsInf(step, 1) || !(t+step > t) {
			return t, p
		}
		for j, v := range velocity {
			a[j] += float64(step * v)
		}
		t += step
	}
}

// attentionAfter returns the attention of row i at t = constant T log T.
func (c *firstStage) attentionAfter(i int, constant float64) []float64 {
	n := float64(c.t)
	_, s := rowFlow(c.force(i), constant*n*num.Log(n), nil)
	return s
}

// arrivalTime returns the t = tau eta1 beta0/T at which a row that the force h
// moves has attention 1-alpha at position p, +Inf if it does not get there.
func arrivalTime(h []float64, p int, alpha float64) float64 {
	t, s := rowFlow(h, math.Inf(1), func(_ float64, s []float64) bool { return s[p] >= 1-alpha })
	if s[p] < 1-alpha {
		return math.Inf(1)
	}
	return t
}

// timeBound encloses the number of steps after which a row of i positions has
// attention 1-alpha where its gradient leads by delta, by lem-a1-dynamics-sharp,
//
//	e^(eta delta/4) (1/alpha + i + 2 log(i/alpha)) / (eta delta),  eta = eta1 beta0/T
func timeBound(alpha, i, delta, eta *big.Rat) exact.Interval {
	step := exact.Point(exact.Mul(eta, delta))
	sum := exact.Point(exact.Add(inverse(alpha), i))
	sum = sum.Add(exact.Point(exact.Frac(2, 1)).Mul(exact.Point(exact.Quo(i, alpha)).Log()))
	return step.Quo(exact.Point(exact.Frac(4, 1))).Exp().Mul(sum).Quo(step)
}

// ceiling returns the least integer from x on.
func ceiling(x *big.Rat) *big.Rat {
	q, m := new(big.Int).DivMod(x.Num(), x.Denom(), new(big.Int))
	if m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return new(big.Rat).SetInt(q)
}

// leastTimeConstant returns the least C with which t = C T log T brings every
// row looked at to 1 - 1/T, over the sizes of a trend.
func leastTimeConstant(cs ...*firstStage) float64 {
	most := 0.0
	for _, c := range cs {
		n := float64(c.t)
		for _, i := range c.sampledChildren(6) {
			most = max(most, arrivalTime(c.force(i), c.graph.Parent(i), 1/n)/(n*num.Log(n)))
		}
	}
	return most
}

// stageOneTimeConstant is the C of tau1 = C T^2 log T / (eta1 beta0): twice what
// the rows of chain and in-context graph need on 32 positions.
func stageOneTimeConstant(prior *markov.Finite) float64 {
	return 2 * leastTimeConstant(
		newFirstStage(graph.FamilyNamed("chain"), 32, prior),
		newFirstStage(graph.FamilyNamed("in-context"), 32, prior))
}

// A flaw is how the end of stage 1 is spoilt in a planted fault.
type flaw string

const (
	asTrained            flaw = "" // not at all
	childrenOnThemselves flaw = "positions with a parent attend to themselves"
	rootsOnFirst         flaw = "roots attend to position 1 alone"
)

// spoil replaces the attention of row i where the flaw concerns it.
func (f flaw) spoil(g *graph.Forest, i int, attention []float64) {
	child := g.Parent(i) >= 0
	switch {
	case f == childrenOnThemselves && child:
		clear(attention)
		attention[i] = 1
	case f == rootsOnFirst && !child:
		clear(attention)
		attention[0] = 1
	}
}

// A secondStage is the state after stage 1 with what stage 2 does from there.
type secondStage struct {
	*firstStage
	attention [][]float64 // softmax(A1) at tau1, row i of length i+1
	gamma     float64     // of the prior, at most 1-r

	full []theory.StageTwo // by stageTwoBetas, with A1
}

// stageTwoBetas are the beta at which each run is evaluated: 0, 1/4, ..., 8.
var stageTwoBetas = floats.Span(make([]float64, 33), 0, 8)

type secondStageKey struct {
	graph, prior string
	flaw         flaw
	samples      int
	seed         uint64
}

var secondStages memo[secondStageKey, *secondStage]

// trainedOn returns stage 1 to first order in beta0 at time tau1, followed row by
// row, and stage 2 from samples, on the member with t positions of one of
// [graph.Families].
func trainedOn(e *ledger.Env, family string, t int, prior *markov.Finite, f flaw) *secondStage {
	c := newFirstStage(graph.FamilyNamed(family), t, prior)
	key := secondStageKey{c.graph.String(), prior.String(), f, e.Budget(500, 200), e.Seed()}
	return secondStages.get(key, func() *secondStage { return c.train(f, key.samples, key.seed) })
}

func (c *firstStage) train(f flaw, samples int, seed uint64) *secondStage {
	r := &secondStage{firstStage: c, attention: make([][]float64, c.t)}
	r.gamma = min(theory.Gamma(c.prior), 1-c.graph.RootFraction())
	constant := stageOneTimeConstant(c.prior)
	for i := range r.attention {
		r.attention[i] = c.attentionAfter(i, constant)
		f.spoil(c.graph, i, r.attention[i])
	}
	mc := theory.MonteCarlo{
		Graph: c.graph, Prior: c.prior, Rows: r.attention, Eps: 1 / math.Sqrt(c.teff), Reading: theory.QueryInSequence,
		Samples: samples, Seed: seed, Workers: 1,
	}
	r.full = mc.Run(stageTwoBetas)
	return r
}
