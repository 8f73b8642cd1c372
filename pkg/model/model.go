// Package model is the disentangled transformer of the paper and the standard
// one with MLPs: their definitions as a dense reference, and the engines that
// train the two-layer cases.
package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// Forward returns f, the model's distribution over the S tokens after the
// sequence x (def:disentangled_TF, read at the last position):
//
//	h0_t    = [e_{x_t}, e_t]
//	h_{l+1} = [h_l, attn(h_l; A_{l,1}), ..., attn(h_l; A_{l,m})]
//	f       = softmax(h_L[T-1] W)
//
// It also returns -sum_s y_s log f_s and adds its gradient to grad; y or grad
// may be nil. It is the slow, trusted version: dense matrices, one sequence.
// With w.MLP it is the standard transformer that is defined there.
func (w *Weights) Forward(x []int, y []float64, grad *Weights) (f []float64, loss float64) {
	if w.MLP != nil {
		return w.forwardMLP(x, y, grad)
	}
	h := w.embed(x)
	var stream []*mat.Dense // stream[l] is the input of layer l, T x d_l
	var attn [][]*mat.Dense // attn[l][h] is S(MASK(h A h^T)), T x T
	for _, heads := range w.A {
		stream = append(stream, h)
		var probs []*mat.Dense
		next := h
		for _, a := range heads {
			out, p := attention(h, square(a))
			next = concat(next, out)
			probs = append(probs, p)
		}
		attn = append(attn, probs)
		h = next
	}
	_, d := h.Dims()
	last := h.RawRowView(w.T - 1)
	logits := make([]float64, w.S)
	for i, v := range last {
		for s := range logits {
			logits[s] += float64(v * w.W[i*w.S+s])
		}
	}
	f = make([]float64, w.S)
	logZ := softmax(f, logits)
	if y == nil {
		return f, 0
	}
	for s, p := range y {
		loss += float64(p * (logZ - logits[s]))
	}
	if grad == nil {
		return f, loss
	}

	// Backward: dlogits = f - y (y sums to one), then layer by layer.
	dh := mat.NewDense(w.T, d, nil)
	dlast := dh.RawRowView(w.T - 1)
	for i, v := range last {
		for s := range f {
			dl := f[s] - y[s]
			grad.W[i*w.S+s] += float64(v * dl)
			dlast[i] += float64(w.W[i*w.S+s] * dl)
		}
	}
	for l := len(w.A) - 1; l >= 0; l-- {
		_, d := stream[l].Dims()
		below := mat.DenseCopyOf(dh.Slice(0, w.T, 0, d))
		for i, a := range w.A[l] {
			dout := dh.Slice(0, w.T, (i+1)*d, (i+2)*d)
			attentionGrad(below, square(grad.A[l][i]), stream[l], square(a), attn[l][i], dout)
		}
		dh = below
	}
	return f, loss
}

// attention returns attn(h; A) = P h and P = S(MASK(h A h^T)) (def:attention).
// h: T x d; a: d x d; p: T x T, row-stochastic, lower triangular.
func attention(h, a mat.Matrix) (out, p *mat.Dense) {
	var ha, score mat.Dense
	ha.Mul(h, a)
	score.Mul(&ha, h.T())
	n, _ := score.Dims()
	p = mat.NewDense(n, n, nil)
	for i := range n {
		softmax(p.RawRowView(i)[:i+1], score.RawRowView(i)[:i+1])
	}
	out = new(mat.Dense)
	out.Mul(p, h)
	return out, p
}

// attentionGrad adds to dh and da the gradients of attn(h; A) = P h, given the
// gradient dout of its output.
func attentionGrad(dh, da *mat.Dense, h, a mat.Matrix, p *mat.Dense, dout mat.Matrix) {
	var dp, tmp, ha mat.Dense
	tmp.Mul(p.T(), dout)
	dh.Add(dh, &tmp)
	// Through the softmax of each row: ds = p (dp - <p, dp>).
	dp.Mul(dout, h.T())
	n, _ := p.Dims()
	for i := range n {
		row, prob := dp.RawRowView(i), p.RawRowView(i)
		mean := 0.0
		for j := range row {
			mean += float64(prob[j] * row[j])
		}
		for j := range row {
			row[j] = float64(prob[j] * (row[j] - mean))
		}
	}
	// Through the score h A h^T, which reads h as query and as key.
	var left, right mat.Dense
	left.Mul(&dp, h) // T x d
	ha.Mul(h.T(), &left)
	da.Add(da, &ha)
	right.Mul(&left, a.T())
	dh.Add(dh, &right)
	tmp.Reset()
	tmp.Mul(dp.T(), h)
	right.Mul(&tmp, a)
	dh.Add(dh, &right)
}

// embed returns X~, T x (S+T), row t = [e_{x_t}, e_t].
func (w *Weights) embed(x []int) *mat.Dense {
	if len(x) != w.T {
		panic(fmt.Sprintf("model: sequence of length %d, want %d", len(x), w.T))
	}
	h := mat.NewDense(w.T, w.S+w.T, nil)
	for t, s := range x {
		h.Set(t, s, 1)
		h.Set(t, w.S+t, 1)
	}
	return h
}

func concat(a, b *mat.Dense) *mat.Dense {
	var c mat.Dense
	c.Augment(a, b)
	return &c
}

// square returns the row-major d x d matrix a without copying it.
func square(a []float64) *mat.Dense {
	d := int(math.Round(math.Sqrt(float64(len(a)))))
	return mat.NewDense(d, d, a)
}

// softmax writes to p the softmax of v and returns log sum_i exp(v_i).
func softmax(p, v []float64) float64 {
	m := math.Inf(-1)
	for _, x := range v {
		m = max(m, x)
	}
	sum := 0.0
	for i, x := range v {
		p[i] = num.Exp(x - m)
		sum += p[i]
	}
	inv := 1 / sum
	for i := range p {
		p[i] = float64(p[i] * inv)
	}
	return m + num.Log(sum)
}
