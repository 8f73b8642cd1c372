package theory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"learncausal/pkg/graph"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// A MonteCarlo estimates the quantities of stage 2 from samples of (pi, X), for sequences too long
// to enumerate. Both stages leave A2 = beta I - (beta - beta0)/S 1 1^T, for which v(X;s) =
// softmax(beta z(X;s)) with z(X;s) = softmax(A1) X e_s.
type MonteCarlo struct {
	Graph *graph.Forest
	Prior markov.Prior

	// Rows are rows of softmax(A1), row i of length i+1. A nil row, and every row if Rows is nil, is the limit
	// of stage 1: attention 1 to the parent of i, and 1/(i+1) to each position up to i if i is a root. A1 of
	// Lemma 10 (thm-stage2-lower) has every row given, A1_* the rows of the roots.
	Rows [][]float64

	Eps     float64 // of the loss
	Reading Reading

	Samples int
	Seed    uint64
	Workers int // the result does not depend on it; <= 0 is every processor
}

// StageTwo is stage 2 at one beta. Averages are over pi, X and uniform s, in Square for each s.
type StageTwo struct {
	Beta float64

	DeltaBeta num.Estimate // Delta_beta = tr(G2)/(S-1)
	Gap       num.Estimate // L - L*

	// Ideal is -Delta_beta - ghat(beta), with ghat(beta; pi) taken for the pi of
	// each sample, which has far less noise than the difference of two means.
	Ideal num.Estimate

	Square []num.Estimate // S x S: E[(f(X;s)_{s'} - pi(s'|s))^2] (Lemma 32, lem-f-to-pi)
}

// RMS returns the root of the mean of Square over all s and s',
//
//	sqrt(E[(f(X;s)_{s'} - pi(s'|s))^2])
//
// It panics if there is no Square, which [MonteCarlo.Run] sets.
func (at StageTwo) RMS() float64 {
	if len(at.Square) == 0 {
		panic("theory: RMS of a StageTwo that no run has set")
	}
	sum := 0.0
	for _, e := range at.Square {
		sum += e.Mean
	}
	return math.Sqrt(sum / float64(len(at.Square)))
}

// e12Limit returns the limit of E1(X)/(E2(X) + eps) for long sequences, eq. (39), for
// p = pi(t|s), mu = mu(s) and to = mu(t), where the fraction r of the positions are roots:
//
//	E1 = sum_i x_{i,t} softmax(beta z)_i z_i,  E2 = sum_i x_{i,t} softmax(beta z)_i
//
//	   (1-r) e^beta mu p + r e^(beta mu) mu to
//	----------------------------------------------------------
//	(1-r) (e^beta - 1) mu p + (1-r) to + r e^(beta mu) to
//
// With p = to = 1 it is the limit of E3(X) = sum_i softmax(beta z)_i z_i, eq. (40).
func e12Limit(p, mu, to, r, beta float64) float64 {
	if (r == 1 || p == 0) && r > 0 && float64(r*num.Exp(float64(beta*(mu-1)))) < 1e-290 {
		// The terms of the roots alone, which are too small for floating point.
		return r * mu / (float64((1-r)*num.Exp(-float64(beta*mu))) + r)
	}
	above, below := E12Terms(p, mu, to, r, beta)
	if above == 0 {
		return 0
	}
	return above / below
}

// E12Terms returns the numerator and the denominator of eq. (39), both divided by e^beta, for p =
// pi(t|s), mu = mu(s) and to = mu(t). With p = to = 1 they belong to eq. (40).
func E12Terms(p, mu, to, r, beta float64) (above, below float64) {
	small, root := num.Exp(-beta), float64(r*num.Exp(float64(beta*(mu-1))))
	above = float64(float64((1-r)*mu)*p) + float64(float64(root*mu)*to)
	below = float64(float64((1-r)*(1-small)*mu)*p) + float64((float64((1-r)*small)+root)*to)
	return above, below
}

// block is the number of samples that share a random stream.
const block = 64

