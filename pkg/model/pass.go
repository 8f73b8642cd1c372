package model

import (
	"math"

	"learncausal/pkg/num"
)

// A Pass evaluates sequences one after the other with an engine's tables. Each
// goroutine needs its own.
type Pass struct {
	e *Engine

	r      []int // joint index of each position
	head   []headPass
	second []secondPass
	f      []float64 // logits, then probabilities
	dl     []float64

	mlp *mlpPass // beside r, head[0], f and dl: the standard transformer with MLPs
}

// A secondPass is what a Pass keeps for one head of layer 2.
type secondPass struct {
	q   []float64 // A2^T h1_{T-1}, (1+m)d
	att []float64 // R, its attention

	dq, ds []float64
}

// A headPass is what a Pass keeps for one head of layer 1, with attention P.
type headPass struct {
	p    []float64 // P, T x T lower triangle; row i is to be multiplied by inv[i]
	inv  []float64
	last []float64 // its last row, normalised
	link []link    // with each head of layer 2

	dlast []float64
	sum   []float64 // a row of the gradient, where it has more than one link
}

// A link is what a Pass keeps for a head of layer 1 and one of layer 2, whose
// attention is R.
type link struct {
	b []float64 // what key j adds to the score of a position that attends to it
	v []float64 // P b
	c []float64 // R P

	rho, sigma, dc, db, u []float64
}

// NewPass returns a pass for e.
func (e *Engine) NewPass() *Pass {
	t := e.t
	p := &Pass{e: e, r: make([]int, t), head: make([]headPass, e.m), second: make([]secondPass, e.n)}
	var vectors []*[]float64
	for i := range p.head {
		h := &p.head[i]
		h.p, h.link = make([]float64, t*t), make([]link, e.n)
		vectors = append(vectors, &h.inv, &h.last, &h.dlast, &h.sum)
		for l := range h.link {
			k := &h.link[l]
			vectors = append(vectors, &k.b, &k.v, &k.c, &k.rho, &k.sigma, &k.dc, &k.db, &k.u)
		}
	}
	for l := range p.second {
		o := &p.second[l]
		vectors = append(vectors, &o.att, &o.ds)
		o.q, o.dq = make([]float64, e.wide), make([]float64, e.wide)
	}
	for _, v := range vectors {
		*v = make([]float64, t)
	}
	p.f, p.dl = make([]float64, e.s), make([]float64, e.s)
	if e.mlp != nil {
		p.mlp = e.newMLPPass()
	}
	return p
}

// Loss returns -sum_s y_s log f_s for the sequence x and adds its gradient to
// g, which may be nil. Predictions returns f afterwards.
func (p *Pass) Loss(x []int, y []float64, g *Gradient) float64 {
	p.forward(x)
	// log-softmax
	top := math.Inf(-1)
	for _, l := range p.f {
		top = max(top, l)
	}
	sum, loss := 0.0, 0.0
	dl := p.dl[:len(p.f)]
	for s, l := range p.f {
		dl[s] = num.Exp(l - top)
		sum += dl[s]
	}
	logZ := top + num.Log(sum)
	y = y[:len(dl)]
	for s, l := range p.f {
		loss += float64(y[s] * (logZ - l))
		p.f[s] = dl[s] / sum
		dl[s] = p.f[s] - y[s]
	}
	if g != nil {
		p.backward(x, g)
	}
	return loss
}

// Predictions returns f of the last call of Loss. The next call overwrites it.
func (p *Pass) Predictions() []float64 { return p.f }

// underflow is where a product of two exponentials may have lost its accuracy.
const underflow = 1e-200

