package claims

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/cmplxs"
	"gonum.org/v1/gonum/floats"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// populationsBySummation compares loss, gradients and errors of predictions over
// a population with sums over its sequences, at a point without symmetry and, for
// a symmetric prior, at one of A2 = beta I + c 1 1^T.
func populationsBySummation(tell told) {
	for _, u := range unlikes() {
		s, t := len(u.first), u.graph.T()
		m, even := theory.NewReduced(s, t, 0), theory.NewReduced(s, t, someBeta)
		someNumbers(m.A1)
		copy(even.A1, m.A1)
		someNumbers(m.A2)
		for k := range even.A2 {
			even.A2[k] -= 0.2
		}
		symmetric := mustOrbit(s, u.first.Floats(), u.other.Floats())
		for _, p := range []smallPopulation{{u.graph, u.prior(), m, 0.1}, {u.graph, symmetric, even, 0.1}} {
			for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
				p.summed(tell, reading)
			}
		}
		smallPopulation{u.graph, symmetric, even, 0.1}.driven(tell)
	}
}

// driven compares the rows of G1 with -beta/(S T) J(softmax(A1_i)) g*_i, eq. (33), at
// A2 = beta I + c 1 1^T.
func (p smallPopulation) driven(tell told) {
	m := p.model
	g, attention := p.gradients(theory.QueryInSequence).Gradient(m), m.Attention()
	for i := range m.T {
		star, own := g.GStar[i*m.T:], attention[i*m.T:]
		for j, gain := range rowGains(star[:i+1], own[:i+1]) {
			tell("G1 by g*", g.G1[i*m.T+j], -someBeta/float64(m.S*m.T)*gain)
		}
	}
}

// someBeta is the beta of somePopulations that are compared.
const someBeta = 1.5

// someNumbers fills x with numbers between -2 and 2, no two alike.
func someNumbers(x []float64) {
	for k := range x {
		x[k] = 2 * math.Sin(float64(k+1))
	}
}

// brokenSymmetries compares the loss, or all of a population, with sums where a prior
// must not be averaged by orbits, as one entry of A2 or one weight is another, and
// counts the outcomes of a chain that leaves nothing to chance but its root and the query.
func brokenSymmetries(tell told) {
	for _, u := range unlikes() {
		s := len(u.first)
		prior := mustOrbit(s, u.first.Floats(), u.other.Floats())
		for _, broken := range []int{0, 1, s + 1, s*s - 2} {
			m := theory.NewReduced(s, u.graph.T(), someBeta)
			someNumbers(m.A1)
			m.A2[broken] = someBeta
			smallPopulation{u.graph, prior, m, 0.1}.summedLoss(tell)
		}
	}
	u := unlikes()[0]
	prior := mustOrbit(2, u.first.Floats(), u.other.Floats())
	uneven := &markov.Finite{Pi: prior.Pi, Mu: prior.Mu, Weight: slices.Clone(prior.Weight)}
	uneven.Weight[0] += 0.01
	uneven.Weight[1] -= 0.01
	smallPopulation{u.graph, uneven, theory.NewReduced(2, u.graph.T(), someBeta), 0.1}.summed(tell, theory.QueryInSequence)
	cycle, outcomes, chance := mustOrbit(3, []float64{0, 1, 0, 0, 0, 1, 1, 0, 0}), 0.0, 0.0
	p := smallPopulation{graph.Chain(4), cycle, theory.NewReduced(3, 4, 1), 0.1}
	p.gradients(theory.QueryInSequence).Each(p.model, func(o theory.Outcome) {
		outcomes, chance = outcomes+1, chance+o.Weight
	})
	tell("the outcomes of a cycle, relabeled", outcomes, 6*3*3)
	tell("their probability", chance, 1)
}

