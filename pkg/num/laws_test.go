package num_test

import (
	"math"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/num"
)

func TestCosPiIsTheCosine(t *testing.T) {
	for k := range 1001 {
		x := float64(k) / 1000
		if got, want := num.CosPi(x), math.Cos(math.Pi*x); !(math.Abs(got-want) < 1e-15) {
			t.Errorf("CosPi(%v) is %v, want %v", x, got, want)
		}
	}
	property.Refuses(t, "num", map[string]func(){
		"CosPi below 0":         func() { num.CosPi(-1e-300) },
		"CosPi above 1":         func() { num.CosPi(math.Nextafter(1, 2)) },
		"CosPi of NaN":          func() { num.CosPi(math.NaN()) },
		"softmax into 1":        func() { num.Softmax(make([]float64, 1), make([]float64, 2)) },
		"LogSumExp into 3 of 2": func() { num.LogSumExp(make([]float64, 3), make([]float64, 2)) },
	})
	if e, l := num.Exp(math.NaN()), num.Log(math.NaN()); !math.IsNaN(e) || !math.IsNaN(l) {
		t.Errorf("Exp and Log of NaN are %v and %v", e, l)
	}
}

// The mean of n numbers has the standard error sd/sqrt(n), with n-1 in sd; Z is their quotient.
func TestAverageByHand(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x               []float64
		mean, stderr, z float64
	}{
		{[]float64{1, 2, 3, 6}, 3, math.Sqrt(14.0 / 3 / 4), 3 / math.Sqrt(14.0/3/4)},
		{[]float64{-2, -2}, -2, 0, -inf},
		{[]float64{0, 0, 0}, 0, 0, inf},
		{[]float64{5}, 5, nan, nan},
		{nil, nan, nan, nan},
		{[]float64{inf, inf}, inf, nan, nan},
		{[]float64{inf, -inf}, nan, nan, nan},
	} {
		e := num.Average(c.x)
		for name, pair := range map[string][2]float64{
			"mean": {e.Mean, c.mean}, "standard error": {e.StdErr, c.stderr}, "Z": {e.Z(), c.z},
		} {
			got, want := pair[0], pair[1]
			if math.IsNaN(got) != math.IsNaN(want) || got == got && !property.Near(got, want, 1e-15) {
				t.Errorf("%v: %s is %v, want %v", c.x, name, got, want)
			}
		}
	}
	if z := (num.Estimate{Mean: math.Copysign(0, -1)}).Z(); !math.IsInf(z, -1) {
		t.Errorf("Z of -0 without error is %v, want -Inf", z)
	}
}

func TestStreamsOfOtherIndicesDiffer(t *testing.T) {
	a, b, other := num.Stream(1, "x", 2), num.Stream(1, "x", 2), num.Stream(1, "x", 2, 1)
	for range 100 {
		u := num.Uniform(a)
		if u != num.Uniform(b) || u == num.Uniform(other) || !(u >= 0 && u < 1) {
			t.Fatalf("draw %v repeats another stream, or does not repeat its own", u)
		}
	}
}
