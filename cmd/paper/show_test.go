package main

import (
	"io"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/internal/runs"
	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// A run without weights is shown as one, and predicts nothing.
func TestLightRunIsShown(t *testing.T) {
	spec := train.Spec{
		Task:      train.Task1{Parents: []int{-1, 0, -1}, States: 2, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     8, Steps: 8, Test: 8,
	}
	dir := t.TempDir()
	r, err := runs.Open(dir).Get(t.Context(), spec, runs.Options{WithoutWeights: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, "show", r.Address, "--store", dir); !strings.Contains(got, "all 8 steps; no weights are kept\n") {
		t.Errorf("shown as\n%s", got)
	}
	err = predict(t.Context(), io.Discard, r.Address, dir, strings.NewReader("0 1 0"), "-", false)
	property.Mentions(t, err, "kept without weights")
}

func TestShowNamesTheEdges(t *testing.T) {
	dir := t.TempDir()
	output(t, append([]string{"train", write(t, "my.dot", forest), "-o", dir}, quickly...)...)
	want := "edges       s1 -> s2, s1 -> s3, s2 -> s4, s3 -> s5\n"
	if got := output(t, "show", dir); !strings.Contains(got, want) {
		t.Errorf("no %q in %s", want, got)
	}
	for _, test := range []struct {
		task train.Task
		want string
	}{
		{train.Task2{Parents: [][]int{nil, {0}, {0, 1}}}, "s1 -> s2, s1 -> y, s2 -> y"},
		{train.Task1{Parents: []int{-1, -1}}, "none"},
		{train.Task1{Parents: graph.Star(40).Parents()}, "s1 -> s31, and 8 more"},
	} {
		if got := edges(train.Spec{Task: test.task}, nil); !strings.HasSuffix(got, test.want) {
			t.Errorf("%v: %s, want %s", test.task, got, test.want)
		}
	}
}
