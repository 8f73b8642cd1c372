// Package task defines the paper's two tasks, random sequences with causal structure: Task 1 (Section 2.2), in
// which a token has at most one parent, and Task 2 (Section 6), in which it may have several ([Multi]). Each
// task has a sampler, its exact law, and predictors to compare a trained model with.
//
// A [Task] is a graph and a prior. A sampler fills batches of sequences:
//
//	t := task.Task{Graph: graph.Chain(20), Prior: prior}
//	b := t.NewBatch(1024)
//	t.NewSampler().Fill(b, num.Stream(seed, "sequences"))
//
// [Task.Enumerate] returns all sequences with their probabilities. [BayesRisk] estimates the smallest possible
// log-loss. [PosteriorGivenEdges] and [ReleasedFormula] are the simpler predictors behind the dashed lines of
// the paper's figures. All sums have a fixed order, so that a seed determines every digit.
package task

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"learncausal/pkg/graph"
	"learncausal/pkg/internal/sampler"
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

// Draw draws a sequence into x, of length T, and its target into y, of length S, token by token, as the comment
// of [Task] states. It defines [Task.NewSampler], which is several times as fast and has the same law.
func (t Task) Draw(x []int, y []float64, src *rand.PCG) {
	s := t.Prior.States()
	pi, mu := make([]float64, s*s), make([]float64, s)
	t.Prior.Draw(pi, mu, src)
	t.walk(x, y, pi, mu, func() float64 { return num.Uniform(src) })
}

// walk draws the tokens and the target for one pi, with a uniform number for each token.
func (t Task) walk(x []int, y, pi, mu []float64, uniform func() float64) {
	s, query := len(mu), len(x)-1
	for i := range query {
		switch p := t.Graph.Parent(i); {
		case p != graph.Root:
			x[i] = choose(pi[x[p]*s:x[p]*s+s], uniform())
		case t.UniformRoots:
			x[i] = int(uniform() * float64(s))
		default:
			x[i] = choose(mu, uniform())
		}
	}
	x[query] = int(uniform() * float64(s))
	copy(y, pi[x[query]*s:])
}

// choose returns the state of a law into whose share of the unit interval u falls.
func choose(law []float64, u float64) int {
	for a, p := range law[:len(law)-1] {
		if u -= p; u < 0 {
			return a
		}
	}
	return len(law) - 1
}

// A Sampler draws sequences in one goroutine. Fill writes every token of b, in 0..S-1, and every target, S
// probabilities. They must depend on src alone, so that a seed determines them. Fill may panic if b has sequences of
// another S or T.
type Sampler interface {
	Fill(b *Batch, src *rand.PCG)
}

type forest struct{ *sampler.Forest }

// NewSampler returns a sampler with the law of [Task.Draw], eight sequences at a time, each with an independent
// transition matrix.
func (t Task) NewSampler() Sampler {
	return forest{sampler.NewForest(t.Graph.Parents(), t.Prior.States(), drawer(t.Prior), t.UniformRoots)}
}

func (m forest) Fill(b *Batch, src *rand.PCG) {
	b.check(m.Size())
	m.Draw(b.X, b.Y, src)
}

// Validate returns an error if there is no graph or no prior.
func (t Task) Validate() error {
	if t.Graph == nil || t.Prior == nil {
		return errors.New("task: a task without a graph or a prior, want both")
	}
	return nil
}

// Tokens returns S.
func (t Task) Tokens() int { return t.Prior.States() }

// ParentSets returns the parents of each of the T positions.
func (t Task) ParentSets() [][]int {
	all := make([][]int, t.Graph.T())
	for _, e := range t.Graph.Edges() {
		all[e[1]] = []int{e[0]}
	}
	return all
}

// drawer returns the drawer of a prior: SIMD kernels for a [markov.Dirichlet].
func drawer(p markov.Prior) sampler.Drawer {
	if d, ok := p.(*markov.Dirichlet); ok {
		return sampler.NewDirichlet(d.S, d.Alpha)
	}
	return sampler.NewDrawer(p)
}

// check panics unless b has sequences of a task over s states on the given number of positions.
func (b *Batch) check(s, length int) {
	if b.S != s || b.T != length {
		panic(fmt.Sprintf("task: batch for S=%d, T=%d filled by a sampler for S=%d, T=%d", b.S, b.T, s, length))
	}
}
