package claims

import (
	"math"
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

// This file trains the reduced model as Algorithm 1 does, for Theorems 1 and 2: by
// gradient descent in the rows of A1, in the limit beta0 -> 0, and then in beta.

// A training says how Algorithm 1 is run and what is made of it; its faults are the
// ways to spoil it.
type training struct {
	time   float64 // of stage 1, in units of what is enough for 1 - 1/T
	rate   float64 // eta2; zero for no stage 2
	drift  float64 // minus the gradient of stage 2, if it is not zero
	eps    func(teff float64) float64
	shift  float64                          // of log(1 + S eps), which is added to L - L*
	excess func(seen, teff float64) float64 // in place of what is seen
	lost   func(seen, t float64) float64
	fall   float64 // of the rate (log^2 T/T_eff)^(fall gamma)
	reach  float64 // the part of beta* that stage 2 has to get to
	long   float64 // T_eff is at least this times log^2 T
	priors []*markov.Finite
	family []string
}

// asStated is Algorithm 1 and the bound (log^2 T/T_eff)^(gamma/12).
func asStated() training {
	return training{
		time: 1, rate: 4, eps: func(teff float64) float64 { return 1 / math.Sqrt(teff) }, shift: 1,
		excess: func(seen, _ float64) float64 { return seen }, lost: func(seen, _ float64) float64 { return seen },
		fall: 1. / 12, reach: 1, long: 0.25, priors: stageTwoPriors(), family: growing,
	}
}

// with returns the training with one thing spoilt.
func (t training) with(spoil func(*training)) training {
	spoil(&t)
	return t
}

// A mainRun is the outcome of a training on one graph.
type mainRun struct {
	*firstStage
	r        float64
	eps      float64
	lost     float64     // the largest 1 - S_{i,p(i)} of the rows looked at
	roots    [][]float64 // rows of softmax(A1), nil for those of children
	betaStar float64
	beta     float64
	path     []betaStep
	monte    theory.MonteCarlo
	seen     func() num.Estimate // the excess loss
	slopes   func() []float64    // see exactSlopes
}

// A betaStep is a step of stage 2: minus the gradient there that it followed, with the
// standard error of the samples.
type betaStep struct {
	beta    float64
	descent num.Estimate
}

type mainRunKey struct {
	graph, prior      string
	time, rate, drift float64
	eps               float64
}

var mainRuns memo[mainRunKey, *mainRun]

// run trains on one graph.
func (t training) run(e *ledger.Env, family string, n int, prior *markov.Finite) *mainRun {
	c := newFirstStage(graph.FamilyNamed(family), n, prior)
	key := mainRunKey{c.graph.String(), prior.String(), t.time, t.rate, t.drift, t.eps(c.teff)}
	seed := e.Seed()
	return mainRuns.get(key, func() *mainRun { return t.train(c, seed) })
}

// stageTwoConstant is the C of exp(beta*) = C T_eff^(1/12) log^(-1/6) T in the
// trends of the two theorems; Lemma 10 (thm-stage2-lower) allows it.
const stageTwoConstant = 10

func (t training) train(c *firstStage, seed uint64) *mainRun {
	r := &mainRun{firstStage: c, r: c.graph.RootFraction(), eps: t.eps(c.teff), roots: make([][]float64, c.t)}
	children := c.sampledChildren(6)
	var end float64
	for _, i := range children {
		gap := parentLead(c.force(i), c.graph.Parent(i))
		if gap < 1e-9 { // no gap but for rounding: no time is enough
			r.lost = 1
			continue
		}
		// Lemma 8 (lem-a1-dynamics) with its constant, at alpha = 1/T.
		n, k := float64(c.t), float64(i+1)
		end = max(end, (n+k+2*num.Log(k*n))/gap)
	}
	end *= t.time
	for _, i := range children {
		r.lost = max(r.lost, 1-rowDescent(c.force(i), end)[c.graph.Parent(i)])
	}
	for _, i := range c.graph.Roots() {
		r.roots[i] = rowDescent(c.force(i), end)
	}
	r.monte = theory.MonteCarlo{
		Graph: c.graph, Prior: c.prior, Rows: r.roots, Eps: r.eps, Reading: theory.QueryInSequence,
		Samples: 200, Seed: seed, Workers: 1,
	}
	r.betaStar = theory.BetaStar(stageTwoConstant, c.teff, c.t)
	for steps := 0; t.rate > 0 && r.beta < r.betaStar && steps < 400; steps++ {
		delta := r.monte.Run([]float64{r.beta})[0].DeltaBeta
		step := betaStep{r.beta, num.Estimate{Mean: -delta.Mean, StdErr: delta.StdErr}}
		if t.drift != 0 {
			step.descent.Mean = t.drift
		}
		r.path = append(r.path, step)
		r.beta = max(0, r.beta+float64(t.rate*step.descent.Mean))
	}
	r.seen = sync.OnceValue(func() num.Estimate {
		mean, err := r.excess()
		return num.Estimate{Mean: mean, StdErr: err}
	})
	r.slopes = sync.OnceValue(r.exactSlopes)
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

// rowDescent is gradient descent in one row of A1 from zero, for tau eta1 beta0/T =
// end in steps that move no difference of two entries by more than one.
func rowDescent(h []float64, end float64) []float64 {
	a, p := make([]float64, len(h)), make([]float64, len(h))
	num.Softmax(p, a)
	spread := slices.Max(h) - slices.Min(h)
	if spread == 0 || end == 0 {
		return p
	}
	steps := int(math.Ceil(end * spread))
	for range steps {
		floats.AddScaled(a, end/float64(steps), theory.Jacobian(p, h))
		num.Softmax(p, a)
	}
	return p
}

// excess returns L - L* + log(1 + S eps) with its standard error: exactly over two
// states on a chain, else from samples.
func (r *mainRun) excess() (mean, err float64) {
	if r.pairs(theory.Chains(r.prior)[0].Pi.RawMatrix().Data) != nil {
		return r.sum(r.beta), 0
	}
	m := r.monte
	m.Samples, m.Seed = 400, m.Seed+1
	gap := m.Run([]float64{r.beta})[0].Gap
	return gap.Mean + num.Log(1+float64(float64(r.s)*r.eps)), gap.StdErr
}

// sum returns L - L* + log(1 + S eps) at a beta exactly, where there are [mainRun.pairs].
func (r *mainRun) sum(beta float64) float64 {
	chains, sum := theory.Chains(r.prior), 0.0
	for k, pi := range chains {
		if relabeledBefore(chains[:k], pi) {
			continue
		}
		sum += r.pairs(pi.Pi.RawMatrix().Data).excess(beta).Float() / float64(len(chains)/2)
	}
	return sum
}

// sampledSteps are the numbers of the first step of stage 2, of one in the middle, and of
// the last.
func (r *mainRun) sampledSteps() []int { return []int{0, len(r.path) / 2, len(r.path) - 1} }

// exactSlopes returns the slopes of the exact loss at sampledSteps, where it is known: on a
// chain over two states.
func (r *mainRun) exactSlopes() []float64 {
	if len(r.path) == 0 || r.pairs(theory.Chains(r.prior)[0].Pi.RawMatrix().Data) == nil {
		return nil
	}
	const h = 1e-3
	var slopes []float64
	for _, k := range r.sampledSteps() {
		beta := r.path[k].beta
		slopes = append(slopes, (r.sum(beta+h)-r.sum(beta-h))/(2*h))
	}
	return slopes
}

// relabeledBefore reports whether the chain over two states is one of the others with
// its states exchanged, under which the loss is the same.
func relabeledBefore(others []*theory.Chain, c *theory.Chain) bool {
	return slices.ContainsFunc(others, func(o *theory.Chain) bool { return o.Pi.At(0, 0) == c.Pi.At(1, 1) && o.Pi.At(1, 1) == c.Pi.At(0, 0) })
}

// bound returns what the excess is at most at beta*: its limit for long sequences,
// and (S-1)/(2S) sum_s 1/mu(s) over the (1-r) T_eff samples of a row. Positions with
// a parent attend to it alone in what is seen; what they lose moves no logarithm of a
// prediction by more than 2 beta lost.
func (r *mainRun) bound(beta float64) float64 {
	lone := theory.Mean(r.prior, func(c *theory.Chain) float64 {
		sum := 0.0
		for _, m := range c.Mu {
			sum += float64(c.S-1) / (2 * float64(c.S) * m)
		}
		return sum
	})
	return r.limit(beta) + float64(lone/((1-r.r)*r.teff))
}

// limit returns E KL(pi || (f_inf + eps)/(1 + S eps)) at eps = T_eff^(-1/2), averaged
// over the queries (thm-main-step-bias).
func (r *mainRun) limit(beta float64) float64 {
	eps := 1 / math.Sqrt(r.teff)
	return theory.Mean(r.prior, func(c *theory.Chain) float64 { return excessInTheLimit(c, r.r, eps, beta) })
}

// excessInTheLimit returns E KL(pi || (f_inf + eps)/(1 + S eps)) for one chain.
func excessInTheLimit(c *theory.Chain, r, eps, beta float64) float64 {
	sum := 0.0
	for s := range c.S {
		w := mixtureWeight(c.Mu[s], r, beta)
		for t := range c.S {
			p := c.Pi.At(s, t)
			f := float64((1-w)*p) + float64(w*c.Mu[t])
			sum += float64(p * num.Log(p*(1+float64(float64(c.S)*eps))/(f+eps)))
		}
	}
	return sum / float64(c.S)
}

// mixtureWeight returns w_s of thm-main-step-bias.
func mixtureWeight(mu, r, beta float64) float64 {
	rest := float64((1-r)*num.Exp(-beta)) + float64(r*num.Exp(float64(beta*(mu-1))))
	return rest / (rest + float64((1-r)*(1-num.Exp(-beta))*mu))
}

// predict returns what the trained model predicts from a sequence over the states.
func (r *mainRun) predict(x []int, states int) []float64 {
	q, f, total := x[r.t-1], make([]float64, states), 0.0
	for i, a := range x {
		z := 0.0
		if p := r.graph.Parent(i); p >= 0 {
			z = unit(x[p] == q)
		} else {
			for j, share := range r.roots[i] {
				z += float64(share * unit(x[j] == q))
			}
		}
		weight := num.Exp(float64(r.beta * (z - 1)))
		f[a] += weight
		total += weight
	}
	for s := range f {
		f[s] /= total
	}
	return f
}

// A trainedChain is on a chain of t positions over two states, query in sequence:
// position i attends to i-1, and the query to itself with weight pull and to all
// others alike. What it predicts depends on the pair counts of the first t-1 states
// alone, so that its loss is a finite sum.
type trainedChain struct {
	pi   exact.Matrix
	t    int
	pull float64
	eps  float64
}

// pairs returns the trained chain, or nil if the run is on another graph, over more
// states, or moved the query's row otherwise.
func (r *mainRun) pairs(pi []float64) *trainedChain {
	last := r.roots[r.t-1]
	low, high := slices.Min(last[:r.t-1]), slices.Max(last[:r.t-1])
	if r.family != "chain" || r.s != 2 || high-low > 1e-3/float64(r.t) {
		return nil
	}
	return &trainedChain{pi: thousandths(pi), t: r.t, pull: last[r.t-1], eps: r.eps}
}

// thousandths returns a matrix over two states, of multiples of 1/1000 up to
// rounding, as the rationals that they stand for.
func thousandths(pi []float64) exact.Matrix { return exact.Round(pi, 2, 1000) }

// predict returns the weights of the positions with either state for the query s.
func (c trainedChain) predict(p exact.Pairs, s int, beta float64) [2]float64 {
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
			n := c.predict(p, s, beta)
			total := n[0] + n[1]
			for to := range 2 {
				q := (n[to]/total + c.eps) / (1 + float64(2*c.eps))
				sum += float64(pi[s*2+to] * num.Log(pi[s*2+to]/q))
			}
		}
		return sum / 2
	}, 1e-12) // four logarithms of quotients with a few roundings each
}

