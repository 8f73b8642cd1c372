package task

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"learncausal/pkg/graph"
	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// Multi is the paper's Task 2, sequences with several parents. For each in-degree k of the
// graph there is a transition tensor pi_k, with a row pi_k(.|a_1, ..., a_k) for each value
// of the parents in their order. A sequence and the law y of its label are drawn by
//
//	each row of each tensor ~ Dirichlet(alpha, ..., alpha)
//	s_i ~ pi_k(.|s_p(i)_1, ..., s_p(i)_k),  i = 0, ..., T-1
//	y = pi_k(.|s_p(T)_1, ..., s_p(T)_k)
//
// Nodes without parents share the one row of pi_0, as in the released code. With
// UniformRoots they are uniform, as in the paper.
type Multi struct {
	Graph        *graph.DAG
	Prior        *markov.Dirichlet
	UniformRoots bool
}

// NewBatch returns a batch of n sequences of zeros. It panics if n is negative.
func (t Multi) NewBatch(n int) *Batch { return newBatch(n, t.Graph.T(), t.Prior.S) }

// Draw draws a sequence into x, of length T, and the law of its label into y, of length S, token by token, as the
// comment of [Multi] states. It defines [Multi.NewSampler], which draws only the rows that a sequence visits.
// It panics if the tensors do not fit into memory.
func (t Multi) Draw(x []int, y []float64, src *rand.PCG) {
	s, pi := t.Prior.S, Tensors{}
	for _, ps := range t.Graph.Parents() {
		if k := len(ps); pi[k] == nil {
			pi[k] = make([]float64, int(math.Pow(float64(s), float64(k+1))))
			for row := range slices.Chunk(pi[k], s) {
				t.Prior.DrawRow(row, src)
			}
		}
	}
	for i := range x {
		x[i] = choose(t.law(pi, i, x), num.Uniform(src))
	}
	copy(y, t.law(pi, len(x), x))
}

type dag struct{ *sampler.DAG }

// NewSampler returns a sampler with the law of [Multi.Draw], eight sequences at a time, each with independent
// tensors. It panics where [Multi.Validate] has an error.
func (t Multi) NewSampler() Sampler {
	m, err := t.sampler()
	if err != nil {
		panic("task: " + err.Error())
	}
	return dag{m}
}

func (t Multi) sampler() (*sampler.DAG, error) {
	return sampler.NewDAG(t.Graph.Parents(), t.Prior.S, t.Prior.Alpha, t.UniformRoots)
}

func (m dag) Fill(b *Batch, src *rand.PCG) {
	b.check(m.Size())
	m.Draw(b.X, b.Y, src)
}

// Validate returns an error if there is no graph or no prior, or if the tensors have more than 2^20 rows.
func (t Multi) Validate() error {
	if t.Graph == nil || t.Prior == nil {
		return errors.New("task: a task without a graph or a prior, want both")
	}
	if _, err := t.sampler(); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	return nil
}

// Tokens returns S.
func (t Multi) Tokens() int { return t.Prior.S }

// ParentSets returns the parents of each of the T positions.
func (t Multi) ParentSets() [][]int { return t.Graph.Parents()[:t.Graph.T()] }

// Tensors are transition tensors by in-degree: Tensors[k] has S^k rows of S entries, the row
// of (a_1, ..., a_k) at index sum_m a_m S^(k-m).
type Tensors map[int][]float64

// check panics unless x is a sequence on the graph's positions.
func (t Multi) check(x []int) { checkTokens(x, t.Graph.T(), t.Prior.S) }

// law returns the law of node i under the tensors, given the tokens before it.
func (t Multi) law(pi Tensors, i int, x []int) []float64 {
	ps, s, r := t.Graph.Parents()[i], t.Prior.S, 0
	if len(ps) == 0 && t.UniformRoots {
		return slices.Repeat([]float64{1 / float64(s)}, s)
	}
	size := s
	for _, p := range ps {
		r, size = r*s+x[p], size*s
	}
	if n := len(pi[len(ps)]); n != size {
		panic(fmt.Sprintf("task: node %d has %d parents, and their tensor %d entries, want %d", i, len(ps), n, size))
	}
	return pi[len(ps)][r*s : r*s+s]
}

// Probability returns P(x | pi) and the law of the label given x. It panics unless x has a
// token in 0..S-1 for each position, and each tensor has its size.
func (t Multi) Probability(pi Tensors, x []int) (p float64, y []float64) {
	t.check(x)
	p = 1
	for i, a := range x {
		p *= t.law(pi, i, x)[a]
	}
	return p, t.law(pi, len(x), x)
}

// Posterior writes to f the posterior mean of the label's law given the sequence and the edges,
//
//	f(a) = (alpha + n_a) / (S alpha + n)
//
// where n counts the positions with as many parents as the label and the same tokens at them, and n_a counts
// such positions with token a. It is the Bayes predictor, because roots are independent of the label's tensor.
// It panics unless f has length S, and x has a token in 0..S-1 for each position.
func (t Multi) Posterior(f []float64, x []int) {
	all := make([]int, len(t.Graph.Parents()[t.Graph.T()]))
	for m := range all {
		all[m] = m
	}
	t.GivenParents(f, x, all...)
}

// GivenParents is [Multi.Posterior] where only the parents with these indices in the lists are compared, the Bayes
// predictor if a node with as many parents as the label keeps those alone and all other nodes keep none. On an
// n-gram with k parents, GivenParents(f, x, k-1) counts the tokens that follow x_{T-1}, and GivenParents(f, x) counts
// all tokens. It panics unless each index is in 0..k-1, and as Posterior does.
func (t Multi) GivenParents(f []float64, x []int, parents ...int) {
	t.check(x)
	if len(f) != t.Prior.S {
		panic(fmt.Sprintf("task: a prediction of %d probabilities, want %d", len(f), t.Prior.S))
	}
	all := t.Graph.Parents()
	label, n := all[len(x)], 0.0
	for _, m := range parents {
		if m < 0 || m >= len(label) {
			panic(fmt.Sprintf("task: parent %d of the label, want one of 0..%d", m, len(label)-1))
		}
	}
	clear(f)
	for i, ps := range all[:len(x)] {
		differs := func(m int) bool { return x[ps[m]] != x[label[m]] }
		if len(ps) == len(label) && !slices.ContainsFunc(parents, differs) {
			f[x[i]]++
			n++
		}
	}
	for a := range f {
		f[a] = (t.Prior.Alpha + f[a]) / (float64(float64(len(f))*t.Prior.Alpha) + n)
	}
}
