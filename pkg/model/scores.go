package model

import (
	"math"

	"learncausal/pkg/num"
)

// scores are the tables of the attention of one head of the first layer,
// P = S(MASK(h0 A h0^T)). A row of h0 is the sum of a row that belongs to its
// token and one that belongs to its position, so that with a matrix K over the
// S+T tokens and positions
//
//	(h0 A h0^T)_ij = K[S+i, x_j] + K[S+i, S+j] + K[x_i, x_j] + K[x_i, S+j]
//
// The first two terms are one look-up, at the joint index r_j = j*S + x_j of the
// key, in a table for the position of the query, and the others in one for its
// token. The exponentials are relative to the largest one of the row of a table,
// so that P_ij is proportional to posExp[i][r_j] tokExp[x_i][r_j].
type scores struct {
	s, t             int
	posLogit, posExp []float64 // T x TS; row i is filled for j <= i
	tokLogit, tokExp []float64 // S x TS
}

func newScores(s, t int) scores {
	pos, tok := zeros(2, t*s*t), zeros(2, s*s*t)
	return scores{s, t, pos[0], pos[1], tok[0], tok[1]}
}

// A scoresGradient is the gradient by posLogit and tokLogit.
type scoresGradient struct {
	s, t     int
	pos, tok []float64
}

// load builds the tables of k, (S+T) x (S+T), row-major.
func (e *scores) load(k []float64) {
	s, t, d, ts := e.s, e.t, e.s+e.t, e.s*e.t
	for i := range t {
		e.loadRow(e.posLogit[i*ts:], e.posExp[i*ts:], k[(s+i)*d:(s+i+1)*d], i+1)
	}
	for a := range s {
		e.loadRow(e.tokLogit[a*ts:], e.tokExp[a*ts:], k[a*d:(a+1)*d], t)
	}
}

// loadRow fills a row of logits against the joint keys of the first n positions,
// and their exponentials relative to the largest.
func (e *scores) loadRow(logit, exp, k []float64, n int) {
	top := math.Inf(-1)
	for j := range n {
		for a := range e.s {
			v := k[a] + k[e.s+j]
			logit[j*e.s+a] = v
			top = max(top, v)
		}
	}
	for r, v := range logit[:n*e.s] {
		exp[r] = num.Exp(v - top)
	}
}

// addTo is the backward pass of load: it adds c times the gradient to dk.
func (g *scoresGradient) addTo(dk []float64, c float64) {
	s, t, d, ts := g.s, g.t, g.s+g.t, g.s*g.t
	for i := range t {
		g.addRow(dk[(s+i)*d:(s+i+1)*d], g.pos[i*ts:], i+1, c)
	}
	for a := range s {
		g.addRow(dk[a*d:(a+1)*d], g.tok[a*ts:], t, c)
	}
}

func (g *scoresGradient) addRow(dk, row []float64, n int, c float64) {
	for j := range n {
		for a := range g.s {
			v := float64(c * row[j*g.s+a])
			dk[a] += v
			dk[g.s+j] += v
		}
	}
}

// rows are the attention P of one head of the first layer on one sequence.
type rows struct {
	p   []float64 // T x T, lower triangle; row i is to be multiplied by inv[i]
	inv []float64 // T
}

func newRows(t int) rows { return rows{make([]float64, t*t), make([]float64, t)} }

// jointIndices sets r_j = j*S + x_j.
func jointIndices(r, x []int, s int) {
	r = r[:len(x)]
	for j, k := range x {
		r[j] = j*s + k
	}
}

// underflow is where a product of two exponentials may have lost its accuracy.
const underflow = 1e-200

// attend fills P = S(MASK(h0 A h0^T)), two rows at a time.
func (h *rows) attend(e *scores, x, r []int) {
	t, ts := len(x), e.s*e.t
	for i := 0; i < t; i += 2 {
		k := min(i+1, t-1) // the second row, the first one again at the end of an odd T
		pos0, tok0 := e.posExp[i*ts:(i+1)*ts], e.tokExp[x[i]*ts:(x[i]+1)*ts]
		pos1, tok1 := e.posExp[k*ts:(k+1)*ts], e.tokExp[x[k]*ts:(x[k]+1)*ts]
		tok0, pos1, tok1 = tok0[:len(pos0)], pos1[:len(pos0)], tok1[:len(pos0)]
		row0, row1 := h.p[i*t:i*t+i+1], h.p[k*t:k*t+k+1]
		rj, head1 := r[:len(row0)], row1[:len(row0)]
		var sum0, sum1 float64
		for j, rj := range rj {
			v0 := float64(pos0[rj] * tok0[rj])
			v1 := float64(pos1[rj] * tok1[rj])
			row0[j], head1[j] = v0, v1
			sum0 += v0
			sum1 += v1
		}
		if k > i {
			row1[k] = float64(pos1[r[k]] * tok1[r[k]])
			sum1 += row1[k]
		}
		if sum0 < underflow {
			sum0 = rowFromLogits(row0, r, e.posLogit[i*ts:], e.tokLogit[x[i]*ts:])
		}
		h.inv[i] = 1 / sum0
		if k > i {
			if sum1 < underflow {
				sum1 = rowFromLogits(row1, r, e.posLogit[k*ts:], e.tokLogit[x[k]*ts:])
			}
			h.inv[k] = 1 / sum1
		}
	}
}

// rowFromLogits fills a row of P whose factors underflow,
// from the logits of its position and its token, and returns its sum.
func rowFromLogits(row []float64, r []int, pos, tok []float64) float64 {
	top := math.Inf(-1)
	for j, rj := range r[:len(row)] {
		row[j] = pos[rj] + tok[rj]
		top = max(top, row[j])
	}
	sum := 0.0
	for j := range row {
		row[j] = num.Exp(row[j] - top)
		sum += row[j]
	}
	return sum
}

// meanAttention returns the attention of each head of the first layer, averaged
// over the sequences of length t in x; forward fills the heads for one of them.
func meanAttention(x []int, s, t int, heads []*rows, forward func(x []int)) [][][]float64 {
	n := sequences(x, s, t)
	all := make([][][]float64, len(heads))
	for h := range all {
		all[h] = zeros(t, t)
	}
	for k := range n {
		forward(x[k*t : (k+1)*t])
		for h, sum := range all {
			for i := range t {
				axpy(sum[i][:i+1], 1/float64(n)*heads[h].inv[i], heads[h].p[i*t:])
			}
		}
	}
	return all
}
