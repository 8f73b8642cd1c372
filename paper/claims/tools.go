package claims

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// kernel returns the transition matrix over s states that x, of length s*s,
// parametrises with entries of at least floor:
//
//	pi(s'|s) = floor + (1 - S floor) exp(x[s,s']) / sum_t exp(x[s,t])
//
// With floor = gamma/S it satisfies the first bullet of assume:pi_prior as an
// equality at most. All kernels are reached, in the limit at least.
func kernel(x []float64, s int, floor float64) []float64 {
	pi := make([]float64, s*s)
	for r := 0; r < s*s; r += s {
		num.Softmax(pi[r:r+s], x[r:r+s])
		for j := range s {
			pi[r+j] = floor + float64((1-float64(float64(s)*floor))*pi[r+j])
		}
	}
	return pi
}

// corners returns structured parameters x of kernel, from which a search
// starts: nearly deterministic rows (staying, cyclic, swapping), one light
// state, one absorbing state, two blocks, nearly independent rows, and a light
// state that alone is remembered.
func corners(s int) [][]float64 {
	const far = 5
	shapes := []func(i, j int) float64{
		func(i, j int) float64 { return 0 },
		func(i, j int) float64 { return far * unit(i == j) },
		func(i, j int) float64 { return far * unit((i+1)%s == j) },
		func(i, j int) float64 { return far * unit(i+j == s-1) },
		func(i, j int) float64 { return -far * unit(j == 0) },
		func(i, j int) float64 { return far * unit(j == 0) },
		func(i, j int) float64 { return far*unit(i == j) - far*unit(j == 0 && i > 0) },
		func(i, j int) float64 { return far * unit((i < s/2) == (j < s/2)) },
		func(i, j int) float64 { return far * unit(i == 0 && j == 0) },
		func(i, j int) float64 { return unit(i == j) / far },
		// All states are light but two, and only a light one is remembered.
		func(i, j int) float64 {
			return -3*unit(j != 1 && j != s-1) + unit(i == 0)*(unit(j == 1)-unit(j == s-1))/10
		},
	}
	var out [][]float64
	for _, f := range shapes {
		x := make([]float64, s*s)
		for k := range x {
			x[k] = f(k/s, k%s)
		}
		out = append(out, x)
	}
	return out
}

// unit returns 1 if b holds, and 0 otherwise.
func unit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// kernelStarts returns the corners and n random points, for Attack over kernel;
// extra coordinates, zero at first, follow the s*s of the kernel.
func (e *Env) kernelStarts(n, s, extra int) [][]float64 {
	out := append(corners(s), e.Starts(n, s*s)...)
	for i := range out {
		out[i] = append(out[i], make([]float64, extra)...)
	}
	return out
}

// sigmoid maps a coordinate of a search to (0, 1).
func sigmoid(x float64) float64 { return 1 / (1 + num.Exp(-x)) }

// tightGamma returns theory.Chain.Gamma: the supremum of the gamma for which pi,
// with stationary measure mu, satisfies the first two bullets of
// assume:pi_prior.
func tightGamma(pi, mu []float64) float64 {
	return (&theory.Chain{S: len(mu), Pi: pi, Mu: mu}).Gamma()
}

// simplest rounds pi with growing denominators and returns the first rounding
// that broken, which decides hypotheses and failure exactly, accepts; nil if
// none does.
func simplest(pi []float64, s int, broken func(pi exact.Matrix) bool) exact.Matrix {
	for _, den := range denominators {
		if q := exact.Round(pi, s, den); broken(q) {
			return q
		}
	}
	return nil
}

var denominators = []int{2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 25, 30, 40, 50, 60, 100, 200, 500, 1000, 10000, 100000, 1000000}

// ratStrings returns the entries of a rational matrix as a witness shows them.
func ratStrings(m exact.Matrix) [][]string { return m.Strings() }

// decimals returns the rows of a matrix over s columns, to 6 digits, for an
// instance that is not a witness.
func decimals(pi []float64, s int) [][]string {
	var out [][]string
	for r := 0; r+s <= len(pi); r += s {
		row := make([]string, s)
		for j := range row {
			row[j] = fmt.Sprintf("%.6g", pi[r+j])
		}
		out = append(out, row)
	}
	return out
}

// parentList writes the graph as a witness shows it: the parents of positions
// 1..T, with 0 for a root.
func parentList(f *graph.Forest) string {
	var out []string
	for _, p := range f.Parents() {
		out = append(out, fmt.Sprint(p+1))
	}
	return "[" + strings.Join(out, " ") + "]"
}

// checked completes a claim whose check is one function of whether the fault
// is planted.
func checked(c Claim, check func(e *Env, faulty bool) Finding) Claim {
	c.Check = func(e *Env) Finding { return check(e, false) }
	c.Faulty = func(e *Env) Finding { return check(e, true) }
	return c
}

// A namedGraph is a member of a family of graphs.
type namedGraph struct {
	Name  string
	Graph *graph.Forest
}

// families returns a graph on t positions of each family that differs in
// T_eff: chain and in-context graph (T_eff = T), spider with about sqrt(t) legs
// (sqrt T), binary tree and star (bounded), and random forests of the two laws.
func (e *Env) families(t int) []namedGraph {
	legs := max(int(math.Sqrt(float64(t))), 1)
	return []namedGraph{
		{"chain", graph.Chain(t)},
		{"in-context", graph.InContext(t)},
		{"star", graph.Star(t)},
		{"binary tree", graph.BinaryTree(t)},
		{"spider", graph.Spider(t, legs)},
		{"random forest", graph.Random(t, 0.5, e.Stream("forest", uint64(t)))},
		{"random tree", graph.Grow(t, rand.New(e.Stream("tree", uint64(t))).IntN)},
	}
}

// trend returns the exponent of the power law through the points, with the
// half-width of its interval (theory.FitPowerLaw).
func trend(x, y []float64) (slope, half float64) {
	law := theory.FitPowerLaw(x, y)
	return law.Exponent, law.Half
}
