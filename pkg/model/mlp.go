package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// MLP is what the standard decoder-based transformer with MLPs of the paper's
// Appendix C has beside the attention matrices A, d x d, and the output matrix
// W, d x S, of Weights. With d its width and one head in each layer,
//
//	h0_t    = E[x_t] + P[t]
//	h_{l+1} = h_l + mlp_l(attn(h_l; A_l) V_l)
//	mlp(z)  = relu(z In + sqrt(d) BIn) Out + sqrt(d) BOut
//	f       = softmax(h_L[T-1] W)
//
// Attention reaches the stream through the MLP alone. The factor of the biases
// is that of the authors' released code: it makes Adam's steps larger there.
type MLP struct {
	Width  int       // d
	Fixed  bool      // the embeddings are not trained
	E, P   []float64 // token and positional embeddings, S x d and T x d
	Layers []MLPLayer
}

// MLPLayer is the value matrix and the MLP of a layer. Matrices are d x d and
// multiply rows from the right, biases are of length d.
type MLPLayer struct {
	V         []float64
	In, Out   []float64
	BIn, BOut []float64
}

// NewMLPWeights returns zero weights of the standard transformer with MLPs of
// two layers.
func NewMLPWeights(s, t, width int, fixed bool) *Weights {
	square := func() []float64 { return make([]float64, width*width) }
	m := &MLP{Width: width, Fixed: fixed, E: make([]float64, s*width), P: make([]float64, t*width)}
	w := &Weights{S: s, T: t, Heads: []int{1, 1}, W: make([]float64, width*s), MLP: m}
	for range w.Heads {
		w.A = append(w.A, [][]float64{square()})
		m.Layers = append(m.Layers, MLPLayer{
			V: square(), In: square(), Out: square(), BIn: make([]float64, width), BOut: make([]float64, width),
		})
	}
	return w
}

// embeddings returns E and P.
func (m *MLP) embeddings() [][]float64 { return [][]float64{m.E, m.P} }

// arrays returns the arrays of each layer, in the order V, In, BIn, Out, BOut.
func (m *MLP) arrays() [][]float64 {
	var all [][]float64
	for _, l := range m.Layers {
		all = append(all, l.V, l.In, l.BIn, l.Out, l.BOut)
	}
	return all
}

// mlpTrace is what the backward pass of a layer needs of the forward pass.
type mlpTrace struct {
	h, p      *mat.Dense // input; attention, T x T
	out, z, u *mat.Dense // attn(h; A), its product with V, relu(z In + sqrt(d) BIn)
}

// forwardMLP is Forward for the standard transformer with MLPs.
func (w *Weights) forwardMLP(x []int, y []float64, grad *Weights) (f []float64, loss float64) {
	m, d := w.MLP, w.MLP.Width
	root := math.Sqrt(float64(d))
	h := w.embedMLP(x)
	var trace []mlpTrace
	for l, layer := range m.Layers {
		tr := mlpTrace{h: h, z: new(mat.Dense), u: new(mat.Dense)}
		tr.out, tr.p = attention(h, square(w.A[l][0]))
		tr.z.Mul(tr.out, square(layer.V))
		tr.u.Mul(tr.z, square(layer.In))
		tr.u.Apply(func(_, k int, v float64) float64 { return max(0, v+float64(root*layer.BIn[k])) }, tr.u)
		next := new(mat.Dense)
		next.Mul(tr.u, square(layer.Out))
		next.Apply(func(t, k int, v float64) float64 { return v + float64(root*layer.BOut[k]) + h.At(t, k) }, next)
		trace, h = append(trace, tr), next
	}
	out := mat.NewDense(d, w.S, w.W)
	var logits mat.VecDense
	last := h.RowView(w.T - 1)
	logits.MulVec(out.T(), last)
	f = make([]float64, w.S)
	logZ := softmax(f, logits.RawVector().Data)
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
	dout := mat.NewDense(d, w.S, grad.W)
	dout.RankOne(dout, 1, last, dl)
	dh := mat.NewDense(w.T, d, nil)
	dh.RowView(w.T-1).(*mat.VecDense).MulVec(out, dl)
	for l := len(trace) - 1; l >= 0; l-- {
		layer, g, tr := m.Layers[l], grad.MLP.Layers[l], trace[l]
		du := mulGrad(g.Out, tr.u, layer.Out, dh)
		sumRows(g.BOut, root, dh)
		du.Apply(func(t, k int, v float64) float64 {
			if tr.u.At(t, k) > 0 {
				return v
			}
			return 0
		}, du)
		dz := mulGrad(g.In, tr.z, layer.In, du)
		sumRows(g.BIn, root, du)
		dattn := mulGrad(g.V, tr.out, layer.V, dz)
		below := mat.DenseCopyOf(dh)
		attentionGrad(below, square(grad.A[l][0]), tr.h, square(w.A[l][0]), tr.p, dattn)
		dh = below
	}
	for t, s := range x {
		for k := range d {
			grad.MLP.E[s*d+k] += dh.At(t, k)
			grad.MLP.P[t*d+k] += dh.At(t, k)
		}
	}
	return f, loss
}

// embedMLP returns h0, T x d.
func (w *Weights) embedMLP(x []int) *mat.Dense {
	m, d := w.MLP, w.MLP.Width
	if len(x) != w.T {
		panic(fmt.Sprintf("model: sequence of length %d, want %d", len(x), w.T))
	}
	h := mat.NewDense(w.T, d, nil)
	for t, s := range x {
		for k := range d {
			h.Set(t, k, m.E[s*d+k]+m.P[t*d+k])
		}
	}
	return h
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
