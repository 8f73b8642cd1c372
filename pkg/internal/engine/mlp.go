package engine

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/model"
)

// An mlpEngine holds the tables of a standard transformer with MLPs. It rests on three exact facts:
//
//   - h0 A1 h0^T is the bilinear form K = X A1 X^T of the stacked embeddings
//     X = [E; P] between two-hot rows, as in the disentangled transformer.
//   - The input of the ReLU of an MLP is linear in the attention, so V and In are
//     multiplied once; for layer 1 the products are tabulated at the joint indices
//     r_j = j*S + x_j.
//   - With u the ReLU's output in layer 1, a row of h1 is the combination
//     (token, position, 1, u_i) of the n = S+T+1+d rows of
//     Y = [E; P; sqrt(d) BOut1; Out1], and is never formed.
//
// A residual model has the same tables. There u_i has h = 2d entries: after those of the ReLU, the d entries of
// the attention's output before V, whose rows of Y are V1. Layer 2 has identities for In and Out, and no ReLU.
type mlpEngine struct {
	s, t, d, h, n int
	residual      bool
	shape         shape

	head   headTable // of K
	tables mlpTables
	turned mlpTurned
	m      *mlpMatrices
}

// mlpTables are the tables after the attention of layer 1. Biases are times sqrt(d).
type mlpTables struct {
	pre  simd.Matrix // TS x h: the term of key r_j in the input of layer 1's ReLU, with the bias, and in the rest of u
	self simd.Matrix // TS x d: the term of the query's own r_i in that input; 0 x d unless residual
	base simd.Matrix // S x (n+S): scores against Y and logits of the query's token, position and 1
	last simd.Matrix // h x (n+S): scores against Y and logits of the query's u
	next simd.Matrix // n x d: the term of a row of Y in the input of layer 2's ReLU; the row of 1 has the bias
	out  simd.Matrix // d x S: logits of the output of layer 2's ReLU
}

// mlpTurned are transposes of tables.
type mlpTurned struct{ last, next, out simd.Matrix }

// all returns the tables.
func (t *mlpTables) all() []*simd.Matrix {
	return []*simd.Matrix{&t.pre, &t.self, &t.base, &t.last, &t.next, &t.out}
}

// An mlpGradient is the gradient by the tables of an mlpEngine.
type mlpGradient struct {
	e      *mlpEngine
	sum    []float64 // all of the following
	head   simd.Factors
	tables mlpTables
}

// newMLPEngine returns an engine loaded with w. It panics if w has not two layers.
func newMLPEngine(w *model.MLP) *mlpEngine {
	if len(w.Layers) != 2 {
		panic(fmt.Sprintf("engine: tables for %d layers with MLPs, want 2", len(w.Layers)))
	}
	s, t, d, h, self := w.S, w.T, w.Width, w.Width, 0
	if w.Residual {
		h, self = 2*d, s*t
	}
	n := s + t + 1 + h
	e := &mlpEngine{
		s: s, t: t, d: d, h: h, n: n, residual: w.Residual,
		shape: shapeOf(w), head: newHeadTable(s, t), m: newMLPMatrices(s, t, d, h),
		tables: mlpTables{
			zeroMatrix(s*t, h), zeroMatrix(self, d),
			zeroMatrix(s, n+s), zeroMatrix(h, n+s), zeroMatrix(n, d), zeroMatrix(d, s),
		},
		turned: mlpTurned{zeroMatrix(n+s, h), zeroMatrix(d, n), zeroMatrix(s, d)},
	}
	e.Load(w)
	return e
}

func (e *mlpEngine) NewGradient() Gradient {
	factors := factorSize(e.s, e.t)
	size := factors
	for _, t := range e.tables.all() {
		size += len(t.Data)
	}
	g := &mlpGradient{e: e, sum: make([]float64, size), tables: e.tables}
	rest := g.sum
	g.head = factorsIn(cut(&rest, factors), e.s, e.t)
	for _, t := range g.tables.all() {
		t.Data = cut(&rest, len(t.Data))
	}
	return g
}

func (g *mlpGradient) Sum() []float64 { return g.sum }

func (e *mlpEngine) MeanAttention(x []int) []*mat.Dense {
	return meanAttention(x, e.s, e.t, e.head)
}

// own returns g as a gradient of e.
func (e *mlpEngine) own(g Gradient) *mlpGradient {
	own, ok := g.(*mlpGradient)
	if !ok || own.e != e {
		panic(otherGradient)
	}
	return own
}

