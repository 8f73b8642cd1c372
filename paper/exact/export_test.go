package exact

import "math/big"

// H encloses h_s(z) of Lemma 11 (lem-bound-ghat) for mu = mu_pi(s).
func H(mu, r, beta, z *big.Rat) Interval {
	return convex(mu, r, Point(beta).Exp(), Point(Mul(beta, mu)).Exp(), z)
}
