package sampler

import (
	"math"
	"testing"
)

// Where it fails, logarithms of the powers find the measure, also where powers
// underflow; rows that underflow are scaled.
func TestBlocksWhereEntriesUnderflow(t *testing.T) {
	r := NewRows(2, 0.001, 1)
	y := make([]float64, 4*Lanes)
	logs := []float64{-900, -2000, -1700, -800} // of pi(0|0), pi(1|0), pi(0|1), pi(1|1)
	for k := range y {
		y[k] = math.Exp(logs[k/Lanes] / 1000)
	}
	x, sums, mu := make([]float64, 2*Lanes), make([]float64, 2*Lanes), make([]float64, 2*Lanes)
	r.rescale(3, y[:2*Lanes], x, sums)
	if x[3] != 1 || math.Abs(x[Lanes+3]/math.Exp(-1100)-1) > 1e-10 || sums[3] != 1 || sums[Lanes+3] != 1 || x[4] != 0 {
		t.Errorf("rescaled row %v with sums %v", x, sums)
	}
	r.measureByLogarithms(mu, y, 3)
	// mu(0) pi(1|0) = mu(1) pi(0|1) with rows normalised: log(mu(0)/mu(1)) = -900 + 1100
	if got := math.Log(mu[Lanes+3]); mu[3] != 1 || math.Abs(got+200) > 1e-9 || mu[4] != 0 {
		t.Errorf("measure %v", mu)
	}
}
