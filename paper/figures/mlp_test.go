package figures

import (
	"math"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

func TestMLPAttentionCountsEdgesAndRoots(t *testing.T) {
	// Roots 0, 2 and the query; parents of 1, 3, 4 are 0, 0, 2; leaves 1, 3, 4.
	a := newMLPAttention(graph.MustNew(-1, 0, -1, 0, 2, -1), [][]float64{
		{1},
		{0.6, 0.4},
		{0.5, 0.2, 0.3},
		{0.2, 0.1, 0.6, 0.1},
		{0.1, 0.1, 0.7, 0.05, 0.05},
		{0, 0, 0.1, 0, 0, 0.9},
	})
	b := newMLPAttention(graph.MustNew(-1, -1, -1, 1, -1),
		[][]float64{{1}, {0.4, 0.6}, {0.1, 0.2, 0.7}, {0, 1, 0, 0}, {0, 0, 0, 0, 1}})
	if b.Roots != 2 || b.Largest != 0 || b.LargestLeaves != 1 {
		t.Errorf("got %+v, want the third position largest at itself, which has no child", b)
	}
	if a.Edges != 3 || a.Found != 2 || !slices.Equal(a.Missed, []int{3}) || a.Roots != 1 || a.Largest != 1 ||
		a.LargestLeaves != 0 {
		t.Errorf("got %+v, want 2 of 3 edges and 1 of 1 roots", a)
	}
	for _, v := range [][2]float64{
		{a.Parents, 0.5},
		{a.Least, 0.2},
		{a.First, 0.5},
		{a.Uniform, 1. / 3},
		{a.Leaves, 0.2},
		{a.UniformLeaves, 1. / 3},
		{a.Query, 0.9},
		{a.OnRoots, 0.1},
	} {
		if !(math.Abs(v[0]-v[1]) < 1e-15) {
			t.Errorf("got %+v: %v, want %v", a, v[0], v[1])
		}
	}
}

func TestEveryMLPSpecIsValidAndDistinct(t *testing.T) {
	var seen []string
	for _, s := range mlpSpecs() {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
		seen = append(seen, runs.Address(s))
	}
	slices.Sort(seen)
	if n, want := len(slices.Compact(seen)), 3*len(SingleParents())*mlpSeeds; n != want {
		t.Errorf("%d addresses, want %d", n, want)
	}
}

// The attention in a run's curve equals the attention of the figure.
func TestMLPCurveHoldsTheFiguresAttention(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it measures every run with MLPs")
	}
	ms, err := LoadMLP(t.Context(), stored, SingleParents()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		for k, r := range m.Runs {
			if got, want := m.Seeds[k].Parents, r.Curve[len(r.Curve)-1].Attention; !(math.Abs(got-want) < 1e-14) {
				t.Errorf("%s, seed %d: %v on the parents, the curve says %v", m.ID(), k, got, want)
			}
			if want := r.Curve[len(r.Curve)-1].Loss; len(m.Outcomes) > 0 && float64(m.Outcomes[k].End().Loss) != want {
				t.Errorf("%s, seed %d: loss %v in the sweep, stored %v", m.ID(), k, m.Outcomes[k].End().Loss, want)
			}
			for i, row := range m.Seeds[k].P {
				sum := 0.0
				for _, v := range row {
					sum += v
				}
				if !(math.Abs(sum-1) < 1e-12) {
					t.Errorf("%s, seed %d: row %d sums to %v", m.ID(), k, i, sum)
				}
			}
		}
	}
}

func TestSampleSummarisesTheSeeds(t *testing.T) {
	s := trial.NewSample([]float64{2, 5, 1, 4, 3})
	for _, v := range [][2]float64{
		{s.Mean, 3},
		{s.StdDev, math.Sqrt(2.5)},
		{s.StdErr(), math.Sqrt(0.5)},
		{s.Least, 1},
		{s.Most, 5},
		{s.PValue(3 + 2.7764451051977987*math.Sqrt(2.5*1.2)), 0.05}, // the quantile of tables, 4 degrees of freedom
		{s.PValue(3 - 4.604094871415897*math.Sqrt(2.5*1.2)), 0.01},
		{trial.NewSample([]float64{7}).StdErr(), 0},
		{trial.NewSample([]float64{7}).PValue(8), 1},
	} {
		if !(math.Abs(v[0]-v[1]) < 1e-12) {
			t.Errorf("%+v: got %v, want %v", s, v[0], v[1])
		}
	}
}

func TestErrorOfLossesCountsSeedsAndSequences(t *testing.T) {
	m := &MLPResult{Losses: []*Losses{
		{Model: num.Estimate{Mean: 1, StdErr: 0.3}}, {Model: num.Estimate{Mean: 3, StdErr: 0.5}},
	}}
	s, se := m.OverLosses(func(l *Losses) num.Estimate { return l.Model })
	if want := math.Hypot(1, 0.4); s.Mean != 2 || !(math.Abs(se-want) < 1e-15) {
		t.Errorf("%v ± %v, want 2 ± %v", s.Mean, se, want)
	}
}

func TestMLPRowsJudgeEverySeed(t *testing.T) {
	good := MLPAttention{Parents: 0.8, Found: 3, Edges: 3, Roots: 3, First: 0.5, Uniform: 0.3, Largest: 2}
	outcome := func(loss trial.Number, learned bool) *trial.Outcome {
		return &trial.Outcome{
			Curve: []trial.OutcomePoint{{Loss: loss, Attention: 0.8}},
			Edges: []trial.Edge{{Given: true, Learned: true}, {Given: true, Learned: learned}, {Learned: true}},
		}
	}
	m := &MLPResult{
		SingleParent: SingleParent{Name: "random", Title: "Random"}, Kind: "trained",
		Seeds:    []MLPAttention{good, good, good},
		Outcomes: []*trial.Outcome{outcome(1.763, true), outcome(1.764, true), outcome(1.765, true)},
	}
	chain := *m
	chain.Name, chain.Title = "chain", "Chain"
	check := func(what, want string) {
		t.Helper()
		rows := mlpRows([]*MLPResult{&chain, m})
		i := slices.IndexFunc(rows, func(r Row) bool { return r.What == what })
		if i < 0 || !strings.HasPrefix(rows[i].Verdict, want) {
			t.Errorf("%s: %+v, want %q", what, rows, want)
		}
	}
	edges, roots := "Random, trained embeddings", "roots of the random graph, trained embeddings"
	loss := "Chain, trained embeddings, final test loss"
	check(edges, "too few runs to tell: 3 of 3")
	check(roots, "too few runs to tell: 3 of 3")
	check(loss, "like one of our runs: p = ")
	m.Seeds[2].Largest = 1
	check(roots, "too few runs to tell: 2 of 3")
	m.Seeds[2].Largest, m.Seeds[0].First = 2, 0.3
	check(roots, "too few runs to tell: 2 of 3")
	chain.Outcomes = []*trial.Outcome{outcome(1.7741, true), outcome(1.7742, false), outcome(1.7743, true)}
	check("Chain, trained embeddings", "too few runs to tell: 2 of 3")
	check(edges, "too few runs to tell: 3 of 3")
	check(loss, "differs: their run is −0.010 ± 0.000 from our mean")
}

func TestSpanHasMinusSigns(t *testing.T) {
	if got := span(trial.NewSample([]float64{-0.02, 0.01}), 2); got != "−0.02 to 0.01" {
		t.Errorf("span is %q", got)
	}
}