// summedLoss compares the loss of one population.
func (p smallPopulation) summedLoss(tell told) {
	s, loss := p.model.S, 0.0
	p.eachQuery(theory.QueryInSequence, func(weight float64, pi []float64, x []int, query int) {
		f, _, _ := p.model.Predict(x, query)
		for a, q := range pi[query*s : query*s+s] {
			loss -= weight * q * num.Log(f[a]+p.eps) / float64(s)
		}
	})
	got, _ := p.gradients(theory.QueryInSequence).Loss(p.model)
	tell("the loss without symmetry", got, loss)
}

// summed compares one population.
func (p smallPopulation) summed(tell told, reading theory.Reading) {
	const small = 0.2
	s := p.model.S
	loss, entropy, delta := 0.0, 0.0, 0.0
	square, below := make([]float64, s*s), make([]float64, s*s)
	p.eachQuery(reading, func(weight float64, pi []float64, x []int, query int) {
		f, _, _ := p.model.Predict(x, query)
		for a, q := range pi[query*s : query*s+s] {
			loss -= weight * q * num.Log(f[a]+p.eps) / float64(s)
			entropy -= weight * q * num.Log(q) / float64(s)
			square[query*s+a] += weight * (f[a] - q) * (f[a] - q)
			below[query*s+a] += weight * unit(f[a] <= small)
		}
	})
	library := p.gradients(reading)
	g := library.Gradient(p.model)
	l, gap := library.Loss(p.model)
	d1, d2 := p.complexSteps(reading)
	for a := range s {
		delta += d2[a*s+a] / float64(s-1)
	}
	square2, below2 := library.Errors(p.model, small)
	tell.each("the loss", []float64{g.Loss, l}, []float64{loss, loss})
	tell.each("the gap", []float64{g.Gap, gap}, []float64{loss - entropy, loss - entropy})
	tell("L*", theory.OptimalLoss(p.prior), entropy)
	tell.each("G1", g.G1, d1)
	tell.each("G2", g.G2, d2)
	tell("Delta beta", g.DeltaBeta, delta)
	tell.each("the square of an error", square2, square)
	tell.each("the law of a prediction", below2, below)
}

// eachQuery calls visit with every (pi, X, s) that the rewritten loss sums over,
// and its weight without the 1/S.
func (p smallPopulation) eachQuery(reading theory.Reading, visit func(weight float64, pi []float64, x []int, s int)) {
	for k, pi := range p.prior.Pi {
		seq, err := task.Task{Graph: p.graph, Prior: p.prior}.Enumerate(pi, p.prior.Mu[k])
		if err != nil {
			panic("claims: " + err.Error())
		}
		for x, w := range seq {
			last := len(x) - 1
			own := x[last]
			for s := range p.model.S {
				if reading == theory.QueryInSequence {
					x[last] = s
				}
				visit(float64(p.prior.Weight[k]*w), pi, x, s)
			}
			x[last] = own
		}
	}
}

// complexSteps returns the derivatives of the loss along the entries of A1 on and
// below the diagonal, the others zero, and of A2, by the complex step
//
//	dL/da = Im L(a + ih) / h,  h = 1e-100,
//
// which subtracts nothing and is exact to rounding.
func (p smallPopulation) complexSteps(reading theory.Reading) (d1, d2 []float64) {
	const h = 1e-100
	s, t := p.model.S, p.model.T
	a1, a2 := make([]complex128, t*t), make([]complex128, s*s)
	cmplxs.Complex(a1, p.model.A1, make([]float64, t*t))
	cmplxs.Complex(a2, p.model.A2, make([]float64, s*s))
	along := func(entry *complex128) float64 {
		at := *entry
		defer func() { *entry = at }()
		*entry += complex(0, h)
		return p.imaginaryLoss(reading, a1, a2) / h / float64(s)
	}
	d1, d2 = make([]float64, t*t), make([]float64, s*s)
	for i := range t {
		for j := range i + 1 {
			d1[i*t+j] = along(&a1[i*t+j])
		}
	}
	for k := range d2 {
		d2[k] = along(&a2[k])
	}
	return d1, d2
}

