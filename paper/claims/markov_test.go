package claims

import (
	"math/rand/v2"
	"testing"

	"learncausal/pkg/ledger"
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
