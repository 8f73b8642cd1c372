package trial

import (
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

func TestNoRunIsFoundOutsideOfACheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Stored(nil)(t.Context(), liveSpec()); err == nil {
		t.Error("a run was found outside of a checkout")
	}
}

func liveSpec() train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: graph.InContext(6).Parents(), States: 3, Prior: "dirichlet(0.3)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     16, Steps: 40, Test: 64, Every: 16,
	}
}
