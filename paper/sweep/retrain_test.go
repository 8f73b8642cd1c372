package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
)

// A changed number anywhere in a stored result is found.
func TestRetrainingFindsAChangedResult(t *testing.T) {
	s, scratch := newSweep(t, quickPlan), filepath.Join(t.TempDir(), "scratch")
	if _, err := s.Retrain(1, time.Hour, scratch); err == nil || !strings.Contains(err.Error(), "of the 12 runs") {
		t.Errorf("nothing done: error %v", err)
	}
	s.mustRun(t, 2, 0, 1, 2, 11) // the last of these diverges
	compare := func(ctx context.Context, n, want int) error {
		tasks, err := s.Retrain(n, time.Hour, scratch)
		if err != nil || len(tasks) != want {
			t.Fatalf("%d of %d tasks, want %d; error %v", len(tasks), n, want, err)
		}
		for _, task := range tasks {
			err = errors.Join(err, task.Do(ctx, runs.Options{Workers: 1}))
		}
		return errors.Join(err, os.RemoveAll(scratch))
	}
	for n, want := range map[int]int{1: 1, 3: 3, 100: 4} {
		if err := compare(t.Context(), n, want); err != nil {
			t.Errorf("%d tasks: %v", n, err)
		}
	}
	least := time.Duration(work(s.Plan.Runs[0].Spec)+1) * time.Microsecond
	if tasks, err := s.Retrain(100, least, scratch); err != nil || len(tasks) != 2 {
		t.Errorf("%d runs are no longer than the first, want 2; error %v", len(tasks), err)
	}
	for _, change := range map[string]func(*trial.Outcome){
		"the last loss":    func(o *trial.Outcome) { o.Curve[len(o.Curve)-1].Loss += 1e-15 },
		"an edge's weight": func(o *trial.Outcome) { o.Edges[0].Attention += 1e-15 },
		"the Bayes loss":   func(o *trial.Outcome) { o.Bayes.Loss += 1e-15 },
		"Algorithm 1's":    func(o *trial.Outcome) { o.One.Loss += 1e-15 },
		"that it diverged": func(o *trial.Outcome) {
			*o = trial.Outcome{Address: o.Address, Spec: o.Spec, Diverged: "it did"}
		},
	} {
		right, err := s.Result(1)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(s.resultPath(right.Address))
		if err != nil {
			t.Fatal(err)
		}
		change(right)
		if err := s.keep(right); err != nil {
			t.Fatal(err)
		}
		property.Mentions(t, compare(t.Context(), 4, 4), right.Address)
		if err := os.WriteFile(s.resultPath(right.Address), kept, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := compare(ctx, 4, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: error %v", err)
	}
}

// A run that was retrained before an interruption is compared, not trained again.
func TestRetrainingResumes(t *testing.T) {
	s, scratch := newSweep(t, quickPlan), t.TempDir()
	s.mustRun(t, 2, 0, 1)
	tasks, err := s.Retrain(2, time.Hour, scratch)
	if err != nil {
		t.Fatal(err)
	}
	if err := tasks[0].Do(t.Context(), runs.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(scratch, "results", "*.json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("results %q, %v", paths, err)
	}
	before := modified(t, paths[0])
	again, err := s.Retrain(2, time.Hour, scratch)
	for _, task := range again {
		err = errors.Join(err, task.Do(t.Context(), runs.Options{Workers: 1}))
	}
	if after := modified(t, paths[0]); err != nil || !after.Equal(before) {
		t.Errorf("a run that was retrained before an interruption was trained again, or %v", err)
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
