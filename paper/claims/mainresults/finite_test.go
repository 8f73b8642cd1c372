package mainresults

import (
	"math"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/pkg/graph"
)

// The sums over pair counts of a trained chain, and the terms of the bounds, against sums over its sequences and
// against the formulas.
func TestTrainedChainAgreesWithEnumeration(t *testing.T) {
	check := compare.With(t)
	for _, m := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")} {
		c := trainedChain{pi: m, t: 6, pull: 0.3, eps: exact.Frac(7, 100), grown: exact.Frac(11, 2)}
		pi, beta, excess, rare := m.Floats(), math.Log(5.5), 0.0, 0.0
		for x, chance := range exact.Sequences(graph.Chain(6), m) {
			query, total, f, p := x[5], 0.0, [2]float64{}, exact.Float(chance)
			for i, a := range x {
				z := instruments.Indicator(x[max(i-1, 0)] == query)
				if i == 5 {
					z = 0.3 + 0.7*float64(instruments.Occurrences(query, x[:5]))/5
				}
				v := math.Exp(beta * z)
				f[a], total = f[a]+v, total+v
			}
			for to := range 2 {
				excess += p * pi[2*query+to] * math.Log(pi[2*query+to]*1.14/(f[to]/total+0.07))
			}
			rare += p * instruments.Indicator(float64(instruments.Occurrences(0, x[:4])) < 2*c.chain().Mu[0])
		}
		check("the excess loss", c.excess().Float(), excess)
		check("how often state 1 is rare", c.few(0).Float(), rare)
		check("the limit", c.limit().Float(), c.chain().ExcessInTheLimit(0, 0.07, beta))
		visits, mixing, d, u := c.deviations(1, false)
		mu, lambda := c.chain().Mu[1], math.Abs(pi[0]-pi[2])
		f := (4.5*mu*pi[2] + 1 - mu) / (4.5*mu + 1)
		check.Each("the deviations", []float64{visits, mixing, d, u[0]}, []float64{
			4 * mu, (1 + lambda) / (1 - lambda), math.Sqrt((1+lambda)/(1-lambda)*(1-mu)) + 1/math.Sqrt(mu),
			math.Sqrt(f-f*f) + math.Sqrt((1+lambda)/(1-lambda)*(1-mu)/(4.5*mu+1)) + 1/math.Sqrt(mu),
		})
	}
}

// The end of Algorithm 1 that the remarks on trained runs speak of, at T = 4096: T^(1/12) = 2.
func TestStatedEnd(t *testing.T) {
	check := compare.With(t)
	c := statedEnd(4096, exact.Frac(1, 10))
	grown := 20 / math.Pow(math.Log(4096), 1./6)
	check("exp(beta*)", c.grown.Float(), grown)
	check("the own state", c.own().Float(), math.E*grown/(math.E*grown+4095))
	rest := 4094./4096 + 2./4096*math.Sqrt(grown)
	w := rest / (rest + 4094./4096*(grown-1)/2)
	check("the weight of mu", c.weight().Float(), w)
	scale, f := 1+2./64, 0.1+0.4*w
	check("the limit", c.limit().Float(), 0.9*math.Log(0.9*scale/(1-f+1./64))+0.1*math.Log(0.1*scale/(f+1./64)))
}
