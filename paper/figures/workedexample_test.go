package figures

import (
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// The worked example ends with the empirical estimate, and so does Figure 3.
func TestWorkedExampleIsTheEstimate(t *testing.T) {
	want := make([]float64, 3)
	if !model.ConstructionOne(graph.Figure1(), 3).Empirical(want, forwardPassTokens) {
		t.Fatal("no estimate")
	}
	counts, kept := workedCounts(graph.Figure1(), forwardPassTokens)
	for a, c := range counts {
		if got := float64(c) / float64(kept); got != want[a] {
			t.Errorf("token %d: %v, want %v", a, got, want[a])
		}
	}
	if _, err := registered(t, "fig-worked-example").PNG(); err != nil {
		t.Error(err)
	}
}
