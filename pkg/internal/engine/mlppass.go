package engine

import "learncausal/pkg/internal/simd"

// An mlpPass evaluates blocks of sequences, forward and backward, in three steps:
//
//  1. layer 1 up to the output of its ReLU, u_i at every position i,
//  2. the attention R of the query in layer 2, from its scores against Y,
//  3. layer 2 at the query, and the logits.
//
// The backward pass of a step follows its forward pass; there dv is the gradient of the
// loss by v. Backward passes add to the gradient g of the tables.
type mlpPass struct {
	e   *mlpEngine
	n   int      // sequences in the block
	seq []mlpSeq // block

	// A row for each sequence of the block.
	q, dq simd.Matrix // x h: u at the query
	z, dz simd.Matrix // x (n+S): scores of the query against the rows of Y, then its logits without layer 2
	c, dc simd.Matrix // x n: sum_i R_i times the coordinates of h1_i in Y
	v, dv simd.Matrix // x d: output of layer 2's ReLU, or its input if residual
	f, df simd.Matrix // x S: logits, then probabilities; df = f - y

	// One sequence at a time.
	du, duT   simd.Matrix // gradient by u, and its transpose
	pre, dpre simd.Matrix // the keys' rows of pre, and the gradient by them
	self      simd.Matrix // the queries' rows of self
	at        []int       // rows of pre
	top       [1]float64  // the largest score
	total     [1]float64  // the sum of exp(score - top)
	mean      []float64   // <du_i, u_i>
	none      []float64   // zeros
	outer     simd.Matrix // 2 x T, R and ds
	inner     simd.Matrix // 2 x h, their factors in du
}

// mlpBlock is the number of sequences of a block. The bytes do not depend on it.
const mlpBlock = 8

// An mlpSeq holds the values of a pass for one sequence of a block, Padded(T) positions of
// width Padded(h). Entries beyond T and h are zero.
type mlpSeq struct {
	x       []int           // its tokens
	p       *simd.Attention // attention of layer 1
	preT    simd.Matrix     // the keys' rows of pre, transposed
	selfT   simd.Matrix     // the queries' rows of self, transposed
	u, uT   simd.Matrix     // output of layer 1's ReLU, and its transpose
	att, ds []float64       // R; gradient by R, then by the scores
}

func (e *mlpEngine) NewPass() Pass {
	t, h, self := simd.Padded(e.t), simd.Padded(e.h), 0
	if e.residual {
		self = simd.Padded(e.d)
	}
	v := zeros(2, t)
	p := &mlpPass{
		e: e, du: zeroMatrix(t, h), duT: zeroMatrix(h, t), pre: zeroMatrix(t, h), dpre: zeroMatrix(t, h),
		self: zeroMatrix(t, self),
		at:   make([]int, e.t), mean: v[0], none: v[1], outer: zeroMatrix(2, t), inner: zeroMatrix(2, h),
	}
	for _, a := range simd.NewAttentions(mlpBlock, e.t, e.s) {
		v := zeros(2, t)
		p.seq = append(p.seq, mlpSeq{
			x: make([]int, t), p: a,
			preT: zeroMatrix(h, t), selfT: zeroMatrix(self, t), u: zeroMatrix(t, h), uT: zeroMatrix(h, t),
			att: v[0], ds: v[1],
		})
	}
	for _, m := range []struct {
		v, dv *simd.Matrix
		cols  int
	}{{&p.q, &p.dq, e.h}, {&p.z, &p.dz, e.n + e.s}, {&p.c, &p.dc, e.n}, {&p.v, &p.dv, e.d}, {&p.f, &p.df, e.s}} {
		*m.v, *m.dv = zeroMatrix(mlpBlock, m.cols), zeroMatrix(mlpBlock, m.cols)
	}
	return p
}

func (p *mlpPass) Loss(x []int, y []float64, g Gradient) float64 {
	check(x, y, p.e.s, p.e.t)
	if y == nil {
		p.forward(x)
		crossEntropy(rowOf(p.f, 0), rowOf(p.df, 0), make([]float64, p.e.s))
		return 0
	}
	return p.losses(x, y, g)
}

func (p *mlpPass) Losses(x []int, y []float64, g Gradient) float64 {
	checkAll(x, y, p.e.s, p.e.t)
	return p.losses(x, y, g)
}

func (p *mlpPass) losses(x []int, y []float64, to Gradient) (sum float64) {
	var g *mlpGradient
	if to != nil {
		g = p.e.own(to)
	}
	s := p.e.s
	for x, y := range blocks(x, y, s, p.e.t, mlpBlock) {
		p.forward(x)
		for k := range p.n {
			sum += crossEntropy(rowOf(p.f, k), rowOf(p.df, k), y[k*s:(k+1)*s])
		}
		if g != nil {
			p.backward(g)
		}
	}
	return sum
}

