package model

import (
	"math"

	"learncausal/pkg/num"
)

// A Pass evaluates sequences one after the other with an engine's tables. Each
// goroutine needs its own.
type Pass struct {
	e *Engine

	r    []int     // joint index of each position
	p    []float64 // layer-1 attention, T x T lower triangle; row i is to be multiplied by inv[i]
	inv  []float64
	last []float64 // its last row, normalised
	q    []float64 // A2^T h1_{T-1}, 2d
	b    []float64 // what key j adds to the score of a position that attends to it
	v    []float64 // P b
	att  []float64 // R, the layer-2 attention of the query
	c    []float64 // R P
	f    []float64 // logits, then probabilities

	dl, dc, db, ds, dq, dlast, u, rho, sigma []float64
}

// NewPass returns a pass for e.
func (e *Engine) NewPass() *Pass {
	t, d := e.t, e.d
	p := &Pass{e: e, r: make([]int, t), p: make([]float64, t*t)}
	for _, v := range []*[]float64{
		&p.inv, &p.last, &p.b, &p.v, &p.att, &p.c,
		&p.dc, &p.db, &p.ds, &p.dlast, &p.u, &p.rho, &p.sigma,
	} {
		*v = make([]float64, t)
	}
	p.q, p.dq = make([]float64, 2*d), make([]float64, 2*d)
	p.f, p.dl = make([]float64, e.s), make([]float64, e.s)
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
	e := p.e
	s, t, d, ts := e.s, e.t, e.d, e.s*e.t
	r := p.r[:t]
	for j, k := range x[:t] {
		r[j] = j*s + k
	}

	// Layer 1: P = S(MASK(h0 A1 h0^T)), two rows at a time.
	for i := 0; i < t; i += 2 {
		k := min(i+1, t-1) // the second row, the first one again at the end of an odd T
		pos0, tok0 := e.posExp[i*ts:(i+1)*ts], e.tokExp[x[i]*ts:(x[i]+1)*ts]
		pos1, tok1 := e.posExp[k*ts:(k+1)*ts], e.tokExp[x[k]*ts:(x[k]+1)*ts]
		tok0, pos1, tok1 = tok0[:len(pos0)], pos1[:len(pos0)], tok1[:len(pos0)]
		row0, row1 := p.p[i*t:i*t+i+1], p.p[k*t:k*t+k+1]
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
			sum0 = p.rowFromLogits(row0, x[i])
		}
		p.inv[i] = 1 / sum0
		if k > i {
			if sum1 < underflow {
				sum1 = p.rowFromLogits(row1, x[k])
			}
			p.inv[k] = 1 / sum1
		}
	}
	n := t - 1
	last, inv := p.last[:t], p.inv[n]
	for j, v := range p.p[n*t : n*t+t] {
		last[j] = float64(v * inv)
	}

	// Layer 2: scores q.h1_i, R = softmax, c = R P.
	q := p.q
	copy(q, e.query[x[n]*2*d:])
	gemv(q, last, e.key, r)
	b, v, att, c := p.b[:t], p.v[:t], p.att[:t], p.c[:t]
	for j, k := range x[:t] {
		b[j] = q[d+k] + q[d+s+j]
	}
	p.rowDots(v, b)
	for i, k := range x[:t] {
		v[i] = float64(v[i] * p.inv[i])
		att[i] = q[k] + q[s+i] + v[i]
	}
	softmax(att, att)
	rho := p.rho[:t]
	for i := range rho {
		rho[i] = float64(att[i] * p.inv[i])
	}
	p.columnSums(c, rho)

	// Output.
	copy(p.f, e.base[x[n]*s:])
	gemv(p.f, last, e.out[0], r)
	gemv(p.f, att, e.out[1], r)
	gemv(p.f, c, e.out[2], r)
}

