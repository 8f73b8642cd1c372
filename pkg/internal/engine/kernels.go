package engine

import (
	"slices"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/num"
)

// Matrices here are simd.Matrix: the products of mat.Dense are in assembly on some processors and
// differ in the last bits there, and the bytes of a stored run depend on them.

// crossEntropy replaces the logits f by softmax(f), sets df = f - y, the gradient
// of the loss by the logits, and returns the loss -sum_s y_s log f_s. f, df, y: S.
func crossEntropy(f, df, y []float64) float64 {
	top, sum, loss := slices.Max(f), 0.0, 0.0
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

// softmaxGrad is the backward pass of p = softmax(v): it replaces dp, the gradient by p,
// by the gradient by v, p (dp - <p, dp>).
func softmaxGrad(dp, p []float64) {
	p = p[:len(dp)]
	mean := 0.0
	for i, d := range dp {
		mean += float64(p[i] * d)
	}
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

// zeros returns n arrays of the given size.
func zeros(n, size int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, size)
	}
	return all
}

// cut takes the first n numbers off rest.
func cut(rest *[]float64, n int) []float64 {
	part := (*rest)[:n:n]
	*rest = (*rest)[n:]
	return part
}

func zeroMatrix(rows, cols int) simd.Matrix {
	return simd.Dense(rows, cols, make([]float64, rows*cols))
}

func rowOf(m simd.Matrix, i int) []float64 { return m.Data[i*m.Down:][:m.Cols] }

// transpose sets a to the transpose of b.
func transpose(a, b simd.Matrix) {
	for i := range b.Rows {
		for j, v := range rowOf(b, i) {
			a.Data[j*a.Down+i] = v
		}
	}
}

// transposed returns a copy of a, transposed.
func transposed(a simd.Matrix) simd.Matrix {
	b := zeroMatrix(a.Cols, a.Rows)
	transpose(b, a)
	return b
}
