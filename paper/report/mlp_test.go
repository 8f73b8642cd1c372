package report

import (
	"slices"
	"strings"
	"testing"

	"learncausal/paper/experiment"
)

func TestMLPRowsJudgeEverySeed(t *testing.T) {
	good := experiment.MLPAttention{Parents: 0.8, Found: 3, Edges: 3, Roots: 3, First: 0.5, Uniform: 0.3, Largest: 2}
	outcome := func(loss experiment.Number, learned bool) *experiment.Outcome {
		return &experiment.Outcome{
			Curve: []experiment.OutcomePoint{{Loss: loss, Attention: 0.8}},
			Edges: []experiment.OwnEdge{{Given: true, Learned: true}, {Given: true, Learned: learned}, {Learned: true}},
		}
	}
	m := &experiment.MLPResult{
		SingleParent: experiment.SingleParent{Name: "random", Title: "Random"}, Kind: "trained",
		Seeds:    []experiment.MLPAttention{good, good, good},
		Outcomes: []*experiment.Outcome{outcome(1.763, true), outcome(1.764, true), outcome(1.765, true)},
	}
	chain := *m
	chain.Name, chain.Title = "chain", "Chain"
	check := func(what, want string) {
		t.Helper()
		rows := mlpRows([]*experiment.MLPResult{&chain, m})
		i := slices.IndexFunc(rows, func(r Row) bool { return r.What == what })
		if i < 0 || !strings.HasPrefix(rows[i].Verdict, want) {
			t.Errorf("%s: %+v, want %q", what, rows, want)
		}
	}
	edges, roots := "Random, trained embeddings", "roots of the random graph, trained embeddings"
	loss := "Chain, trained embeddings, final test loss"
	check(edges, "reproduced")
	check(roots, "reproduced")
	check(loss, "not stated; their run could be one more")
	m.Seeds[2].Largest = 1
	check(roots, "in pattern: not in 1 of 3 seeds")
	m.Seeds[2].Largest, m.Seeds[0].First = 2, 0.3
	check(roots, "in pattern: not in 1 of 3 seeds")
	chain.Outcomes = []*experiment.Outcome{outcome(1.7741, true), outcome(1.7742, false), outcome(1.7743, true)}
	check("Chain, trained embeddings", "in pattern: not in 1 of 3 seeds")
	check(edges, "reproduced")
	check(loss, "not stated; their run is -0.010 ± 0.000 from our mean")
}

func TestSpanHasMinusSigns(t *testing.T) {
	if got := span(experiment.NewSample([]float64{-0.02, 0.01}), 2); got != "−0.02 to 0.01" {
		t.Errorf("span is %q", got)
	}
}
