// Package markov defines transition matrices on a finite alphabet, their stationary
// measures, and priors over them.
//
// A transition matrix pi over S states is a []float64 of length S*S, row-major:
// pi[s*S+s'] = pi(s'|s), and each row sums to one. mat.NewDense(S, S, pi) is the same matrix
// in gonum, without a copy. Its stationary measure mu has length S.
//
// A [Prior] draws both. A [Dirichlet] is the prior of the paper's experiments. A [Finite]
// has finite support: expectations are sums, and the assumptions of the paper's theorems
// can hold exactly. [Sampled] approximates any prior by a Finite one.
//
//	prior, err := markov.ParsePrior("dirichlet(0.1)", 10)
//	prior, err = markov.ParsePrior("orbit(0.6 0.4; 0.4 0.6)", 2)
//	prior, err = markov.NewFinite(2, []float64{0.9, 0.1, 0.2, 0.8})
//	prior.Draw(pi, mu, num.Stream(seed, "kernels"))
package markov

import (
	"fmt"
	"math"

	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/num"
)

// Stationary writes to mu, of length S, the stationary measure of pi:
//
//	mu pi = mu,  sum_s mu(s) = 1
//
// by the elimination of Grassmann, Taksar and Heyman (Oper. Res. 33, 1985). It subtracts
// nothing, so every entry has a relative accuracy near machine precision, even if the chain
// is almost reducible. Rows of pi need not be normalised: only the ratios within a row
// matter. An entry of mu is zero if its state is transient or if it underflows.
//
// It returns an error, and leaves mu unchanged, if an entry is negative or not finite, if a
// row is zero, or if mu is not unique. It panics unless pi has S*S entries, S >= 1.
func Stationary(mu, pi []float64) error {
	s := len(mu)
	if s < 1 || len(pi) != s*s {
		panic(fmt.Sprintf("markov: %d entries of a transition matrix for %d states, want S*S for S >= 1", len(pi), s))
	}
	for r := range s {
		if err := checkRates(pi[r*s:r*s+s], r); err != nil {
			return fmt.Errorf("markov: %w", err)
		}
	}
	return stationary(mu, pi, make([]float64, s*s))
}

// checkRates returns an error unless all entries of a row are finite and nonnegative and one is positive.
func checkRates(row []float64, r int) error {
	largest := 0.0
	for t, p := range row {
		if !(p >= 0 && p <= math.MaxFloat64) {
			return fmt.Errorf("row %d, column %d is %v, want a finite nonnegative number", r, t, p)
		}
		largest = max(largest, p)
	}
	if largest == 0 {
		return fmt.Errorf("row %d is zero, want a positive entry", r)
	}
	return nil
}

// stationary is [Stationary] of valid entries, with scratch a of S*S.
func stationary(mu, pi, a []float64) error {
	copy(a, pi)
	if eliminate(mu, a) {
		return nil
	}
	// A pivot under- or overflowed: the same elimination on logarithms.
	for i, p := range pi {
		a[i] = num.Log(p)
	}
	return sampler.StationaryLog(mu, a)
}

// eliminate is stationary in floating point. It returns false if the range of floating point
// is too small for the ratios. It overwrites a.
func eliminate(mu, a []float64) bool {
	s := len(mu)
	var scratch [maxStack]float64
	sums := room(scratch[:], s)
	rowSums(sums, a)
	for n := s - 1; n > 0; n-- {
		row := a[n*s : n*s+n]
		out := sum(row)
		if !(out > sampler.LeastRate) {
			return false
		}
		for i := range n {
			bypass(a[i*s:i*s+n+1], row, 1/out)
		}
	}
	// Unnormalised rows are rates of a jump process: mu(s) = nu(s) rowsum(s).
	mu[0] = 1
	for n := 1; n < s; n++ {
		sum := 0.0
		for i := range n {
			sum += float64(mu[i] * a[i*s+n])
		}
		mu[n] = sum
	}
	total := 0.0
	for i := range mu {
		mu[i] = float64(mu[i] * sums[i])
		total += mu[i]
	}
	if !(total > 0 && total < math.MaxFloat64) {
		return false
	}
	for i := range mu {
		mu[i] /= total
	}
	return true
}

// rowSums writes the sum of each row of a to sums.
func rowSums(sums, a []float64) {
	s := len(sums)
	for i := range sums {
		sums[i] = sum(a[i*s : i*s+s])
	}
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// bypass eliminates state n = len(row) from the rates to[:n+1] of another state. row are the
// rates of n to the states before it, and inv is one over their sum. A jump to n is replaced
// by a jump to a successor of n, and to[n] becomes the time spent in n.
func bypass(to, row []float64, inv float64) {
	n := len(row)
	rate := float64(to[n] * inv)
	to[n] = rate
	to = to[:n]
	for j, p := range row {
		to[j] += float64(rate * p)
	}
}

// maxStack is the largest alphabet for which scratch space is on the stack.
const maxStack = 16

// room returns n zeros, in the scratch space if it is large enough.
func room(scratch []float64, n int) []float64 {
	if n > len(scratch) {
		return make([]float64, n)
	}
	return scratch[:n]
}
