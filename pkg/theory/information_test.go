package theory

import (
	"math"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
)

// Each divergence against its textbook formula, at laws that are far from each
// other.
func TestDivergencesHaveTheirFormulas(t *testing.T) {
	p, q := []float64{0.5, 0.25, 0.25, 0}, []float64{0.125, 0.5, 0.25, 0.125}
	sum := func(f func(p, q float64) float64) (d float64) {
		for x := range p {
			d += f(p[x], q[x])
		}
		return d
	}
	xlog := func(p, q float64) float64 {
		if p == 0 {
			return 0
		}
		return p * math.Log(p/q)
	}
	for _, c := range []struct {
		f              Divergence
		want, disjoint float64
	}{
		{ChiSquared, sum(func(p, q float64) float64 { return p * p / q }) - 1, math.Inf(1)},
		{KullbackLeibler, sum(xlog), math.Inf(1)},
		{ReverseKL, math.Inf(1), math.Inf(1)},
		{TotalVariation, sum(func(p, q float64) float64 { return math.Abs(p-q) / 2 }), 1},
		{Hellinger, 1 - sum(func(p, q float64) float64 { return math.Sqrt(p * q) }), 1},
		{JensenShannon, sum(func(p, q float64) float64 { m := (p + q) / 2; return (xlog(p, m) + xlog(q, m)) / 2 }), math.Ln2},
		{Hinge(2), 0.25, 1},
	} {
		apart := c.f.Between([]float64{1, 0}, []float64{0, 1})
		if got := c.f.Between(p, q); !agree(got, c.want, 1e-14) || !agree(apart, c.disjoint, 1e-15) {
			t.Errorf("%s: %v, want %v; of disjoint laws %v, want %v", c.f.Name, got, c.want, apart, c.disjoint)
		}
		if got := c.f.Between(q, q); got != 0 {
			t.Errorf("%s: D(Q, Q) = %v", c.f.Name, got)
		}
	}
	positive := []float64{0.5, 0.25, 0.125, 0.125}
	if got := ReverseKL.Between(q, positive); !agree(got, KullbackLeibler.Between(positive, q), 1e-14) {
		t.Errorf("reverse Kullback-Leibler is %v", got)
	}
}

// Near P = Q every smooth divergence is f"(1)/2 times chi-squared; nothing cancels there, and
// the series and the closed form meet.
func TestDivergencesAreQuadraticNearZero(t *testing.T) {
	for _, c := range []struct {
		f    Divergence
		half float64 // f''(1)/2
	}{{ChiSquared, 1}, {KullbackLeibler, 0.5}, {ReverseKL, 0.5}, {Hellinger, 0.125}, {JensenShannon, 0.125}} {
		for _, d := range []float64{1e-12, -1e-9, 1e-7} {
			if got := c.f.F(1+d) / (c.half * ((1 + d) - 1) * ((1 + d) - 1)); math.Abs(got-1) > 1e-6 {
				t.Errorf("%s: f(1+%g) is %v times its quadratic part", c.f.Name, d, got)
			}
		}
		for _, z := range []float64{0.9, 1.1} {
			below, above := c.f.F(math.Nextafter(z, 1)), c.f.F(z)
			if !agree(below, above, 1e-13) {
				t.Errorf("%s: f jumps from %v to %v at %v", c.f.Name, above, below, z)
			}
		}
	}
}

// The law of a pair by powers of pi, its information for each divergence, and
// g_ij are sums over all sequences.
func TestPairsAgreeWithEnumeration(t *testing.T) {
	g := graph.MustNew(-1, 0, 0, 2, -1, 4, -1)
	base := []float64{0.5, 0.3, 0.2, 0.2, 0.3, 0.5, 0.6, 0.2, 0.2}
	prior, err := markov.NewOrbit(3, base)
	if err != nil {
		t.Fatal(err)
	}
	const n, s = 7, 3
	for _, c := range Chains(prior)[:2] {
		seqs, err := task.Task{Graph: g, Prior: prior}.Enumerate(c.Pi.RawMatrix().Data, c.Mu)
		if err != nil {
			t.Fatal(err)
		}
		var sums [n][n][s * s]float64
		var gs [n][n]float64
		for x, p := range seqs {
			for i := range n {
				for j := range n {
					sums[i][j][x[i]*s+x[j]] += p
					gs[i][j] += p * c.Pi.At(x[j], x[i]) / c.Mu[x[i]]
				}
			}
		}
		for i := range n {
			for j := range n {
				law := sums[i][j][:]
				for k, p := range raw(c.Joint(g, i, j)) {
					if math.Abs(p-law[k]) > 1e-14 {
						t.Fatalf("P[s_%d, s_%d] entry %d is %v, sequences say %v", i, j, k, p, law[k])
					}
				}
				product := make([]float64, s*s)
				u, v := c.Marginal(g, i), c.Marginal(g, j)
				for k := range product {
					product[k] = u[k/s] * v[k%s]
				}
				for _, f := range Divergences() {
					got, want := c.Information(f, g, i, j), f.Between(law, product)
					if math.Abs(got-want) > 1e-13 && got != want {
						t.Errorf("%s information of (%d, %d) is %v, sequences say %v", f.Name, i, j, got, want)
					}
				}
				if got, want := c.G(g, i, j), gs[i][j]-1; math.Abs(got-want) > 1e-13 {
					t.Errorf("g_{%d,%d} = %v, sequences say %v", i, j, got, want)
				}
			}
		}
	}
}

// Floats keep their relative accuracy at any distance, where rationals are the
// judge.
func TestFarPairsKeepTheirAccuracy(t *testing.T) {
	g := graph.MustNew(-1, 0, 1, 2, 3, 4, 5, 0, 7, 8, 9, -1)
	cs, ms := twins(t)
	cs, ms = cs[:3], ms[:3]
	for k, c := range cs {
		for _, ij := range [][2]int{{1, 0}, {6, 0}, {10, 6}, {6, 7}, {5, 5}, {11, 11}, {11, 3}} {
			i, j := ij[0], ij[1]
			want := exact.Float(exact.ChiSquaredInformation(exact.Joint(ms[k], g, i, j)))
			if got := c.Information(ChiSquared, g, i, j); !agree(got, want, 1e-10) {
				t.Errorf("chain %d: chi-squared information of (%d, %d) is %v, want %v", k, i, j, got, want)
			}
			want = exact.Float(exact.G(ms[k], g, i, j))
			if got := c.G(g, i, j); !agree(got, want, 1e-10) {
				t.Errorf("chain %d: g_{%d,%d} = %v, want %v", k, i, j, got, want)
			}
		}
	}
}

func TestOptimalLossIsTheMeanEntropy(t *testing.T) {
	prior, err := markov.NewOrbit(2, []float64{0.5, 0.5, 0.25, 0.75}, []float64{0.25, 0.75, 0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	want := (math.Ln2 + 0.25*math.Log(4) + 0.75*math.Log(4.0/3)) / 2
	if got := OptimalLoss(prior); !agree(got, want, 1e-14) {
		t.Errorf("L* = %v, want %v", got, want)
	}
}
