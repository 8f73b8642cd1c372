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

// LogSumExp returns the logarithm of the sum, also where an exponential overflows or is zero.
func TestLogSumExpIsTheLogarithmOfTheSum(t *testing.T) {
	p := make([]float64, 4)
	if v := LogSumExp(p, []float64{1, -2, math.Inf(-1), 700}); v != 700 || p[2] != 0 {
		t.Errorf("log of the sum of exponentials is %v, want 700; softmax %v", v, p)
	}
	if v := LogSumExp(p[:2], []float64{0, 0}); math.Abs(v-math.Ln2) > 1e-16 || p[0] != 0.5 || p[1] != 0.5 {
		t.Errorf("LogSumExp of two zeros is %v with %v, want log 2 with halves", v, p[:2])
	}
}
