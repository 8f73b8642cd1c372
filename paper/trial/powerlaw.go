package trial

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/num"
)

// PowerLaw is the fit y = c x^Exponent by least squares on logarithms, with the half-width of a 95
// % interval of the exponent (Student's t, n-2 degrees of freedom), which is valid as far as the
// points scatter independently about a power law.
type PowerLaw struct{ Log, Exponent, Half float64 } // Log = log c

// At returns c x^Exponent. It panics unless x is positive and finite.
func (p PowerLaw) At(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		panic(fmt.Sprintf("trial: power law at %v, want a positive number", x))
	}
	return num.Exp(p.Log + float64(p.Exponent*num.Log(x)))
}

// FitPowerLaw fits at least three points. It panics if there are fewer, or not as many x as y. All
// fields of the law are NaN if a coordinate is not positive and finite, or all x are equal.
func FitPowerLaw(x, y []float64) PowerLaw {
	n := len(x)
	if n < 3 || len(y) != n {
		panic(fmt.Sprintf("trial: a power law through %d and %d values, want at least 3 of each", n, len(y)))
	}
	if slices.Max(x) == slices.Min(x) {
		return PowerLaw{math.NaN(), math.NaN(), math.NaN()}
	}
	lx, ly := make([]float64, n), make([]float64, n)
	for i := range x {
		lx[i], ly[i] = num.Log(x[i]), num.Log(y[i])
	}
	a, b := stat.LinearRegression(lx, ly, nil, false)
	rss, sxx, mean := 0.0, 0.0, stat.Mean(lx, nil)
	for i := range lx {
		r, d := ly[i]-a-float64(b*lx[i]), lx[i]-mean
		rss += float64(r * r)
		sxx += float64(d * d)
	}
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 2)}.Quantile(0.975)
	return PowerLaw{a, b, q * math.Sqrt(rss/float64(n-2)/sxx)}
}
