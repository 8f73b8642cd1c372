package paper

import (
	"math"
	"slices"
	"testing"

	"learncausal/pkg/runs"
)

func TestMLPAttentionCountsEdgesAndRoots(t *testing.T) {
	// Roots 0, 2 and the query; parents of 1, 3, 4 are 0, 0, 2; childless 1, 3, 4.
	e := SingleParent{Graph: mustGraph(-1, 0, -1, 0, 2, -1)}
	a := e.mlpAttention([][]float64{
		{1},
		{0.6, 0.4},
		{0.5, 0.2, 0.3},
		{0.2, 0.1, 0.6, 0.1},
		{0.1, 0.1, 0.7, 0.05, 0.05},
		{0, 0, 0.1, 0, 0, 0.9},
	})
	if a.Edges != 3 || a.Found != 2 || a.Roots != 1 || a.Largest != 1 {
		t.Errorf("got %+v, want 2 of 3 edges and 1 of 1 roots", a)
	}
	for _, v := range [][2]float64{
		{a.Parents, 0.5}, {a.Least, 0.2}, {a.First, 0.5}, {a.Uniform, 1. / 3}, {a.Barren, 0.2}, {a.UniformBarren, 1. / 3}, {a.Query, 0.9}, {a.OnRoots, 0.1},
	} {
		if !(math.Abs(v[0]-v[1]) < 1e-15) {
			t.Errorf("got %+v: %v, want %v", a, v[0], v[1])
		}
	}
}

func TestEveryMLPSpecIsValidAndItsOwn(t *testing.T) {
	var seen []string
	for _, s := range MLPSpecs() {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		seen = append(seen, runs.Address(s))
	}
	slices.Sort(seen)
	if n, want := len(slices.Compact(seen)), len(SingleParents())*(MLPSeeds["trained"]+MLPSeeds["fixed"]); n != want {
		t.Errorf("%d addresses, want %d", n, want)
	}
}

// The attention that a run's curve holds is that of the figure.
func TestMLPCurveHoldsTheFiguresAttention(t *testing.T) {
	ms, err := LoadMLP(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		for k, r := range m.Runs {
			if got, want := m.Seeds[k].Parents, r.Curve[len(r.Curve)-1].Attention; !(math.Abs(got-want) < 1e-14) {
				t.Errorf("%s, seed %d: %v on the parents, the curve says %v", m.id(), k, got, want)
			}
			for i, row := range m.Seeds[k].P {
				sum := 0.0
				for _, v := range row {
					sum += v
				}
				if !(math.Abs(sum-1) < 1e-12) {
					t.Errorf("%s, seed %d: row %d sums to %v", m.id(), k, i, sum)
				}
			}
		}
	}
	if _, err := Replay(t.Context(), nil, ms[0].Runs[0], ms[5].Runs[0]); err != nil {
		t.Error(err)
	}
}

func TestComparedRunsShareTheirTest(t *testing.T) {
	a, err := stored(t.Context(), SingleParents()[0].Spec())
	if err != nil {
		t.Fatal(err)
	}
	b, err := stored(t.Context(), SingleParents()[1].Spec())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CompareAllLosses([]*runs.Run{a, b}, 16, 16); err == nil {
		t.Error("runs on two graphs were compared on the test sequences of one")
	}
}
