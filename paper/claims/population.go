package claims

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

// The divisors of the sum over the queried token.
func perState(s int) *big.Rat { return exact.Int(s) }

func undivided(int) *big.Rat { return exact.Int(1) }

// A smallPopulation is a model with a prior and a graph so small that all sequences can be summed over.
type smallPopulation struct {
	graph *graph.Forest
	prior *markov.Finite
	model *theory.Reduced
	eps   float64
}

func (p smallPopulation) instance() ledger.Instance {
	return ledger.Instance{"graph": p.graph, "S": p.model.S, "T": p.model.T, "prior": p.prior.String(), "eps": p.eps}
}

// newSmallPopulation returns the population with A2 = beta I and the rows of A1, each
// up to the diagonal, one after the other.
func newSmallPopulation(g *graph.Forest, prior *markov.Finite, eps, beta float64, rows []float64) smallPopulation {
	m := theory.NewReduced(prior.States(), g.T(), beta)
	for i := range m.T {
		rows = rows[copy(m.A1.RawRowView(i)[:i+1], rows):]
	}
	return smallPopulation{g, prior, m, eps}
}

// gradients returns the population gradient of the loss.
func (p smallPopulation) gradients(reading theory.Reading) *theory.Population {
	population, err := theory.NewPopulation(p.graph, p.prior, p.eps, reading)
	if err != nil {
		panic("claims: " + err.Error())
	}
	return population
}

// exactPopulation returns the same in rationals, for the uniform prior over matrices.
func exactPopulation(g *graph.Forest, eps *big.Rat, reading theory.Reading, pis ...exact.Matrix) exact.Population {
	return exact.Population{Graph: g, Pis: pis, Eps: eps, Apart: reading == theory.QueryApart}
}

// shift returns |g* - ghat|_inf.
func (p smallPopulation) shift(reading theory.Reading) float64 {
	gradients, still := p.gradients(reading), *p.model
	still.A2 = mat.NewDense(still.S, still.S, nil)
	star, ghat := gradients.Gradient(p.model).GStar, gradients.Gradient(&still).GStar
	return floats.Distance(star.RawMatrix().Data, ghat.RawMatrix().Data, math.Inf(1))
}
