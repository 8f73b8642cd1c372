package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// MLP are the parameters of the standard decoder-based transformer with MLPs of the paper's
// Appendix C, over S tokens and T positions, with one head in each layer. With d its width,
//
//	h0_t    = E[x_t] + P[t]
//	h_{l+1} = h_l + mlp_l(attn(h_l; A_l) V_l)
//	mlp(z)  = relu(z In + sqrt(d) BIn) Out + sqrt(d) BOut
//	f       = softmax(h_L[T-1] W)
//
// In this form, of the authors' released code, attention reaches the stream through the MLP alone. With
// Residual, the form of the paper's text, attention has a residual connection of its own, and the last
// layer has no MLP:
//
//	z_l     = h_l + attn(h_l; A_l) V_l
//	h_{l+1} = z_l + mlp_l(z_l), but h_L = z_{L-1}
//
// The factor sqrt(d) of the biases, from the released code, makes Adam's steps larger there.
type MLP struct {
	S, T, Width int        // Width is d
	Fixed       bool       // the embeddings are not trained
	Residual    bool       // attention has a residual connection
	E, P        *mat.Dense // token and positional embeddings, S x d and T x d
	Layers      []MLPLayer
	W           *mat.Dense // output matrix, d x S
}

// An MLPLayer has the attention matrix, the value matrix and the MLP of a layer, nil in the last
// one of a Residual model. Matrices multiply rows from the right.
type MLPLayer struct {
	A, V      *mat.Dense // d x d
	In, Out   *mat.Dense // d x d
	BIn, BOut []float64  // d
}

// NewMLP returns zero weights of two layers, all of them trained. It panics if s, t or width is below one.
func NewMLP(s, t, width int) *MLP {
	must(mlpError(s, t, width))
	w := &MLP{
		S: s, T: t, Width: width,
		E: mat.NewDense(s, width, nil), P: mat.NewDense(t, width, nil), W: mat.NewDense(width, s, nil),
	}
	square := func() *mat.Dense { return mat.NewDense(width, width, nil) }
	for range 2 {
		w.Layers = append(w.Layers, MLPLayer{
			A: square(), V: square(), In: square(), Out: square(),
			BIn: make([]float64, width), BOut: make([]float64, width),
		})
	}
	return w
}

// NewResidualMLP is NewMLP with Residual.
func NewResidualMLP(s, t, width int) *MLP {
	w := NewMLP(s, t, width)
	w.Residual = true
	w.Layers[1] = MLPLayer{A: w.Layers[1].A, V: w.Layers[1].V}
	return w
}

// Zero returns zero weights of the same size, with the embeddings fixed as in w.
func (w *MLP) Zero() Model {
	z := NewMLP(w.S, w.T, w.Width)
	if w.Residual {
		z = NewResidualMLP(w.S, w.T, w.Width)
	}
	z.Fixed = w.Fixed
	return z
}

// Matrices returns A1, A2, W, E, P, and V, In, BIn, Out and BOut of each layer that has them.
func (w *MLP) Matrices() []Matrix {
	bias := func(name string, b []float64) Matrix { return Matrix{Name: name, Rows: 1, Cols: len(b), Data: b} }
	var a, rest []Matrix
	for i, l := range w.Layers {
		n := fmt.Sprint(i + 1)
		a = append(a, newMatrix("A"+n, l.A))
		rest = append(rest, newMatrix("V"+n, l.V))
		if w.Residual && i == len(w.Layers)-1 {
			continue
		}
		rest = append(rest,
			newMatrix("In"+n, l.In), bias("BIn"+n, l.BIn), newMatrix("Out"+n, l.Out), bias("BOut"+n, l.BOut))
	}
	e, p := newMatrix("E", w.E), newMatrix("P", w.P)
	e.Fixed, p.Fixed = w.Fixed, w.Fixed
	return slices.Concat(a, []Matrix{newMatrix("W", w.W), e, p}, rest)
}

// Arrays returns the data of every matrix, in the order of Matrices but with the embeddings at the end.
func (w *MLP) Arrays() [][]float64 {
	var all, embeddings [][]float64
	for _, m := range w.Matrices() {
		if m.Name == "E" || m.Name == "P" {
			embeddings = append(embeddings, m.Data)
		} else {
			all = append(all, m.Data)
		}
	}
	return append(all, embeddings...)
}

// An mlpTrace holds the values of a layer's forward pass that its backward pass reads.
type mlpTrace struct {
	h, p      *mat.Dense // input; attention, T x T
	out, z, u *mat.Dense // attn(h; A), input of the MLP, relu(z In + sqrt(d) BIn)
}

