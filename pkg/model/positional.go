package model

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// A PositionalForm is the kind and the size of a [Positional]. S, T and Heads are at least one.
type PositionalForm struct {
	S, T, Heads int
	Relative    bool // the first layer depends on distances alone
	Values      bool // the first layer has value matrices; without them they are the identity
	Linear      bool // the minimal model, with one head and without Values
	Everywhere  bool // the loss is that of every position, not of the last one
}

// Positional is a transformer of two layers over S tokens and T positions. Its first layer attends by position
// alone, with m heads, and its output is the mixture of the tokens to which the second layer attends. With X
// the T x S matrix of the one-hot tokens e_{x_i},
//
//	P_h = S(MASK(A_h))                                        T x T
//	u_i = [e_{x_i}, (P_1 X)_i V_1, ..., (P_m X)_i V_m]        d = (1+m) S
//	f_i = sum_j S(MASK(u Q K u^T))_ij e_{x_j}                 S
//
// and the loss of position i is -sum_s y_s log(f_is + 1e-8). It is the simplified transformer of Varre, Yüce and
// Flammarion (arXiv 2508.12837). If Relative, A_h is 1 x T and the score of j at i is its entry i-j.
//
// The Linear form is the minimal model of Edelman et al. (arXiv 2402.11004), whose second layer has no softmax:
//
//	f_i = softmax(sum_{j<=i} (e_{x_i}^T W (P_1 X)_j) e_{x_j})
//
// with the loss -sum_s y_s log f_is.
type Positional struct {
	PositionalForm
	A    []*mat.Dense // of each head: T x T, or 1 x T if Relative
	V    []*mat.Dense // of each head: S x S; none without Values
	Q, K *mat.Dense   // d x d; nil if Linear
	W    *mat.Dense   // S x S; nil unless Linear
}

// NewPositional returns zero weights. It panics if S, T or Heads is below one, and if a Linear form has several
// heads or Values.
func NewPositional(form PositionalForm) *Positional {
	return form.build(func(rows, cols int) *mat.Dense { return mat.NewDense(rows, cols, nil) })
}

func (f PositionalForm) build(dense func(rows, cols int) *mat.Dense) *Positional {
	must(f.check())
	w := &Positional{PositionalForm: f}
	rows, d := f.T, (1+f.Heads)*f.S
	if f.Relative {
		rows = 1
	}
	for range f.Heads {
		w.A = append(w.A, dense(rows, f.T))
		if f.Values {
			w.V = append(w.V, dense(f.S, f.S))
		}
	}
	if f.Linear {
		w.W = dense(f.S, f.S)
	} else {
		w.Q, w.K = dense(d, d), dense(d, d)
	}
	return w
}

func (f PositionalForm) check() error {
	if err := sizeError(f.S, f.T); err != nil {
		return err
	}
	if f.Linear && (f.Heads != 1 || f.Values) {
		return fmt.Errorf("model: a linear second layer with %d heads and values %t, want one head and no values",
			f.Heads, f.Values)
	}
	return headsError(0, f.Heads)
}

// Zero returns zero weights of the same form.
func (w *Positional) Zero() Model { return NewPositional(w.PositionalForm) }

// Matrices returns A1, or A1-1, A1-2, ... of several heads, the values V1 in the same way, and Q and K, or W.
func (w *Positional) Matrices() []Matrix {
	var all []Matrix
	add := func(name string, heads []*mat.Dense) {
		for h, m := range heads {
			if len(heads) > 1 {
				all = append(all, newMatrix(fmt.Sprintf("%s-%d", name, h+1), m))
			} else {
				all = append(all, newMatrix(name, m))
			}
		}
	}
	add("A1", w.A)
	add("V1", w.V)
	if w.Linear {
		return append(all, newMatrix("W", w.W))
	}
	return append(all, newMatrix("Q", w.Q), newMatrix("K", w.K))
}

// Arrays returns the data of every matrix, in the order of Matrices.
func (w *Positional) Arrays() [][]float64 { return Trained(w) }

// Validate returns an error if a matrix has another size than the form gives it.
func (w *Positional) Validate() error {
	if err := w.check(); err != nil {
		return err
	}
	got, want := w.Matrices(), NewPositional(w.PositionalForm).Matrices()
	if len(got) != len(want) {
		return fmt.Errorf("model: %d matrices, want %d", len(got), len(want))
	}
	for i, m := range got {
		if err := m.check(want[i].Rows, want[i].Cols); err != nil {
			return err
		}
	}
	return nil
}

// PositionAttentions returns P_h of each head: T x T, row-stochastic, lower triangular.
func (w *Positional) PositionAttentions() []*mat.Dense {
	must(w.Validate())
	var all []*mat.Dense
	scores := make([]float64, w.T)
	for _, a := range w.A {
		p := mat.NewDense(w.T, w.T, nil)
		for i := range w.T {
			for j := range i + 1 {
				scores[j] = a.At(w.entry(i, j))
			}
			num.LogSumExp(p.RawRowView(i)[:i+1], scores[:i+1])
		}
		all = append(all, p)
	}
	return all
}

