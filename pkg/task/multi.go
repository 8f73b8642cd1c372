package task

import (
	"fmt"
	"math/rand/v2"

	"learncausal/pkg/graph"
	"learncausal/pkg/lanes"
	"learncausal/pkg/markov"
)

// Multi is the paper's Task 2, sequences with several parents. For each
// in-degree k of the graph there is a transition tensor pi_k, with a row
// pi_k(.|a_1, ..., a_k) for each value of the parents in their order, and a
// sequence with its label is drawn as
//
//	each row of each tensor ~ Dirichlet(alpha, ..., alpha)
//	s_i ~ pi_k(.|s_p(i)_1, ..., s_p(i)_k),  i = 0, ..., T-1
//	y = pi_k(.|s_p(T)_1, ..., s_p(T)_k)
//
// Nodes without parents share the one row of pi_0, as the released code has it;
// with UniformRoots they are uniform, as the paper has it.
type Multi struct {
	Graph        *graph.DAG
	Prior        *markov.Dirichlet
	UniformRoots bool
}

// NewBatch returns room for n sequences with their labels' laws. It panics if n is
// negative.
func (t Multi) NewBatch(n int) *Batch { return newBatch(n, t.Graph.T(), t.Prior.S) }

// MaxRows bounds the number of rows of all tensors of a [Multi] together.
const MaxRows = 1 << 20

// A MultiSampler draws sequences of Task 2. Of the tensors it draws only the
// rows that a sequence visits. It is not safe for concurrent use.
type MultiSampler struct {
	task    Multi
	parents [][]int
	offset  []int // first row of the tensor of each node
	draw    *markov.Rows
	words   []uint64  // for the tokens of a sequence
	x, sums []float64 // the last rows drawn, eight side by side, in a ring
	drawn   []int     // of each row of the tensors, its number in the order of drawing
	next    int       // the number of the next row that is drawn
}

// NewMultiSampler returns a sampler of t. There is an error if its tensors have
// more than [MaxRows] rows.
func NewMultiSampler(t Multi) (*MultiSampler, error) {
	m := &MultiSampler{task: t, parents: t.Graph.Parents()}
	s, total, first := t.Prior.S, 0, map[int]int{}
	for i, ps := range m.parents {
		if _, ok := first[len(ps)]; !ok {
			rows := 1
			for range ps {
				if rows *= s; rows > MaxRows {
					break
				}
			}
			first[len(ps)] = total
			if total += rows; total > MaxRows {
				return nil, fmt.Errorf(
					"task: node %d has %d parents, and the tensors over %d states would have more than %d rows",
					i, len(ps), s, MaxRows)
			}
		}
		m.offset = append(m.offset, first[len(ps)])
	}
	ring := (len(m.parents)/markov.Lanes + 2) * markov.Lanes // more than a sequence visits
	m.x, m.sums = make([]float64, ring*s), make([]float64, ring*s)
	m.draw, m.drawn, m.next = t.Prior.NewRows(), make([]int, total), ring
	m.words = make([]uint64, ring)
	return m, nil
}

// Fill draws every sequence of b anew, each with tensors of its own. It panics if b
// has other lengths than the task's batches.
func (m *MultiSampler) Fill(b *Batch, src *rand.PCG) {
	s, last := m.task.Prior.S, len(m.parents)-1
	if b.S != s || b.T != last {
		panic(fmt.Sprintf("task: batch for S=%d, T=%d filled by a sampler for S=%d, T=%d", b.S, b.T, s, last))
	}
	words := lanes.NewWords(src)
	for k := range b.Len() {
		first := m.next
		words.Fill(m.words)
		x, y := b.Seq(k)
		for i := range x {
			if m.task.UniformRoots && len(m.parents[i]) == 0 {
				x[i] = int(lanes.Fraction(m.words[i]) * float64(s))
				continue
			}
			x[i] = pick(m.sums[m.row(i, x, first, words, src):], s, m.words[i])
		}
		at := m.row(last, x, first, words, src)
		inv := 1 / m.sums[at+markov.Lanes*(s-1)]
		for j := range y {
			y[j] = m.x[at+markov.Lanes*j] * inv
		}
	}
}

