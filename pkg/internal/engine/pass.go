package engine

import (
	"iter"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/num"
)

// A pass evaluates blocks of sequences, forward and backward, in four steps:
//
//  1. the attention P_h of each head h of layer 1, and from its last row h1_{T-1};
//
// for each head l of layer 2,
//
//  2. its query q_l = A2_l^T h1_{T-1},
//  3. its attention R_l = softmax(q_l h1_i over the positions i), and from it
//     (R_l h1), a part of h2_{T-1};
//
// and
//
//  4. the logits h2_{T-1} W.
//
// The backward pass of a step follows its forward pass; there dv is the gradient of the
// loss by v. Backward passes add to the gradient g of the tables.
//
// Arrays have a row for each sequence of the block. A vector over positions has Padded(T)
// entries, and several vectors of one sequence form one row.
//
// A block whose attention exceeds the cache goes through the matrices of layer 2 together,
// and through the attention one sequence after the other; see parts.go.
type pass struct {
	e       *engine
	t       int // Padded(T)
	block   int
	whole   bool        // the block is its only part
	parts   []*pass     // of the block, sharing its memory; a part has no parts
	n       int         // sequences in the block
	x       []int       // block x t, their tokens
	token   []int       // block, the tokens of the queries
	f, df   []float64   // block x Padded(S), logits, then probabilities; df = f - y
	h2, dh2 []float64   // block x (1+n)(1+m)d, h2_{T-1}, which begins with h1_{T-1}
	q, dq   [][]float64 // n of block x Padded((1+m)d)
	top     []float64   // block, the largest score or logit
	total   []float64   // block, the sum of exp(score or logit - top)

	queries   []float64 // block x n x 2 t: R of each head of layer 2, and ds, its gradient by R, then by the scores
	link      []link    // m, the heads of layer 1
	mean      []float64 // block x t
	transient []float64 // block x t
	ends      []float64 // block x 2 n, queries at T-1
}

// A link holds the values of a pass for one head of layer 1, with attention P. For each head of layer 2, keys
// has dc, the gradient by c = R P (the weights of the keys in R P h0), and b_j = q h0_j, the score of key j
// through this head. sums has P dc, the term of this head in dR, and P b, its term in the scores of layer 2.
// The gradient by P_ij is therefore the sum of queries_i keys_j over the vectors, and sums = P keys.
type link struct {
	p          []*simd.Attention // block, or one for all parts
	keys, sums []float64         // block x n x 2 t
	last       []float64         // block x t, the last row of P
	posTok     []float64         // block x Padded(S) x t, sums of [simd.Attention.Gather]; empty for a whole block
}

// blockSize returns the number of sequences of a block, given m heads in the first layer
// and t entries in vectors over positions. A larger block reads the matrices less often;
// a smaller one keeps its attention in the cache. The bytes do not depend on it.
func blockSize(m, t float64) float64 {
	if m*t*t > 1<<12 && !inParts(m, t) {
		return 8
	}
	return 16
}

func (e *engine) NewPass() Pass {
	m, t := float64(e.m), float64(simd.Padded(e.t))
	block := int(blockSize(m, t))
	if inParts(m, t) {
		return e.newPass(block, 1)
	}
	return e.newPass(block, block)
}

// newPass returns a pass that stores the attention of all sequences of a block, or of one at a time.
func (e *engine) newPass(block, attended int) *pass {
	t, wide, row, posTok := simd.Padded(e.t), (1+e.n)*e.wide, simd.Padded(e.wide), 0
	whole := attended == block
	if !whole {
		posTok = block * simd.Padded(e.s) * t
	}
	v, f, h := zeros(2, block*t), zeros(2, block*simd.Padded(e.s)), zeros(2, block*wide)
	p := &pass{
		e: e, t: t, block: block, whole: whole, x: make([]int, block*t), token: make([]int, block),
		f: f[0], df: f[1], h2: h[0], dh2: h[1], q: zeros(e.n, block*row), dq: zeros(e.n, block*row),
		top: make([]float64, block), total: make([]float64, block),
		queries: make([]float64, block*2*e.n*t), mean: v[0], transient: v[1], ends: make([]float64, block*2*e.n),
	}
	attention := simd.NewAttentions(e.m*attended, e.t, e.s)
	for h := range e.m {
		v := zeros(2, len(p.queries))
		p.link = append(p.link, link{
			attention[h*attended:][:attended], v[0], v[1], make([]float64, block*t), make([]float64, posTok),
		})
	}
	if whole {
		p.parts = []*pass{p}
		return p
	}
	for k := range block {
		p.parts = append(p.parts, p.part(k))
	}
	return p
}