func (p *Pass) forward(x []int) {
	if p.mlp != nil {
		p.forwardMLP(x)
		return
	}
	e := p.e
	s, t, d, wide := e.s, e.t, e.d, e.wide
	r := p.r[:t]
	for j, k := range x[:t] {
		r[j] = j*s + k
	}
	for h := range p.head {
		p.head[h].attend(&e.head[h], s*t, x, r)
	}
	n := t - 1

	copy(p.f, e.base[x[n]*s:])
	for h := range p.head {
		gemv(p.f, p.head[h].last, e.out[h], r)
	}
	for l := range p.second {
		// Layer 2: scores q.h1_i, R = softmax.
		q := p.second[l].q
		copy(q, e.query[l][x[n]*wide:])
		for h := range p.head {
			gemv(q, p.head[h].last, e.head[h].key[l], r)
		}
		att := p.second[l].att[:t]
		for i, k := range x[:t] {
			att[i] = q[k] + q[s+i]
		}
		for h := range p.head {
			p.head[h].scores(&p.head[h].link[l], att, q[(h+1)*d:], s, x)
		}
		softmax(att, att)

		// Output.
		out := e.outOf(e.out, l)
		gemv(p.f, att, out[0], r)
		for i := range p.head {
			h := &p.head[i]
			k := &h.link[l]
			for j, a := range att {
				k.rho[j] = float64(a * h.inv[j])
			}
			h.columnSums(k.c, k.rho)
			gemv(p.f, k.c, out[1+i], r)
		}
	}
}

// outOf returns the tables for R_l, R_l P_1, ..., R_l P_m among those of the
// output.
func (e *Engine) outOf(out [][]float64, l int) [][]float64 { return out[e.m+l*(1+e.m):] }

// attend fills P = S(MASK(h0 A h0^T)), two rows at a time.
func (h *headPass) attend(e *headTables, ts int, x, r []int) {
	t := len(x)
	for i := 0; i < t; i += 2 {
		k := min(i+1, t-1) // the second row, the first one again at the end of an odd T
		pos0, tok0 := e.posExp[i*ts:(i+1)*ts], e.tokExp[x[i]*ts:(x[i]+1)*ts]
		pos1, tok1 := e.posExp[k*ts:(k+1)*ts], e.tokExp[x[k]*ts:(x[k]+1)*ts]
		tok0, pos1, tok1 = tok0[:len(pos0)], pos1[:len(pos0)], tok1[:len(pos0)]
		row0, row1 := h.p[i*t:i*t+i+1], h.p[k*t:k*t+k+1]
		rj, head1 := r[:len(row0)], row1[:len(row0)]
		var sum0, sum1 float64
		for j, rj := range rj {
			v0 := float64(pos0[rj] * tok0[rj])
			v1 := float64(pos1[rj] * tok1[rj])
			row0[j], head1[j] = v0, v1
			sum0 += v0
			sum1 += v1
		}
		if k > i {
			row1[k] = float64(pos1[r[k]] * tok1[r[k]])
			sum1 += row1[k]
		}
		if sum0 < underflow {
			sum0 = rowFromLogits(row0, r, e.posLogit[i*ts:], e.tokLogit[x[i]*ts:])
		}
		h.inv[i] = 1 / sum0
		if k > i {
			if sum1 < underflow {
				sum1 = rowFromLogits(row1, r, e.posLogit[k*ts:], e.tokLogit[x[k]*ts:])
			}
			h.inv[k] = 1 / sum1
		}
	}
	n := t - 1
	last, inv := h.last[:t], h.inv[n]
	for j, v := range h.p[n*t : n*t+t] {
		last[j] = float64(v * inv)
	}
}

// scores adds to the layer-2 scores what the head's output is worth to the
// query, whose block for it is q.
func (h *headPass) scores(l *link, att, q []float64, s int, x []int) {
	b, v := l.b[:len(att)], l.v[:len(att)]
	for j, k := range x[:len(att)] {
		b[j] = q[k] + q[s+j]
	}
	h.rowDots(v, b)
	for i := range att {
		v[i] = float64(v[i] * h.inv[i])
		att[i] += v[i]
	}
}

// rowFromLogits fills a row of the layer-1 attention whose factors underflow,
// from the logits of its position and its token, and returns its sum.
func rowFromLogits(row []float64, r []int, pos, tok []float64) float64 {
	top := math.Inf(-1)
	for j, rj := range r[:len(row)] {
		row[j] = pos[rj] + tok[rj]
		top = max(top, row[j])
	}
	sum := 0.0
	for j := range row {
		row[j] = num.Exp(row[j] - top)
		sum += row[j]
	}
	return sum
}

