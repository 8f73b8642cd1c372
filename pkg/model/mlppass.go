package model

import "learncausal/pkg/lanes"

// mlpBlock is the number of sequences that go through the layers together, so that
// a table is read once for all of them.
const mlpBlock = 8

// An mlpPass is that of an mlpEngine. Forward and backward, a block of sequences
// goes through
//
//  1. layer 1 to behind its ReLU, u_i at every position i,
//  2. the attention R of the query in layer 2, from its scores against Y,
//  3. layer 2 at the query, and the logits.
//
// Each piece stands beside its backward pass, in which dv is the gradient of the
// loss by v. Backward passes add to the gradient g of the tables. In matrices that
// are for the block each sequence has a row.
type mlpPass struct {
	e   *mlpEngine
	seq [mlpBlock]mlpSeq

	q, dq lanes.Matrix // x d: u at the query
	z, dz lanes.Matrix // x (n+S): scores of the query against the rows of Y, then its logits without layer 2
	c, dc lanes.Matrix // x n: sum_i R_i of the coordinates of h1_i in Y
	v, dv lanes.Matrix // x d: after the ReLU of layer 2
	f, df lanes.Matrix // x S: logits, then probabilities; df = f - y

	// Of one sequence at a time.
	du     lanes.Matrix // T x d, gradient of u
	dpre   lanes.Matrix // T x d, gradient of the rows of pre
	turned lanes.Matrix // d x T, the transpose of u or of the rows of pre
	dp     lanes.Matrix // T x T, gradient of the attention of layer 1
	outer  lanes.Matrix // 2 x T, R and ds
	inner  lanes.Matrix // 2 x d, what they are multiplied with in du
}

// An mlpSeq is what a pass keeps of one sequence.
type mlpSeq struct {
	r    []int        // T, joint index of each position
	rows              // the attention of layer 1; normalised, so that inv is 1
	pre  lanes.Matrix // T x d, the rows of pre
	u    lanes.Matrix // T x d, after the ReLU of layer 1
	att  []float64    // T, R
	ds   []float64    // T, gradient of R, then of the scores
	loss float64
}

// NewPass returns a pass for e.
func (e *mlpEngine) NewPass() Pass { return e.newPass() }

func (e *mlpEngine) newPass() *mlpPass {
	t, d := e.t, e.d
	p := &mlpPass{
		e: e, du: zeroMatrix(t, d), dpre: zeroMatrix(t, d), turned: zeroMatrix(d, t), dp: zeroMatrix(t, t),
		outer: zeroMatrix(2, t), inner: zeroMatrix(2, d),
	}
	for k := range p.seq {
		v := zeros(2, t)
		p.seq[k] = mlpSeq{
			r: make([]int, t), rows: newRows(t), pre: zeroMatrix(t, d), u: zeroMatrix(t, d), att: v[0], ds: v[1],
		}
	}
	for _, m := range []struct {
		v, dv *lanes.Matrix
		cols  int
	}{{&p.q, &p.dq, d}, {&p.z, &p.dz, e.n + e.s}, {&p.c, &p.dc, e.n}, {&p.v, &p.dv, d}, {&p.f, &p.df, e.s}} {
		*m.v, *m.dv = zeroMatrix(mlpBlock, m.cols), zeroMatrix(mlpBlock, m.cols)
	}
	return p
}

// Losses returns the sum of the losses of the sequences in x and adds its gradient
// to g.
func (p *mlpPass) Losses(x []int, y []float64, g Gradient) float64 {
	s, t, sum := p.e.s, p.e.t, 0.0
	for len(x) > 0 {
		n := min(len(x)/t, mlpBlock)
		p.forward(x[:n*t], n)
		for k := range n {
			sum += crossEntropy(rowOf(p.f, k), rowOf(p.df, k), y[k*s:(k+1)*s])
		}
		if g != nil {
			p.backward(x[:n*t], n, p.e.own(g))
		}
		x, y = x[n*t:], y[n*s:]
	}
	return sum
}

// Losses returns the sum of the losses of the sequences in x and adds its gradient to
// g, a gradient of the same engine.
func (p *mlpPass) Losses(x []int, y []float64, g Gradient) float64 {
	s, t := p.e.s, p.e.t
	checkAll(x, y, s, t)
	loss := 0.0
	for k := range len(x) / t {
		loss += p.Loss(x[k*t:(k+1)*t], y[k*s:(k+1)*s], g)
	}
	return loss
}

