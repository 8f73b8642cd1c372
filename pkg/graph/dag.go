package graph

import (
	"fmt"
	"slices"
)

// A DAG is a causal graph of Task 2 on the nodes 0..T: nodes 0..T-1 are the
// positions of the sequence, node T is the label. The parents of a node come
// before it and are kept in the order they were given in, which is the order in
// which a transition tensor is indexed by their tokens. It does not change once
// made, and may be shared between goroutines.
type DAG struct {
	parents [][]int
}

// NewDAG returns the graph in which node i has the parents parents[i]; there
// are len(parents) = T+1 nodes, the label last. It returns an error that names
// the node unless T >= 1, every parent of node i is in 0..i-1, no parent is
// listed twice, and the label has a parent.
func NewDAG(parents [][]int) (*DAG, error) {
	n := len(parents)
	if n < 2 {
		return nil, fmt.Errorf("graph: %d nodes, want at least 2, the last of them the label", n)
	}
	g := &DAG{make([][]int, n)}
	for i, ps := range parents {
		for k, p := range ps {
			if p < 0 || p >= i {
				return nil, fmt.Errorf("graph: node %d has the parent %d, want one of the nodes before it (0..%d), or no parents at all", i, p, i-1)
			}
			if slices.Contains(ps[:k], p) {
				return nil, fmt.Errorf("graph: node %d has the parent %d twice, want each parent once", i, p)
			}
		}
		g.parents[i] = slices.Clone(ps)
	}
	if len(parents[n-1]) == 0 {
		return nil, fmt.Errorf("graph: node %d, the label, has no parent, want at least one: without any the sequence says nothing about the label", n-1)
	}
	return g, nil
}

// Uniform returns k if every node that has parents has exactly k of them, as
// Task 2 asks for, and otherwise an error that names a node.
func (g *DAG) Uniform() (k int, err error) {
	k = len(g.parents[g.T()])
	for i, ps := range g.parents {
		if len(ps) != 0 && len(ps) != k {
			return 0, fmt.Errorf("graph: node %d has %d parents and the label %d, want none or as many", i, len(ps), k)
		}
	}
	return k, nil
}

// NGram returns the graph on t positions and the label in which every node
// i >= k has the k nodes before it as parents, in their order: the label's
// conditional law is that of a (k+1)-gram. It panics unless 1 <= k <= t.
func NGram(t, k int) *DAG {
	if k < 1 || k > t {
		panic(fmt.Sprintf("graph: a node with %d parents among %d positions", k, t))
	}
	g := &DAG{make([][]int, t+1)}
	for i := k; i <= t; i++ {
		for p := i - k; p < i; p++ {
			g.parents[i] = append(g.parents[i], p)
		}
	}
	return g
}

// Halves returns the graph on t >= 2 positions and the label in which every
// node i >= 2 has the parents floor((i-1)/2) and i-1, in this order.
func Halves(t int) *DAG {
	if t < 2 {
		panic(fmt.Sprintf("graph: two parents among %d positions", t))
	}
	g := &DAG{make([][]int, t+1)}
	for i := 2; i <= t; i++ {
		g.parents[i] = []int{(i - 1) / 2, i - 1}
	}
	return g
}

// T returns the number of positions, the label not included.
func (g *DAG) T() int { return len(g.parents) - 1 }

// Parents returns a copy of the lists of parents of nodes 0..T.
func (g *DAG) Parents() [][]int {
	out := make([][]int, len(g.parents))
	for i, ps := range g.parents {
		out[i] = slices.Clone(ps)
	}
	return out
}
