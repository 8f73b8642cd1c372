package task

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"learncausal/internal/lanes"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
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

// maxRows bounds the total number of rows of the tensors of a [Multi].
const maxRows = 1 << 20

// A MultiSampler draws sequences of Task 2, eight at a time. It draws only the rows of the
// tensors that a sequence visits. It is not safe for concurrent use.
type MultiSampler struct {
	task    Multi
	parents [][]int
	offset  []int    // first row of the tensor of each node
	words   []uint64 // T x 8, for the tokens
	tokens  [][markov.Lanes]int

	// Each of the eight sequences has a queue of drawn rows. On its first visit of a row of
	// a tensor it takes the next drawn row. Drawn row n is stored at n modulo ring.
	draw    *markov.Rows
	ring    int               // number of stored rows, a power of two
	x, sums []float64         // ring x S x 8: the rows
	drawn   int               // number of rows drawn for each sequence
	first   [markov.Lanes]int // the first drawn row of the current sequence
	next    [markov.Lanes]int // the next drawn row
	visited []int             // rows of all tensors x 8: the drawn row last taken for it
}

// atOnce is the number of rows drawn at a time for each of eight sequences.
const atOnce = 8

// NewMultiSampler returns a sampler of t. It returns an error if the tensors have more than 2^20 rows.
func NewMultiSampler(t Multi) (*MultiSampler, error) {
	m := &MultiSampler{task: t, parents: t.Graph.Parents()}
	s, total, first := t.Prior.S, 0, map[int]int{}
	for i, ps := range m.parents {
		if _, ok := first[len(ps)]; !ok {
			rows := 1
			for range ps {
				if rows *= s; rows > maxRows {
					break
				}
			}
			first[len(ps)] = total
			if total += rows; total > maxRows {
				return nil, fmt.Errorf(
					"task: node %d has %d parents, and the tensors over %d states would have more than %d rows",
					i, len(ps), s, maxRows)
			}
		}
		m.offset = append(m.offset, first[len(ps)])
	}
	nodes := len(m.parents)
	m.words, m.tokens = make([]uint64, markov.Lanes*(nodes-1)), make([][markov.Lanes]int, nodes-1)
	for m.ring = atOnce; m.ring < 2*(nodes+atOnce); {
		m.ring *= 2
	}
	m.x, m.sums = make([]float64, markov.Lanes*m.ring*s), make([]float64, markov.Lanes*m.ring*s)
	m.draw, m.visited = t.Prior.NewRows(atOnce), slices.Repeat([]int{-1}, markov.Lanes*total)
	return m, nil
}

// Fill draws every sequence of b, each with independent tensors. It panics unless S and T of
// b are those of the task.
func (m *MultiSampler) Fill(b *Batch, src *rand.PCG) {
	s, last := m.task.Prior.S, len(m.parents)-1
	if b.S != s || b.T != last {
		panic(fmt.Sprintf("task: batch for S=%d, T=%d filled by a sampler for S=%d, T=%d", b.S, b.T, s, last))
	}
	words := lanes.NewWords(src)
	for l := range m.next {
		m.next[l] = m.drawn // skip rows drawn from other streams
	}
	for k := 0; k < b.Len(); k += markov.Lanes {
		rows := m.sequences(words, src)
		for l := range min(markov.Lanes, b.Len()-k) {
			x, y := b.Seq(k + l)
			transpose(x, m.tokens, l)
			target(y, m.x, m.sums, s, rows[l], l)
		}
	}
}

// sequences draws the tokens of eight sequences, and returns the positions in the ring of
// the laws of their labels.
func (m *MultiSampler) sequences(words *lanes.Words, src *rand.PCG) (rows [markov.Lanes]int) {
	s := m.task.Prior.S
	// Rows drawn for these sequences must not overwrite each other.
	least := m.drawn + len(m.parents) + atOnce - m.ring
	for l, n := range m.next {
		m.next[l] = max(n, least)
	}
	m.first = m.next
	words.Fill(m.words)
	for i := range m.tokens {
		random := (*[markov.Lanes]uint64)(m.words[markov.Lanes*i:])
		if m.task.UniformRoots && len(m.parents[i]) == 0 {
			for l, w := range random {
				m.tokens[i][l] = int(lanes.Fraction(w) * float64(s))
			}
			continue
		}
		m.visit(&rows, i, words, src)
		lanes.Pick(&m.tokens[i], &rows, random, m.sums, s)
	}
	m.visit(&rows, len(m.tokens), words, src)
	return rows
}

// visit sets rows to the positions in the ring of the laws of node i given the tokens before
// it, and draws the rows that were not visited before.
func (m *MultiSampler) visit(rows *[markov.Lanes]int, i int, words *lanes.Words, src *rand.PCG) {
	s := m.task.Prior.S
	clear(rows[:])
	for _, p := range m.parents[i] {
		for l, a := range &m.tokens[p] {
			rows[l] = rows[l]*s + a
		}
	}
	visited, end := m.visited[markov.Lanes*m.offset[i]:], 0
	for l, r := range rows {
		at := &visited[markov.Lanes*r+l]
		// Without an unpredictable branch: take the next row on a first visit.
		fresh := (*at - m.first[l]) >> 63 // -1 on a first visit, 0 otherwise
		n := *at&^fresh | m.next[l]&fresh
		m.next[l] -= fresh
		*at, rows[l], end = n, n&(m.ring-1), max(end, m.next[l])
	}
	for ; m.drawn < end; m.drawn += atOnce {
		from := markov.Lanes * s * (m.drawn & (m.ring - 1))
		to := from + markov.Lanes*s*atOnce
		m.draw.Draw(m.x[from:to], m.sums[from:to], words, src)
	}
}

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
	t.Given(f, x, all...)
}

// Given is [Multi.Posterior] where only the parents with these indices in the lists are compared, the Bayes
// predictor if a node with as many parents as the label keeps those alone and all other nodes keep none. On an
// n-gram with k parents, Given(f, x, k-1) counts the tokens that follow x_{T-1}, and Given(f, x) counts all
// tokens. It panics unless each index is in 0..k-1, and as Posterior does.
func (t Multi) Given(f []float64, x []int, parents ...int) {
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
