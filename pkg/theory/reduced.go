package theory

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/internal/simd"
	"learncausal/pkg/num"
)

// A Reading says where the last row of X comes from when the model is asked for the row pi(.|s) of
// the transition matrix. The paper uses both; they differ in the weight 1/T of one position.
type Reading int

const (
	// QueryInSequence is eq. (14) as defined: the query is the last token,
	// s = s_{T-1}, and e_s is the last row of X.
	QueryInSequence Reading = iota
	// QueryApart is the loss as rewritten in the appendix,
	//
	//	L = -1/S E[sum_{s,s'} pi(s'|s) log(f(X;s)_{s'} + eps)]
	//
	// read literally: X is a whole sequence, whose last token is uniform and
	// independent of the s that is asked for.
	QueryApart
)

// String returns the reading in words.
func (r Reading) String() string {
	switch r {
	case QueryInSequence:
		return "query in sequence"
	case QueryApart:
		return "query apart"
	}
	return fmt.Sprintf("Reading(%d)", int(r))
}

// Reduced are the parameters of the reduced model, eq. (13), over S tokens and T positions. With X
// the T x S matrix of the one-hot tokens of a sequence x, its prediction after the token s is
//
//	f(X;s) = X^T v(X;s)                  S
//	v(X;s) = softmax(softmax(A1) X A2 e_s)  T
//
// where the softmax of A1 goes along the first i+1 entries of row i.
type Reduced struct {
	S, T int
	A1   *mat.Dense // T x T; entries above the diagonal are not used
	A2   *mat.Dense // S x S; the transpose of the paper's A2 up to its appendix, where it is this one
}

// NewReduced returns the initialisation of Algorithm 1: A1 = 0, A2 = beta0 I. It
// panics unless 1 <= S <= 32768, 1 <= T <= 32768, and beta0 is finite.
func NewReduced(s, t int, beta0 float64) *Reduced {
	if s < 1 || s > 1<<15 || t < 1 || t > 1<<15 || !isFinite(beta0) {
		panic(fmt.Sprintf("theory: a model over %d tokens and %d positions at beta0 = %v, "+
			"want 1 to 32768 of each, and a finite number", s, t, beta0))
	}
	return &Reduced{S: s, T: t, A1: mat.NewDense(t, t, nil), A2: homogeneous(s, beta0, 0)}
}

// Attention returns softmax(A1), T x T: row i is a distribution over the positions 0..i, and zero
// after them. It panics, as every method, unless A1 is T x T and A2 S x S, and neither is a view
// into a larger matrix. Where an entry of A1 up to the diagonal is not finite, the row is NaN.
func (m *Reduced) Attention() *mat.Dense { return mat.NewDense(m.T, m.T, m.attention()) }

// attention returns the entries of Attention, row by row.
func (m *Reduced) attention() []float64 {
	m.check()
	a := make([]float64, m.T*m.T)
	e := make([]float64, m.T+7) // room for a multiple of eight
	for i := range m.T {
		softmax(a[i*m.T:i*m.T+i+1], m.A1.RawRowView(i)[:i+1], e)
	}
	return a
}

// softmax is [num.Softmax], to the bit, with the vectors of package simd. It needs room
// for a multiple of eight numbers in e.
func softmax(dst, x, e []float64) {
	top := slices.Max(x)
	e = e[:(len(x)+7)&^7]
	for i, v := range x {
		e[i] = v - top
	}
	clear(e[len(x):])
	simd.Exp(e)
	sum := 0.0
	for _, v := range e[:len(x)] {
		sum += v
	}
	for i := range dst {
		dst[i] = e[i] / sum
	}
}

// Predict returns the prediction f(X;s), of length S, with v(X;s), of length T, and z(X;s) =
// softmax(A1) X e_s, of length T, the attention that each position pays to tokens s. It panics
// unless x has a token in 0..S-1 for each position, and s is one.
func (m *Reduced) Predict(x []int, s int) (f, v, z []float64) {
	f, v, all := m.predict(m.attention(), x, s)
	z = make([]float64, m.T)
	for i := range z {
		z[i] = all[i*m.S+s]
	}
	return f, v, z
}

