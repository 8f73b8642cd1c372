package ledger

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/optimize"
)

// Attack searches for the smallest value of f on R^n: CMA-ES from each start,
// then Nelder-Mead from the best points. f may return +Inf outside the
// hypotheses. It returns the best point, its value and the number of
// evaluations. The search is the same every time.
func (e *Env) Attack(f func(x []float64) float64, starts [][]float64, evaluations int) (best []float64, value float64, evals int) {
	value = math.Inf(1)
	take := func(x []float64, v float64) {
		if v < value {
			best, value = append([]float64(nil), x...), v
		}
	}
	counted := func(x []float64) float64 {
		evals++
		v := f(x)
		if math.IsNaN(v) {
			v = math.Inf(1)
		}
		take(x, v)
		return v
	}
	p := optimize.Problem{Func: counted}
	for i, x0 := range starts {
		if e.Err() != nil {
			return best, value, evals
		}
		counted(x0)
		each := max(evaluations/(2*len(starts)), 20)
		settings := &optimize.Settings{FuncEvaluations: each, Concurrent: 0, Converger: &optimize.FunctionConverge{Absolute: 1e-14, Iterations: 60}}
		// Errors mean that the budget ended; every point seen has been kept.
		_, _ = optimize.Minimize(p, x0, settings, &optimize.CmaEsChol{Src: e.Stream("cma-es", uint64(i)), InitStepSize: 0.5})
		if best != nil { // some point satisfies the hypotheses
			_, _ = optimize.Minimize(p, best, settings, &optimize.NelderMead{})
		}
	}
	return best, value, evals
}

// Starts returns n points of R^dim, the first of them zero, the others normal
// with growing standard deviation, which reach into the corners of a simplex
// that is parametrised by softmax.
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
