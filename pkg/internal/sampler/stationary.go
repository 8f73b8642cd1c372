package sampler

import (
	"errors"
	"math"

	"learncausal/pkg/num"
)

// errReducible reports a chain with more than one closed class.
var errReducible = errors.New("markov: the chain is reducible and has no unique stationary measure")

// MustBeIrreducible panics at an error for a matrix of positive entries, which cannot have errReducible.
func MustBeIrreducible(err error) {
	if err != nil {
		panic("markov: a matrix of positive entries is reducible")
	}
}

// LeastRate is the total rate from a state to the states before it below which the elimination uses logarithms.
const LeastRate = 1e-290

// StationaryLog is the elimination on logarithms: a[i*S+j] is the log of the rate from i to
// j, -Inf for rate zero. Entries of mu may underflow to zero; their sum is one.
func StationaryLog(mu, a []float64) error {
	s := len(mu)
	sums := make([]float64, s)
	for i := range s {
		sums[i] = LogSum(a[i*s : i*s+s])
	}
	// A pivot vanishes iff its state reaches no state before it in the order.
	order := reachOrder(a, s)
	if order == nil {
		return errReducible
	}
	b := make([]float64, s*s)
	for i, oi := range order {
		for j, oj := range order {
			b[i*s+j] = a[oi*s+oj]
		}
	}
	for n := s - 1; n > 0; n-- {
		out := LogSum(b[n*s : n*s+n])
		for i := range n {
			rate := b[i*s+n] - out
			b[i*s+n] = rate
			for j := range n {
				b[i*s+j] = LogAdd(b[i*s+j], rate+b[n*s+j])
			}
		}
	}
	logMu := make([]float64, s)
	terms := make([]float64, s)
	for n := 1; n < s; n++ {
		for i := range n {
			terms[i] = logMu[i] + b[i*s+n]
		}
		logMu[n] = LogSum(terms[:n])
	}
	for i, oi := range order {
		logMu[i] += sums[oi]
	}
	total := LogSum(logMu)
	for i, oi := range order {
		mu[oi] = num.Exp(logMu[i] - total)
	}
	return nil
}

// reachOrder returns an order of the states in which every state but the first reaches, along positive rates, a
// state before it. It returns nil if there is none, that is, if the chain has more than one closed class.
func reachOrder(a []float64, s int) []int {
	for root := range s {
		order, seen := []int{root}, make([]bool, s)
		seen[root] = true
		for k := 0; k < len(order); k++ {
			for i := range s {
				if !seen[i] && a[i*s+order[k]] > math.Inf(-1) {
					seen[i] = true
					order = append(order, i)
				}
			}
		}
		if len(order) == s {
			return order
		}
	}
	return nil
}

// LogSum returns log sum_i exp(x_i).
func LogSum(x []float64) float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = max(m, v)
	}
	if math.IsInf(m, -1) {
		return m
	}
	sum := 0.0
	for _, v := range x {
		sum += num.Exp(v - m)
	}
	return m + num.Log(sum)
}

// LogAdd returns log(exp(x) + exp(y)).
func LogAdd(x, y float64) float64 {
	if x < y {
		x, y = y, x
	}
	if math.IsInf(y, -1) {
		return x
	}
	return x + num.Log(1+num.Exp(y-x))
}
