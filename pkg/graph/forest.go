// Package graph has the causal graphs of Task 1, forests in which a position of
// the sequence has at most one parent, and those of Task 2, in which it may have
// several. A parent comes before its child.
//
// Positions are 0-based, so position i is the paper's s_{i+1}. In a [Forest] the
// last position, T-1, is the query: it has no parent and no children. A [DAG] has
// one more node than positions, its label.
//
//	f, err := graph.New([]int{-1, 0, 0, 1, 2, -1})             // the paper's Figure 1
//	f = graph.MustNew(graph.Root, 0, 0, 1, 2, graph.Root)      // the same, in a program
//	f, err = graph.ReadDOT(file)                               // a graph of your own
//	f = graph.Grow(20, func(i int) int { return max(i-3, 0) }) // or a family of yours
//	g, err := graph.NewDAG([][]int{{}, {}, {0, 1}, {1, 2}})
//	g, err = graph.ReadDAG(file)
package graph

import (
	"fmt"
	"slices"
	"strconv"
)

// Root is the parent of a position that has none.
const Root = -1

// A Forest is a causal graph on the positions 0..T-1: each position has at
// most one parent p(i) < i, and the query T-1 has none. It does not change once
// made, and may be shared between goroutines.
type Forest struct {
	parents []int
}

// New returns the forest in which position i has parent parents[i], or none if
// that is Root; T = len(parents), the query included. The rules and the errors
// are those of [FromEdges].
func New(parents []int) (*Forest, error) {
	return build(len(parents), edgesOf(parents), strconv.Itoa)
}

// MustNew is [New] with the parents given one by one, as in
// MustNew(Root, 0, 0, 1, 2, Root), and a panic in place of an error: for graphs
// that are written in a program.
func MustNew(parents ...int) *Forest {
	return must(New(parents))
}

// FromEdges returns the forest on t positions with the given edges (parent,
// child). It returns an error that names the edge if one of these rules, tried
// in this order, is broken:
//
//	range        2 <= t <= MaxT and both ends are in 0..t-1
//	self-loop    no position is its own parent
//	cycle        no path of edges leads back to its start
//	forward edge a parent comes before its child
//	duplicate    each edge is given once
//	two parents  a position has one parent at most
//	query        position t-1 is a root
func FromEdges(t int, edges [][2]int) (*Forest, error) {
	return build(t, edges, strconv.Itoa)
}

// build is [FromEdges] with the name by which errors call a position.
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

// MaxT is the largest number of positions of a graph.
const MaxT = 1 << 20

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

// checkEdges returns an error unless edges between t nodes obey the rules of
// [FromEdges] from range to duplicate.
func checkEdges(edges [][2]int, t int, name func(int) string) error {
	children := make([][]int, t)
	for _, e := range edges {
		if min(e[0], e[1]) < 0 || max(e[0], e[1]) >= t {
			const positions = "positions are 0..%d, and only the list of parents writes %d, for a root"
			return fault(e, name, "out of range: "+positions, t-1, Root)
		}
		if e[0] == e[1] {
			return fault(e, name, "self-loop: a parent must come before its child")
		}
		children[e[0]] = append(children[e[0]], e[1])
	}
	// Every cycle has an edge that points back.
	if i := slices.IndexFunc(edges, func(e [2]int) bool { return e[0] > e[1] }); i >= 0 {
		if cycle := findCycle(children); cycle != nil {
			text := name(cycle[0])
			for _, k := range append(cycle[1:], cycle[0]) {
				text += " -> " + name(k)
			}
			return fault([2]int{cycle[0], cycle[1]}, name, "closes the cycle %s: a causal graph has no cycle", text)
		}
		return fault(edges[i], name, "forward edge: a parent must come before its child")
	}
	known := make(map[[2]int]bool, len(edges))
	for _, e := range edges {
		if known[e] {
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

// findCycle returns the positions on a cycle, each a parent of the next and the last of
// the first, beginning at the largest; nil if there is none. It takes a time of the
// order of the edges.
func findCycle(children [][]int) []int {
	var path []int
	place := make([]int, len(children)) // on the path, from 1; -1 for what no cycle goes through
	var visit func(i int) bool
	visit = func(i int) bool {
		path = append(path, i)
		place[i] = len(path)
		for _, c := range children[i] {
			if place[c] > 0 {
				path = path[place[c]-1:]
				return true
			}
			if place[c] == 0 && visit(c) {
				return true
			}
		}
		path, place[i] = path[:len(path)-1], -1
		return false
	}
	for i := range children {
		if place[i] == 0 && visit(i) {
			largest := slices.Index(path, slices.Max(path))
			return slices.Concat(path[largest:], path[:largest])
		}
	}
	return nil
}

// list returns the parents, and panics if there is no forest.
func (f *Forest) list() []int {
	if f == nil || len(f.parents) == 0 {
		panic("graph: there is no forest here: New, FromEdges, ReadDOT and Grow make one")
	}
	return f.parents
}

// T returns the number of positions, the query included.
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

// Edges returns the edges (parent, child) in the order of the children.
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

// Roots returns the positions without a parent, in order; the query is the last.
func (f *Forest) Roots() []int {
	var roots []int
	for i, p := range f.list() {
		if p == Root {
			roots = append(roots, i)
		}
	}
	return roots
}

// Leaves returns the positions without children, in order. A position with
// neither parent nor children, as the query, is both a root and a leaf.
func (f *Forest) Leaves() []int {
	var leaves []int
	for i := range f.list() {
		if !slices.Contains(f.parents, i) {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// Trees returns the positions of each tree in order, the trees in the order of
// their roots. The last is the query alone.
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
