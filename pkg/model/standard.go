package model

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Standard are the parameters of a decoder-based, attention-only transformer
// (Definition 2) with hidden dimension d over S tokens and T positions.
type Standard struct {
	E      *mat.Dense // d x S, token embeddings
	P      *mat.Dense // d x T, positional embeddings
	Layers [][]Head   // Layers[l] are the heads of layer l
	W      *mat.Dense // d_out x d, the paper's W_O
}

// A Head is one causal self-attention head; Q, K and V are d x d.
type Head struct{ Q, K, V *mat.Dense }

// Forward returns TF(x), T x d_out, all positions:
//
//	h0_t    = E e_{x_t} + P e_t
//	h_{l+1} = h_l + sum_i attn(h_l; Q_i K_i^T) V_i^T
//	TF(x)   = h_L W^T
//
// with attn(h; A) = S(MASK(h A h^T)) h (Definition 1). It panics if x has another length than P has columns, or
// a token without a column of E, and if a matrix has another size than E, P and W give it.
func (m *Standard) Forward(x []int) *mat.Dense {
	return record(m, x, nil).named["logits"].v
}

// pass records the forward pass on x.
func (m *Standard) pass(t *tape, x []int) {
	m.check()
	_, n := m.P.Dims()
	_, s := m.E.Dims()
	must(Check(x, nil, s, n))
	constant := func(a mat.Matrix) *node { return t.param("", mat.DenseCopyOf(a)) }
	h := t.sum("stream0", t.rows("tokens", constant(m.E.T()), x), t.sum("positions", constant(m.P.T())))
	for l, heads := range m.Layers {
		parts := []*node{h}
		for i, head := range heads {
			a := t.mulT("", constant(head.Q), constant(head.K))
			name := fmt.Sprintf("layer%d.head%d.result", l+1, i+1)
			parts = append(parts, t.mulT(name, t.attention(l, i, h, a), constant(head.V)))
		}
		h = t.sum(fmt.Sprintf("stream%d", l+1), parts...)
	}
	t.mulT("logits", h, constant(m.W))
}
