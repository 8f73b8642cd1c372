// Package task has the paper's two tasks, random sequences with causal
// structure: Task 1 (Section 2.2), in which a token has at most one parent, and
// Task 2 (Section 6), in which it may have several ([Multi]). Of each it has the
// sampler, the exact law, and the predictors that a trained model is measured
// against.
//
// A [Task] is a graph with a prior. Sequences come in batches, from a sampler:
//
//	t := task.Task{Graph: graph.Chain(20), Prior: prior}
//	b := t.NewBatch(1024)
//	task.NewSampler(t).Fill(b, num.Stream(seed, "sequences"))
//
// or all of them with their probabilities, from [Task.Enumerate]. [BayesRisk] is
// the least log-loss that any predictor can have on a batch; [PosteriorGivenEdges]
// and [ReleasedFormula] are the simpler predictors that the paper draws as dashed
// lines. All sums run in a fixed order, so that a seed determines every digit.
package task

import (
	"fmt"
	"math/rand/v2"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// Task is a causal graph with a prior over transition matrices. A sequence
// s_0, ..., s_{T-1} and its target are drawn by
//
//	pi ~ P_pi
//	s_i ~ mu_pi for a root i, s_i ~ pi(.|s_{p(i)}) otherwise, i < T-1
//	s_{T-1} ~ Unif([S]), y = pi(.|s_{T-1})
type Task struct {
	Graph *graph.Forest
	Prior markov.Prior
}

// Batch is n sequences with their targets.
type Batch struct {
	T, S int
	X    []int     // n x T tokens in 0..S-1; X[k*T+T-1] is the query
	Y    []float64 // n x S, the row pi(.|query) of each sequence's transition matrix
}

// NewBatch returns room for n sequences. It panics if n is negative.
func (t Task) NewBatch(n int) *Batch { return newBatch(n, t.Graph.T(), t.Prior.States()) }

func newBatch(n, length, s int) *Batch {
	if n < 0 {
		panic(fmt.Sprintf("task: room for %d sequences, want 0 or more", n))
	}
	return &Batch{T: length, S: s, X: make([]int, n*length), Y: make([]float64, n*s)}
}

// Len returns the number of sequences.
func (b *Batch) Len() int { return len(b.X) / b.T }

// Seq returns sequence k and its target. It panics unless k is in 0..Len-1.
func (b *Batch) Seq(k int) (x []int, y []float64) {
	if n := b.Len(); k < 0 || k >= n {
		panic(fmt.Sprintf("task: sequence %d of a batch of %d", k, n))
	}
	return b.X[k*b.T : (k+1)*b.T], b.Y[k*b.S : (k+1)*b.S]
}

// A Sampler draws sequences of one task. It is not safe for concurrent use.
type Sampler struct {
	task    Task
	parents []int
	pi, mu  []float64
	cum     []float64 // row s: cumulative sums of pi(.|s); row S: of mu
}

// NewSampler returns a sampler of t.
func NewSampler(t Task) *Sampler {
	s := t.Prior.States()
	return &Sampler{
		task: t, parents: t.Graph.Parents(),
		pi: make([]float64, s*s), mu: make([]float64, s), cum: make([]float64, (s+1)*s),
	}
}

// Fill draws every sequence of b anew, each with a transition matrix of its own.
// It panics if b has other lengths than the task's batches.
func (m *Sampler) Fill(b *Batch, src *rand.PCG) {
	s := len(m.mu)
	if b.S != s || b.T != len(m.parents) {
		panic(fmt.Sprintf("task: batch for S=%d, T=%d filled by a sampler for S=%d, T=%d", b.S, b.T, s, len(m.parents)))
	}
	last := b.T - 1
	for k := range b.Len() {
		m.task.Prior.Draw(m.pi, m.mu, src)
		m.accumulate()
		x, y := b.Seq(k)
		for i, p := range m.parents[:last] {
			row := s
			if p >= 0 {
				row = x[p]
			}
			x[i] = count(m.cum[row*s:row*s+s-1], num.Uniform(src))
		}
		q := int(num.Uniform(src) * float64(s))
		x[last] = q
		copy(y, m.pi[q*s:q*s+s])
	}
}

// accumulate sets cum for the current pi and mu.
func (m *Sampler) accumulate() {
	s := len(m.mu)
	for r := range s + 1 {
		from := m.mu
		if r < s {
			from = m.pi[r*s : r*s+s]
		}
		sum := 0.0
		to := m.cum[r*s : r*s+s]
		for j, p := range from {
			sum += p
			to[j] = sum
		}
	}
}

// count returns the number of entries of the non-decreasing cum that are <= u.
func count(cum []float64, u float64) int {
	n := 0
	for _, c := range cum {
		if c <= u {
			n++
		}
	}
	return n
}