// Forward returns f, the model's distribution over the S tokens after the sequence x. It also
// returns -sum_s y_s log f_s and adds its gradient to grad; y or grad may be nil, and without y the
// loss is 0 and nothing is added. Nothing is added to embeddings of grad that are fixed. It panics
// where [Check] has an error, and if grad has another shape than w.
func (w *MLP) Forward(x []int, y []float64, grad *MLP) (f []float64, loss float64) {
	must(Check(x, y, w.S, w.T))
	if grad != nil {
		checkSame("gradient", grad, w)
	}
	h, trace := w.forward(x)
	var logits mat.VecDense
	last := h.RowView(w.T - 1)
	logits.MulVec(w.W.T(), last)
	f = make([]float64, w.S)
	logZ := num.LogSumExp(f, logits.RawVector().Data)
	if y == nil {
		return f, 0
	}
	for s, p := range y {
		loss += float64(p * (logZ - logits.AtVec(s)))
	}
	if grad == nil {
		return f, loss
	}

	// Backward: dlogits = f - y (y sums to one), then layer by layer.
	dl := mat.NewVecDense(w.S, nil)
	for s := range f {
		dl.SetVec(s, f[s]-y[s])
	}
	grad.W.RankOne(grad.W, 1, last, dl)
	dh := mat.NewDense(w.T, w.Width, nil)
	dh.RowView(w.T-1).(*mat.VecDense).MulVec(w.W, dl)
	for l := len(trace) - 1; l >= 0; l-- {
		dh = w.layerGrad(grad.Layers[l], w.Layers[l], trace[l], dh)
	}
	if !grad.Fixed {
		grad.embedGrad(x, dh)
	}
	return f, loss
}

// forward returns h_L, T x d, and the traces of the layers.
func (w *MLP) forward(x []int) (h *mat.Dense, trace []mlpTrace) {
	must(w.Validate())
	h = w.embed(x)
	for _, layer := range w.Layers {
		next, tr := w.layer(layer, h)
		trace, h = append(trace, tr), next
	}
	return h, trace
}

// Attention returns attn(h_l; A_l) of the one head of each layer l on the sequence x: T x T,
// row-stochastic, lower triangular. It panics if x is not T tokens in 0..S-1.
func (w *MLP) Attention(x []int) [][]*mat.Dense {
	var attn [][]*mat.Dense
	_, trace := w.forward(x)
	for _, tr := range trace {
		attn = append(attn, []*mat.Dense{tr.p})
	}
	return attn
}

// layer returns the output of a layer, T x d, whose input is h.
func (w *MLP) layer(l MLPLayer, h *mat.Dense) (next *mat.Dense, tr mlpTrace) {
	root := math.Sqrt(float64(w.Width))
	next, tr = new(mat.Dense), mlpTrace{h: h, z: new(mat.Dense), u: new(mat.Dense)}
	tr.out, tr.p = attention(h, l.A)
	tr.z.Mul(tr.out, l.V)
	if w.Residual {
		tr.z.Add(tr.z, h)
		h = tr.z
	}
	if l.In == nil {
		return tr.z, tr
	}
	tr.u.Mul(tr.z, l.In)
	tr.u.Apply(func(_, k int, v float64) float64 { return max(0, v+float64(root*l.BIn[k])) }, tr.u)
	next.Mul(tr.u, l.Out)
	next.Apply(func(t, k int, v float64) float64 { return v + float64(root*l.BOut[k]) + h.At(t, k) }, next)
	return next, tr
}

// layerGrad adds to g the gradient by the weights of a layer, given dh, the gradient by its
// output, and returns the gradient by its input, T x d.
func (w *MLP) layerGrad(g, l MLPLayer, tr mlpTrace, dh *mat.Dense) *mat.Dense {
	root := math.Sqrt(float64(w.Width))
	below, dz := mat.DenseCopyOf(dh), dh
	if l.In != nil {
		du := mulGrad(g.Out, tr.u, l.Out, dh)
		sumRows(g.BOut, root, dh)
		du.Apply(func(t, k int, v float64) float64 {
			if tr.u.At(t, k) > 0 {
				return v
			}
			return 0
		}, du)
		dz = mulGrad(g.In, tr.z, l.In, du)
		sumRows(g.BIn, root, du)
		if w.Residual {
			below.Add(below, dz)
			dz = mat.DenseCopyOf(below)
		}
	}
	dattn := mulGrad(g.V, tr.out, l.V, dz)
	attentionGrad(below, g.A, tr.h, l.A, tr.p, dattn)
	return below
}

// embed returns h0, T x d.
func (w *MLP) embed(x []int) *mat.Dense {
	must(Check(x, nil, w.S, w.T))
	d := w.Width
	h := mat.NewDense(w.T, d, nil)
	for t, s := range x {
		for k := range d {
			h.Set(t, k, w.E.At(s, k)+w.P.At(t, k))
		}
	}
	return h
}

// embedGrad adds dh, the gradient by h0, to the embeddings of w, a gradient.
func (w *MLP) embedGrad(x []int, dh *mat.Dense) {
	for t, s := range x {
		floats.Add(w.E.RawRowView(s), dh.RawRowView(t))
		floats.Add(w.P.RawRowView(t), dh.RawRowView(t))
	}
}

// mulGrad is the backward pass of c = a b: it adds a^T dc to db and returns da = dc b^T.
func mulGrad(db, a, b, dc *mat.Dense) *mat.Dense {
	var part, da mat.Dense
	part.Mul(a.T(), dc)
	db.Add(db, &part)
	da.Mul(dc, b.T())
	return &da
}

// sumRows adds c times the sum of the rows of a to v.
func sumRows(v []float64, c float64, a *mat.Dense) {
	rows, _ := a.Dims()
	for i := range rows {
		for k, x := range a.RawRowView(i) {
			v[k] += float64(c * x)
		}
	}
}
