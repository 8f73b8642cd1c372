package exact

import (
	"fmt"
	"math/big"
)

// GHat encloses the idealized gradient of stage 2 for one transition matrix,
// as Lemma 11 (lem-bound-ghat) prints it:
//
//	1/(S(S-1)) sum_s mu(s) sum_s' mu(s') h_s(pi(s'|s)/mu(s'))
//
// It panics unless mu is positive, S >= 2, 0 <= r <= 1 and 0 <= beta < 2^16.
func GHat(pi Matrix, r, beta *big.Rat) Interval {
	fraction("r", r)
	if beta.Sign() < 0 {
		panic(fmt.Sprintf("exact: beta = %v, want a number that is not negative", beta.RatString()))
	}
	mu, sum, e := positive(pi), Point(new(big.Rat)), Point(beta).Exp()
	for s := range pi {
		eMu := Point(Mul(beta, mu[s])).Exp()
		for t := range pi {
			h := convex(mu[s], r, e, eMu, Quo(pi[s][t], mu[t]))
			sum = sum.Add(Point(Mul(mu[s], mu[t])).Mul(h))
		}
	}
	n := int64(len(pi))
	return sum.Mul(Point(Frac(1, n*(n-1))))
}

// convex encloses h_s(z) of Lemma 11 (lem-bound-ghat) for mu = mu_pi(s), as printed,
// with e = e^beta and eMu = e^(beta mu):
//
//	h_s(z) = (A z^2 + B z)/(C z + D) - (A + B)/(C + D)
//	A = (1-r) e^beta              B = r e^(beta mu)
//	C = (1-r) (e^beta - 1) mu     D = 1 - r + r e^(beta mu)
func convex(mu, r *big.Rat, e, eMu Interval, z *big.Rat) Interval {
	one := Int(1)
	keep := Point(Sub(one, r))
	a, b := keep.Mul(e), Point(r).Mul(eMu)
	c, d := keep.Mul(e.Sub(Point(one))).Mul(Point(mu)), keep.Add(b)
	at := Point(z)
	first := a.Mul(at).Add(b).Mul(at).Quo(c.Mul(at).Add(d))
	return first.Sub(a.Add(b).Quo(c.Add(d)))
}
