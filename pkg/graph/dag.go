package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
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
//
// In-degrees may differ, as they may in the released code; Task 2 as the paper
// has it wants none or k parents, which Uniform checks.
func NewDAG(parents [][]int) (*DAG, error) {
	return newDAG(parents, strconv.Itoa)
}

// newDAG is [NewDAG] with the name by which errors call a node.
func newDAG(parents [][]int, name func(int) string) (*DAG, error) {
	n := len(parents)
	if n < 2 {
		return nil, fmt.Errorf("graph: %d nodes, want at least 2, the last of them the label", n)
	}
	g := &DAG{make([][]int, n)}
	for i, ps := range parents {
		for k, p := range ps {
			if p < 0 || p >= i {
				return nil, fmt.Errorf(
					"graph: node %s has the parent %s, want one of the nodes before it (%s..%s), or no parents at all",
					name(i), name(p), name(0), name(i-1))
			}
			if slices.Contains(ps[:k], p) {
				return nil, fmt.Errorf("graph: node %s has the parent %s twice, want each parent once",
					name(i), name(p))
			}
		}
		g.parents[i] = slices.Clone(ps)
	}
	if len(parents[n-1]) == 0 {
		return nil, fmt.Errorf("graph: node %s, the label, has no parent, want at least one: "+
			"without any the sequence says nothing about the label", name(n-1))
	}
	return g, nil
}

// Uniform returns k if every node that has parents has exactly k of them, as
// Task 2 asks for, and otherwise an error that names a node.
func (g *DAG) Uniform() (k int, err error) {
	k = len(g.lists()[g.T()])
	for i, ps := range g.parents {
		if len(ps) != 0 && len(ps) != k {
			return 0, fmt.Errorf("graph: node %d has %d parents and the label %d, want none or as many", i, len(ps), k)
		}
	}
	return k, nil
}

// NGram returns the graph on t positions and the label in which every node
// i >= k has the k nodes before it as parents, in their order: the label's
// conditional law is that of a (k+1)-gram. It panics unless 1 <= k <= t <= [MaxT].
func NGram(t, k int) *DAG {
	checkDegree(t, k)
	g := &DAG{make([][]int, t+1)}
	for i := k; i <= t; i++ {
		for p := i - k; p < i; p++ {
			g.parents[i] = append(g.parents[i], p)
		}
	}
	return g
}

// checkDegree panics unless a node after t positions may have k of them as parents.
func checkDegree(t, k int) {
	if k < 1 || k > t || t > MaxT {
		panic(fmt.Sprintf("graph: a node with %d parents among %d positions, want 1 to as many as there are, "+
			"and at most %d positions", k, t, MaxT))
	}
}

// Halves returns the graph on t positions and the label in which every node
// i >= 2 has the parents floor((i-1)/2) and i-1, in this order. It panics unless
// 2 <= t <= [MaxT].
func Halves(t int) *DAG {
	checkDegree(t, 2)
	g := &DAG{make([][]int, t+1)}
	for i := 2; i <= t; i++ {
		g.parents[i] = []int{(i - 1) / 2, i - 1}
	}
	return g
}

// RandomDAG returns a graph on t positions and the label in which a node has no
// parents or k of them. As in [Random], each position i in k..t-1 is, independently
// of the others, a root with probability p; the positions before k are roots, and
// the label is none. The parents of another node i are one of the sets of k of
// the nodes 0..i-1, each with the same probability, in increasing order. It
// panics unless 1 <= k <= t <= [MaxT] and p is in [0, 1].
func RandomDAG(t, k int, p float64, src rand.Source) *DAG {
	checkDegree(t, k)
	if !(0 <= p && p <= 1) {
		panic(fmt.Sprintf("graph: probability %v of a root is not in [0, 1]", p))
	}
	rnd := rand.New(src)
	g := &DAG{make([][]int, t+1)}
	for i := k; i <= t; i++ {
		if i == t || rnd.Float64() >= p {
			g.parents[i] = rnd.Perm(i)[:k:k]
			slices.Sort(g.parents[i])
		}
	}
	return g
}

// T returns the number of positions, the label not included.
func (g *DAG) T() int { return len(g.lists()) - 1 }

// lists returns the lists of parents, and panics if there is no graph.
func (g *DAG) lists() [][]int {
	if g == nil || len(g.parents) == 0 {
		panic("graph: there is no DAG here: NewDAG and ReadDAG make one")
	}
	return g.parents
}

// Parents returns a copy of the lists of parents of nodes 0..T.
func (g *DAG) Parents() [][]int {
	out := make([][]int, len(g.lists()))
	for i, ps := range g.parents {
		out[i] = slices.Clone(ps)
	}
	return out
}
