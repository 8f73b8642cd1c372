package figures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// Each day replays the last stretch and one other, so that a forged value is found on some
// day. The summary does not depend on the day.
func TestEveryStretchHasItsDay(t *testing.T) {
	spec := train.Spec{
		Task:      train.Task1{Parents: []int{-1, 0, 0, -1}, States: 2, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     8, Steps: 80, Seed: 6, Test: 32, Every: 20,
	}
	r, err := runs.Open(t.TempDir()).Get(t.Context(), spec, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := r.Stretches()
	last := len(all) - 1
	if len(all) != 5 || len(r.Curve) != 5 {
		t.Fatalf("stretches %v and evaluations %v, want five, each with its own", all, r.Curve)
	}
	for k, forged := range all {
		loss := &r.Curve[k].Loss
		right := *loss
		*loss *= 1.1
		days := 0
		for day := range last {
			parts := stretchesOf(r, day)
			if len(parts) != 2 || parts[1] != all[last] {
				t.Errorf("day %d: stretches %v of %v", day, parts, all)
			}
			if err := r.Replay(t.Context(), 1, parts); err != nil {
				days++
			}
		}
		want := 1
		if k == last {
			want = last
		}
		if days != want {
			t.Errorf("another loss in %v is found on %d of %d days, want %d", forged, days, last, want)
		}
		*loss = right
	}
	const want = "1 run(s) checked: 2 stretches, 20 steps in all, were trained again and gave the stored bytes."
	if said, err := Replay(t.Context(), nil, r); err != nil || said != want {
		t.Errorf("%q, %v", said, err)
	}
}

// Every run of every experiment is replayed by a notebook, and so by each test of the
// notebooks.
func TestNotebooksReplayEveryExperiment(t *testing.T) {
	paths, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var replayed []string
	call := regexp.MustCompile(`show\.Replay\(((?:\\"[a-z-]+\\"(?:, )?)+)\)`)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				replayed = append(replayed, strings.Trim(name, `\"`))
			}
		}
	}
	for _, e := range All() {
		if !slices.Contains(replayed, e.Name) {
			t.Errorf("no notebook replays the runs of %s; those of %q are", e.Name, replayed)
		}
	}
}

func TestToday(t *testing.T) {
	t.Setenv("REPLAY_DAY", "")
	if from := int(time.Now().Unix() / 86400); trial.Today() != from && trial.Today() != from+1 {
		t.Errorf("day %d, the clock says %d", trial.Today(), from)
	}
	t.Setenv("REPLAY_DAY", "20000")
	if got := trial.Today(); got != 20000 {
		t.Errorf("day %d, want 20000", got)
	}
	for _, bad := range []string{"Tuesday", "-1", "99999999999"} {
		t.Setenv("REPLAY_DAY", bad)
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, strconv.Quote(bad)) {
					t.Errorf("%s: panic %s", bad, got)
				}
			}()
			trial.Today()
		}()
	}
}

func mustLoad(t *testing.T, name string) []*trial.Outcome {
	t.Helper()
	all, err := trial.Outcomes(name)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A notebook begins some runs again, and so does each test of the notebooks.
func TestANotebookBeginsRunsAgain(t *testing.T) {
	text, err := os.ReadFile("../../notebooks/04-many-graphs.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"figures.ReplaySweeps(nb.Context())",
		"A run of each of six sweeps was begun again and gave the stored evaluations.",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("notebook 4 has no %q", part)
		}
	}
}

func TestARunThatBeginsOtherwiseIsFound(t *testing.T) {
	all := mustLoad(t, jointTraining)
	o := all[slices.IndexFunc(all, func(o *trial.Outcome) bool { return o.Spec.T() == 10 })]
	if err := begins(o); err != nil {
		t.Fatal(err)
	}
	o.Curve[1].Loss += 1e-15
	if err := begins(o); err == nil || !strings.Contains(err.Error(), "stored is") {
		t.Errorf("another loss: error %v", err)
	}
	o = all[1]
	o.One.Attention += 1e-15
	if err := begins(o); err == nil || !strings.Contains(err.Error(), "Algorithm 1") {
		t.Errorf("another Algorithm 1: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReplaySweeps(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: error %v", err)
	}
}
