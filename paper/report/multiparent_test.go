package report

import (
	"math"
	"testing"
)

// The bounds of 1 in 5 and 3 in 3 as tables of the Clopper-Pearson interval give
// them; 0 in n and n in n have one bound in closed form.
func TestBinomialIntervalIsThatOfTables(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{1, 5, 0.00505, 0.71642},
		{3, 3, math.Pow(0.025, 1.0/3), 1},
		{0, 5, 0, 1 - math.Pow(0.025, 1.0/5)},
	} {
		b := BinomialInterval(c.k, c.n)
		if math.Abs(b[0]-c.low) > 1e-5 || math.Abs(b[1]-c.high) > 1e-5 {
			t.Errorf("%d of %d: %v, want %v to %v", c.k, c.n, *b, c.low, c.high)
		}
	}
}
