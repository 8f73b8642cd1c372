package model

import (
	"fmt"
	"math"
	"slices"
)

// An mlpEngine is that of a standard transformer with MLPs. It rests on three
// exact facts:
//
//   - h0 A1 h0^T is the bilinear form K = X A1 X^T of the stacked embeddings
//     X = [E; P] between two-hot rows, as in the disentangled transformer.
//   - What comes before the ReLU of an MLP is linear in the attention, so V and
//     In are multiplied once and tabulated at the joint indices r_j = j*S + x_j.
//   - With u the ReLU's output in layer 1, a row of h1 is the combination
//     (token, position, 1, u_i) of the n = S+T+1+d rows of
//     Y = [E; P; sqrt(d) BOut1; Out1], and is never formed.
type mlpEngine struct {
	s, t, d, n int
	all        []int // 0, 1, ..., the rows of a table

	scores scores // of K
	tables mlpTables
	m      *mlpMatrices
}

// mlpTables are the tables beside those of the attention of layer 1. Biases are
// times sqrt(d).
type mlpTables struct {
	pre  []float64 // TS x d: what key r_j adds to layer 1 before the ReLU, with the bias
	base []float64 // S x (n+S): for the query's token, position and 1, its scores against Y, then its logits
	last []float64 // d x (n+S): the same for its u
	next []float64 // TS x d: what token, position and 1 of a key add to layer 2 before the ReLU
	deep []float64 // d x d: the same for its u
	out  []float64 // d x S: logits of layer 2 after the ReLU
}

// fields returns pointers to the tables.
func (t *mlpTables) fields() []*[]float64 {
	return []*[]float64{&t.pre, &t.base, &t.last, &t.next, &t.deep, &t.out}
}

// An mlpGradient is that of an mlpEngine: of each of its tables.
type mlpGradient struct {
	e      *mlpEngine
	sum    []float64 // all of the following
	scores scoresGradient
	tables mlpTables
}

// NewEngine returns an engine loaded with w. It panics if w has not two layers.
func (w *MLP) NewEngine() Engine {
	w.check()
	s, t, d := w.S, w.T, w.Width
	n := s + t + 1 + d
	table := func(rows, cols int) []float64 { return make([]float64, rows*cols) }
	e := &mlpEngine{
		s: s, t: t, d: d, n: n, scores: newScores(s, t), m: newMLPMatrices(s, t, d),
		tables: mlpTables{table(s*t, d), table(s, n+s), table(d, n+s), table(s*t, d), table(d, d), table(d, s)},
	}
	for i := range max(n, t) {
		e.all = append(e.all, i)
	}
	e.Load(w)
	return e
}

// NewGradient returns a zero gradient.
func (e *mlpEngine) NewGradient() Gradient {
	tables := [][]float64{e.scores.posLogit, e.scores.tokLogit}
	for _, t := range e.tables.fields() {
		tables = append(tables, *t)
	}
	sum, parts := like(tables)
	g := &mlpGradient{e: e, sum: sum, scores: scoresGradient{e.s, e.t, parts[0], parts[1]}}
	for i, t := range g.tables.fields() {
		*t = parts[2+i]
	}
	return g
}

// like returns zero arrays of the sizes of the given ones, one after the other in
// sum.
func like(tables [][]float64) (sum []float64, parts [][]float64) {
	total := 0
	for _, t := range tables {
		total += len(t)
	}
	sum = make([]float64, total)
	rest := sum
	for _, t := range tables {
		n := len(t)
		parts, rest = append(parts, rest[:n:n]), rest[n:]
	}
	return sum, parts
}

// Sum returns the gradients by all tables.
func (g *mlpGradient) Sum() []float64 { return g.sum }

// MeanAttention returns the mean of S(MASK(h0 A1 h0^T)) over sequences.
func (e *mlpEngine) MeanAttention(x []int) [][][]float64 {
	p := e.newPass()
	return meanAttention(x, e.s, e.t, []*rows{&p.rows}, p.forward)
}

// weights returns m as weights of the size of the engine.
func (e *mlpEngine) weights(m Model) *MLP {
	w, ok := m.(*MLP)
	if !ok {
		panic(fmt.Sprintf("model: the engine of a transformer with MLPs was given a %T", m))
	}
	if w.S != e.s || w.T != e.t || w.Width != e.d || len(w.Layers) != 2 {
		panic(fmt.Sprintf("model: engine for 2 layers with MLPs, S=%d, T=%d, width %d "+
			"given %d layers, S=%d, T=%d, width %d", e.s, e.t, e.d, len(w.Layers), w.S, w.T, w.Width))
	}
	w.check()
	return w
}

