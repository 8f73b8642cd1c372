package claims

import (
	"math/rand/v2"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/ledger"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
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
		rows = rows[copy(m.A1[i*m.T:i*m.T+i+1], rows):]
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

// drawPopulations draws n of them: 2 or 3 states, 2 to 5 positions, a forest,
// one or two orbits, and normal entries of A1 and A2.
func drawPopulations(e *ledger.Env, n int) []smallPopulation {
	out := make([]smallPopulation, n)
	for k := range out {
		src := e.Stream("points", uint64(k))
		r := rand.New(src)
		s, t := 2+k%2, 2+r.IntN(3)
		if s == 2 && r.IntN(2) == 0 {
			t++
		}
		bases := make([][]float64, 1+r.IntN(2))
		for b := range bases {
			x := make([]float64, s*s)
			for i := range x {
				x[i] = 2 * r.NormFloat64()
			}
			bases[b] = exact.Round(ledger.Kernel(x, s, 0.01), s, 1000).Floats()
		}
		m := theory.NewReduced(s, t, 0)
		for i := range m.A1 {
			m.A1[i] = r.NormFloat64()
		}
		for i := range m.A2 {
			m.A2[i] = 2 * r.NormFloat64()
		}
		out[k] = smallPopulation{graph.Random(t, 0.3, src), mustOrbit(s, bases...), m, num.Exp(-3 * r.Float64())}
	}
	return out
}

// sequences calls visit with every pi and X of the population and its weight.
func (p smallPopulation) sequences(visit func(weight float64, pi []float64, x []int)) {
	for k, pi := range p.prior.Pi {
		seq, err := task.Task{Graph: p.graph, Prior: p.prior}.Enumerate(pi, p.prior.Mu[k])
		if err != nil {
			panic("claims: " + err.Error())
		}
		for x, w := range seq {
			visit(float64(p.prior.Weight[k]*w), pi, x)
		}
	}
}

// queries calls visit with every (pi, X, s) that the rewritten loss sums over,
// and its weight without the 1/S.
func (p smallPopulation) queries(reading theory.Reading, visit func(weight float64, pi []float64, x []int, s int)) {
	p.sequences(func(weight float64, pi []float64, x []int) {
		last := len(x) - 1
		own := x[last]
		for s := range p.model.S {
			if reading == theory.QueryInSequence {
				x[last] = s
			}
			visit(weight, pi, x, s)
		}
		x[last] = own
	})
}

// lossAsDefined returns the loss of eq. (14).
func (p smallPopulation) lossAsDefined() float64 {
	loss := 0.0
	p.sequences(func(weight float64, pi []float64, x []int) {
		s := x[len(x)-1]
		loss += float64(weight * p.model.Loss(x, s, pi[s*p.model.S:(s+1)*p.model.S], p.eps, nil))
	})
	return loss
}
