package theory

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
)

// agree reports whether a and b agree to a relative error of tol, or both are
// nearly zero.
func agree(a, b, tol float64) bool {
	return a == b || math.Abs(a-b) <= tol*max(math.Abs(a), math.Abs(b)) || math.Abs(a-b) < 1e-300
}

// twins returns chains and the rational matrices that have the same entries:
// generic ones, one that nearly mixes in a step, one that nearly does not mix,
// and one with a light state.
func twins(t *testing.T) ([]*Chain, []exact.Matrix) {
	t.Helper()
	// Dyadic entries, so that floats and rationals are the same matrix.
	texts := []string{
		"1/2 1/4 1/4; 1/8 3/4 1/8; 1/4 1/2 1/4",
		"3/4 1/4; 1/8 7/8",
		"1/8 3/8 1/4 1/4; 1/2 1/8 1/8 1/4; 1/4 1/4 1/4 1/4; 1/16 1/16 3/8 1/2",
		"1048577/2097152 1048575/2097152; 1048575/2097152 1048577/2097152",
		"1048575/1048576 1/1048576; 1/524288 524287/524288",
		"1/1024 511/1024 1/2; 1/1024 1/2 511/1024; 1/2 1/4 1/4",
		"1/1024 1022/1024 1/1024; 1/1024 1/1024 1022/1024; 1022/1024 1/1024 1/1024",
	}
	var cs []*Chain
	var ms []exact.Matrix
	for _, text := range texts {
		m := exact.Rats(text)
		cs, ms = append(cs, MustChain(m.Floats(), len(m))), append(ms, m)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		s := 2 + r.IntN(4)
		x := make([]float64, s*s)
		for row := 0; row < s*s; row += s {
			left := 1.0
			for k := range s - 1 {
				v := float64(1+r.IntN(1<<18)) / (1 << 20)
				x[row+k] = v
				left -= v
			}
			x[row+s-1] = left
		}
		cs, ms = append(cs, MustChain(x, s)), append(ms, exact.FromFloats(x, s))
	}
	return cs, ms
}

func TestChainAgreesWithRationals(t *testing.T) {
	cs, ms := twins(t)
	for k, c := range cs {
		if want := exact.Float(exact.FrobeniusSquared(ms[k])); !agree(c.FrobeniusSquared(), want, 1e-9) {
			t.Errorf("chain %d: |B|_F^2 = %v, want %v", k, c.FrobeniusSquared(), want)
		}
		if want := exact.Float(exact.Alpha(ms[k])); !agree(c.Alpha(), want, 1e-14) {
			t.Errorf("chain %d: alpha = %v, want %v", k, c.Alpha(), want)
		}
		lambda := c.Lambda()
		if above := new(big.Rat).SetFloat64(lambda * (1 + 1e-9)); !exact.LambdaAtMost(ms[k], above) {
			t.Errorf("chain %d: lambda is above %v", k, lambda)
		}
		if below := new(big.Rat).SetFloat64(lambda * (1 - 1e-9)); exact.LambdaAtMost(ms[k], below) {
			t.Errorf("chain %d: lambda is below %v", k, lambda)
		}
		gamma := c.Gamma()
		if err := exact.CheckGamma(ms[k], new(big.Rat).SetFloat64(gamma*(1-1e-9))); err != nil {
			t.Errorf("chain %d: below the supremum of gamma: %v", k, err)
		}
		if exact.CheckGamma(ms[k], new(big.Rat).SetFloat64(gamma*(1+1e-9))) == nil {
			t.Errorf("chain %d: gamma may be above %v", k, gamma)
		}
	}
}

// The paper's formula for B^k holds for k >= 1, and not for k = 0.
func TestPowersOfBArePowersOfPi(t *testing.T) {
	cs, _ := twins(t)
	for n, c := range cs {
		for k := range 6 {
			p, b, holds := c.Power(k), mat.NewDense(c.S, c.S, power(c.B(), k)), true
			for s := range c.S {
				for u := range c.S {
					want := math.Sqrt(c.Mu[s]/c.Mu[u]) * (p.At(s, u) - c.Mu[u])
					holds = holds && math.Abs(b.At(s, u)-want) < 1e-11
				}
			}
			if holds != (k > 0) {
				t.Errorf("chain %d: the formula for B^%d holds: %v", n, k, holds)
			}
		}
	}
}

func TestReducibleChainIsRefused(t *testing.T) {
	for _, pi := range [][]float64{{1, 0, 0, 1}, {1, 0, 0.5, 0.5}, {0.5, 0.4, 0.5, 0.5}} {
		if _, err := NewChain(pi, 2); err == nil {
			t.Errorf("NewChain accepts %v", pi)
		}
	}
}