// own returns g as a gradient of e.
func (e *mlpEngine) own(g Gradient) *mlpGradient {
	own, ok := g.(*mlpGradient)
	if !ok || own.e != e {
		panic(otherGradient)
	}
	return own
}

// Load builds the tables for the weights w, of type [*MLP].
func (e *mlpEngine) Load(m Model) {
	e.m.load(e.weights(m))
	e.scores.load(e.m.k.v)
	t, p := &e.tables, e.m
	s, d, n, one := e.s, e.d, e.n, e.s+e.t
	for k := range s {
		row := t.base[k*(n+s):]
		clear(row[:n+s])
		for _, i := range []int{k, one - 1, one} {
			axpy(row[:n], 1, p.b.row(i))
			axpy(row[n:n+s], 1, p.yw.row(i))
		}
		axpy(row[n:n+s], 1, p.zw.row(d))
	}
	for k := range d {
		copy(t.last[k*(n+s):], p.b.row(one+1+k))
		copy(t.last[k*(n+s)+n:], p.yw.row(one+1+k))
	}
	copy(t.deep, p.ym.v[(one+1)*d:])
	copy(t.out, p.zw.v[:d*s])
	for r := range s * e.t {
		k, j := r%s, s+r/s
		pre, next := t.pre[r*d:(r+1)*d], t.next[r*d:(r+1)*d]
		addTo(pre, p.xm.row(k), p.xm.row(j))
		axpy(pre, 1, p.b1.v)
		addTo(next, p.ym.row(k), p.ym.row(j))
		axpy(next, 1, p.ym.row(one))
		axpy(next, 1, p.b2.v)
	}
}

// AddTo is the backward pass of Load.
func (g *mlpGradient) AddTo(m Model, c float64) {
	e, t := g.e, &g.tables
	w, dp := e.weights(m), newMLPMatrices(e.s, e.t, e.d)
	s, d, n, one := e.s, e.d, e.n, e.s+e.t
	g.scores.addTo(dp.k.v, 1)
	for k := range s {
		row := t.base[k*(n+s):]
		for _, i := range []int{k, one - 1, one} {
			axpy(dp.b.row(i), 1, row)
			axpy(dp.yw.row(i), 1, row[n:])
		}
		axpy(dp.zw.row(d), 1, row[n:])
	}
	for k := range d {
		axpy(dp.b.row(one+1+k), 1, t.last[k*(n+s):])
		axpy(dp.yw.row(one+1+k), 1, t.last[k*(n+s)+n:])
	}
	axpy(dp.ym.v[(one+1)*d:], 1, t.deep)
	axpy(dp.zw.v[:d*s], 1, t.out)
	for r := range s * e.t {
		k, j := r%s, s+r/s
		pre, next := t.pre[r*d:], t.next[r*d:]
		for _, row := range [][]float64{dp.xm.row(k), dp.xm.row(j), dp.b1.v} {
			axpy(row, 1, pre)
		}
		for _, row := range [][]float64{dp.ym.row(k), dp.ym.row(j), dp.ym.row(one), dp.b2.v} {
			axpy(row, 1, next)
		}
	}
	dp.addTo(w, c, e.m)
}

// mlpMatrices are the weights and the products of them that the tables are made
// of, or the gradients of all these.
type mlpMatrices struct {
	// The weights, with biases times sqrt(d).
	y      matrix // n x d, Y = [E; P; BOut1; Out1]
	x      matrix // (S+T) x d, X = [E; P], the first rows of Y
	z      matrix // (d+1) x d, Z = [Out2; BOut2]
	a1, a2 matrix // d x d
	v1, v2 matrix // d x d
	i1, i2 matrix // d x d, In1 and In2
	b1, b2 matrix // 1 x d, BIn1 and BIn2
	w      matrix // d x S

	// What they are multiplied to.
	m1, m2 matrix // d x d, M = V In of each layer
	xa, k  matrix // X A1 and K = X A1 X^T, (S+T) x (S+T): scores of layer 1
	ya, b  matrix // Y A2 and B = Y A2 Y^T, n x n: scores of layer 2
	xm, ym matrix // X M1 and Y M2: what a row adds before the ReLU
	yw, zw matrix // Y W and Z W: its logits
}

