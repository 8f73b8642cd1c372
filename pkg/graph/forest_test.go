package graph

import (
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
	property.Mentions(t, err, "edge 0 -> 0: parents count from 0, and -1 is a root (MustOneBased takes")
}

func TestFigure1(t *testing.T) {
	f := Figure1()
	equal(t, "Parents", f.Parents(), []int{-1, 0, 0, 1, 2, -1})
	equal(t, "Roots", f.Roots(), []int{0, 5})
	equal(t, "Leaves", f.Leaves(), []int{3, 4, 5})
	equal(t, "Edges", f.Edges(), [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 4}})
	trees := f.Trees()
	if len(trees) != 2 {
		t.Fatalf("Trees: %v", trees)
	}
	equal(t, "first tree", trees[0], []int{0, 1, 2, 3, 4})
	equal(t, "query's tree", trees[1], []int{5})
	if f.T() != 6 || f.Parent(4) != 2 || f.Distance(3, 4) != 4 || f.Distance(3, 5) != -1 {
		t.Errorf("T %d, Parent(4) %d, Distance(3, 4) %d, Distance(3, 5) %d",
			f.T(), f.Parent(4), f.Distance(3, 4), f.Distance(3, 5))
	}
	if got := f.String(); got != "[-1 0 0 1 2 -1]" {
		t.Errorf("String: %s", got)
	}
}

func TestPartsFitTogether(t *testing.T) {
	for _, f := range some() {
		g, err := New(f.Parents())
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		equal(t, "New(Parents)", g.Parents(), f.Parents())
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
		equal(t, "all positions", slices.Sorted(slices.Values(slices.Concat(trees...))), upTo(f.T()))
		for _, i := range f.Leaves() {
			for _, e := range f.Edges() {
				if e[0] == i {
					t.Errorf("%v: leaf %d has the child %d", f, i, e[1])
				}
			}
		}
	}
}

func TestForestDoesNotChange(t *testing.T) {
	list := []int{-1, 0, 1, -1}
	f, err := New(list)
	if err != nil {
		t.Fatal(err)
	}
	list[2] = 0
	f.Parents()[1] = -1
	equal(t, "Parents", f.Parents(), []int{-1, 0, 1, -1})
}

func equal[E comparable](t *testing.T, what string, got, want []E) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func upTo(n int) []int {
	is := make([]int, n)
	for i := range is {
		is[i] = i
	}
	return is
}
