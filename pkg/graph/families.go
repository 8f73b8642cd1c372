package graph

import (
	"fmt"
	"math/rand/v2"
)

// Chain returns the Markov chain on t positions: p(i) = i-1 for 1 <= i <= t-2.
// It panics if t < 2.
func Chain(t int) *Forest {
	return family(t, func(i int) int { return i - 1 })
}

// InContext returns the in-context-learning graph on t positions (ex-icl): an
// odd position i <= t-2 has the parent i-1, all others are roots. It panics if
// t < 2.
func InContext(t int) *Forest {
	return family(t, func(i int) int {
		if i%2 == 1 {
			return i - 1
		}
		return Root
	})
}

// Example returns the graph of the paper's Figure 1, on 6 positions:
// 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 4 and the query.
func Example() *Forest {
	return &Forest{[]int{Root, 0, 0, 1, 2, Root}}
}

// Random returns a forest on t positions drawn by the law of the paper's
// quantitative comparison (fig-many-graphs, where p = 1/2): each position i in
// 1..t-2 is, independently of the others, a root with probability p, and
// otherwise has a parent drawn uniformly from 0..i-1. Positions 0 and t-1 are
// roots. It panics if t < 2 or p is not in [0, 1].
func Random(t int, p float64, src rand.Source) *Forest {
	if !(0 <= p && p <= 1) {
		panic(fmt.Sprintf("graph: probability %v of a root is not in [0, 1]", p))
	}
	rnd := rand.New(src)
	return family(t, func(i int) int {
		if rnd.Float64() < p {
			return Root
		}
		return rnd.IntN(i)
	})
}

// RandomUniform returns a forest on t positions drawn by the law of the
// authors' released script: the parent of each position i in 1..t-2 is drawn
// uniformly from -1..i-1, where -1 is Root. It panics if t < 2.
func RandomUniform(t int, src rand.Source) *Forest {
	rnd := rand.New(src)
	return family(t, func(i int) int { return rnd.IntN(i+1) - 1 })
}

// family returns the forest on t positions with the given parents of 1..t-2,
// asked for in this order.
func family(t int, parent func(i int) int) *Forest {
	if t < 2 {
		panic(fmt.Sprintf("graph: T = %d: want at least 2 positions", t))
	}
	parents := make([]int, t)
	parents[0], parents[t-1] = Root, Root
	for i := 1; i < t-1; i++ {
		parents[i] = parent(i)
	}
	return &Forest{parents}
}
