package engine

import (
	"math/rand/v2"

	"learncausal/internal/property"
	"learncausal/pkg/model"
)

func randomWeights(rnd *rand.Rand, sd float64, s, t int, heads ...int) *model.Weights {
	w := model.NewWeights(s, t, heads...)
	property.Fill(rnd, sd, model.Trained(w)...)
	return w
}

// weightsDiff is the largest difference of two entries.
func weightsDiff(a, b model.Model) float64 {
	d := 0.0
	for i, m := range a.Matrices() {
		d = max(d, property.MaxDiff(m.Data, b.Matrices()[i].Data))
	}
	return d
}