// Loss returns the loss of x and adds its gradient to g, a gradient of the same
// engine.
func (p *mlpPass) Loss(x []int, y []float64, g Gradient) float64 {
	check(x, y, p.e.s, p.e.t)
	if y == nil {
		p.forward(x, 1)
		crossEntropy(p.Predictions(), rowOf(p.df, 0), make([]float64, p.e.s))
		return 0
	}
	return p.Losses(x, y, g)
}

// Predictions returns f.
func (p *mlpPass) Predictions() []float64 { return rowOf(p.f, 0) }

// QueryAttention returns R, of the one head of layer 2.
func (p *mlpPass) QueryAttention() [][]float64 { return [][]float64{p.seq[0].att} }

// forward takes n sequences to their logits.
func (p *mlpPass) forward(x []int, n int) {
	e := p.e
	s, t := e.s, e.t
	for k := range n {
		q := &p.seq[k]
		q.first(e, x[k*t:(k+1)*t])
		copy(rowOf(p.q, k), rowOf(q.u, t-1))
		copy(rowOf(p.z, k), rowOf(e.tables.base, x[k*t+t-1]))
	}
	top(p.z, n).AddMul(top(p.q, n), e.tables.last)
	for k := range n {
		p.second(k, x[k*t:(k+1)*t])
	}
	clear(p.v.Data)
	top(p.v, n).AddMul(top(p.c, n), e.tables.next)
	relu(p.v.Data)
	for k := range n {
		copy(rowOf(p.f, k), rowOf(p.z, k)[e.n:e.n+s])
	}
	top(p.f, n).AddMul(top(p.v, n), e.tables.out)
}

// backward takes n sequences back from df.
func (p *mlpPass) backward(x []int, n int, g *mlpGradient) {
	e, t := p.e, p.e.t
	clear(p.dv.Data)
	top(p.dv, n).AddMul(top(p.df, n), e.turned.out)
	g.tables.out.AddMul(top(p.v, n).T(), top(p.df, n))
	reluGrad(p.dv.Data, p.v.Data)
	clear(p.dc.Data)
	top(p.dc, n).AddMul(top(p.dv, n), e.turned.next)
	g.tables.next.AddMul(top(p.c, n).T(), top(p.dv, n))
	clear(p.dz.Data)
	for k := range n {
		p.secondGrad(k, x[k*t:(k+1)*t])
		axpy(rowOf(g.tables.base, x[k*t+t-1]), 1, rowOf(p.dz, k))
	}
	clear(p.dq.Data)
	top(p.dq, n).AddMul(top(p.dz, n), e.turned.last)
	g.tables.last.AddMul(top(p.q, n).T(), top(p.dz, n))
	for k := range n {
		p.behindGrad(k)
		p.firstGrad(&p.seq[k], x[k*t:(k+1)*t], g)
	}
}

// top returns the first n rows of m.
func top(m lanes.Matrix, n int) lanes.Matrix { return part(m, 0, n, m.Cols) }

// part returns rows i to j-1 of m, and of each the first n columns.
func part(m lanes.Matrix, i, j, n int) lanes.Matrix {
	return lanes.Matrix{Rows: j - i, Cols: n, Down: m.Down, Right: m.Right, Data: m.Data[i*m.Down:]}
}

// 1. Layer 1.

// strip is the number of rows of a triangle that are multiplied together.
const strip = 4

// first sets u_i = relu(sum_j P_ij pre[r_j]).
func (q *mlpSeq) first(e *mlpEngine, x []int) {
	t := e.t
	jointIndices(q.r, x, e.s)
	q.attend(&e.scores, x, q.r)
	for i := range t {
		row, inv := q.p[i*t:i*t+i+1], q.inv[i]
		for j, v := range row {
			row[j] = float64(v * inv)
		}
		q.inv[i] = 1
		copy(rowOf(q.pre, i), rowOf(e.tables.pre, q.r[i]))
	}
	clear(q.u.Data)
	p := lanes.Dense(t, t, q.p)
	for i := 0; i < t; i += strip {
		end := min(i+strip, t)
		part(q.u, i, end, e.d).AddMul(part(p, i, end, end), top(q.pre, end))
	}
	relu(q.u.Data)
}

