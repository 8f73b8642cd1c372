package claims

import (
	"math"
	"math/big"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// The rational sum over sequences and the quadrature give the same gradient.
func TestExactGHatEqualsTheGeneratingFunction(t *testing.T) {
	a, b := exact.Rats("4/5 1/5; 3/10 7/10"), exact.Rats("1/5 4/5; 9/10 1/10")
	prior := &markov.Finite{Pi: [][]float64{a.Floats(), b.Floats()}, Weight: []float64{0.5, 0.5}}
	for _, pi := range []exact.Matrix{a, b} {
		prior.Mu = append(prior.Mu, exact.MustStationary(pi).Floats())
	}
	for _, g := range []*graph.Forest{graph.Chain(5), graph.Figure1()} {
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			want, err := theory.GHat(g, prior, 1.0/3, reading)
			if err != nil {
				t.Fatal(err)
			}
			for i := range g.T() {
				for j, q := range exactGHat(g, i, big.NewRat(1, 3), reading, a, b) {
					if d := math.Abs(exact.Float(q) - want.At(i, j)); d > 1e-12 {
						t.Errorf("%v, %v, (%d, %d): %v, want %v", g, reading, i, j, exact.Float(q), want.At(i, j))
					}
				}
			}
		}
	}
}

// The rational G2 equals the G2 of the population, at an attention of halves.
func TestExactG2EqualsThePopulation(t *testing.T) {
	a, b := exact.Rats("4/5 1/5; 3/10 7/10"), exact.Rats("1/5 4/5; 9/10 1/10")
	prior := mustOrbit(2, a.Floats(), b.Floats())
	g := graph.Chain(4)
	attention := exact.Rats("1 0 0 0; 1/2 1/2 0 0; 0 1/2 1/2 0; 0 1 0 0")
	m := theory.NewReduced(2, 4, 2*num.Log(1.5))
	for k, p := range attention.Floats() {
		if p == 0 {
			m.A1.RawMatrix().Data[k] = -1000
		}
	}
	for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
		population, err := theory.NewPopulation(g, prior, 0.1, reading)
		if err != nil {
			t.Fatal(err)
		}
		got := exactG2(g, orbits(a, b), attention, big.NewRat(3, 2), big.NewRat(1, 10), reading).Floats()
		for k, want := range population.Gradient(m).G2.RawMatrix().Data {
			if math.Abs(got[k]-want) > 1e-13 {
				t.Errorf("%v: entry %d is %v, want %v", reading, k, got[k], want)
			}
		}
	}
}
