package claims

import (
	"math/rand/v2"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

// The better bound of the notebook on Markov chains: lambda(pi)^2 is an
// eigenvalue of a reversible chain that contracts by alpha(pi) at least.
func TestSquareOfLambdaIsAtMostAlpha(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for s := 2; s <= 5; s++ {
		for k := range 300 {
			x := make([]float64, s*s)
			for i := range x {
				x[i] = r.NormFloat64() * float64(k) / 30
			}
			c := theory.MustChain(ledger.Kernel(x, s, 1e-3), s)
			if l, a := c.Lambda(), c.Alpha(); l*l > a*(1+1e-9) {
				t.Fatalf("lambda^2 = %v exceeds alpha = %v for %v", l*l, a, c.Pi)
			}
		}
	}
}

// Smaller constants do not save the printed bound on the norm: for three states
// it is off by a factor 3.6 even with gamma^2/(10 S).
func TestNormIsNotOfOrderGammaSquared(t *testing.T) {
	for _, times := range []coefficient{overS(1, 2, 1), overS(1, 10, 1)} {
		f := normOfPriors(gammaBound{times, 2, ofBoth})(ledger.NewEnv(t.Context(), lemBoundG1, true))
		if f.Verdict != ledger.Fails || f.Margin >= 0 {
			t.Errorf("with %v gamma^2 for three states the check found it %s, margin %v", times(3), f.Verdict, f.Margin)
		}
	}
}

// The closed forms of chains over two states are those of the matrices.
func TestTwoStatesEncloseTheChain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		a, b := 0.02+0.96*r.Float64(), 0.02+0.96*r.Float64()
		c, in := theory.MustChain([]float64{1 - a, a, b, 1 - b}, 2), newTwoStates(exact.At(a), exact.At(b))
		for name, of := range map[string]struct {
			in exact.Range
			x  float64
		}{"lambda": {in.lambda, c.Lambda()}, "alpha": {in.lambda, c.Alpha()}, "floor": {in.entries, floorGamma(c)}, "gamma": {in.gamma, c.Gamma()}} {
			if of.x < of.in.Lo-1e-12 || of.x > of.in.Hi+1e-12 {
				t.Errorf("%s is %v, outside of %v, for a = %v, b = %v", name, of.x, of.in, a, b)
			}
		}
	}
}
