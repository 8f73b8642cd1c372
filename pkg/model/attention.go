package model

import (
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// attention returns attn(h; A) = P h and P = S(MASK(h A h^T)) (Definition 1).
// h: T x d; a: d x d; p: T x T, row-stochastic, lower triangular.
func attention(h, a mat.Matrix) (out, p *mat.Dense) {
	var ha, score mat.Dense
	ha.Mul(h, a)
	score.Mul(&ha, h.T())
	n, _ := score.Dims()
	p = mat.NewDense(n, n, nil)
	for i := range n {
		num.LogSumExp(p.RawRowView(i)[:i+1], score.RawRowView(i)[:i+1])
	}
	out = new(mat.Dense)
	out.Mul(p, h)
	return out, p
}

// attentionGrad is the backward pass of attention: it adds to dh and da the gradients by h and a,
// given dout, the gradient by attn(h; A) = P h. dh, h, dout: T x d; da, a: d x d; p: T x T.
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
	// Through the score h A h^T, where h is query and key.
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

// concat returns [a, b].
func concat(a, b *mat.Dense) *mat.Dense {
	var c mat.Dense
	c.Augment(a, b)
	return &c
}
