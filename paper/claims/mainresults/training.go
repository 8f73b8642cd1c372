package mainresults

import (
	"math"
	"math/big"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file trains the reduced model with Algorithm 1, for Theorems 1 and 2: gradient
// descent on the rows of A1 in the limit beta0 -> 0, then gradient descent on beta.

// A training has the settings of Algorithm 1 and the factors of the bounds that it is
// compared with. Planted faults change one of them.
type training struct {
	time   float64 // length of stage 1, in units of the time after which 1 - S_{i,p(i)} <= 1/T
	rate   float64 // eta2; zero skips stage 2
	drift  float64 // if not zero, replaces minus the gradient in stage 2
	eps    func(teff float64) float64
	shift  float64                            // weight of log(1 + S eps), which is added to L - L*
	excess func(excess, teff float64) float64 // applied to the measured excess loss
	lost   func(lost, length float64) float64 // applied to the measured 1 - S_{i,p(i)}
	fall   float64                            // the rate is (log^2 T/T_eff)^(fall gamma)
	reach  float64                            // stage 2 must reach this multiple of beta*
	long   float64                            // graphs have T_eff >= long log^2 T
	priors []*markov.Finite
	family []string
}

// asStated is Algorithm 1 with the bound (log^2 T/T_eff)^(gamma/12).
func asStated() training {
	unchanged := func(measured, _ float64) float64 { return measured }
	return training{
		time: 1, rate: 4, eps: func(teff float64) float64 { return 1 / math.Sqrt(teff) }, shift: 1,
		excess: unchanged, lost: unchanged, fall: 1. / 12, reach: 1, long: 0.25,
		priors: instruments.StageTwoPriors(), family: growing,
	}
}

// with returns a copy of the training that change has modified.
func (t training) with(change func(*training)) training {
	change(&t)
	return t
}

// onChains restricts the training to chains and its first prior, over two states.
func onChains(t *training) { t.family, t.priors = []string{"chain"}, t.priors[:1] }

// A mainRun is the result of a training on one graph.
type mainRun struct {
	*instruments.FirstStage
	r        float64
	eps      float64
	lost     float64     // the largest 1 - S_{i,p(i)} of up to six rows
	roots    [][]float64 // rows of softmax(A1); nil for positions with a parent
	betaStar float64
	beta     float64
	path     []betaStep
	monte    theory.MonteCarlo
	seen     func() (loss num.Estimate, rounding float64) // the excess loss
	slopes   func() []float64                             // see exactSlopes
}

// A betaStep is a step of stage 2: beta before it, and the estimate of minus the gradient there.
type betaStep struct {
	beta    float64
	descent num.Estimate
}

type mainRunKey struct {
	graph, prior      string
	time, rate, drift float64
	eps               float64
}

var mainRuns instruments.Memo[mainRunKey, *mainRun]

// run trains on one graph. Claims with the same settings share the run.
func (t training) run(e *ledger.Env, family string, n int, prior *markov.Finite) *mainRun {
	c := instruments.NewFirstStage(graph.FamilyNamed(family), n, prior)
	key := mainRunKey{c.Graph.String(), prior.String(), t.time, t.rate, t.drift, t.eps(c.TEff)}
	seed := e.Seed()
	return mainRuns.Get(key, func() *mainRun { return t.train(c, seed) })
}

// stageTwoConstant is the C of exp(beta*) = C T_eff^(1/12) log^(-1/6) T in the
// trends of the two theorems; Lemma 10 (thm-stage2-lower) allows it.
const stageTwoConstant = 10

func (t training) train(c *instruments.FirstStage, seed uint64) *mainRun {
	r := &mainRun{FirstStage: c, r: c.Graph.RootFraction(), eps: t.eps(c.TEff), roots: make([][]float64, c.T)}
	children := c.SampledChildren(6)
	var end float64
	for _, i := range children {
		gap := parentLead(c.Force(i), c.Graph.Parent(i))
		if gap < 1e-9 { // the parent leads by rounding only: no time is enough
			r.lost = 1
			continue
		}
		// Lemma 8 (lem-a1-dynamics) with its constant, at alpha = 1/T.
		n, k := float64(c.T), float64(i+1)
		end = max(end, (n+k+2*num.Log(k*n))/gap)
	}
	end *= t.time
	for _, i := range children {
		r.lost = max(r.lost, 1-theory.RowDescent(c.Force(i), end)[c.Graph.Parent(i)])
	}
	for _, i := range c.Graph.Roots() {
		r.roots[i] = theory.RowDescent(c.Force(i), end)
	}
	r.monte = theory.MonteCarlo{
		Graph: c.Graph, Prior: c.Prior, Rows: r.roots, Eps: r.eps, Reading: theory.QueryInSequence,
		Samples: 200, Seed: seed, Workers: 1,
	}
	r.betaStar = theory.BetaStar(stageTwoConstant, c.TEff, c.T)
	for steps := 0; t.rate > 0 && r.beta < r.betaStar && steps < 400; steps++ {
		delta := r.monte.Run([]float64{r.beta})[0].DeltaBeta
		step := betaStep{r.beta, num.Estimate{Mean: -delta.Mean, StdErr: delta.StdErr}}
		if t.drift != 0 {
			step.descent.Mean = t.drift
		}
		r.path = append(r.path, step)
		r.beta = max(0, r.beta+float64(t.rate*step.descent.Mean))
	}
	r.seen, r.slopes = sync.OnceValues(r.excess), sync.OnceValue(r.exactSlopes)
	return r
}

// parentLead returns min_j (h_p - h_j) over j other than p.
func parentLead(h []float64, p int) float64 {
	lead := math.Inf(1)
	for j, v := range h {
		if j != p {
			lead = min(lead, h[p]-v)
		}
	}
	return lead
}

// excess returns L - L* + log(1 + S eps): for a chain over two states as the middle of
// an enclosure, with its width as the rounding, else estimated from samples.
func (r *mainRun) excess() (num.Estimate, float64) {
	if r.pairs(theory.Chains(r.Prior)[0]) != nil {
		sum := r.sum(r.beta)
		return num.Estimate{Mean: sum.Float()}, exact.Float(exact.Sub(sum.Hi, sum.Lo))
	}
	m := r.monte
	m.Samples, m.Seed = 400, m.Seed+1
	gap := m.Run([]float64{r.beta})[0].Gap
	return num.Estimate{Mean: gap.Mean + num.Log(1+float64(float64(r.S)*r.eps)), StdErr: gap.StdErr}, 0
}

// sum encloses L - L* + log(1 + S eps) at beta. It requires [mainRun.pairs].
func (r *mainRun) sum(beta float64) exact.Interval {
	chains, sum := theory.Chains(r.Prior), exact.Point(new(big.Rat))
	for k, c := range chains {
		relabeled := slices.ContainsFunc(chains[:k], func(o *theory.Chain) bool {
			return o.Pi.At(0, 0) == c.Pi.At(1, 1) && o.Pi.At(1, 1) == c.Pi.At(0, 0)
		})
		if !relabeled { // else the loss is the same
			sum = sum.Add(r.pairs(c).excess(beta).Quo(exact.Point(exact.Int(len(chains) / 2))))
		}
	}
	return sum
}

// sampledSteps returns the indices of the first, middle and last step of stage 2.
func (r *mainRun) sampledSteps() []int { return []int{0, len(r.path) / 2, len(r.path) - 1} }

// exactSlopes returns the slopes of the exact loss at sampledSteps, or nil unless the
// graph is a chain over two states.
func (r *mainRun) exactSlopes() []float64 {
	if len(r.path) == 0 || r.pairs(theory.Chains(r.Prior)[0]) == nil {
		return nil
	}
	const h = 1e-3
	var slopes []float64
	for _, k := range r.sampledSteps() {
		beta := r.path[k].beta
		slopes = append(slopes, (r.sum(beta+h).Float()-r.sum(beta-h).Float())/(2*h))
	}
	return slopes
}

// bound returns an upper bound of the excess loss at beta*: its limit for long sequences, plus sampleCost over
// the (1-r) T_eff samples of a row. Positions with a parent are taken to attend to the parent alone, which
// changes no logarithm of a prediction by more than 2 beta lost.
func (r *mainRun) bound(beta float64) float64 {
	return r.limit(beta) + float64(theory.Mean(r.Prior, sampleCost)/((1-r.r)*r.TEff))
}

// sampleCost returns (S-1)/(2S) sum_s 1/mu(s), to first order n times the excess loss
// of frequencies in n samples.
func sampleCost(c *theory.Chain) float64 {
	sum := 0.0
	for _, m := range c.Mu {
		sum += float64(c.S-1) / (2 * float64(c.S) * m)
	}
	return sum
}

// limit returns E KL(pi || (f_inf + eps)/(1 + S eps)) at eps = T_eff^(-1/2), averaged
// over the queries (thm-main-step-bias).
func (r *mainRun) limit(beta float64) float64 {
	eps := 1 / math.Sqrt(r.TEff)
	return theory.Mean(r.Prior, func(c *theory.Chain) float64 { return c.ExcessInTheLimit(r.r, eps, beta) })
}

// A trainedChain is a trained model on the chain of t positions over two states, query in sequence. Position i
// attends to i-1; the query attends to itself with weight pull, and uniformly to the other positions. The
// prediction depends on the pair counts of the first t-1 states only, so the loss is a finite sum.
type trainedChain struct {
	pi   exact.Matrix
	t    int
	pull float64
	eps  float64
}

// pairs returns the trained model on sequences of c, whose entries are multiples of
// 1/1000 up to rounding. It returns nil for other graphs, for more states, and if the
// query's attention to the other positions is not uniform.
func (r *mainRun) pairs(c *theory.Chain) *trainedChain {
	last := r.roots[r.T-1]
	low, high := slices.Min(last[:r.T-1]), slices.Max(last[:r.T-1])
	if r.Family != "chain" || r.S != 2 || high-low > 1e-3/float64(r.T) {
		return nil
	}
	return &trainedChain{pi: exact.Round(c.Pi.RawMatrix().Data, 2, 1000), t: r.T, pull: last[r.T-1], eps: r.eps}
}

// weights returns the total weight of the positions with either state, for the query s.
func (c trainedChain) weights(p exact.Pairs, s int, beta float64) [2]float64 {
	var n [2]float64
	zero := num.Exp(-beta)
	for to := range 2 {
		n[to] = float64(p.N[s][to]) + float64(zero*float64(p.N[1-s][to]))
	}
	if p.First == s { // the root attends to itself
		n[s]++
	} else {
		n[1-s] += zero
	}
	others := float64(p.States()[s]) / float64(c.t-1)
	n[s] += num.Exp(float64(beta * (c.pull + float64((1-c.pull)*others) - 1)))
	return n
}

// excess encloses L - L* + log(1 + S eps), the mean over queries of the divergence
// of (f + eps)/(1 + S eps) from pi(.|s).
func (c trainedChain) excess(beta float64) exact.Interval {
	pi := c.pi.Floats()
	return exact.PairMean(c.pi, exact.MustStationary(c.pi), c.t-1, func(p exact.Pairs) float64 {
		sum := 0.0
		for s := range 2 {
			n := c.weights(p, s, beta)
			total := n[0] + n[1]
			for to := range 2 {
				q := (n[to]/total + c.eps) / (1 + float64(2*c.eps))
				sum += float64(pi[s*2+to] * num.Log(pi[s*2+to]/q))
			}
		}
		return sum / 2
	}, 1e-12) // four logarithms of quotients with a few roundings each
}

// missed encloses the probability that the prediction differs from pi(.|s) by more than far(s).
func (c trainedChain) missed(beta float64, far func(s int) float64) exact.Interval {
	pi := c.pi.Floats()
	return exact.PairMean(c.pi, exact.MustStationary(c.pi), c.t-1, func(p exact.Pairs) float64 {
		sum := 0.0
		for s := range 2 {
			n := c.weights(p, s, beta)
			// Both states have the same error.
			sum += instruments.Indicator(!(math.Abs(n[0]/(n[0]+n[1])-pi[s*2]) <= far(s)-1e-12)) / 2
		}
		return sum
	}, 0)
}

// chain returns pi in floats.
func (c trainedChain) chain() *theory.Chain {
	return &theory.Chain{S: 2, Pi: mat.NewDense(2, 2, c.pi.Floats()), Mu: exact.MustStationary(c.pi).Floats()}
}

// limit returns the limit of excess for long chains, at the same eps.
func (c trainedChain) limit(beta float64) float64 { return c.chain().ExcessInTheLimit(0, c.eps, beta) }

// growing are the families on which T_eff grows like a power of T.
var growing = []string{"chain", "in-context", "spider"}
