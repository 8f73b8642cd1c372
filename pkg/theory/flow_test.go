package theory_test

import (
	"math"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// With one entry above the others, h = (1, 0, ..., 0), the time to attention p
// is known: dS/dt = S^2 (1-S)^2 n/(n-1) for n positions.
func TestRowFlowOfOneLeader(t *testing.T) {
	const n, p = 50, 0.9
	h := make([]float64, n)
	h[0] = 1
	// The antiderivative of 1/(S^2 (1-S)^2) is 2 log(S/(1-S)) - 1/S + 1/(1-S).
	f := func(s float64) float64 { return 2*num.Log(s/(1-s)) - 1/s + 1/(1-s) }
	want := (f(p) - f(1.0/n)) * (n - 1) / n
	got, _ := theory.RowFlow(h, math.Inf(1), func(_ float64, s []float64) bool { return s[0] >= p })
	if math.Abs(got/want-1) > 0.05 {
		t.Errorf("time %v, want %v", got, want)
	}
}

// The weight of mu in the mixture, also where e^beta is large.
func TestWeightOfMuIsEnclosed(t *testing.T) {
	point := exact.Point
	for _, at := range [][3]string{{"2/3", "1/4", "1/2"}, {"1/3", "9/10", "3"}, {"1/3", "1/4", "600"}, {"2/3", "9/10", "600"}} {
		mu, r, beta := exact.Rat(at[0]), exact.Rat(at[1]), exact.Rat(at[2])
		one := exact.Frac(1, 1)
		keep := exact.Sub(one, r)
		rest := point(keep).Add(point(r).Mul(point(exact.Mul(beta, mu)).Exp()))
		weight := rest.Quo(rest.Add(point(exact.Mul(keep, mu)).Mul(point(beta).Exp().Sub(point(one)))))
		got := theory.MixtureWeight(exact.Float(mu), exact.Float(r), exact.Float(beta))
		if math.Abs(got/weight.Float()-1) > 1e-12 {
			t.Errorf("the weight of mu is %v, want %v", got, weight)
		}
	}
}
