package model

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// Weights are the parameters of a disentangled transformer (Definition 3) over S
// tokens and T positions, with len(A[l]) heads in layer l.
//
// The residual stream has width d_0 = S+T and d_{l+1} = (1+len(A[l])) d_l. In an
// attention matrix the row belongs to the query and the column to the key.
type Weights struct {
	S, T int
	A    [][]*mat.Dense // A[l][h]: d_l x d_l, the attention matrix of head h of layer l
	W    *mat.Dense     // d_L x S, the transpose of the paper's W_O
}

// NewWeights returns zero weights with heads[l] heads in layer l, the initialisation of the paper's
// experiments. It panics if s, t or a number of heads is below one.
func NewWeights(s, t int, heads ...int) *Weights {
	must(sizeError(s, t))
	w := &Weights{S: s, T: t}
	d := s + t
	for l, m := range heads {
		must(headsError(l, m))
		var layer []*mat.Dense
		for range m {
			layer = append(layer, mat.NewDense(d, d, nil))
		}
		w.A = append(w.A, layer)
		d *= 1 + m
	}
	w.W = mat.NewDense(d, s, nil)
	return w
}

// Zero returns zero weights of the same size.
func (w *Weights) Zero() Model { return NewWeights(w.S, w.T, w.Heads()...) }

// Heads returns the number of heads in each layer.
func (w *Weights) Heads() []int {
	heads := make([]int, len(w.A))
	for l, layer := range w.A {
		heads[l] = len(layer)
	}
	return heads
}

// Matrices returns A1, A2, ..., or A1-1, A1-2, ... where a layer has several heads, and W.
func (w *Weights) Matrices() []Matrix {
	var all []Matrix
	for l, layer := range w.A {
		for h, a := range layer {
			all = append(all, newMatrix(headName(l, h, len(layer)), a))
		}
	}
	return append(all, newMatrix("W", w.W))
}

// Forward returns f, the model's distribution over the S tokens after the
// sequence x (Definition 3, read at the last position):
//
//	h0_t    = [e_{x_t}, e_t]
//	h_{l+1} = [h_l, attn(h_l; A_{l,1}), ..., attn(h_l; A_{l,m})]
//	f       = softmax(h_L[T-1] W)
//
// It also returns -sum_s y_s log f_s in nats and adds its gradient to grad; y or
// grad may be nil, and without y the loss is 0 and nothing is added. It panics
// where [Check] has an error, and if grad has another shape than w.
func (w *Weights) Forward(x []int, y []float64, grad *Weights) (f []float64, loss float64) {
	must(w.Validate())
	must(Check(x, y, w.S, w.T))
	if grad == nil {
		return evaluate(w, x, y, nil)
	}
	checkSame("gradient", grad, w)
	return evaluate(w, x, y, grad)
}

// pass records the forward pass on x, up to the last stream if there is no W.
func (w *Weights) pass(t *tape, x []int) {
	w.mustWidth()
	h := t.add("stream0", w.embed(x), func(*mat.Dense) {})
	for l, layer := range w.A {
		parts := []*node{h}
		for i, a := range layer {
			parts = append(parts, t.attention(l, i, h, t.param(headName(l, i, len(layer)), a)))
		}
		h = t.concat(fmt.Sprintf("stream%d", l+1), parts...)
	}
	if w.W != nil {
		must(w.Validate())
		t.mul("logits", h, t.param("W", w.W))
	}
}

// headName returns the name of the attention matrix of head h of layer l, counted from 0, among so many heads.
func headName(l, h, heads int) string {
	if heads == 1 {
		return fmt.Sprintf("A%d", l+1)
	}
	return fmt.Sprintf("A%d-%d", l+1, h+1)
}

// embed returns h0, T x (S+T), row t = [e_{x_t}, e_t].
func (w *Weights) embed(x []int) *mat.Dense {
	must(Check(x, nil, w.S, w.T))
	h := mat.NewDense(w.T, w.S+w.T, nil)
	for t, s := range x {
		h.Set(t, s, 1)
		h.Set(t, w.S+t, 1)
	}
	return h
}

// Attention returns S(MASK(h_l A h_l^T)) of each head of each layer l on the sequence x: T x T,
// row-stochastic, lower triangular. It panics if x is not T tokens in 0..S-1.
func (w *Weights) Attention(x []int) [][]*mat.Dense {
	return record(w, x, nil).patterns()
}

// Stream returns the last residual stream h_L, T x d_L, on the sequence x. It
// panics if x is not T tokens in 0..S-1.
func (w *Weights) Stream(x []int) *mat.Dense {
	return record(w, x, nil).named[fmt.Sprintf("stream%d", len(w.A))].v
}

// Linear returns h_L W, T x S: the output as the paper defines it, at all positions and before the
// softmax that Forward takes of its last row. It panics if x is not T tokens in 0..S-1.
func (w *Weights) Linear(x []int) *mat.Dense {
	must(w.Validate())
	return record(w, x, nil).named["logits"].v
}

// PositionAttention returns S(MASK(A1)), T x T, where A1 is the position-position block of the first head of
// the first layer: row i is a distribution over the positions j <= i. It panics if there is no layer.
func (w *Weights) PositionAttention() *mat.Dense { return w.PositionAttentions()[0] }

// PositionAttentions returns S(MASK(A1)) of each head of the first layer. It panics if there is no layer.
func (w *Weights) PositionAttentions() []*mat.Dense {
	if w.mustWidth(); len(w.A) == 0 {
		panic("model: no layers, want one with attention")
	}
	var all []*mat.Dense
	for _, a := range w.A[0] {
		p := mat.NewDense(w.T, w.T, nil)
		for i := range w.T {
			num.LogSumExp(p.RawRowView(i)[:i+1], a.RawRowView(w.S + i)[w.S:w.S+i+1])
		}
		all = append(all, p)
	}
	return all
}
