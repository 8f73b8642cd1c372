package theory

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"learncausal/pkg/num"
)

// RowFlow follows one row of A1 in stage 1, in the limits beta0 -> 0 and of small steps,
//
//	dA_j/dt = S_j (h_j - sum_k S_k h_k),  S = softmax(A),  A(0) = 0
//
// with h = ghat_i / S and t = tau eta1 beta0 / T. No step moves an entry by more than 1/20.
// RowFlow stops at time end, or after the first step for which done is true; done may be
// nil, and end infinite. It also stops where the row is at rest, and after 2^16 steps, since
// rounding errors may move a row at rest. It returns the time and the attention S. It panics
// unless h has an entry, its entries are at most 1e100 in size, and end >= 0.
func RowFlow(h []float64, end float64, done func(t float64, attention []float64) bool) (t float64, s []float64) {
	checkRow(h, end)
	a, s := make([]float64, len(h)), make([]float64, len(h))
	for n := 0; ; n++ {
		num.Softmax(s, a)
		if n == 1<<16 || t >= end || done != nil && t > 0 && done(t, s) {
			return t, s
		}
		velocity := Jacobian(s, h)
		step := end - t
		if fastest := floats.Norm(velocity, math.Inf(1)); fastest > 0 {
			step = min(step, 0.05/fastest)
		}
		if math.IsInf(step, 1) || !(t+step > t) {
			return t, s
		}
		for j, v := range velocity {
			a[j] += float64(step * v)
		}
		t += step
	}
}

// checkRow panics unless a row of A1 may follow h until end.
func checkRow(h []float64, end float64) {
	if len(h) == 0 || !(floats.Norm(h, math.Inf(1)) <= 1e100) || !(end >= 0) {
		panic(fmt.Sprintf("theory: a row that follows %v until %v", h, end))
	}
}

// MixtureWeight returns the weight w of mu in the limit of the prediction for long sequences, f(X;s) -> (1-w)
// pi(.|s) + w mu, for mu = mu(s) and a fraction r of roots:
//
//	w = (1-r + r e^(beta mu)) / (1-r + r e^(beta mu) + (1-r) (e^beta - 1) mu)
//
// (thm-main-step-bias). It panics unless mu is in 1e-100..1, 0 <= r < 1, and beta is finite and not negative.
func MixtureWeight(mu, r, beta float64) float64 {
	if !(mu >= 1e-100 && mu <= 1 && r >= 0 && r < 1 && beta >= 0 && beta <= math.MaxFloat64) {
		panic(fmt.Sprintf("theory: the weight of mu = %v for r = %v and beta = %v", mu, r, beta))
	}
	rest := float64((1-r)*num.Exp(-beta)) + float64(r*num.Exp(float64(beta*(mu-1))))
	return rest / (rest + float64((1-r)*(1-num.Exp(-beta))*mu))
}

// ExcessInTheLimit returns the excess loss of the limit f_inf of [MixtureWeight],
//
//	1/S sum_s KL(pi(.|s) || (f_inf(s) + eps)/(1 + S eps))
//
// It panics unless every mu(s) is in 1e-100..1, 0 <= r < 1, beta is finite and not negative, and eps is in
// 1e-100..1e100.
func (c *Chain) ExcessInTheLimit(r, eps, beta float64) float64 {
	orPanic(checkEps(eps))
	sum := 0.0
	for s := range c.S {
		w := MixtureWeight(c.Mu[s], r, beta)
		for t := range c.S {
			p := c.Pi.At(s, t)
			if p == 0 {
				continue
			}
			f := float64((1-w)*p) + float64(w*c.Mu[t])
			sum += float64(p * num.Log(p*(1+float64(float64(c.S)*eps))/(f+eps)))
		}
	}
	return sum / float64(c.S)
}

// Prediction returns f(X;s) of the reduced model with A2 = beta I, where z(i) is the
// attention of position i to tokens s: position i has weight e^(beta (z(i)-1)). It calls z
// once for each position in order. It panics unless x has tokens below states.
func Prediction(x []int, states int, beta float64, z func(i int) float64) []float64 {
	checkTokens(x, len(x), states)
	f, total := make([]float64, states), 0.0
	for i, a := range x {
		weight := num.Exp(float64(beta * (z(i) - 1)))
		f[a] += weight
		total += weight
	}
	for a := range f {
		f[a] /= total
	}
	return f
}