// pick returns the state that a uniform word picks by the running sums of a row over
// s states, of which every eighth entry is given.
func pick(sums []float64, s int, word uint64) int {
	last := markov.Lanes * (s - 1)
	u, state := float64(lanes.Fraction(word)*sums[last]), 0
	for k := 0; k < last; k += markov.Lanes {
		if sums[k] <= u {
			state++
		}
	}
	return state
}

// row returns where the law of node i is in the ring, given the tokens x before it.
// It is drawn unless it is one of those from number first on.
func (m *MultiSampler) row(i int, x []int, first int, words *lanes.Words, src *rand.PCG) int {
	s, r := m.task.Prior.S, 0
	for _, p := range m.parents[i] {
		r = r*s + x[p]
	}
	r += m.offset[i]
	ring := len(m.x) / s
	if m.drawn[r] < first {
		m.drawn[r] = m.next
		if at := m.next % ring * s; m.next%markov.Lanes == 0 {
			m.draw.Draw(m.x[at:at+markov.Lanes*s], m.sums[at:at+markov.Lanes*s], words, src)
		}
		m.next++
	}
	lane := m.drawn[r] % markov.Lanes
	return (m.drawn[r]%ring-lane)*s + lane
}

// Tensors are transition tensors by in-degree: Tensors[k] has S^k rows of S
// entries, the row of (a_1, ..., a_k) at index sum_m a_m S^(k-m).
type Tensors map[int][]float64

// check panics unless x is a sequence on the graph's positions.
func (t Multi) check(x []int) { checkTokens(x, t.Graph.T(), t.Prior.S) }

// law returns the law of node i under the tensors, given the tokens before it.
func (t Multi) law(pi Tensors, i int, x []int) []float64 {
	ps, s, r := t.Graph.Parents()[i], t.Prior.S, 0
	if len(ps) == 0 && t.UniformRoots {
		u := make([]float64, s)
		for a := range u {
			u[a] = 1 / float64(s)
		}
		return u
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

// Probability returns P(x | pi) and the law of the label given x. In small cases
// its values for all S^T sequences are the exact law of the task. It panics unless
// x has a token in 0..S-1 for each position, and each tensor its size.
func (t Multi) Probability(pi Tensors, x []int) (p float64, y []float64) {
	t.check(x)
	p = 1
	for i, a := range x {
		p *= t.law(pi, i, x)[a]
	}
	return p, t.law(pi, len(x), x)
}

// Posterior writes to f the posterior mean of the label's law given the
// sequence and the edges,
//
//	f(a) = (alpha + n_a) / (S alpha + n)
//
// where n counts the positions with as many parents as the label and the same
// tokens there, and n_a those of them with token a. It is the Bayes predictor:
// the roots say nothing about the label's tensor. It panics unless f has length S,
// and x a token in 0..S-1 for each position.
func (t Multi) Posterior(f []float64, x []int) {
	t.count(f, x, func(node, label []int) bool {
		for m, p := range node {
			if x[p] != x[label[m]] {
				return false
			}
		}
		return true
	})
}

// OneParent is Posterior for a predictor that compares only the parent with
// index m in the lists of parents: the Bayes predictor of the graph in which each
// node with as many parents as the label keeps this one of them, and the other
// nodes none. It panics unless m is an index in the label's list, and as Posterior
// does.
func (t Multi) OneParent(f []float64, x []int, m int) {
	if k := len(t.Graph.Parents()[t.Graph.T()]); m < 0 || m >= k {
		panic(fmt.Sprintf("task: parent %d of the label, want one of 0..%d", m, k-1))
	}
	t.count(f, x, func(node, label []int) bool { return x[node[m]] == x[label[m]] })
}

func (t Multi) count(f []float64, x []int, same func(node, label []int) bool) {
	t.check(x)
	if len(f) != t.Prior.S {
		panic(fmt.Sprintf("task: room for %d probabilities, want %d", len(f), t.Prior.S))
	}
	parents := t.Graph.Parents()
	label, n := parents[len(x)], 0.0
	clear(f)
	for i, ps := range parents[:len(x)] {
		if len(ps) == len(label) && same(ps, label) {
			f[x[i]]++
			n++
		}
	}
	for a := range f {
		f[a] = (t.Prior.Alpha + f[a]) / (float64(float64(len(f))*t.Prior.Alpha) + n)
	}
}