// missed encloses the probability that the prediction misses pi(.|s) by more than
// far(s) at some token.
func (c trainedChain) missed(beta float64, far func(s int) float64) exact.Interval {
	pi := c.pi.Floats()
	return exact.PairMean(c.pi, exact.MustStationary(c.pi), c.t-1, func(p exact.Pairs) float64 {
		sum := 0.0
		for s := range 2 {
			n := c.predict(p, s, beta)
			// Over two tokens both are missed by as much.
			sum += unit(math.Abs(n[0]/(n[0]+n[1])-pi[s*2]) > far(s)-1e-12) / 2
		}
		return sum
	}, 0)
}

// limit returns the excess in the limit of long chains, at the same eps.
func (c trainedChain) limit(beta float64) float64 {
	chain := theory.Chain{S: 2, Pi: mat.NewDense(2, 2, c.pi.Floats()), Mu: exact.MustStationary(c.pi).Floats()}
	return excessInTheLimit(&chain, 0, c.eps, beta)
}

// lone returns (S-1)/(2S) sum_s 1/mu(s), T times what finite samples of the rows of
// pi cost at most.
func (c trainedChain) lone() float64 {
	mu := exact.MustStationary(c.pi).Floats()
	return (1/mu[0] + 1/mu[1]) / 4
}
