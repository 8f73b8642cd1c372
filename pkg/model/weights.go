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

	// MLP makes these the weights of another model, the standard transformer
	// with MLPs; it is nil for the disentangled transformer.
	MLP *MLP
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
	if m := w.MLP; m != nil {
		c = NewMLPWeights(w.S, w.T, m.Width, m.Fixed)
	}
	for i, p := range w.Arrays() {
		copy(c.Arrays()[i], p)
	}
	return c
}

// Arrays returns every parameter array, in the order A1, A2, ..., W, and then
// those of the MLP.
func (w *Weights) Arrays() [][]float64 {
	all := w.Trained()
	if w.MLP != nil && w.MLP.Fixed {
		all = append(all, w.MLP.embeddings()...)
	}
	return all
}

// Trained returns the arrays that are trained: all but fixed embeddings.
func (w *Weights) Trained() [][]float64 {
	var all [][]float64
	for _, layer := range w.A {
		all = append(all, layer...)
	}
	all = append(all, w.W)
	if w.MLP != nil {
		all = append(all, w.MLP.arrays()...)
		if !w.MLP.Fixed {
			all = append(all, w.MLP.embeddings()...)
		}
	}
	return all
}

// PositionAttention returns S(MASK(A1)), where A1 is the position-position
// block of the first head of the first layer: row i is a distribution over the
// positions j <= i.
func (w *Weights) PositionAttention() [][]float64 { return w.PositionAttentions()[0] }

// PositionAttentions returns S(MASK(A1)) of each head of the first layer.
func (w *Weights) PositionAttentions() [][][]float64 {
	d := w.S + w.T
	var all [][][]float64
	for _, a := range w.A[0] {
		p := make([][]float64, w.T)
		for i := range p {
			row := a[(w.S+i)*d+w.S : (w.S+i+1)*d]
			p[i] = make([]float64, w.T)
			softmax(p[i][:i+1], row[:i+1])
		}
		all = append(all, p)
	}
	return all
}
