package theory

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// The domains of the arguments. Outside them a function returns an error, or panics if it has none to return.
//
//	a prior      at least one matrix over S >= 2 states, each with probability vectors
//	             for rows and a measure of at least markov.MinMu, and weights of sum one
//	eps          1e-100 to 1e100, so that 1/eps and its products are finite; for GHat
//	             1e-6 to 1e6, where its sum keeps its digits
//	beta         0 or more, and finite; where samples are drawn at most 700
//	parameters   finite; a Population gives NaN where two entries of a column of A2 are
//	             more than 700 apart, and Algorithm 1 then returns an error

// checkPrior returns an error unless p is a prior as [markov.NewFinite] makes them.
func checkPrior(p *markov.Finite) error {
	if p == nil || len(p.Pi) == 0 || len(p.Mu) != len(p.Pi) || len(p.Weight) != len(p.Pi) {
		return fmt.Errorf("theory: a prior with no matrices, or not as many measures and weights: " +
			"markov.NewFinite, NewOrbit and Sampled make one")
	}
	total := 0.0
	for k, pi := range p.Pi {
		if err := cmp.Or(checkRows(pi, len(p.Mu[0])), checkMeasure(p.Mu[k], len(p.Mu[0]))); err != nil {
			return fmt.Errorf("theory: prior, matrix %d: %w", k, err)
		}
		if w := p.Weight[k]; !(w >= 0) {
			return fmt.Errorf("theory: prior, matrix %d has the weight %v, want a probability", k, w)
		}
		total += p.Weight[k]
	}
	if !(math.Abs(total-1) < 1e-9) {
		return fmt.Errorf("theory: the weights of a prior sum to %v, want 1", total)
	}
	return nil
}

// checkRows returns an error unless pi is a transition matrix over s >= 2 states.
func checkRows(pi []float64, s int) error {
	if s < 2 {
		return fmt.Errorf("%d states, want at least 2", s)
	}
	return markov.CheckRows(pi, s)
}

// checkMeasure returns an error unless mu has a probability of at least [markov.MinMu] for each of s states.
func checkMeasure(mu []float64, s int) error {
	if len(mu) != s {
		return fmt.Errorf("a stationary measure of %d entries, want %d", len(mu), s)
	}
	for a, m := range mu {
		if !(m >= markov.MinMu && m <= 1) {
			return fmt.Errorf("the stationary measure of state %d is %v, want at least %v", a, m, markov.MinMu)
		}
	}
	return nil
}

// checkEps returns an error unless the loss may be perturbed by eps.
func checkEps(eps float64) error {
	if !(eps >= 1e-100 && eps <= 1e100) {
		return fmt.Errorf("theory: the loss is perturbed by %v, want a positive number, 1e-100 to 1e100", eps)
	}
	return nil
}

// checkReading returns an error unless the reading is one of the two.
func checkReading(r Reading) error {
	if r != QueryInSequence && r != QueryApart {
		return fmt.Errorf("theory: reading %d, want QueryInSequence or QueryApart", int(r))
	}
	return nil
}

// orPanic panics with an error, where there is none to return.
func orPanic(err error) {
	if err != nil {
		panic(err.Error())
	}
}

// isFinite reports whether all of x is finite.
func isFinite(x ...float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// checkState panics unless a is in 0..s-1.
func checkState(a, s int) {
	if a < 0 || a >= s {
		panic(fmt.Sprintf("theory: state %d, want one of 0..%d", a, s-1))
	}
}

// checkTokens panics unless x has a token in 0..s-1 for each of t positions.
func checkTokens(x []int, t, s int) {
	if len(x) != t {
		panic(fmt.Sprintf("theory: sequence of length %d for a model of length %d", len(x), t))
	}
	for i, a := range x {
		if a < 0 || a >= s {
			panic(fmt.Sprintf("theory: token %d at position %d, want one of 0..%d", a, i, s-1))
		}
	}
}

// check panics unless the parameters have their sizes.
func (m *Reduced) check() {
	if m.S < 1 || m.T < 1 || !isSquare(m.A1, m.T) || !isSquare(m.A2, m.S) {
		panic(fmt.Sprintf("theory: a model over S = %d tokens and T = %d positions, want 1 or more of each, "+
			"A1 of T x T entries and A2 of S x S, neither a view into a larger matrix", m.S, m.T))
	}
}

// isSquare reports whether a is n x n, with its rows one after the other.
func isSquare(a *mat.Dense, n int) bool {
	if a == nil {
		return false
	}
	raw := a.RawMatrix()
	return raw.Rows == n && raw.Cols == n && raw.Stride == n
}

// checkGraph panics unless the graph has the model's positions.
func (m *Reduced) checkGraph(g *graph.Forest, attention *mat.Dense) {
	m.check()
	if rows, columns := attention.Dims(); g.T() != m.T || rows != m.T || columns != m.T {
		panic(fmt.Sprintf("theory: %d x %d entries of attention on %d positions for a model of length %d",
			rows, columns, g.T(), m.T))
	}
}
