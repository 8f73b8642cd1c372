package paper

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
)

func TestQueryAttentionOfAConstructionIsUniformOnItsLimit(t *testing.T) {
	for k, c := range constructions(t) {
		w, worst, wrong := c.Weights(limitOne, limitTwo), 0.0, 0.0
		uniform := make([]float64, w.T)
		each(c.S, w.T, func(x []int) {
			clear(uniform)
			at := c.Attended(x)
			for _, i := range at {
				uniform[i] = 1 / float64(len(at))
			}
			p := QueryAttention(w, x)
			worst = max(worst, totalVariation(p, uniform))
			p[0], p[len(p)-1] = p[len(p)-1], p[0]
			wrong = max(wrong, totalVariation(p, uniform))
		})
		if worst > 1e-9 || wrong < 0.3 {
			t.Errorf("construction %d: attention is %v from uniform, with two positions exchanged %v", k, worst, wrong)
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

func TestErrorsFallToThatOfTheLimit(t *testing.T) {
	for k, c := range constructions(t) {
		small, large := c.Errors(1), c.Errors(1e4)
		if large.Finite > 1e-9 || math.Abs(large.Total-large.Limit) > 1e-9 {
			t.Errorf("construction %d at scale 10^4: %+v, want the limit", k, large)
		}
		if small.Finite < 0.05 || small.Limit != large.Limit {
			t.Errorf("construction %d at scale 1: %+v, at 10^4 %+v", k, small, large)
		}
	}
}

// With its construction in the place of its weights a run agrees in both layers.
// (Its predictions still pass a softmax.)
func TestAConstructionComparedWithItselfAgrees(t *testing.T) {
	e := SingleParents()[0]
	r, err := stored(t.Context(), e.Spec())
	if err != nil {
		t.Fatal(err)
	}
	trained, err := CompareConstruction(r, 200)
	if err != nil {
		t.Fatal(err)
	}
	built := *r
	built.Final.Weights = ConstructionOne(e.Graph, 10).Weights(limitOne, limitTwo)
	l, err := CompareConstruction(&built, 200)
	if err != nil {
		t.Fatal(err)
	}
	if l.First < 1-1e-9 || l.Second.Mean < 1-1e-9 {
		t.Errorf("the construction agrees with itself by %v and %v, want 1", l.First, l.Second.Mean)
	}
	if trained.Second.Mean > 0.9 {
		t.Errorf("the trained model agrees by %v: the comparison cannot tell", trained.Second.Mean)
	}
}
