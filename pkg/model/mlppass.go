package model

// An mlpPass is what a Pass keeps for the standard transformer with MLPs.
type mlpPass struct {
	u, du      []float64 // after the ReLU of layer 1, T x d
	z, dz      []float64 // scores of the query against Y, then logits
	mean, dm   []float64 // sum_l R_l u_l, with R the layer-2 attention
	v, dv, dp  []float64 // after the ReLU of layer 2; gradient of the scores against Out
	att, ds    []float64 // R, and the gradient of the scores behind it
	dattention []float64 // of a row of the layer-1 attention
}

func (e *Engine) newMLPPass() *mlpPass {
	m, t := e.mlp, e.t
	p := new(mlpPass)
	for _, v := range []struct {
		to   []*[]float64
		size int
	}{
		{[]*[]float64{&p.u, &p.du}, t * m.d},
		{[]*[]float64{&p.z, &p.dz}, m.n + e.s},
		{[]*[]float64{&p.mean, &p.dm, &p.v, &p.dv, &p.dp}, m.d},
		{[]*[]float64{&p.att, &p.ds, &p.dattention}, t},
	} {
		for _, to := range v.to {
			*to = make([]float64, v.size)
		}
	}
	return p
}

func (p *Pass) forwardMLP(x []int) {
	e, m, b, h := p.e, p.e.mlp, p.mlp, &p.head[0]
	s, t, d := e.s, e.t, m.d
	r := p.r[:t]
	for j, k := range x[:t] {
		r[j] = j*s + k
	}

	// Layer 1, at all positions.
	h.attend(&e.head[0], s*t, x, r)
	clear(b.u)
	for i := range t {
		row, u := h.p[i*t:i*t+i+1], b.u[i*d:(i+1)*d]
		for j, v := range row {
			row[j] = float64(v * h.inv[i])
		}
		gemv(u, row, m.pre, r[:i+1])
		relu(u)
	}

	// Layer 2 and output, at the last position.
	n := t - 1
	copy(b.z, m.base[x[n]*len(b.z):])
	gemv(b.z, b.u[n*d:], m.last, m.all[:d])
	att, own := b.att, b.z[s+t+1:m.n]
	for i, k := range x[:t] {
		att[i] = b.z[k] + b.z[s+i] + dot(own, b.u[i*d:])
	}
	softmax(att, att)
	clear(b.mean)
	gemv(b.mean, att, b.u, m.all[:t])
	clear(b.v)
	gemv(b.v, att, m.next, r)
	gemv(b.v, b.mean, m.deep, m.all[:d])
	relu(b.v)
	copy(p.f, b.z[m.n:])
	gemv(p.f, b.v, m.out, m.all[:d])
}

// backwardMLP adds to g the gradient of the loss, given p.dl = f - y.
func (p *Pass) backwardMLP(x []int, g *Gradient) {
	e, m, b, h, dm := p.e, p.e.mlp, p.mlp, &p.head[0], g.mlp
	s, t, d := e.s, e.t, m.d
	n := t - 1
	r, att, ds := p.r[:t], b.att, b.ds

	// Output and layer 2.
	clear(b.dv)
	gemvGrad(b.dv, p.dl, b.v, m.out, dm.out, m.all[:d])
	reluGrad(b.dv, b.v)
	clear(b.dm)
	gemvGrad(b.dm, b.dv, b.mean, m.deep, dm.deep, m.all[:d])
	clear(ds)
	gemvGrad(ds, b.dv, att, m.next, dm.next, r)
	clear(b.du)
	gemvGrad(ds, b.dm, att, b.u, b.du, m.all[:t])
	mean := dot(att, ds)
	for i := range ds {
		ds[i] = float64(att[i] * (ds[i] - mean))
	}
	clear(b.dz)
	copy(b.dz[m.n:], p.dl)
	for j, k := range x[:t] {
		b.dz[k] += ds[j]
		b.dz[s+j] += ds[j]
	}
	own, down := b.z[s+t+1:m.n], b.dz[s+t+1:m.n]
	gemv(down, ds, b.u, m.all[:t])
	for i, v := range ds {
		axpy(b.du[i*d:(i+1)*d], v, own)
	}
	axpy(dm.base[x[n]*len(b.dz):(x[n]+1)*len(b.dz)], 1, b.dz)
	gemvGrad(b.du[n*d:], b.dz, b.u[n*d:], m.last, dm.last, m.all[:d])

	// Layer 1.
	ts := s * t
	for i := range t {
		du := b.du[i*d : (i+1)*d]
		reluGrad(du, b.u[i*d:])
		row, da := h.p[i*t:i*t+i+1], b.dattention[:i+1]
		clear(da)
		gemvGrad(da, du, row, m.pre, dm.pre, r[:i+1])
		mean := dot(row, da)
		pos, tok := g.head[0].pos[i*ts:(i+1)*ts], g.head[0].tok[x[i]*ts:(x[i]+1)*ts]
		for j, v := range row {
			z := float64(v * (da[j] - mean))
			pos[r[j]] += z
			tok[r[j]] += z
		}
	}
}

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

// dot returns the sum of a_i b_i.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}
