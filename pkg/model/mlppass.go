package model

// An mlpPass is that of an mlpEngine. Forward and backward, it goes through
//
//  1. layer 1 to behind its ReLU, u_i at every position i,
//  2. the attention R of the query in layer 2, from its scores against Y,
//  3. layer 2 at the query, and the logits.
//
// Each piece stands beside its backward pass, in which dv is the gradient of the
// loss by v. Backward passes add to the gradient g of the tables.
type mlpPass struct {
	e *mlpEngine

	r     []int     // T, joint index of each position
	rows            // the attention of layer 1; normalised, so that inv is 1
	drow  []float64 // T, gradient of one of its rows
	u, du []float64 // T x d, after the ReLU of layer 1
	z, dz []float64 // n+S, scores of the query against the rows of Y, then its logits without layer 2
	att   []float64 // T, R
	ds    []float64 // T, gradient of R, then of the scores
	mean  []float64 // d, sum_i R_i u_i
	dmean []float64 // d
	v, dv []float64 // d, after the ReLU of layer 2
	f, df []float64 // S, logits, then probabilities; df = f - y
}

// NewPass returns a pass for e.
func (e *mlpEngine) NewPass() Pass { return e.newPass() }

func (e *mlpEngine) newPass() *mlpPass {
	t, u, z := zeros(3, e.t), zeros(2, e.t*e.d), zeros(2, e.n+e.s)
	d, f := zeros(4, e.d), zeros(2, e.s)
	return &mlpPass{
		e: e, r: make([]int, e.t), rows: newRows(e.t), drow: t[0], u: u[0], du: u[1], z: z[0], dz: z[1],
		att: t[1], ds: t[2], mean: d[0], dmean: d[1], v: d[2], dv: d[3], f: f[0], df: f[1],
	}
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
func (p *mlpPass) Predictions() []float64 { return p.f }

// QueryAttention returns R, of the one head of layer 2.
func (p *mlpPass) QueryAttention() [][]float64 { return [][]float64{p.att} }

func (p *mlpPass) forward(x []int) {
	jointIndices(p.r, x, p.e.s)
	p.first(x)
	p.second(x)
	p.output()
}

func (p *mlpPass) backward(x []int, g *mlpGradient) {
	p.outputGrad(g)
	p.secondGrad(x, g)
	p.firstGrad(x, g)
}

// 1. Layer 1.

// first sets u_i = relu(sum_j P_ij pre[r_j]).
func (p *mlpPass) first(x []int) {
	t, d := p.e.t, p.e.d
	p.attend(&p.e.scores, x, p.r)
	clear(p.u)
	for i := range t {
		row, u, inv := p.p[i*t:i*t+i+1], p.u[i*d:(i+1)*d], p.inv[i]
		for j, v := range row {
			row[j] = float64(v * inv)
		}
		p.inv[i] = 1
		gemv(u, row, p.e.tables.pre, p.r[:i+1])
		relu(u)
	}
}

// firstGrad takes du, the gradient of all that was read of u.
func (p *mlpPass) firstGrad(x []int, g *mlpGradient) {
	e := p.e
	t, d, ts := e.t, e.d, e.s*e.t
	for i := range t {
		du := p.du[i*d : (i+1)*d]
		reluGrad(du, p.u[i*d:])
		row, ds := p.p[i*t:i*t+i+1], p.drow[:i+1]
		clear(ds)
		gemvGrad(ds, du, row, e.tables.pre, g.tables.pre, p.r[:i+1])
		softmaxGrad(ds, row)
		pos, tok := g.scores.pos[i*ts:(i+1)*ts], g.scores.tok[x[i]*ts:(x[i]+1)*ts]
		for j, z := range ds {
			pos[p.r[j]] += z
			tok[p.r[j]] += z
		}
	}
}

// 2. The attention of layer 2.

// second sets z = base[x_{T-1}] + u_{T-1} last and R = softmax(s), where row i of
// h1 is (x_i, i, 1, u_i) Y and has the score
//
//	s_i = z[x_i] + z[S+i] + z[S+T] + z[S+T+1:n] u_i
//
// of which the third term is that of every position and left out.
func (p *mlpPass) second(x []int) {
	e := p.e
	s, t, d := e.s, e.t, e.d
	copy(p.z, e.tables.base[x[t-1]*len(p.z):])
	gemv(p.z, p.u[(t-1)*d:], e.tables.last, e.all[:d])
	own := p.z[s+t+1 : e.n]
	for i, k := range x {
		p.att[i] = p.z[k] + p.z[s+i] + dot(own, p.u[i*d:])
	}
	softmax(p.att, p.att)
}

// secondGrad turns ds from the gradient by R into that by the scores, and sets
// dz. It adds to du.
func (p *mlpPass) secondGrad(x []int, g *mlpGradient) {
	e, ds := p.e, p.ds
	s, t, d := e.s, e.t, e.d
	softmaxGrad(ds, p.att)
	clear(p.dz)
	copy(p.dz[e.n:], p.df)
	for j, k := range x {
		p.dz[k] += ds[j]
		p.dz[s+j] += ds[j]
	}
	own, down := p.z[s+t+1:e.n], p.dz[s+t+1:e.n]
	gemv(down, ds, p.u, e.all[:t])
	for i, v := range ds {
		axpy(p.du[i*d:(i+1)*d], v, own)
	}
	axpy(g.tables.base[x[t-1]*len(p.dz):(x[t-1]+1)*len(p.dz)], 1, p.dz)
	gemvGrad(p.du[(t-1)*d:], p.dz, p.u[(t-1)*d:], e.tables.last, g.tables.last, e.all[:d])
}

// 3. Layer 2 and the logits.

// output sets v = relu(sum_i R_i next[r_i] + mean deep) and f = z[n:] + v out.
func (p *mlpPass) output() {
	e := p.e
	clear(p.mean)
	gemv(p.mean, p.att, p.u, e.all[:e.t])
	clear(p.v)
	gemv(p.v, p.att, e.tables.next, p.r)
	gemv(p.v, p.mean, e.tables.deep, e.all[:e.d])
	relu(p.v)
	copy(p.f, p.z[e.n:])
	gemv(p.f, p.v, e.tables.out, e.all[:e.d])
}

// outputGrad sets ds, the gradient by R, and du.
func (p *mlpPass) outputGrad(g *mlpGradient) {
	e := p.e
	clear(p.dv)
	gemvGrad(p.dv, p.df, p.v, e.tables.out, g.tables.out, e.all[:e.d])
	reluGrad(p.dv, p.v)
	clear(p.dmean)
	gemvGrad(p.dmean, p.dv, p.mean, e.tables.deep, g.tables.deep, e.all[:e.d])
	clear(p.ds)
	gemvGrad(p.ds, p.dv, p.att, e.tables.next, g.tables.next, p.r)
	clear(p.du)
	gemvGrad(p.ds, p.dmean, p.att, p.u, p.du, e.all[:e.t])
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
