package theory

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// A Population is the task with a prior of finite support, on which every
// expectation is a finite sum: over the matrices pi and all S^T sequences. No
// number here has sampling noise, and each is the same to the bit every time.
//
// The sum is a walk over prefixes. Row i of softmax(A1) X depends on x_0, ..., x_i alone, so it is
// computed once per prefix and not once per sequence; and its gradient needs of all continuations
// only their sum. Either way the cost is of the order of T S^(T+1), for each matrix. Where prior
// and A2 are invariant under relabeling, one matrix of each orbit is enough.
//
// A Population is read-only and may be shared by goroutines.
type Population struct {
	Graph   *graph.Forest
	Prior   *markov.Finite
	Eps     float64
	Reading Reading

	classes *markov.Finite // one matrix per orbit with its whole weight; nil if Prior is not symmetric
}

// NewPopulation returns the population with the loss perturbed by eps. There is
// an error where S^T exceeds [task.MaxEnumerate], eps is not in 1e-100..1e100, the
// prior not one that [Chains] takes, or the reading none of the two.
func NewPopulation(g *graph.Forest, prior *markov.Finite, eps float64, reading Reading) (*Population, error) {
	if err := errors.Join(checkEps(eps), checkReading(reading), checkPrior(prior)); err != nil {
		return nil, err
	}
	if err := task.CheckEnumerable(prior.States(), g.T()); err != nil {
		return nil, err
	}
	return &Population{Graph: g, Prior: prior, Eps: eps, Reading: reading, classes: orbits(prior)}, nil
}

// A Gradient is the population loss of one model with its gradients. With w(X;s) = J(v(X;s)) X c
// the vector of Lemma 4 (lem-pop-grads), where c(s') = pi(s'|s) / (f(X;s)_{s'} + eps) and J(v) =
// diag(v) - v v^T, and with E over (pi, X, s) in the population's reading, in which s is uniform,
type Gradient struct {
	Loss float64 // L = -E[sum_{s'} pi(s'|s) log(f(X;s)_{s'} + eps)], eq. (14)
	Gap  float64 // L - L*; above -S eps

	G1 *mat.Dense // T x T, zero above the diagonal: G1_i = -J(softmax(A1_i)) E[w_i X_{<=i} A2 e_s]
	G2 *mat.Dense // S x S: G2 = -E[X^T softmax(A1)^T w e_s^T]

	// GStar is g*_ij = S T E[w_i x_{j,s}] for j <= i, T x T, zero above the diagonal. At A2 = 0 it is ghat_ij,
	// whatever A1 is. For A2 = beta0 I, G1_i = -beta0/(S T) J(softmax(A1_i)) g*_i by eq. (33).
	GStar *mat.Dense

	DeltaBeta float64 // tr(G2) / (S-1)
}

// Loss returns the population loss of the model and its gap L - L*. It panics, as
// every method, if m has another S or T.
func (p *Population) Loss(m *Reduced) (loss, gap float64) {
	prior, _ := p.support(m)
	p.each(m, prior, nil, p.tally(&loss, &gap))
	return loss, gap
}

// tally returns a visitor that adds sum -y log(f + eps) to loss and sum y log(y / (f + eps))
// to gap, for the row y that f predicts, with the weight of the outcome.
func (p *Population) tally(loss, gap *float64) func(outcome) {
	return func(o outcome) {
		l, g := 0.0, 0.0
		for a, q := range o.Row() {
			if q > 0 {
				v := num.Log(o.F[a] + p.Eps)
				l -= float64(q * v)
				g += float64(q * (num.Log(q) - v))
			}
		}
		*loss += float64(o.Weight * l)
		*gap += float64(o.Weight * g)
	}
}

// Gradient returns the population loss of the model with its gradients.
func (p *Population) Gradient(m *Reduced) *Gradient {
	prior, symmetric := p.support(m)
	square := func(n int) *mat.Dense { return mat.NewDense(n, n, nil) }
	g := &Gradient{G1: square(m.T), G2: square(m.S), GStar: square(m.T)}
	p.each(m, prior, g, p.tally(&g.Loss, &g.Gap))
	attention := m.Attention()
	for i := range m.T {
		row, star := g.G1.RawRowView(i)[:i+1], g.GStar.RawRowView(i)
		for j, v := range Jacobian(attention.RawRowView(i)[:i+1], row) {
			row[j] = -v
			star[j] *= float64(m.S * m.T)
		}
	}
	trace, rest := diagonalSum(g.G2)
	g.DeltaBeta = trace / float64(m.S-1)
	if symmetric { // the mean over the relabelings that the walk left out
		g.G2 = homogeneous(m.S, trace/float64(m.S), rest/float64(m.S*(m.S-1)))
	}
	return g
}

