package exact

import (
	"fmt"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"learncausal/pkg/graph"
)

// A Population is a graph with a uniform prior over matrices, so small that the gradients of the
// population loss are sums over all sequences. Apart has the meaning that it has in [InContext].
type Population struct {
	Graph *graph.Forest
	Pis   []Matrix
	Eps   *big.Rat
	Apart bool
}

// check panics unless there are matrices, all over as many states, and eps > 0.
func (p Population) check() {
	atLeast("the number of matrices", len(p.Pis), 1)
	for _, pi := range p.Pis {
		pi.square()
		sameLength(p.Pis[0][0], pi[0])
	}
	positiveEps(p.Eps)
}

// GHat returns row i of ghat, the gradient of stage 1 in the limit beta0 -> 0:
//
//	ghat_ij = sum_{s,s'} E[pi(s'|s) x_{j,s} (x_{i,s'} - muhat(s'))/(muhat(s') + eps)]
//
// If the query is in the sequence, the expectation is conditional on s_T = s. It panics
// unless there are matrices, all over as many states, eps > 0, and i is a position.
func (p Population) GHat(i int) Vector {
	p.check()
	index("position", i, p.Graph.T())
	row := Zero(1, i+1)[0]
	for _, o := range p.outcomes() {
		// The query is uniform: E[ . | s_T = s] has S times the probability.
		sum := Mul(Int(len(o.law)), meanExcess(o.x, i, o.law, p.Eps))
		for j := range row {
			if o.x[j] == o.query {
				row[j].Add(row[j], sum)
			}
		}
	}
	return row
}

// An outcome is a sequence and the query s, with the mean of pi(.|s) over the matrices times their
// probabilities, which is all that a gradient needs of the prior.
type outcome struct {
	x     []int
	query int
	law   Vector
}

// outcomes returns every outcome.
func (p Population) outcomes() (all []outcome) {
	for k, pi := range p.Pis {
		n := 0
		for x, chance := range Sequences(p.Graph, pi) {
			chance = Quo(chance, Int(len(p.Pis)))
			if p.Apart {
				chance = Quo(chance, Int(len(pi)))
			}
			for query, row := range pi {
				if !p.Apart && query != x[len(x)-1] {
					continue
				}
				if k == 0 {
					all = append(all, outcome{slices.Clone(x), query, Zero(1, len(pi))[0]})
				}
				all[n].law = SubScaled(all[n].law, new(big.Rat).Neg(chance), row)
				n++
			}
		}
	}
	return all
}

// meanExcess returns sum_b law(b) (1{x_i = b} - muhat(b))/(muhat(b) + eps), where
// muhat(b) is the frequency of b in x.
func meanExcess(x []int, i int, law Vector, eps *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for b, p := range law {
		f := frequency(b, x)
		sum.Add(sum, Quo(Mul(p, Sub(Indicator(x[i] == b), f)), Add(f, eps)))
	}
	return sum
}

// frequency returns the share of the tokens of x that are s.
func frequency(s int, x []int) *big.Rat {
	n := int64(0)
	for _, v := range x {
		if v == s {
			n++
		}
	}
	return Frac(n, int64(len(x)))
}

// Indicator returns 1 if b holds, and 0 otherwise.
func Indicator(b bool) *big.Rat {
	if b {
		return Int(1)
	}
	return new(big.Rat)
}

// G2 returns the gradient G2 of Lemma 4 (lem-pop-grads), S x S, with its factor 1/S. For half = exp(beta/2),
// exp(beta z) is a power of half, as the attention, T x T, has entries in {0, 1/2, 1}. For half = 1 they may be
// any. G2 panics if the attention has other entries or another size, or unless there are matrices, all over as many
// states, and eps > 0.
func (p Population) G2(attention Matrix, half *big.Rat) Matrix {
	p.check()
	s, t := len(p.Pis[0]), p.Graph.T()
	if attention.square(); len(attention) != t {
		panic(fmt.Sprintf("exact: an attention of %d rows, want %d", len(attention), t))
	}
	for i, row := range attention {
		for j, a := range row {
			if half.Cmp(Int(1)) != 0 && (a.Sign() < 0 || !Mul(a, Int(2)).IsInt()) {
				panic(fmt.Sprintf("exact: attention (%d, %d) is %s, want 0, 1/2 or 1", i, j, a.RatString()))
			}
		}
	}
	g2 := Zero(s, s)
	for _, o := range p.outcomes() {
		z := Zero(t, s)
		for i := range t {
			for j, a := range o.x[:i+1] {
				z[i][a].Add(z[i][a], attention[i][j])
			}
		}
		weights := entries(t, func(i int) *big.Rat {
			halves := Mul(z[i][o.query], Int(2))
			return Pow(half, int(halves.Num().Int64()))
		})
		pulls := pull(o.x, weights, o.law, p.Eps)
		for a := range s {
			for i, w := range pulls {
				g2[a][o.query].Sub(g2[a][o.query], Mul(z[i][a], w))
			}
		}
	}
	return g2
}

// pull returns w = J(v) X c of Lemma 4 (lem-pop-grads), for v in proportion to the weights and
// c(s') = law(s')/(f(s') + eps), where f = X^T v is the prediction.
func pull(x []int, weights, law Vector, eps *big.Rat) Vector {
	total, mean, c := Dot(weights), new(big.Rat), Zero(1, len(law))[0]
	f := Zero(1, len(law))[0]
	for i, v := range weights {
		f[x[i]].Add(f[x[i]], v)
	}
	for a := range f {
		f[a].Quo(f[a], total)
		c[a] = Quo(law[a], Add(f[a], eps))
		mean.Add(mean, Mul(c[a], f[a]))
	}
	return entries(len(x), func(i int) *big.Rat { return Quo(Mul(weights[i], Sub(c[x[i]], mean)), total) })
}

// Relabelings returns sigma^-1 pi sigma for all permutations sigma of the states.
// It panics unless pi is square.
func Relabelings(pi Matrix) []Matrix {
	pi.square()
	var out []Matrix
	s := len(pi)
	for _, sigma := range combin.Permutations(s, s) {
		out = append(out, build(s, s, func(a, b int) *big.Rat { return pi[slices.Index(sigma, a)][slices.Index(sigma, b)] }))
	}
	return out
}

// Orbits returns the relabelings of all the bases.
func Orbits(bases ...Matrix) []Matrix {
	var out []Matrix
	for _, pi := range bases {
		out = append(out, Relabelings(pi)...)
	}
	return out
}
