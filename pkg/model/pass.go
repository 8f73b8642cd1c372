package model

// A pass is that of an engine. Forward and backward, it goes through
//
//  1. the attention P_h of each head h of layer 1,
//  2. what the query's own row and layer 1 add to the logits,
//
// and, for each head l of layer 2,
//
//  3. its query q_l = A2_l^T h1_{T-1},
//  4. its attention R_l = softmax(q_l h1_i over the positions i),
//  5. what R_l and R_l P_h add to the logits.
//
// Each piece stands beside its backward pass, in which dv is the gradient of the
// loss by v. Backward passes add to the gradient g of the tables.
type pass struct {
	e *engine

	r      []int        // T, joint index r_j of each position
	head   []headPass   // m, of layer 1
	second []secondPass // n, of layer 2
	f, df  []float64    // S, logits, then probabilities; df = f - y
}

// A headPass is what a pass keeps for head h of layer 1. Its attention P is T x T.
type headPass struct {
	rows
	last, dlast []float64 // T, row T-1 of P
	link        []link    // n, with each head of layer 2
	dp          []float64 // T, a row of dP where there is more than one link
}

// A secondPass is what a pass keeps for head l of layer 2.
type secondPass struct {
	q, dq   []float64 // (1+m)d, the query: d entries for h0, then d for each P_h h0
	att, ds []float64 // T, its attention R; gradients of R, then of the scores
}

// A link is what a pass keeps for a head of layer 1, with attention P, and one of
// layer 2, with attention R. Position i attends in layer 1 to key j with weight
// P_ij, and is attended to in layer 2 with weight R_i. All are of length T.
type link struct {
	b []float64 // b_j = q h0_j, what key j is worth to the query by way of this head
	v []float64 // P b, the part of this head in the scores of layer 2
	c []float64 // R P, the weights of the keys in this head's part of the logits

	dc    []float64 // gradient of c
	u     []float64 // P dc, the part of this head in dR
	db    []float64 // gradient of b, ds P
	rho   []float64 // R_i inv_i; with it dP_ij = R_i dc_j + ds_i b_j and the
	sigma []float64 // ds_i inv_i; products R P, ds P read the rows as they are kept
}

// NewPass returns a pass for e.
func (e *engine) NewPass() Pass { return e.newPass() }

func (e *engine) newPass() *pass {
	t := e.t
	p := &pass{e: e, r: make([]int, t), f: make([]float64, e.s), df: make([]float64, e.s)}
	for range e.m {
		v := zeros(3, t)
		h := headPass{rows: newRows(t), last: v[0], dlast: v[1], dp: v[2]}
		for range e.n {
			v := zeros(8, t)
			h.link = append(h.link, link{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]})
		}
		p.head = append(p.head, h)
	}
	for range e.n {
		q, att := zeros(2, e.wide), zeros(2, t)
		p.second = append(p.second, secondPass{q[0], q[1], att[0], att[1]})
	}
	return p
}

// Loss returns the loss of x and adds its gradient to g, a gradient of the same
// engine.
func (p *pass) Loss(x []int, y []float64, g Gradient) float64 {
	check(x, y, p.e.s, p.e.t)
	p.forward(x)
	if y == nil {
		crossEntropy(p.f, p.df, make([]float64, len(p.f)))
		return 0
	}
	loss := crossEntropy(p.f, p.df, y)
	if g != nil {
		p.backward(x, p.e.own(g))
	}
	return loss
}

// Predictions returns f.
func (p *pass) Predictions() []float64 { return p.f }

// QueryAttention returns R_l of each head l of layer 2.
func (p *pass) QueryAttention() [][]float64 {
	all := make([][]float64, len(p.second))
	for l := range all {
		all[l] = p.second[l].att
	}
	return all
}

func (p *pass) forward(x []int) {
	jointIndices(p.r, x, p.e.s)
	for h := range p.head {
		p.head[h].attendFrom(&p.e.head[h], x, p.r)
	}
	p.direct(x)
	for l := range p.second {
		p.query(l, x)
		p.scores(l, x)
		p.output(l)
	}
}

