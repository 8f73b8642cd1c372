package engine

import (
	"slices"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/num"
)

// A headTable holds the attention of one head of the first layer, P = S(MASK(h0 A h0^T)), T x T, as a product
// of four factors. Rows of h0 are two-hot, so that with K = A over the S+T tokens and positions
//
//	(h0 A h0^T)_ij = K[S+i, S+j] + K[S+i, x_j] + K[x_i, x_j] + K[x_i, S+j]
//
// P_ij is proportional to the product of the exponentials of these four logits. From each logit the largest one
// in its row of its block of K is subtracted first.
type headTable struct {
	s, t    int
	k       []float64 // K, (S+T) x (S+T)
	factors simd.Factors

	// The factors for the last query, T-1, of token b, and key j of token a.
	lastPos []float64 // S x T, PosPos_j,T-1 TokPos_a,T-1 at (a, j)
	lastTok []float64 // S x T, PosTok_jb at (b, j)
	lastTwo []float64 // S x S, TokTok_ab at (b, a)
}

func newHeadTable(s, t int) headTable {
	return headTable{
		s, t, make([]float64, (s+t)*(s+t)), factorsIn(make([]float64, factorSize(s, t)), s, t),
		make([]float64, s*t), make([]float64, s*t), make([]float64, s*s),
	}
}

// factorSize returns the number of entries of all factors.
func factorSize(s, t int) int {
	a, n := simd.Padded(s), simd.Padded(t)
	return (a + n) * (a + n)
}

// factorsIn returns factors in the first factorSize numbers of data.
func factorsIn(data []float64, s, t int) simd.Factors {
	a, n := simd.Padded(s), simd.Padded(t)
	return simd.Factors{
		PosPos: cut(&data, n*n), TokPos: cut(&data, a*n), TokTok: cut(&data, a*a), PosTok: cut(&data, n*a),
	}
}

// load builds the tables of k, (S+T) x (S+T).
func (h *headTable) load(k []float64) {
	copy(h.k, k)
	s, t, d := h.s, h.t, h.s+h.t
	a, n := simd.Padded(s), simd.Padded(t)
	f := &h.factors
	for i := range t {
		row := k[(s+i)*d : (s+i+1)*d]
		exponentials(f.PosPos[i:], n, row[s:s+i+1])
		exponentials(f.TokPos[i:], n, row[:s])
	}
	for b := range s {
		row := k[b*d : (b+1)*d]
		exponentials(f.TokTok[b:], a, row[:s])
		exponentials(f.PosTok[b:], a, row[s:])
	}
	for b := range s {
		for j := range t {
			h.lastPos[b*t+j] = float64(f.PosPos[j*n+t-1] * f.TokPos[b*n+t-1])
			h.lastTok[b*t+j] = f.PosTok[j*a+b]
		}
		for c := range s {
			h.lastTwo[b*s+c] = f.TokTok[c*a+b]
		}
	}
}

// exponentials sets the entries of column, at a distance from each other, to exp(logit - largest logit).
func exponentials(column []float64, distance int, logits []float64) {
	top := slices.Max(logits)
	for j, v := range logits {
		column[j*distance] = num.Exp(v - top)
	}
}

// addTo is the backward pass of load: it adds c times the gradient g to dk, (S+T) x (S+T).
func (h *headTable) addTo(dk []float64, g simd.Factors, c float64) {
	s, t, d := h.s, h.t, h.s+h.t
	a, n := simd.Padded(s), simd.Padded(t)
	for i := range t {
		row := dk[(s+i)*d : (s+i+1)*d]
		addColumn(row[:s], c, g.TokPos[i:], n)
		addColumn(row[s:s+i+1], c, g.PosPos[i:], n)
	}
	for b := range s {
		row := dk[b*d : (b+1)*d]
		addColumn(row[:s], c, g.TokTok[b:], a)
		axpy(row[s:], c, g.PosTok[b*n:])
	}
}

// addColumn adds c times the entries of column, at a distance from each other, to y.
func addColumn(y []float64, c float64, column []float64, distance int) {
	for j := range y {
		y[j] += float64(c * column[j*distance])
	}
}

// attend fills p for the tokens x, padded with zeros. A row whose products of factors
// underflow is computed from the logits.
func (h *headTable) attend(p *simd.Attention, x []int) {
	sum := p.Fill(h.factors, x)
	for i, v := range sum[:h.t] {
		if v < simd.Least {
			keys := p.Keys()
			h.fromLogits(keys.Data[i:], keys.Down, x, i)
		}
	}
}

// attendLast fills p, of length T, with the attention of the last query, as attend does.
func (h *headTable) attendLast(p []float64, x []int) {
	t, b := h.t, x[h.t-1]
	two, tok := h.lastTwo[b*h.s:][:h.s], h.lastTok[b*t:][:t]
	p, x = p[:len(tok)], x[:len(tok)]
	sum := 0.0
	for j, v := range tok {
		a := x[j]
		v = float64(h.lastPos[a*t+j] * float64(two[a]*v))
		p[j] = v
		sum += v
	}
	if sum < simd.Least {
		h.fromLogits(p, 1, x, t-1)
		return
	}
	inverse := 1 / sum
	for j, v := range p {
		p[j] = float64(v * inverse)
	}
}

// fromLogits fills p, entries at a distance from each other, with the attention of query i.
func (h *headTable) fromLogits(p []float64, distance int, x []int, i int) {
	s, d := h.s, h.s+h.t
	pos, tok := h.k[(s+i)*d:(s+i+1)*d], h.k[x[i]*d:(x[i]+1)*d]
	column := make([]float64, i+1)
	for j := range column {
		column[j] = (pos[x[j]] + pos[s+j]) + (tok[x[j]] + tok[s+j])
	}
	num.LogSumExp(column, column)
	for j, v := range column {
		p[j*distance] = v
	}
}
