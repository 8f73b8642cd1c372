package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// A DAG is a causal graph of Task 2 on the nodes 0..T: nodes 0..T-1 are the positions of the sequence, node T
// is the label. The parents of a node come before it. Their order is the order in which a transition tensor is
// indexed by their tokens. A DAG is immutable and may be shared between goroutines.
type DAG struct {
	parents [][]int
}

// NewDAG returns the graph in which node i has the parents parents[i], in this order; there are len(parents) =
// T+1 nodes, the label last. It returns an error that names the edge or the node unless T >= 1, every parent
// comes before its child, no parent is listed twice, and the label has a parent.
//
// In-degrees may differ, as in the authors' released code. In the paper's Task 2 a node has no parents or k,
// see [DAG.Uniform].
func NewDAG(parents [][]int) (*DAG, error) {
	if err := checkDAG(parents, strconv.Itoa); err != nil {
		return nil, err
	}
	return &DAG{cloneLists(parents)}, nil
}

// checkDAG returns the error of [NewDAG], in which node i is called name(i).
func checkDAG(parents [][]int, name func(int) string) error {
	n := len(parents)
	if n < 2 {
		return fmt.Errorf("graph: %d nodes, want at least 2, the last of them the label", n)
	}
	var edges [][2]int
	for i, ps := range parents {
		for _, p := range ps {
			edges = append(edges, [2]int{p, i})
		}
	}
	if err := checkEdges(edges, n, name); err != nil {
		return err
	}
	if len(parents[n-1]) == 0 {
		return fmt.Errorf("graph: node %s, the label, has no parent, want at least one: "+
			"otherwise the label does not depend on the sequence", name(n-1))
	}
	return nil
}

// Uniform returns k if every node with parents has exactly k, as Task 2 requires, and
// otherwise an error that names a node.
func (g *DAG) Uniform() (k int, err error) {
	k = len(g.lists()[g.T()])
	for i, ps := range g.parents {
		if len(ps) != 0 && len(ps) != k {
			return 0, fmt.Errorf("graph: node %d has %d parents and the label %d, want none or as many", i, len(ps), k)
		}
	}
	return k, nil
}

// growDAG returns the graph on t positions and the label in which nodes i >= k have the parents
// parents(i), drawn in order, and the others none. It panics unless 1 <= k <= t <= [MaxT].
func growDAG(t, k int, parents func(i int) []int) *DAG {
	if k < 1 || k > t || t > MaxT {
		panic(fmt.Sprintf("graph: %d parents of a node among %d positions, want 1 to T of them and T at most %d",
			k, t, MaxT))
	}
	g := &DAG{make([][]int, t+1)}
	for i := k; i <= t; i++ {
		g.parents[i] = parents(i)
	}
	return g
}

// NGram returns the graph on t positions and the label in which every node i >= k has the k
// nodes before it as parents, in increasing order: the conditional law of the label is a
// (k+1)-gram. It panics unless 1 <= k <= t <= [MaxT].
func NGram(t, k int) *DAG {
	return growDAG(t, k, func(i int) (ps []int) {
		for p := i - k; p < i; p++ {
			ps = append(ps, p)
		}
		return ps
	})
}

// Halves returns the graph on t positions and the label in which every node i >= 2 has the
// parents floor((i-1)/2) and i-1, in this order. It panics unless 2 <= t <= [MaxT].
func Halves(t int) *DAG {
	return growDAG(t, 2, func(i int) []int { return []int{(i - 1) / 2, i - 1} })
}

// RandomDAG returns a random graph on t positions and the label in which a node has no parents or k. As in
// [Random], each position i in k..t-1 is a root with probability p, independently; positions before k are
// roots, and the label is not. The parents of any other node i are a uniformly drawn set of k of the nodes
// 0..i-1, in increasing order. It panics unless 1 <= k <= t <= [MaxT] and p is in [0, 1].
func RandomDAG(t, k int, p float64, src rand.Source) *DAG {
	checkProbability(p)
	rnd := rand.New(src)
	return growDAG(t, k, func(i int) []int {
		if i < t && rnd.Float64() < p {
			return nil
		}
		ps := rnd.Perm(i)[:k:k]
		slices.Sort(ps)
		return ps
	})
}

// T returns the number of positions, excluding the label.
func (g *DAG) T() int { return len(g.lists()) - 1 }

// lists returns the lists of parents. It panics if g is nil or the zero value.
func (g *DAG) lists() [][]int {
	if g == nil || len(g.parents) == 0 {
		panic("graph: there is no DAG: make one with NewDAG or ReadDAG")
	}
	return g.parents
}

// Parents returns a copy of the lists of parents of nodes 0..T.
func (g *DAG) Parents() [][]int { return cloneLists(g.lists()) }

func cloneLists(lists [][]int) [][]int {
	out := make([][]int, len(lists))
	for i, ps := range lists {
		out[i] = slices.Clone(ps)
	}
	return out
}