func (p *pass) backward(x []int, g *gradient) {
	p.directGrad(x, g)
	for l := range p.second {
		p.outputGrad(l, g)
		p.scoresGrad(l, x)
		p.queryGrad(l, x, g)
	}
	for h := range p.head {
		p.head[h].attendGrad(&g.head[h], x, p.r)
	}
}

// 1. The attention of layer 1.

// attendFrom fills P from the tables.
func (h *headPass) attendFrom(e *headTables, x, r []int) {
	h.attend(&e.scores, x, r)
	t := len(x)
	n := t - 1
	last, inv := h.last[:t], h.inv[n]
	for j, v := range h.p[n*t : n*t+t] {
		last[j] = float64(v * inv)
	}
}

// attendGrad goes back through layer 1: dP_ij is the sum of R_i dc_j + ds_i b_j
// over the heads of layer 2, and dlast_j more in the last row; then through the
// softmax of each row.
func (h *headPass) attendGrad(g *headGradient, x, r []int) {
	t, ts := len(x), g.s*g.t
	n := t - 1
	last, dlast := h.last[:t], h.dlast[:t]
	k := &h.link[0]
	b, v, u := k.b[:t], k.v[:t], k.u[:t]
	rho, sigma, dc := k.rho[:t], k.sigma[:t], k.dc[:t]
	for i := range t {
		row := h.p[i*t : i*t+i+1]
		pos, tok := g.pos[i*ts:(i+1)*ts], g.tok[x[i]*ts:(x[i]+1)*ts]
		tok = tok[:len(pos)]
		ri, si := rho[i], sigma[i]
		mean := float64(ri*u[i]) + float64(si*v[i])
		rj, dcj, bj := r[:len(row)], dc[:len(row)], b[:len(row)]
		if len(h.link) > 1 {
			// The sum over the links takes the place of dc, once.
			dcj, mean = h.sumLinks(i)
			ri, si = 1, 0
		}
		if i < n {
			for j, pij := range row {
				z := float64(pij * (float64(ri*dcj[j]) + float64(si*bj[j]) - mean))
				pos[rj[j]] += z
				tok[rj[j]] += z
			}
			continue
		}
		extra := 0.0
		for j, pj := range last {
			extra += float64(pj * dlast[j])
		}
		for j, pij := range row {
			z := float64(pij*(float64(ri*dcj[j])+float64(si*bj[j])-mean)) + float64(last[j]*(dlast[j]-extra))
			pos[rj[j]] += z
			tok[rj[j]] += z
		}
	}
}

// sumLinks returns sum_l R_i dc_j + ds_i b_j over the heads of layer 2, for all j,
// and its mean under row i of P, both times inv_i.
func (h *headPass) sumLinks(i int) (sum []float64, mean float64) {
	sum = h.dp[:i+1]
	clear(sum)
	for l := range h.link {
		k := &h.link[l]
		ri, si := k.rho[i], k.sigma[i]
		mean += float64(ri*k.u[i]) + float64(si*k.v[i])
		for j := range sum {
			sum[j] += float64(ri*k.dc[j]) + float64(si*k.b[j])
		}
	}
	return sum, mean
}

// 2. The logits of the query's own row and of layer 1.

// direct sets f = base + sum_h P_h[T-1] out_h.
func (p *pass) direct(x []int) {
	e := p.e
	copy(p.f, e.base[x[e.t-1]*e.s:])
	for h := range p.head {
		gemv(p.f, p.head[h].last, e.out[h], p.r)
	}
}

// directGrad sets dlast.
func (p *pass) directGrad(x []int, g *gradient) {
	s, n := p.e.s, p.e.t-1
	axpy(g.base[x[n]*s:(x[n]+1)*s], 1, p.df)
	for i := range p.head {
		h := &p.head[i]
		clear(h.dlast)
		gemvGrad(h.dlast, p.df, h.last, p.e.out[i], g.out[i], p.r)
	}
}

