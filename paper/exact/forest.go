package exact

import (
	"fmt"
	"math/big"
	"slices"

	"learncausal/pkg/graph"
)

// MomentsOfSum returns the mean and the variance of the sum over all positions i, the query included, of a term
// that depends on i, the state of the parent of i (-1 for a root) and the state of i. Sequences have the
// transition matrix pi and the forest g. Given s_i, the sums below different children of i are independent, so
// one pass from the leaves suffices. theory.Chain.MomentsOfSum is the same in floats.
func MomentsOfSum(pi Matrix, g *graph.Forest, term func(i, parent, own int) int) (mean, variance *big.Rat) {
	mu, n := MustStationary(pi), g.T()
	first, second := Zero(n, len(pi)), Zero(n, len(pi))
	mean, variance = new(big.Rat), new(big.Rat)
	add := func(i, x int, law Vector, m, v *big.Rat) {
		at := entries(len(law), func(y int) *big.Rat { return Add(first[i][y], Int(term(i, x, y))) })
		center := Dot(law, at)
		for y, p := range law {
			d := Sub(at[y], center)
			v.Add(v, Mul(p, Add(Mul(d, d), second[i][y])))
		}
		m.Add(m, center)
	}
	add(n-1, -1, Uniform(len(pi)), mean, variance)
	for i := n - 2; i >= 0; i-- {
		p := g.Parent(i)
		if p == graph.Root {
			add(i, -1, mu, mean, variance)
			continue
		}
		for x := range pi {
			add(i, x, pi[x], first[p][x], second[p][x])
		}
	}
	return mean, variance
}

// Uniform returns the uniform law over n states.
func Uniform(n int) Vector {
	return slices.Repeat(Vector{Frac(1, int64(n))}, n)
}

// WithTrace mixes the transition matrix pi with the identity or with a cyclic shift of
// the states, so that its trace is t. It panics unless 0 <= t <= S.
func WithTrace(pi Matrix, t *big.Rat) Matrix {
	s, shift, tr := len(pi), 0, pi.Trace()
	if t.Sign() < 0 || t.Cmp(Int(s)) > 0 {
		panic(fmt.Sprintf("exact: trace %s, want 0 to %d", t.RatString(), s))
	}
	to := Int(s) // the trace of goal
	if tr.Cmp(t) > 0 {
		shift, to = 1, new(big.Rat)
	}
	if tr.Cmp(t) == 0 {
		return pi
	}
	goal := build(s, s, func(i, j int) *big.Rat { return Indicator((i+shift)%s == j) })
	a := Quo(Sub(t, tr), Sub(to, tr))
	return pi.Sub(pi.Sub(goal).Scale(a)) // (1-a) pi + a goal
}

// LightState returns a chain over s >= 3 states that remembers only its light first state. All rows
// are (m, h, h, m, ..., m), except that the first row has h+d and h-d for the two h. The trace is
// 1. It panics unless s >= 3, m > 0 and |d| < h.
func LightState(s int, m, d *big.Rat) Matrix {
	h := Sub(Int(1), Mul(m, Int(s-2)))
	h.Quo(h, Int(2))
	if s < 3 || m.Sign() <= 0 || Abs(d).Cmp(h) >= 0 {
		panic(fmt.Sprintf("exact: a light state of %d with m = %s, d = %s", s, m.RatString(), d.RatString()))
	}
	row := slices.Repeat(Vector{m}, s)
	row[1], row[2] = h, h
	pi := build(s, s, func(_, j int) *big.Rat { return row[j] })
	pi[0][1], pi[0][2] = Add(h, d), Sub(h, d)
	return pi
}