// imaginaryLoss returns the imaginary part of S times the rewritten loss at
// complex A1 and A2.
func (p smallPopulation) imaginaryLoss(reading theory.Reading, a1, a2 []complex128) float64 {
	s, t := p.model.S, p.model.T
	attention := make([][]complex128, t)
	for i := range t {
		attention[i] = complexSoftmax(a1[i*t : i*t+i+1])
	}
	sum := 0.0
	p.eachQuery(reading, func(weight float64, pi []float64, x []int, query int) {
		u := make([]complex128, t)
		for i, row := range attention {
			for j, q := range row {
				u[i] += q * a2[x[j]*s+query]
			}
		}
		f := make([]complex128, s)
		for i, q := range complexSoftmax(u) {
			f[x[i]] += q
		}
		for a, q := range f {
			sum -= weight * pi[query*s+a] * imag(cmplx.Log(q+complex(p.eps, 0)))
		}
	})
	return sum
}

func complexSoftmax(u []complex128) []complex128 {
	out, sum := make([]complex128, len(u)), complex128(0)
	for i, z := range u {
		out[i] = cmplx.Exp(z)
		sum += out[i]
	}
	cmplxs.Scale(1/sum, out)
	return out
}

// samplesBySummation compares the estimates of stage 2 with sums over all
// sequences. A sample that is right fails with probability below 2e-4: 200
// estimates, five standard errors.
func samplesBySummation(tell told) {
	for _, u := range unlikes() {
		for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
			m := theory.NewReduced(len(u.first), u.graph.T(), someBeta)
			someNumbers(m.A1)
			rows, attention := make([][]float64, m.T), m.Attention()
			for i := range rows {
				rows[i] = attention[i*m.T : i*m.T+i+1]
			}
			rows[0] = nil // what position 1 attends to is itself
			ideal := theory.NewReduced(m.S, m.T, someBeta)
			toParents(ideal, u.graph)
			p, q := smallPopulation{u.graph, u.prior(), m, 0.1}, smallPopulation{u.graph, u.prior(), ideal, 0.1}
			p.sampled(tell, reading, rows)
			q.sampled(tell, reading, nil)
		}
	}
}

// oneSampleMore compares the error of 65 samples, the last of which has a stream of its own,
// with that of the first 64 and the last, which follows from the means.
func oneSampleMore(tell told) {
	u := unlikes()[0]
	of := func(samples int) num.Estimate {
		return theory.MonteCarlo{
			Graph: u.graph, Prior: u.prior(), Eps: 0.1, Reading: theory.QueryInSequence, Small: 0.2,
			Samples: samples, Seed: 1, Workers: 1,
		}.Run([]float64{someBeta})[0].DeltaBeta
	}
	before, after := of(64), of(65)
	far := 65 * (after.Mean - before.Mean)
	tell("the error of one sample more", 64*65*after.StdErr*after.StdErr, 63*64*before.StdErr*before.StdErr+far*far*64/65)
	tell("whether one sample more changes the mean", unit(far != 0), 1)
}

// sampled compares one population with its samples, as standard scores. rows are
// the model's attention, nil for what stage 1 leads to.
func (p smallPopulation) sampled(tell told, reading theory.Reading, rows [][]float64) {
	const small, samples = 0.2, 4096
	m := p.model
	at := theory.MonteCarlo{
		Graph: p.graph, Prior: p.prior, Rows: rows, Eps: p.eps, Reading: reading, Small: small,
		Samples: samples, Seed: 1, Workers: 1,
	}.Run([]float64{m.Beta()})[0]
	library := p.gradients(reading)
	g := library.Gradient(m)
	square, below := library.Errors(m, small)
	e12, e3 := p.missesOfLimits(reading)
	ghat := theory.GHatBeta(p.prior, p.graph, m.Beta())
	estimates := append([]num.Estimate{at.DeltaBeta, at.Gap, at.Ideal}, at.Square...)
	estimates = append(append(append(estimates, at.Below...), at.E12...), at.E3...)
	want := append([]float64{g.DeltaBeta, g.Gap, -g.DeltaBeta - ghat}, square...)
	want = append(append(append(want, below...), e12...), e3...)
	for k, e := range estimates {
		tell("a mean of samples within five errors", unit(math.Abs(e.Mean-want[k]) <= 5*e.StdErr+1e-12), 1)
	}
}

