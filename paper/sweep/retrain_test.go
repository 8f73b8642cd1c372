package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"learncausal/paper/experiment"
	"learncausal/pkg/runs"
)

// A changed number anywhere in a stored result is found.
func TestRetrainingFindsAChangedResult(t *testing.T) {
	s, scratch := newSweep(t, quickPlan), filepath.Join(t.TempDir(), "scratch")
	if _, err := s.Sample(1, time.Hour, scratch); err == nil || !strings.Contains(err.Error(), "of the 12 runs") {
		t.Errorf("nothing done: error %v", err)
	}
	s.mustRun(t, 2, 0, 1, 2, 11) // the last of these diverges
	compare := func(ctx context.Context, asked, want int) error {
		a, err := s.Sample(asked, time.Hour, scratch)
		if err != nil || len(a.Specs()) != want {
			t.Fatalf("%d asked for: %d chosen, want %d; error %v", asked, len(a.Specs()), want, err)
		}
		for k := range a.Specs() {
			err = errors.Join(err, a.Retrain(ctx, k, runs.Options{Workers: 1}))
		}
		return errors.Join(err, a.Forget())
	}
	for asked, want := range map[int]int{1: 1, 3: 3, 100: 4} {
		if err := compare(t.Context(), asked, want); err != nil {
			t.Errorf("%d asked for: %v", asked, err)
		}
	}
	a, err := s.Sample(100, time.Duration(work(s.Plan.Runs[0].Spec)+1)*time.Microsecond, scratch)
	if err != nil || fmt.Sprint(a.which) != "[0 1]" && fmt.Sprint(a.which) != "[1 0]" {
		t.Errorf("runs %v are no longer than the first, want 0 and 1; error %v", a.which, err)
	}
	for name, change := range map[string]func(*experiment.Outcome){
		"the last loss":    func(o *experiment.Outcome) { o.Curve[len(o.Curve)-1].Loss += 1e-15 },
		"an edge's weight": func(o *experiment.Outcome) { o.Edges[0].Attention += 1e-15 },
		"the Bayes loss":   func(o *experiment.Outcome) { o.Bayes.Loss += 1e-15 },
		"Algorithm 1's":    func(o *experiment.Outcome) { o.One.Loss += 1e-15 },
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
		if err := compare(t.Context(), 4, 4); err == nil || !strings.Contains(err.Error(), right.Address) {
			t.Errorf("%s: error %v", name, err)
		}
		if err := os.WriteFile(s.resultPath(right.Address), kept, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := compare(ctx, 4, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: error %v", err)
	}
	if _, err := os.Stat(scratch); err == nil {
		t.Errorf("%s is left", scratch)
	}
}

// A run that was retrained before an interruption is compared, not trained again.
func TestRetrainingResumes(t *testing.T) {
	s, scratch := newSweep(t, quickPlan), t.TempDir()
	s.mustRun(t, 2, 0, 1)
	for step, want := range []int{2, 1} {
		a, err := s.Sample(2, time.Hour, scratch)
		if err != nil {
			t.Fatal(err)
		}
		missing, err := a.scratch.Missing()
		if err != nil || len(missing) != 10+want {
			t.Errorf("call %d: runs %v are not retrained, want %d of two; error %v", step, missing, want, err)
		}
		if err := a.Retrain(t.Context(), step, runs.Options{Workers: 1}); err != nil {
			t.Error(err)
		}
		before := modified(t, a.scratch.resultPath(a.kept.Plan.Runs[a.which[0]].Address))
		if err := a.Retrain(t.Context(), 0, runs.Options{Workers: 1}); err != nil {
			t.Error(err)
		}
		if after := modified(t, a.scratch.resultPath(a.kept.Plan.Runs[a.which[0]].Address)); !after.Equal(before) {
			t.Error("a run that was trained before the stop was trained again")
		}
	}
}

func modified(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
