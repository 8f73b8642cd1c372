package theory

import (
	"fmt"
	"math"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// hs is the convex function h_s of Lemma 11 (lem-bound-ghat) for a state with
// mu = mu_pi(s), a fraction r of roots, and inverse temperature beta:
//
//	h_s(z) = (A z^2 + B z)/(C z + D) - (A + B)/(C + D)
//	A = (1-r) e^beta              B = r e^(beta mu)
//	C = (1-r) (e^beta - 1) mu     D = 1 - r + r e^(beta mu)
//
// All four may be divided by e^beta, so that no beta >= 0 overflows.
type hs struct {
	c, d, det float64 // divided by e^beta; det = AD - BC, a sum of positive terms
}

// newHS takes rest = 1 - mu apart, which may be known better than mu. It
// panics unless 0 <= r <= 1 and beta is finite and not negative.
func newHS(mu, rest, r, beta float64) hs {
	if !(r >= 0 && r <= 1 && beta >= 0 && beta <= math.MaxFloat64) {
		panic(fmt.Sprintf("theory: stage 2 with r = %v, beta = %v, want 0 <= r <= 1 and a finite beta >= 0", r, beta))
	}
	small, b := math.Exp(-beta), float64(r*math.Exp(-beta*rest))
	return hs{
		c:   (1 - r) * -math.Expm1(-beta) * mu,
		d:   float64((1-r)*small) + b,
		det: (1 - r) * (float64((1-r)*small) + float64(b*(rest+float64(mu*small)))),
	}
}

// excess returns the difference of h_s(1+d) and its tangent at one,
//
//	h_s(1+d) - h_s'(1) d = D (AD-BC) d^2 / ((C+D)^2 (C(1+d)+D))
//
// a product of numbers that are not negative.
func (h hs) excess(d float64) float64 {
	sum := h.c + h.d
	if sum == 0 {
		return 0
	}
	below := float64(h.c*(1+d)) + h.d
	if below == 0 { // d = -1 and D underflows, which cancels
		return h.det / sum / sum
	}
	return h.d / sum * (h.det / sum) / below * d * d
}

// GHatBeta returns the idealized gradient of stage 2 for one transition matrix, the term of ghat(beta) before
// the expectation (Lemma 11, lem-bound-ghat):
//
//	ghat(beta; pi) = 1/(S(S-1)) sum_s mu(s) sum_s' mu(s') h_s(pi(s'|s)/mu(s'))
//
// where r = |R|/T is the fraction of roots. The tangents of h_s at one cancel in the sum over s', so each h_s
// is replaced by its excess over it, and the value keeps its relative accuracy where pi is near 1 mu^T and for
// beta of any size. It is zero for r = 1. It panics unless 0 <= r <= 1 and beta is finite and not negative.
func (c *Chain) GHatBeta(r, beta float64) float64 {
	sum := 0.0
	for s := range c.S {
		rest := 0.0
		for t, m := range c.Mu {
			if t != s {
				rest += m
			}
		}
		h := newHS(c.Mu[s], rest, r, beta)
		for t, m := range c.Mu {
			sum += float64(c.Mu[s] * m * h.excess((c.Pi.At(s, t)-m)/m))
		}
	}
	return sum / float64(c.S*(c.S-1))
}

// GHatBeta returns ghat(beta) = E_pi[ghat(beta; pi)] on the graph, which determines r
// (Lemma 11, lem-bound-ghat). Its panics are Chain.GHatBeta's.
func GHatBeta(p *markov.Finite, g *graph.Forest, beta float64) float64 {
	r := g.RootFraction()
	return Mean(p, func(c *Chain) float64 { return c.GHatBeta(r, beta) })
}

// BetaStar returns the beta* up to which Lemma 10 (thm-stage2-lower) claims growth,
//
//	exp(beta*) = constant T_eff^(1/12) log^(-1/6) T
//
// where the paper leaves the constant open. It may be negative. It panics unless
// the constant is positive and finite, 1 <= T_eff <= T, and T >= 2.
func BetaStar(constant, tEff float64, t int) float64 {
	if !(constant > 0 && constant <= math.MaxFloat64 && t >= 2 && tEff >= 1-1e-9 && tEff <= float64(t)*(1+1e-9)) {
		panic(fmt.Sprintf("theory: beta* for the constant %v, T_eff = %v and T = %d, "+
			"want a positive one, 1 <= T_eff <= T and T >= 2", constant, tEff, t))
	}
	return math.Log(constant) + math.Log(tEff)/12 - math.Log(math.Log(float64(t)))/6
}
