package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// MLP are the parameters of the standard decoder-based transformer with MLPs of
// the paper's Appendix C, over S tokens and T positions, with one head in each
// layer. With d its width,
//
//	h0_t    = E[x_t] + P[t]
//	h_{l+1} = h_l + mlp_l(attn(h_l; A_l) V_l)
//	mlp(z)  = relu(z In + sqrt(d) BIn) Out + sqrt(d) BOut
//	f       = softmax(h_L[T-1] W)
//
// Attention reaches the stream through the MLP alone. The factor of the biases
// is that of the authors' released code: it makes Adam's steps larger there.
type MLP struct {
	S, T, Width int       // Width is d
	Fixed       bool      // the embeddings are not trained
	E, P        []float64 // token and positional embeddings, S x d and T x d
	Layers      []MLPLayer
	W           []float64 // output matrix, d x S
}

// MLPLayer is the attention matrix, the value matrix and the MLP of a layer.
// Matrices are d x d and multiply rows from the right, biases are of length d.
type MLPLayer struct {
	A, V      []float64
	In, Out   []float64
	BIn, BOut []float64
}

// NewMLP returns zero weights of two layers, of which all are trained. It panics
// if s, t or width is below one.
func NewMLP(s, t, width int) *MLP {
	must(mlpError(s, t, width))
	w := &MLP{
		S: s, T: t, Width: width,
		E: make([]float64, s*width), P: make([]float64, t*width), W: make([]float64, width*s),
	}
	for range 2 {
		m, b := zeros(4, width*width), zeros(2, width)
		w.Layers = append(w.Layers, MLPLayer{A: m[0], V: m[1], In: m[2], Out: m[3], BIn: b[0], BOut: b[1]})
	}
	return w
}

// Zero returns zero weights of the same size, and with the same ones fixed.
func (w *MLP) Zero() Model {
	z := NewMLP(w.S, w.T, w.Width)
	z.Fixed = w.Fixed
	return z
}

// Matrices returns A1, A2, W, E, P, and V, In, BIn, Out and BOut of each layer.
func (w *MLP) Matrices() []Matrix {
	d := w.Width
	var a, rest []Matrix
	for i, l := range w.Layers {
		n := fmt.Sprint(i + 1)
		a = append(a, Matrix{Name: "A" + n, Rows: d, Data: l.A})
		rest = append(rest,
			Matrix{Name: "V" + n, Rows: d, Data: l.V},
			Matrix{Name: "In" + n, Rows: d, Data: l.In},
			Matrix{Name: "BIn" + n, Rows: 1, Data: l.BIn},
			Matrix{Name: "Out" + n, Rows: d, Data: l.Out},
			Matrix{Name: "BOut" + n, Rows: 1, Data: l.BOut})
	}
	return slices.Concat(a, []Matrix{
		{Name: "W", Rows: d, Data: w.W},
		{Name: "E", Rows: w.S, Data: w.E, Fixed: w.Fixed},
		{Name: "P", Rows: w.T, Data: w.P, Fixed: w.Fixed},
	}, rest)
}

// Arrays returns every parameter array, in the order of Matrices but with the
// embeddings at the end.
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

// mlpTrace is what the backward pass of a layer needs of the forward pass.
type mlpTrace struct {
	h, p      *mat.Dense // input; attention, T x T
	out, z, u *mat.Dense // attn(h; A), its product with V, relu(z In + sqrt(d) BIn)
}

