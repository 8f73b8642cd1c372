package sampler

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/num"
)

// Lanes is the number of vectors, or of matrices, that SIMD kernels draw together.
const Lanes = simd.Eight

// A Block is eight interleaved transition matrices. Index 8k+l belongs to matrix l, and
// k = s*S+s' to its entry pi(s'|s).
type Block struct {
	S    int
	Pi   []float64 // S x S x 8: the matrices, each row up to a factor
	Mu   []float64 // S x 8: the stationary measures
	Sums []float64 // (S+1) x S x 8: running sums of the rows of Pi, and of Mu; the last of a row is its factor
}

// NewBlock returns a block of zeros. It panics unless states >= 1.
func NewBlock(states int) *Block {
	if states < 1 {
		panic(fmt.Sprintf("sampler: a block over %d states, want at least 1", states))
	}
	n := Lanes * states
	return &Block{states, make([]float64, states*n), make([]float64, n), make([]float64, (states+1)*n)}
}

// check panics unless b is a block over s states.
func (b *Block) check(s int) {
	if b.S != s {
		panic(fmt.Sprintf("sampler: a block over %d states for a prior over %d", b.S, s))
	}
}

// A Drawer draws the matrices of a block from words and src. It is for one goroutine. It
// panics if the block and the prior differ in S.
type Drawer func(b *Block, words *simd.Words, src *rand.PCG)

// A Prior is a law of transition matrices, as in package markov.
type Prior interface {
	States() int
	Draw(pi, mu []float64, src *rand.PCG)
}

// NewDrawer returns a drawer of the prior, a loop over Draw.
func NewDrawer(p Prior) Drawer {
	s := p.States()
	pi, mu := make([]float64, s*s), make([]float64, s)
	return func(b *Block, _ *simd.Words, src *rand.PCG) {
		b.check(s)
		for l := range Lanes {
			p.Draw(pi, mu, src)
			spread(b.Pi, pi, l)
			spread(b.Mu, mu, l)
		}
		for k := 0; k < len(b.Pi); k += Lanes * s {
			simd.Sums(b.Sums[k:k+Lanes*s], b.Pi[k:k+Lanes*s])
			for l := k + Lanes*(s-1); l < k+Lanes*s; l++ {
				b.Sums[l] = 1 // exactly
			}
		}
		simd.Sums(b.Sums[len(b.Pi):], b.Mu)
	}
}

// spread writes v to lane l of x.
func spread(x, v []float64, l int) {
	for i, p := range v {
		x[Lanes*i+l] = p
	}
}

// Rows draws interleaved vectors of a Dirichlet law, a fixed number of blocks of eight at a
// time. It is for one goroutine.
type Rows struct {
	z      *Ziggurat
	size   int // of a block, 8 S
	words  []uint64
	inside []uint8
	y      []float64
}

// NewRows returns a Rows that draws n blocks of eight vectors of Dirichlet(alpha, ..., alpha) over s states at a time.
// It panics unless n >= 1.
func NewRows(s int, alpha float64, n int) *Rows {
	if n < 1 {
		panic(fmt.Sprintf("sampler: %d blocks of rows, want at least 1", n))
	}
	size := Lanes * s
	return &Rows{ZigguratOf(alpha)(), size, make([]uint64, n*size), make([]uint8, n*s), make([]float64, n*size)}
}

// Draw writes the vectors to x, n x S x 8, each up to a positive factor, and their running sums to sums. The
// largest entry of a vector is at least 2^-900/S. It panics unless x and sums have n x S x 8 entries.
func (r *Rows) Draw(x, sums []float64, words *simd.Words, src *rand.PCG) {
	if n := len(r.y); len(x) != n || len(sums) != n {
		panic(fmt.Sprintf("sampler: rows into %d entries and %d sums, want %d", len(x), len(sums), n))
	}
	r.draw(r.y, x, sums, words, src)
}

// draw is Draw of at most n blocks. It writes the roots y to y, where x = y^m.
func (r *Rows) draw(y, x, sums []float64, words *simd.Words, src *rand.PCG) {
	random := r.words[:len(y)]
	words.Fill(random)
	r.z.fillIn(y, r.inside[:len(y)/Lanes], random, src)
	simd.Powers(x, y, r.z.m)
	for from := 0; from < len(y); from += r.size {
		to := from + r.size
		simd.Sums(sums[from:to], x[from:to])
		for l, total := range sums[to-Lanes : to] {
			if total < 0x1p-900 {
				r.rescale(l, y[from:to], x[from:to], sums[from:to])
			}
		}
	}
}

// rescale computes vector l from y by logarithms, with largest entry one.
func (r *Rows) rescale(l int, y, x, sums []float64) {
	top := math.Inf(-1)
	for k := l; k < len(y); k += Lanes {
		top = max(top, r.z.Log(y[k]))
	}
	total := 0.0
	for k := l; k < len(y); k += Lanes {
		x[k] = num.Exp(r.z.Log(y[k]) - top)
		total += x[k]
		sums[k] = total
	}
}

// fillIn writes draws of Y to y, one for each word. src decides the draws at an edge.
func (z *Ziggurat) fillIn(y []float64, inside []uint8, words []uint64, src *rand.PCG) {
	simd.Points(y, inside, words, &z.layers)
	for i, in := range inside {
		for out := ^in; out != 0; out &= out - 1 {
			k := Lanes*i + bits.TrailingZeros8(out)
			v, _, ok := z.edge(int(words[k]&255), y[k], src)
			if !ok {
				v, _ = z.Draw(src)
			}
			y[k] = v
		}
	}
}

// NewDirichlet returns a drawer of matrices over s states with rows of Dirichlet(alpha, ..., alpha).
func NewDirichlet(s int, alpha float64) Drawer {
	n := Lanes * s * s
	r := NewRows(s, alpha, min(s, max(1, 100/s))) // few enough for the cache
	y, a := make([]float64, n), make([]float64, n)
	return func(b *Block, words *simd.Words, src *rand.PCG) {
		b.check(s)
		for from := 0; from < n; from += len(r.y) {
			to := min(from+len(r.y), n)
			r.draw(y[from:to], b.Pi[from:to], b.Sums[from:to], words, src)
		}
		copy(a, b.Pi)
		least, total := simd.Eliminate(b.Mu, a, b.Sums[:n])
		for l := range Lanes {
			if !(least[l] > LeastRate && total[l] < math.MaxFloat64) {
				r.measureByLogarithms(b.Mu, y, l)
			}
		}
		simd.Sums(b.Sums[n:], b.Mu)
	}
}

// measureByLogarithms writes the stationary measure of lane l.
func (r *Rows) measureByLogarithms(mu, y []float64, l int) {
	s := len(mu) / Lanes
	a, m := make([]float64, s*s), make([]float64, s)
	for i := range a {
		a[i] = r.z.Log(y[Lanes*i+l])
	}
	MustBeIrreducible(StationaryLog(m, a))
	spread(mu, m, l)
}
