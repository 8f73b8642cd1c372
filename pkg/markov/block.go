package markov

import (
	"fmt"
	"math"
	"math/rand/v2"

	"learncausal/pkg/num"
)

// Lanes is the number of vectors, and of matrices, that are drawn side by side.
const Lanes = 8

// A Block is eight transition matrices side by side. What belongs to matrix l is
// at the indices 8k+l; k = s*S+s' is an entry pi(s'|s).
type Block struct {
	S     int
	Pi    []float64 // S x S x 8: the matrices, with rows that may be a multiple of the law
	Scale []float64 // S x 8: what a row is multiplied by to be one
	Sums  []float64 // S x S x 8: sums of the entries of a row of Pi up to this one
	Mu    []float64 // S x 8: the stationary measures
}

// NewBlock returns room for eight matrices. It panics unless there is a state.
func NewBlock(states int) *Block {
	if states < 1 {
		panic(fmt.Sprintf("markov: a block over %d states, want at least 1", states))
	}
	n := Lanes * states
	return &Block{
		S: states, Pi: make([]float64, states*n), Scale: make([]float64, n),
		Sums: make([]float64, states*n), Mu: make([]float64, n),
	}
}

// check panics unless b has room for matrices over s states.
func (b *Block) check(s int) {
	if b.S != s {
		panic(fmt.Sprintf("markov: a block over %d states for a prior over %d", b.S, s))
	}
}

// A Blocks is a [Prior] that draws eight matrices at a time faster than one by one.
type Blocks interface {
	Prior
	NewDrawer() Drawer
}

// A Drawer draws the matrices of a block from words and src. It is for one
// goroutine, and panics if the block is over other states than the prior.
type Drawer func(b *Block, words *num.Words, src *rand.PCG)

// NewDrawer returns the drawer of a prior: its own, or one that calls Draw for one
// matrix after the other.
func NewDrawer(p Prior) Drawer {
	if p, ok := p.(Blocks); ok {
		return p.NewDrawer()
	}
	s := p.States()
	pi, mu := make([]float64, s*s), make([]float64, s)
	return func(b *Block, _ *num.Words, src *rand.PCG) {
		b.check(s)
		for l := range Lanes {
			p.Draw(pi, mu, src)
			spread(b.Pi, pi, l)
			spread(b.Mu, mu, l)
		}
		for k := 0; k < len(b.Pi); k += Lanes * s {
			RunningSums(b.Sums[k:k+Lanes*s], b.Pi[k:k+Lanes*s])
		}
		for i := range b.Scale {
			b.Scale[i] = 1
		}
	}
}

// spread writes v to lane l of x.
func spread(x, v []float64, l int) {
	for i, p := range v {
		x[Lanes*i+l] = p
	}
}

// RunningSums writes the sums of the vectors in x, eight side by side, up to each
// entry. It panics unless sums has the length of x, a multiple of 8.
func RunningSums(sums, x []float64) {
	if len(sums) != len(x) || len(x)%Lanes != 0 {
		panic(fmt.Sprintf("markov: %d running sums of %d entries, want as many, a multiple of 8", len(sums), len(x)))
	}
	var total [Lanes]float64
	for k := 0; k+Lanes <= len(x); k += Lanes {
		from, to := (*[Lanes]float64)(x[k:]), (*[Lanes]float64)(sums[k:])
		for l, v := range from {
			total[l] += v
			to[l] = total[l]
		}
	}
}

// Rows draws vectors of a Dirichlet law eight at a time. It is for one goroutine.
type Rows struct {
	z     *ziggurat
	words []uint64
	y     []float64
}

// NewRows returns what draws vectors of the length S.
func (d *Dirichlet) NewRows() *Rows {
	return &Rows{d.zig(), make([]uint64, Lanes*d.S), make([]float64, Lanes*d.S)}
}

// Draw writes eight vectors side by side to x, each but for a positive factor, and
// the sums of their entries up to each to sums. The largest entry of a vector is at
// least 2^-900/S. It panics unless x and sums have 8S entries.
func (r *Rows) Draw(x, sums []float64, words *num.Words, src *rand.PCG) {
	if n := len(r.y); len(x) != n || len(sums) != n {
		panic(fmt.Sprintf("markov: eight rows into %d entries and %d sums, want %d", len(x), len(sums), n))
	}
	r.draw(r.y, x, sums, words, src)
}

// draw is Draw, and writes to y what the entries are powers of.
func (r *Rows) draw(y, x, sums []float64, words *num.Words, src *rand.PCG) {
	words.Fill(r.words)
	r.z.fillIn(y, r.words, src)
	powers(x, y, r.z.m)
	RunningSums(sums, x)
	for l, total := range sums[len(sums)-Lanes:] {
		if total < 0x1p-900 {
			r.rescale(l, y, x, sums)
		}
	}
}

// rescale draws vector l again from y, by logarithms, with a largest entry of one.
func (r *Rows) rescale(l int, y, x, sums []float64) {
	top := math.Inf(-1)
	for k := l; k < len(y); k += Lanes {
		top = max(top, r.z.log(y[k]))
	}
	total := 0.0
	for k := l; k < len(y); k += Lanes {
		x[k] = num.Exp(r.z.log(y[k]) - top)
		total += x[k]
		sums[k] = total
	}
}

