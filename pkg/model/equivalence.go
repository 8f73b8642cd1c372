package model

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Disentangle returns the disentangled transformer with the same depth and heads that computes the same outputs
// (Theorem 3, thm-equivalence-to):
//
//	Z_0     = [E, P]                              d x (S+T)
//	Z_{l+1} = [Z_l, V_1 Z_l, ..., V_m Z_l]        d x d_{l+1}
//	A_i     = Z_l^T Q_i K_i^T Z_l                 d_l x d_l
//	W_O     = W Z_L                               S x d_L
//
// so that the streams satisfy h_l = h~_l Z_l^T. The paper prints V_i^T for K_i^T. It panics if d_out is not S,
// the only number of outputs of Weights, and if a matrix has another size than E, P and W give it.
func (m *Standard) Disentangle() *Weights {
	m.check()
	d, s := m.E.Dims()
	_, t := m.P.Dims()
	if out, _ := m.W.Dims(); out != s {
		panic(fmt.Sprintf("model: %d outputs for %d tokens; a disentangled transformer has one of each", out, s))
	}
	heads := make([]int, len(m.Layers))
	for l := range heads {
		heads[l] = len(m.Layers[l])
	}
	w := NewWeights(s, t, heads...)
	z := mat.NewDense(d, s+t, nil)
	z.Augment(m.E, m.P)
	for l, layer := range m.Layers {
		next := z
		for i, head := range layer {
			var q, k, vz mat.Dense
			q.Mul(z.T(), head.Q)
			k.Mul(head.K.T(), z)
			w.A[l][i].Mul(&q, &k)
			vz.Mul(head.V, z)
			next = concat(next, &vz)
		}
		z = next
	}
	w.W.Mul(z.T(), m.W.T())
	return w
}

// Standard returns the transformer of hidden dimension d_L, with the same depth and heads, that computes the
// same outputs (Theorem 3, thm-equivalence-from). Its stream is h~_l followed by zeros:
//
//	E = [I_S; 0; 0]   P = [0; I_T; 0]   W = W_O
//	Q_i = A_i and K_i = I in the upper left d_l x d_l block
//	V_i = I_{d_l} in the rows from i d_l, i = 1, ..., m, and the first d_l columns
//
// where d_l is the width of the input of layer l+1; the paper prints the width of its output. It panics if a
// matrix has another size than S, T and the heads give it.
func (w *Weights) Standard() *Standard {
	must(w.Validate())
	d, _ := w.W.Dims()
	m := &Standard{E: mat.NewDense(d, w.S, nil), P: mat.NewDense(d, w.T, nil), W: mat.NewDense(w.S, d, nil)}
	for s := range w.S {
		m.E.Set(s, s, 1)
	}
	for t := range w.T {
		m.P.Set(w.S+t, t, 1)
	}
	m.W.Copy(w.W.T())
	for _, layer := range w.A {
		var heads []Head
		for i, a := range layer {
			n, _ := a.Dims()
			head := Head{mat.NewDense(d, d, nil), mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)}
			head.Q.Slice(0, n, 0, n).(*mat.Dense).Copy(a)
			for k := range n {
				head.K.Set(k, k, 1)
				head.V.Set((i+1)*n+k, k, 1)
			}
			heads = append(heads, head)
		}
		m.Layers = append(m.Layers, heads)
	}
	return m
}
