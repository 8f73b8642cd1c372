package exact

import (
	"fmt"
	"math/big"
)

// A Dual is a dual number X + D t with t^2 = 0: a value with its derivative.
type Dual struct{ X, D *big.Rat }

// NewDual returns x + d t.
func NewDual(x, d *big.Rat) Dual { return Dual{x, d} }

// Add returns a + b.
func (a Dual) Add(b Dual) Dual { return Dual{Add(a.X, b.X), Add(a.D, b.D)} }

// Mul returns a b.
func (a Dual) Mul(b Dual) Dual { return Dual{Mul(a.X, b.X), Add(Mul(a.X, b.D), Mul(a.D, b.X))} }

// Quo returns a / b. It panics if b.X is zero.
func (a Dual) Quo(b Dual) Dual {
	x := Quo(a.X, b.X)
	return Dual{x, Quo(Sub(a.D, Mul(x, b.D)), b.X)}
}

// Normalized returns weights divided by their sum: the softmax of their logarithms. It
// panics if the sum is zero.
func Normalized(weights Vector) Vector {
	sum := Dot(weights)
	return entries(len(weights), func(i int) *big.Rat { return Quo(weights[i], sum) })
}

// Hadamard returns the entrywise product of u and w. It panics unless they are equally long.
func Hadamard(u, w Vector) Vector {
	sameLength(u, w)
	return entries(len(u), func(i int) *big.Rat { return Mul(u[i], w[i]) })
}

// SubScaled returns u - c v. It panics unless u and v are equally long.
func SubScaled(u Vector, c *big.Rat, v Vector) Vector {
	sameLength(u, v)
	return entries(len(u), func(i int) *big.Rat { return Sub(u[i], Mul(c, v[i])) })
}

// ScoreGradient returns |grad q(z)|_1 (Lemma 25, lem-compare-shift) by dual numbers from the
// definition of q, with dp_j/dz_k = beta p_j (1{j=k} - p_k):
//
//	q = (sum_hits p_j z_j - sum_hits p_j sum_k p_k z_k) / (sum_hits p_j + eps)
//
// for weights p, scores z and the positions that hit. It panics unless these are equally
// long, and if the denominator is zero.
func ScoreGradient(beta, eps *big.Rat, p, z Vector, hit []bool) *big.Rat {
	sameLength(p, z)
	if len(hit) != len(p) {
		panic(fmt.Sprintf("exact: %d weights and %d marks of hits, want as many of each", len(p), len(hit)))
	}
	norm := new(big.Rat)
	for k, pk := range p {
		zero := new(big.Rat)
		hits, hitScores, scores := Dual{zero, zero}, Dual{zero, zero}, Dual{zero, zero}
		for j, pj := range p {
			own := Indicator(j == k)
			weight := Dual{pj, Mul(beta, Mul(pj, Sub(own, pk)))}
			score := weight.Mul(Dual{z[j], own})
			scores = scores.Add(score)
			if hit[j] {
				hits, hitScores = hits.Add(weight), hitScores.Add(score)
			}
		}
		above := hitScores.Add(Dual{Int(-1), zero}.Mul(hits.Mul(scores)))
		norm.Add(norm, Abs(above.Quo(hits.Add(Dual{eps, zero})).D))
	}
	return norm
}
