package model

import (
	"fmt"
	"math"

	"learncausal/pkg/num"
)

// An Engine evaluates the loss and gradient of the two-layer, one-head-per-layer
// model many times faster than the dense reference, by three exact facts:
//
//   - A row of h0 is two-hot (token, position), so whatever multiplies the row at
//     position j is a look-up at the joint index r_j = j*S + x_j in a table that
//     is built once for the weights.
//   - Only the last position is read: layer 2 has a single query, T-1.
//   - The gradient with respect to the layer-1 attention is then of rank two.
//
// An Engine is read-only between calls of Load and may be shared by goroutines.
type Engine struct {
	s, t, d int // d = S+T

	// Layer 1. Logits of query token k or query position i against joint keys,
	// and their exponentials relative to the largest one of the row:
	// S(MASK(h0 A1 h0^T))_ij is proportional to posExp[i][r_j] tokExp[x_i][r_j].
	posLogit, posExp []float64 // T x TS; row i is filled for j <= i
	tokLogit, tokExp []float64 // S x TS

	// Layer 2. A2^T h1_{T-1} = query[x_{T-1}] + sum_j P_{T-1,j} key[r_j].
	query []float64 // S x 2d
	key   []float64 // TS x 2d

	// Output. logits = base[x_{T-1}] + sum_j P_{T-1,j} out[0][r_j] + R_j out[1][r_j]
	// + (R P)_j out[2][r_j], R the layer-2 attention of the query.
	base []float64    // S x S
	out  [3][]float64 // each TS x S
}

// NewEngine returns an engine for S tokens and T positions.
func NewEngine(s, t int) *Engine {
	d, ts := s+t, s*t
	e := &Engine{
		s: s, t: t, d: d,
		posLogit: make([]float64, t*ts), posExp: make([]float64, t*ts),
		tokLogit: make([]float64, s*ts), tokExp: make([]float64, s*ts),
		query: make([]float64, s*2*d), key: make([]float64, ts*2*d),
		base: make([]float64, s*s),
	}
	for b := range e.out {
		e.out[b] = make([]float64, ts*s)
	}
	return e
}

// Load builds the tables for the weights w.
func (e *Engine) Load(w *Weights) {
	s, t, d, ts := e.s, e.t, e.d, e.s*e.t
	if w.S != s || w.T != t || len(w.Heads) != 2 || w.Heads[0] != 1 || w.Heads[1] != 1 {
		panic(fmt.Sprintf("model: engine for S=%d, T=%d, heads [1 1] given weights for S=%d, T=%d, heads %v", s, t, w.S, w.T, w.Heads))
	}
	a1, a2 := w.A[0][0], w.A[1][0]
	for i := range t {
		e.loadRow(e.posLogit[i*ts:], e.posExp[i*ts:], a1[(s+i)*d:(s+i+1)*d], i+1)
	}
	for k := range s {
		e.loadRow(e.tokLogit[k*ts:], e.tokExp[k*ts:], a1[k*d:(k+1)*d], t)
		addTo(e.query[k*2*d:(k+1)*2*d], a2[k*2*d:], a2[(s+t-1)*2*d:])
		addTo(e.base[k*s:(k+1)*s], w.W[k*s:], w.W[(s+t-1)*s:])
	}
	for j := range t {
		for k := range s {
			r := j*s + k
			addTo(e.key[r*2*d:(r+1)*2*d], a2[(d+k)*2*d:], a2[(d+s+j)*2*d:])
			for b := range 3 {
				from := (b + 1) * d
				addTo(e.out[b][r*s:(r+1)*s], w.W[(from+k)*s:], w.W[(from+s+j)*s:])
			}
		}
	}
}

// loadRow fills a row of layer-1 logits against the joint keys of the first n
// positions, and their exponentials relative to the largest.
func (e *Engine) loadRow(logit, exp, a []float64, n int) {
	top := math.Inf(-1)
	for j := range n {
		for k := range e.s {
			v := a[k] + a[e.s+j]
			logit[j*e.s+k] = v
			top = max(top, v)
		}
	}
	for r, v := range logit[:n*e.s] {
		exp[r] = num.Exp(v - top)
	}
}

func addTo(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// A Gradient accumulates gradients in the shape of an engine's tables. Sum is
// the whole of it: gradients are added by adding their Sums.
type Gradient struct {
	e   *Engine
	Sum []float64

	// Parts of Sum, one for each of the engine's tables.
	pos, tok, query, key, base []float64
	out                        [3][]float64
}

// NewGradient returns a zero gradient.
func (e *Engine) NewGradient() *Gradient {
	g := &Gradient{e: e}
	tables := [][]float64{e.posExp, e.tokExp, e.query, e.key, e.base, e.out[0], e.out[1], e.out[2]}
	total := 0
	for _, table := range tables {
		total += len(table)
	}
	g.Sum = make([]float64, total)
	rest := g.Sum
	for i, p := range []*[]float64{&g.pos, &g.tok, &g.query, &g.key, &g.base, &g.out[0], &g.out[1], &g.out[2]} {
		n := len(tables[i])
		*p, rest = rest[:n:n], rest[n:]
	}
	return g
}

// AddTo adds c times the gradient to w.
func (g *Gradient) AddTo(w *Weights, c float64) {
	s, t, d, ts := g.e.s, g.e.t, g.e.d, g.e.s*g.e.t
	a1, a2 := w.A[0][0], w.A[1][0]
	for i := range t {
		g.foldRow(a1[(s+i)*d:(s+i+1)*d], g.pos[i*ts:], i+1, c)
	}
	for k := range s {
		g.foldRow(a1[k*d:(k+1)*d], g.tok[k*ts:], t, c)
		axpy(a2[k*2*d:(k+1)*2*d], c, g.query[k*2*d:])
		axpy(a2[(s+t-1)*2*d:(s+t)*2*d], c, g.query[k*2*d:])
		axpy(w.W[k*s:(k+1)*s], c, g.base[k*s:])
		axpy(w.W[(s+t-1)*s:(s+t)*s], c, g.base[k*s:])
	}
	for j := range t {
		for k := range s {
			r := j*s + k
			axpy(a2[(d+k)*2*d:(d+k+1)*2*d], c, g.key[r*2*d:])
			axpy(a2[(d+s+j)*2*d:(d+s+j+1)*2*d], c, g.key[r*2*d:])
			for b := range 3 {
				from := (b + 1) * d
				axpy(w.W[(from+k)*s:(from+k+1)*s], c, g.out[b][r*s:])
				axpy(w.W[(from+s+j)*s:(from+s+j+1)*s], c, g.out[b][r*s:])
			}
		}
	}
}

func (g *Gradient) foldRow(a, row []float64, n int, c float64) {
	s := g.e.s
	for j := range n {
		for k := range s {
			v := float64(c * row[j*s+k])
			a[k] += v
			a[s+j] += v
		}
	}
}

// axpy adds c x to y.
func axpy(y []float64, c float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float64(c * x[i])
	}
}
