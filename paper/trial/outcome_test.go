package trial

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// smallOutcomes returns the outcomes of two runs, on a forest and on a graph of several
// parents, with comparisons.
func smallOutcomes(t *testing.T) []*Outcome {
	t.Helper()
	store := runs.Open(t.TempDir())
	var all []*Outcome
	for _, task := range []train.Task{
		train.Task1{Parents: []int{-1, 0, 1, -1}, States: 2, Prior: "dirichlet(1)"},
		train.Task2{Parents: [][]int{nil, nil, {0, 1}, {1, 2}}, States: 2, Prior: "dirichlet(1)"},
	} {
		r, err := store.Get(t.Context(), train.Spec{
			Task: task, Model: train.Disentangled{Heads: [2]int{2, 1}},
			Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
			Batch:     4, Steps: 5, Test: 8, Every: 2,
		}, runs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, forest := task.(train.Task1)
		o, err := NewOutcome(t.Context(), r, Comparisons{Bayes: true, One: forest})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

func TestEveryDamagedBitOfOutcomesIsRefused(t *testing.T) {
	all, path := smallOutcomes(t), filepath.Join(t.TempDir(), "results.jsonl")
	good, err := EncodeOutcomes(all...)
	if err == nil {
		err = os.WriteFile(path, good, 0o666)
	}
	if got, failed := ReadOutcomes(path); err != nil || failed != nil || len(got) != len(all) {
		t.Fatalf("%d outcomes, %v, %v", len(got), err, failed)
	}
	property.Damages(good, func(b []byte) {
		if _, err := decodeOutcomes(b); err == nil {
			t.Fatalf("accepted: %q", b)
		}
	})
	for want, b := range map[string][]byte{
		"truncated or altered": good[:len(good)-1],
		"sed -i":               bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")),
		"delete it to measure": nil,
	} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadOutcomes(path); err == nil || !strings.Contains(err.Error(), path+" refused: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with the path and %q", err, want)
		}
	}
}

// The error names the line, also if the checksum is right.
func TestOutcomeWithAnotherCurveIsRefused(t *testing.T) {
	good, err := EncodeOutcomes(smallOutcomes(t)...)
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(o *Outcome){
		"a step":                    func(o *Outcome) { o.Curve[1].Step++ },
		"a curve without its end":   func(o *Outcome) { o.Curve = o.Curve[:3] },
		"a curve of one point more": func(o *Outcome) { o.Curve = append(o.Curve, o.Curve[3]) },
		"no curve":                  func(o *Outcome) { o.Curve = nil },
		"no steps":                  func(o *Outcome) { o.Spec.Steps = 0; o.Address = runs.Address(o.Spec) },
		"another address":           func(o *Outcome) { o.Address = "0123456789abcdef" },
		"one run twice":             nil,
	} {
		for k := range 2 {
			all, err := decodeOutcomes(good)
			if err != nil {
				t.Fatal(err)
			}
			line := k + 2
			if change != nil {
				change(all[k])
			} else {
				all[1-k], line = all[k], 3
			}
			path := filepath.Join(t.TempDir(), "results.jsonl")
			b, err := EncodeOutcomes(all...)
			if err == nil {
				err = os.WriteFile(path, b, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%s refused: line %d: ", path, line)
			if _, err := ReadOutcomes(path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, of task %d: error %v", what, k+1, err)
			}
		}
	}
}
