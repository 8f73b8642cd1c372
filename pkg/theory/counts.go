package theory

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

// GHat returns the population gradient of stage 1 at A2 = 0, for forests far beyond enumeration,
//
//	ghat_ij = sum_{s,s'} E[pi(s'|s) (x_{i,s'} - muhat(s')) x_{j,s} / (muhat(s') + eps)]
//
// for j <= i, T x T, zero above the diagonal, where muhat(s') = N_{s'}/T is the frequency of s' in
// X (Lemma 6, thm-stage1-parents). In the reading QueryInSequence, x_{T-1} = s instead of an
// independent query; so the entry (T-1, T-1) is then a sum over s.
//
// It does not depend on A1. With A2 = beta0 I and beta0 -> 0 the gradient of row i is -beta0/(S T)
// J(softmax(A1_i)) ghat_i, which makes stage 1 a deterministic recursion in each row by itself.
//
// The only nonlinearity is in the count, and 1/(N + T eps) is the integral of u^(N + T eps - 1)
// over 0 < u < 1. At each u, u^N is a factor of u at every token s', under which the sequence is
// again a Markov chain on the forest; its pair marginals come from messages up the tree and
// products along paths. The integral over u is a quadrature rule for the weight u^(T eps - 1) with
// a relative error below 1e-12 on 1, u, ..., u^T. The integrand is a combination of these with
// nonnegative coefficients, so the same bound holds for it. The cost is of the order of T^2 S^3
// sqrt(T) for each matrix, of which there is one for each orbit if the prior is symmetric.
//
// The difference that is left is accurate to about 1e-16/eps. There is an error unless eps is in
// 1e-6..1e6, the prior one that [Chains] takes, and the reading one of the two.
func GHat(g *graph.Forest, prior *markov.Finite, eps float64, reading Reading) (*mat.Dense, error) {
	if !(eps >= 1e-6 && eps <= 1e6) {
		return nil, fmt.Errorf("theory: the loss is perturbed by %v, want a positive number, 1e-6 to 1e6", eps)
	}
	if err := cmp.Or(checkReading(reading), checkPrior(prior)); err != nil {
		return nil, err
	}
	t, s := g.T(), prior.States()
	u, weights := countRule(t, float64(t)*eps)
	if p := orbits(prior); p != nil {
		prior = p
	}
	ghat := make([]float64, t*t)
	c := newTilted(g, s, reading)
	for k, pi := range prior.Pi {
		for a := range s {
			for n := range u {
				c.set(pi, prior.Mu[k], a, u[n])
				c.addPairs(ghat, float64(float64(prior.Weight[k]*weights[n])*float64(t)), eps)
			}
		}
	}
	for i := range t {
		for j := range i + 1 {
			ghat[i*t+j]--
		}
	}
	if reading == QueryInSequence {
		ghat[t*t-1] -= float64(s - 1)
	}
	return mat.NewDense(t, t, ghat), nil
}

// countRule returns nodes and weights with
//
//	sum_n weight_n u_n^k = 1/(k + c)  for k = 0, ..., t
//
// up to a relative error of 1e-12: the Gauss-Jacobi rule for the weight u^(c-1) on (0, 1), of as
// few nodes as that takes. With n nodes it is exact up to k = 2n-1, so (t+1)/2 of them are always
// enough but for rounding; about 3 sqrt(t) are needed.
func countRule(t int, c float64) (u, weights []float64) {
	enough := t/2 + 1
	for n := 8; ; n += n / 2 {
		n = min(n, enough)
		u, weights = gaussJacobi(n, c)
		worst := 0.0
		power := slices.Clone(weights)
		for k := range t + 1 {
			sum := 0.0
			for i, p := range power {
				sum += p
				power[i] = p * u[i]
			}
			worst = max(worst, math.Abs(float64(sum*(float64(k)+c))-1))
		}
		if worst < 1e-12 || n == enough {
			return u, weights
		}
	}
}

