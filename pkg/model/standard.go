package model

import "gonum.org/v1/gonum/mat"

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
	m.check()
	d, n := m.P.Dims()
	_, s := m.E.Dims()
	must(Check(x, nil, s, n))
	h := mat.NewDense(n, d, nil)
	for t, s := range x {
		for k := range d {
			h.Set(t, k, m.E.At(k, s)+m.P.At(k, t))
		}
	}
	for _, heads := range m.Layers {
		next := mat.DenseCopyOf(h)
		for _, head := range heads {
			var a, v mat.Dense
			a.Mul(head.Q, head.K.T())
			out, _ := attention(h, &a)
			v.Mul(out, head.V.T())
			next.Add(next, &v)
		}
		h = next
	}
	var out mat.Dense
	out.Mul(h, m.W.T())
	return &out
}
