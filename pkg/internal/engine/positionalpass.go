package engine

import (
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/num"
)

// mixtureFloor is added to the mixture in the loss, as in [model.Positional].
const mixtureFloor = 1e-8

// A positionalCore evaluates sequences with the attention of the first layer computed once, and belongs to one
// goroutine. It keeps the weights, which must not change.
type positionalCore struct {
	w     *model.Positional
	p     []*mat.Dense // P_h
	x     []int
	u, du *mat.Dense   // T x d
	f     *mat.Dense   // T x S
	z     []*mat.Dense // T x S, P_h X of each head
}

// newPositionalCore returns a pass of the weights with P_h of each head.
func newPositionalCore(w *model.Positional, p []*mat.Dense) *positionalCore {
	d := (1 + w.Heads) * w.S
	e := &positionalCore{
		w: w, p: p, u: mat.NewDense(w.T, d, nil), du: mat.NewDense(w.T, d, nil),
		f: mat.NewDense(w.T, w.S, nil),
	}
	for range p {
		e.z = append(e.z, mat.NewDense(w.T, w.S, nil))
	}
	return e
}

// newGradient returns zero derivatives for loss, of the form of the weights with the derivative by
// P_h, T x T, in place of A_h, and all their numbers, shared.
func (e *positionalCore) newGradient() (g *model.Positional, all []float64) {
	form := e.w.PositionalForm
	form.Relative = false
	g = model.NewPositional(form)
	for _, m := range g.Matrices() {
		all = append(all, m.Data...)
	}
	rest := all
	share := func(m *mat.Dense) *mat.Dense {
		if m == nil {
			return nil
		}
		rows, cols := m.Dims()
		m, rest = mat.NewDense(rows, cols, rest[:rows*cols:rows*cols]), rest[rows*cols:]
		return m
	}
	for h := range g.A {
		g.A[h] = share(g.A[h])
	}
	for h := range g.V {
		g.V[h] = share(g.V[h])
	}
	g.Q, g.K, g.W = share(g.Q), share(g.K), share(g.W)
	return g, all
}

// last returns f at the last position of the last sequence. The next call of loss overwrites it.
func (e *positionalCore) last() []float64 { return e.f.RawRowView(e.w.T - 1) }

// loss returns the loss of [model.Positional.Forward], and adds derivatives to g, which may be nil.
func (e *positionalCore) loss(x []int, y []float64, g *model.Positional) float64 {
	check(x, y, e.w.S, e.w.T)
	e.x = x
	e.first()
	if y == nil {
		g = nil
	}
	if g != nil {
		e.du.Zero()
	}
	loss := 0.0
	if e.w.Linear {
		loss = e.linear(y, g)
	} else {
		loss = e.mixture(y, g)
	}
	if g != nil {
		e.firstGrad(g)
	}
	return loss
}

// first computes z and u.
func (e *positionalCore) first() {
	w, s := e.w, e.w.S
	e.u.Zero()
	for i, token := range e.x {
		e.u.Set(i, token, 1)
	}
	for h := range w.A {
		for i := range w.T {
			row, z := e.u.RawRowView(i)[(1+h)*s:(2+h)*s], e.z[h].RawRowView(i)
			clear(z)
			for j, p := range e.p[h].RawRowView(i)[:i+1] {
				z[e.x[j]] += p
			}
			if !w.Values {
				copy(row, z)
				continue
			}
			for a, v := range z {
				addScaled(row, v, w.V[h].RawRowView(a))
			}
		}
	}
}

// firstGrad takes the derivative by u back to P and V.
func (e *positionalCore) firstGrad(g *model.Positional) {
	w, s := e.w, e.w.S
	dz := make([]float64, s)
	for h := range w.A {
		for i := range w.T {
			row := e.du.RawRowView(i)[(1+h)*s : (2+h)*s]
			copy(dz, row)
			if w.Values {
				for a, z := range e.z[h].RawRowView(i) {
					addScaled(g.V[h].RawRowView(a), z, row)
					dz[a] = dot(w.V[h].RawRowView(a), row)
				}
			}
			dp := g.A[h].RawRowView(i)[:i+1]
			for j := range dp {
				dp[j] += dz[e.x[j]]
			}
		}
	}
}

// target returns the target of position i and its weight in the loss. one is room for S numbers.
func (e *positionalCore) target(i int, y, one []float64) ([]float64, float64) {
	weight := 1.0
	if e.w.Everywhere {
		weight = 1 / float64(e.w.T)
	}
	if i == e.w.T-1 {
		return y, weight
	}
	clear(one)
	one[e.x[i+1]] = 1
	return one, weight
}

// positions returns the first position with a loss.
func (e *positionalCore) positions() int {
	if e.w.Everywhere {
		return 0
	}
	return e.w.T - 1
}

