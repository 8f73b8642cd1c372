package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSoftmaxIsTheQuotientOfExponentials(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		x := make([]float64, 1+rnd.IntN(8))
		for i := range x {
			x[i] = 50 * rnd.NormFloat64()
		}
		p := make([]float64, len(x))
		Softmax(p, x)
		sum := new(big.Float).SetPrec(400)
		for _, v := range x {
			sum.Add(sum, bigExp(v))
		}
		for i, v := range x {
			want, _ := new(big.Float).Quo(bigExp(v), sum).Float64()
			// The argument of Exp is rounded: |x_i - max x| half-ulps.
			if math.Abs(p[i]-want) > 4e-14*want {
				t.Fatalf("Softmax(%v)[%d] = %v, want %v", x, i, p[i], want)
			}
		}
		Softmax(x, x)
		if !slices.Equal(x, p) {
			t.Fatalf("in place %v, want %v", x, p)
		}
	}
}

func TestSoftmaxOfExtremes(t *testing.T) {
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{1e308, 1e308}, []float64{0.5, 0.5}},
		{[]float64{-1e308, -1e308, -1e308, -1e308}, []float64{0.25, 0.25, 0.25, 0.25}},
		{[]float64{0, math.Inf(-1)}, []float64{1, 0}},
		{[]float64{-1000, 0}, []float64{0, 1}},
		{[]float64{7}, []float64{1}},
		{nil, nil},
	} {
		p := make([]float64, len(c.x))
		Softmax(p, c.x)
		if !slices.Equal(p, c.want) {
			t.Errorf("Softmax(%v) = %v, want %v", c.x, p, c.want)
		}
	}
}

// LogSumExp writes the softmax to rounding and returns the logarithm of the sum.
func TestLogSumExpAgreesWithSoftmax(t *testing.T) {
	x := []float64{1, -2, math.Inf(-1), 700}
	want, got := make([]float64, 4), make([]float64, 4)
	Softmax(want, x)
	if v := LogSumExp(got, x); v != 700 {
		t.Errorf("log of the sum of exponentials is %v, want 700", v)
	}
	for i, p := range got {
		if !(math.Abs(p-want[i]) <= 1e-16) {
			t.Errorf("entry %d is %v, want %v", i, p, want[i])
		}
	}
	if v := LogSumExp(got[:2], []float64{0, 0}); math.Abs(v-math.Ln2) > 1e-16 || got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("LogSumExp of two zeros is %v with %v, want log 2 with halves", v, got[:2])
	}
}
