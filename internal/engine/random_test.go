package engine

import (
	"math"
	"math/rand/v2"

	"learncausal/pkg/model"
)

func randomWeights(rnd *rand.Rand, sd float64, s, t int, heads ...int) *model.Weights {
	w := model.NewWeights(s, t, heads...)
	for _, p := range w.Arrays() {
		for i := range p {
			p[i] = sd * rnd.NormFloat64()
		}
	}
	return w
}

func randomSequence(rnd *rand.Rand, s, t int) (x []int, y []float64) {
	x, y = make([]int, t), make([]float64, s)
	for i := range x {
		x[i] = rnd.IntN(s)
	}
	sum := 0.0
	for i := range y {
		y[i] = rnd.ExpFloat64()
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return x, y
}

func maxDiff(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		if diff := math.Abs(a[i] - b[i]); !(diff <= d) {
			d = diff
		}
	}
	return d
}

// weightsDiff is the largest difference of two entries.
func weightsDiff(a, b model.Model) float64 {
	d := 0.0
	for i, m := range a.Matrices() {
		d = max(d, maxDiff(m.Data, b.Matrices()[i].Data))
	}
	return d
}
