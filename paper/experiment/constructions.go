package experiment

import (
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// A ConstructionError has mean total-variation distances over all S^T sequences, with equal weights.
type ConstructionError struct {
	Finite  float64 // between the construction at finite scales and its exact limit
	Largest float64 // the largest of these distances, in place of their mean
	Limit   float64 // between the limit and the empirical transition, over the sequences where it is defined
	Total   float64 // between the construction at finite scales and the empirical transition
}

// ConstructionErrors enumerates all sequences, with beta1 = beta2 = beta.
func ConstructionErrors(c *model.Construction, beta float64) ConstructionError {
	var e ConstructionError
	w := c.Weights(beta, beta)
	limit, empirical := make([]float64, c.S), make([]float64, c.S)
	n, defined := 0.0, 0.0
	for x := range task.Sequences(c.S, w.T) {
		f := w.Linear(x).RawRowView(w.T - 1)
		c.Limit(limit, x)
		distance := totalVariation(f, limit)
		e.Finite += distance
		e.Largest = max(e.Largest, distance)
		n++
		if c.Empirical(empirical, x) {
			e.Limit += totalVariation(limit, empirical)
			e.Total += totalVariation(f, empirical)
			defined++
		}
	}
	return ConstructionError{e.Finite / n, e.Largest, e.Limit / defined, e.Total / defined}
}