func (p *pass) Loss(x []int, y []float64, g Gradient) float64 {
	check(x, y, p.e.s, p.e.t)
	if y == nil {
		p.begin(x)
		p.used()[0].forward()
		return 0
	}
	return p.losses(x, y, g)
}

func (p *pass) Losses(x []int, y []float64, g Gradient) float64 {
	checkAll(x, y, p.e.s, p.e.t)
	return p.losses(x, y, g)
}

func (p *pass) losses(x []int, y []float64, to Gradient) (sum float64) {
	var g *gradient
	if to != nil {
		g = p.e.own(to)
	}
	s := p.e.s
	for x, y := range blocks(x, y, s, p.e.t, p.block) {
		p.begin(x)
		for _, q := range p.used() {
			q.forward()
			for k := range q.n {
				sum += q.crossEntropy(k, y[:s])
				y = y[s:]
			}
			if g != nil {
				q.backward(g)
			}
		}
		if g != nil {
			p.end(g)
		}
	}
	return sum
}

// blocks yields the sequences of t positions over s tokens, with their targets, n at a
// time; the last block may be smaller.
func blocks(x []int, y []float64, s, t, n int) iter.Seq2[[]int, []float64] {
	return func(yield func(x []int, y []float64) bool) {
		for len(x) > 0 {
			n := min(len(x)/t, n)
			if !yield(x[:n*t], y[:n*s]) {
				return
			}
			x, y = x[n*t:], y[n*s:]
		}
	}
}

func (p *pass) Predictions() []float64 {
	return p.of(p.f, p.n-1)[:p.e.s]
}

// begin evaluates the sequences x, at most a block, up to the queries of layer 2.
func (p *pass) begin(x []int) {
	e := p.e
	p.n = len(x) / e.t
	for k := range p.n {
		copy(p.x[k*p.t:], x[k*e.t:(k+1)*e.t])
		p.token[k] = x[(k+1)*e.t-1]
	}
	if p.whole {
		p.first()
	} else {
		p.attendLast()
	}
	for l := range e.layer {
		p.query(l)
	}
}

// used returns the parts with sequences.
func (p *pass) used() []*pass { return p.parts[:min(p.n, len(p.parts))] }

// forward continues a part up to the logits.
func (p *pass) forward() {
	if !p.whole {
		p.attend()
	}
	for l := range p.e.layer {
		p.second(l)
	}
	p.output()
}

// backward goes back from the logits of a part to its queries.
func (p *pass) backward(g *gradient) {
	p.outputGrad(g)
	for l := range p.e.layer {
		p.secondGrad(l)
	}
	if !p.whole {
		p.attendGrad(g)
	}
}

// end is the backward pass of begin.
func (p *pass) end(g *gradient) {
	for l := range p.e.layer {
		p.queryGrad(l, g)
	}
	if p.whole {
		p.firstGrad(g)
	} else {
		p.lastsGrad(g)
	}
}

// of returns the row of sequence k in v.
func (p *pass) of(v []float64, k int) []float64 {
	n := len(v) / p.block
	return v[k*n : (k+1)*n]
}

// rows returns a range of columns of the block's rows of v.
func (p *pass) rows(v []float64, begin, columns int) simd.Matrix {
	return simd.Matrix{Rows: p.n, Cols: columns, Down: len(v) / p.block, Right: 1, Data: v[begin:]}
}