// Forward returns f, the model's distribution over the S tokens after the
// sequence x. It also returns -sum_s y_s log f_s and adds its gradient to grad; y
// or grad may be nil, and without y the loss is 0 and nothing is added. Nothing is
// added to embeddings of grad that are fixed. It is the slow, trusted version: dense
// matrices, one sequence. It panics where [Check] has an error, and if grad has
// another shape than w.
func (w *MLP) Forward(x []int, y []float64, grad *MLP) (f []float64, loss float64) {
	check(x, y, w.S, w.T)
	if grad != nil {
		checkSame("gradient", grad, w)
	}
	h, trace := w.forward(x)
	out := mat.NewDense(w.Width, w.S, w.W)
	var logits mat.VecDense
	last := h.RowView(w.T - 1)
	logits.MulVec(out.T(), last)
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
	dout := mat.NewDense(w.Width, w.S, grad.W)
	dout.RankOne(dout, 1, last, dl)
	dh := mat.NewDense(w.T, w.Width, nil)
	dh.RowView(w.T-1).(*mat.VecDense).MulVec(out, dl)
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

// Attention returns attn(h_l; A_l) of the one head of each layer l on the sequence
// x: T x T, row-stochastic, lower triangular. It panics if x is not T tokens in
// 0..S-1.
func (w *MLP) Attention(x []int) [][]*mat.Dense {
	var attn [][]*mat.Dense
	_, trace := w.forward(x)
	for _, tr := range trace {
		attn = append(attn, []*mat.Dense{tr.p})
	}
	return attn
}

// layer returns h + mlp(attn(h; A) V), T x d.
func (w *MLP) layer(l MLPLayer, h *mat.Dense) (next *mat.Dense, tr mlpTrace) {
	root := math.Sqrt(float64(w.Width))
	next, tr = new(mat.Dense), mlpTrace{h: h, z: new(mat.Dense), u: new(mat.Dense)}
	tr.out, tr.p = attention(h, square(l.A))
	tr.z.Mul(tr.out, square(l.V))
	tr.u.Mul(tr.z, square(l.In))
	tr.u.Apply(func(_, k int, v float64) float64 { return max(0, v+float64(root*l.BIn[k])) }, tr.u)
	next.Mul(tr.u, square(l.Out))
	next.Apply(func(t, k int, v float64) float64 { return v + float64(root*l.BOut[k]) + h.At(t, k) }, next)
	return next, tr
}

// layerGrad adds to g the gradient of a layer, given that of its output, dh, and
// returns that of its input.
func (w *MLP) layerGrad(g, l MLPLayer, tr mlpTrace, dh *mat.Dense) *mat.Dense {
	root := math.Sqrt(float64(w.Width))
	du := mulGrad(g.Out, tr.u, l.Out, dh)
	sumRows(g.BOut, root, dh)
	du.Apply(func(t, k int, v float64) float64 {
		if tr.u.At(t, k) > 0 {
			return v
		}
		return 0
	}, du)
	dz := mulGrad(g.In, tr.z, l.In, du)
	sumRows(g.BIn, root, du)
	dattn := mulGrad(g.V, tr.out, l.V, dz)
	below := mat.DenseCopyOf(dh)
	attentionGrad(below, square(g.A), tr.h, square(l.A), tr.p, dattn)
	return below
}

// embed returns h0, T x d.
func (w *MLP) embed(x []int) *mat.Dense {
	check(x, nil, w.S, w.T)
	d := w.Width
	h := mat.NewDense(w.T, d, nil)
	for t, s := range x {
		for k := range d {
			h.Set(t, k, w.E[s*d+k]+w.P[t*d+k])
		}
	}
	return h
}

// embedGrad adds the gradient of h0 to that of the embeddings, which is w here.
func (w *MLP) embedGrad(x []int, dh *mat.Dense) {
	d := w.Width
	for t, s := range x {
		for k := range d {
			w.E[s*d+k] += dh.At(t, k)
			w.P[t*d+k] += dh.At(t, k)
		}
	}
}

// mulGrad is the backward pass of c = a b for a square b: it adds a^T dc to db
// and returns da = dc b^T.
func mulGrad(db []float64, a *mat.Dense, b []float64, dc *mat.Dense) *mat.Dense {
	var part, da mat.Dense
	part.Mul(a.T(), dc)
	sum := square(db)
	sum.Add(sum, &part)
	da.Mul(dc, square(b).T())
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