func (p *mlpPass) Predictions() []float64 { return rowOf(p.f, p.n-1) }

func (p *mlpPass) forward(x []int) {
	e := p.e
	p.n = len(x) / e.t
	for k := range p.n {
		q := &p.seq[k]
		copy(q.x, x[k*e.t:(k+1)*e.t])
		p.first(q)
		copy(rowOf(p.q, k), rowOf(q.u, e.t-1))
		copy(rowOf(p.z, k), rowOf(e.tables.base, q.x[e.t-1]))
	}
	p.rows(p.z).AddMul(p.rows(p.q), e.tables.last)
	for k := range p.n {
		p.second(k)
	}
	p.output()
}

func (p *mlpPass) backward(g *mlpGradient) {
	e := p.e
	p.outputGrad(g)
	for k := range p.n {
		p.secondGrad(k)
		simd.AddRows(g.tables.base, from(p.dz, k, k+1, 0, p.dz.Cols), p.seq[k].x[e.t-1:e.t])
	}
	clear(p.dq.Data)
	p.rows(p.dq).AddMul(p.rows(p.dz), e.turned.last)
	g.tables.last.AddMul(p.rows(p.q).T(), p.rows(p.dz))
	for k := range p.n {
		p.firstGrad(k, g)
	}
}

// rows returns the block's rows of m.
func (p *mlpPass) rows(m simd.Matrix) simd.Matrix {
	m.Rows = p.n
	return m
}

// from returns rows i to j-1 of m, columns k to l-1.
func from(m simd.Matrix, i, j, k, l int) simd.Matrix {
	m.Rows, m.Cols, m.Data = j-i, l-k, m.Data[i*m.Down+k*m.Right:]
	return m
}

// 1. Layer 1.

// first sets u_i = relu(self[r_i] + sum_j P_ij pre[r_j]), without the ReLU in entries d to h-1.
func (p *mlpPass) first(q *mlpSeq) {
	e, t := p.e, p.e.t
	e.head.attend(q.p, q.x)
	for j, token := range q.x[:t] {
		copy(rowOf(p.pre, j), rowOf(e.tables.pre, j*e.s+token))
	}
	turn(q.preT, p.pre)
	clear(q.uT.Data)
	if e.residual {
		for i, token := range q.x[:t] {
			copy(rowOf(p.self, i), rowOf(e.tables.self, i*e.s+token))
		}
		turn(q.selfT, p.self)
		copy(q.uT.Data, q.selfT.Data)
	}
	const strip = 16
	for i := 0; i < t; i += strip {
		end := min(i+strip, t)
		from(q.uT, 0, q.uT.Rows, i, end).AddMul(from(q.preT, 0, q.uT.Rows, 0, end), from(q.p.Keys(), 0, end, i, end))
	}
	simd.Rectify(q.uT.Data[:e.d*q.uT.Down])
	turn(q.u, q.uT)
}

// firstGrad goes back through layer 1. du is dq at the query, plus R and ds times their
// factors in layer 2. The gradient by row i of P has the mean <du_i, sum_j P_ij pre[r_j]>,
// where each entry of du_i is zero unless the sum is u_i there, less self[r_i].
func (p *mlpPass) firstGrad(k int, g *mlpGradient) {
	e, q, one := p.e, &p.seq[k], p.e.s+p.e.t
	copy(rowOf(p.outer, 0), q.att)
	copy(rowOf(p.outer, 1), q.ds)
	copy(rowOf(p.inner, 0), rowOf(p.dc, k)[one+1:])
	copy(rowOf(p.inner, 1), rowOf(p.z, k)[one+1:e.n])
	clear(p.duT.Data)
	p.duT.AddMul(p.inner.T(), p.outer)
	for i, x := range rowOf(p.dq, k) {
		p.duT.Data[i*p.duT.Down+e.t-1] += x
	}
	clear(p.mean)
	relu := e.d * q.uT.Down
	simd.RectifyGrad(p.duT.Data[:relu], q.uT.Data[:relu], p.mean)
	if e.residual {
		for k := range e.d {
			du, rest := rowOf(p.duT, k), rowOf(p.duT, e.d+k)
			self, u := rowOf(q.selfT, k), rowOf(q.uT, e.d+k)
			for i := range p.mean {
				p.mean[i] += float64(rest[i]*u[i]) - float64(du[i]*self[i])
			}
		}
	}
	q.p.Back(g.head, simd.Rank{Queries: p.duT.Data, Keys: q.preT.Data, Mean: p.mean, Last: p.none}, q.x)
	turn(p.du, p.duT)
	clear(p.dpre.Data)
	const strip = 16
	for j := 0; j < e.t; j += strip {
		end := min(j+strip, e.t)
		from(p.dpre, j, end, 0, e.h).AddMul(from(q.p.Keys(), j, end, j, e.t), from(p.du, j, e.t, 0, e.h))
	}
	for j, token := range q.x[:e.t] {
		p.at[j] = j*e.s + token
	}
	simd.AddRows(g.tables.pre, from(p.dpre, 0, e.t, 0, e.h), p.at)
	if e.residual {
		simd.AddRows(g.tables.self, from(p.du, 0, e.t, 0, e.d), p.at)
	}
}

