package model

import (
	"fmt"
	"math"
)

// mlpTables are the tables of an Engine for the standard transformer with MLPs,
// beside those of the layer-1 attention. They rest on three exact facts:
//
//   - h0 A1 h0^T is the bilinear form K = X A1 X^T of the stacked embeddings
//     X = [E; P] between two-hot rows, as in the disentangled transformer.
//   - What comes before the ReLU of an MLP is linear in the attention, so V and
//     In are multiplied once and tabulated at the joint indices r_j.
//   - With u the ReLU's output in layer 1, a row of h1 is the combination
//     (token, position, 1, u_i) of the rows of Y = [E; P; sqrt(d) BOut; Out],
//     and is never formed.
type mlpTables struct {
	d, n int   // width d of the stream; n = S+T+1+d rows of Y
	all  []int // 0, 1, ..., the rows of a table

	pre  []float64 // TS x d: what key r_j adds to layer 1 before the ReLU
	base []float64 // S x (n+S): for the query's token, position and 1, its scores against Y, then its logits
	last []float64 // d x (n+S): the same for its u
	next []float64 // TS x d: what token, position and 1 of a key add to layer 2 before the ReLU
	deep []float64 // d x d: the same for its u
	out  []float64 // d x S: logits of layer 2 after the ReLU

	m *mlpMatrices
}

// NewMLPEngine returns an engine for the standard transformer with MLPs of two
// layers, for S tokens, T positions and the given width.
func NewMLPEngine(s, t, width int) *Engine {
	ts, n := s*t, s+t+1+width
	table := func(rows, cols int) []float64 { return make([]float64, rows*cols) }
	e := &Engine{s: s, t: t, m: 1, d: s + t}
	e.head = []headTables{{posLogit: table(t, ts), posExp: table(t, ts), tokLogit: table(s, ts), tokExp: table(s, ts)}}
	e.mlp = &mlpTables{
		d: width, n: n, m: newMLPMatrices(s, t, width),
		pre: table(ts, width), base: table(s, n+s), last: table(width, n+s),
		next: table(ts, width), deep: table(width, width), out: table(width, s),
	}
	for i := range max(n, t) {
		e.mlp.all = append(e.mlp.all, i)
	}
	return e
}

// parts returns every table.
func (m *mlpTables) parts() [][]float64 {
	return [][]float64{m.pre, m.base, m.last, m.next, m.deep, m.out}
}

// mlpMatrices are the weights and the products of them that the tables are made
// of, or the gradients of all these.
type mlpMatrices struct {
	y, x                     matrix // [E; P; sqrt(d) BOut1; Out1] and its first S+T rows
	z                        matrix // [Out2; sqrt(d) BOut2]
	a1, a2, v1, v2, in1, in2 matrix
	b1, b2                   matrix // sqrt(d) BIn1, sqrt(d) BIn2
	w                        matrix

	m1, m2   matrix // V1 In1, V2 In2
	xa, k    matrix // X A1, X A1 X^T
	ya, b    matrix // Y A2, Y A2 Y^T
	pre      matrix // X m1
	l, h, zw matrix // Y W, Y m2, Z W
}

func newMLPMatrices(s, t, d int) *mlpMatrices {
	n := s + t + 1 + d
	m := &mlpMatrices{
		y: newMatrix(n, d), z: newMatrix(d+1, d), b1: newMatrix(1, d), b2: newMatrix(1, d), w: newMatrix(d, s),
		xa: newMatrix(s+t, d), k: newMatrix(s+t, s+t), ya: newMatrix(n, d), b: newMatrix(n, n),
		pre: newMatrix(s+t, d), l: newMatrix(n, s), h: newMatrix(n, d), zw: newMatrix(d+1, s),
	}
	m.x = matrix{s + t, d, m.y.v[:(s+t)*d]}
	for _, p := range []*matrix{&m.a1, &m.a2, &m.v1, &m.v2, &m.in1, &m.in2, &m.m1, &m.m2} {
		*p = newMatrix(d, d)
	}
	return m
}

// params pairs each array of w with its place in m and the factor from the one
// to the other.
func (m *mlpMatrices) params(w *Weights) []mlpParam {
	d, x := w.MLP.Width, len(m.x.v)
	root, one, two := math.Sqrt(float64(d)), w.MLP.Layers[0], w.MLP.Layers[1]
	all := []mlpParam{
		{w.A[0][0], m.a1.v, 1},
		{w.A[1][0], m.a2.v, 1},
		{one.V, m.v1.v, 1},
		{two.V, m.v2.v, 1},
		{one.In, m.in1.v, 1},
		{two.In, m.in2.v, 1},
		{one.BIn, m.b1.v, root},
		{two.BIn, m.b2.v, root},
		{one.BOut, m.y.v[x : x+d], root},
		{one.Out, m.y.v[x+d:], 1},
		{two.Out, m.z.v[:d*d], 1},
		{two.BOut, m.z.v[d*d:], root},
		{w.W, m.w.v, 1},
	}
	return append(all, mlpParam{w.MLP.E, m.x.v[:w.S*d], 1}, mlpParam{w.MLP.P, m.x.v[w.S*d:], 1})
}

type mlpParam struct {
	weight, place []float64
	factor        float64
}