// fillIn writes draws of Y to y, one for each word; src decides those at an edge.
func (z *ziggurat) fillIn(y []float64, words []uint64, src *rand.PCG) {
	for k, word := range words {
		l, v := z.point(word)
		if !(l.lo < v && v < l.hi) {
			var ok bool
			if v, _, ok = z.edge(int(word&255), v, src); !ok {
				v, _ = z.draw(src)
			}
		}
		y[k] = v
	}
}

// powers writes the entries of y to the power m to x.
func powers(x, y []float64, m int) {
	x = x[:len(y)]
	if m == 10 {
		for k, v := range y {
			v2 := float64(v * v)
			v4 := float64(v2 * v2)
			x[k] = float64(float64(v4*v4) * v2)
		}
		return
	}
	for k, v := range y {
		x[k] = power(v, m)
	}
}

// NewDrawer implements [Blocks].
func (d *Dirichlet) NewDrawer() Drawer {
	s := d.S
	r, n := d.NewRows(), Lanes*d.S
	y, a := make([]float64, s*n), make([]float64, s*n)
	return func(b *Block, words *num.Words, src *rand.PCG) {
		b.check(s)
		for k := 0; k < s*n; k += n {
			r.draw(y[k:k+n], b.Pi[k:k+n], b.Sums[k:k+n], words, src)
		}
		copy(a, b.Pi)
		failed := eliminateBlock(b.Mu, a, b.Sums)
		for i := range b.Scale {
			b.Scale[i] = 1 / b.Sums[(i/Lanes*s+s-1)*Lanes+i%Lanes]
		}
		for l, f := range failed {
			if f {
				r.measureByLogarithms(b.Mu, y, l)
			}
		}
	}
}

// measureByLogarithms writes the stationary measure of lane l.
func (r *Rows) measureByLogarithms(mu, y []float64, l int) {
	s := len(mu) / Lanes
	a, m := make([]float64, s*s), make([]float64, s)
	for i := range a {
		a[i] = r.z.log(y[Lanes*i+l])
	}
	if stationaryLog(m, a) != nil {
		panic("markov: a matrix of positive entries is reducible")
	}
	spread(mu, m, l)
}

// eliminateBlock is eliminate of eight matrices side by side, whose sums of rows
// are the last of the running ones. It returns the lanes where floating point cannot
// represent the ratios, and destroys a.
func eliminateBlock(mu, a, sums []float64) (failed [Lanes]bool) {
	s := len(mu) / Lanes
	for n := s - 1; n > 0; n-- {
		row := a[n*s*Lanes : (n*s+n)*Lanes]
		inv := leaveBlock(row, &failed)
		for i := range n {
			bypassBlock(a[i*s*Lanes:(i*s+n+1)*Lanes], row, &inv)
		}
	}
	for l := range Lanes {
		mu[l] = 1
	}
	for n := 1; n < s; n++ {
		var sum [Lanes]float64
		for i := range n {
			m, p := (*[Lanes]float64)(mu[i*Lanes:]), (*[Lanes]float64)(a[(i*s+n)*Lanes:])
			for l := range Lanes {
				sum[l] += float64(m[l] * p[l])
			}
		}
		*(*[Lanes]float64)(mu[n*Lanes:]) = sum
	}
	normaliseBlock(mu, sums, &failed)
	return failed
}

// leaveBlock is leave of eight rows side by side.
func leaveBlock(row []float64, failed *[Lanes]bool) (inv [Lanes]float64) {
	var out [Lanes]float64
	for ; len(row) >= Lanes; row = row[Lanes:] {
		for l, p := range (*[Lanes]float64)(row) {
			out[l] += p
		}
	}
	for l, o := range out {
		inv[l] = 1 / o
		failed[l] = failed[l] || !(o > leastRate)
	}
	return inv
}

// bypassBlock is bypass of eight states side by side.
func bypassBlock(to, row []float64, inv *[Lanes]float64) {
	last := (*[Lanes]float64)(to[len(row):])
	var rate [Lanes]float64
	for l := range Lanes {
		rate[l] = float64(last[l] * inv[l])
	}
	*last = rate
	r0, r1, r2, r3, r4, r5, r6, r7 := rate[0], rate[1], rate[2], rate[3], rate[4], rate[5], rate[6], rate[7]
	for ; len(row) >= Lanes && len(to) >= Lanes; row, to = row[Lanes:], to[Lanes:] {
		t, p := (*[Lanes]float64)(to), (*[Lanes]float64)(row)
		t[0] += float64(r0 * p[0])
		t[1] += float64(r1 * p[1])
		t[2] += float64(r2 * p[2])
		t[3] += float64(r3 * p[3])
		t[4] += float64(r4 * p[4])
		t[5] += float64(r5 * p[5])
		t[6] += float64(r6 * p[6])
		t[7] += float64(r7 * p[7])
	}
}

// normaliseBlock weighs the states of eight jump processes by the sums of their
// rates, and divides by the totals.
func normaliseBlock(mu, sums []float64, failed *[Lanes]bool) {
	s := len(mu) / Lanes
	var total [Lanes]float64
	for i := range s {
		m, w := (*[Lanes]float64)(mu[i*Lanes:]), (*[Lanes]float64)(sums[(i*s+s-1)*Lanes:])
		for l := range Lanes {
			m[l] = float64(m[l] * w[l])
			total[l] += m[l]
		}
	}
	for l, t := range total {
		failed[l] = failed[l] || !(t > 0 && t < math.MaxFloat64)
	}
	for ; len(mu) >= Lanes; mu = mu[Lanes:] {
		for l := range Lanes {
			mu[l] /= total[l]
		}
	}
}
