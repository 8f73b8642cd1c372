package task

import (
	"fmt"
	"iter"
	"math"
)

// MaxEnumerate is the largest number of sequences that [Task.Enumerate] returns.
const MaxEnumerate = 1 << 24

// CheckEnumerable returns an error if there are more than [MaxEnumerate] sequences of t
// tokens in 0..s-1, if s is not positive, or if t is negative.
func CheckEnumerable(s, t int) error {
	if s < 1 || t < 0 {
		return fmt.Errorf("task: sequences of %d tokens in 0..%d, want at least 0 tokens and at least 1 state", t, s-1)
	}
	if math.Pow(float64(s), float64(t)) > MaxEnumerate {
		return fmt.Errorf("task: %d^%d sequences are too many to enumerate, want at most %d", s, t, MaxEnumerate)
	}
	return nil
}

// Enumerate returns every sequence of the task with its probability given the
// transition matrix pi, whose stationary measure is mu:
//
//	P(x | pi) = 1/S prod_{roots i < T-1} mu(x_i) prod_{edges p(i) -> i} pi(x_i | x_p(i))
//
// where 1/S is the probability of the query, and of a uniform root. The order is lexicographic, x_0 being the most
// significant digit. The slice x is reused. It returns an error if S^T exceeds
// [MaxEnumerate]. It panics unless pi has S*S entries and mu has S.
func (t Task) Enumerate(pi, mu []float64) (iter.Seq2[[]int, float64], error) {
	s, parents := t.Prior.States(), t.Graph.Parents()
	if len(pi) != s*s || len(mu) != s {
		panic(fmt.Sprintf("task: %d entries of a transition matrix and %d of its stationary measure for %d states",
			len(pi), len(mu), s))
	}
	last := len(parents) - 1
	if err := CheckEnumerable(s, last+1); err != nil {
		return nil, err
	}
	return func(yield func([]int, float64) bool) {
		p := make([]float64, last+2) // p[i]: the probability of x_0, ..., x_{i-1}
		p[0] = 1
		for x, from := range Sequences(s, last+1) {
			for i := from; i <= last; i++ {
				switch parent := parents[i]; {
				case i == last, parent < 0 && t.UniformRoots:
					p[i+1] = p[i] / float64(s)
				case parent < 0:
					p[i+1] = p[i] * mu[x[i]]
				default:
					p[i+1] = p[i] * pi[x[parent]*s+x[i]]
				}
			}
			if !yield(x, p[last+1]) {
				return
			}
		}
	}, nil
}

// Sequences returns every sequence of t tokens in 0..s-1 in lexicographic order, the first token
// varying slowest. With each it returns the first index at which it differs from the previous
// sequence, 0 at first: results for a shorter prefix remain valid. The slice is reused; a caller
// that modifies it must restore it. It panics if s is not positive or t is negative.
func Sequences(s, t int) iter.Seq2[[]int, int] {
	if s < 1 || t < 0 {
		panic(fmt.Sprintf("task: sequences of %d tokens in 0..%d, want at least 0 tokens and at least 1 state", t, s-1))
	}
	return func(yield func([]int, int) bool) {
		x := make([]int, t)
		for from := 0; yield(x, from); x[from]++ {
			for from = t - 1; from >= 0 && x[from] == s-1; from-- {
				x[from] = 0
			}
			if from < 0 {
				return
			}
		}
	}
}
