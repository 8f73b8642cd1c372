package num_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/num"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Exp Log":                           expLog,
		"CosPi":                             cosPi,
		"Softmax LogSumExp":                 softmax,
		"Average Estimate.Z":                average,
		"Stream Uniform UniformOpen Normal": streams,
	})
}

func expLog(t *rapid.T) {
	x := property.Float().Draw(t, "x")
	for name, pair := range map[string][2]float64{
		"Exp": {num.Exp(x), math.Exp(x)}, "Log": {num.Log(x), log(x)},
	} {
		got, want := pair[0], pair[1]
		switch {
		case math.IsNaN(want) != math.IsNaN(got), math.IsInf(want, 0) != math.IsInf(got, 0):
			t.Fatalf("%s(%v) is %v, want %v", name, x, got, want)
		case !math.IsNaN(want) && !math.IsInf(want, 0) && math.Abs(got-want) > 4e-16*math.Abs(want):
			t.Fatalf("%s(%v) is %v, want %v", name, x, got, want)
		}
	}
}

// log is math.Log, which on amd64 is wrong below the normal numbers.
func log(x float64) float64 {
	if x > 0 && x < 1e-300 {
		return math.Log(x*0x1p200) - 200*math.Ln2
	}
	return math.Log(x)
}

func cosPi(t *rapid.T) {
	x := property.Float().Draw(t, "x")
	var got float64
	if !property.Decide(t, x >= 0 && x <= 1, property.Refused(t, "num", func() { got = num.CosPi(x) })) {
		return
	}
	if want := math.Cos(math.Pi * x); !(math.Abs(got-want) < 1e-15) {
		t.Fatalf("CosPi(%v) is %v, want %v", x, got, want)
	}
}

func softmax(t *rapid.T) {
	x := rapid.SliceOfN(property.Float(), 0, 5).Draw(t, "x")
	dst := make([]float64, rapid.IntRange(0, 6).Draw(t, "room"))
	right := len(dst) >= len(x)
	if !property.Decide(t, right, property.Refused(t, "num", func() { num.Softmax(dst, x) })) {
		return
	}
	other := make([]float64, len(dst))
	if property.Decide(t, len(dst) == len(x), property.Refused(t, "num", func() { num.LogSumExp(other, x) })) {
		for i, p := range other {
			if !property.Near(p, dst[i], 1e-15) && p == p {
				t.Fatalf("softmax of %v is %v by LogSumExp, %v by Softmax", x, other, dst)
			}
		}
	}
	undefined, finite, sum := false, len(x) == 0, 0.0
	for _, v := range x {
		undefined = undefined || math.IsNaN(v) || math.IsInf(v, 1)
		finite = finite || !math.IsInf(v, 0)
	}
	for i, p := range dst[:len(x)] {
		if undefined || !finite {
			if !math.IsNaN(p) {
				t.Fatalf("softmax of %v is %v, want NaN everywhere", x, dst)
			}
			continue
		}
		want := 0.0
		for _, v := range x {
			want += math.Exp(v - x[i])
		}
		if !(math.Abs(p*want-1) < 1e-14 || p == 0 && want > 1e300) && !(p < 1e-300) {
			t.Fatalf("softmax of %v is %v", x, dst)
		}
		sum += p
	}
	if len(x) > 0 && !undefined && finite && !property.Near(sum, 1, 1e-14) {
		t.Fatalf("softmax of %v is %v, of sum %v", x, dst, sum)
	}
}

func average(t *rapid.T) {
	x := rapid.SliceOfN(property.Float(), 0, 6).Draw(t, "x")
	e := num.Average(x)
	n, sum, spread := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		sum += v / n
	}
	for _, a := range x {
		for _, b := range x {
			spread += (a - b) * (a - b) / 2 / n
		}
	}
	if want := math.Sqrt(spread / (n - 1) / n); n > 0 && math.Abs(sum) < 1e150 && spread < 1e300 {
		if !property.Near(e.Mean, sum, 1e-12) || n > 1 && !property.Near(e.StdErr, want, 1e-7) {
			t.Fatalf("average of %v is %v, want %v +- %v", x, e, sum, want)
		}
	}
	if got := math.IsNaN(e.StdErr); (n < 2 || math.IsNaN(sum)) && !got {
		t.Fatalf("average of %v is %v, want NaN for its error", x, e)
	}
	e = num.Estimate{Mean: property.Float().Draw(t, "mean"), StdErr: math.Abs(property.Float().Draw(t, "error"))}
	switch z := e.Z(); {
	case math.IsNaN(e.Mean), math.IsNaN(e.StdErr):
		if !math.IsNaN(z) {
			t.Fatalf("%v is %v standard errors, want NaN", e, z)
		}
	case e.StdErr == 0:
		if !math.IsInf(z, 0) || math.Signbit(z) != math.Signbit(e.Mean) {
			t.Fatalf("%v is %v standard errors", e, z)
		}
	}
}

func streams(t *rapid.T) {
	seed, purpose := rapid.Uint64().Draw(t, "seed"), rapid.String().Draw(t, "purpose")
	index := rapid.SliceOfN(rapid.Uint64(), 0, 3).Draw(t, "index")
	a, b := num.Stream(seed, purpose, index...), num.Stream(seed, purpose, index...)
	other := num.Stream(seed, purpose, append(index, 1)...)
	for range 10 {
		u, v, z := num.Uniform(a), num.UniformOpen(a), num.Normal(a)
		if !(u >= 0 && u < 1 && v > 0 && v < 1 && math.Abs(z) < 20) {
			t.Fatalf("draws %v, %v, %v", u, v, z)
		}
		if u != num.Uniform(b) || v != num.UniformOpen(b) || z != num.Normal(b) {
			t.Fatal("a stream does not repeat itself")
		}
		if u == num.Uniform(other) {
			t.Fatal("two streams are one")
		}
	}
}
