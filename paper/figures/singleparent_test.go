package figures

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// With zero weights the attention of the query is uniform; with the weights of
// Construction 1 it is on the matching positions only, unless a root matches as well.
func TestQueryShares(t *testing.T) {
	g := graph.Figure1()
	prior, err := markov.NewDirichlet(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	tk := task.Task{Graph: g, Prior: prior}
	b := tk.NewBatch(200)
	tk.NewSampler().Fill(b, num.Stream(1, "glances"))
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	for k, a := range queryShares(model.NewWeights(3, 6, 1, 1), g, b) {
		m := float64(a.Matches)
		if !near(a.Matching, m/6) || !near(a.Other, (4-m)/6) || !near(a.Roots, 1./6) || !near(a.Itself, 1./6) {
			t.Errorf("sequence %d, zero weights: %+v", k, a)
		}
	}
	looked := 0
	for k, a := range queryShares(model.ConstructionOne(g, 3).Weights(100, 1000), g, b) {
		x, _ := b.Seq(k)
		if a.Matches == 0 || x[0] == x[5] {
			continue
		}
		looked++
		if !near(a.Matching, 1) {
			t.Errorf("sequence %v, Construction 1: %+v", x, a)
		}
	}
	if looked < 10 {
		t.Errorf("%d sequences with a match, want some", looked)
	}
}
