package theory

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
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
			if d := distance(raw(must(GHat(c.g, c.prior, eps+1e-9, reading))), raw(want)); d < 1e-12 {
				t.Errorf("%v, %v: a spoilt eps passes", c.g, reading)
			}
		}
	}
}

// A chain of 24 positions in rational numbers, by polynomials in u whose
// coefficients are E[1[N = k] 1[x_i = s'] 1[x_j = s]].
func TestGHatEqualsRationals(t *testing.T) {
	const n, s = 24, 2
	pi := []*big.Rat{big.NewRat(3, 4), big.NewRat(1, 4), big.NewRat(1, 8), big.NewRat(7, 8)}
	mu := []*big.Rat{big.NewRat(1, 3), big.NewRat(2, 3)}
	eps := big.NewRat(1, 4)
	prior := &markov.Finite{
		Pi: [][]float64{{0.75, 0.25, 0.125, 0.875}}, Mu: [][]float64{{1. / 3, 2. / 3}}, Weight: []float64{1},
	}
	got := must(GHat(graph.Chain(n), prior, 0.25, QueryApart))

	half := big.NewRat(1, 2)
	// law[a][k] = P(N = k, x_last = a) along the chain, with tokens at i and j fixed.
	counts := func(i, si, j, sj, state int) []*big.Rat {
		zero := func() [][]*big.Rat {
			p := make([][]*big.Rat, s)
			for a := range p {
				p[a] = make([]*big.Rat, n+1)
				for k := range p[a] {
					p[a][k] = new(big.Rat)
				}
			}
			return p
		}
		law := zero()
		for a := range s {
			law[a][0].Set(mu[a])
		}
		for at := range n {
			next := zero()
			for a := range s {
				for b := range s {
					var step *big.Rat
					switch {
					case at == 0 && a != b: // law already holds x_0
						continue
					case at == 0:
						step = big.NewRat(1, 1)
					case at == n-1:
						step = half
					default:
						step = pi[a*s+b]
					}
					if at == i && b != si || at == j && b != sj {
						continue
					}
					shift := 0
					if b == state {
						shift = 1
					}
					for k := 0; k+shift <= n; k++ {
						next[b][k+shift].Add(next[b][k+shift], new(big.Rat).Mul(step, law[a][k]))
					}
				}
			}
			law = next
		}
		sum := zero()[0]
		for k := range sum {
			for a := range s {
				sum[k].Add(sum[k], law[a][k])
			}
		}
		return sum
	}
	for _, c := range [][2]int{{0, 0}, {1, 0}, {11, 10}, {17, 3}, {22, 22}, {23, 5}, {23, 23}} {
		i, j := c[0], c[1]
		total := new(big.Rat)
		for b := range s {
			for a := range s {
				for at := range s { // x_i
					for k, p := range counts(i, at, j, b, a) {
						muhat := big.NewRat(int64(k), n)
						d := new(big.Rat).Neg(muhat)
						if at == a {
							d.Add(d, big.NewRat(1, 1))
						}
						d.Mul(d, p).Mul(d, pi[b*s+a]).Quo(d, new(big.Rat).Add(muhat, eps))
						total.Add(total, d)
					}
				}
			}
		}
		want, _ := total.Float64()
		if d := math.Abs(got.At(i, j) - want); d > 1e-12 {
			t.Errorf("ghat[%d][%d] = %v, in rational numbers %v", i, j, got.At(i, j), want)
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

// The law against enumeration, and its mean against the marginals.
func TestCountLaw(t *testing.T) {
	g := graph.MustNew(-1, 0, 0, -1, 1, 3, -1)
	prior := &markov.Finite{Pi: orbit3().Pi[:1], Mu: orbit3().Mu[:1], Weight: []float64{1}}
	p := must(NewPopulation(g, prior, 1, QueryInSequence))
	for state := range 3 {
		want := make([]float64, 8)
		p.Each(NewReduced(3, 7, 0), func(o Outcome) {
			n := 0
			for _, a := range o.X {
				if a == state {
					n++
				}
			}
			want[n] += o.Weight
		})
		if d := distance(Chains(prior)[0].CountLaw(g, state), want); d > 1e-15 {
			t.Errorf("law of N_%d deviates by %g", state, d)
		}
	}
	mean, total := 0.0, 0.0
	for n, q := range Chains(prior)[0].CountLaw(graph.Chain(400), 1) {
		mean += float64(n) * q
		total += q
	}
	if want := 399*prior.Mu[0][1] + 1./3; math.Abs(mean-want) > 1e-10 || math.Abs(total-1) > 1e-12 {
		t.Errorf("T=400: mass %v, mean %v, want 1 and %v", total, mean, want)
	}
}

func TestGHatRefusesNoPerturbation(t *testing.T) {
	if _, err := GHat(graph.Chain(3), orbit2(), 0, QueryApart); err == nil {
		t.Error("eps = 0 is accepted")
	}
}

func BenchmarkGHat(b *testing.B) {
	for _, n := range []int{128, 512} {
		for _, prior := range []*markov.Finite{orbit2(), orbit3()} {
			for name, g := range map[string]*graph.Forest{
				"chain": graph.Chain(n), "in-context": graph.InContext(n),
				"random": graph.Random(n, 0.3, num.Stream(1, "b")),
			} {
				b.Run(fmt.Sprintf("S%dT%d/%s", prior.States(), n, name), func(b *testing.B) {
					for b.Loop() {
						_, _ = GHat(g, prior, 1/math.Sqrt(g.TEff()), QueryApart)
					}
				})
			}
		}
	}
}
