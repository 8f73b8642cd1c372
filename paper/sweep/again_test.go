package sweep

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"learncausal/paper/experiment"
)

// A number that was changed anywhere in what is kept is found, also at the end of a run.
func TestAgainFindsWhatWasChanged(t *testing.T) {
	s := newSweep(t, quickPlan)
	if n, err := s.Again(t.Context(), 1, 1, &quiet{}); n != 0 || err == nil || !strings.Contains(err.Error(), "none of the 12 runs") {
		t.Errorf("nothing done: %d compared, error %v", n, err)
	}
	s.mustRun(t, 2, 0, 1, 2, 11) // the last of these diverges
	for asked, want := range map[int]int{1: 1, 3: 3, 100: 4} {
		if n, err := s.Again(t.Context(), asked, 2, &quiet{}); n != want || err != nil {
			t.Errorf("%d asked for: %d compared, want %d; error %v", asked, n, want, err)
		}
	}
	for name, change := range map[string]func(*experiment.Outcome){
		"the last loss":    func(o *experiment.Outcome) { o.Curve[len(o.Curve)-1].Loss += 1e-15 },
		"an edge's weight": func(o *experiment.Outcome) { o.Edges[0].Attention += 1e-15 },
		"the Bayes loss":   func(o *experiment.Outcome) { o.Bayes.Loss += 1e-15 },
		"an edge left out": func(o *experiment.Outcome) { o.Edges = o.Edges[1:] },
		"that it diverged": func(o *experiment.Outcome) { o.Diverged = "it did" },
	} {
		right, err := s.Result(1)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := right.Encode()
		if err != nil {
			t.Fatal(err)
		}
		change(right)
		if err := s.keep(right); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Again(t.Context(), 4, 2, &quiet{}); err == nil || !strings.Contains(err.Error(), right.Address) {
			t.Errorf("%s: error %v", name, err)
		}
		if err := os.WriteFile(s.resultPath(right.Address), kept, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Again(ctx, 4, 2, &quiet{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: error %v", err)
	}
}