// Run returns the estimates for each beta, all of them from the same samples. It panics unless each
// beta is in 0..700, there are two samples or more, eps is in 1e-100..1e100, and row i of the
// attention, if it is given, has i+1 probabilities of sum one.
func (c MonteCarlo) Run(betas []float64) []StageTwo {
	c.check(betas)
	s := c.Prior.States()
	workers := c.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	width := 3 + s*s
	blocks := make([]moments, (c.Samples+block-1)/block)
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			d := newDraw(&c, betas)
			for b := worker; b < len(blocks); b += workers {
				m := moments{mean: make([]float64, width*len(betas)), dev: make([]float64, width*len(betas))}
				src := num.Stream(c.Seed, "theory/montecarlo", uint64(b))
				for range min(block, c.Samples-b*block) {
					d.sample(src)
					d.evaluate()
					m.add(d.values)
				}
				blocks[b] = m
			}
		})
	}
	wg.Wait()
	all := blocks[0]
	for _, m := range blocks[1:] {
		all.merge(m)
	}
	out := make([]StageTwo, len(betas))
	for k, beta := range betas {
		e := make([]num.Estimate, width)
		for i := range e {
			v := k*width + i
			e[i] = num.Estimate{Mean: all.mean[v], StdErr: math.Sqrt(all.dev[v] / (all.n - 1) / all.n)}
		}
		out[k] = StageTwo{Beta: beta, DeltaBeta: e[0], Gap: e[1], Ideal: e[2], Square: e[3:]}
	}
	return out
}

// check panics unless c may run at the betas.
func (c MonteCarlo) check(betas []float64) {
	if c.Samples < 2 {
		panic(fmt.Sprintf("theory: Monte Carlo with %d samples, want at least 2", c.Samples))
	}
	orPanic(checkEps(c.Eps))
	orPanic(checkReading(c.Reading))
	for _, beta := range betas {
		if !(beta >= 0 && beta <= 700) { // e^-beta is the least weight of a token
			panic(fmt.Sprintf("theory: Monte Carlo at beta = %v, want a number in [0, 700]", beta))
		}
	}
	if t := c.Graph.T(); c.Rows != nil && len(c.Rows) != t {
		panic(fmt.Sprintf("theory: Monte Carlo with %d rows of attention, want %d", len(c.Rows), t))
	}
	for i, row := range c.Rows {
		sum := 0.0
		for _, p := range row {
			if !(p >= 0) {
				panic(fmt.Sprintf("theory: Monte Carlo with the attention %v in row %d, want a probability", p, i))
			}
			sum += p
		}
		if row != nil && (len(row) != i+1 || !(math.Abs(sum-1) < 1e-6)) {
			panic(fmt.Sprintf("theory: Monte Carlo with row %d of attention of %d entries and sum %v, want %d and 1",
				i, len(row), sum, i+1))
		}
	}
}

// moments are the mean and the sum of squared deviations of each of several
// values (Chan, Golub and LeVeque, 1979).
type moments struct {
	n         float64
	mean, dev []float64
}

// add takes one more sample of the values.
func (m *moments) add(x []float64) {
	m.n++
	for i, v := range x {
		d := v - m.mean[i]
		m.mean[i] += d / m.n
		m.dev[i] += float64(d * (v - m.mean[i]))
	}
}

// merge takes the samples of o, too.
func (m *moments) merge(o moments) {
	n := m.n + o.n
	for i, v := range o.mean {
		d := v - m.mean[i]
		m.mean[i] += float64(d * (o.n / n))
		m.dev[i] += o.dev[i] + float64(float64(d*d)*(m.n*o.n/n))
	}
	m.n = n
}

// A draw is one sample with the buffers of its evaluation.
type draw struct {
	c       *MonteCarlo
	betas   []float64
	parents []int
	r       float64
	pi, mu  []float64
	x       []int
	z       []float64 // T x S; in row T-1, the last token is left out
	last    float64   // attention of the query to itself
	at, e   []float64 // T: the z_i of one query, and exp(beta (z_i-1)), with room for a multiple of eight
	n, m    []float64 // S: sums of exp(beta (z_i-1)), and of that times z_i, over positions with each token
	values  []float64 // for each beta the fields of StageTwo in order
}

