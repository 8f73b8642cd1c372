package claims

import (
	"math"
	"math/big"
	"testing"

	"learncausal/pkg/exact"
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
					if d := math.Abs(exact.Float(q) - want[i*g.T()+j]); d > 1e-12 {
						t.Errorf("%v, %v, (%d, %d): %v, want %v", g, reading, i, j, exact.Float(q), want[i*g.T()+j])
					}
				}
			}
		}
	}
}

// With one entry above the others, h = (1, 0, ..., 0), the time to attention p
// is known: dS/dt = S^2 (1-S)^2 n/(n-1) for n positions.
func TestFlowOfOneLeader(t *testing.T) {
	const n, p = 50, 0.9
	h := make([]float64, n)
	h[0] = 1
	// The antiderivative of 1/(S^2 (1-S)^2) is 2 log(S/(1-S)) - 1/S + 1/(1-S).
	f := func(s float64) float64 { return 2*num.Log(s/(1-s)) - 1/s + 1/(1-s) }
	want := (f(p) - f(1.0/n)) * (n - 1) / n
	got, _ := flow(h, math.Inf(1), func(_ float64, s []float64) bool { return s[0] >= p })
	if math.Abs(got/want-1) > 0.05 {
		t.Errorf("time %v, want %v", got, want)
	}
}

// The runaway of lem-no-parents is not one of the limit: gradient descent on the
// exact population loss, at beta0 = 1/1000 and in both readings, gives a root's
// attention to itself while its neighbour finds its parent.
func TestRootRunsAwayOnTheExactPopulation(t *testing.T) {
	g := graph.InContext(8)
	for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
		pop, err := theory.NewPopulation(g, stageOnePriors()[0], 1/math.Sqrt(8), reading)
		if err != nil {
			t.Fatal(err)
		}
		m := theory.NewReduced(3, 8, 0.001)
		const rate = 2 * 3 * 8 / 0.001
		for range 100 {
			for k, v := range pop.Gradient(m).G1 {
				m.A1[k] -= rate * v
			}
		}
		a := m.Attention()
		if root, child := a[6*8+6], a[5*8+4]; root < 0.9 || child < 0.9 {
			t.Errorf("%v: attention %.3f of the root to itself, %.3f of the child to its parent", reading, root, child)
		}
	}
}
