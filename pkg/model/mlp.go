package model

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
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

// Forward returns f, the model's distribution over the S tokens after the sequence x. It also
// returns -sum_s y_s log f_s and adds its gradient to grad; y or grad may be nil, and without y the
// loss is 0 and nothing is added. Nothing is added to embeddings of grad that are fixed. It panics
// where [Check] has an error, and if grad has another shape than w.
func (w *MLP) Forward(x []int, y []float64, grad *MLP) (f []float64, loss float64) {
	must(Check(x, y, w.S, w.T))
	if grad == nil {
		return evaluate(w, x, y, nil)
	}
	checkSame("gradient", grad, w)
	return evaluate(w, x, y, grad)
}

// pass records the forward pass on x.
func (w *MLP) pass(t *tape, x []int) {
	must(w.Validate())
	must(Check(x, nil, w.S, w.T))
	root := math.Sqrt(float64(w.Width))
	h := t.sum("stream0", t.rows("tokens", t.param("E", w.E), x), t.sum("positions", t.param("P", w.P)))
	for l, layer := range w.Layers {
		at, n := fmt.Sprintf("layer%d.", l+1), fmt.Sprint(l+1)
		stream := "stream" + n
		bias := func(name string, b []float64) *node { return t.param(name+n, mat.NewDense(1, w.Width, b)) }
		z := t.mul(at+"head1.result", t.attention(l, 0, h, t.param("A"+n, layer.A)), t.param("V"+n, layer.V))
		if layer.In == nil {
			h = t.sum(stream, h, z)
			continue
		}
		if w.Residual {
			z = t.sum(at+"middle", h, z)
			h = z
		}
		pre := t.shift(at+"pre", t.mul("", z, t.param("In"+n, layer.In)), bias("BIn", layer.BIn), root)
		u := t.mul("", t.relu(at+"hidden", pre), t.param("Out"+n, layer.Out))
		h = t.sum(stream, h, t.shift(at+"mlp", u, bias("BOut", layer.BOut), root))
	}
	t.mul("logits", h, t.param("W", w.W))
}

// Attention returns attn(h_l; A_l) of the one head of each layer l on the sequence x: T x T,
// row-stochastic, lower triangular. It panics if x is not T tokens in 0..S-1.
func (w *MLP) Attention(x []int) [][]*mat.Dense {
	return record(w, x, nil).patterns()
}