// entry returns the row and the column in A_h of the score of position j at position i.
func (w *Positional) entry(i, j int) (row, col int) {
	if w.Relative {
		return 0, i - j
	}
	return i, j
}

// Forward returns f at the last position after the sequence x, and the loss for the target y, the law of the next
// token. If Everywhere, the loss is the mean over all positions, where the target of a position before the last
// one is the token that follows it. It adds the gradient of the loss to grad; y or grad may be nil, and without y
// the loss is 0 and nothing is added. It panics where [Check] has an error, and if grad has another shape than w.
func (w *Positional) Forward(x []int, y []float64, grad *Positional) (f []float64, loss float64) {
	e := w.NewPass()
	if grad == nil {
		loss = e.Loss(x, y, nil)
	} else {
		checkSame("gradient", grad, w)
		g, _ := e.NewGradient()
		loss = e.Loss(x, y, g)
		e.AddTo(grad, g, 1)
	}
	return slices.Clone(e.f.RawRowView(w.T - 1)), loss
}

// Predictions returns f at every position of the sequence x: T x S. It panics where [Check] has an error.
func (w *Positional) Predictions(x []int) *mat.Dense {
	everywhere := *w
	everywhere.Everywhere = true
	e := everywhere.NewPass()
	e.Loss(x, nil, nil)
	return e.f
}

// A PositionalPass evaluates sequences with the attention of the first layer computed once, and belongs to one
// goroutine. It keeps the weights, which must not change.
type PositionalPass struct {
	w     *Positional
	p     []*mat.Dense // P_h
	x     []int
	u, du *mat.Dense   // T x d
	f     *mat.Dense   // T x S
	z     []*mat.Dense // T x S, P_h X of each head
}

// NewPass returns a pass of the weights. It panics if a matrix has another size than the form gives it.
func (w *Positional) NewPass() *PositionalPass { return w.passWith(w.PositionAttentions()) }

// Fork returns a pass of the same weights for another goroutine.
func (e *PositionalPass) Fork() *PositionalPass { return e.w.passWith(e.p) }

func (w *Positional) passWith(p []*mat.Dense) *PositionalPass {
	d := (1 + w.Heads) * w.S
	e := &PositionalPass{
		w: w, p: p, u: mat.NewDense(w.T, d, nil), du: mat.NewDense(w.T, d, nil),
		f: mat.NewDense(w.T, w.S, nil),
	}
	for range p {
		e.z = append(e.z, mat.NewDense(w.T, w.S, nil))
	}
	return e
}

// NewGradient returns zero derivatives for [PositionalPass.Loss], of the form of the weights with the derivative by
// P_h, T x T, in place of A_h, and all their numbers, shared.
func (e *PositionalPass) NewGradient() (g *Positional, all []float64) {
	form, n := e.w.PositionalForm, 0
	form.Relative = false
	for _, m := range NewPositional(form).Matrices() {
		n += len(m.Data)
	}
	all = make([]float64, n)
	return form.build(func(rows, cols int) *mat.Dense {
		m := mat.NewDense(rows, cols, all[n-rows*cols:n])
		n -= rows * cols
		return m
	}), all
}

// Last returns f at the last position of the last sequence. The next call of Loss overwrites it.
func (e *PositionalPass) Last() []float64 { return e.f.RawRowView(e.w.T - 1) }

// Loss returns the loss of [Positional.Forward], and adds derivatives to g, which may be nil.
func (e *PositionalPass) Loss(x []int, y []float64, g *Positional) float64 {
	must(Check(x, y, e.w.S, e.w.T))
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
func (e *PositionalPass) first() {
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
func (e *PositionalPass) firstGrad(g *Positional) {
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
func (e *PositionalPass) target(i int, y, one []float64) ([]float64, float64) {
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
func (e *PositionalPass) positions() int {
	if e.w.Everywhere {
		return 0
	}
	return e.w.T - 1
}

// mixtureFloor is added to the mixture in the loss.
const mixtureFloor = 1e-8

// mixture computes f and the loss of the softmax form, and adds to g and du.
func (e *PositionalPass) mixture(y []float64, g *Positional) (loss float64) {
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
func (e *PositionalPass) scoreGrad(i int, ds, a, r, da, dr []float64, g *Positional) {
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
func (e *PositionalPass) linear(y []float64, g *Positional) (loss float64) {
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

// AddTo adds c times the gradient to dst, which has the shape of the weights: g has the derivatives of Loss, whose
// part by P goes through the softmax of each row of the first layer.
func (e *PositionalPass) AddTo(dst, g *Positional, c float64) {
	to, from := dst.Matrices(), g.Matrices()
	for n := len(e.p); n < len(to); n++ {
		addScaled(to[n].Data, c, from[n].Data)
	}
	for h, p := range e.p {
		for i := range e.w.T {
			row, dp := p.RawRowView(i)[:i+1], g.A[h].RawRowView(i)[:i+1]
			mean := dot(row, dp)
			for j, v := range row {
				r, k := e.w.entry(i, j)
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