// predict also returns softmax(A1) X, T x S.
func (m *Reduced) predict(attention []float64, x []int, s int) (f, v, z []float64) {
	checkTokens(x, m.T, m.S)
	checkState(s, m.S)
	a2 := m.A2.RawMatrix().Data
	z = make([]float64, m.T*m.S)
	u := make([]float64, m.T)
	for i := range m.T {
		zi := z[i*m.S : i*m.S+m.S]
		for j := range i + 1 {
			zi[x[j]] += attention[i*m.T+j]
		}
		for a, p := range zi {
			u[i] += float64(p * a2[a*m.S+s])
		}
	}
	v = make([]float64, m.T)
	num.Softmax(v, u)
	f = make([]float64, m.S)
	for i, p := range v {
		f[x[i]] += p
	}
	return f, v, z
}

// Loss returns the perturbed cross-entropy of the prediction after s against the row y,
//
//	-sum_{s'} y(s') log(f(X;s)_{s'} + eps)
//
// and adds its gradient to grad, which may be nil (Lemma 4, lem-pop-grads, for one sequence): with c(s') =
// y(s') / (f(X;s)_{s'} + eps) and J(v) = diag(v) - v v^T,
//
//	w          = J(v) X c
//	dL/dA1_i   = -w_i J(softmax(A1_i)) X_{<=i} A2 e_s
//	dL/dA2 e_s = -X^T softmax(A1)^T w
//
// It panics unless x has T tokens in 0..S-1, s is a state, y has S entries, eps is in 1e-100..1e100, and grad has
// the sizes of m.
func (m *Reduced) Loss(x []int, s int, y []float64, eps float64, grad *Reduced) float64 {
	orPanic(checkEps(eps))
	if len(y) != m.S {
		panic(fmt.Sprintf("theory: a row of %d probabilities for a model over %d tokens", len(y), m.S))
	}
	if grad != nil {
		if grad.check(); grad.S != m.S || grad.T != m.T {
			panic(fmt.Sprintf("theory: gradient for S=%d, T=%d of a model for S=%d, T=%d", grad.S, grad.T, m.S, m.T))
		}
	}
	attention := m.attention()
	f, v, z := m.predict(attention, x, s)
	loss, mean := 0.0, 0.0
	c := make([]float64, m.S)
	for a, p := range y {
		if p == 0 {
			continue
		}
		loss -= float64(p * num.Log(f[a]+eps))
		c[a] = p / (f[a] + eps)
		mean += float64(c[a] * f[a])
	}
	if grad == nil {
		return loss
	}
	a2, g1, g2 := m.A2.RawMatrix().Data, grad.A1.RawMatrix().Data, grad.A2.RawMatrix().Data
	for i := range m.T {
		w := float64(v[i] * (c[x[i]] - mean))
		u := 0.0
		for a := range m.S {
			za := z[i*m.S+a]
			u += float64(za * a2[a*m.S+s])
			g2[a*m.S+s] -= float64(w * za)
		}
		for j := range i + 1 {
			g1[i*m.T+j] -= float64(float64(w*attention[i*m.T+j]) * (a2[x[j]*m.S+s] - u))
		}
	}
	return loss
}

// ScoreGradient returns |grad q(z)|_1 for weights p and scores z of groups of tokens, of
// which some hit (Lemma 25, lem-compare-shift). With m the weight of the hits, p_hit the
// weights conditioned on the hits, and kappa = m/(m+eps),
//
//	q       = kappa (E_hit z - E z)
//	grad q  = kappa (p_hit (1 + beta (z - E_hit z)) - p (1 + beta (z - E z)))
//	          + beta kappa (1-kappa) (E_hit z - E z) (p_hit - p)
//
// It panics unless p, z and hit are equally long.
func ScoreGradient(beta, eps float64, p, z []float64, hit []bool) float64 {
	if len(p) != len(z) || len(p) != len(hit) {
		panic(fmt.Sprintf("theory: %d weights, %d scores and %d groups", len(p), len(z), len(hit)))
	}
	m, eh, ez := 0.0, 0.0, 0.0
	for k := range p {
		ez += float64(p[k] * z[k])
		if hit[k] {
			m += p[k]
			eh += float64(p[k] * z[k])
		}
	}
	eh /= m
	kappa := m / (m + eps)
	norm := 0.0
	for k := range p {
		ph := 0.0
		if hit[k] {
			ph = p[k] / m
		}
		d := float64(kappa*(float64(ph*(1+float64(beta*(z[k]-eh))))-float64(p[k]*(1+float64(beta*(z[k]-ez)))))) +
			float64(float64(beta*float64(kappa*(1-kappa)))*float64((eh-ez)*(ph-p[k])))
		norm += math.Abs(d)
	}
	return norm
}