// 3. The query of a head of layer 2.

// query sets q = A2_l^T h1_{T-1}.
func (p *pass) query(l int, x []int) {
	e, q := p.e, p.second[l].q
	copy(q, e.query[l][x[e.t-1]*e.wide:])
	for h := range p.head {
		gemv(q, p.head[h].last, e.head[h].key[l], p.r)
	}
}

// queryGrad adds to dlast, given dq.
func (p *pass) queryGrad(l int, x []int, g *gradient) {
	e, dq, token := p.e, p.second[l].dq, x[p.e.t-1]
	axpy(g.query[l][token*e.wide:(token+1)*e.wide], 1, dq)
	for i := range p.head {
		h := &p.head[i]
		gemvGrad(h.dlast, dq, h.last, e.head[i].key[l], g.head[i].key[l], p.r)
	}
}

// 4. The attention of a head of layer 2.

// scores sets R = softmax(q h1_i), where h1_i has h0_i in its first d entries and
// (P_h h0)_i in those that follow.
func (p *pass) scores(l int, x []int) {
	s, d, q, att := p.e.s, p.e.d, p.second[l].q, p.second[l].att[:len(x)]
	for i, k := range x {
		att[i] = q[k] + q[s+i]
	}
	for i := range p.head {
		h := &p.head[i]
		block, b, v := q[(i+1)*d:], h.link[l].b[:len(x)], h.link[l].v[:len(x)]
		for j, k := range x {
			b[j] = block[k] + block[s+j]
		}
		h.rowDots(v, b)
		for i := range att {
			v[i] = float64(v[i] * h.inv[i])
			att[i] += v[i]
		}
	}
	softmax(att, att)
}

// scoresGrad turns ds from the gradient by R into that by the scores, and sets
// db and dq.
func (p *pass) scoresGrad(l int, x []int) {
	s, d, o := p.e.s, p.e.d, &p.second[l]
	ds, dq := o.ds[:len(x)], o.dq
	softmaxGrad(ds, o.att)
	clear(dq)
	for j, k := range x {
		dq[k] += ds[j]
		dq[s+j] += ds[j]
	}
	for i := range p.head {
		h := &p.head[i]
		k := &h.link[l]
		for j, v := range ds {
			k.sigma[j] = float64(v * h.inv[j])
		}
		h.columnSums(k.db, k.sigma)
		block := dq[(i+1)*d:]
		for j, token := range x {
			block[token] += k.db[j]
			block[s+j] += k.db[j]
		}
	}
}

// 5. The logits of a head of layer 2.

// output sets c = R P_h and adds to f.
func (p *pass) output(l int) {
	att, out := p.second[l].att, p.e.outOf(p.e.out, l)
	gemv(p.f, att, out[0], p.r)
	for i := range p.head {
		h := &p.head[i]
		k := &h.link[l]
		for j, a := range att {
			k.rho[j] = float64(a * h.inv[j])
		}
		h.columnSums(k.c, k.rho)
		gemv(p.f, k.c, out[1+i], p.r)
	}
}

// outputGrad sets dc and ds, the gradient by R.
func (p *pass) outputGrad(l int, g *gradient) {
	att, ds := p.second[l].att, p.second[l].ds
	out, dout := p.e.outOf(p.e.out, l), p.e.outOf(g.out, l)
	clear(ds)
	gemvGrad(ds, p.df, att, out[0], dout[0], p.r)
	for i := range p.head {
		h := &p.head[i]
		k := &h.link[l]
		clear(k.dc)
		gemvGrad(k.dc, p.df, k.c, out[1+i], dout[1+i], p.r)
		u := k.u[:len(ds)]
		h.rowDots(u, k.dc)
		for i := range u {
			u[i] = float64(u[i] * h.inv[i])
			ds[i] += u[i]
		}
	}
}
