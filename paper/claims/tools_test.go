package claims

import (
	"math"
	"math/rand/v2"
	"testing"

	"learncausal/pkg/markov"
)

func TestKernelHasStochasticRowsAboveItsFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for s := 2; s <= 4; s++ {
		for range 20 {
			x := make([]float64, s*s)
			for k := range x {
				x[k] = 10 * r.NormFloat64()
			}
			pi := kernel(x, s, 0.1)
			if err := markov.CheckRows(pi, s); err != nil {
				t.Fatal(err)
			}
			for k, p := range pi {
				if p < 0.1 {
					t.Fatalf("S = %d: entry %d is %v, below the floor", s, k, p)
				}
			}
		}
	}
}

func TestTrendFindsThePower(t *testing.T) {
	x := []float64{16, 32, 64, 128}
	y := []float64{8, 4, 2, 1} // 128 / x
	slope, half := trend(x, y)
	if math.Abs(slope+1) > 1e-12 || half > 1e-12 {
		t.Errorf("slope %v ± %v, want -1 exactly", slope, half)
	}
	y[1] = 5
	if _, half = trend(x, y); half < 0.01 {
		t.Errorf("an interval of ±%v for points off the line", half)
	}
}
