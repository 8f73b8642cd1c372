package model

import (
	"fmt"
	"math"

	"learncausal/pkg/num"
)

// An Engine evaluates the loss and gradient of a two-layer model, many times
// faster than the dense reference: the standard transformer with MLPs
// (NewMLPEngine), or the disentangled one with m heads in the first layer and n in
// the second (NewEngine), by three exact facts:
//
//   - A row of h0 is two-hot (token, position), so whatever multiplies the row at
//     position j is a look-up at the joint index r_j = j*S + x_j in a table that
//     is built once for the weights.
//   - Only the last position is read: layer 2 has a single query, T-1.
//   - The gradient with respect to each layer-1 attention is then of rank two for
//     each head of layer 2.
//
// An Engine is read-only between calls of Load and may be shared by goroutines.
type Engine struct {
	s, t, m, n int
	d, wide    int // d = S+T, wide = (1+m) d is the width of h1

	head []headTables

	// Layer 2. A2_l^T h1_{T-1} = query_l[x_{T-1}] + sum_h sum_j P_h[T-1,j] key_hl[r_j].
	query [][]float64 // n, each S x (1+m)d

	// Output. With R_l the layer-2 attentions of the query, block b of W, of d
	// rows, meets block b of h2_{T-1}: base for its token and position, then
	// out[b-1] for P_1[T-1], ..., P_m[T-1], and for each l for R_l, R_l P_1, ...,
	// R_l P_m.
	base []float64   // S x S
	out  [][]float64 // m + n(1+m), each TS x S

	mlp *mlpTables // in place of layer 2 and output: the standard transformer with MLPs
}

// headTables are the tables of one head of layer 1: logits of query token k or
// query position i against joint keys, and their exponentials relative to the
// largest one of the row. S(MASK(h0 A h0^T))_ij is proportional to
// posExp[i][r_j] tokExp[x_i][r_j].
type headTables struct {
	posLogit, posExp []float64   // T x TS; row i is filled for j <= i
	tokLogit, tokExp []float64   // S x TS
	key              [][]float64 // one for each head of layer 2, TS x (1+m)d
}

// NewEngine returns an engine for S tokens, T positions, m heads in the first
// layer and n in the second.
func NewEngine(s, t, m, n int) *Engine {
	d, ts := s+t, s*t
	wide := (1 + m) * d
	e := &Engine{
		s: s, t: t, m: m, n: n, d: d, wide: wide, head: make([]headTables, m),
		query: newTables(n, s*wide), base: make([]float64, s*s), out: newTables(m+n*(1+m), ts*s),
	}
	for h := range e.head {
		e.head[h] = headTables{
			posLogit: make([]float64, t*ts), posExp: make([]float64, t*ts),
			tokLogit: make([]float64, s*ts), tokExp: make([]float64, s*ts),
			key: newTables(n, ts*wide),
		}
	}
	return e
}

func newTables(n, size int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, size)
	}
	return all
}

// Load builds the tables for the weights w.
func (e *Engine) Load(w *Weights) {
	if e.mlp != nil {
		e.loadMLP(w)
		return
	}
	s, t, d, wide := e.s, e.t, e.d, e.wide
	if w.MLP != nil || w.S != s || w.T != t || len(w.Heads) != 2 || w.Heads[0] != e.m || w.Heads[1] != e.n {
		panic(fmt.Sprintf("model: engine for S=%d, T=%d, heads [%d %d] given weights for S=%d, T=%d, heads %v", s, t, e.m, e.n, w.S, w.T, w.Heads))
	}
	for k := range s {
		for l, a2 := range w.A[1] {
			addTo(e.query[l][k*wide:(k+1)*wide], a2[k*wide:], a2[(s+t-1)*wide:])
		}
		addTo(e.base[k*s:(k+1)*s], w.W[k*s:], w.W[(s+t-1)*s:])
	}
	for h := range e.head {
		e.head[h].loadLogits(e, w.A[0][h])
	}
	for j := range t {
		for k := range s {
			r := j*s + k
			for h := range e.head {
				for l, a2 := range w.A[1] {
					rows := a2[(h+1)*d*wide:]
					addTo(e.head[h].key[l][r*wide:(r+1)*wide], rows[k*wide:], rows[(s+j)*wide:])
				}
			}
			for b := range e.out {
				from := (b + 1) * d
				addTo(e.out[b][r*s:(r+1)*s], w.W[(from+k)*s:], w.W[(from+s+j)*s:])
			}
		}
	}
}

