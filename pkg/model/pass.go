package model

import (
	"math"

	"learncausal/pkg/lanes"
	"learncausal/pkg/num"
)

// block is the number of sequences that go through the matrices together. The bytes
// do not depend on it.
const block = 8

// A pass is that of an engine. It takes sequences in blocks. Forward and backward, it
// goes through
//
//  1. the attention P_h of each head h of layer 1, and with its last row h1_{T-1};
//
// for each head l of layer 2,
//
//  2. its query q_l = A2_l^T h1_{T-1},
//  3. its attention R_l = softmax(q_l h1_i over the positions i), and with it
//     (R_l h1), a part of h2_{T-1};
//
// and
//
//  4. the logits h2_{T-1} W.
//
// Each piece stands beside its backward pass, in which dv is the gradient of the
// loss by v. Backward passes add to the gradient g of the tables.
type pass struct {
	e         *engine
	n         int        // sequences in the block
	sequence  []sequence // block
	f, df     []float64  // block x Padded(S), logits, then probabilities; df = f - y
	h2, dh2   []float64  // block x (1+n)(1+m)d, h2_{T-1}, of which h1_{T-1} is the beginning
	q, dq     [][]float64
	logZ      []float64 // block, of the logits
	mean      []float64 // Padded(T)
	last      []float64 // Padded(T)
	transient []float64 // Padded(T)
}

// A sequence is what a pass keeps for one of a block. Vectors over positions have
// Padded(T) entries.
type sequence struct {
	x       []int              // its tokens
	p       []*lanes.Attention // m, of the heads of layer 1
	queries []float64          // for each head of layer 2, its attention R and ds, gradient by R and then by the scores
	link    []link             // m
}

// A link is what a pass keeps for a head of layer 1, with attention P. For each head of
// layer 2 keys has dc, the gradient of c = R P, the weights of the keys in R P h0, and
// b_j = q h0_j, what key j is worth to the query by way of this head; and sums P dc, the
// part of this head in dR, and P b, its part in the scores of layer 2. So the gradient by
// P_ij is the sum over the rows of queries and of keys of queries_i keys_j, and sums are
// P keys.
type link struct{ keys, sums []float64 }

// NewPass returns a pass for e.
func (e *engine) NewPass() Pass {
	t, wide := lanes.Padded(e.t), (1+e.n)*e.wide
	v, f, h := zeros(3, t), zeros(2, block*lanes.Padded(e.s)), zeros(2, block*wide)
	p := &pass{
		e: e, f: f[0], df: f[1], h2: h[0], dh2: h[1], q: zeros(e.n, block*e.wide), dq: zeros(e.n, block*e.wide),
		logZ: make([]float64, block), mean: v[0], last: v[1], transient: v[2],
	}
	for range block {
		s := sequence{x: make([]int, t), queries: make([]float64, 2*e.n*t)}
		for range e.m {
			s.p = append(s.p, lanes.NewAttention(e.t, e.s))
			v := zeros(2, len(s.queries))
			s.link = append(s.link, link{v[0], v[1]})
		}
		p.sequence = append(p.sequence, s)
	}
	return p
}

// Loss returns the loss of x and adds its gradient to g, a gradient of the same
// engine.
func (p *pass) Loss(x []int, y []float64, g Gradient) float64 {
	check(x, y, p.e.s, p.e.t)
	if y == nil {
		p.forward(x)
		return 0
	}
	return p.losses(x, y, g)
}

// Losses returns the sum of the losses of the sequences in x and adds its gradient to
// g, a gradient of the same engine.
func (p *pass) Losses(x []int, y []float64, g Gradient) float64 {
	checkAll(x, y, p.e.s, p.e.t)
	return p.losses(x, y, g)
}

func (p *pass) losses(x []int, y []float64, g Gradient) float64 {
	var back func()
	if g != nil {
		own := p.e.own(g)
		back = func() { p.backward(own) }
	}
	return inBlocks(x, y, p.e.s, p.e.t, p.forward, p.crossEntropy, back)
}

// inBlocks takes sequences of t positions over s tokens through a pass, in blocks:
// forward, then loss of each number in the block and its target y, and back, if there is
// one. It returns the sum of the losses.
func inBlocks(
	x []int, y []float64, s, t int,
	forward func(x []int), loss func(k int, y []float64) float64, back func(),
) (sum float64) {
	for len(x) > 0 {
		n := min(len(x)/t, block)
		forward(x[:n*t])
		for k := range n {
			sum += loss(k, y[k*s:(k+1)*s])
		}
		if back != nil {
			back()
		}
		x, y = x[n*t:], y[n*s:]
	}
	return sum
}

// Predictions returns f of the last sequence.
func (p *pass) Predictions() []float64 {
	s := lanes.Padded(p.e.s)
	return p.f[(p.n-1)*s:][:p.e.s]
}

