package theory

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// Marginal returns the law of s_i, of length S: mu, or uniform for the query. It
// panics, as all that take positions, if i is not in 0..T-1.
func (c *Chain) Marginal(g *graph.Forest, i int) []float64 {
	g.Parent(i) // panics
	if i < g.T()-1 {
		return c.Mu
	}
	return slices.Repeat([]float64{1 / float64(c.S)}, c.S)
}

// Joint returns the law of (s_i, s_j) given pi, S x S, with P[s_i = a, s_j = b] at
// (a, b). In one tree, with least common ancestor k and distances d,
//
//	P = (pi^d(k,i))^T diag(mu) pi^d(k,j)
//
// and the product of the marginals otherwise. The query is a tree by itself,
// with the uniform law in place of mu.
func (c *Chain) Joint(g *graph.Forest, i, j int) *mat.Dense {
	k, toI, toJ := g.Meet(i, j)
	if k != graph.Root {
		return mat.NewDense(c.S, c.S, transposed(power(c.Pi, toI), c.Marginal(g, k), power(c.Pi, toJ)))
	}
	var p mat.Dense
	p.Outer(1, mat.NewVecDense(c.S, c.Marginal(g, i)), mat.NewVecDense(c.S, c.Marginal(g, j)))
	return &p
}

// transposed returns the entries of x^T diag(m) y for square matrices x and y.
func transposed(x, m, y []float64) []float64 {
	n, p := len(m), make([]float64, len(x))
	for s := range n {
		for a := range n {
			for b := range n {
				p[a*n+b] += float64(m[s] * x[s*n+a] * y[s*n+b])
			}
		}
	}
	return p
}

// Correlation returns the dependence of (s_i, s_j) given pi on the scale of B,
// S x S, with u and v the laws of s_i and s_j:
//
//	C(a,b) = (P[s_i = a, s_j = b] - u(a) v(b)) / sqrt(u(a) v(b))
//	       = ((B^d(k,i))^T B^d(k,j))(a,b)   at distance 1 or more in one tree
//
// zero in different trees, and I - sqrt(u) sqrt(u)^T for i = j. The powers of
// B keep the relative accuracy of entries that decay with the distance; its
// entries are at most lambda(pi)^d(i,j), by Lemma 19 (lem-covariance).
func (c *Chain) Correlation(g *graph.Forest, i, j int) *mat.Dense {
	p := make([]float64, c.S*c.S)
	k, toI, toJ := g.Meet(i, j)
	switch {
	case k == graph.Root:
	case i == j:
		u := c.Marginal(g, i)
		for a := range c.S {
			p[a*c.S+a] = 1
			for b := range c.S {
				p[a*c.S+b] -= math.Sqrt(u[a] * u[b])
			}
		}
	default:
		b := c.B()
		p = transposed(power(b, toI), slices.Repeat([]float64{1}, c.S), power(b, toJ))
	}
	return mat.NewDense(c.S, c.S, p)
}

// Information returns the f-mutual information of s_i and s_j given pi,
//
//	I_f(s_i; s_j) = D_f(P_{s_i,s_j} || P_{s_i} x P_{s_j})
//
// at any distance, zero in different trees. For chi-squared it is the squared Frobenius norm of
// Correlation. It is +Inf where f is infinite at an entry of zero, as [ReverseKL] is.
func (c *Chain) Information(f Divergence, g *graph.Forest, i, j int) float64 {
	f.check()
	if k, _, _ := g.Meet(i, j); k == graph.Root {
		return 0
	}
	u, v, corr := c.Marginal(g, i), c.Marginal(g, j), c.Correlation(g, i, j)
	sum := 0.0
	for a := range c.S {
		for b := range c.S {
			q := u[a] * v[b]
			// Rounding must not take 1+d = P/q below zero.
			d := max(corr.At(a, b)/math.Sqrt(q), -1)
			sum += float64(q * f.excess(d))
		}
	}
	return sum
}

// Information returns the pairwise mutual information given pi,
//
//	I_f(s_i; s_j | pi) = E_pi[D_f(P_{(s_i,s_j)|pi} || P_{s_i|pi} x P_{s_j|pi})]
//
// of all positions as a symmetric T x T matrix whose diagonal is I_f(s_i; s_i | pi).
func Information(f Divergence, p *markov.Finite, g *graph.Forest) *mat.Dense {
	return pairs(p, g, func(c *Chain, i, j int) float64 { return c.Information(f, g, i, j) })
}

// pairs returns the mean of f(c, i, j) for all i >= j, mirrored, which is
// evaluated once for each pair of distances from the common ancestor.
func pairs(p *markov.Finite, g *graph.Forest, f func(c *Chain, i, j int) float64) *mat.Dense {
	type shape struct {
		query    bool
		toI, toJ int
	}
	n := g.T()
	m, seen := mat.NewDense(n, n, nil), map[shape]float64{}
	for i := range n {
		for j := range i + 1 {
			_, toI, toJ := g.Meet(i, j)
			at := shape{i == n-1, toI, toJ}
			v, ok := seen[at]
			if !ok {
				v = Mean(p, func(c *Chain) float64 { return f(c, i, j) })
				seen[at] = v
			}
			m.Set(i, j, v)
			m.Set(j, i, v)
		}
	}
	return m
}