// Errors returns the mean squared errors of the predictions, S x S, over the prior and
// the sequences given s (Lemma 32, lem-f-to-pi):
//
//	E[(f(X;s)_{s'} - pi(s'|s))^2]   at (s, s')
func (p *Population) Errors(m *Reduced) *mat.Dense {
	m.check()
	square := mat.NewDense(m.S, m.S, nil)
	p.each(m, p.Prior, nil, func(o outcome) {
		weight, row := float64(o.Weight*float64(m.S)), square.RawRowView(o.S)
		for a, q := range o.F {
			d := q - o.Row()[a]
			row[a] += float64(weight * float64(d*d))
		}
	})
	return square
}

// An outcome is one (pi, X, s) of a population with its probability, and the
// prediction of a model for it. The slices are reused.
type outcome struct {
	Weight float64
	Pi     []float64 // S x S
	X      []int     // T
	S      int
	F      []float64 // S: f(X;s)
}

// Row returns pi(.|s), which F predicts.
func (o outcome) Row() []float64 {
	n := len(o.F)
	return o.Pi[o.S*n : o.S*n+n]
}

// support returns the prior that stands for p.Prior in averages at m, and
// whether it is one that leaves relabelings out.
func (p *Population) support(m *Reduced) (*markov.Finite, bool) {
	m.check()
	if p.classes == nil || !relabels(m.A2.RawMatrix().Data, m.S) {
		return p.Prior, false
	}
	return p.classes, true
}

// relabels reports whether a is of the form x I + y 1 1^T.
func relabels(a []float64, s int) bool {
	for i, v := range a {
		if i%(s+1) == 0 && v != a[0] || i%(s+1) != 0 && v != a[1] {
			return false
		}
	}
	return true
}

// orbits returns one matrix of each orbit of the prior's matrices under
// relabeling, with the weight of the orbit, or nil if the prior is not symmetric.
func orbits(prior *markov.Finite) *markov.Finite {
	s := prior.States()
	// A transposition and a cycle generate the relabelings.
	swap, cycle := make([]int, s), make([]int, s)
	for a := range s {
		swap[a], cycle[a] = a, (a+1)%s
	}
	swap[0], swap[1] = 1, 0
	weight := map[string]float64{}
	for k, pi := range prior.Pi {
		weight[fmt.Sprint(pi)] += prior.Weight[k]
	}
	seen := map[string]bool{}
	out := &markov.Finite{}
	for k, pi := range prior.Pi {
		key := fmt.Sprint(pi)
		if seen[key] {
			continue
		}
		seen[key] = true
		orbit, sum := [][]float64{pi}, 0.0
		for n := 0; n < len(orbit); n++ {
			sum += weight[fmt.Sprint(orbit[n])]
			for _, sigma := range [][]int{swap, cycle} {
				image := relabel(orbit[n], sigma)
				name := fmt.Sprint(image)
				if weight[name] != weight[key] {
					return nil
				}
				if !seen[name] {
					seen[name] = true
					orbit = append(orbit, image)
				}
			}
		}
		out.Pi, out.Mu = append(out.Pi, pi), append(out.Mu, prior.Mu[k])
		out.Weight = append(out.Weight, sum)
	}
	return out
}

// relabel returns the matrix with pi(b|a) at (sigma(a), sigma(b)).
func relabel(pi []float64, sigma []int) []float64 {
	s := len(sigma)
	image := make([]float64, s*s)
	for a := range s {
		for b := range s {
			image[sigma[a]*s+sigma[b]] = pi[a*s+b]
		}
	}
	return image
}

// each visits every outcome of the prior; their weights sum to one. If g is not nil it
// adds E[w_i X_{<=i} A2 e_s] to g.G1, E[w_i x_{j,s}] to g.GStar and G2 to g.G2.
func (p *Population) each(m *Reduced, prior *markov.Finite, g *Gradient, visit func(outcome)) {
	m.check()
	if m.T != p.Graph.T() || m.S != p.Prior.States() {
		panic(fmt.Sprintf("theory: model for S=%d, T=%d on a population with S=%d, T=%d",
			m.S, m.T, p.Prior.States(), p.Graph.T()))
	}
	s, t := m.S, m.T
	w := &walk{
		p: p, m: m, g: g, visit: visit, parents: p.Graph.Parents(), attention: m.attention(), a2: m.A2.RawMatrix().Data,
		x: make([]int, t), z: make([]float64, t*s), e: make([]float64, t*s),
		n: make([]float64, (t+1)*s*s), r: make([]float64, (t+1)*s*s), top: make([]float64, s),
		f: make([]float64, s), c: make([]float64, s), y: make([]float64, s), d: make([]float64, s),
	}
	for b := range s {
		w.top[b] = w.a2[b]
		for a := range s {
			w.top[b] = max(w.top[b], w.a2[a*s+b])
		}
	}
	for k := range prior.Pi {
		w.pi, w.mu = prior.Pi[k], prior.Mu[k]
		w.extend(0, prior.Weight[k])
	}
}

