package num

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestAverageIsGonums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for n := 2; n < 40; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = 3 + rnd.NormFloat64()
		}
		mean, sd := stat.MeanStdDev(x, nil)
		want := Estimate{mean, stat.StdErr(sd, float64(n))}
		got := Average(x)
		if math.Abs(got.Mean-want.Mean) > 1e-14 || math.Abs(got.StdErr-want.StdErr) > 1e-14 {
			t.Errorf("n = %d: %v, want %v", n, got, want)
		}
		if z := got.Z(); math.Abs(z-want.Mean/want.StdErr) > 1e-10 {
			t.Errorf("n = %d: Z = %v", n, z)
		}
	}
	if z := (Estimate{-1, 0}).Z(); !math.IsInf(z, -1) {
		t.Errorf("-1 without error is %v standard errors", z)
	}
	if e := Average([]float64{2}); e.Mean != 2 || !math.IsNaN(e.StdErr) {
		t.Errorf("one sample: %v, want 2 and NaN", e)
	}
}
