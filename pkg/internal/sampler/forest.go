// Package sampler draws the sequences of package task, and the transition matrices of their priors, eight at a time
// in SIMD vectors. The laws are defined there, by task.Task.Draw and task.Multi.Draw, and by markov.Prior. It has
// two parts of package markov: draws of gamma variables, and the stationary measure from logarithms.
package sampler

import (
	"math/rand/v2"

	"learncausal/pkg/internal/simd"
)

// A Forest draws sequences of Task 1. It is not safe for concurrent use.
type Forest struct {
	draw    Drawer
	block   *Block
	uniform bool         // roots
	parents []int        // of all nodes except the last; T for a root
	words   []uint64     // T x 8, for the tokens
	tokens  [][Lanes]int // of the T nodes, and then S, the row of mu
}

// NewForest returns a sampler of sequences over s states on the forest with these parents, -1 for a root.
func NewForest(parents []int, s int, draw Drawer, uniformRoots bool) *Forest {
	length := len(parents)
	m := &Forest{
		draw: draw, block: NewBlock(s), uniform: uniformRoots,
		parents: make([]int, length-1),
		words:   make([]uint64, Lanes*length), tokens: make([][Lanes]int, length+1),
	}
	for i := range m.parents {
		if m.parents[i] = parents[i]; parents[i] < 0 {
			m.parents[i] = length
		}
	}
	for l := range Lanes {
		m.tokens[length][l] = s
	}
	return m
}

// Size returns S and T.
func (m *Forest) Size() (s, length int) { return m.block.S, len(m.tokens) - 1 }

// Draw draws sequences into x, n x T, each with an independent transition matrix, and their targets into y, n x S.
func (m *Forest) Draw(x []int, y []float64, src *rand.PCG) {
	s, length := m.Size()
	words := simd.NewWords(src)
	for n := len(x) / length; n > 0; n -= Lanes {
		m.draw(m.block, words, src)
		if m.uniform {
			roots := m.block.Sums[len(m.block.Pi):]
			for i := range roots {
				roots[i] = float64(i/Lanes + 1)
			}
		}
		words.Fill(m.words)
		last := Lanes * (length - 1)
		for l, w := range m.words[last:] {
			m.tokens[length-1][l] = int(simd.Fraction(w) * float64(s))
		}
		simd.Walk(m.tokens, m.parents, m.words[:last], m.block.Sums, s)
		for l := range min(Lanes, n) {
			transpose(x[:length], m.tokens, l)
			target(y[:s], m.block.Pi, m.block.Sums, s, x[length-1], l)
			x, y = x[length:], y[s:]
		}
	}
}

// target writes row r of lane l to y. The rows of s states in pi have the last of their
// running sums as a factor.
func target(y, pi, sums []float64, s, r, l int) {
	at := Lanes*s*r + l
	scale := 1 / sums[at+Lanes*(s-1)]
	for j := range y {
		y[j] = pi[at+Lanes*j] * scale
	}
}

// transpose writes lane l of the tokens to x.
func transpose(x []int, tokens [][Lanes]int, l int) {
	tokens = tokens[:len(x)]
	for i := range x {
		x[i] = tokens[i][l&(Lanes-1)]
	}
}