// samplesWithoutChance compares estimates of stage 2 to rounding where all samples are
// alike up to a rotation of three states: one token before the query, under a
// circulant matrix, and a cycle along a chain. What belongs to pairs of states is
// summed over the rotations.
func samplesWithoutChance(tell told) {
	p := smallPopulation{eps: 0.1}
	for k, pi := range [][]float64{{0.5, 0.3, 0.2, 0.2, 0.5, 0.3, 0.3, 0.2, 0.5}, {0, 1, 0, 0, 0, 1, 1, 0, 0}} {
		n := []int{2, 5}[k]
		p.graph, p.model = graph.Chain(n), theory.NewReduced(3, n, someBeta)
		p.prior = &markov.Finite{Pi: [][]float64{pi}, Mu: [][]float64{{1. / 3, 1. / 3, 1. / 3}}, Weight: []float64{1}}
		someNumbers(p.model.A1)
		p.rotated(tell)
	}
}

// rotated compares one population with its samples.
func (p smallPopulation) rotated(tell told) {
	const small = 0.3
	m, rows := p.model, make([][]float64, p.model.T)
	for i := range rows {
		rows[i] = m.Attention()[i*m.T : i*m.T+i+1]
	}
	at := theory.MonteCarlo{
		Graph: p.graph, Prior: p.prior, Rows: rows, Eps: p.eps, Reading: theory.QueryInSequence, Small: small,
		Samples: 4, Seed: 1, Workers: 1,
	}.Run([]float64{m.Beta()})[0]
	library := p.gradients(theory.QueryInSequence)
	g := library.Gradient(m)
	square, below := library.Errors(m, small)
	e12, e3 := p.missesOfLimits(theory.QueryInSequence)
	ghat := theory.GHatBeta(p.prior, p.graph, m.Beta())
	tell("a sample of Delta_beta", at.DeltaBeta.Mean, g.DeltaBeta)
	tell("a sample of the gap", at.Gap.Mean, g.Gap)
	tell("a sample of -Delta_beta - ghat", at.Ideal.Mean, -g.DeltaBeta-ghat)
	third := 0.0
	for _, e := range at.E3 {
		third += e.Mean
	}
	tell("a sample of the error of E3", third, floats.Sum(e3))
	for k := range m.S {
		for _, of := range []struct {
			got  []num.Estimate
			want []float64
		}{{at.Square, square}, {at.Below, below}, {at.E12, e12}} {
			got, want := 0.0, 0.0
			for s := range m.S {
				got += of.got[s*m.S+(s+k)%m.S].Mean
				want += of.want[s*m.S+(s+k)%m.S]
			}
			tell("a sample of what belongs to two states", got, want)
		}
	}
}

// missesOfLimits returns the mean squares of E1/(E2+eps) and of E3 less their
// limits, by states.
func (p smallPopulation) missesOfLimits(reading theory.Reading) (e12, e3 []float64) {
	s, r, beta := p.model.S, p.graph.RootFraction(), p.model.Beta()
	e12, e3 = make([]float64, s*s), make([]float64, s)
	p.eachQuery(reading, func(weight float64, pi []float64, x []int, query int) {
		c := theory.MustChain(pi, s)
		f, v, z := p.model.Predict(x, query)
		first, third := make([]float64, s), 0.0
		for i, q := range v {
			first[x[i]] += q * z[i]
			third += q * z[i]
		}
		third -= c.E3Limit(query, r, beta)
		e3[query] += weight * third * third
		for a := range s {
			miss := first[a]/(f[a]+p.eps) - c.E12Limit(query, a, r, beta)
			e12[query*s+a] += weight * miss * miss
		}
	})
	return e12, e3
}