func newMLPMatrices(s, t, d int) *mlpMatrices {
	n := s + t + 1 + d
	m := &mlpMatrices{
		y: newMatrix(n, d), z: newMatrix(d+1, d), b1: newMatrix(1, d), b2: newMatrix(1, d), w: newMatrix(d, s),
		xa: newMatrix(s+t, d), k: newMatrix(s+t, s+t), ya: newMatrix(n, d), b: newMatrix(n, n),
		xm: newMatrix(s+t, d), ym: newMatrix(n, d), yw: newMatrix(n, s), zw: newMatrix(d+1, s),
	}
	m.x = matrix{s + t, d, m.y.v[:(s+t)*d]}
	for _, p := range []*matrix{&m.a1, &m.a2, &m.v1, &m.v2, &m.i1, &m.i2, &m.m1, &m.m2} {
		*p = newMatrix(d, d)
	}
	return m
}

// load takes the weights and multiplies them.
func (m *mlpMatrices) load(w *MLP) {
	layers, embeddings := m.params(w)
	for _, p := range slices.Concat(layers, embeddings) {
		for i, v := range p.weight {
			p.place[i] = float64(p.factor * v)
		}
	}
	m.m1.mul(m.v1, m.i1)
	m.m2.mul(m.v2, m.i2)
	m.xa.mul(m.x, m.a1)
	m.k.mul(m.xa, m.x.t())
	m.xm.mul(m.x, m.m1)
	m.ya.mul(m.y, m.a2)
	m.b.mul(m.ya, m.y.t())
	m.yw.mul(m.y, m.w)
	m.ym.mul(m.y, m.m2)
	m.zw.mul(m.z, m.w)
}

// addTo is the backward pass of load for the gradients dm of the products of m,
// which it completes to those of all matrices: back through the products in
// reverse order. It adds c times the gradient to w.
func (dm *mlpMatrices) addTo(w *MLP, c float64, m *mlpMatrices) {
	mulBack(dm.z, dm.w, dm.zw, m.z, m.w)
	mulBack(dm.y, dm.m2, dm.ym, m.y, m.m2)
	mulBack(dm.y, dm.w, dm.yw, m.y, m.w)
	mulBackT(dm.ya, dm.y, dm.b, m.ya, m.y)
	mulBack(dm.y, dm.a2, dm.ya, m.y, m.a2)
	mulBack(dm.x, dm.m1, dm.xm, m.x, m.m1)
	mulBackT(dm.xa, dm.x, dm.k, m.xa, m.x)
	mulBack(dm.x, dm.a1, dm.xa, m.x, m.a1)
	mulBack(dm.v2, dm.i2, dm.m2, m.v2, m.i2)
	mulBack(dm.v1, dm.i1, dm.m1, m.v1, m.i1)
	params, embeddings := dm.params(w)
	if !w.Fixed {
		params = append(params, embeddings...)
	}
	for _, p := range params {
		axpy(p.weight, float64(c*p.factor), p.place)
	}
}

// An mlpParam pairs an array of weights with its place in the matrices, which
// hold it times a factor.
type mlpParam struct {
	weight, place []float64
	factor        float64
}

func (m *mlpMatrices) params(w *MLP) (layers, embeddings []mlpParam) {
	d, x := w.Width, len(m.x.v)
	root, one, two := math.Sqrt(float64(d)), w.Layers[0], w.Layers[1]
	layers = []mlpParam{
		{one.A, m.a1.v, 1},
		{two.A, m.a2.v, 1},
		{one.V, m.v1.v, 1},
		{two.V, m.v2.v, 1},
		{one.In, m.i1.v, 1},
		{two.In, m.i2.v, 1},
		{one.BIn, m.b1.v, root},
		{two.BIn, m.b2.v, root},
		{one.BOut, m.y.v[x : x+d], root},
		{one.Out, m.y.v[x+d:], 1},
		{two.Out, m.z.v[:d*d], 1},
		{two.BOut, m.z.v[d*d:], root},
		{w.W, m.w.v, 1},
	}
	return layers, []mlpParam{{w.E, m.x.v[:w.S*d], 1}, {w.P, m.x.v[w.S*d:], 1}}
}

// matrix is a dense matrix, row-major. mat.Dense is not used here because its
// products, in assembly where there is any, differ in the last bits from one
// kind of processor to another, and these are part of the bytes of a run.
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
