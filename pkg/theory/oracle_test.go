package theory

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

func oracleGraphs() []*graph.Forest {
	return []*graph.Forest{
		graph.Chain(9), graph.InContext(9), graph.Figure1(),
		graph.MustNew(-1, 0, 0, 0, 0, 0, 0, -1),
		graph.Random(12, 0.3, num.Stream(1, "oracle")), graph.Random(12, 0.3, num.Stream(2, "oracle")),
	}
}

// Algorithm 2 (alg-oracle) and Section 5.1.1 (rem-chow-liu), for every
// divergence but the hinge, which is blind to the weak dependence here: that
// is the planted fault.
func TestExactInformationGivesTheGraph(t *testing.T) {
	for _, g := range oracleGraphs() {
		for _, f := range Divergences() {
			info, floor := Information(f, orbit3(), g), make([]float64, g.T())
			found := slices.Equal(Oracle(info, floor).Parents(), g.Parents())
			tree := slices.Equal(ChowLiu(info, floor), g.Edges())
			if want := f.Name != Hinge(2).Name; found != want || tree != want {
				t.Errorf("%v, %s: the oracle finds the graph: %v, Chow-Liu: %v, want %v", g, f.Name, found, tree, want)
			}
		}
	}
}

// From samples the two may differ: then Chow-Liu has the greater weight.
func TestChowLiuIsTheHeaviestForest(t *testing.T) {
	tk := task.Task{Graph: graph.Chain(8), Prior: must(markov.NewDirichlet(3, 1))}
	differ := 0
	for k := range 20 {
		s := newSample(tk, 3, 10, num.Stream(3, "chow-liu", uint64(k)))
		info, floor := s.information(ChiSquared), make([]float64, s.t)
		weight := func(edges [][2]int) float64 {
			sum := 0.0
			for _, e := range edges {
				sum += info.At(e[1], e[0])
			}
			return sum
		}
		tree, oracle := ChowLiu(info, floor), Oracle(info, floor).Edges()
		if !slices.Equal(tree, oracle) {
			differ++
			if weight(tree) <= weight(oracle) {
				t.Errorf("sample %d: Chow-Liu has weight %v, the oracle %v", k, weight(tree), weight(oracle))
			}
		}
		if !slices.Equal(tree, ChowLiu(info, floor)) {
			t.Errorf("sample %d: two runs differ", k)
		}
	}
	if differ == 0 {
		t.Error("the two never differ on small samples: the test tests nothing")
	}
}

func TestPlugInConvergesToTheInformation(t *testing.T) {
	prior := orbit3()
	given := &markov.Finite{Pi: prior.Pi[:1], Mu: prior.Mu[:1], Weight: []float64{1}}
	g := graph.Figure1()
	s := newSample(task.Task{Graph: g, Prior: given}, 1, 1<<16, num.Stream(4, "plug-in"))
	for _, f := range Divergences() {
		got, want := s.information(f), Information(f, given, g)
		for i := range g.T() {
			for j := range i {
				// The standard error of an information is of the order of 2^-8 sqrt(I),
				// a total variation's of 2^-8.
				if d := math.Abs(got.At(i, j) - want.At(i, j)); d > 0.02 {
					t.Errorf("%s: (%d, %d) deviates by %g", f.Name, i, j, d)
				}
			}
		}
	}
}

func TestRecoveryRisesWithTheSample(t *testing.T) {
	tk := task.Task{Graph: graph.Figure1(), Prior: orbit3()}
	// Deterministic: seed 1.
	for _, c := range []struct {
		groups, each, rounds int
		want                 Recovery
	}{
		{3, 10, 19, Recovery{20, 0, 0.2, 0}},
		{3, 30, 9, Recovery{20, 0.25, 0.7125, 0.25}},
		{3, 400, 19, Recovery{20, 1, 1, 1}},
	} {
		if got := Recover(tk, ChiSquared, c.groups, c.each, c.rounds, 20, 1); got != c.want {
			t.Errorf("%d groups of %d sequences: %+v, want %+v", c.groups, c.each, got, c.want)
		}
	}
}

// Jeffreys' divergence, the sum of both Kullback-Leibler divergences, by its own f.
func TestDivergenceOfOnesOwn(t *testing.T) {
	jeffreys := NewDivergence("Jeffreys", func(d float64) float64 { return entropic(d) + logarithmic(d) }, math.Inf(1))
	p, q := []float64{0.2, 0.3, 0.5}, []float64{0.1, 0.6, 0.3}
	want := KullbackLeibler.Between(p, q) + ReverseKL.Between(p, q)
	if got := jeffreys.Between(p, q); math.Abs(got-want) > 1e-15 {
		t.Errorf("Jeffreys' divergence %v, want %v", got, want)
	}
	for want, make := range map[string]func(){
		"f(1) = 0":         func() { NewDivergence("shifted", func(d float64) float64 { return d*d + 1 }, math.Inf(1)) },
		"f(0) = -1":        func() { NewDivergence("linear", func(d float64) float64 { return d }, 1) },
		"not convex":       func() { NewDivergence("root", func(d float64) float64 { return math.Sqrt(math.Abs(d)) }, 1) },
		"with the slope 1": func() { NewDivergence("square", func(d float64) float64 { return d * d }, 1) },
	} {
		func() {
			defer func() {
				if r := recover(); !strings.Contains(fmt.Sprint(r), want) {
					t.Errorf("panic %v, want %q", r, want)
				}
			}()
			make()
		}()
	}
}