// vectors returns vector i over positions in the block's rows of v.
func (p *pass) vectors(v []float64, i int) simd.Matrix { return p.rows(v, i*p.t, p.e.t) }

// padded returns row k of vectors over positions, Padded(T) entries.
func (p *pass) padded(m simd.Matrix, k int) []float64 { return m.Data[k*m.Down:][:p.t] }

// spread sets the rows of h, S+T columns from begin on, to v h0, the combinations of the two-hot rows of h0.
func (p *pass) spread(h []float64, begin int, v simd.Matrix) {
	simd.Spread(p.rows(h, begin, p.e.d), v, p.x[:p.n*p.t])
}

// gather sets v to h h0^T, for S+T columns of h from begin on: the transpose of spread.
func (p *pass) gather(v simd.Matrix, h []float64, begin int) {
	simd.Collect(v, p.rows(h, begin, p.e.d), p.x[:p.n*p.t])
}

// at returns the first column in h2 of the part that belongs to head h of layer 1 (0 for
// h0 itself) as head l of layer 2 reads it (0 for the query's own stream).
func (p *pass) at(h, l int) int { return l*p.e.wide + h*p.e.d }

// 1. Layer 1.

// first sets P_h, and h1_{T-1} after its first part, h0_{T-1}.
func (p *pass) first() {
	e := p.e
	for h := range p.link {
		o := &p.link[h]
		for k, a := range o.p[:p.n] {
			e.head[h].attend(a, p.x[k*p.t:][:p.t])
			keys, last := a.Keys(), p.of(o.last, k)[:e.t]
			for j := range last {
				last[j] = keys.Data[j*keys.Down+e.t-1]
			}
		}
		p.spread(p.h2, p.at(1+h, 0), p.vectors(o.last, 0))
	}
}

// firstGrad goes back through layer 1. dP_ij is the sum of R_i dc_j + ds_i b_j over the heads of layer 2; the
// last row has the gradient by h1_{T-1} at j besides. Then it goes back through the softmax of each row.
func (p *pass) firstGrad(g *gradient) {
	e := p.e
	for h := range p.link {
		o := &p.link[h]
		dlast := p.vectors(p.transient, 0)
		p.gather(dlast, p.dh2, p.at(1+h, 0))
		size := p.n * len(p.queries) / p.block
		simd.SumProducts(p.mean[:p.n*p.t], p.queries[:size], o.sums[:size], p.t)
		for k := range p.n {
			mean, d := p.of(p.mean, k), p.padded(dlast, k)
			sum := mean[e.t-1]
			for j, v := range p.of(o.last, k)[:e.t] {
				sum += float64(v * d[j])
			}
			mean[e.t-1] = sum
		}
		for k, a := range o.p[:p.n] {
			a.Back(g.head[h], simd.Rank{
				Queries: p.of(p.queries, k), Keys: p.of(o.keys, k), Mean: p.of(p.mean, k), Last: p.padded(dlast, k),
			}, p.x[k*p.t:][:p.t])
		}
	}
}

// 2. The query of a head of layer 2.

// query sets q = A2_l^T h1_{T-1}.
func (p *pass) query(l int) {
	e, t := p.e, &p.e.layer[l]
	for k, token := range p.token[:p.n] {
		copy(p.of(p.q[l], k), rowOf(t.query, token))
	}
	p.rows(p.q[l], 0, e.wide).AddMul(p.rows(p.h2, e.d, e.wide-e.d), t.rest)
}

// queryGrad adds A2_l dq to dh1_{T-1}.
func (p *pass) queryGrad(l int, g *gradient) {
	e, t := p.e, &p.e.layer[l]
	dq := p.rows(p.dq[l], 0, e.wide)
	simd.AddRows(g.layer[l].query, dq, p.token[:p.n])
	p.rows(p.dh2, e.d, e.wide-e.d).AddMul(dq, t.back)
	g.layer[l].rest.AddMul(p.rows(p.h2, e.d, e.wide-e.d).T(), dq)
}

