package exact

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// The rational sum over sequences and the quadrature give the same gradient.
func TestPopulationGHat(t *testing.T) {
	a, b := Rats("4/5 1/5; 3/10 7/10"), Rats("1/5 4/5; 9/10 1/10")
	prior := &markov.Finite{Pi: [][]float64{a.Floats(), b.Floats()}, Weight: []float64{0.5, 0.5}}
	for _, pi := range []Matrix{a, b} {
		prior.Mu = append(prior.Mu, MustStationary(pi).Floats())
	}
	for _, g := range []*graph.Forest{graph.Chain(5), graph.Figure1()} {
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			want, err := theory.GHat(g, prior, 1.0/3, reading)
			if err != nil {
				t.Fatal(err)
			}
			p := Population{g, []Matrix{a, b}, Frac(1, 3), reading == theory.QueryApart}
			for i := range g.T() {
				for j, q := range p.GHat(i) {
					if d := math.Abs(Float(q) - want.At(i, j)); d > 1e-12 {
						t.Errorf("%v, %v, (%d, %d): %v, want %v", g, reading, i, j, Float(q), want.At(i, j))
					}
				}
			}
		}
	}
}

// The rational G2 equals the G2 of the population in floats, at an attention of halves.
func TestPopulationG2(t *testing.T) {
	a, b := Rats("4/5 1/5; 3/10 7/10"), Rats("1/5 4/5; 9/10 1/10")
	prior, err := markov.NewOrbit(2, a.Floats(), b.Floats())
	if err != nil {
		t.Fatal(err)
	}
	attention := Rats("1 0 0 0; 1/2 1/2 0 0; 0 1/2 1/2 0; 0 1 0 0")
	m := theory.NewReduced(2, 4, 2*num.Log(1.5))
	for k, p := range attention.Floats() {
		if p == 0 {
			m.A1.RawMatrix().Data[k] = -1000
		}
	}
	for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
		population, err := theory.NewPopulation(graph.Chain(4), prior, 0.1, reading)
		if err != nil {
			t.Fatal(err)
		}
		p := Population{graph.Chain(4), Orbits(a, b), Frac(1, 10), reading == theory.QueryApart}
		got := p.G2(attention, Frac(3, 2)).Floats()
		for k, want := range population.Gradient(m).G2.RawMatrix().Data {
			if math.Abs(got[k]-want) > 1e-13 {
				t.Errorf("%v: entry %d is %v, want %v", reading, k, got[k], want)
			}
		}
	}
}

func smallGraph(t *rapid.T) *graph.Forest {
	return graph.Grow(rapid.IntRange(2, 3).Draw(t, "T"), func(i int) int {
		return rapid.IntRange(graph.Root, i-1).Draw(t, "parent")
	})
}

func populations(t *rapid.T) {
	pis := []Matrix{kernel(t, 2), kernel(t, rapid.IntRange(2, 3).Draw(t, "S"))}[:rapid.IntRange(0, 2).Draw(t, "matrices")]
	p := Population{smallGraph(t), pis, rational().Draw(t, "eps"), rapid.Bool().Draw(t, "apart")}
	right := len(pis) > 0 && p.Eps.Sign() > 0
	for _, pi := range pis {
		_, err := Stationary(pi)
		right = right && err == nil && len(pi) == len(pis[0])
	}
	i, n := rapid.IntRange(-1, 3).Draw(t, "i"), p.Graph.T()
	var row Vector
	if property.Decide(t, right && i >= 0 && i < n, refused(t, func() { row = p.GHat(i) })) && len(row) != i+1 {
		t.Fatalf("row %d of ghat has %d entries", i, len(row))
	}
	attention := Diag(Ones(rapid.IntRange(1, 3).Draw(t, "rows")))
	attention[0][0] = Frac(rapid.Int64Range(-1, 3).Draw(t, "attention"), rapid.Int64Range(1, 3).Draw(t, "below"))
	twice := Mul(attention[0][0], Int(2))
	kind := len(attention) == n && twice.Sign() >= 0 && twice.IsInt()
	var g2 Matrix
	if property.Decide(t, right && kind, refused(t, func() { g2 = p.G2(attention, Frac(3, 2)) })) {
		for k := range g2 { // the attention adds to one up to a factor in the first row alone
			if twice.Cmp(Int(2)) == 0 && Dot(g2.T()[k]).Sign() != 0 {
				t.Fatalf("column %d of G2 has the sum %v", k, Dot(g2.T()[k]))
			}
		}
	}
}

func relabelings(t *rapid.T) {
	pi := kernel(t, rapid.IntRange(1, 3).Draw(t, "S"))
	all := Relabelings(pi)
	if both := Orbits(pi, pi); len(both) != 2*len(all) || len(all) != []int{1, 2, 6}[len(pi)-1] {
		t.Fatalf("%d relabelings over %d states", len(all), len(pi))
	}
	for _, m := range all {
		equal(t, "the trace", m.Trace(), pi.Trace())
	}
	property.Decide(t, false, refused(t, func() { Relabelings(Rats("1/2 1/2")) }))
	property.Decide(t, false, refused(t, func() { Orbits(Matrix{}) }))
}
