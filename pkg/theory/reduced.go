package theory

import (
	"fmt"

	"learncausal/pkg/num"
)

// A Reading says where the last row of X comes from when the model is asked
// for the row pi(.|s) of the transition matrix. The paper uses both; they
// differ in the weight 1/T of one position.
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

func (r Reading) String() string {
	if r == QueryApart {
		return "query apart"
	}
	return "query in sequence"
}

// Reduced are the parameters of the reduced model, eq. (13), over S tokens and
// T positions. With X the T x S matrix of the one-hot tokens of a sequence x,
// its prediction after the token s is
//
//	f(X;s) = X^T v(X;s)                  S
//	v(X;s) = softmax(softmax(A1) X A2 e_s)  T
//
// where the softmax of A1 goes along the first i+1 entries of row i.
type Reduced struct {
	S, T int
	A1   []float64 // T x T, row-major; entries above the diagonal are not used
	A2   []float64 // S x S, row-major; the transpose of the paper's A2 up to its appendix, where it is this one
}

// NewReduced returns the initialisation of Algorithm 1: A1 = 0, A2 = beta0 I.
func NewReduced(s, t int, beta0 float64) *Reduced {
	m := &Reduced{S: s, T: t, A1: make([]float64, t*t), A2: make([]float64, s*s)}
	for a := range s {
		m.A2[a*s+a] = beta0
	}
	return m
}

// Attention returns softmax(A1), T x T, row-major: row i is a distribution over
// the positions 0..i, and zero after them.
func (m *Reduced) Attention() []float64 {
	a := make([]float64, m.T*m.T)
	for i := range m.T {
		num.Softmax(a[i*m.T:i*m.T+i+1], m.A1[i*m.T:i*m.T+i+1])
	}
	return a
}

// Predict returns the prediction f(X;s), of length S, with what leads to it:
// v(X;s), of length T, and z(X;s) = softmax(A1) X e_s, of length T, the
// attention that each position pays to tokens s.
func (m *Reduced) Predict(x []int, s int) (f, v, z []float64) {
	f, v, all := m.predict(m.Attention(), x, s)
	z = make([]float64, m.T)
	for i := range z {
		z[i] = all[i*m.S+s]
	}
	return f, v, z
}

// predict also returns softmax(A1) X, T x S.
func (m *Reduced) predict(attention []float64, x []int, s int) (f, v, z []float64) {
	if len(x) != m.T {
		panic(fmt.Sprintf("theory: sequence of length %d for a model of length %d", len(x), m.T))
	}
	z = make([]float64, m.T*m.S)
	u := make([]float64, m.T)
	for i := range m.T {
		zi := z[i*m.S : i*m.S+m.S]
		for j := range i + 1 {
			zi[x[j]] += attention[i*m.T+j]
		}
		for a, p := range zi {
			u[i] += float64(p * m.A2[a*m.S+s])
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

// Loss returns the perturbed cross-entropy of the prediction after s against
// the row y,
//
//	-sum_{s'} y(s') log(f(X;s)_{s'} + eps)
//
// and adds its gradient to grad, which may be nil (Lemma 4, lem-pop-grads, for
// one sequence): with c(s') = y(s') / (f(X;s)_{s'} + eps) and
// J(v) = diag(v) - v v^T,
//
//	w          = J(v) X c
//	dL/dA1_i   = -w_i J(softmax(A1_i)) X_{<=i} A2 e_s
//	dL/dA2 e_s = -X^T softmax(A1)^T w
func (m *Reduced) Loss(x []int, s int, y []float64, eps float64, grad *Reduced) float64 {
	attention := m.Attention()
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
	for i := range m.T {
		w := float64(v[i] * (c[x[i]] - mean))
		u := 0.0
		for a := range m.S {
			za := z[i*m.S+a]
			u += float64(za * m.A2[a*m.S+s])
			grad.A2[a*m.S+s] -= float64(w * za)
		}
		for j := range i + 1 {
			grad.A1[i*m.T+j] -= float64(float64(w*attention[i*m.T+j]) * (m.A2[x[j]*m.S+s] - u))
		}
	}
	return loss
}
