package model

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/task"
)

// Scales at which the rest of the softmax is below rounding: two scores of
// roots differ by at least 1/T^2.
const limitOne, limitTwo = 200, 1e4

// worst returns the largest difference between the dense transformer and the limit
// over all sequences.
func (c *Construction) worst() float64 {
	w, diff := c.Weights(limitOne, limitTwo), 0.0
	f := make([]float64, c.S)
	for x := range task.Sequences(c.S, w.T) {
		c.Limit(f, x)
		for a, v := range w.Linear(x).RawRowView(w.T - 1) {
			diff = max(diff, math.Abs(v-f[a]))
		}
	}
	return diff
}

func constructions(t *testing.T) []*Construction {
	all := []*Construction{
		ConstructionOne(graph.Figure1(), 3), ConstructionOne(graph.Chain(6), 2), ConstructionOne(graph.InContext(6), 3),
		ConstructionTwo(graph.NGram(6, 2), 2), ConstructionTwo(graph.Halves(6), 3), ConstructionTwo(graph.NGram(7, 3), 2),
	}
	// Roots in between, and a last position without parents.
	g, err := graph.NewDAG([][]int{nil, nil, {1, 0}, nil, {3, 0}, nil, {2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	return append(all, ConstructionTwo(g, 2))
}

func TestTheLimitIsTheLimitOfTheTransformer(t *testing.T) {
	for k, c := range constructions(t) {
		if d := c.worst(); d > 1e-9 {
			t.Errorf("construction %d: limit and transformer differ by %v", k, d)
		}
	}
}

func TestEmpiricalTransitionCountsTheGraphsEdges(t *testing.T) {
	f := make([]float64, 2)
	one := ConstructionOne(graph.Chain(5), 2)
	if !one.Empirical(f, []int{1, 0, 0, 1, 0}) || f[0] != 0.5 || f[1] != 0.5 {
		t.Errorf("chain B A A B A: %v, want A and B once each", f)
	}
	if one.Empirical(f, []int{1, 1, 1, 0, 0}) {
		t.Errorf("chain B B B A A: %v, but no parent is A", f)
	}
	// 3-gram: the label's parents are A B; A B is followed by B at position 2.
	two := ConstructionTwo(graph.NGram(5, 2), 2)
	if !two.Empirical(f, []int{0, 1, 1, 0, 1}) || f[0] != 0 || f[1] != 1 {
		t.Errorf("3-gram A B B A B: %v, want B once", f)
	}
	// The last position enters by its own parents, not by the label's.
	if !two.Empirical(f, []int{1, 1, 0, 0, 0}) || f[0] != 1 || f[1] != 0 {
		t.Errorf("3-gram B B A A A: %v, want A once, at the last position", f)
	}
}
