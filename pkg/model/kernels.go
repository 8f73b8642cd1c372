package model

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

// gemv adds to y the sum over j of x_j m[r_j], four rows at a time. m: rows of len(y).
func gemv(y, x, m []float64, r []int) {
	n := len(y)
	j := 0
	for ; j+3 < len(r); j += 4 {
		m0, m1 := m[r[j]*n:(r[j]+1)*n], m[r[j+1]*n:(r[j+1]+1)*n]
		m2, m3 := m[r[j+2]*n:(r[j+2]+1)*n], m[r[j+3]*n:(r[j+3]+1)*n]
		m0, m1, m2, m3 = m0[:len(y)], m1[:len(y)], m2[:len(y)], m3[:len(y)]
		x0, x1, x2, x3 := x[j], x[j+1], x[j+2], x[j+3]
		for k := range y {
			y[k] += (float64(x0*m0[k]) + float64(x1*m1[k])) + (float64(x2*m2[k]) + float64(x3*m3[k]))
		}
	}
	for ; j < len(r); j++ {
		axpy(y, x[j], m[r[j]*n:])
	}
}

// gemvGrad is the backward pass of gemv: dx_j += dy . m[r_j], dm[r_j] += x_j dy.
// Four sums at a time hide the latency of the additions.
func gemvGrad(dx, dy, x, m, dm []float64, r []int) {
	n := len(dy)
	j := 0
	for ; j+3 < len(r); j += 4 {
		m0, m1 := m[r[j]*n:(r[j]+1)*n], m[r[j+1]*n:(r[j+1]+1)*n]
		m2, m3 := m[r[j+2]*n:(r[j+2]+1)*n], m[r[j+3]*n:(r[j+3]+1)*n]
		m0, m1, m2, m3 = m0[:len(dy)], m1[:len(dy)], m2[:len(dy)], m3[:len(dy)]
		var s0, s1, s2, s3 float64
		for k, v := range dy {
			s0 += float64(m0[k] * v)
			s1 += float64(m1[k] * v)
			s2 += float64(m2[k] * v)
			s3 += float64(m3[k] * v)
		}
		dx[j] += s0
		dx[j+1] += s1
		dx[j+2] += s2
		dx[j+3] += s3
		d0, d1 := dm[r[j]*n:(r[j]+1)*n], dm[r[j+1]*n:(r[j+1]+1)*n]
		d2, d3 := dm[r[j+2]*n:(r[j+2]+1)*n], dm[r[j+3]*n:(r[j+3]+1)*n]
		d0, d1, d2, d3 = d0[:len(dy)], d1[:len(dy)], d2[:len(dy)], d3[:len(dy)]
		x0, x1, x2, x3 := x[j], x[j+1], x[j+2], x[j+3]
		for k, v := range dy {
			d0[k] += float64(x0 * v)
			d1[k] += float64(x1 * v)
			d2[k] += float64(x2 * v)
			d3[k] += float64(x3 * v)
		}
	}
	for ; j < len(r); j++ {
		row, sum := m[r[j]*n:(r[j]+1)*n], 0.0
		for k, v := range dy {
			sum += float64(row[k] * v)
		}
		dx[j] += sum
		axpy(dm[r[j]*n:(r[j]+1)*n], x[j], dy)
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
