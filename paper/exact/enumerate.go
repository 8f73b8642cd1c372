package exact

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
)

// Simplex returns the probability vectors of length n whose entries are positive multiples of
// 1/den, in lexicographic order. There are none if den < n. It panics unless n >= 1.
func Simplex(n, den int) iter.Seq[Vector] {
	atLeast("the length of a law", n, 1)
	return func(yield func(Vector) bool) {
		p := make(Vector, n)
		var fill func(i, left int) bool
		fill = func(i, left int) bool {
			if i == n-1 {
				p[i] = Frac(int64(left), int64(den))
				return yield(slices.Clone(p))
			}
			for k := 1; k <= left-(n-1-i); k++ {
				p[i] = Frac(int64(k), int64(den))
				if !fill(i+1, left-k) {
					return false
				}
			}
			return true
		}
		if den >= n {
			fill(0, den)
		}
	}
}

// Grid returns the vectors of length n with entries in {0, 1, ..., top}, in the
// order in which the first entry varies fastest. It panics if n or top is negative.
func Grid(n, top int) iter.Seq[Vector] {
	atLeast("the length of a vector", n, 0)
	atLeast("the largest entry", top, 0)
	return func(yield func(Vector) bool) {
		for x := range task.Sequences(top+1, n) {
			if !yield(entries(n, func(i int) *big.Rat { return Int(x[n-1-i]) })) {
				return
			}
		}
	}
}

// Positive returns the transition matrices over s states whose entries are
// positive multiples of 1/den, in lexicographic order. Every row is one of the
// vectors of [Simplex]; matrices share numbers. It panics unless s >= 1.
func Positive(s, den int) iter.Seq[Matrix] {
	atLeast("the number of states", s, 1)
	return func(yield func(Matrix) bool) {
		rows := slices.Collect(Simplex(s, den))
		if len(rows) == 0 {
			return
		}
		for x := range task.Sequences(len(rows), s) {
			if !yield(build(s, s, func(i, j int) *big.Rat { return rows[x[i]][j] })) {
				return
			}
		}
	}
}

// Round returns the transition matrix pi over s states, row-major, with each row rounded to multiples of 1/den
// that sum to one exactly, by largest remainders. No entry moves by more than 1/den. The result may violate a
// hypothesis that pi satisfies. It panics unless pi is a transition matrix to 1e-12, and den in 1..10^9.
func Round(pi []float64, s, den int) Matrix {
	if err := markov.CheckRows(pi, s); err != nil {
		panic("exact: " + err.Error())
	}
	if den < 1 || den > 1e9 {
		panic(fmt.Sprintf("exact: multiples of 1/%d, want a denominator in 1..10^9", den))
	}
	rows := make(Matrix, s)
	for r := range rows {
		row := pi[r*s : r*s+s]
		n, order, left := make([]int, s), make([]int, s), den
		for j, p := range row {
			n[j], order[j] = int(math.Floor(p*float64(den))), j
			left -= n[j]
		}
		rest := func(j int) float64 { return float64(row[j]*float64(den)) - float64(n[j]) }
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest(b), rest(a)) })
		for k := range max(left, 0) {
			n[order[k%s]]++
		}
		rows[r] = entries(s, func(j int) *big.Rat { return Frac(int64(n[j]), int64(den)) })
	}
	return rows
}

// Sequences returns every sequence of the forest with its probability given pi, whose stationary measure is mu:
//
//	P(x | pi) = 1/S prod_{roots i < T-1} mu(x_i) prod_{edges p(i) -> i} pi(x_i | x_p(i))
//
// where 1/S is the query's, so that the probabilities sum to one. The order is the order of [task.Sequences],
// and the slice is reused. It panics if pi has no unique stationary measure.
func Sequences(g *graph.Forest, pi Matrix) iter.Seq2[[]int, *big.Rat] {
	mu, uniform := MustStationary(pi), Frac(1, int64(len(pi)))
	return func(yield func([]int, *big.Rat) bool) {
		t := g.T()
		p := make(Vector, t+1) // p[i]: the probability of x_0, ..., x_{i-1}
		p[0] = Int(1)
		for x, from := range task.Sequences(len(pi), t) {
			for i := from; i < t; i++ {
				law := mu[x[i]]
				if i == t-1 {
					law = uniform
				} else if parent := g.Parent(i); parent != graph.Root {
					law = pi[x[parent]][x[i]]
				}
				p[i+1] = Mul(p[i], law)
			}
			if !yield(x, p[t]) {
				return
			}
		}
	}
}
