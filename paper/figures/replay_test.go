package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"learncausal/paper/trial"
	"learncausal/pkg/runs"
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

// A segment of one run between two stored states, selected by the day, is trained again.
// Segments of the runs with several parents take minutes and are left out.
func TestASegmentOfTheDayIsReplayed(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it trains")
	}
	const most = 1 << 12
	var rs []*runs.Run
	for _, spec := range Specs() {
		r, err := stored(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if first := r.Segments()[0]; first.To <= most {
			rs = append(rs, r)
		}
	}
	if len(rs) != 50 {
		t.Errorf("%d runs have short segments, want all but the ten with several parents", len(rs))
	}
	r := rs[trial.Today()%len(rs)]
	parts := r.Segments()
	part := parts[trial.Today()/len(rs)%len(parts)]
	if err := r.Replay(t.Context(), 0, []runs.Segment{part}); err != nil {
		t.Error(err)
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