// Load builds the tables for the weights w, of type [*model.MLP].
func (e *mlpEngine) Load(m model.Model) {
	e.shape.check(m)
	e.m.load(m.(*model.MLP))
	e.head.load(e.m.k.Data)
	t, p := &e.tables, e.m
	s, n, one := e.s, e.n, e.s+e.t
	for k := range s {
		row := rowOf(t.base, k)
		clear(row)
		for _, i := range []int{k, one - 1, one} {
			axpy(row[:n], 1, rowOf(p.b, i))
			axpy(row[n:], 1, rowOf(p.yw, i))
		}
		axpy(row[n:], 1, rowOf(p.zw, e.d))
	}
	for k := range e.h {
		copy(rowOf(t.last, k), rowOf(p.b, one+1+k))
		copy(rowOf(t.last, k)[n:], rowOf(p.yw, one+1+k))
	}
	copy(t.next.Data, p.ym.Data)
	axpy(rowOf(t.next, one), 1, p.b2.Data)
	copy(t.out.Data, p.zw.Data)
	for r := range t.pre.Rows {
		pre := rowOf(t.pre, r)
		addTo(pre, rowOf(p.xm, r%s), rowOf(p.xm, s+r/s))
		axpy(pre[:e.d], 1, p.b1.Data)
	}
	for r := range t.self.Rows {
		addTo(rowOf(t.self, r), rowOf(p.xi, r%s), rowOf(p.xi, s+r/s))
	}
	transpose(e.turned.last, t.last)
	transpose(e.turned.next, t.next)
	transpose(e.turned.out, t.out)
}

// AddTo is the backward pass of Load.
func (g *mlpGradient) AddTo(m model.Model, c float64) {
	e, t := g.e, &g.tables
	e.shape.check(m)
	dp := newMLPMatrices(e.s, e.t, e.d, e.h)
	s, n, one := e.s, e.n, e.s+e.t
	e.head.addTo(dp.k.Data, g.head, 1)
	for k := range s {
		row := rowOf(t.base, k)
		for _, i := range []int{k, one - 1, one} {
			axpy(rowOf(dp.b, i), 1, row)
			axpy(rowOf(dp.yw, i), 1, row[n:])
		}
		axpy(rowOf(dp.zw, e.d), 1, row[n:])
	}
	for k := range e.h {
		axpy(rowOf(dp.b, one+1+k), 1, rowOf(t.last, k))
		axpy(rowOf(dp.yw, one+1+k), 1, rowOf(t.last, k)[n:])
	}
	copy(dp.ym.Data, t.next.Data)
	copy(dp.b2.Data, rowOf(t.next, one))
	axpy(dp.zw.Data[:len(t.out.Data)], 1, t.out.Data)
	for r := range t.pre.Rows {
		pre := rowOf(t.pre, r)
		axpy(rowOf(dp.xm, r%s), 1, pre)
		axpy(rowOf(dp.xm, s+r/s), 1, pre)
		axpy(dp.b1.Data, 1, pre[:e.d])
	}
	for r := range t.self.Rows {
		axpy(rowOf(dp.xi, r%s), 1, rowOf(t.self, r))
		axpy(rowOf(dp.xi, s+r/s), 1, rowOf(t.self, r))
	}
	dp.addTo(m.(*model.MLP), c, e.m)
}

// mlpMatrices are the weights and their products, from which the tables are made, or the gradients by them.
type mlpMatrices struct {
	// The weights, with biases times sqrt(d).
	y      simd.Matrix // n x d, Y = [E; P; BOut1; Out1], then V1 in residual models
	x      simd.Matrix // (S+T) x d, X = [E; P], the first rows of Y
	z      simd.Matrix // (d+1) x d, Z = [Out2; BOut2]
	a1, a2 simd.Matrix // d x d
	v1, v2 simd.Matrix // d x d
	i1, i2 simd.Matrix // d x d, In1 and In2
	b1, b2 simd.Matrix // 1 x d, BIn1 and BIn2
	w      simd.Matrix // d x S

	// Their products.
	m1, m2 simd.Matrix // d x d, M = V In of each layer
	xa, k  simd.Matrix // X A1 and K = X A1 X^T, (S+T) x (S+T): scores of layer 1
	ya, b  simd.Matrix // Y A2 and B = Y A2 Y^T, n x n: scores of layer 2
	xm, ym simd.Matrix // X M1, beside X if residual, (S+T) x h, and Y M2: terms of the input of the ReLU
	xi     simd.Matrix // X In1, (S+T) x (h-d): the term of the residual connection
	yw, zw simd.Matrix // Y W and Z W: logits
}

func newMLPMatrices(s, t, d, h int) *mlpMatrices {
	n := s + t + 1 + h
	m := &mlpMatrices{
		y: zeroMatrix(n, d), z: zeroMatrix(d+1, d), b1: zeroMatrix(1, d), b2: zeroMatrix(1, d), w: zeroMatrix(d, s),
		xa: zeroMatrix(s+t, d), k: zeroMatrix(s+t, s+t), ya: zeroMatrix(n, d), b: zeroMatrix(n, n),
		xm: zeroMatrix(s+t, h), xi: zeroMatrix(s+t, h-d), ym: zeroMatrix(n, d), yw: zeroMatrix(n, s), zw: zeroMatrix(d+1, s),
	}
	m.x = simd.Dense(s+t, d, m.y.Data[:(s+t)*d])
	for _, p := range []*simd.Matrix{&m.a1, &m.a2, &m.v1, &m.v2, &m.i1, &m.i2, &m.m1, &m.m2} {
		*p = zeroMatrix(d, d)
	}
	return m
}

