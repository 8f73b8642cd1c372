package graph

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Adjacency returns the T x T matrix with a one at (i, p(i)) for each i that has a parent, and zeros elsewhere.
func (f *Forest) Adjacency() *mat.Dense {
	a := mat.NewDense(f.T(), f.T(), nil)
	for i, p := range f.list() {
		if p != Root {
			a.Set(i, p, 1)
		}
	}
	return a
}

// Distance returns d(i, j), the number of edges on the path between i and j
// when edges are walked in both directions, or -1 (the paper's infinity) if
// they are in different trees. It panics if i or j is not in 0..T-1.
func (f *Forest) Distance(i, j int) int {
	f.check(i)
	f.check(j)
	d := 0
	// The later position is not an ancestor of the other, so the path goes to its parent.
	for ; i != j; d++ {
		if i < j {
			i, j = j, i
		}
		i = f.parents[i]
		if i == Root {
			return -1
		}
	}
	return d
}

// Meet returns the least common ancestor k of i and j, where a position counts among its
// own ancestors, and the number of edges from k to each. In different trees k is Root and
// the numbers are -1. It panics if i or j is not in 0..T-1.
func (f *Forest) Meet(i, j int) (k, toI, toJ int) {
	f.check(i)
	f.check(j)
	for i != j {
		if i > j {
			i = f.parents[i]
			toI++
		} else {
			j = f.parents[j]
			toJ++
		}
		if i == Root || j == Root {
			return Root, -1, -1
		}
	}
	return i, toI, toJ
}

// TEff returns the effective sequence length
//
//	T_eff = T / max_l L_l
//
// where L_l is the number of leaves of tree l (Definition 4). It lies in [1, T], and is T for the
// chain and for the in-context-learning graph, in which L_l = 1 (Section 4.2, def-teff-examples).
func (f *Forest) TEff() float64 {
	below := make([]int, f.T()) // leaves in the subtree of each position
	for _, i := range f.Leaves() {
		below[i] = 1
	}
	for i := f.T() - 1; i >= 0; i-- {
		if p := f.parents[i]; p != Root {
			below[p] += below[i]
		}
	}
	return float64(f.T()) / float64(slices.Max(below))
}

// RootFraction returns r = |R|/T of Assumption 2, where the query counts as a
// root. The assumption is r <= 1 - gamma.
func (f *Forest) RootFraction() float64 { return float64(len(f.Roots())) / float64(f.T()) }

// TEffLambda returns the effective sequence length
//
//	T_eff(lambda) = T^2 / sum_{i,j} lambda^d(i,j)
//
// over all ordered pairs of positions, with lambda^infinity = 0 (Definition 8). It decreases from T
// at lambda = 0; the limit lambda = 1, in which the sum counts the pairs in a common tree, is
// allowed. It panics if lambda is not in [0, 1].
//
// The bound T_eff(lambda) >= (1-lambda) T_eff of Lemma 18 (lem-teff-leaves) does not hold as
// printed: inside a chain two positions are at each distance, yet L = 1, and Chain(5) breaks it at
// lambda = 0.3. With L = max_l L_l, what holds is
//
//	T_eff(lambda) >= (1-lambda) T / (1 + lambda L)
//
// because at distance k >= 1 from i there is at most one position above i, and
// every other position has its own leaf below it.
func (f *Forest) TEffLambda(lambda float64) float64 {
	if !(0 <= lambda && lambda <= 1) {
		panic(fmt.Sprintf("graph: lambda = %v is not in [0, 1]", lambda))
	}
	// below[i] sums lambda^d(i,j) over the part of i's subtree joined to it so far, complete once all later
	// positions are joined. A pair is counted at the join that connects it, so that nothing is ever subtracted.
	below := slices.Repeat([]float64{1}, f.T())
	pairs := 0.0
	for i := f.T() - 1; i >= 0; i-- {
		if p := f.parents[i]; p != Root {
			arm := float64(lambda * below[i])
			pairs += float64(below[p] * arm)
			below[p] += arm
		}
	}
	n := float64(f.T())
	return n * n / (n + 2*pairs)
}
