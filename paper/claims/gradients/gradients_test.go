package gradients

import (
	"math/big"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/pkg/theory"
)

// The losses at A1 = A2 = 0 in both readings, against the population loss in floats.
func TestLossAtZeroIsThePopulationLoss(t *testing.T) {
	check := compare.With(t)
	for _, u := range compare.Asymmetrics() {
		s, t := len(u.First), u.Graph.T()
		p, model := population{u.Graph, "prior", u.Matrices()}, theory.NewReduced(s, t, 0)
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			terms := logTerms{}
			p.queries(reading, func(weight *big.Rat, pi exact.Matrix, x []int, query int) {
				terms.add(x, query, exact.Quo(weight, instruments.PerState(s)), pi[query])
			})
			zero := instruments.SmallPopulation{Graph: u.Graph, Prior: u.Prior(), Model: model, Eps: 1 / float64(t)}
			loss, _ := zero.Gradients(reading).Loss(model)
			check("a loss at A1 = A2 = 0", loss, atZero(terms.byCount(t)).Float())
		}
	}
}
