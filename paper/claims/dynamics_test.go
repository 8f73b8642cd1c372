package claims

import (
	"math"
	"testing"

	"learncausal/pkg/num"
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
	got, _ := rowFlow(h, math.Inf(1), func(_ float64, s []float64) bool { return s[0] >= p })
	if math.Abs(got/want-1) > 0.05 {
		t.Errorf("time %v, want %v", got, want)
	}
}