// newDraw returns room for samples of c.
func newDraw(c *MonteCarlo, betas []float64) *draw {
	t, s := c.Graph.T(), c.Prior.States()
	d := &draw{
		c: c, betas: betas, parents: c.Graph.Parents(), r: c.Graph.RootFraction(),
		pi: make([]float64, s*s), mu: make([]float64, s), x: make([]int, t), z: make([]float64, t*s),
		at: make([]float64, t), e: make([]float64, (t+7)&^7),
		n: make([]float64, s), m: make([]float64, s), values: make([]float64, len(betas)*(3+s*s)),
	}
	d.last = 1 / float64(t)
	if c.Rows != nil && c.Rows[t-1] != nil {
		d.last = c.Rows[t-1][t-1]
	}
	return d
}

// sample draws pi and X by the law of the task, and fills z.
func (d *draw) sample(src *rand.PCG) {
	s, t := len(d.mu), len(d.x)
	d.c.Prior.Draw(d.pi, d.mu, src)
	for i, p := range d.parents[:t-1] {
		law := d.mu
		if p >= 0 {
			law = d.pi[d.x[p]*s : d.x[p]*s+s]
		}
		a, u := 0, num.Uniform(src)
		for ; a < s-1 && u >= law[a]; a++ {
			u -= law[a]
		}
		d.x[i] = a
	}
	d.x[t-1] = int(num.Uniform(src) * float64(s))

	clear(d.z)
	count := d.n // of each token so far, for uniform rows
	clear(count)
	for i, p := range d.parents {
		z := d.z[i*s : i*s+s]
		if i < t-1 {
			count[d.x[i]]++
		}
		switch {
		case d.c.Rows != nil && d.c.Rows[i] != nil:
			for j, q := range d.c.Rows[i][:min(i+1, t-1)] {
				z[d.x[j]] += q
			}
		case p >= 0:
			z[d.x[p]] = 1
		default:
			for a, k := range count {
				z[a] = k / float64(i+1)
			}
		}
	}
}

// evaluate sets the values for each beta.
func (d *draw) evaluate() {
	s, last := len(d.mu), len(d.x)-1
	width := 3 + s*s
	clear(d.values)
	for q := range s {
		for i := range d.at {
			d.at[i] = d.z[i*s+q]
		}
		if d.c.Reading == QueryInSequence {
			d.x[last] = q
		}
		if d.x[last] == q {
			d.at[last] += d.last
		}
		for k, beta := range d.betas {
			d.attend(beta)
			d.compare(d.values[k*width:(k+1)*width], q, beta)
		}
	}
	for k := range d.betas {
		v := d.values[k*width : (k+1)*width]
		// v[2] is minus the sum that ghat(beta; pi) is the mean of.
		v[2] = float64(v[2]-v[0]) / float64(s*(s-1))
		v[0] /= float64(s * (s - 1))
		v[1] /= float64(s)
	}
}

// attend sets n and m for the query of at.
func (d *draw) attend(beta float64) {
	for i, z := range d.at {
		d.e[i] = float64(beta * (z - 1))
	}
	clear(d.e[len(d.at):])
	simd.Exp(d.e)
	clear(d.n)
	clear(d.m)
	for i, a := range d.x {
		d.n[a] += d.e[i]
		d.m[a] += float64(d.e[i] * d.at[i])
	}
}

// compare adds the terms of the query q to v, the values of one beta.
func (d *draw) compare(v []float64, q int, beta float64) {
	s, square := len(d.mu), v[3:]
	total, third := 0.0, 0.0
	for a, e := range d.n {
		total += e
		third += d.m[a]
	}
	third /= total
	v[2] += e12Limit(1, d.mu[q], 1, d.r, beta)
	for a := range s {
		f, first, p := d.n[a]/total, d.m[a]/total, d.pi[q*s+a]
		v[0] -= float64(p * (first - float64(f*third)) / (f + d.c.Eps))
		if p > 0 {
			v[1] += float64(p * (num.Log(p) - num.Log(f+d.c.Eps)))
		}
		v[2] -= float64(p * e12Limit(p, d.mu[q], d.mu[a], d.r, beta))
		miss := f - p
		square[q*s+a] = float64(miss * miss)
	}
}