// QueryAttention returns R_l of each head l of layer 2 for the last sequence.
func (p *pass) QueryAttention() [][]float64 {
	all, t := make([][]float64, p.e.n), lanes.Padded(p.e.t)
	for l := range all {
		all[l] = p.sequence[p.n-1].queries[2*l*t:][:p.e.t]
	}
	return all
}

func (p *pass) forward(x []int) {
	e := p.e
	p.n = len(x) / e.t
	for k := range p.n {
		copy(p.sequence[k].x, x[k*e.t:(k+1)*e.t])
		p.first(k)
	}
	for l := range e.layer {
		p.query(l)
		for k := range p.n {
			p.second(k, l)
		}
	}
	p.output()
}

func (p *pass) backward(g *gradient) {
	p.outputGrad(g)
	for l := range p.e.layer {
		for k := range p.n {
			p.secondGrad(k, l)
		}
		p.queryGrad(l, g)
	}
	for k := range p.n {
		p.firstGrad(k, g)
	}
}

// rows returns the columns from begin on of the block's rows of m, which has the given
// number of columns.
func (p *pass) rows(m []float64, columns, begin int) lanes.Matrix {
	return lanes.Matrix{Rows: p.n, Cols: columns - begin, Down: columns, Right: 1, Data: m[begin:]}
}

// spread sets h to the combination v of the rows of h0, over tokens and positions.
func (p *pass) spread(h, v []float64, x []int) {
	s, t := p.e.s, p.e.t
	lanes.Spread(h[:s], v[:t], x[:t])
	copy(h[s:], v[:t])
}

// gather sets v to the products of the rows of h0 with h, the transpose of spread.
func (p *pass) gather(v, h []float64, x []int) {
	s, t := p.e.s, p.e.t
	lanes.Collect(v[:t], h[:s], h[s:s+t], x[:t])
}

// part returns where in a row of h2 the part is that belongs to head h of layer 1 (0
// for h0 itself) as it is read by head l of layer 2 (0 for the query's own).
func (p *pass) part(h, l int) int { return l*p.e.wide + h*p.e.d }

// 1. Layer 1.

// first fills P_h of sequence k, and h1_{T-1} but for its first part.
func (p *pass) first(k int) {
	e, s := p.e, &p.sequence[k]
	h2 := p.h2[k*(1+e.n)*e.wide:]
	for h, a := range s.p {
		e.head[h].attend(a, s.x)
		keys := a.Keys()
		for j := range e.t {
			p.last[j] = keys.Data[j*keys.Down+e.t-1]
		}
		p.spread(h2[p.part(1+h, 0):], p.last, s.x)
	}
}

// firstGrad goes back through layer 1: dP_ij is the sum of R_i dc_j + ds_i b_j over the
// heads of layer 2, and what the gradient of h1_{T-1} has for j in the last row; then
// through the softmax of each row.
func (p *pass) firstGrad(k int, g *gradient) {
	e, s := p.e, &p.sequence[k]
	dh2 := p.dh2[k*(1+e.n)*e.wide:]
	n := e.t - 1
	for h, a := range s.p {
		o := &s.link[h]
		p.gather(p.last, dh2[p.part(1+h, 0):], s.x)
		clear(p.mean)
		for r := 0; r < len(s.queries); r += len(p.mean) {
			addProducts(p.mean, s.queries[r:], o.sums[r:])
		}
		keys, last := a.Keys(), p.mean[n]
		for j, v := range p.last[:e.t] {
			last += float64(keys.Data[j*keys.Down+n] * v)
		}
		p.mean[n] = last
		a.Back(g.head[h], lanes.Rank{Queries: s.queries, Keys: o.keys, Mean: p.mean, Last: p.last}, s.x)
	}
}

// addProducts adds a_i b_i to y_i.
func addProducts(y, a, b []float64) {
	a, b = a[:len(y)], b[:len(y)]
	for i := range y {
		y[i] += float64(a[i] * b[i])
	}
}

// 2. The query of a head of layer 2.

// query sets q = A2_l^T h1_{T-1}.
func (p *pass) query(l int) {
	e, t := p.e, &p.e.layer[l]
	for k := range p.n {
		copy(p.q[l][k*e.wide:(k+1)*e.wide], t.query[p.sequence[k].x[e.t-1]*e.wide:])
	}
	h1 := p.rows(p.h2, (1+e.n)*e.wide, e.d)
	h1.Cols = e.wide - e.d
	p.rows(p.q[l], e.wide, 0).AddMul(h1, t.rest)
}