// gaussJacobi returns the n-point Gauss rule for the weight u^(c-1) on (0, 1), from the eigenvalues
// and eigenvectors of the tridiagonal matrix of the recurrence of its orthogonal polynomials (Golub
// and Welsch, Math. Comp. 23, 1969).
func gaussJacobi(n int, c float64) (u, weights []float64) {
	m := mat.NewSymDense(n, nil)
	b := c - 1
	for k := range n {
		// Jacobi polynomials with exponents 0 and b on (-1, 1), moved to (0, 1).
		x, kk := float64(k), float64(2*k)
		a := b / (b + 2)
		if k > 0 {
			a = b * b / ((kk + b) * (kk + b + 2))
			off := x * (x + b) / (kk + b) / math.Sqrt((kk+b+1)*(kk+b-1))
			m.SetSym(k-1, k, off)
		}
		m.SetSym(k, k, (1+a)/2)
	}
	var e mat.EigenSym
	if !e.Factorize(m, true) {
		panic(fmt.Sprintf("theory: no Gauss-Jacobi rule of %d nodes for the weight u^%v", n, b))
	}
	var v mat.Dense
	e.VectorsTo(&v)
	weights = make([]float64, n)
	for k := range n {
		weights[k] = v.At(0, k) * v.At(0, k) / c
	}
	return e.Values(nil), weights
}

// CountLaw returns the law of N_s, the number of tokens equal to state in a whole sequence given
// pi: P(N_s = n) for n = 0, ..., T. The query is uniform and independent of the rest.
//
// It is the product over the trees of their generating functions, polynomials
// in u that are built from the leaves to the roots.
//
// It panics unless state is one of the chain.
func (c *Chain) CountLaw(g *graph.Forest, state int) []float64 {
	checkState(state, c.S)
	t, s := g.T(), c.S
	up := make([][][]float64, t) // up[i][a]: coefficients of E[u^(count in the subtree of i) | x_i = a]
	for i := range up {
		up[i] = make([][]float64, s)
		for a := range s {
			up[i][a] = []float64{1, 0}
		}
		up[i][state] = []float64{0, 1}
	}
	law := []float64{1}
	for i := t - 1; i >= 0; i-- {
		p := g.Parent(i)
		if p < 0 {
			law = convolve(law, mixture(c.Marginal(g, i), up[i]))
		} else {
			for a := range s {
				up[p][a] = convolve(up[p][a], mixture(c.Pi.RawRowView(a), up[i]))
			}
		}
		up[i] = nil
	}
	return law
}

// mixture returns the sum of weights[a] polys[a], polynomials of one length.
func mixture(weights []float64, polys [][]float64) []float64 {
	sum := make([]float64, len(polys[0]))
	for a, p := range polys {
		for k, v := range p {
			sum[k] += float64(weights[a] * v)
		}
	}
	return sum
}

// convolve returns the product of two polynomials.
func convolve(p, q []float64) []float64 {
	out := make([]float64, len(p)+len(q)-1)
	for i, a := range p {
		for j, b := range q {
			out[i+j] += float64(a * b)
		}
	}
	return out
}

// tilted is the law of the sequence with the density u^N / E[u^N], where N counts the tokens equal
// to state. It is a Markov chain on the forest with a kernel of its own for each edge.
type tilted struct {
	g       *graph.Forest
	s       int
	reading Reading
	parents []int
	trees   [][]int
	tree    []int // of each position

	state int
	z     float64   // E[u^N]; without the query's token if that is fixed, QueryInSequence
	phi   []float64 // S: u at state, 1 elsewhere
	f     []float64 // S: pi(state|b), times phi(b) if b is the query's token too

	up       []float64 // T x S: E[u^(count in the subtree of i) | x_i = a], up to a power of two
	message  []float64 // T x S: the same given x_{p(i)} = a, without i's siblings
	marginal []float64 // T x S: P(x_i = a)
	down     []float64 // T x S x S: P(x_i = b | x_{p(i)} = a) at (a, b)
	back     []float64 // T x S x S: P(x_{p(i)} = a | x_i = b) at (b, a)
	mean     []float64 // T: E[f(x_j)]
	w        []float64 // T x S: scratch of addPairs
	passed   []int     // T: the last i that had this position on its way to the root
}

