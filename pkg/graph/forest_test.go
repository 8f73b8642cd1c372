package graph

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
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
		fs = append(fs, uniform(t, src))
	}
	return fs
}

func TestInvalidForestIsRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		t     int
		edges [][2]int
		want  string
	}{
		{"no query", 1, nil, "T = 1: want at least 2"},
		{"negative", -3, nil, "T = -3: want at least 2"},
		{"child out of range", 4, [][2]int{{0, 1}, {1, 4}}, "edge 1 -> 4: out of range, want nodes 0..3"},
		{"parent out of range", 4, [][2]int{{9, 2}}, "edge 9 -> 2: out of range"},
		{"root as an edge", 4, [][2]int{{-1, 2}}, "edge -1 -> 2: out of range, want nodes 0..3"},
		{"child below 0", 4, [][2]int{{2, -1}}, "edge 2 -> -1: out of range"},
		{"self-loop", 4, [][2]int{{0, 1}, {2, 2}}, "edge 2 -> 2: a parent must come before its child"},
		{"self-loop of the query", 4, [][2]int{{3, 3}}, "edge 3 -> 3: a parent must come before its child"},
		{"cycle of two", 4, [][2]int{{1, 2}, {2, 1}}, "edge 2 -> 1: a parent must come before its child"},
		{"cycle of three", 5, [][2]int{{3, 0}, {0, 2}, {2, 3}}, "edge 3 -> 0: a parent must come before its child"},
		{
			"cycle beside branches", 7,
			[][2]int{{0, 1}, {0, 2}, {2, 4}, {2, 5}, {5, 0}},
			"edge 5 -> 0: a parent must come before its child",
		},
		{"cycle through the query", 3, [][2]int{{0, 1}, {1, 2}, {2, 0}}, "edge 2 -> 0: a parent must come before its child"},
		{"cycle after a backward edge", 6, [][2]int{{4, 3}, {1, 2}, {2, 1}}, "edge 4 -> 3: a parent must come before its child"},
		{
			"cycle after an edge to the root", 7,
			[][2]int{{5, 0}, {0, 1}, {1, 2}, {2, 1}},
			"edge 5 -> 0: a parent must come before its child",
		},
		{"backward edge", 5, [][2]int{{0, 1}, {3, 2}}, "edge 3 -> 2: a parent must come before its child"},
		{"backward edge from the query", 5, [][2]int{{4, 2}}, "edge 4 -> 2: a parent must come before its child"},
		{"two parents", 5, [][2]int{{0, 3}, {1, 3}}, "edge 1 -> 3: two parents: 3 already has the parent 0"},
		{"duplicate", 5, [][2]int{{0, 3}, {0, 3}}, "edge 0 -> 3: duplicate edge"},
		{"query", 5, [][2]int{{0, 1}, {1, 4}}, "edge 1 -> 4: a parent for the query"},
	} {
		f, err := build(test.t, test.edges, strconv.Itoa)
		if f != nil || err == nil || !strings.HasPrefix(err.Error(), "graph: "+test.want) {
			t.Errorf("%s: got %v, error %v; want error %q", test.name, f, err, test.want)
		}
	}
	for _, test := range []struct {
		parents []int
		want    string
	}{
		{nil, "T = 0: want at least 2"},
		{[]int{-1}, "T = 1: want at least 2"},
		{[]int{-1, -2, -1}, "edge -2 -> 1: out of range"},
		{[]int{-1, 3, -1}, "edge 3 -> 1: out of range"},
		{[]int{-1, 1, -1}, "edge 1 -> 1: a parent must come before its child"},
		{[]int{0, 1, 1, 2, 3, 0}, "edge 0 -> 0: parents count from 0, and -1 is a root (MustOneBased takes"},
		{[]int{1, 0, -1}, "edge 1 -> 0: a parent must come before its child"},
		{[]int{-1, 2, -1, -1}, "edge 2 -> 1: a parent must come before its child"},
		{[]int{-1, 0, 0}, "edge 0 -> 2: a parent for the query"},
	} {
		f, err := New(test.parents)
		if f != nil || err == nil || !strings.HasPrefix(err.Error(), "graph: "+test.want) {
			t.Errorf("New(%v): got %v, error %v; want error %q", test.parents, f, err, test.want)
		}
	}
}

// Of the edge lists on 4 positions with at most one edge into each, exactly the
// 3! forests are accepted.
func TestOnlyForestsAreAccepted(t *testing.T) {
	accepted := 0
	var try func(parents []int)
	try = func(parents []int) {
		if len(parents) == 4 {
			f, err := New(parents)
			ok := parents[3] == Root
			for i, p := range parents {
				ok = ok && p < i
			}
			if ok != (err == nil) {
				t.Errorf("New(%v): error %v, forest %v", parents, err, ok)
			}
			if f != nil {
				accepted++
			}
			return
		}
		for p := Root; p < 4; p++ {
			try(append(slices.Clone(parents), p))
		}
	}
	try(nil)
	if accepted != 6 {
		t.Errorf("%d lists accepted, want 6", accepted)
	}
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

func TestGraphHasAtMostMaxTPositions(t *testing.T) {
	parents := slices.Repeat([]int{Root}, MaxT+1)
	if _, err := New(parents[1:]); err != nil {
		t.Error(err)
	}
	if _, err := New(parents); err == nil || !strings.Contains(err.Error(), "at most 1048576 positions") {
		t.Errorf("one position more: error %v", err)
	}
}