// load copies the weights of w and multiplies them.
func (m *mlpMatrices) load(w *model.MLP) {
	layers, embeddings := m.params(w)
	for _, p := range slices.Concat(layers, embeddings) {
		for i, v := range p.weight {
			p.place[i] = float64(p.factor * v)
		}
	}
	mul(m.m1, m.v1, m.i1)
	mul(m.xa, m.x, m.a1)
	mul(m.k, m.xa, transposed(m.x))
	mul(from(m.xm, 0, m.xm.Rows, 0, w.Width), m.x, m.m1)
	if w.Residual {
		for k := range w.Width {
			rowOf(m.i2, k)[k], rowOf(m.z, k)[k] = 1, 1
		}
		for i := range m.x.Rows {
			copy(rowOf(m.xm, i)[w.Width:], rowOf(m.x, i))
		}
		mul(m.xi, m.x, m.i1)
	}
	mul(m.m2, m.v2, m.i2)
	mul(m.ya, m.y, m.a2)
	mul(m.b, m.ya, transposed(m.y))
	mul(m.yw, m.y, m.w)
	mul(m.ym, m.y, m.m2)
	mul(m.zw, m.z, m.w)
}

// addTo is the backward pass of load. dm has the gradients by the products of m; addTo adds the gradients by
// the weights, going through the products in reverse order, and then c times these to w.
func (dm *mlpMatrices) addTo(w *model.MLP, c float64, m *mlpMatrices) {
	mulGrads(dm.z, dm.w, dm.zw, m.z, m.w)
	mulGrads(dm.y, dm.m2, dm.ym, m.y, m.m2)
	mulGrads(dm.y, dm.w, dm.yw, m.y, m.w)
	mulTGrads(dm.ya, dm.y, dm.b, m.ya, m.y)
	mulGrads(dm.y, dm.a2, dm.ya, m.y, m.a2)
	if w.Residual {
		for i := range m.x.Rows {
			axpy(rowOf(dm.x, i), 1, rowOf(dm.xm, i)[w.Width:])
		}
		mulGrads(dm.x, dm.i1, dm.xi, m.x, m.i1)
	}
	mulGrads(dm.x, dm.m1, from(dm.xm, 0, dm.xm.Rows, 0, w.Width), m.x, m.m1)
	mulTGrads(dm.xa, dm.x, dm.k, m.xa, m.x)
	mulGrads(dm.x, dm.a1, dm.xa, m.x, m.a1)
	mulGrads(dm.v2, dm.i2, dm.m2, m.v2, m.i2)
	mulGrads(dm.v1, dm.i1, dm.m1, m.v1, m.i1)
	params, embeddings := dm.params(w)
	if !w.Fixed {
		params = append(params, embeddings...)
	}
	for _, p := range params {
		axpy(p.weight, float64(c*p.factor), p.place)
	}
}

// An mlpParam pairs an array of weights with its place in the matrices, which hold the weights times a factor.
type mlpParam struct {
	weight, place []float64
	factor        float64
}

func (m *mlpMatrices) params(w *model.MLP) (layers, embeddings []mlpParam) {
	d, x := w.Width, len(m.x.Data)
	root, one, two := math.Sqrt(float64(d)), w.Layers[0], w.Layers[1]
	whole := func(m *mat.Dense, place []float64) mlpParam { return mlpParam{m.RawMatrix().Data, place, 1} }
	layers = []mlpParam{
		whole(one.A, m.a1.Data),
		whole(two.A, m.a2.Data),
		whole(one.V, m.v1.Data),
		whole(two.V, m.v2.Data),
		whole(one.In, m.i1.Data),
		{one.BIn, m.b1.Data, root},
		{one.BOut, m.y.Data[x : x+d], root},
		whole(one.Out, m.y.Data[x+d:]),
		whole(w.W, m.w.Data),
	}
	if w.Residual {
		layers = append(layers, whole(one.V, m.y.Data[x+d+d*d:]))
	} else {
		layers = append(layers,
			whole(two.In, m.i2.Data),
			mlpParam{two.BIn, m.b2.Data, root},
			whole(two.Out, m.z.Data[:d*d]),
			mlpParam{two.BOut, m.z.Data[d*d:], root})
	}
	return layers, []mlpParam{whole(w.E, m.x.Data[:w.S*d]), whole(w.P, m.x.Data[w.S*d:])}
}

// mul sets c = a b.
func mul(c, a, b simd.Matrix) {
	clear(c.Data)
	c.AddMul(a, b)
}

// mulGrads is the backward pass of c = a b: it adds dc b^T to da, a^T dc to db.
func mulGrads(da, db, dc, a, b simd.Matrix) {
	da.AddMul(dc, transposed(b))
	db.AddMul(a.T(), dc)
}

// mulTGrads is the backward pass of c = a b^T: it adds dc b to da, dc^T a to db.
func mulTGrads(da, db, dc, a, b simd.Matrix) {
	da.AddMul(dc, b)
	db.AddMul(dc.T(), a)
}