// loadLogits builds the tables of the logits e a1 e^T between two-hot rows.
func (h *headTables) loadLogits(e *Engine, a1 []float64) {
	s, t, d, ts := e.s, e.t, e.d, e.s*e.t
	for i := range t {
		e.loadRow(h.posLogit[i*ts:], h.posExp[i*ts:], a1[(s+i)*d:(s+i+1)*d], i+1)
	}
	for k := range s {
		e.loadRow(h.tokLogit[k*ts:], h.tokExp[k*ts:], a1[k*d:(k+1)*d], t)
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

// MeanAttention returns the attention S(MASK(h0 A1 h0^T)) of each head of the
// first layer, averaged over the sequences in x, one after the other: T x T,
// row-stochastic, lower triangular.
func (e *Engine) MeanAttention(x []int) [][][]float64 {
	t, n := e.t, len(x)/e.t
	p, all := e.NewPass(), make([][][]float64, len(e.head))
	for h := range all {
		all[h] = newTables(t, t)
	}
	for k := range n {
		x := x[k*t : (k+1)*t]
		p.forward(x)
		for h, sum := range all {
			row := &p.head[h]
			for i := range t {
				scale := 1 / float64(n)
				if e.mlp == nil { // a pass with MLPs has multiplied its rows
					scale *= row.inv[i]
				}
				axpy(sum[i][:i+1], scale, row.p[i*t:])
			}
		}
	}
	return all
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
	head       []headGradient
	query, out [][]float64
	base       []float64
	mlp        *mlpTables
}

type headGradient struct {
	pos, tok []float64
	key      [][]float64
}

// NewGradient returns a zero gradient.
func (e *Engine) NewGradient() *Gradient {
	g := &Gradient{e: e, head: make([]headGradient, e.m)}
	var parts []*[]float64
	var sizes []int
	part := func(p *[]float64, table []float64) { parts, sizes = append(parts, p), append(sizes, len(table)) }
	list := func(ps *[][]float64, tables [][]float64) {
		*ps = make([][]float64, len(tables))
		for i := range tables {
			part(&(*ps)[i], tables[i])
		}
	}
	for h := range e.head {
		part(&g.head[h].pos, e.head[h].posExp)
		part(&g.head[h].tok, e.head[h].tokExp)
		list(&g.head[h].key, e.head[h].key)
	}
	list(&g.query, e.query)
	part(&g.base, e.base)
	list(&g.out, e.out)
	if e.mlp != nil {
		g.mlp = new(mlpTables)
		for i, p := range []*[]float64{&g.mlp.pre, &g.mlp.base, &g.mlp.last, &g.mlp.next, &g.mlp.deep, &g.mlp.out} {
			part(p, e.mlp.parts()[i])
		}
	}
	total := 0
	for _, n := range sizes {
		total += n
	}
	g.Sum = make([]float64, total)
	rest := g.Sum
	for i, n := range sizes {
		*parts[i], rest = rest[:n:n], rest[n:]
	}
	return g
}

// AddTo adds c times the gradient to w.
func (g *Gradient) AddTo(w *Weights, c float64) {
	if g.mlp != nil {
		g.addMLP(w, c)
		return
	}
	s, t, d, wide := g.e.s, g.e.t, g.e.d, g.e.wide
	for k := range s {
		for l, a2 := range w.A[1] {
			axpy(a2[k*wide:(k+1)*wide], c, g.query[l][k*wide:])
			axpy(a2[(s+t-1)*wide:(s+t)*wide], c, g.query[l][k*wide:])
		}
		axpy(w.W[k*s:(k+1)*s], c, g.base[k*s:])
		axpy(w.W[(s+t-1)*s:(s+t)*s], c, g.base[k*s:])
	}
	for h, part := range g.head {
		g.foldLogits(w.A[0][h], part, c)
		for l, key := range part.key {
			rows := w.A[1][l][(h+1)*d*wide:]
			for j := range t {
				for k := range s {
					r := j*s + k
					axpy(rows[k*wide:(k+1)*wide], c, key[r*wide:])
					axpy(rows[(s+j)*wide:(s+j+1)*wide], c, key[r*wide:])
				}
			}
		}
	}
	for j := range t {
		for k := range s {
			r := j*s + k
			for b := range g.out {
				from := (b + 1) * d
				axpy(w.W[(from+k)*s:(from+k+1)*s], c, g.out[b][r*s:])
				axpy(w.W[(from+s+j)*s:(from+s+j+1)*s], c, g.out[b][r*s:])
			}
		}
	}
}

// foldLogits adds c times the gradient of a head's logits to a1.
func (g *Gradient) foldLogits(a1 []float64, part headGradient, c float64) {
	s, t, d, ts := g.e.s, g.e.t, g.e.d, g.e.s*g.e.t
	for i := range t {
		g.foldRow(a1[(s+i)*d:(s+i+1)*d], part.pos[i*ts:], i+1, c)
	}
	for k := range s {
		g.foldRow(a1[k*d:(k+1)*d], part.tok[k*ts:], t, c)
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
