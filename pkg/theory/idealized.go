package theory

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// G returns the idealized gradient of Lemma 5 (thm-dpi-gap) for one transition matrix,
//
//	g_ij(pi) = sum_{s,s'} pi(s'|s)/mu(s') P[s_i = s', s_j = s] - 1
//
// for any i and j. For i other than the query it is the inner product
//
//	g_ij(pi) = sum_{s,s'} B(s,s') C(s',s)
//
// of B with the Correlation C of (s_i, s_j), in which nothing cancels; so
// g_{i,p(i)} = |B|_F^2, g_ii = trace(pi) - 1, and g_ij = 0 in different trees.
// The query is independent of the others, which gives g_Tj = 0, but
//
//	g_TT(pi) = 1/S sum_s pi(s|s)/mu(s) - 1
//
// It panics if i or j is not in 0..T-1.
func (c *Chain) G(g *graph.Forest, i, j int) float64 {
	g.Meet(i, j) // panics
	if i == g.T()-1 {
		if j != i {
			return 0
		}
		sum := 0.0
		for s := range c.S {
			sum += c.Pi.At(s, s)/c.Mu[s] - 1
		}
		return sum / float64(c.S)
	}
	b, corr := c.B(), c.Correlation(g, i, j)
	sum := 0.0
	for s := range c.S {
		for t := range c.S {
			sum += float64(b.At(s, t) * corr.At(t, s))
		}
	}
	return sum
}

// G returns the T x T matrix of g_ij = E_pi[g_ij(pi)] for j <= i, with zeros above the diagonal (Lemma 5,
// thm-dpi-gap).
//
// A prior without finite support, as [markov.Dirichlet], is replaced by [markov.Sampled]. With n draws the
// entries have a standard error below 0.8/sqrt(n) (measured at S = 3 and 5, alpha = 0.1 and 1, where g_{i,p(i)}
// is 0.3 to 1.6), so that 1000 draws are usually enough. The exception is entry (T-1, T-1): it holds
// E[1/mu(s)], which is infinite for Dirichlet rows with alpha (S-1) <= 1, and the rarest state decides the
// value of a sample. No statement uses it, as the query has no parent.
func G(p *markov.Finite, g *graph.Forest) *mat.Dense {
	m := pairs(p, g, func(c *Chain, i, j int) float64 { return c.G(g, i, j) })
	for i := range g.T() {
		for j := i + 1; j < g.T(); j++ {
			m.Set(i, j, 0)
		}
	}
	return m
}

// OptimalLoss returns L*, the mean entropy of the rows of pi in nats:
//
//	L* = -1/S E_pi[sum_{s,s'} pi(s'|s) log pi(s'|s)]
func OptimalLoss(p *markov.Finite) float64 {
	return Mean(p, func(c *Chain) float64 {
		sum := 0.0
		for _, v := range c.Pi.RawMatrix().Data {
			if v > 0 {
				sum -= float64(v * math.Log(v))
			}
		}
		return sum / float64(c.S)
	})
}
