// Package graph defines the causal graphs of Task 1, forests in which a position of the sequence has at most
// one parent, and of Task 2, in which it may have several. A parent comes before its child.
//
// Positions are 0-based: position i is the paper's s_{i+1}. In a [Forest] the last position, T-1, is the query,
// which has neither parent nor children. A [DAG] has one node more than positions, its label.
//
//	f, err := graph.New([]int{-1, 0, 0, 1, 2, -1})             // the paper's Figure 1
//	f = graph.MustNew(graph.Root, 0, 0, 1, 2, graph.Root)      // the same, in a program
//	f, err = graph.ReadForest(file)                            // a graph from a file
//	f = graph.Grow(20, func(i int) int { return max(i-3, 0) }) // a family of graphs
//	g, err := graph.NewDAG([][]int{{}, {}, {0, 1}, {1, 2}})
//	g, err = graph.ReadDAG(file)
//	f, g, names, err := graph.Read(file)                       // either, with names of nodes
package graph

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Root is the parent of a position that has none.
const Root = -1

// MaxT is the largest number of positions of a graph.
const MaxT = 1 << 20

// A Forest is a causal graph on the positions 0..T-1: each position has at most one parent p(i) <
// i, and the query T-1 has none. It is immutable and may be shared between goroutines.
type Forest struct {
	parents []int
}

// New returns the forest in which position i has the parent parents[i], or none if that is
// Root; T = len(parents), including the query. It returns an error that names the edge
// unless 2 <= T <= [MaxT], every parent comes before its child, and the query is a root.
func New(parents []int) (*Forest, error) {
	if len(parents) > 1 && parents[0] == 0 {
		return nil, errors.New("graph: edge 0 -> 0: parents count from 0, and -1 is a root")
	}
	return build(len(parents), edgesOf(parents), strconv.Itoa)
}

// MustNew is [New] of a list of arguments, as in MustNew(Root, 0, 0, 1, 2, Root). It panics
// where New returns an error.
func MustNew(parents ...int) *Forest { return must(New(parents)) }

func must(f *Forest, err error) *Forest {
	if err != nil {
		panic(err.Error())
	}
	return f
}

// build returns the forest on t positions with the given edges (parent, child). Errors call position i name(i).
func build(t int, edges [][2]int, name func(int) string) (*Forest, error) {
	if err := checkT(t); err != nil {
		return nil, err
	}
	if err := checkEdges(edges, t, name); err != nil {
		return nil, err
	}
	parents := slices.Repeat([]int{Root}, t)
	for _, e := range edges {
		if p := parents[e[1]]; p != Root {
			return nil, fault(e, name, "two parents: %s already has the parent %s, and may have one at most",
				name(e[1]), name(p))
		}
		parents[e[1]] = e[0]
	}
	if p := parents[t-1]; p != Root {
		return nil, fault([2]int{p, t - 1}, name,
			"a parent for the query: the last position is the query and must be a root "+
				"(to keep this edge, add a position after it)")
	}
	return &Forest{parents}, nil
}

// checkT returns an error unless a forest may have t positions.
func checkT(t int) error {
	switch {
	case t < 2:
		return fmt.Errorf("graph: T = %d: want at least 2 positions, the last of them the query", t)
	case t > MaxT:
		return fmt.Errorf("graph: T = %d: want at most %d positions", t, MaxT)
	}
	return nil
}

// checkEdges returns an error unless the edges are distinct and lead from one of t nodes to a later one.
func checkEdges(edges [][2]int, t int, name func(int) string) error {
	known := make(map[[2]int]bool, len(edges))
	for _, e := range edges {
		switch {
		case min(e[0], e[1]) < 0 || max(e[0], e[1]) >= t:
			return fault(e, name, "out of range, want nodes %s..%s", name(0), name(t-1))
		case e[0] >= e[1]:
			return fault(e, name, "a parent must come before its child")
		case known[e]:
			return fault(e, name, "duplicate edge: give each edge once")
		}
		known[e] = true
	}
	return nil
}

// fault returns an error that names the edge.
func fault(e [2]int, name func(int) string, format string, args ...any) error {
	return fmt.Errorf("graph: edge %s -> %s: %s", name(e[0]), name(e[1]), fmt.Sprintf(format, args...))
}

// list returns the parents. It panics if f is nil or the zero value.
func (f *Forest) list() []int {
	if f == nil || len(f.parents) == 0 {
		panic("graph: there is no forest: make one with New, ReadForest or Grow")
	}
	return f.parents
}

// T returns the number of positions, including the query.
func (f *Forest) T() int { return len(f.list()) }

// Parent returns p(i), or Root. It panics if i is not in 0..T-1.
func (f *Forest) Parent(i int) int {
	f.check(i)
	return f.parents[i]
}

// check panics unless i is a position.
func (f *Forest) check(i int) {
	if t := f.T(); i < 0 || i >= t {
		panic(fmt.Sprintf("graph: position %d is not in 0..%d", i, t-1))
	}
}

// Parents returns a copy of the list p(0), ..., p(T-1).
func (f *Forest) Parents() []int { return slices.Clone(f.list()) }

// String returns the list of parents, such as [-1 0 0 1 2 -1].
func (f *Forest) String() string { return fmt.Sprint(f.list()) }

// Edges returns the edges (parent, child), ordered by child.
func (f *Forest) Edges() [][2]int { return edgesOf(f.list()) }

func edgesOf(parents []int) [][2]int {
	var edges [][2]int
	for i, p := range parents {
		if p != Root {
			edges = append(edges, [2]int{p, i})
		}
	}
	return edges
}

// Roots returns the positions without a parent in increasing order; the query is the last.
func (f *Forest) Roots() []int {
	var roots []int
	for i, p := range f.list() {
		if p == Root {
			roots = append(roots, i)
		}
	}
	return roots
}

// Leaves returns the positions without children in increasing order. A position with
// neither parent nor children, such as the query, is both a root and a leaf.
func (f *Forest) Leaves() []int {
	parent := make([]bool, f.T())
	for _, p := range f.list() {
		if p != Root {
			parent[p] = true
		}
	}
	var leaves []int
	for i, p := range parent {
		if !p {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// Trees returns the positions of each tree in increasing order, and the trees in the order
// of their roots. The last tree is the query.
func (f *Forest) Trees() [][]int {
	var trees [][]int
	tree := make([]int, f.T()) // the index in trees
	for i, p := range f.parents {
		if p == Root {
			tree[i] = len(trees)
			trees = append(trees, nil)
		} else {
			tree[i] = tree[p]
		}
		trees[tree[i]] = append(trees[tree[i]], i)
	}
	return trees
}
