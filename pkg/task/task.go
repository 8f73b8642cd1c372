// Package task defines the paper's two tasks, random sequences with causal structure: Task 1 (Section 2.2), in
// which a token has at most one parent, and Task 2 (Section 6), in which it may have several ([Multi]). Each
// task has a sampler, its exact law, and predictors to compare a trained model with.
//
// A [Task] is a graph and a prior. A sampler fills batches of sequences:
//
//	t := task.Task{Graph: graph.Chain(20), Prior: prior}
//	b := t.NewBatch(1024)
//	task.NewSampler(t).Fill(b, num.Stream(seed, "sequences"))
//
// [Task.Enumerate] returns all sequences with their probabilities. [BayesRisk] estimates the smallest possible
// log-loss. [PosteriorGivenEdges] and [ReleasedFormula] are the simpler predictors behind the dashed lines of
// the paper's figures. All sums have a fixed order, so that a seed determines every digit.
package task

import (
	"fmt"
	"math/rand/v2"

	"learncausal/internal/lanes"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// Task is a causal graph with a prior over transition matrices. A sequence
// s_0, ..., s_{T-1} and its target are drawn by
//
//	pi ~ P_pi
//	s_i ~ mu_pi for a root i, s_i ~ pi(.|s_{p(i)}) otherwise, i < T-1
//	s_{T-1} ~ Unif([S]), y = pi(.|s_{T-1})
type Task struct {
	Graph        *graph.Forest
	Prior        markov.Prior
	UniformRoots bool // s_i ~ Unif([S]) for a root i, unlike in the paper
}

// Batch is n sequences with their targets.
type Batch struct {
	T, S int
	X    []int     // n x T tokens in 0..S-1; X[k*T+T-1] is the query
	Y    []float64 // n x S, the row pi(.|query) of each sequence's transition matrix
}

// NewBatch returns a batch of n sequences of zeros. It panics if n is negative.
func (t Task) NewBatch(n int) *Batch { return newBatch(n, t.Graph.T(), t.Prior.States()) }

func newBatch(n, length, s int) *Batch {
	if n < 0 {
		panic(fmt.Sprintf("task: a batch of %d sequences, want 0 or more", n))
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

// A Sampler draws sequences of a task, eight at a time. It is not safe for concurrent use.
type Sampler struct {
	draw    markov.Drawer
	block   *markov.Block
	uniform bool                // roots
	parents []int               // of all nodes except the last; T for a root
	words   []uint64            // T x 8, for the tokens
	tokens  [][markov.Lanes]int // of the T nodes, and then S, the row of mu
}

// NewSampler returns a sampler of t.
func NewSampler(t Task) *Sampler {
	s, length := t.Prior.States(), t.Graph.T()
	m := &Sampler{
		draw: markov.NewDrawer(t.Prior), block: markov.NewBlock(s), uniform: t.UniformRoots,
		parents: t.Graph.Parents()[:length-1],
		words:   make([]uint64, markov.Lanes*length), tokens: make([][markov.Lanes]int, length+1),
	}
	for i, p := range m.parents {
		if p < 0 {
			m.parents[i] = length
		}
	}
	for l := range markov.Lanes {
		m.tokens[length][l] = s
	}
	return m
}

// Fill draws every sequence of b, each with an independent transition matrix. It panics
// unless S and T of b are those of the task.
func (m *Sampler) Fill(b *Batch, src *rand.PCG) {
	s := m.block.S
	if length := len(m.tokens) - 1; b.S != s || b.T != length {
		panic(fmt.Sprintf("task: batch for S=%d, T=%d filled by a sampler for S=%d, T=%d", b.S, b.T, s, length))
	}
	words := lanes.NewWords(src)
	for k := 0; k < b.Len(); k += markov.Lanes {
		m.draw(m.block, words, src)
		if m.uniform {
			roots := m.block.Sums[len(m.block.Pi):]
			for i := range roots {
				roots[i] = float64(i/markov.Lanes + 1)
			}
		}
		words.Fill(m.words)
		last := markov.Lanes * (b.T - 1)
		for l, w := range m.words[last:] {
			m.tokens[b.T-1][l] = int(lanes.Fraction(w) * float64(s))
		}
		lanes.Walk(m.tokens, m.parents, m.words[:last], m.block.Sums, s)
		for l := range min(markov.Lanes, b.Len()-k) {
			x, y := b.Seq(k + l)
			transpose(x, m.tokens, l)
			target(y, m.block.Pi, m.block.Sums, s, x[b.T-1], l)
		}
	}
}

// target writes row r of lane l to y. The rows of s states in pi have the last of their
// running sums as a factor.
func target(y, pi, sums []float64, s, r, l int) {
	at := markov.Lanes*s*r + l
	scale := 1 / sums[at+markov.Lanes*(s-1)]
	for j := range y {
		y[j] = pi[at+markov.Lanes*j] * scale
	}
}

// transpose writes lane l of the tokens to x.
func transpose(x []int, tokens [][markov.Lanes]int, l int) {
	tokens = tokens[:len(x)]
	for i := range x {
		x[i] = tokens[i][l&(markov.Lanes-1)]
	}
}
