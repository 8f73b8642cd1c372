package figures

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

// built returns a run with the weights of Construction 1 or 2 on a graph.
func built(t *testing.T, spec train.Spec, c *model.Construction) *runs.Run {
	t.Helper()
	w := c.Weights(8, 8)
	spec.Batch, spec.Steps, spec.Test, spec.Every = 1, 1, 1500, 1
	spec.Optimiser = train.SGD{Rate: 1, Schedule: train.Constant}
	return &runs.Run{
		Spec: spec, Address: runs.Address(spec), Final: train.Snapshot{Step: 1, Weights: w},
		Curve: []train.Point{{Step: 0, Loss: 2}, {Step: 1, Loss: 1, Attention: 1}},
	}
}

// The construction of a graph is read as this graph, and no other.
func TestConstructionsAreReadAsTheirGraph(t *testing.T) {
	forest := graph.MustNew(-1, 0, 0, 1, 2, -1, 5, 3, -1)
	one := train.Spec{
		Task:  train.Task1{Parents: forest.Parents(), States: 3, Prior: "dirichlet(0.1)"},
		Model: train.Disentangled{Heads: [2]int{1, 1}},
	}
	dag := graph.Halves(7)
	two := train.Spec{
		Task:  train.Task2{Parents: dag.Parents(), States: 3, Prior: "dirichlet(0.1)"},
		Model: train.Disentangled{Heads: [2]int{2, 1}},
	}
	for name, r := range map[string]*runs.Run{
		"forest": built(t, one, model.ConstructionOne(forest, 3)), "dag": built(t, two, model.ConstructionTwo(dag, 3)),
	} {
		o, err := trial.Measure(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		given, found, others := o.Found()
		if want := map[string]int{"forest": 6, "dag": 10}[name]; given != want || found != want || others != 0 {
			t.Errorf("%s: %d of %d edges and %d others, want %d", name, found, given, others, want)
		}
		if text := SummaryText(o); !strings.Contains(text, "Bayes") {
			t.Errorf("%s: %s", name, text)
		}
		data, err := SummaryJSON(o)
		if err != nil || !json.Valid(data) {
			t.Errorf("%s: %v, %s", name, err, data)
		}
		dot := LearnedDOT(o)
		if name == "forest" {
			if got, err := graph.ReadForest(strings.NewReader(dot)); err != nil || got.String() != forest.String() {
				t.Errorf("learned %v, %v", got, err)
			}
		} else if got, err := graph.ReadDAG(strings.NewReader(dot)); err != nil || len(got.Parents()[7]) != 2 {
			t.Errorf("learned %v, %v", got, err)
		}
	}
}

// An edge that the construction has and the graph does not is another one, and the
// reverse is missed.
func TestMissedAndUngivenEdgesAreReported(t *testing.T) {
	spec := train.Spec{
		Task:  train.Task1{Parents: []int{-1, 0, 0, -1}, States: 3, Prior: "dirichlet(0.1)"},
		Model: train.Disentangled{Heads: [2]int{1, 1}},
	}
	o, err := trial.Measure(t.Context(), built(t, spec, model.ConstructionOne(graph.Chain(4), 3)))
	if err != nil {
		t.Fatal(err)
	}
	if given, found, others := o.Found(); given != 2 || found != 1 || others != 1 {
		t.Errorf("%d given, %d found, %d others, want 2, 1, 1", given, found, others)
	}
	text := SummaryText(o)
	if !strings.Contains(text, "missed  s1 -> s3") || !strings.Contains(text, "other   s2 -> s3") {
		t.Error(text)
	}
	if dot := LearnedDOT(o); !strings.Contains(dot, "s2 -> s3 [label=\"1.00\", color=red]") {
		t.Error(dot)
	}
}

// The Bayes predictor of a graph with many roots needs more draws than are made.
func TestUnreliableBayesLossIsLeftOut(t *testing.T) {
	forest := graph.MustNew(slices.Repeat([]int{graph.Root}, 300)...)
	r := built(t, train.Spec{
		Task:  train.Task1{Parents: forest.Parents(), States: 8, Prior: "dirichlet(0.1)"},
		Model: train.Disentangled{Heads: [2]int{1, 1}},
	}, model.ConstructionOne(forest, 8))
	r.Spec.Test = 4
	o, err := trial.Measure(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range o.References {
		if p.Name == "Bayes" {
			t.Errorf("a Bayes loss of %+v, with %v effective draws", p.Loss, p.Effective)
		}
	}
	if text := SummaryText(o); !strings.Contains(text, "Bayes: left out, ") {
		t.Error(text)
	}
}

// Each row of the matrix has the parents of a position, the last row the parents of the
// label.
func TestAdjacencyHasTheParentsOfTheLabelLast(t *testing.T) {
	dag, err := graph.NewDAG([][]int{nil, nil, {0, 1}, {0, 2}, {1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := trial.Measure(t.Context(), built(t, train.Spec{
		Task:  train.Task2{Parents: dag.Parents(), States: 2, Prior: "dirichlet(0.1)"},
		Model: train.Disentangled{Heads: [2]int{2, 1}},
	}, model.ConstructionTwo(dag, 2)))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}}
	if got := givenAdjacency(o); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
