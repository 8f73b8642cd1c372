package ledger

import (
	"math"
	"math/rand/v2"
	"testing"

	"learncausal/pkg/exact"
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
			pi := Kernel(x, s, 0.1)
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

func TestParametersAreThoseOfTheKernel(t *testing.T) {
	pi := []float64{0.5, 0.3, 0.2, 0.11, 0.59, 0.3, 0.2, 0.4, 0.4}
	for k, p := range Kernel(Parameters(pi, 0.1), 3, 0.1) {
		if math.Abs(p-pi[k]) > 1e-15 {
			t.Errorf("entry %d is %v, want %v", k, p, pi[k])
		}
	}
}

func TestSmallestKernelRunsThroughAll(t *testing.T) {
	n := 0
	if SmallestKernel(3, 4, func(pi exact.Matrix) bool { n++; return exact.CheckRows(pi) != nil }) != nil {
		t.Error("a row that is no probability vector")
	}
	if n != 1+27 { // one with thirds, 3^3 with quarters
		t.Errorf("%d positive matrices over 3 states with denominators 3 and 4, want 28", n)
	}
}

func TestTrendFindsThePower(t *testing.T) {
	d := Trend{X: []float64{16, 32, 64, 128}, Y: []float64{8, 4, 2, 1}} // 128 / x
	slope, half := d.Exponent()
	if math.Abs(slope+1) > 1e-12 || half > 1e-12 {
		t.Errorf("slope %v ± %v, want -1 exactly", slope, half)
	}
	d.Y[1] = 5
	if _, half = d.Exponent(); half < 0.01 {
		t.Errorf("an interval of ±%v for points off the line", half)
	}
}

func TestTrendDecidesOnlyWhatTheDataTell(t *testing.T) {
	x := []float64{16, 64, 256, 1024}
	power := func(of float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = math.Pow(x[i], of)
		}
		return y
	}
	noisy := power(-0.5)
	noisy[0], noisy[1] = noisy[0]/8, noisy[1]*4
	for _, c := range []struct {
		what           string
		y              []float64
		claimed, rival float64
		want           Verdict
	}{
		{"the claimed rate", power(-0.5), -0.5, -1, Consistent},
		{"a slower one", power(-0.49), -0.5, -1, Inconsistent},
		{"a growth where none is claimed", power(0.006), 0, -0.1, Inconsistent},
		{"faster than the rival", power(-1), -0.5, -1, Open},
		{"much scatter", noisy, -0.5, -1, Open},
		{"no change", power(0), 0.5, -0.5, Open},
		{"no change, none claimed", power(0), 0, -0.1, Consistent},
		{"no number", []float64{1, math.NaN(), 1, 1}, 0, -0.1, Inconsistent},
	} {
		f := Trend{X: x, Y: c.y, Claimed: c.claimed, Rival: c.rival}.Finding()
		if f.Verdict != c.want {
			t.Errorf("%s: %s, want %s (%s)", c.what, f.Verdict, c.want, f.Note)
		}
	}
}
