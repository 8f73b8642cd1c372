package exact

import (
	"fmt"
	"math/big"

	"learncausal/pkg/graph"
)

// A StageTwo has the quantities of stage 2 for one sequence X with the query S and the
// token A, called s and s' in the paper. In the first layer position i attends to
// Attend[i], or equally to the positions 0..i if Attend[i] is negative.
type StageTwo struct {
	Graph  *graph.Forest
	Pi     Matrix
	Mu     Vector // stationary
	Attend []int
	Beta   Beta
	Eps    *big.Rat
	X      []int
	S, A   int
}

// NewStageTwo returns stage 2 without a sequence, at the beta with e^(beta/d) = root, where d is the least
// denominator for which all e^(beta z) are rational. It panics unless pi has a positive stationary measure over
// two states or more, root > 0, and attend has one position of at most i for each position i of the graph.
func NewStageTwo(g *graph.Forest, pi Matrix, attend []int, root, eps *big.Rat) StageTwo {
	if len(attend) != g.T() {
		panic(fmt.Sprintf("exact: %d positions attend, want %d", len(attend), g.T()))
	}
	mu := positive(pi)
	scores := append(Vector{}, mu...)
	for i, j := range attend {
		if j > i {
			panic(fmt.Sprintf("exact: position %d attends to position %d, want an earlier one", i, j))
		}
		if j < 0 {
			scores = append(scores, Frac(1, int64(i+1)))
		}
	}
	return StageTwo{Graph: g, Pi: pi, Mu: mu, Attend: attend, Beta: NewBeta(root, scores...), Eps: eps}
}

// Score returns z~(X;s)_i, the attention of position i to tokens s.
func (c StageTwo) Score(i int) *big.Rat {
	if j := c.Attend[i]; j >= 0 {
		return Indicator(c.X[j] == c.S)
	}
	return frequency(c.S, c.X[:i+1])
}

// Sums returns the means over i of e^(beta z_i), e^(beta z_i) z_i,
// e^(beta z_i) 1{x_i = s'} and e^(beta z_i) z_i 1{x_i = s'}.
func (c StageTwo) Sums() (v, vz, hit, hitZ *big.Rat) {
	v, vz, hit, hitZ = new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	t := Int(c.Graph.T())
	for i, x := range c.X {
		z := c.Score(i)
		e := Quo(c.Beta.Exp(z), t)
		v.Add(v, e)
		vz.Add(vz, Mul(e, z))
		if x == c.A {
			hit.Add(hit, e)
			hitZ.Add(hitZ, Mul(e, z))
		}
	}
	return v, vz, hit, hitZ
}

// Errors returns epsilon and the errors E_1, ..., E_7 of the proofs of Lemmas 30 to 32 (lem-concentrate-e3,
// lem-concentrate-e12, lem-f-to-pi), means over all positions of a term that is zero outside the stated ones:
//
//	E_1  1{x_p(i) = s} - mu(s)                                 children
//	E_2  e^(beta z_i) z_i - e^(beta mu(s)) mu(s)               roots
//	E_3  e^(beta z_i) - e^(beta mu(s))                         roots
//	E_4  1{x_p(i) = s, x_i = s'} - mu(s) pi(s'|s)              children
//	E_5  1{x_i = s'} - mu(s')                                  children
//	E_6  e^(beta z_i) z_i 1{x_i = s'} - e^(beta mu(s)) mu(s) mu(s')   roots
//	E_7  e^(beta z_i) 1{x_i = s'} - e^(beta mu(s)) mu(s')      roots
func (c StageTwo) Errors() [8]*big.Rat {
	var sum [8]*big.Rat
	for n := range sum {
		sum[n] = new(big.Rat)
	}
	add := func(n int, value, limit *big.Rat) {
		sum[n].Add(sum[n], Quo(Sub(value, limit), Int(c.Graph.T())))
	}
	mu, to := c.Mu[c.S], c.Mu[c.A]
	em := c.Beta.Exp(mu)
	for i, x := range c.X {
		hit := Indicator(x == c.A)
		if p := c.Graph.Parent(i); p >= 0 {
			parent := Indicator(c.X[p] == c.S)
			add(1, parent, mu)
			add(4, Mul(parent, hit), Mul(mu, c.Pi[c.S][c.A]))
			add(5, hit, to)
			continue
		}
		z := c.Score(i)
		e := c.Beta.Exp(z)
		add(2, Mul(e, z), Mul(em, mu))
		add(3, e, em)
		add(6, Mul(Mul(e, z), hit), Mul(Mul(em, mu), to))
		add(7, Mul(e, hit), Mul(em, to))
	}
	sum[0] = c.Eps
	return sum
}

// A Quotient is a quantity of stage 2 for one sequence with its limit A2/B2 for long sequences. Below is B2.
type Quotient struct{ Value, Limit, Below *big.Rat }

// limits returns the terms of [Beta.E12Terms] for s, p = pi(s'|s) and to = mu(s').
func (c StageTwo) limits(p, to *big.Rat) (above, below *big.Rat) {
	r := Frac(int64(len(c.Graph.Roots())), int64(c.Graph.T()))
	return c.Beta.E12Terms(p, c.Mu[c.S], to, r)
}

// E3 returns E3_s(X), the mean of z_i under the softmax of beta z.
func (c StageTwo) E3() Quotient {
	v, vz, _, _ := c.Sums()
	above, below := c.limits(Int(1), Int(1))
	return Quotient{Quo(vz, v), Quo(above, below), below}
}

// E12 returns E1_ss'(X)/(E2_ss'(X) + epsilon), where E1 is the mean of z_i 1{x_i = s'}
// and E2 the mean of 1{x_i = s'} under the softmax of beta z.
func (c StageTwo) E12() Quotient {
	v, _, hit, hitZ := c.Sums()
	above, below := c.limits(c.Pi[c.S][c.A], c.Mu[c.A])
	value := Quo(Quo(hitZ, v), Add(Quo(hit, v), c.Eps))
	return Quotient{value, Quo(above, below), below}
}

// F returns f(X;s)_s', the output of the transformer.
func (c StageTwo) F() Quotient {
	v, _, hit, _ := c.Sums()
	_, above := c.limits(c.Pi[c.S][c.A], c.Mu[c.A])
	_, below := c.limits(Int(1), Int(1))
	return Quotient{Quo(hit, v), Quo(above, below), below}
}