// turn sets a to the transpose of b.
func turn(a, b simd.Matrix) { simd.Transpose(a.Data, b.Data, b.Rows, b.Cols) }

// 2. The attention of layer 2.

// second sets R = softmax(s), where row i of h1 is (x_i, i, 1, u_i) Y and has the score
//
//	s_i = z[x_i] + z[S+i] + z[S+T] + z[S+T+1:n] u_i
//
// without the third term, which is equal at all positions; and c, the sum of these coordinates under R.
func (p *mlpPass) second(k int) {
	e, q := p.e, &p.seq[k]
	t, one := e.t, e.s+e.t
	z, c := rowOf(p.z, k), rowOf(p.c, k)
	gather(q.att, z, q.x[:t], e.s)
	row(q.att[:t]).AddMul(row(z[one+1:e.n]), from(q.uT, 0, e.h, 0, t))
	simd.Softmax(simd.Matrix{Rows: 1, Cols: t, Down: t, Right: 1, Data: q.att}, p.top[:], p.total[:])
	clear(c)
	spread(c, q.att, q.x[:t], e.s)
	c[one] = 1
	row(c[one+1:]).AddMul(row(q.att[:t]), from(q.u, 0, t, 0, e.h))
}

// secondGrad sets ds, by R and then by the scores, and dz.
func (p *mlpPass) secondGrad(k int) {
	e, q := p.e, &p.seq[k]
	t, one := e.t, e.s+e.t
	dz, dc := rowOf(p.dz, k), rowOf(p.dc, k)
	gather(q.ds, dc, q.x[:t], e.s)
	row(q.ds[:t]).AddMul(row(dc[one+1:]), from(q.uT, 0, e.h, 0, t))
	softmaxGrad(q.ds, q.att)
	clear(dz)
	spread(dz, q.ds, q.x[:t], e.s)
	row(dz[one+1:e.n]).AddMul(row(q.ds[:t]), from(q.u, 0, t, 0, e.h))
	copy(dz[e.n:], rowOf(p.df, k))
}

// 3. Layer 2 at the query, and the logits.

// output sets v = relu(c next), without the ReLU if residual, and f = z[n:] + v out.
func (p *mlpPass) output() {
	e := p.e
	clear(p.v.Data)
	p.rows(p.v).AddMul(p.rows(p.c), e.tables.next)
	if !e.residual {
		simd.Rectify(p.v.Data)
	}
	for k := range p.n {
		copy(rowOf(p.f, k), rowOf(p.z, k)[e.n:])
	}
	p.rows(p.f).AddMul(p.rows(p.v), e.tables.out)
}

// outputGrad sets dc.
func (p *mlpPass) outputGrad(g *mlpGradient) {
	e := p.e
	clear(p.dv.Data)
	p.rows(p.dv).AddMul(p.rows(p.df), e.turned.out)
	g.tables.out.AddMul(p.rows(p.v).T(), p.rows(p.df))
	for i, x := range p.v.Data {
		if x == 0 && !e.residual {
			p.dv.Data[i] = 0
		}
	}
	clear(p.dc.Data)
	p.rows(p.dc).AddMul(p.rows(p.dv), e.turned.next)
	g.tables.next.AddMul(p.rows(p.c).T(), p.rows(p.dv))
}

// row returns v as a matrix of one row.
func row(v []float64) simd.Matrix { return simd.Dense(1, len(v), v) }

// gather sets v, of length T, to h0 h: v_i = h_{x_i} + h_{S+i}. For one row of ten tokens it
// is faster than simd.Collect.
func gather(v, h []float64, x []int, s int) {
	for i, token := range x {
		v[i] = h[token] + h[s+i]
	}
}

// spread sets h, zero in its first S+T entries, to v h0: the transpose of gather.
func spread(h, v []float64, x []int, s int) {
	for i, token := range x {
		h[token] += v[i]
		h[s+i] = v[i]
	}
}
