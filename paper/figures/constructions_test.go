package figures

import (
	"math"
	"testing"

	"learncausal/paper/trial"
	"learncausal/pkg/task"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"

	"gonum.org/v1/gonum/floats"
)

// On the sequence of Figure 3 the limit is the empirical estimate: the tokens at
// positions 4 and 5, whose parents hold the query's token.
func TestForwardPassIsTheEmpiricalEstimate(t *testing.T) {
	c := model.ConstructionOne(graph.Figure1(), 3)
	f := make([]float64, 3)
	c.Limit(f, forwardPassTokens)
	if f[0] != 0 || f[1] != 0.5 || f[2] != 0.5 {
		t.Errorf("f = %v, want [0 0.5 0.5]", f)
	}
	if r := forwardPassRows(); r[0].Verdict != "reproduced" {
		t.Errorf("%+v", r)
	}
	c.Limit(f, []int{0, 1, 0, 2, 1, 0}) // with the first position, a root
	if f[0] != 0.5 || f[1] != 0.5 {
		t.Errorf("f = %v, want [0.5 0.5 0]", f)
	}
}

func TestForwardPassRefusesOtherModels(t *testing.T) {
	for _, x := range [][]int{nil, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, -1}, {0, 0, 0, 0, 0, 26}} {
		if _, err := ForwardPassFigure("x", graph.Figure1(), x); err == nil {
			t.Errorf("no error for the sequence %v", x)
		}
	}
	long := graph.Chain(maxTrace)
	f, err := ForwardPassFigure("x", long, make([]int, maxTrace))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.TeX(); err != nil {
		t.Error(err)
	}
}

// Scales at which the smaller entries of the softmax are below rounding: two scores of
// roots differ by at least 1/T^2.
const limitOne, limitTwo = 200, 1e4

var constructions = []*model.Construction{
	model.ConstructionOne(graph.Figure1(), 3), model.ConstructionOne(graph.InContext(6), 3),
	model.ConstructionTwo(graph.NGram(6, 2), 2), model.ConstructionTwo(graph.Halves(6), 3),
}

func TestQueryAttentionOfAConstructionIsUniformOnItsLimit(t *testing.T) {
	for k, c := range constructions {
		w, worst, wrong := c.Weights(limitOne, limitTwo), 0.0, 0.0
		uniform := make([]float64, w.T)
		for x := range task.Sequences(c.S, w.T) {
			clear(uniform)
			at := c.Attended(x)
			for _, i := range at {
				uniform[i] = 1 / float64(len(at))
			}
			p := trial.QueryAttention(w, x)
			worst = max(worst, floats.Distance(p, uniform, 1)/2)
			p[0], p[len(p)-1] = p[len(p)-1], p[0]
			wrong = max(wrong, floats.Distance(p, uniform, 1)/2)
		}
		if worst > 1e-9 || wrong < 0.3 {
			t.Errorf("construction %d: attention is %v from uniform, with two positions exchanged %v", k, worst, wrong)
		}
	}
}

func TestErrorsConvergeToTheLimit(t *testing.T) {
	for k, c := range constructions {
		small, large := trial.ConstructionErrors(c, 1), trial.ConstructionErrors(c, 1e4)
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
	e := singleParent(t, "chain")
	r, err := stored(t.Context(), e.Spec())
	if err != nil {
		t.Fatal(err)
	}
	trained, err := compareConstruction(t.Context(), r, 200, "", "")
	if err != nil {
		t.Fatal(err)
	}
	built := *r
	built.Final.Weights = model.ConstructionOne(e.Graph, 10).Weights(limitOne, limitTwo)
	l, err := compareConstruction(t.Context(), &built, 200, "", "")
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
