package instruments

import (
	"iter"
	"math/rand/v2"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
)

// A FamilyMember is a graph of a family.
type FamilyMember struct {
	Family string
	Graph  *graph.Forest
}

// FamilyMembers returns graphs on t positions, for each t, of families that differ in
// T_eff: chain and in-context graph (T_eff = T), spider with about sqrt(t) legs
// (sqrt T), binary tree and star (bounded), and random forests of two laws.
func FamilyMembers(e *ledger.Env, sizes ...int) (out []FamilyMember) {
	for _, t := range sizes {
		for _, name := range []string{"chain", "in-context", "star", "binary tree", "spider", "random forest"} {
			out = append(out, FamilyMember{name, FamilyNamed(e, name).New(t)})
		}
		random := rand.New(e.Stream("tree", uint64(t)))
		out = append(out, FamilyMember{"random tree", graph.Grow(t, random.IntN)})
	}
	return out
}

// RootsOnly returns the forest on t positions without an edge.
func RootsOnly(t int) *graph.Forest {
	return graph.Grow(t, func(int) int { return graph.Root })
}

// Pairs returns all ordered pairs of 0, ..., n-1.
func Pairs(n int) iter.Seq2[int, int] { return Places(n, n) }

// Places returns all pairs (row, column) of a matrix.
func Places(rows, columns int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for k := range rows * columns {
			if !yield(k/columns, k%columns) {
				return
			}
		}
	}
}

// A LeastSlack keeps the sides of the tightest inequality lhs <= rhs.
type LeastSlack struct {
	LHS, RHS float64
	any      bool
}

// Take keeps the sides if they are the tightest so far, and reports whether they are.
func (t *LeastSlack) Take(lhs, rhs float64) bool {
	if t.any && !(ledger.Slack(lhs, rhs) < ledger.Slack(t.LHS, t.RHS)) {
		return false
	}
	*t = LeastSlack{lhs, rhs, true}
	return true
}

// NearForest is a forest in which two positions of one tree have each pair of
// distances (1, 2, 3 and 0, 1, 2) to their common ancestor.
var NearForest = graph.Grow(8, func(i int) int { return []int{0, 0, 0, 1, 2, 3, 4}[i] })

// EnumeratedLaw returns the law of (s_a, s_b) as a sum over all sequences.
func EnumeratedLaw(pi exact.Matrix, g *graph.Forest, a, b int) exact.Matrix {
	law := exact.Zero(len(pi), len(pi))
	for x, p := range exact.Sequences(g, pi) {
		law[x[a]][x[b]].Add(law[x[a]][x[b]], p)
	}
	return law
}

// FamilyNamed returns one of [graph.Families], or "random forest", drawn from a
// stream of the claim: each position is a root with probability 1/2.
func FamilyNamed(e *ledger.Env, name string) graph.Family {
	if name != "random forest" {
		return graph.FamilyNamed(name)
	}
	return graph.Family{Name: name, New: func(t int) *graph.Forest {
		return graph.Random(t, 0.5, e.Stream("forest", uint64(t)))
	}}
}

// Partners returns pi with its columns rotated by 1, ..., S-1. Their traces and the trace of pi have the sum S.
func Partners(pi exact.Matrix) []exact.Matrix {
	var out []exact.Matrix
	for k := 1; k < len(pi); k++ {
		m := make(exact.Matrix, len(pi))
		for i, row := range pi {
			m[i] = append(slices.Clone(row[k:]), row[:k]...)
		}
		out = append(out, m)
	}
	return out
}

// WithPartners returns pi and its [Partners], a prior of mean trace 1.
func WithPartners(pi exact.Matrix) []exact.Matrix { return append([]exact.Matrix{pi}, Partners(pi)...) }
