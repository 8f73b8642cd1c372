package sampler

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"learncausal/pkg/internal/simd"
)

// maxRows bounds the total number of rows of the tensors of Task 2.
const maxRows = 1 << 20

// A DAG draws sequences of Task 2. It draws only the rows of the tensors that a sequence
// visits. It is not safe for concurrent use.
type DAG struct {
	s       int
	uniform bool // nodes without parents
	parents [][]int
	offset  []int    // first row of the tensor of each node
	words   []uint64 // T x 8, for the tokens
	tokens  [][Lanes]int

	// Each of the eight sequences has a queue of drawn rows. On its first visit of a row of
	// a tensor it takes the next drawn row. Drawn row n is stored at n modulo ring.
	draw    *Rows
	ring    int        // number of stored rows, a power of two
	x, sums []float64  // ring x S x 8: the rows
	drawn   int        // number of rows drawn for each sequence
	first   [Lanes]int // the first drawn row of the current sequence
	next    [Lanes]int // the next drawn row
	visited []int      // rows of all tensors x 8: the drawn row last taken for it
}

// atOnce is the number of rows drawn at a time for each of eight sequences.
const atOnce = 8

// NewDAG returns a sampler of sequences over s states on the graph with these parents. It returns an error if the
// tensors have more than 2^20 rows.
func NewDAG(parents [][]int, s int, alpha float64, uniformRoots bool) (*DAG, error) {
	total, first := 0, map[int]int{}
	m := &DAG{s: s, uniform: uniformRoots, parents: parents}
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
					"node %d has %d parents, and the tensors over %d states would have more than %d rows",
					i, len(ps), s, maxRows)
			}
		}
		m.offset = append(m.offset, first[len(ps)])
	}
	nodes := len(m.parents)
	m.words, m.tokens = make([]uint64, Lanes*(nodes-1)), make([][Lanes]int, nodes-1)
	for m.ring = atOnce; m.ring < 2*(nodes+atOnce); {
		m.ring *= 2
	}
	m.x, m.sums = make([]float64, Lanes*m.ring*s), make([]float64, Lanes*m.ring*s)
	m.draw, m.visited = NewRows(s, alpha, atOnce), slices.Repeat([]int{-1}, Lanes*total)
	return m, nil
}

// Size returns S and T.
func (m *DAG) Size() (s, length int) { return m.s, len(m.tokens) }

// Draw draws sequences into x, n x T, each with independent tensors, and the laws of their labels into y, n x S.
func (m *DAG) Draw(x []int, y []float64, src *rand.PCG) {
	s, length := m.Size()
	words := simd.NewWords(src)
	for l := range m.next {
		m.next[l] = m.drawn // skip rows drawn from other streams
	}
	for n := len(x) / length; n > 0; n -= Lanes {
		rows := m.sequences(words, src)
		for l := range min(Lanes, n) {
			transpose(x[:length], m.tokens, l)
			target(y[:s], m.x, m.sums, s, rows[l], l)
			x, y = x[length:], y[s:]
		}
	}
}

// sequences draws the tokens of eight sequences, and returns the positions in the ring of
// the laws of their labels.
func (m *DAG) sequences(words *simd.Words, src *rand.PCG) (rows [Lanes]int) {
	s := m.s
	// Rows drawn for these sequences must not overwrite each other.
	least := m.drawn + len(m.parents) + atOnce - m.ring
	for l, n := range m.next {
		m.next[l] = max(n, least)
	}
	m.first = m.next
	words.Fill(m.words)
	for i := range m.tokens {
		random := (*[Lanes]uint64)(m.words[Lanes*i:])
		if m.uniform && len(m.parents[i]) == 0 {
			for l, w := range random {
				m.tokens[i][l] = int(simd.Fraction(w) * float64(s))
			}
			continue
		}
		m.visit(&rows, i, words, src)
		simd.Pick(&m.tokens[i], &rows, random, m.sums, s)
	}
	m.visit(&rows, len(m.tokens), words, src)
	return rows
}

// visit sets rows to the positions in the ring of the laws of node i given the tokens before
// it, and draws the rows that were not visited before.
func (m *DAG) visit(rows *[Lanes]int, i int, words *simd.Words, src *rand.PCG) {
	s := m.s
	clear(rows[:])
	for _, p := range m.parents[i] {
		for l, a := range &m.tokens[p] {
			rows[l] = rows[l]*s + a
		}
	}
	visited, end := m.visited[Lanes*m.offset[i]:], 0
	for l, r := range rows {
		at := &visited[Lanes*r+l]
		// Without an unpredictable branch: take the next row on a first visit.
		fresh := (*at - m.first[l]) >> 63 // -1 on a first visit, 0 otherwise
		n := *at&^fresh | m.next[l]&fresh
		m.next[l] -= fresh
		*at, rows[l], end = n, n&(m.ring-1), max(end, m.next[l])
	}
	for ; m.drawn < end; m.drawn += atOnce {
		from := Lanes * s * (m.drawn & (m.ring - 1))
		to := from + Lanes*s*atOnce
		m.draw.Draw(m.x[from:to], m.sums[from:to], words, src)
	}
}