// rowFromLogits fills a row of the layer-1 attention whose factors underflow,
// for a query of token k, and returns its sum.
func (p *Pass) rowFromLogits(row []float64, k int) float64 {
	ts := p.e.s * p.e.t
	pos, tok := p.e.posLogit[(len(row)-1)*ts:], p.e.tokLogit[k*ts:]
	top := math.Inf(-1)
	for j, rj := range p.r[:len(row)] {
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
	e := p.e
	s, t, d, ts := e.s, e.t, e.d, e.s*e.t
	n := t - 1
	r, dl := p.r[:t], p.dl[:s]
	last, att, c := p.last[:t], p.att[:t], p.c[:t]
	dlast, ds, dc := p.dlast[:t], p.ds[:t], p.dc[:t]

	// Output.
	axpy(g.base[x[n]*s:(x[n]+1)*s], 1, dl)
	clear(dlast)
	clear(ds)
	clear(dc)
	gemvGrad(dlast, dl, last, e.out[0], g.out[0], r)
	gemvGrad(ds, dl, att, e.out[1], g.out[1], r)
	gemvGrad(dc, dl, c, e.out[2], g.out[2], r)

	// Layer 2: through c = R P and the softmax R to the scores.
	u, rho, sigma := p.u[:t], p.rho[:t], p.sigma[:t]
	p.rowDots(u, dc)
	mean := 0.0
	for i := range u {
		u[i] = float64(u[i] * p.inv[i])
		ds[i] += u[i]
		mean += float64(att[i] * ds[i])
	}
	for i := range ds {
		ds[i] = float64(att[i] * (ds[i] - mean))
		sigma[i] = float64(ds[i] * p.inv[i])
	}
	db, dq := p.db[:t], p.dq
	p.columnSums(db, sigma)
	clear(dq)
	for j, k := range x[:t] {
		dq[k] += ds[j]
		dq[s+j] += ds[j]
		dq[d+k] += db[j]
		dq[d+s+j] += db[j]
	}
	axpy(g.query[x[n]*2*d:(x[n]+1)*2*d], 1, dq)
	gemvGrad(dlast, dq, last, e.key, g.key, r)

	// Layer 1: dP_ij = R_i dc_j + ds_i b_j, and dlast_j more in the last row;
	// through the softmax of each row.
	b, v := p.b[:t], p.v[:t]
	for i := range t {
		row := p.p[i*t : i*t+i+1]
		pos, tok := g.pos[i*ts:(i+1)*ts], g.tok[x[i]*ts:(x[i]+1)*ts]
		tok = tok[:len(pos)]
		ri, si := rho[i], sigma[i]
		mean := float64(ri*u[i]) + float64(si*v[i])
		rj, dcj, bj := r[:len(row)], dc[:len(row)], b[:len(row)]
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

// rowDots sets y_i = sum_{j<=i} p_ij x_j, four rows at a time to hide the
// latency of the additions.
func (p *Pass) rowDots(y, x []float64) {
	t := len(y)
	i := 0
	for ; i+3 < t; i += 4 {
		row0 := p.p[i*t : i*t+i+1]
		row1, row2, row3 := p.p[(i+1)*t:(i+1)*t+i+2], p.p[(i+2)*t:(i+2)*t+i+3], p.p[(i+3)*t:(i+3)*t+i+4]
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
		for j, v := range p.p[i*t : i*t+i+1] {
			sum += float64(v * x[j])
		}
		y[i] = sum
	}
}

// columnSums sets y_j = sum_{i>=j} x_i p_ij, four rows at a time.
func (p *Pass) columnSums(y, x []float64) {
	t := len(y)
	clear(y)
	i := 0
	for ; i+3 < t; i += 4 {
		row0 := p.p[i*t : i*t+i+1]
		row1, row2, row3 := p.p[(i+1)*t:(i+1)*t+i+2], p.p[(i+2)*t:(i+2)*t+i+3], p.p[(i+3)*t:(i+3)*t+i+4]
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
		for j, v := range p.p[i*t : i*t+i+1] {
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
