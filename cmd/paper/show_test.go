package main

import (
	"strings"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

func TestShowNamesTheEdges(t *testing.T) {
	dir := t.TempDir()
	output(t, append([]string{"train", write(t, "my.dot", forest), "-o", dir}, quickly...)...)
	want := "edges: s1 -> s2, s1 -> s3, s2 -> s4, s3 -> s5\n"
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
		if got := edges(train.Spec{Task: test.task}); !strings.HasSuffix(got, test.want) {
			t.Errorf("%v: %s, want %s", test.task, got, test.want)
		}
	}
}