// firstGrad takes du, the gradient of all that was read of u.
func (p *mlpPass) firstGrad(q *mlpSeq, x []int, g *mlpGradient) {
	e := p.e
	t, d, ts := e.t, e.d, e.s*e.t
	reluGrad(p.du.Data, q.u.Data)
	clear(p.dp.Data)
	clear(p.dpre.Data)
	transpose(p.turned, q.pre)
	att := lanes.Dense(t, t, q.p)
	for i := 0; i < t; i += strip {
		end := min(i+strip, t)
		part(p.dp, i, end, end).AddMul(part(p.du, i, end, d), part(p.turned, 0, d, end))
		below := part(att, i, t, end)
		below.Data, below.Cols = below.Data[i:], end-i
		part(p.dpre, i, end, d).AddMul(below.T(), part(p.du, i, t, d))
	}
	for i, r := range q.r {
		axpy(rowOf(g.tables.pre, r), 1, rowOf(p.dpre, i))
		ds := rowOf(p.dp, i)[:i+1]
		softmaxGrad(ds, q.p[i*t:i*t+i+1])
		pos, tok := g.scores.pos[i*ts:(i+1)*ts], g.scores.tok[x[i]*ts:(x[i]+1)*ts]
		for j, z := range ds {
			pos[q.r[j]] += z
			tok[q.r[j]] += z
		}
	}
}

// 2. The attention of layer 2.

// second sets R = softmax(s), where row i of h1 is (x_i, i, 1, u_i) Y and has the
// score
//
//	s_i = z[x_i] + z[S+i] + z[S+T] + z[S+T+1:n] u_i
//
// of which the third term is that of every position and left out; and c, the sum
// of these coordinates under R.
func (p *mlpPass) second(k int, x []int) {
	e, q := p.e, &p.seq[k]
	s, t, one := e.s, e.t, e.s+e.t
	z, c := rowOf(p.z, k), rowOf(p.c, k)
	for i, a := range x {
		q.att[i] = z[a] + z[s+i]
	}
	transpose(p.turned, q.u)
	lanes.Dense(1, t, q.att).AddMul(lanes.Dense(1, e.d, z[one+1:e.n]), p.turned)
	softmax(q.att, q.att)
	clear(c)
	for i, a := range x {
		c[a] += q.att[i]
	}
	copy(c[s:], q.att)
	c[one] = 1
	lanes.Dense(1, e.d, c[one+1:]).AddMul(lanes.Dense(1, t, q.att), q.u)
}

// secondGrad sets ds, the gradient by the scores, and dz.
func (p *mlpPass) secondGrad(k int, x []int) {
	e, q := p.e, &p.seq[k]
	s, t, one := e.s, e.t, e.s+e.t
	dz, dc := rowOf(p.dz, k), rowOf(p.dc, k)
	for i, a := range x {
		q.ds[i] = dc[a] + dc[s+i]
	}
	transpose(p.turned, q.u)
	lanes.Dense(1, t, q.ds).AddMul(lanes.Dense(1, e.d, dc[one+1:]), p.turned)
	softmaxGrad(q.ds, q.att)
	for i, a := range x {
		dz[a] += q.ds[i]
	}
	copy(dz[s:], q.ds)
	lanes.Dense(1, e.d, dz[one+1:e.n]).AddMul(lanes.Dense(1, t, q.ds), q.u)
	copy(dz[e.n:], rowOf(p.df, k))
}

// behindGrad sets du: R and ds times what they were multiplied with, and dq.
func (p *mlpPass) behindGrad(k int) {
	e, q, one := p.e, &p.seq[k], p.e.s+p.e.t
	copy(rowOf(p.outer, 0), q.att)
	copy(rowOf(p.outer, 1), q.ds)
	copy(rowOf(p.inner, 0), rowOf(p.dc, k)[one+1:])
	copy(rowOf(p.inner, 1), rowOf(p.z, k)[one+1:e.n])
	clear(p.du.Data)
	p.du.AddMul(p.outer.T(), p.inner)
	axpy(rowOf(p.du, e.t-1), 1, rowOf(p.dq, k))
}

// relu replaces v by max(0, v).
func relu(v []float64) {
	for i, x := range v {
		v[i] = max(0, x)
	}
}

// reluGrad is the backward pass of relu: it clears dv where the output v is 0.
func reluGrad(dv, v []float64) {
	v = v[:len(dv)]
	for i, x := range v {
		if !(x > 0) {
			dv[i] = 0
		}
	}
}
