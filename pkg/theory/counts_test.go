package theory

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// Two routes that share nothing: messages and a quadrature, and the walk over
// all sequences.
func TestGHatEqualsEnumeration(t *testing.T) {
	for _, reading := range []Reading{QueryInSequence, QueryApart} {
		for _, c := range []struct {
			g     *graph.Forest
			prior *markov.Finite
		}{
			{graph.Chain(9), orbit2()},
			{graph.MustNew(-1, 0, 0, 1, 1, -1, 5, 2, 5, -1, -1), orbit2()},
			{graph.InContext(7), orbit3()},
			{graph.MustNew(-1, -1, 1, 0, 2, 2, -1), orbit3()},
			{
				graph.MustNew(-1, 0, -1, 2, -1),
				&markov.Finite{Pi: orbit3().Pi[1:3], Mu: orbit3().Mu[1:3], Weight: []float64{0.25, 0.75}},
			},
			// A corner: zero entries, so that some marginals vanish.
			{graph.Chain(6), must(markov.NewOrbit(3, []float64{0, 1, 0, 0, 0, 1, 0.5, 0.5, 0}))},
		} {
			const eps = 0.3
			n := c.g.T()
			want := must(NewPopulation(c.g, c.prior, eps, reading)).Gradient(NewReduced(c.prior.States(), n, 0)).GStar
			got := must(GHat(c.g, c.prior, eps, reading))
			if d := distance(raw(got), raw(want)); d > 1e-12 {
				t.Errorf("%v, %v: ghat deviates by %g", c.g, reading, d)
			}
		}
	}
}

func TestCountRuleIntegratesPowers(t *testing.T) {
	for _, n := range []int{2, 10, 128, 512} {
		for _, c := range []float64{0.01, 1, math.Sqrt(float64(n)), float64(n)} {
			u, w := countRule(n, c)
			if float64(len(u)) > max(8, 4*math.Sqrt(float64(n))+8) {
				t.Errorf("T=%d, T eps=%v: %d nodes", n, c, len(u))
			}
			for k := range n + 1 {
				sum := 0.0
				for i := range u {
					sum += w[i] * math.Pow(u[i], float64(k))
				}
				if d := math.Abs(sum*(float64(k)+c) - 1); d > 2e-12 {
					t.Fatalf("T=%d, T eps=%v: the integral of u^%d is off by %g", n, c, k, d)
				}
			}
		}
	}
}

// The mean of the law of a count of a long chain is the sum of the marginals.
func TestCountLaw(t *testing.T) {
	c := Chains(orbit3())[0]
	mean, total := 0.0, 0.0
	for n, q := range c.CountLaw(graph.Chain(400), 1) {
		mean += float64(n) * q
		total += q
	}
	if want := 399*c.Mu[1] + 1./3; math.Abs(mean-want) > 1e-10 || math.Abs(total-1) > 1e-12 {
		t.Errorf("T=400: mass %v, mean %v, want 1 and %v", total, mean, want)
	}
}
