package model

// Weights are the parameters of a disentangled transformer (def:disentangled_TF)
// over S tokens and T positions, with Heads[l] heads in layer l.
//
// The residual stream has width d_0 = S+T and d_{l+1} = (1+Heads[l]) d_l.
// A[l][h] is the attention matrix of head h of layer l, d_l x d_l, row-major:
// the row index belongs to the query, the column index to the key.
// W is the output matrix, d_L x S, row-major (the transpose of the paper's W_O).
type Weights struct {
	S, T  int
	Heads []int
	A     [][][]float64
	W     []float64
}

// NewWeights returns zero weights, the initialisation of the paper's experiments.
func NewWeights(s, t int, heads ...int) *Weights {
	w := &Weights{S: s, T: t, Heads: append([]int(nil), heads...)}
	d := s + t
	for _, m := range heads {
		layer := make([][]float64, m)
		for h := range layer {
			layer[h] = make([]float64, d*d)
		}
		w.A = append(w.A, layer)
		d *= 1 + m
	}
	w.W = make([]float64, d*s)
	return w
}

// Clone returns a deep copy.
func (w *Weights) Clone() *Weights {
	c := NewWeights(w.S, w.T, w.Heads...)
	for l := range w.A {
		for h := range w.A[l] {
			copy(c.A[l][h], w.A[l][h])
		}
	}
	copy(c.W, w.W)
	return c
}
