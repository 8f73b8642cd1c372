package trial

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/runs"
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
			Task: task, Model: train.Disentangled{Heads: [2]int{2, 1}}, Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
			Batch: 4, Steps: 5, Test: 8, Every: 2,
		}, runs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, forest := task.(train.Task1)
		o, err := NewOutcome(t.Context(), r, Beside{Bayes: true, One: forest})
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
		"addsum.sh":            good[runs.SumLine:],
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

// A checksum does not make an outcome right. The error names the line.
func TestOutcomeThatNoRunHasIsRefused(t *testing.T) {
	good, err := EncodeOutcomes(smallOutcomes(t)...)
	if err != nil {
		t.Fatal(err)
	}
	none := Number(math.NaN())
	for what, change := range map[string]func(o *Outcome){
		"a step":                       func(o *Outcome) { o.Curve[1].Step++ },
		"a curve without its end":      func(o *Outcome) { o.Curve = o.Curve[:3] },
		"a curve of one point more":    func(o *Outcome) { o.Curve = append(o.Curve, o.Curve[3]) },
		"no curve":                     func(o *Outcome) { o.Curve = nil },
		"a negative loss":              func(o *Outcome) { o.Curve[0].Loss *= -1 },
		"a loss that is no number":     func(o *Outcome) { o.Curve[0].Loss = none },
		"an attention above 1":         func(o *Outcome) { o.Curve[0].Attention = 1.5 },
		"an edge to no position":       func(o *Outcome) { o.Edges[0].Child = 7 },
		"an edge from no position":     func(o *Outcome) { o.Edges[0].Parent = -1 },
		"an edge to itself":            func(o *Outcome) { o.Edges[0].Parent = o.Edges[0].Child },
		"an edge that was not given":   func(o *Outcome) { o.Edges[0].Given = false },
		"an edge that was not learned": func(o *Outcome) { o.Edges[0].Learned = !o.Edges[0].Learned },
		"an edge of no head":           func(o *Outcome) { o.Edges[0].Head = 2 },
		"an edge twice":                func(o *Outcome) { o.Edges[1] = o.Edges[0] },
		"an edge less":                 func(o *Outcome) { o.Edges = o.Edges[1:] },
		"edges in another order":       func(o *Outcome) { o.Edges[0], o.Edges[1] = o.Edges[1], o.Edges[0] },
		"negative draws":               func(o *Outcome) { o.Bayes = &OutcomeBayes{1, 0, 0, -1} },
		"a negative error":             func(o *Outcome) { o.Bayes = &OutcomeBayes{1, 0, -1, 0} },
		"an attention of Algorithm 1":  func(o *Outcome) { o.One = &OutcomeOne{1, 2} },
		"a curve that diverged":        func(o *Outcome) { o.Diverged = "it did" },
		"no steps":                     func(o *Outcome) { o.Spec.Steps = 0; o.Address = runs.Address(o.Spec) },
		"another address":              func(o *Outcome) { o.Address = "0123456789abcdef" },
		"one run twice":                nil,
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
