package engine

import (
	"math"

	"learncausal/pkg/num"
)

// The kernels of the engines add in a fixed order and round every product, so
// that they give the same bytes on every machine.

// crossEntropy replaces the logits f by softmax(f), sets df = f - y, the gradient
// of the loss by the logits, and returns the loss -sum_s y_s log f_s.
func crossEntropy(f, df, y []float64) float64 {
	top := math.Inf(-1)
	for _, l := range f {
		top = max(top, l)
	}
	sum, loss := 0.0, 0.0
	df = df[:len(f)]
	for s, l := range f {
		df[s] = num.Exp(l - top)
		sum += df[s]
	}
	logZ := top + num.Log(sum)
	y = y[:len(df)]
	for s, l := range f {
		loss += float64(y[s] * (logZ - l))
		f[s] = df[s] / sum
		df[s] = f[s] - y[s]
	}
	return loss
}

// softmaxGrad is the backward pass of p = softmax(v): it replaces the gradient dp
// of p by that of v, p (dp - <p, dp>).
func softmaxGrad(dp, p []float64) {
	mean := dot(p, dp)
	for i := range dp {
		dp[i] = float64(p[i] * (dp[i] - mean))
	}
}

// axpy adds c x to y.
func axpy(y []float64, c float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float64(c * x[i])
	}
}

// addTo sets dst = a + b.
func addTo(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// dot returns the sum of a_i b_i.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// zeros returns n arrays of the given size.
func zeros(n, size int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, size)
	}
	return all
}
