package claims

import (
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// A smallPopulation is a prior and a graph, so few sequences that they can be
// summed over, with a model on it.
type smallPopulation struct {
	graph *graph.Forest
	prior *markov.Finite
	model *theory.Reduced
	eps   float64
}

func (p smallPopulation) instance() ledger.Instance {
	return ledger.Instance{"graph": p.graph, "S": p.model.S, "T": p.model.T, "prior": p.prior.String(), "eps": p.eps}
}

// newSmallPopulation returns the one with A2 = beta I and the given rows of A1, from
// the diagonal down, one after the other.
func newSmallPopulation(g *graph.Forest, prior *markov.Finite, eps, beta float64, rows []float64) smallPopulation {
	m := theory.NewReduced(prior.States(), g.T(), beta)
	for i := range m.T {
		rows = rows[copy(m.A1.RawRowView(i)[:i+1], rows):]
	}
	return smallPopulation{g, prior, m, eps}
}

// gradients returns what gives those of the loss.
func (p smallPopulation) gradients(reading theory.Reading) *theory.Population {
	population, err := theory.NewPopulation(p.graph, p.prior, p.eps, reading)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return population
}