// newTilted returns room for the law on g over s states.
func newTilted(g *graph.Forest, s int, reading Reading) *tilted {
	t := g.T()
	c := &tilted{
		g: g, s: s, reading: reading, parents: g.Parents(), trees: g.Trees(), tree: make([]int, t),
		phi: make([]float64, s), f: make([]float64, s),
		up: make([]float64, t*s), message: make([]float64, t*s), marginal: make([]float64, t*s),
		down: make([]float64, t*s*s), back: make([]float64, t*s*s), mean: make([]float64, t),
		w: make([]float64, t*s), passed: make([]int, t),
	}
	for k, members := range c.trees {
		for _, i := range members {
			c.tree[i] = k
		}
	}
	return c
}

// set makes c the law for the transition matrix pi with stationary measure mu,
// tilted by u at the tokens equal to state.
func (c *tilted) set(pi, mu []float64, state int, u float64) {
	s := c.s
	c.state = state
	for a := range s {
		c.phi[a], c.f[a] = 1, pi[a*s+state]
	}
	c.phi[state] = u
	if c.reading == QueryInSequence {
		c.f[state] = float64(c.f[state] * u)
	}
	c.upward(pi, mu)
	c.downward(pi)
}

// upward sets z, up, message, and marginal at the roots. As u^N may underflow, powers of two are set aside.
func (c *tilted) upward(pi, mu []float64) {
	s, t := c.s, len(c.parents)
	for i := range t {
		copy(c.up[i*s:i*s+s], c.phi)
	}
	query := slices.Repeat([]float64{1 / float64(s)}, s)
	exponent, k := 0, 0
	c.z = 1
	for i := t - 1; i >= 0; i-- {
		law := mu
		if i == t-1 {
			if c.reading == QueryInSequence {
				continue
			}
			law = query
		}
		up := c.up[i*s : i*s+s]
		exponent += normalise(up)
		p := c.parents[i]
		if p < 0 {
			c.z, k = math.Frexp(float64(c.z * condition(c.marginal[i*s:i*s+s], law, up)))
			exponent += k
			continue
		}
		for a := range s {
			sum := 0.0
			for b, v := range up {
				sum += float64(pi[a*s+b] * v)
			}
			c.message[i*s+a] = sum
			c.up[p*s+a] = float64(c.up[p*s+a] * sum)
		}
	}
	c.z = math.Ldexp(c.z, exponent)
}

// normalise divides x by a power of two that brings its maximum to [1/2, 1), and returns the exponent.
func normalise(x []float64) int {
	_, e := math.Frexp(slices.Max(x))
	scale := math.Ldexp(1, -e)
	for a := range x {
		x[a] *= scale
	}
	return e
}

// condition writes to dst the distribution in proportion to law times density,
// and returns the sum of the products.
func condition(dst, law, density []float64) float64 {
	sum := 0.0
	for a, v := range density {
		dst[a] = float64(law[a] * v)
		sum += dst[a]
	}
	for a := range dst {
		dst[a] /= sum
	}
	return sum
}

// downward sets down, back, mean, and marginal below the roots.
func (c *tilted) downward(pi []float64) {
	s := c.s
	for i, p := range c.parents {
		marginal := c.marginal[i*s : i*s+s]
		if p >= 0 {
			clear(marginal)
			above := c.marginal[p*s : p*s+s]
			down, back := c.down[i*s*s:(i+1)*s*s], c.back[i*s*s:(i+1)*s*s]
			for a := range s {
				for b := range s {
					q := float64(pi[a*s+b]*c.up[i*s+b]) / c.message[i*s+a]
					down[a*s+b] = q
					marginal[b] += float64(above[a] * q)
				}
			}
			clear(back)
			for b, v := range marginal {
				for a := 0; a < s && v > 0; a++ {
					back[b*s+a] = float64(above[a]*down[a*s+b]) / v
				}
			}
		}
		c.mean[i] = dot(c.f, marginal)
	}
}

