package exact

import (
	"fmt"
	"math/big"
)

// A Beta is the beta of stage 2 with e^(beta/Denominator) = Root. So e^(beta z) is
// rational for all multiples z of 1/Denominator.
type Beta struct {
	Root        *big.Rat
	Denominator int64
}

// NewBeta returns the beta with e^(beta/d) = root, where d is the least common
// denominator of the scores. It panics unless root > 0.
func NewBeta(root *big.Rat, scores ...*big.Rat) Beta {
	if root.Sign() <= 0 {
		panic(fmt.Sprintf("exact: e^(beta/d) = %v, want a positive number", root.RatString()))
	}
	d := big.NewInt(1)
	for _, z := range scores {
		common := new(big.Int).GCD(nil, nil, d, z.Denom())
		d.Div(new(big.Int).Mul(d, z.Denom()), common)
	}
	return Beta{root, d.Int64()}
}

// Exp returns e^(beta z). It panics unless beta = 0, or z >= 0 is a multiple of 1/Denominator.
func (b Beta) Exp(z *big.Rat) *big.Rat {
	if b.Root.Cmp(Int(1)) == 0 {
		return b.Root
	}
	k := Mul(z, Int(b.Denominator))
	if !k.IsInt() || !k.Num().IsInt64() {
		panic(fmt.Sprintf("exact: e^(beta %s), want a multiple of 1/%d", z.RatString(), b.Denominator))
	}
	return Pow(b.Root, int(k.Num().Int64()))
}

// E12Terms returns the numerator and denominator of the limit of E1/E2 in stage 2,
// eq. (39), for p = pi(s'|s), mu = mu(s), to = mu(s') and the fraction r of roots:
//
//	above = (1-r) e^beta mu p + r e^(beta mu) mu to
//	below = (1-r) (e^beta - 1) mu p + (1-r) to + r e^(beta mu) to
//
// With p = to = 1 it is the limit of E3, eq. (40). The limit of f is the quotient of the
// two denominators. It panics unless mu is a multiple of 1/Denominator.
func (b Beta) E12Terms(p, mu, to, r *big.Rat) (above, below *big.Rat) {
	one := Int(1)
	e, rest := b.Exp(one), Sub(one, r)
	roots := Mul(Mul(r, b.Exp(mu)), to)
	above = Add(Mul(Mul(rest, e), Mul(mu, p)), Mul(roots, mu))
	below = Add(Add(Mul(Mul(rest, Sub(e, one)), Mul(mu, p)), Mul(rest, to)), roots)
	return above, below
}

// GHat returns the idealized gradient of stage 2 for one transition matrix by its definition in the appendix,
// from the limits of E1/E2 and of E3:
//
//	1/(S(S-1)) sum_s (sum_s' pi(s'|s) lim E1/E2 - lim E3)
//
// It panics unless mu is positive, S >= 2, 0 <= r <= 1 and the entries of mu are multiples of 1/Denominator.
func (b Beta) GHat(pi Matrix, r *big.Rat) *big.Rat {
	fraction("r", r)
	mu, one, sum, n := positive(pi), Int(1), new(big.Rat), int64(len(pi))
	for s := range pi {
		for t, p := range pi[s] {
			above, below := b.E12Terms(p, mu[s], mu[t], r)
			sum.Add(sum, Mul(p, Quo(above, below)))
		}
		above, below := b.E12Terms(one, mu[s], one, r)
		sum.Sub(sum, Quo(above, below))
	}
	return Quo(sum, Int(n*(n-1)))
}
