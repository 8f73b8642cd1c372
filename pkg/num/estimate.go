package num

import "math"

// An Estimate is the mean of independent samples with its standard error, the
// sample standard deviation over sqrt(n).
type Estimate struct{ Mean, StdErr float64 }

// Average returns the mean of x with its standard error,
//
//	Mean     1/n sum_i x_i
//	StdErr^2 1/(n (n-1)) sum_i (x_i - Mean)^2
//
// The standard error is NaN for fewer than two samples, and the mean for none. An infinite sample or NaN makes
// both NaN, except that the mean of infinities of one sign is infinite. The sums run in the order of x.
func Average(x []float64) Estimate {
	n, sum := float64(len(x)), 0.0
	for _, v := range x {
		sum += v
	}
	mean, squares := sum/n, 0.0
	for _, v := range x {
		d := v - mean
		squares += float64(d * d)
	}
	return Estimate{mean, math.Sqrt(squares / (n - 1) / n)}
}

// Z returns the mean in standard errors. If the standard error is zero, it is infinite with
// the sign of the mean, also of a zero mean. It is NaN if the mean or standard error is NaN.
func (e Estimate) Z() float64 {
	if e.StdErr == 0 && !math.IsNaN(e.Mean) {
		return math.Copysign(math.Inf(1), e.Mean)
	}
	return e.Mean / e.StdErr
}
