package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/markov"
)

// A Chain is a transition matrix pi over S states with its stationary measure.
// It is made by [NewChain] or [Chains], and does not change.
type Chain struct {
	S  int
	Pi *mat.Dense // S x S, pi(s'|s) at (s, s')
	Mu []float64  // S, at least markov.MinMu
}

// NewChain returns the chain of the S x S matrix pi, S >= 2, which it keeps. There is an error where a row is
// not a probability vector, or the stationary measure is not unique or below [markov.MinMu].
func NewChain(pi []float64, states int) (*Chain, error) {
	if err := checkRows(pi, states); err != nil {
		return nil, fmt.Errorf("theory: %w", err)
	}
	c := &Chain{states, mat.NewDense(states, states, pi), make([]float64, states)}
	if err := markov.Stationary(c.Mu, pi); err != nil {
		return nil, fmt.Errorf("theory: %w", err)
	}
	if err := checkMeasure(c.Mu, states); err != nil {
		return nil, fmt.Errorf("theory: %w", err)
	}
	return c, nil
}

// MustChain is [NewChain] with a panic in place of an error, where the caller knows that pi is a chain.
func MustChain(pi []float64, states int) *Chain {
	c, err := NewChain(pi, states)
	if err != nil {
		panic(err.Error())
	}
	return c
}

// Chains returns the support of the prior. It panics, as every function of a prior without an error
// to return, unless there is at least one matrix, over S >= 2 states, the rows are probability
// vectors, the stationary measures at least [markov.MinMu], and the weights sum to one: all of
// which holds of the priors that [markov.NewFinite], [markov.NewOrbit] and [markov.Sampled] make.
func Chains(p *markov.Finite) []*Chain {
	orPanic(checkPrior(p))
	cs := make([]*Chain, len(p.Pi))
	for k := range cs {
		cs[k] = &Chain{p.States(), mat.NewDense(p.States(), p.States(), p.Pi[k]), p.Mu[k]}
	}
	return cs
}

// Mean returns the expectation of f over the prior. It is NaN where f is, for a
// matrix of positive weight or of none.
func Mean(p *markov.Finite, f func(*Chain) float64) float64 {
	sum := 0.0
	for k, c := range Chains(p) {
		sum += float64(p.Weight[k] * f(c))
	}
	return sum
}

// Power returns pi^k, S x S; the identity for k = 0. It takes time in proportion to
// k, and panics if k is negative.
func (c *Chain) Power(k int) *mat.Dense {
	return mat.NewDense(c.S, c.S, power(c.Pi, k))
}

// B returns the normalised and centered transition matrix, S x S:
//
//	B(s,s') = sqrt(mu(s)/mu(s')) (pi(s'|s) - mu(s'))
func (c *Chain) B() *mat.Dense {
	b := mat.NewDense(c.S, c.S, nil)
	for s := range c.S {
		for t := range c.S {
			b.Set(s, t, math.Sqrt(c.Mu[s]/c.Mu[t])*(c.Pi.At(s, t)-c.Mu[t]))
		}
	}
	return b
}

// FrobeniusSquared returns |B|_F^2, eq. (41), which is the chi-squared
// information of a position and its parent. It lies in [0, S-1].
func (c *Chain) FrobeniusSquared() float64 {
	b := c.B().RawMatrix().Data
	return dot(b, b)
}

// Lambda returns lambda(pi) = |B|_2, the largest singular value; the spectral
// gap is 1 - lambda (Definition 6). It lies in [0, 1].
func (c *Chain) Lambda() float64 {
	var svd mat.SVD
	if !svd.Factorize(c.B(), mat.SVDNone) {
		panic("theory: the singular values of B do not converge")
	}
	return svd.Values(nil)[0]
}

// Alpha returns the contraction coefficient of Lemma 17 (lem-contraction), in [0, 1]:
//
//	alpha(pi) = max_{j != k} 1/2 sum_s |pi(s|j) - pi(s|k)|
func (c *Chain) Alpha() float64 {
	most := 0.0
	for j := range c.S {
		for k := range j {
			sum := 0.0
			for s := range c.S {
				sum += math.Abs(c.Pi.At(j, s) - c.Pi.At(k, s))
			}
			most = max(most, sum/2)
		}
	}
	return most
}

// Gamma returns the supremum of the gamma for which the first two bullets of Assumption 1 hold, the smaller one
// of GammaBounds. The first bullet is strict: where it decides, the supremum itself does not satisfy it.
func (c *Chain) Gamma() float64 {
	entries, rows := c.GammaBounds()
	return min(entries, rows)
}

// GammaBounds returns the suprema of the gamma for which the first and the second bullet of Assumption 1 hold,
//
//	entries = S min pi(s'|s)
//	rows    = sqrt(S sum_s |pi(.|s) - mu|_2^2)
func (c *Chain) GammaBounds() (entries, rows float64) {
	least, spread := math.Inf(1), 0.0
	for s := range c.S {
		for t := range c.S {
			p := c.Pi.At(s, t)
			d := p - c.Mu[t]
			least = min(least, p)
			spread += float64(d * d)
		}
	}
	return float64(c.S) * least, math.Sqrt(float64(c.S) * spread)
}

// Gamma returns the least Gamma of the prior's chains.
func Gamma(p *markov.Finite) float64 {
	g := math.Inf(1)
	for _, c := range Chains(p) {
		g = min(g, c.Gamma())
	}
	return g
}

// power returns the entries of the k-th power of a square matrix.
func power(a *mat.Dense, k int) []float64 {
	if k < 0 {
		panic(fmt.Sprintf("theory: power %d of a matrix, want 0 or more", k))
	}
	n, _ := a.Dims()
	p := make([]float64, n*n)
	for i := range n {
		p[i*n+i] = 1
	}
	for range k {
		p = multiply(p, a.RawMatrix().Data, n)
	}
	return p
}

// multiply returns the product of two n x n matrices.
func multiply(a, b []float64, n int) []float64 {
	p := make([]float64, n*n)
	for i := range n {
		for k := range n {
			for j := range n {
				p[i*n+j] += float64(a[i*n+k] * b[k*n+j])
			}
		}
	}
	return p
}
