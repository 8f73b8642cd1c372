package claims

import (
	"iter"
	"math/rand/v2"
	"slices"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
)

// This file has the forests on which the appendices on concentration and on finite samples are checked, and the
// variances of sums over a forest, in floats and in rational numbers.

// A familyMember is a graph of a family.
type familyMember struct {
	family string
	graph  *graph.Forest
}

// familyMembers returns graphs on t positions, for each t, of families that differ in
// T_eff: chain and in-context graph (T_eff = T), spider with about sqrt(t) legs
// (sqrt T), binary tree and star (bounded), and random forests of two laws.
func familyMembers(e *ledger.Env, sizes ...int) (out []familyMember) {
	for _, t := range sizes {
		for _, name := range []string{"chain", "in-context", "star", "binary tree", "spider", "random forest"} {
			out = append(out, familyMember{name, familyNamed(e, name).New(t)})
		}
		random := rand.New(e.Stream("tree", uint64(t)))
		out = append(out, familyMember{"random tree", graph.Grow(t, random.IntN)})
	}
	return out
}

// rootsOnly returns the forest on t positions without an edge.
func rootsOnly(t int) *graph.Forest {
	return graph.Grow(t, func(int) int { return graph.Root })
}

// pairs returns all pairs of 0, ..., n-1.
func pairs(n int) iter.Seq2[int, int] { return places(n, n) }

// places returns all pairs (row, column) of a matrix.
func places(rows, columns int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for k := range rows * columns {
			if !yield(k/columns, k%columns) {
				return
			}
		}
	}
}

// A leastSlack keeps the sides of the tightest inequality lhs <= rhs.
type leastSlack struct {
	lhs, rhs float64
	any      bool
}

// take reports whether the sides are the tightest so far.
func (t *leastSlack) take(lhs, rhs float64) bool {
	if t.any && !(ledger.Slack(lhs, rhs) < ledger.Slack(t.lhs, t.rhs)) {
		return false
	}
	*t = leastSlack{lhs, rhs, true}
	return true
}

// nearForest is a forest in which two positions of one tree have each pair of
// distances (1, 2, 3 and 0, 1, 2) to their common ancestor.
var nearForest = graph.Grow(8, func(i int) int { return []int{0, 0, 0, 1, 2, 3, 4}[i] })

// enumeratedLaw returns the law of (s_a, s_b) as a sum over all sequences.
func enumeratedLaw(pi exact.Matrix, g *graph.Forest, a, b int) exact.Matrix {
	law := exact.Zero(len(pi), len(pi))
	for x, p := range exact.Sequences(g, pi) {
		law[x[a]][x[b]].Add(law[x[a]][x[b]], p)
	}
	return law
}

// familyNamed returns one of [graph.Families], or "random forest", drawn from a
// stream of the claim: each position is a root with probability 1/2.
func familyNamed(e *ledger.Env, name string) graph.Family {
	if name != "random forest" {
		return graph.FamilyNamed(name)
	}
	return graph.Family{Name: name, New: func(t int) *graph.Forest {
		return graph.Random(t, 0.5, e.Stream("forest", uint64(t)))
	}}
}

// partners returns pi with its columns rotated by 1, ..., S-1. Their traces and the trace of pi have the sum S.
func partners(pi exact.Matrix) []exact.Matrix {
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

// withPartners returns pi and its partners. The exact steps of this section check the
// assumption for the prior on all relabelings of these matrices.
func withPartners(pi exact.Matrix) []exact.Matrix { return append([]exact.Matrix{pi}, partners(pi)...) }