// backward adds to g the gradient of the loss, given p.dl = f - y.
func (p *Pass) backward(x []int, g *Gradient) {
	if p.mlp != nil {
		p.backwardMLP(x, g)
		return
	}
	e := p.e
	s, t, d, wide := e.s, e.t, e.d, e.wide
	n := t - 1
	r, dl := p.r[:t], p.dl[:s]

	// Output.
	axpy(g.base[x[n]*s:(x[n]+1)*s], 1, dl)
	for i := range p.head {
		h := &p.head[i]
		clear(h.dlast)
		gemvGrad(h.dlast, dl, h.last, e.out[i], g.out[i], r)
	}

	for l := range p.second {
		o := &p.second[l]
		att, ds, dq := o.att[:t], o.ds[:t], o.dq
		out, dout := e.outOf(e.out, l), e.outOf(g.out, l)
		clear(ds)
		gemvGrad(ds, dl, att, out[0], dout[0], r)

		// Layer 2: through c = R P and the softmax R to the scores.
		for i := range p.head {
			h := &p.head[i]
			k := &h.link[l]
			clear(k.dc)
			gemvGrad(k.dc, dl, k.c, out[1+i], dout[1+i], r)
			u := k.u[:t]
			h.rowDots(u, k.dc)
			for i := range u {
				u[i] = float64(u[i] * h.inv[i])
				ds[i] += u[i]
			}
		}
		mean := 0.0
		for i := range ds {
			mean += float64(att[i] * ds[i])
		}
		for i := range ds {
			ds[i] = float64(att[i] * (ds[i] - mean))
		}
		clear(dq)
		for j, k := range x[:t] {
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
			for j, token := range x[:t] {
				block[token] += k.db[j]
				block[s+j] += k.db[j]
			}
		}
		axpy(g.query[l][x[n]*wide:(x[n]+1)*wide], 1, dq)
		for i := range p.head {
			gemvGrad(p.head[i].dlast, dq, p.head[i].last, e.head[i].key[l], g.head[i].key[l], r)
		}
	}
	for i := range p.head {
		p.head[i].backward(&g.head[i], s*t, x, r)
	}
}