// queryGrad adds to the gradient of h1_{T-1}, given dq.
func (p *pass) queryGrad(l int, g *gradient) {
	e, t := p.e, &p.e.layer[l]
	for k := range p.n {
		token := p.sequence[k].x[e.t-1]
		axpy(g.layer[l].query[token*e.wide:(token+1)*e.wide], 1, p.dq[l][k*e.wide:])
	}
	h1, dh1 := p.rows(p.h2, (1+e.n)*e.wide, e.d), p.rows(p.dh2, (1+e.n)*e.wide, e.d)
	h1.Cols, dh1.Cols = e.wide-e.d, e.wide-e.d
	dq := p.rows(p.dq[l], e.wide, 0)
	dh1.AddMul(dq, t.back)
	g.layer[l].rest.AddMul(h1.T(), dq)
}

// 3. The attention of a head of layer 2.

// second sets R = softmax(q h1_i), where h1_i has h0_i in its first d entries and
// (P_h h0)_i in those that follow, and the part of h2_{T-1} that is (R h1).
func (p *pass) second(k, l int) {
	e, s := p.e, &p.sequence[k]
	q, h2 := p.q[l][k*e.wide:(k+1)*e.wide], p.h2[k*(1+e.n)*e.wide:]
	t := lanes.Padded(e.t)
	att := s.queries[2*l*t:][:t]
	p.gather(att, q, s.x)
	for h, a := range s.p {
		b, v := s.link[h].keys[(2*l+1)*t:][:t], s.link[h].sums[(2*l+1)*t:][:t]
		p.gather(b, q[(1+h)*e.d:], s.x)
		a.Combine(v, b)
		for i, x := range v {
			att[i] += x
		}
	}
	for i := e.t; i < t; i++ {
		att[i] = math.Inf(-1)
	}
	lanes.Softmax(att)
	p.spread(h2[p.part(0, 1+l):], att, s.x)
	for h, a := range s.p {
		c := p.transient
		a.Dots(c, att)
		p.spread(h2[p.part(1+h, 1+l):], c, s.x)
	}
}

// secondGrad sets dc, u, ds, which is then the gradient by the scores, and dq.
func (p *pass) secondGrad(k, l int) {
	e, s := p.e, &p.sequence[k]
	dq, dh2 := p.dq[l][k*e.wide:(k+1)*e.wide], p.dh2[k*(1+e.n)*e.wide:]
	t := lanes.Padded(e.t)
	att, ds := s.queries[2*l*t:][:t], s.queries[(2*l+1)*t:][:t]
	p.gather(ds, dh2[p.part(0, 1+l):], s.x)
	for h, a := range s.p {
		dc, u := s.link[h].keys[2*l*t:][:t], s.link[h].sums[2*l*t:][:t]
		p.gather(dc, dh2[p.part(1+h, 1+l):], s.x)
		a.Combine(u, dc)
		for i, x := range u {
			ds[i] += x
		}
	}
	softmaxGrad(ds, att)
	p.spread(dq, ds, s.x)
	for h, a := range s.p {
		db := p.transient
		a.Dots(db, ds)
		p.spread(dq[(1+h)*e.d:], db, s.x)
	}
}

// 4. The logits.

// output sets f to the predictions and df to the logits.
func (p *pass) output() {
	e, t := p.e, &p.e.out
	s := lanes.Padded(e.s)
	for k := range p.n {
		f := p.f[k*s : (k+1)*s]
		copy(f, t.query[p.sequence[k].x[e.t-1]*e.s:][:e.s])
		for i := e.s; i < s; i++ {
			f[i] = math.Inf(-1)
		}
	}
	f := p.rows(p.f, s, 0)
	f.Cols = e.s
	f.AddMul(p.rows(p.h2, (1+e.n)*e.wide, e.d), t.rest)
	copy(p.df, p.f)
	for k := range p.n {
		top, sum := lanes.Softmax(p.f[k*s : (k+1)*s])
		p.logZ[k] = top + num.Log(sum)
	}
}

// crossEntropy returns the loss of sequence k, -sum_s y_s log f_s, and sets df.
func (p *pass) crossEntropy(k int, y []float64) (loss float64) {
	s := lanes.Padded(p.e.s)
	f, df := p.f[k*s:][:len(y)], p.df[k*s:][:len(y)]
	for i, v := range y {
		loss += float64(v * (p.logZ[k] - df[i]))
		df[i] = f[i] - v
	}
	return loss
}

// outputGrad sets the gradient of h2_{T-1}.
func (p *pass) outputGrad(g *gradient) {
	e, t := p.e, &p.e.out
	s, wide := lanes.Padded(e.s), (1+e.n)*e.wide
	for k := range p.n {
		token := p.sequence[k].x[e.t-1]
		axpy(g.out.query[token*e.s:(token+1)*e.s], 1, p.df[k*s:])
	}
	df := p.rows(p.df, s, 0)
	df.Cols = e.s
	clear(p.dh2[:p.n*wide])
	p.rows(p.dh2, wide, e.d).AddMul(df, t.back)
	g.out.rest.T().AddMul(df.T(), p.rows(p.h2, wide, e.d))
}
