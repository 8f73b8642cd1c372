package experiment

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// RandomStandard returns a standard transformer over s tokens and t positions of width d, with
// one to three heads in a layer and Gaussian weights that preserve norms on average.
func RandomStandard(r *rand.Rand, s, t, d, depth int) *model.Standard {
	m := &model.Standard{E: gaussian(r, d, s), P: gaussian(r, d, t), W: gaussian(r, s, d)}
	for range depth {
		var heads []model.Head
		for range 1 + r.IntN(3) {
			q, k, v := gaussian(r, d, d), gaussian(r, d, d), gaussian(r, d, d)
			heads = append(heads, model.Head{Q: q, K: k, V: v})
		}
		m.Layers = append(m.Layers, heads)
	}
	return m
}

// RandomDisentangled returns a disentangled transformer of the given depth over s
// tokens and t positions, with one or two heads in a layer and Gaussian weights.
func RandomDisentangled(r *rand.Rand, s, t, depth int) *model.Weights {
	var heads []int
	for range depth {
		heads = append(heads, 1+r.IntN(2))
	}
	w := model.NewWeights(s, t, heads...)
	for _, a := range w.Arrays() {
		copy(a, gaussian(r, len(a), 1).RawMatrix().Data)
	}
	return w
}

// gaussian returns a matrix of independent normal entries of variance 1/columns.
func gaussian(r *rand.Rand, rows, columns int) *mat.Dense {
	m := mat.NewDense(rows, columns, nil)
	for i := range rows {
		for j := range columns {
			m.Set(i, j, r.NormFloat64()/math.Sqrt(float64(columns)))
		}
	}
	return m
}

// RandomTokens returns t tokens, independent and uniform on 0, ..., s-1.
func RandomTokens(r *rand.Rand, s, t int) []int {
	x := make([]int, t)
	for i := range x {
		x[i] = r.IntN(s)
	}
	return x
}

// SampledLimitError estimates the Limit of [ConstructionErrors] from n random sequences of
// length t.
func SampledLimitError(c *model.Construction, t, n int, r *rand.Rand) num.Estimate {
	limit, empirical := make([]float64, c.S), make([]float64, c.S)
	var distances []float64
	for range n {
		x := RandomTokens(r, c.S, t)
		if c.Empirical(empirical, x) {
			c.Limit(limit, x)
			distances = append(distances, totalVariation(limit, empirical))
		}
	}
	return num.Average(distances)
}
