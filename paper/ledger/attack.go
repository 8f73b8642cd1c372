package ledger

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Attack searches for the least value of f on R^n: for each start it runs CMA-ES, then Nelder-Mead from the
// best point so far. f may return +Inf or NaN outside the hypotheses. Attack returns the best point, nil if there
// is none, and its value, after about as many evaluations as the budget. They are no instances, and their number
// can differ between kinds of processors, as the search ends when it improves no more.
func (e *Env) Attack(
	f func(x []float64) float64, starts [][]float64, budget int,
) (best []float64, value float64) {
	value = math.Inf(1)
	counted := func(x []float64) float64 {
		v := f(x)
		if math.IsNaN(v) {
			v = math.Inf(1)
		}
		if v < value {
			best, value = slices.Clone(x), v
		}
		return v
	}
	p := optimize.Problem{Func: counted}
	for i, x0 := range starts {
		if e.Err() != nil {
			return best, value
		}
		counted(x0)
		settings := &optimize.Settings{
			FuncEvaluations: max(budget/(2*len(starts)), 20),
			Converger:       &optimize.FunctionConverge{Absolute: 1e-14, Iterations: 60},
		}
		// An error means that the budget is used up; the best point has been recorded.
		cmaes := &optimize.CmaEsChol{Src: e.Stream("cma-es", uint64(i)), InitStepSize: 0.5}
		_, _ = optimize.Minimize(p, x0, settings, cmaes)
		if best != nil { // some point satisfies the hypotheses
			_, _ = optimize.Minimize(p, best, settings, &optimize.NelderMead{})
		}
	}
	return best, value
}

// Search attacks lhs <= rhs, and keeps the instance at of the point of least slack in w. It returns the point with its
// sides; the point is nil, and rhs infinite, if rhs is infinite at all points, or the run is cancelled.
func (e *Env) Search(w *Worst, sides func(x []float64) (lhs, rhs float64), starts [][]float64, budget int,
	at func(x []float64) Instance,
) (x []float64, lhs, rhs float64) {
	x, _ = e.Attack(func(x []float64) float64 { return Slack(sides(x)) }, starts, budget)
	if x == nil {
		return nil, 0, math.Inf(1)
	}
	lhs, rhs = sides(x)
	w.Keep(lhs, rhs, func() Instance { return at(x) })
	return x, lhs, rhs
}

// Starts returns n points of R^dim. Point i is normal with standard deviation i, so that point 0 is zero and
// the last points reach into the corners of a simplex that softmax parametrises.
func (e *Env) Starts(n, dim int) [][]float64 {
	r := rand.New(e.Stream("starts"))
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, dim)
		for j := range out[i] {
			out[i][j] = r.NormFloat64() * float64(i)
		}
	}
	return out
}
