package jax

import (
	"fmt"

	"learncausal/pkg/markov"
)

// A Sampler draws the sequences of Task 1 as the paper's released code does. It is not safe for concurrent use.
type Sampler struct {
	parents []int // of each position, -1 for a root; the query last
	alpha   float32
	pi      []float32 // S x S
	mu      []float32
	wide    []float64 // pi and mu in float64
}

// NewSampler returns a sampler of the graph with the given parents of the T positions, -1 for a root and for the
// query, which is the last, over s states with the prior dirichlet(alpha).
func NewSampler(parents []int, s int, alpha float64) *Sampler {
	return &Sampler{
		parents: parents, alpha: float32(alpha),
		pi: make([]float32, s*s), mu: make([]float32, s), wide: make([]float64, s*s+s),
	}
}

// Draw writes the sequence of a key to x, of length T, and the law pi(.|x_T) to y, of length S, with sum 1.
//
// The released code reads the stationary measure off a singular value decomposition in float32, which is off by more
// than 0.01 for one matrix in 400. Draw rounds the exact measure, and draws other tokens in 0.15 % of sequences.
func (d *Sampler) Draw(x []int, y []float64, key Key) {
	s, query := len(d.mu), len(x)-1
	if query+1 != len(d.parents) || len(y) != s {
		panic(fmt.Sprintf("jax: a sequence of %d positions and %d states, want %d and %d", len(x), len(y), len(d.parents), s))
	}
	matrix, tokens, last := key.split3()
	matrix.Dirichlet(d.pi, s, d.alpha)
	d.measure()
	for i := range query {
		var own Key
		tokens, own = tokens.Split()
		law := d.mu
		if p := d.parents[i]; p >= 0 {
			law = d.pi[x[p]*s : x[p]*s+s]
		}
		x[i] = own.Choice(law)
	}
	x[query] = last.Int(s)
	sum := 0.0
	for a, p := range d.pi[x[query]*s : x[query]*s+s] {
		y[a] = float64(p)
		sum += y[a]
	}
	for a := range y {
		y[a] /= sum
	}
}

// measure computes the stationary measure. A matrix with several closed classes has none; its first rows stand in.
func (d *Sampler) measure() {
	s := len(d.mu)
	pi, mu := d.wide[:s*s], d.wide[s*s:]
	for i, p := range d.pi {
		pi[i] = float64(p)
	}
	if markov.Stationary(mu, pi) != nil {
		copy(mu, pi)
	}
	for a := range mu {
		d.mu[a] = float32(mu[a])
	}
}

// Epoch is the number of sequences that the released code draws from one key.
const Epoch = 1 << 20

// Next returns key number n, from 0, that is split off k one after the other, as by RNG.next of the released code.
func (k Key) Next(n int) Key {
	for range n {
		k, _ = k.Split()
	}
	_, key := k.Split()
	return key
}

// Batches are the keys of the sequences of a training run of the released code: the key of the run yields one key
// after the other, each for 2^20 sequences. It is not safe for concurrent use.
type Batches struct {
	run, rest, block Key
	next             int // number of the block after block
}

// NewBatches returns the keys of the run whose key is number n of a seed, see [Key.Next].
func NewBatches(seed uint32, n int) *Batches {
	run := NewKey(seed).Next(n)
	return &Batches{run: run, rest: run}
}

// Of returns the key of sequence i, from 0.
func (b *Batches) Of(i int) Key {
	if i/Epoch < b.next-1 {
		b.rest, b.next = b.run, 0
	}
	for ; b.next <= i/Epoch; b.next++ {
		b.rest, b.block = b.rest.Split()
	}
	return b.block.Of(Epoch, i%Epoch)
}
