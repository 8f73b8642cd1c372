package property

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"
)

// Fill sets every entry of the arrays to a normal number of standard deviation sd.
func Fill(rnd *rand.Rand, sd float64, arrays ...[]float64) {
	for _, a := range arrays {
		for i := range a {
			a[i] = sd * rnd.NormFloat64()
		}
	}
}

// Sequence returns t uniform tokens of s, and a law over the s tokens as the target.
func Sequence(rnd *rand.Rand, s, t int) (x []int, y []float64) {
	x, y = make([]int, t), make([]float64, s)
	for i := range x {
		x[i] = rnd.IntN(s)
	}
	sum := 0.0
	for i := range y {
		y[i] = rnd.ExpFloat64()
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return x, y
}

// MaxDiff returns the largest difference of two entries, +Inf if the lengths differ and
// NaN if a difference is NaN.
func MaxDiff(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		if diff := math.Abs(a[i] - b[i]); !(diff <= d) {
			d = diff
		}
	}
	return d
}

// An Example is a sequence with a target.
type Example struct {
	X     []int
	Y     []float64
	Right bool // a model of the drawn sizes accepts both
}

// DrawExample returns an example for s tokens and n positions in which at most one thing is wrong.
func DrawExample(t *rapid.T, s, n int) Example {
	e := Example{rapid.SliceOfN(rapid.IntRange(0, s-1), n, n).Draw(t, "x"), Law(s).Draw(t, "y"), false}
	at := rapid.IntRange(0, n-1).Draw(t, "position")
	switch rapid.IntRange(0, 10).Draw(t, "fault") {
	case 0:
		e.X[at] = rapid.SampledFrom([]int{-1, s, s + n - 1, math.MinInt, math.MaxInt}).Draw(t, "token")
	case 1:
		e.X = e.X[:at]
	case 2:
		e.X = append(e.X, 0)
	case 3:
		e.Y = e.Y[:s-1]
	case 4:
		e.Y = append(e.Y, 0)
	case 5:
		e.Y[rapid.IntRange(0, s-1).Draw(t, "entry")] += rapid.SampledFrom(
			[]float64{1e-6, -1e-6, -2, math.NaN(), math.Inf(1), math.Inf(-1), 1e300}).Draw(t, "added")
	case 6:
		for i := range e.Y {
			e.Y[i] = 0
		}
	case 7:
		e.Y[0] -= 2
		e.Y[s-1] += 2
		e.Right = s == 1 // both changes hit the same entry
	case 8: // entries beyond the length, which must not be read
		e.X, e.Y, e.Right = append(e.X, -1)[:n], append(e.Y, math.NaN())[:s], true
	default:
		e.Right = true
	}
	return e
}