// 3. The attention of a head of layer 2.

// second sets R = softmax(q h1_i) and (R h1), a part of h2_{T-1}. h1_i has h0_i in its
// first d entries and (P_h h0)_i in d entries for each head h.
func (p *pass) second(l int) {
	e := p.e
	r := p.vectors(p.queries, 2*l)
	p.gather(r, p.q[l], 0)
	for h := range p.link {
		o := &p.link[h]
		b, v := p.vectors(o.keys, 2*l+1), p.vectors(o.sums, 2*l+1)
		p.gather(b, p.q[l], (1+h)*e.d)
		for k, a := range o.p[:p.n] {
			a.Combine(p.padded(v, k), p.padded(r, k), p.padded(b, k))
		}
	}
	p.softmax(r)
	p.spread(p.h2, p.at(0, 1+l), r)
	for h := range p.link {
		p.spread(p.h2, p.at(1+h, 1+l), p.dots(h, r))
	}
}

// softmax replaces the block's rows of m by their softmax, and sets top and total.
func (p *pass) softmax(m simd.Matrix) { simd.Softmax(m, p.top[:p.n], p.total[:p.n]) }

// dots returns P_h^T v. The next call overwrites the result.
func (p *pass) dots(h int, v simd.Matrix) simd.Matrix {
	c := p.vectors(p.transient, 0)
	for k, a := range p.link[h].p[:p.n] {
		a.Dots(p.padded(c, k), p.padded(v, k))
	}
	return c
}

// secondGrad sets dc, P dc, ds (by R, then by the scores) and dq.
func (p *pass) secondGrad(l int) {
	e := p.e
	r, ds := p.vectors(p.queries, 2*l), p.vectors(p.queries, 2*l+1)
	p.gather(ds, p.dh2, p.at(0, 1+l))
	for h := range p.link {
		o := &p.link[h]
		dc, u := p.vectors(o.keys, 2*l), p.vectors(o.sums, 2*l)
		p.gather(dc, p.dh2, p.at(1+h, 1+l))
		for k, a := range o.p[:p.n] {
			a.Combine(p.padded(u, k), p.padded(ds, k), p.padded(dc, k))
		}
	}
	for k := range p.n {
		softmaxGrad(p.padded(ds, k), p.padded(r, k))
	}
	p.spread(p.dq[l], 0, ds)
	for h := range p.link {
		p.spread(p.dq[l], (1+h)*e.d, p.dots(h, ds))
	}
}

// 4. The logits.

// output sets f to the predictions and df to the logits.
func (p *pass) output() {
	e, t := p.e, &p.e.out
	for k, token := range p.token[:p.n] {
		copy(p.of(p.f, k), rowOf(t.query, token))
	}
	f := p.rows(p.f, 0, e.s)
	f.AddMul(p.rows(p.h2, e.d, (1+e.n)*e.wide-e.d), t.rest)
	copy(p.df, p.f)
	p.softmax(f)
}

// crossEntropy returns the loss of sequence k, -sum_s y_s log f_s, and sets df.
func (p *pass) crossEntropy(k int, y []float64) (loss float64) {
	f, df := p.of(p.f, k)[:len(y)], p.of(p.df, k)[:len(y)]
	logZ := p.top[k] + num.Log(p.total[k])
	for i, v := range y {
		loss += float64(v * (logZ - df[i]))
		df[i] = f[i] - v
	}
	return loss
}

// outputGrad sets dh2_{T-1}.
func (p *pass) outputGrad(g *gradient) {
	e, t := p.e, &p.e.out
	rest := (1+e.n)*e.wide - e.d
	df := p.rows(p.df, 0, e.s)
	simd.AddRows(g.out.query, df, p.token[:p.n])
	clear(p.dh2)
	p.rows(p.dh2, e.d, rest).AddMul(df, t.back)
	g.out.rest.T().AddMul(df.T(), p.rows(p.h2, e.d, rest))
}
