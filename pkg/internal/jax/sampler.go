package jax

import (
	"fmt"
	"math"
	"slices"
)

// A Sampler draws the sequences of Task 1 as the paper's released code does. It is not safe for concurrent use.
type Sampler struct {
	parents []int // of each position, -1 for a root; the query last
	alpha   float32
	pi, mu  []float32
	a, v    []float64 // S x S, for measure
}

// NewSampler returns a sampler of the graph with the given parents of the T positions, -1 for a root and for the
// query, which is the last, over s states with the prior dirichlet(alpha).
func NewSampler(parents []int, s int, alpha float64) *Sampler {
	return &Sampler{
		parents: parents, alpha: float32(alpha),
		pi: make([]float32, s*s), mu: make([]float32, s), a: make([]float64, s*s), v: make([]float64, s*s),
	}
}

// Draw writes the sequence of a key to x, of length T, and the law pi(.|x_T) to y, of length S, with sum 1.
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
	target(y, d.pi[x[query]*s:x[query]*s+s])
}

// target writes a row of sum 1 but for rounding to y, with sum 1.
func target(y []float64, row []float32) {
	sum := 0.0
	for a, p := range row {
		y[a] = float64(p)
		sum += y[a]
	}
	for a := range y {
		y[a] /= sum
	}
}

// measure computes the law of roots in the released code: the right singular vector of pi^T - 1 for the least
// singular value, divided by the sum of its entries. It is the stationary measure but for rounding: pi is rounded to
// float32, and for one matrix in 400, a nearly reducible one, the vector is off by more than 0.01, or has negative
// entries. XLA decomposes in float32. The rotations of Hestenes (one-sided Jacobi) here are in float64, and are
// off by more than 0.01 from XLA's vector for one matrix in 1,300 (testdata/roots.py).
func (d *Sampler) measure() {
	s := len(d.mu)
	for i := range s {
		for j := range s {
			one := float32(0)
			if i == j {
				one = 1
			}
			d.a[j*s+i] = float64(d.pi[j*s+i] - one) // column j of pi^T - 1
			d.v[j*s+i] = float64(one)
		}
	}
	for turned := true; turned; {
		turned = false
		for p := range s {
			for q := range p {
				turned = rotate(d.a[p*s:p*s+s], d.a[q*s:q*s+s], d.v[p*s:p*s+s], d.v[q*s:q*s+s]) || turned
			}
		}
	}
	least, column := math.Inf(1), 0
	for j := range s {
		if n := dot(d.a[j*s:j*s+s], d.a[j*s:j*s+s]); n < least {
			least, column = n, j
		}
	}
	sum := 0.0
	for _, x := range d.v[column*s : column*s+s] {
		sum += x
	}
	for i := range s {
		d.mu[i] = float32(d.v[column*s+i] / sum)
	}
}

// rotate turns the columns x and y until they are orthogonal, and u and v alike. It reports whether they were not.
func rotate(x, y, u, v []float64) bool {
	xx, yy, xy := dot(x, x), dot(y, y), dot(x, y)
	if !(xy*xy > 1e-30*xx*yy) { // also for NaN
		return false
	}
	z := (yy - xx) / (2 * xy)
	t := 1 / (math.Abs(z) + math.Sqrt(1+float64(z*z)))
	if z < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(1+float64(t*t))
	for i := range x {
		x[i], y[i] = float64(c*x[i])-float64(c*t*y[i]), float64(c*t*x[i])+float64(c*y[i])
		u[i], v[i] = float64(c*u[i])-float64(c*t*v[i]), float64(c*t*u[i])+float64(c*v[i])
	}
	return true
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += float64(x[i] * y[i])
	}
	return sum
}

// A MultiSampler draws the sequences of Task 2 as the paper's released code does: a tensor for each in-degree, and
// one law for all roots. It is not safe for concurrent use.
type MultiSampler struct {
	parents [][]int // of each position and of the label
	s       int
	alpha   float32
	degrees []int     // in increasing order
	tensors []*tensor // by in-degree
}

// A tensor has the rows that a sequence has visited.
type tensor struct {
	key   Key
	p     []float32
	drawn []bool // by row
}

// NewMultiSampler returns a sampler of the graph with the given parents of the T positions and of the label, over s
// states with the prior dirichlet(alpha).
func NewMultiSampler(parents [][]int, s int, alpha float64) *MultiSampler {
	d := &MultiSampler{parents: parents, s: s, alpha: float32(alpha)}
	for _, ps := range parents {
		for len(d.tensors) <= len(ps) {
			d.tensors = append(d.tensors, nil)
		}
		if d.tensors[len(ps)] == nil {
			rows := int(math.Pow(float64(s), float64(len(ps))))
			d.tensors[len(ps)] = &tensor{p: make([]float32, rows*s), drawn: make([]bool, rows)}
			d.degrees = append(d.degrees, len(ps))
		}
	}
	slices.Sort(d.degrees)
	return d
}

// Draw writes the sequence of a key to x, of length T, and the law of the label to y, of length S, with sum 1.
func (d *MultiSampler) Draw(x []int, y []float64, key Key) {
	if len(x)+1 != len(d.parents) || len(y) != d.s {
		panic(fmt.Sprintf("jax: a sequence of %d positions and %d states, want %d and %d",
			len(x), len(y), len(d.parents)-1, d.s))
	}
	matrices, tokens := key.Split()
	for n, degree := range d.degrees {
		t := d.tensors[degree]
		t.key = matrices.Of(len(d.degrees), n)
		clear(t.drawn)
	}
	for i := range x {
		var own Key
		tokens, own = tokens.Split()
		x[i] = own.Choice(d.law(x, i))
	}
	target(y, d.law(x, len(x)))
}

// law returns the law of the token at node i, given the tokens before it.
func (d *MultiSampler) law(x []int, i int) []float32 {
	t, r := d.tensors[len(d.parents[i])], 0
	for _, p := range d.parents[i] {
		r = r*d.s + x[p]
	}
	row := t.p[r*d.s : r*d.s+d.s]
	if !t.drawn[r] {
		t.key.row(row, len(t.p), r, d.alpha)
		t.drawn[r] = true
	}
	return row
}

// The released code draws Epoch sequences of Task 1 from one key, and MultiEpoch sequences of Task 2.
const (
	Epoch      = 1 << 20
	MultiEpoch = 1 << 15
)

// Next returns key number n, from 0, that is split off k one after the other, as by RNG.next of the released code.
func (k Key) Next(n int) Key {
	for range n {
		k, _ = k.Split()
	}
	_, key := k.Split()
	return key
}

// Batches are the keys of the sequences of a training run of the released code: the key of the run yields one key
// after the other, each for an epoch of sequences. It is not safe for concurrent use.
type Batches struct {
	run, rest, block Key
	epoch            int
	next             int // number of the block after block
}

// NewBatches returns the keys of the run whose key is number n of a seed, see [Key.Next].
func NewBatches(seed uint32, n, epoch int) *Batches {
	run := NewKey(seed).Next(n)
	return &Batches{run: run, rest: run, epoch: epoch}
}

// Of returns the key of sequence i, from 0.
func (b *Batches) Of(i int) Key {
	if i/b.epoch < b.next-1 {
		b.rest, b.next = b.run, 0
	}
	for ; b.next <= i/b.epoch; b.next++ {
		b.rest, b.block = b.rest.Split()
	}
	return b.block.Of(b.epoch, i%b.epoch)
}
