package mainresults

import (
	"math"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// The error bound of a trained model over two states against the formula.
func TestErrorBoundOfATrainedModel(t *testing.T) {
	check := compare.With(t)
	const r, star = 0.3, 1.2
	c, prior := theory.MustChain([]float64{0.2, 0.8, 0.7, 0.3}, 2), instruments.MustOrbit(2, []float64{0.8, 0.2, 0.4, 0.6})
	run := &mainRun{FirstStage: &instruments.FirstStage{Prior: prior, T: 50}, r: r, betaStar: star}
	for s, mu := range c.Mu {
		small, root, p := math.Exp(-star), math.Exp(star*(mu-1)), c.Pi.At(s, 0)
		weight := (0.7*small + 0.3*root) / (0.7*small + 0.3*root + 0.7*(1-small)*mu)
		check("how far a prediction may be off", run.errorBound(c, s),
			weight*math.Abs(p-c.Mu[0])+2.5758293035*math.Sqrt((p-p*p)/(0.7*mu*50)))
	}
}

// The bound on the excess loss of Theorem 1 and its limit, against their terms, for r = 3/10,
// T_eff = 7 and a run at epsilon = 1/20, at beta* = 7/5.
func TestBoundOnTheExcessLoss(t *testing.T) {
	check := compare.With(t)
	const star = 1.4
	eps := math.Sqrt(1. / 7)
	for _, u := range compare.Asymmetrics() {
		states, limit, lone := float64(len(u.First)), 0.0, 0.0
		for k, pi := range []exact.Matrix{u.First, u.Other} {
			weight, c := []float64{1. / 3, 2. / 3}[k], theory.MustChain(pi.Floats(), len(pi))
			for s, mu := range c.Mu {
				lone += weight * (states - 1) / (2 * states * mu)
				rest := 0.7*math.Exp(-star) + 0.3*math.Exp(star*(mu-1))
				rest /= rest + 0.7*(1-math.Exp(-star))*mu
				for to, p := range c.Pi.RawRowView(s) {
					f := p + rest*(c.Mu[to]-p)
					limit += weight / states * p * (math.Log(p) - math.Log((f+eps)/(1+states*eps)))
				}
			}
		}
		run := &mainRun{FirstStage: &instruments.FirstStage{Prior: u.Prior(), S: len(u.First), TEff: 7}, r: 0.3, eps: 0.05}
		check("the limit of the excess loss", run.limit(star), limit)
		check("what the excess loss is at most", run.bound(star), limit+lone/4.9)
	}
}

// The sums over pair counts of a trained chain, against the sum over its sequences.
func TestTrainedChainAgreesWithEnumeration(t *testing.T) {
	const beta = 1.7
	check := compare.With(t)
	for _, m := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")} {
		c, pi := trainedChain{pi: m, t: 6, pull: 0.3, eps: 0.07}, m.Floats()
		excess := c.overSequences(beta, func(s int, f [2]float64) float64 {
			p, scale := pi[2*s], 1+2*c.eps
			return p*math.Log(p*scale/(f[0]+c.eps)) + (1-p)*math.Log((1-p)*scale/(f[1]+c.eps))
		})
		check("the excess loss", c.excess(beta).Float(), excess)
		far := func(s int) float64 { return 0.111 + 0.2*float64(s) }
		miss := func(s int, f [2]float64) float64 { return instruments.Indicator(math.Abs(f[1]-pi[2*s+1]) > far(s)) }
		check("the probability of a miss", c.missed(beta, far).Float(), c.overSequences(beta, miss))
		teff := 1 / (c.eps * c.eps)
		run := &mainRun{FirstStage: &instruments.FirstStage{Prior: instruments.MustOrbit(2, pi), S: 2, TEff: teff}}
		check("the limit", run.limit(beta), c.limit(beta))
		check("the cost of finite samples", run.bound(beta), c.limit(beta)+sampleCost(c.chain())/teff)
	}
}

// overSequences returns the mean of h, a function of the query and of the prediction, over the
// sequences of a short chain.
func (c trainedChain) overSequences(beta float64, h func(s int, f [2]float64) float64) float64 {
	mean := 0.0
	for x, chance := range exact.Sequences(graph.Chain(c.t), c.pi) {
		query, total, f := x[c.t-1], 0.0, [2]float64{}
		for i, a := range x {
			z := instruments.Indicator(x[max(i-1, 0)] == query)
			if i == c.t-1 {
				z = c.pull
				for _, b := range x[:i] {
					z += (1 - c.pull) * instruments.Indicator(b == query) / float64(i)
				}
			}
			v := math.Exp(beta * z)
			f[a], total = f[a]+v, total+v
		}
		mean += exact.Float(chance) * h(query, [2]float64{f[0] / total, f[1] / total})
	}
	return mean
}
