package theory

import (
	"math"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// G returns the idealized gradient of Lemma 5 (thm-dpi-gap) for one transition
// matrix,
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
func (c *Chain) G(g *graph.Forest, i, j int) float64 {
	if i == g.T()-1 {
		if j != i {
			return 0
		}
		sum := 0.0
		for s := range c.S {
			sum += c.Pi[s*c.S+s]/c.Mu[s] - 1
		}
		return sum / float64(c.S)
	}
	b, corr := c.B(), c.Correlation(g, i, j)
	sum := 0.0
	for s := range c.S {
		for t := range c.S {
			sum += float64(b[s*c.S+t] * corr[t*c.S+s])
		}
	}
	return sum
}

// G returns g_ij = E_pi[g_ij(pi)] (Lemma 5, thm-dpi-gap) for j <= i as a T x T
// matrix with zeros above the diagonal.
func G(p *markov.Finite, g *graph.Forest) []float64 {
	m := pairs(p, g, func(c *Chain, i, j int) float64 { return c.G(g, i, j) })
	for i := range g.T() {
		for j := i + 1; j < g.T(); j++ {
			m[i*g.T()+j] = 0
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
		for _, v := range c.Pi {
			if v > 0 {
				sum -= float64(v * math.Log(v))
			}
		}
		return sum / float64(c.S)
	})
}
