package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"learncausal/internal/property"
)

// some returns forests of every family, with up to 40 positions.
func some() []*Forest {
	src := rand.NewPCG(1, 2)
	fs := []*Forest{Figure1()}
	for _, t := range []int{2, 3, 4, 5, 10, 20, 39, 40} {
		fs = append(fs, Chain(t), InContext(t))
		for _, p := range []float64{0, 0.1, 0.5, 1} {
			fs = append(fs, Random(t, p, src))
		}
	}
	return fs
}

// An error names the edge and the fault; the property tests draw other faults.
func TestInvalidForestIsRefused(t *testing.T) {
	for _, test := range []struct {
		edges [][2]int
		want  string
	}{
		{[][2]int{{0, 1}, {1, 5}}, "edge 1 -> 5: out of range, want nodes 0..4"},
		{[][2]int{{-1, 2}}, "edge -1 -> 2: out of range"},
		{[][2]int{{0, 1}, {2, 2}}, "edge 2 -> 2: a parent must come before its child"},
		{[][2]int{{3, 0}, {0, 2}, {2, 3}}, "edge 3 -> 0: a parent must come before its child"},
		{[][2]int{{0, 3}, {1, 3}}, "edge 1 -> 3: two parents: 3 already has the parent 0"},
		{[][2]int{{0, 3}, {0, 3}}, "edge 0 -> 3: duplicate edge"},
		{[][2]int{{0, 1}, {1, 4}}, "edge 1 -> 4: a parent for the query"},
	} {
		_, err := build(5, test.edges, strconv.Itoa)
		property.Mentions(t, err, "graph: "+test.want)
	}
	_, err := New([]int{0, 1, 1, 2, 3, 0})
	property.Mentions(t, err, "edge 0 -> 0: parents count from 0, and -1 is a root")
}

func TestPartsFitTogether(t *testing.T) {
	for _, f := range some() {
		trees, roots := f.Trees(), f.Roots()
		if len(trees) != len(roots) || len(f.Edges())+len(roots) != f.T() {
			t.Fatalf("%v: %d trees, %d roots, %d edges", f, len(trees), len(roots), len(f.Edges()))
		}
		for l, tree := range trees {
			if tree[0] != roots[l] || !slices.IsSorted(tree) {
				t.Errorf("%v: tree %d is %v, its root %d", f, l, tree, roots[l])
			}
			for _, i := range tree {
				if f.Distance(i, roots[l]) < 0 {
					t.Errorf("%v: %d is not connected to its root %d", f, i, roots[l])
				}
			}
		}
		for i, at := range slices.Sorted(slices.Values(slices.Concat(trees...))) {
			if i != at {
				t.Errorf("%v: no tree has position %d", f, i)
			}
		}
		for i := range f.T() {
			parent := slices.ContainsFunc(f.Edges(), func(e [2]int) bool { return e[0] == i })
			if parent == slices.Contains(f.Leaves(), i) {
				t.Errorf("%v: %d is a parent, %v, and the leaves are %v", f, i, parent, f.Leaves())
			}
		}
	}
}

func TestGraphsDoNotChange(t *testing.T) {
	list, lists := []int{-1, 0, 1, -1}, [][]int{{}, {0}, {1, 0}}
	f := MustNew(list...)
	g, err := NewDAG(lists)
	if err != nil {
		t.Fatal(err)
	}
	list[2], lists[2][0] = 0, 0
	f.Parents()[1], g.Parents()[1][0] = -1, 7
	if got := fmt.Sprint(f, g.Parents()); got != "[-1 0 1 -1] [[] [0] [1 0]]" {
		t.Errorf("the graphs have become %s", got)
	}
}