// dot returns the inner product, summed in order.
func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// addPairs adds weight E[u^N f(x_j) (1[x_i = state] + eps)] to entry (i, j) of to. In the reading
// QueryInSequence, f(x_j) means the sum over s of pi(state|s) u^1[s = state] x_{j,s}, and x_{T-1,s} = 1.
func (c *tilted) addPairs(to []float64, weight, eps float64) {
	s, t := c.s, len(c.parents)
	weight = float64(weight * c.z)
	rows := t
	if c.reading == QueryInSequence {
		rows--
		c.addQuery(to[rows*t:], weight, eps)
	}
	for i := range rows {
		row := to[i*t : i*t+i+1]
		here := c.marginal[i*s+c.state]
		// All positions as if independent; the loop below corrects the same tree.
		product := float64(weight * (here + eps))
		for j := range row {
			row[j] += float64(product * c.mean[j])
		}
		c.joint(i)
		for _, j := range c.trees[c.tree[i]] {
			if j > i {
				break
			}
			pair := dot(c.f, c.w[j*s:j*s+s])
			row[j] += float64(weight * (pair - float64(here*c.mean[j])))
		}
	}
}

// addQuery is addPairs for the row of the query in the reading QueryInSequence.
func (c *tilted) addQuery(row []float64, weight, eps float64) {
	s, last := c.s, len(row)-1
	f := c.f[c.state]
	for j := range last {
		row[j] += float64(weight * (float64(f*c.marginal[j*s+c.state]) + float64(eps*c.mean[j])))
	}
	for b, v := range c.f {
		if b == c.state {
			v += float64(eps * v)
		} else {
			v *= eps
		}
		row[last] += float64(weight * v)
	}
}

// joint sets w_j(b) = P(x_i = state, x_j = b) for j <= i in the tree of i: up to
// the root, then down. A position on the way is never after both ends.
func (c *tilted) joint(i int) {
	s, w := c.s, c.w
	at := w[i*s : i*s+s]
	clear(at)
	at[c.state] = c.marginal[i*s+c.state]
	c.passed[i] = i
	for k := i; c.parents[k] >= 0; k = c.parents[k] {
		p := c.parents[k]
		c.passed[p] = i
		transport(w[p*s:p*s+s], w[k*s:k*s+s], c.back[k*s*s:(k+1)*s*s])
	}
	for _, j := range c.trees[c.tree[i]] {
		if j > i {
			break
		}
		if c.passed[j] != i {
			p := c.parents[j]
			transport(w[j*s:j*s+s], w[p*s:p*s+s], c.down[j*s*s:(j+1)*s*s])
		}
	}
}

// transport writes to dst the row vector x times the matrix m.
func transport(dst, x, m []float64) {
	s := len(x)
	if s == 3 { // as in most that is computed; the same sums
		d, x, m := (*[3]float64)(dst), (*[3]float64)(x), (*[9]float64)(m)
		for a := range d {
			d[a] = float64(x[0]*m[a]) + float64(x[1]*m[3+a]) + float64(x[2]*m[6+a])
		}
		return
	}
	for a := range dst {
		sum := 0.0
		for b, v := range x {
			sum += float64(v * m[b*s+a])
		}
		dst[a] = sum
	}
}

// MomentsOfSum returns the mean and the variance of the sum over all positions i, the query included, of a term
// that depends on i, the state of the parent of i (-1 for a root) and the state of i. Given s_i, the sums below
// different children of i are independent, so one pass from the leaves of the forest suffices.
func (c *Chain) MomentsOfSum(g *graph.Forest, term func(i, parent, own int) int) (mean, variance float64) {
	n := g.T()
	first, second := make([]float64, n*c.S), make([]float64, n*c.S) // mean and variance of the sum below i, given s_i
	add := func(i, x int, law []float64, mean, variance *float64) {
		m, v := 0.0, 0.0
		for y, p := range law {
			m += float64(p * (float64(term(i, x, y)) + first[i*c.S+y]))
		}
		for y, p := range law {
			d := float64(term(i, x, y)) + first[i*c.S+y] - m
			v += float64(p * (float64(d*d) + second[i*c.S+y]))
		}
		*mean += m
		*variance += v
	}
	add(n-1, -1, c.Marginal(g, n-1), &mean, &variance)
	for i := n - 2; i >= 0; i-- {
		p := g.Parent(i)
		if p == graph.Root {
			add(i, -1, c.Mu, &mean, &variance)
			continue
		}
		for x := range c.S {
			add(i, x, c.Pi.RawRowView(x), &first[p*c.S+x], &second[p*c.S+x])
		}
	}
	return mean, variance
}
