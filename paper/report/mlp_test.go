package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
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
	e = SingleParent{Graph: mustGraph(-1, -1, -1, 1, -1)}
	if b := e.mlpAttention([][]float64{{1}, {0.4, 0.6}, {0.1, 0.2, 0.7}, {0, 1, 0, 0}, {0, 0, 0, 0, 1}}); b.Roots != 2 || b.Largest != 0 || b.LargestBarren != 1 {
		t.Errorf("got %+v, want the third position largest at itself, which has no child", b)
	}
	if a.Edges != 3 || a.Found != 2 || !slices.Equal(a.Missed, []int{3}) || a.Roots != 1 || a.Largest != 1 || a.LargestBarren != 0 {
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
	last := len(ms[0].Runs) - 1
	rs := []*runs.Run{ms[0].Runs[last], ms[5].Runs[0]}
	if _, err := Replay(t.Context(), nil, rs...); err != nil {
		t.Error(err)
	}
	rs[0].Final.Weights.Matrices()[0].Data[7] += 1e-15
	if _, err := Replay(t.Context(), nil, rs[0]); err == nil {
		t.Error("a changed weight was not found")
	}
}

func TestSampleSummarisesTheSeeds(t *testing.T) {
	s := newSample([]float64{2, 5, 1, 4, 3})
	for _, v := range [][2]float64{
		{s.Mean, 3},
		{s.StdDev, math.Sqrt(2.5)},
		{s.stdErr(), math.Sqrt(0.5)},
		{s.Least, 1},
		{s.Most, 5},
		{s.oneMore(3 + 2.7764451051977987*math.Sqrt(2.5*1.2)), 0.05}, // the quantile of tables, 4 degrees of freedom
		{s.oneMore(3 - 4.604094871415897*math.Sqrt(2.5*1.2)), 0.01},
		{newSample([]float64{7}).stdErr(), 0},
		{newSample([]float64{7}).oneMore(8), 1},
	} {
		if !(math.Abs(v[0]-v[1]) < 1e-12) {
			t.Errorf("%+v: got %v, want %v", s, v[0], v[1])
		}
	}
	if got := newSample([]float64{-0.02, 0.01}).span(2); got != "−0.02 to 0.01" {
		t.Errorf("span is %q", got)
	}
}

func TestErrorOfLossesCountsSeedsAndSequences(t *testing.T) {
	m := &MLPResult{Losses: []*Losses{{Model: Estimate{Mean: 1, StdErr: 0.3}}, {Model: Estimate{Mean: 3, StdErr: 0.5}}}}
	s, se := m.overLosses(func(l *Losses) Estimate { return l.Model })
	if want := math.Hypot(1, 0.4); s.Mean != 2 || !(math.Abs(se-want) < 1e-15) {
		t.Errorf("%v ± %v, want 2 ± %v", s.Mean, se, want)
	}
}

func TestMLPRowsJudgeEverySeed(t *testing.T) {
	good := MLPAttention{Parents: 0.8, Found: 3, Edges: 3, Roots: 3, First: 0.5, Uniform: 0.3, Largest: 2}
	run := func(loss float64) *runs.Run { return &runs.Run{Curve: []train.Point{{Loss: loss}}} }
	m := &MLPResult{
		SingleParent: SingleParent{ID: "random"}, Embeddings: "trained",
		Runs: []*runs.Run{run(1.763), run(1.764), run(1.765)}, Seeds: []MLPAttention{good, good, good},
	}
	check := func(row int, want string) {
		t.Helper()
		if v := MLPRows([]*MLPResult{m})[row].Verdict; !strings.HasPrefix(v, want) {
			t.Errorf("row %d: %q, want %q", row, v, want)
		}
	}
	check(0, "reproduced")
	check(1, "reproduced")
	check(3, "not stated; their run could be one more")
	m.Seeds[1].Found = 2
	check(0, "differs: in 1 of 3 seeds")
	m.Seeds[2].Largest = 1
	check(1, "differs: not in 1 of 3 seeds")
	m.Seeds[2].Largest, m.Seeds[0].First = 2, 0.3
	check(1, "differs: not in 1 of 3 seeds")
	m.Runs[0] = run(1.7641)
	m.Runs[1], m.Runs[2] = run(1.7642), run(1.7643)
	check(3, "not stated; their run could be one more")
	m.Runs[0], m.Runs[1], m.Runs[2] = run(1.7741), run(1.7742), run(1.7743)
	check(3, "not stated; their run is -0.010 ± 0.000 from our mean")
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
