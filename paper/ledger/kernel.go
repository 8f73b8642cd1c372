package ledger

import (
	"math"

	"learncausal/paper/exact"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// Kernel returns the transition matrix over s states with parameters x, of length s*s,
//
//	pi(s'|s) = floor + (1 - S floor) exp(x[s,s']) / sum_t exp(x[s,t])
//
// Its entries are greater than floor, and every such matrix has parameters.
func Kernel(x []float64, s int, floor float64) []float64 {
	pi := make([]float64, s*s)
	for r := 0; r < s*s; r += s {
		num.Softmax(pi[r:r+s], x[r:r+s])
		for j := r; j < r+s; j++ {
			pi[j] = floor + float64((1-float64(float64(s)*floor))*pi[j])
		}
	}
	return pi
}

// Parameters returns an x for which Kernel(x, s, floor) is pi. The entries of pi are greater than floor.
func Parameters(pi []float64, floor float64) []float64 {
	x := make([]float64, len(pi))
	for k, p := range pi {
		x[k] = num.Log(p - floor)
	}
	return x
}

// corners returns structured parameters x of Kernel as starts of a search: uniform rows; nearly deterministic
// rows that stay, go round or swap; a light state; a common next state; staying with a light state; two blocks;
// one row that stays; nearly independent rows; rows that depend on a light state only.
func corners(s int) [][]float64 {
	const far = 5
	unit := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
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
		// All states but two are light, and only the row of a light state differs.
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

// KernelStarts returns structured and n random starts for Attack over the parameters of
// Kernel, each followed by extra coordinates, which are zero.
func (e *Env) KernelStarts(n, s, extra int) [][]float64 {
	out := append(corners(s), e.Starts(n, s*s)...)
	for i := range out {
		out[i] = append(out[i], make([]float64, extra)...)
	}
	return out
}

// denominators are the denominators of Simplest, in order.
var denominators = []int{
	2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 25, 30, 40, 50, 60,
	100, 200, 500, 1000, 10000, 100000, 1000000,
}

// Simplest rounds the transition matrix pi over s states to rational numbers with growing
// denominators. It returns the first rounding for which broken is true, or nil. broken
// decides the hypotheses and the failure exactly.
func Simplest(pi []float64, s int, broken func(pi exact.Matrix) bool) exact.Matrix {
	for _, den := range denominators {
		if q := exact.Round(pi, s, den); broken(q) {
			return q
		}
	}
	return nil
}

// SmallestKernel returns the first positive matrix over s states for which broken is true,
// in the order of the common denominators s, s+1, ..., most, or nil.
func SmallestKernel(s, most int, broken func(pi exact.Matrix) bool) exact.Matrix {
	for den := s; den <= most; den++ {
		for pi := range exact.Positive(s, den) {
			if broken(pi) {
				return pi
			}
		}
	}
	return nil
}

// A KernelBound is an inequality lhs <= rhs about one transition matrix, in floats for a
// search and in rational numbers for a decision.
type KernelBound struct {
	Sizes []int   // S
	Floor float64 // least entry of the matrices in the search
	// From, if not nil, returns more starts: matrices, row-major, with entries above Floor.
	From func(s int) [][]float64
	// Sides returns both sides in floats; rhs = +Inf where the hypotheses fail.
	Sides func(c *theory.Chain) (lhs, rhs float64)
	// Broken decides hypotheses and inequality exactly. It returns a witness if the
	// hypotheses hold and the inequality fails, else nil.
	Broken func(pi exact.Matrix) *Witness
	// PerSize, if not nil, receives the worst sides for each S.
	PerSize func(s int, lhs, rhs float64)
}

// Attack searches for a matrix that violates the inequality: in floats by CMA-ES and
// Nelder-Mead, then exactly on roundings of the worst matrix and, for S = 2, on all
// matrices with small denominators. Only an exact violation is a failure.
func (q KernelBound) Attack(e *Env, w *Worst) {
	for _, s := range q.Sizes {
		c := q.search(e, w, s)
		if c == nil || w.Failed() {
			continue
		}
		var found *Witness
		broken := func(pi exact.Matrix) bool {
			if positiveMeasure(pi) {
				found = q.Decide(w, pi)
			}
			return found != nil
		}
		small := s == 2 && SmallestKernel(s, e.Budget(12, 8), broken) != nil
		if small || Simplest(c.Pi.RawMatrix().Data, s, broken) != nil {
			w.Fail(*found)
		}
	}
}

// Decide returns the witness if the matrix violates the inequality, else nil. It counts the matrix if the hypotheses
// hold.
func (q KernelBound) Decide(w *Worst, pi exact.Matrix) *Witness {
	if c, err := theory.NewChain(pi.Floats(), len(pi)); err == nil {
		if _, rhs := q.Sides(c); !math.IsInf(rhs, 1) {
			w.count(&w.Rationals, rhs)
		}
	}
	return q.Broken(pi)
}

// search returns the chain over s states with the least margin in floats, or nil if the
// hypotheses hold for no chain.
func (q KernelBound) search(e *Env, w *Worst, s int) *theory.Chain {
	chain := func(x []float64) *theory.Chain {
		c, _ := theory.NewChain(Kernel(x, s, q.Floor), s) // nil with an error
		return c
	}
	starts := e.KernelStarts(e.Budget(6, 1), s, 0)
	if q.From != nil {
		for _, pi := range q.From(s) {
			starts = append(starts, Parameters(pi, q.Floor))
		}
	}
	x, lhs, rhs := e.Search(w, func(x []float64) (lhs, rhs float64) {
		if c := chain(x); c != nil {
			return q.Sides(c)
		}
		return 0, math.Inf(1)
	}, starts, e.Budget(60000, 3000)/len(q.Sizes), func(x []float64) Instance {
		return Instance{"S": s, "pi": Grid(chain(x).Pi.RawMatrix().Data, s)}
	})
	if x == nil {
		return nil
	}
	if q.PerSize != nil {
		q.PerSize(s, lhs, rhs)
	}
	return chain(x)
}

// positiveMeasure reports whether pi has a unique stationary measure and this is positive.
func positiveMeasure(pi exact.Matrix) bool {
	mu, err := exact.Stationary(pi)
	for _, m := range mu {
		if m.Sign() == 0 {
			return false
		}
	}
	return err == nil
}
