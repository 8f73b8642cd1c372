package theory

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/exact"
)

// ghat(beta) of the floats lies within 1e-12 of the enclosure of the printed
// formula, also near pi = 1 mu^T and for large beta.
func TestGHatBetaAgreesWithEnclosures(t *testing.T) {
	cs, ms := twins(t)
	for k, c := range cs {
		for _, r := range []float64{0, 0.25, 0.9375} {
			for _, beta := range []float64{0, 0.5, 4, 20, 50} {
				want := exact.GHat(ms[k], new(big.Rat).SetFloat64(r), new(big.Rat).SetFloat64(beta))
				got := c.GHatBeta(r, beta)
				// The stationary measure itself is a float: where pi - mu is
				// small beside mu it carries no more digits than that.
				tol := 1e-11 / min(1, math.Sqrt(c.FrobeniusSquared()))
				if !agree(got, want.Float(), tol) || want.Lo.Sign() <= 0 {
					t.Errorf("chain %d, r = %v: ghat(%v) = %v, want %v", k, r, beta, got, want)
				}
			}
		}
		if got := c.GHatBeta(1, 3); got != 0 {
			t.Errorf("chain %d: without edges ghat is %v", k, got)
		}
	}
}

// hAsPrinted encloses h_s(z) of Lemma 11 (lem-bound-ghat) for mu = mu_pi(s).
func hAsPrinted(mu, r, beta, z *big.Rat) exact.Interval {
	one, at, rest := exact.Point(exact.Frac(1, 1)), exact.Point(z), exact.Point(exact.Sub(exact.Frac(1, 1), r))
	e, eMu := exact.Point(beta).Exp(), exact.Point(exact.Mul(beta, mu)).Exp()
	a, b := rest.Mul(e), exact.Point(r).Mul(eMu)
	c, d := rest.Mul(e.Sub(one)).Mul(exact.Point(mu)), rest.Add(b)
	return a.Mul(at).Add(b).Mul(at).Quo(c.Mul(at).Add(d)).Sub(a.Add(b).Quo(c.Add(d)))
}

func TestExcessAgreesWithEnclosures(t *testing.T) {
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	for _, mu := range []float64{0.125, 0.5, 0.96875} {
		for _, r := range []float64{0, 0.25, 0.875} {
			for _, beta := range []float64{0, 1, 6} {
				h := newHS(mu, 1-mu, r, beta)
				at := func(z *big.Rat) exact.Interval { return hAsPrinted(rat(mu), rat(r), rat(beta), z) }
				// A difference of enclosures of width 1e-58 is the slope at one
				// to e^2 times the third derivative.
				one, e := rat(1), exact.Frac(1, 1<<40)
				right, left := at(new(big.Rat).Add(one, e)), at(new(big.Rat).Sub(one, e))
				slope := right.Sub(left).Quo(exact.Point(new(big.Rat).Add(e, e)))
				for _, d := range []float64{-0.5, 0, 0.25, 7} {
					want := at(rat(1 + d)).Sub(slope.Mul(exact.Point(rat(d)))).Float()
					if got := h.excess(d); math.Abs(got-want) > 1e-12*math.Abs(want)+1e-20 {
						t.Errorf("mu = %v, r = %v, beta = %v: h(%v) has %v above its tangent, want %v", mu, r, beta, 1+d, got, want)
					}
				}
			}
		}
	}
}

// Where D underflows it cancels at zero, and where C does too nothing is left.
func TestExcessWhereWeightsUnderflow(t *testing.T) {
	for _, c := range []struct {
		h       hs
		d, want float64
	}{{hs{c: 2, det: 3}, -1, 0.75}, {hs{det: 3}, -1, 0}, {hs{c: 1, d: 1, det: 2}, 1, 1. / 6}} {
		if got := c.h.excess(c.d); got != c.want {
			t.Errorf("%+v has %v above its tangent at %v, want %v", c.h, got, 1+c.d, c.want)
		}
	}
}

func TestBetaStarInvertsItsDefinition(t *testing.T) {
	b := BetaStar(2, 100, 400)
	if two := BetaStar(1, 2, 2); !agree(math.Exp(two), math.Pow(2, 1.0/12)*math.Pow(math.Ln2, -1.0/6), 1e-14) {
		t.Errorf("exp(beta*) of two positions is %v", math.Exp(two))
	}
	if want := 2 * math.Pow(100, 1.0/12) * math.Pow(math.Log(400), -1.0/6); !agree(math.Exp(b), want, 1e-14) {
		t.Errorf("exp(beta*) = %v, want %v", math.Exp(b), want)
	}
}