// backward goes through layer 1: dP_ij is the sum of R_i dc_j + ds_i b_j over the
// heads of layer 2, and dlast_j more in the last row; then through the softmax of
// each row.
func (h *headPass) backward(g *headGradient, ts int, x, r []int) {
	t := len(x)
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
// and its mean under row i of P.
func (h *headPass) sumLinks(i int) (sum []float64, mean float64) {
	sum = h.sum[:i+1]
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

// rowDots sets y_i = sum_{j<=i} p_ij x_j, four rows at a time to hide the
// latency of the additions.
func (h *headPass) rowDots(y, x []float64) {
	t := len(y)
	i := 0
	for ; i+3 < t; i += 4 {
		row0 := h.p[i*t : i*t+i+1]
		row1, row2, row3 := h.p[(i+1)*t:(i+1)*t+i+2], h.p[(i+2)*t:(i+2)*t+i+3], h.p[(i+3)*t:(i+3)*t+i+4]
		xs, r1, r2, r3 := x[:len(row0)], row1[:len(row0)], row2[:len(row0)], row3[:len(row0)]
		var y0, y1, y2, y3 float64
		for j, p0 := range row0 {
			xj := xs[j]
			y0 += float64(p0 * xj)
			y1 += float64(r1[j] * xj)
			y2 += float64(r2[j] * xj)
			y3 += float64(r3[j] * xj)
		}
		x1, x2, x3 := x[i+1], x[i+2], x[i+3]
		y[i] = y0
		y[i+1] = y1 + float64(row1[i+1]*x1)
		y[i+2] = y2 + float64(row2[i+1]*x1) + float64(row2[i+2]*x2)
		y[i+3] = y3 + float64(row3[i+1]*x1) + float64(row3[i+2]*x2) + float64(row3[i+3]*x3)
	}
	for ; i < t; i++ {
		sum := 0.0
		for j, v := range h.p[i*t : i*t+i+1] {
			sum += float64(v * x[j])
		}
		y[i] = sum
	}
}

// columnSums sets y_j = sum_{i>=j} x_i p_ij, four rows at a time.
func (h *headPass) columnSums(y, x []float64) {
	t := len(y)
	clear(y)
	i := 0
	for ; i+3 < t; i += 4 {
		row0 := h.p[i*t : i*t+i+1]
		row1, row2, row3 := h.p[(i+1)*t:(i+1)*t+i+2], h.p[(i+2)*t:(i+2)*t+i+3], h.p[(i+3)*t:(i+3)*t+i+4]
		ys, r1, r2, r3 := y[:len(row0)], row1[:len(row0)], row2[:len(row0)], row3[:len(row0)]
		x0, x1, x2, x3 := x[i], x[i+1], x[i+2], x[i+3]
		for j, p0 := range row0 {
			ys[j] += (float64(x0*p0) + float64(x1*r1[j])) + (float64(x2*r2[j]) + float64(x3*r3[j]))
		}
		y[i+1] = float64(x1*row1[i+1]) + float64(x2*row2[i+1]) + float64(x3*row3[i+1])
		y[i+2] = float64(x2*row2[i+2]) + float64(x3*row3[i+2])
		y[i+3] = float64(x3 * row3[i+3])
	}
	for ; i < t; i++ {
		for j, v := range h.p[i*t : i*t+i+1] {
			y[j] += float64(x[i] * v)
		}
	}
}

// gemv adds to y the sum over j of x_j m[r_j], four rows at a time. m: rows of len(y).
func gemv(y, x, m []float64, r []int) {
	n := len(y)
	j := 0
	for ; j+3 < len(r); j += 4 {
		m0, m1 := m[r[j]*n:(r[j]+1)*n], m[r[j+1]*n:(r[j+1]+1)*n]
		m2, m3 := m[r[j+2]*n:(r[j+2]+1)*n], m[r[j+3]*n:(r[j+3]+1)*n]
		m0, m1, m2, m3 = m0[:len(y)], m1[:len(y)], m2[:len(y)], m3[:len(y)]
		x0, x1, x2, x3 := x[j], x[j+1], x[j+2], x[j+3]
		for k := range y {
			y[k] += (float64(x0*m0[k]) + float64(x1*m1[k])) + (float64(x2*m2[k]) + float64(x3*m3[k]))
		}
	}
	for ; j < len(r); j++ {
		axpy(y, x[j], m[r[j]*n:])
	}
}

// gemvGrad is the backward pass of gemv: dx_j += dy . m[r_j], dm[r_j] += x_j dy.
// Four sums at a time hide the latency of the additions.
func gemvGrad(dx, dy, x, m, dm []float64, r []int) {
	n := len(dy)
	j := 0
	for ; j+3 < len(r); j += 4 {
		m0, m1 := m[r[j]*n:(r[j]+1)*n], m[r[j+1]*n:(r[j+1]+1)*n]
		m2, m3 := m[r[j+2]*n:(r[j+2]+1)*n], m[r[j+3]*n:(r[j+3]+1)*n]
		m0, m1, m2, m3 = m0[:len(dy)], m1[:len(dy)], m2[:len(dy)], m3[:len(dy)]
		var s0, s1, s2, s3 float64
		for k, v := range dy {
			s0 += float64(m0[k] * v)
			s1 += float64(m1[k] * v)
			s2 += float64(m2[k] * v)
			s3 += float64(m3[k] * v)
		}
		dx[j] += s0
		dx[j+1] += s1
		dx[j+2] += s2
		dx[j+3] += s3
		d0, d1 := dm[r[j]*n:(r[j]+1)*n], dm[r[j+1]*n:(r[j+1]+1)*n]
		d2, d3 := dm[r[j+2]*n:(r[j+2]+1)*n], dm[r[j+3]*n:(r[j+3]+1)*n]
		d0, d1, d2, d3 = d0[:len(dy)], d1[:len(dy)], d2[:len(dy)], d3[:len(dy)]
		x0, x1, x2, x3 := x[j], x[j+1], x[j+2], x[j+3]
		for k, v := range dy {
			d0[k] += float64(x0 * v)
			d1[k] += float64(x1 * v)
			d2[k] += float64(x2 * v)
			d3[k] += float64(x3 * v)
		}
	}
	for ; j < len(r); j++ {
		row, sum := m[r[j]*n:(r[j]+1)*n], 0.0
		for k, v := range dy {
			sum += float64(row[k] * v)
		}
		dx[j] += sum
		axpy(dm[r[j]*n:(r[j]+1)*n], x[j], dy)
	}
}