// mixture computes f and the loss of the softmax form, and adds to g and du.
func (e *positionalCore) mixture(y []float64, g *model.Positional) (loss float64) {
	w := e.w
	_, d := e.u.Dims()
	a, r, da, dr := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	one, by, dp, scores := make([]float64, w.S), make([]float64, w.S), make([]float64, w.T), make([]float64, w.T)
	for i := e.positions(); i < w.T; i++ {
		clear(a)
		clear(r)
		for k, v := range e.u.RawRowView(i) {
			addScaled(a, v, w.Q.RawRowView(k))
		}
		for k, v := range a {
			addScaled(r, v, w.K.RawRowView(k))
		}
		p, f := scores[:i+1], e.f.RawRowView(i)
		for j := range p {
			p[j] = dot(r, e.u.RawRowView(j))
		}
		num.LogSumExp(p, p)
		clear(f)
		for j, v := range p {
			f[e.x[j]] += v
		}
		if y == nil {
			continue
		}
		target, weight := e.target(i, y, one)
		for s, t := range target {
			by[s] = 0
			if t > 0 {
				loss -= float64(float64(weight*t) * num.Log(f[s]+mixtureFloor))
				by[s] = -float64(weight*t) / (f[s] + mixtureFloor)
			}
		}
		if g == nil {
			continue
		}
		mean := dot(by, f)
		for j, v := range p {
			dp[j] = float64(v * (by[e.x[j]] - mean)) // the derivative by the score
		}
		e.scoreGrad(i, dp[:i+1], a, r, da, dr, g)
	}
	return loss
}

// scoreGrad adds to du, Q and K, given the derivative ds by the scores u_i Q K u_j^T of position i, with
// a = u_i Q and r = a K. da and dr are room.
func (e *positionalCore) scoreGrad(i int, ds, a, r, da, dr []float64, g *model.Positional) {
	clear(dr)
	for j, v := range ds {
		addScaled(dr, v, e.u.RawRowView(j))
		addScaled(e.du.RawRowView(j), v, r)
	}
	for k, v := range a {
		addScaled(g.K.RawRowView(k), v, dr)
		da[k] = dot(e.w.K.RawRowView(k), dr)
	}
	du := e.du.RawRowView(i)
	for k, v := range e.u.RawRowView(i) {
		addScaled(g.Q.RawRowView(k), v, da)
		du[k] += dot(e.w.Q.RawRowView(k), da)
	}
}

// linear computes f and the loss of the linear form, and adds to g and du. With C_i = sum_{j<=i} (P X)_j e_{x_j}^T,
// S x S, the logits of position i are the row W_{x_i} C_i.
func (e *positionalCore) linear(y []float64, g *model.Positional) (loss float64) {
	w, s := e.w, e.w.S
	c := mat.NewDense(s, s, nil)
	logits, one := make([]float64, s), make([]float64, s)
	by := mat.NewDense(w.T, s, nil) // derivatives by the logits
	first := e.positions()
	for i, token := range e.x {
		for a, v := range e.u.RawRowView(i)[s:] {
			c.Set(a, token, c.At(a, token)+v)
		}
		if i < first {
			continue
		}
		clear(logits)
		for a, v := range w.W.RawRowView(token) {
			addScaled(logits, v, c.RawRowView(a))
		}
		f := e.f.RawRowView(i)
		logZ := num.LogSumExp(f, logits)
		if y == nil {
			continue
		}
		target, weight := e.target(i, y, one)
		d := by.RawRowView(i)
		for k, t := range target {
			loss += float64(float64(weight*t) * (logZ - logits[k]))
			d[k] = float64(weight * (f[k] - t))
		}
		if g != nil {
			for a := range s {
				g.W.Set(token, a, g.W.At(token, a)+dot(c.RawRowView(a), d))
			}
		}
	}
	if g == nil {
		return loss
	}
	c.Zero() // now the derivative by C_i, from the end
	for i := w.T - 1; i >= 0; i-- {
		for a, v := range w.W.RawRowView(e.x[i]) {
			addScaled(c.RawRowView(a), v, by.RawRowView(i))
		}
		du := e.du.RawRowView(i)[s:]
		for a := range du {
			du[a] += c.At(a, e.x[i])
		}
	}
	return loss
}

// addTo adds c times the gradient to dst, which has the shape of the weights: g has the derivatives of loss, whose
// part by P goes through the softmax of each row of the first layer.
func (e *positionalCore) addTo(dst, g *model.Positional, c float64) {
	to, from := dst.Matrices(), g.Matrices()
	for n := len(e.p); n < len(to); n++ {
		addScaled(to[n].Data, c, from[n].Data)
	}
	for h, p := range e.p {
		for i := range e.w.T {
			row, dp := p.RawRowView(i)[:i+1], g.A[h].RawRowView(i)[:i+1]
			mean := dot(row, dp)
			for j, v := range row {
				r, k := i, j
				if e.w.Relative {
					r, k = 0, i-j
				}
				dst.A[h].Set(r, k, dst.A[h].At(r, k)+float64(c*float64(v*(dp[j]-mean))))
			}
		}
	}
}

// addScaled adds c x to dst.
func addScaled(dst []float64, c float64, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += float64(c * v)
	}
}

// dot returns sum_i a_i b_i.
func dot(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}