// loadMLP builds the tables for the weights w.
func (e *Engine) loadMLP(w *Weights) {
	t, m := e.mlp, e.mlp.m
	if w.MLP == nil || w.S != e.s || w.T != e.t || w.MLP.Width != t.d {
		panic(fmt.Sprintf("model: engine for the transformer with MLPs with S=%d, T=%d, width %d given other weights", e.s, e.t, t.d))
	}
	for _, p := range m.params(w) {
		for i, v := range p.weight {
			p.place[i] = float64(p.factor * v)
		}
	}
	m.m1.mul(m.v1, m.in1)
	m.m2.mul(m.v2, m.in2)
	m.xa.mul(m.x, m.a1)
	m.k.mul(m.xa, m.x.t())
	m.pre.mul(m.x, m.m1)
	m.ya.mul(m.y, m.a2)
	m.b.mul(m.ya, m.y.t())
	m.l.mul(m.y, m.w)
	m.h.mul(m.y, m.m2)
	m.zw.mul(m.z, m.w)

	e.head[0].loadLogits(e, m.k.v)
	s, d, n, one := e.s, t.d, t.n, e.s+e.t
	for k := range s {
		row := t.base[k*(n+s):]
		for _, i := range []int{k, one - 1, one} {
			if i == k {
				clear(row[:n+s])
			}
			axpy(row[:n], 1, m.b.row(i))
			axpy(row[n:n+s], 1, m.l.row(i))
		}
		axpy(row[n:n+s], 1, m.zw.row(d))
	}
	for k := range d {
		copy(t.last[k*(n+s):], m.b.row(one+1+k))
		copy(t.last[k*(n+s)+n:], m.l.row(one+1+k))
	}
	copy(t.deep, m.h.v[(one+1)*d:])
	copy(t.out, m.zw.v[:d*s])
	for r := range s * e.t {
		k, j := r%s, s+r/s
		pre, next := t.pre[r*d:(r+1)*d], t.next[r*d:(r+1)*d]
		addTo(pre, m.pre.row(k), m.pre.row(j))
		axpy(pre, 1, m.b1.v)
		addTo(next, m.h.row(k), m.h.row(j))
		axpy(next, 1, m.h.row(one))
		axpy(next, 1, m.b2.v)
	}
}

// addMLP adds c times the gradient to w: back through the tables, and through
// the products in reverse order.
func (g *Gradient) addMLP(w *Weights, c float64) {
	e, part := g.e, g.mlp
	t, m := e.mlp, e.mlp.m
	s, d, n, one := e.s, t.d, t.n, e.s+e.t
	dm := newMLPMatrices(s, e.t, d)

	g.foldLogits(dm.k.v, g.head[0], 1)
	for k := range s {
		row := part.base[k*(n+s):]
		for _, i := range []int{k, one - 1, one} {
			axpy(dm.b.row(i), 1, row)
			axpy(dm.l.row(i), 1, row[n:])
		}
		axpy(dm.zw.row(d), 1, row[n:])
	}
	for k := range d {
		axpy(dm.b.row(one+1+k), 1, part.last[k*(n+s):])
		axpy(dm.l.row(one+1+k), 1, part.last[k*(n+s)+n:])
	}
	axpy(dm.h.v[(one+1)*d:], 1, part.deep)
	axpy(dm.zw.v[:d*s], 1, part.out)
	for r := range s * e.t {
		k, j := r%s, s+r/s
		pre, next := part.pre[r*d:], part.next[r*d:]
		for _, row := range [][]float64{dm.pre.row(k), dm.pre.row(j), dm.b1.v} {
			axpy(row, 1, pre)
		}
		for _, row := range [][]float64{dm.h.row(k), dm.h.row(j), dm.h.row(one), dm.b2.v} {
			axpy(row, 1, next)
		}
	}

	mulBack(dm.z, dm.w, dm.zw, m.z, m.w)
	mulBack(dm.y, dm.m2, dm.h, m.y, m.m2)
	mulBack(dm.y, dm.w, dm.l, m.y, m.w)
	mulBackT(dm.ya, dm.y, dm.b, m.ya, m.y)
	mulBack(dm.y, dm.a2, dm.ya, m.y, m.a2)
	mulBack(dm.x, dm.m1, dm.pre, m.x, m.m1)
	mulBackT(dm.xa, dm.x, dm.k, m.xa, m.x)
	mulBack(dm.x, dm.a1, dm.xa, m.x, m.a1)
	mulBack(dm.v2, dm.in2, dm.m2, m.v2, m.in2)
	mulBack(dm.v1, dm.in1, dm.m1, m.v1, m.in1)

	params := dm.params(w)
	if w.MLP.Fixed {
		params = params[:len(params)-2]
	}
	for _, p := range params {
		axpy(p.weight, float64(c*p.factor), p.place)
	}
}

// matrix is a dense matrix, row-major.
type matrix struct {
	rows, cols int
	v          []float64
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]float64, rows*cols)} }

func (c matrix) row(i int) []float64 { return c.v[i*c.cols : (i+1)*c.cols] }

// t returns the transpose, a copy.
func (c matrix) t() matrix {
	a := newMatrix(c.cols, c.rows)
	for i := range c.rows {
		for j, v := range c.row(i) {
			a.v[j*a.cols+i] = v
		}
	}
	return a
}

// mul sets c = a b.
func (c matrix) mul(a, b matrix) {
	clear(c.v)
	c.addMul(a, b)
}

// addMul adds a b to c.
func (c matrix) addMul(a, b matrix) {
	all := make([]int, a.cols)
	for i := range all {
		all[i] = i
	}
	for i := range c.rows {
		gemv(c.row(i), a.row(i), b.v, all)
	}
}

// mulBack is the backward pass of c = a b: it adds dc b^T to da, a^T dc to db.
func mulBack(da, db, dc, a, b matrix) {
	da.addMul(dc, b.t())
	db.addMul(a.t(), dc)
}

// mulBackT is the backward pass of c = a b^T: it adds dc b to da, dc^T a to db.
func mulBackT(da, db, dc, a, b matrix) {
	da.addMul(dc, b)
	db.addMul(dc.t(), a)
}
