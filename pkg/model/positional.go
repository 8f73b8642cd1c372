package model

import (
	"fmt"

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
	must(form.check())
	w := &Positional{PositionalForm: form}
	rows, d := form.T, (1+form.Heads)*form.S
	if form.Relative {
		rows = 1
	}
	for range form.Heads {
		w.A = append(w.A, mat.NewDense(rows, form.T, nil))
		if form.Values {
			w.V = append(w.V, mat.NewDense(form.S, form.S, nil))
		}
	}
	if form.Linear {
		w.W = mat.NewDense(form.S, form.S, nil)
	} else {
		w.Q, w.K = mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
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
	must(Check(x, y, w.S, w.T))
	if grad != nil {
		checkSame("gradient", grad, w)
	}
	t := w.record(x)
	all, d, loss := w.loss(t.nodes[len(t.nodes)-1].v, x, y)
	if y != nil && grad != nil {
		t.backward(d)
		t.addTo(grad)
	}
	return all.RawRowView(w.T - 1), loss
}

// Predictions returns f at every position of the sequence x: T x S. It panics where [Check] has an error.
func (w *Positional) Predictions(x []int) *mat.Dense {
	t := w.record(x)
	f, _, _ := w.loss(t.nodes[len(t.nodes)-1].v, x, nil)
	return f
}

// record returns the tape of a forward pass on x. Its last value, T x S, is f, or the logits of a Linear form.
func (w *Positional) record(x []int) *tape {
	must(w.Validate())
	must(Check(x, nil, w.S, w.T))
	t := &tape{params: map[string]*node{}}
	ms, oneHot := w.Matrices(), mat.NewDense(w.T, w.S, nil)
	param := func(n int) *node { return t.param(ms[n].Name, mat.NewDense(ms[n].Rows, ms[n].Cols, ms[n].Data)) }
	for i, token := range x {
		oneHot.Set(i, token, 1)
	}
	tokens := t.add("", oneHot, func(*mat.Dense) {})
	streams := []*node{tokens}
	for h := range w.Heads {
		z := t.mul("", t.softmax("", t.spread(param(h), w)), tokens)
		if w.Values {
			z = t.mul("", z, param(w.Heads+h))
		}
		streams = append(streams, z)
	}
	last := len(ms) - 1
	if w.Linear {
		scores := t.mulT("", t.mul("", tokens, param(last)), streams[1])
		t.mul("", t.lower(scores), tokens)
		return t
	}
	u := t.concat("", streams...)
	scores := t.mulT("", t.mul("", t.mul("", u, param(last-1)), param(last)), u)
	t.mul("", t.softmax("", scores), tokens)
	return t
}

// spread appends the scores of the first layer: T x T, entry (i, j) from its place in A_h.
func (t *tape) spread(a *node, w *Positional) *node {
	v := mat.NewDense(w.T, w.T, nil)
	for i := range w.T {
		for j := range i + 1 {
			v.Set(i, j, a.v.At(w.entry(i, j)))
		}
	}
	return t.add("", v, func(d *mat.Dense) {
		for i := range w.T {
			for j := range i + 1 {
				r, c := w.entry(i, j)
				a.d.Set(r, c, a.d.At(r, c)+d.At(i, j))
			}
		}
	})
}

// lower appends a with zeros above the diagonal.
func (t *tape) lower(a *node) *node {
	cut := func(i, j int, v float64) float64 {
		if j > i {
			return 0
		}
		return v
	}
	var v mat.Dense
	v.Apply(cut, a.v)
	return t.add("", &v, func(d *mat.Dense) {
		d.Apply(cut, d)
		a.d.Add(a.d, d)
	})
}

// mixtureFloor is added to the mixture in the loss.
const mixtureFloor = 1e-8

// loss returns f at every position, T x S, the loss, and its gradient d by the last value of the tape. Without y the
// loss is 0.
func (w *Positional) loss(v *mat.Dense, x []int, y []float64) (f, d *mat.Dense, loss float64) {
	f, d = mat.DenseCopyOf(v), mat.NewDense(w.T, w.S, nil)
	for i := range w.T {
		row, logZ := f.RawRowView(i), 0.0
		if w.Linear {
			logZ = num.LogSumExp(row, v.RawRowView(i))
		}
		if y == nil || !w.Everywhere && i < w.T-1 {
			continue
		}
		target, weight := y, 1.0
		if w.Everywhere {
			weight = 1 / float64(w.T)
		}
		if i < w.T-1 {
			target = make([]float64, w.S)
			target[x[i+1]] = 1
		}
		for s, p := range target {
			switch p = float64(p * weight); {
			case w.Linear:
				loss += float64(p * (logZ - v.At(i, s)))
				d.Set(i, s, float64(weight*row[s])-p)
			case p > 0:
				loss -= float64(p * num.Log(row[s]+mixtureFloor))
				d.Set(i, s, -p/(row[s]+mixtureFloor))
			}
		}
	}
	return f, d, loss
}