// A walk is the state of the recursion over prefixes. At depth i,
//
//	x              the prefix x_0, ..., x_{i-1}
//	z  T x S       rows of softmax(A1) X
//	e  T x S       exp(z_i A2 e_s - top_s), the terms of the softmax before it is normalised
//	n  (T+1)xSxS   n_i(s, a): the sum of e(j, s) over j < i with x_j = a
//	r  (T+1)xSxS   r_i(s, a): the sum over continuations of their weight times dL/dn(s, a), negated
type walk struct {
	p          *Population
	m          *Reduced
	g          *Gradient
	visit      func(outcome)
	parents    []int
	attention  []float64 // T x T
	a2         []float64 // S x S
	pi, mu     []float64
	x          []int
	z, e, n, r []float64
	top        []float64 // S: keeps the exponentials in (0, 1]
	f, c       []float64 // S: prediction, and c of Gradient
	d, y       []float64 // S: d_s = E[w_i(X;s)] over the continuations of a prefix, and A2 d
}

// extend visits the continuations of the prefix of length i, which has the given
// weight, token by token, and adds their terms to r_i.
func (w *walk) extend(i int, weight float64) {
	s, t := w.m.S, w.m.T
	if i == t {
		w.predict(weight)
		return
	}
	block := s * s
	above, r := w.r[i*block:], w.r[(i+1)*block:][:block]
	for a := range s {
		next := w.weight(i, a, weight)
		if next == 0 {
			continue
		}
		w.append(i, a)
		clear(r)
		w.extend(i+1, next)
		if w.g == nil {
			continue
		}
		for k, v := range r {
			above[k] += v
		}
		w.addGradient(i, a)
	}
}

// weight returns the given weight of the prefix of length i times the probability of a next.
func (w *walk) weight(i, a int, weight float64) float64 {
	switch parent := w.parents[i]; {
	case i == w.m.T-1:
		return weight / float64(w.m.S)
	case parent >= 0:
		return float64(weight * w.pi[w.x[parent]*w.m.S+a])
	}
	return float64(weight * w.mu[a])
}

// append sets x_i to a, and z_i, e_i and n_{i+1} accordingly.
func (w *walk) append(i, a int) {
	s, t := w.m.S, w.m.T
	w.x[i] = a
	z, e := w.z[i*s:i*s+s], w.e[i*s:i*s+s]
	clear(z)
	for j, q := range w.attention[i*t : i*t+i+1] {
		z[w.x[j]] += q
	}
	n, to := w.n[i*s*s:(i+1)*s*s], w.n[(i+1)*s*s:(i+2)*s*s]
	copy(to, n)
	for b := range s {
		u := -w.top[b]
		for k, q := range z {
			u += float64(q * w.a2[k*s+b])
		}
		e[b] = num.Exp(u)
		to[b*s+a] += e[b]
	}
}

// addGradient adds the terms of w_i to the gradient, for the prefix of length i+1 that
// ends in a and all its continuations.
func (w *walk) addGradient(i, a int) {
	s := w.m.S
	z, r := w.z[i*s:i*s+s], w.r[(i+1)*s*s:(i+2)*s*s]
	for b := range s {
		w.d[b] = float64(w.e[i*s+b] * r[b*s+a])
	}
	g2 := w.g.G2.RawMatrix().Data
	for k := range s {
		w.y[k] = 0
		for b, d := range w.d {
			w.y[k] += float64(d * w.a2[k*s+b])
			g2[k*s+b] -= float64(d * z[k])
		}
	}
	h, star := w.g.G1.RawRowView(i), w.g.GStar.RawRowView(i)
	for j, a := range w.x[:i+1] {
		h[j] += w.y[a]
		star[j] += w.d[a]
	}
}

// predict visits the whole sequence with each s of the reading, and adds to r_T.
func (w *walk) predict(weight float64) {
	s, t := w.m.S, w.m.T
	n, r := w.n[t*s*s:], w.r[t*s*s:]
	lo, hi := 0, s
	if w.p.Reading == QueryInSequence {
		lo, hi = w.x[t-1], w.x[t-1]+1
	} else {
		weight /= float64(s)
	}
	for b := lo; b < hi; b++ {
		total := 0.0
		for _, v := range n[b*s : b*s+s] {
			total += v
		}
		mean := 0.0
		for a, v := range n[b*s : b*s+s] {
			w.f[a] = v / total
			w.c[a] = w.pi[b*s+a] / (w.f[a] + w.p.Eps)
			mean += float64(w.c[a] * w.f[a])
		}
		w.visit(outcome{weight, w.pi, w.x, b, w.f})
		for a, c := range w.c {
			r[b*s+a] += float64(weight * (c - mean) / total)
		}
	}
}
