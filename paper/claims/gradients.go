package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"

	"gonum.org/v1/gonum/cmplxs"
	"gonum.org/v1/gonum/floats"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// gradientComputations is the appendix on the loss and its gradients. Its
// identities are compared on random small populations, where both sides are sums
// over all sequences.
var gradientComputations = ledger.Section{Title: "Gradient Computations", Claims: []ledger.Claim{
	eqLossRewrite, eqLossRewriteCorrected, lemPopGrads,
}}

var eqLossRewrite = ledger.Claim{
	ID: "eq-loss-rewrite", Number: "Appendix D.2", Title: "The loss as a sum over the queried token", Quick: true,
	Statement:  `$L(\theta) = -\frac1S\,\mathbb{E}_{\pi,X}\big[\sum_{s,s'}\pi(s'\mid s)\log(f_\theta(X;s)_{s'}+\epsilon)\big]$ with $f_\theta(X;s) = X^\top\mathcal{S}(\mathcal{S}(A^{(1)})XA^{(2)}e_s)$ and $X$ a whole sequence of the task`,
	Hypotheses: `none: any prior, graph, $\theta$ and $\epsilon>0$; the prior of the witness meets assumption 1, its graph assumption 2`,
	Corrected:  "eq-loss-rewrite-corrected",
	Check: func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		if witness := apartLossWitness(); witness != nil {
			w.Fail(*witness)
		}
		compareLosses(e, &w, theory.QueryApart, perState)
		return w.Finding("With A1 = A2 = 0 the prediction is the mean of the tokens, so both sides are sums of log(1/3), log(2/3), log 1 and log(4/3) with the rational coefficients shown, the same for each relabeling; they differ since no power of 2 is one of 3. The sum over s is right if the last row of X is e_s (query in sequence); with a last row of its own (query apart) one position of T differs, a change of order 1/T, except in what is special about position T.")
	},
	Faults: []ledger.Fault{{What: "the factor 1/S is left out as well", Check: lossRewrite(theory.QueryApart, undivided)}},
}

var eqLossRewriteCorrected = ledger.Claim{
	ID: "eq-loss-rewrite-corrected", Number: "Appendix D.2", Quick: true,
	Title:      "The loss as a sum over the queried token, whose row X then holds",
	Statement:  `The same identity, with the last row of $X$ set to $e_s$ in the term of $s$: $\mathbb{E}_X[\,\cdot\mid s_T=s]$ for $\mathbb{E}_X$`,
	Hypotheses: `none: any prior, graph, $\theta$ and $\epsilon>0$`,
	Check:      lossRewrite(theory.QueryInSequence, perState),
	Faults:     []ledger.Fault{{What: "X keeps its own last row", Check: lossRewrite(theory.QueryApart, perState)}},
}

// The divisors of the sum over the queried token.
func perState(s int) float64 { return float64(s) }
func undivided(int) float64  { return 1 }

// lossRewrite checks the rewritten loss with the last row of X as read.
func lossRewrite(reading theory.Reading, divisor func(s int) float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		compareLosses(e, &w, reading, divisor)
		return w.Finding("Holds term by term: the query is uniform and the other tokens do not depend on it.")
	}
}

// compareLosses compares the loss as defined with the sum over s.
func compareLosses(e *ledger.Env, w *ledger.Worst, reading theory.Reading, divisor func(s int) float64) {
	for _, p := range drawPopulations(e, e.Budget(60, 12)) {
		sum := 0.0
		p.queries(reading, func(weight float64, pi []float64, x []int, s int) {
			sum += float64(weight * p.model.Loss(x, s, pi[s*p.model.S:(s+1)*p.model.S], p.eps, nil))
		})
		w.Equal([]float64{p.lossAsDefined()}, []float64{sum / divisor(p.model.S)}, 1e-13, p.instance)
	}
}

// apartLossWitness looks for the simplest matrix over three states, of trace 1,
// for which the loss and the sum over s with a last row of its own differ at
// A1 = A2 = 0 on a chain of three positions, and decides it in integers: with
// eps = 1/3 the logarithms are those of 1/3, 2/3, 1 and 4/3. It is nil if there
// is none.
func apartLossWitness() *ledger.Witness {
	g := graph.Chain(3)
	one := big.NewRat(1, 1)
	pi := ledger.SmallestKernel(3, 5, func(pi exact.Matrix) bool {
		if pi.Trace().Cmp(one) != 0 || gammaSquared(pi).Sign() == 0 {
			return false
		}
		defined, apart := lossCoefficients(g, pi)
		d := make(exact.Vector, len(defined))
		for k := range d {
			d[k] = exact.Sub(defined[k], apart[k])
		}
		// The difference is twos log 2 - threes log 3, which is 0 only where both
		// are, as no power of 2 is one of 3.
		twos := exact.Add(d[1], exact.Add(d[3], d[3]))
		threes := exact.Add(d[0], exact.Add(d[1], d[3]))
		return twos.Sign() != 0 || threes.Sign() != 0
	})
	if pi == nil {
		return nil
	}
	defined, apart := lossCoefficients(g, pi)
	return &ledger.Witness{
		Equation: "the loss and the sum over s, to nine decimals", LHS: meanLog(defined), RHS: meanLog(apart),
		Instance: ledger.Instance{
			"S": 3, "T": 3, "graph": g, "orbits": []exact.Matrix{pi}, "eps": big.NewRat(1, 3),
			// of -log(k/T + eps), k = 0, ..., T, at A1 = A2 = 0
			"coefficients of the loss": defined, "coefficients of the sum": apart,
		},
	}
}

// meanLog returns, to nine decimals, the sum of -log(1/3), -log(2/3), -log 1 and
// -log(4/3) with the coefficients c.
func meanLog(c exact.Vector) *big.Rat {
	sum := 0.0
	for k, q := range c {
		sum -= float64(exact.Float(q) * num.Log(float64(k+1)/3))
	}
	return exact.Rat(fmt.Sprintf("%.9f", sum))
}

// lossCoefficients returns the coefficients of -log(k/T + eps), k = 0..T, of the
// two sides for one matrix pi and A1 = A2 = 0.
func lossCoefficients(g *graph.Forest, pi exact.Matrix) (defined, apart exact.Vector) {
	s, t := len(pi), g.T()
	defined, apart = exact.Zero(1, t+1)[0], exact.Zero(1, t+1)[0]
	for x, p := range exact.Sequences(g, pi) {
		for a := range s {
			k, mean := 0, new(big.Rat)
			for _, b := range x {
				k += int(unit(b == a))
			}
			for q := range s {
				mean.Add(mean, exact.Quo(pi[q][a], exact.Frac(int64(s), 1)))
			}
			defined[k].Add(defined[k], exact.Mul(p, pi[x[t-1]][a]))
			apart[k].Add(apart[k], exact.Mul(p, mean))
		}
	}
	return defined, apart
}

var lemPopGrads = ledger.Claim{
	ID: "lem-pop-grads", Number: "Lemma 4", Title: "Population gradients", Quick: true,
	Statement:  `$\nabla_{A^{(1)}_i}L = -\frac1S J(\mathcal{S}(A^{(1)}_i))\,G_i$ with $G_i = \sum_{s,s'}\mathbb{E}[w\,\delta_{s'}^\top J(v)e_i\cdot X_{\le i}A^{(2)}e_s]$, and $\nabla_{A^{(2)}}L = -\frac1S\sum_{s,s'}G_{s,s'}$ with $G_{s,s'} = \mathbb{E}[w\,X^\top\mathcal{S}(A^{(1)})^\top J(v)\delta_{s'}e_s^\top]$, where $w=\pi(s'\mid s)/(f_{s'}+\epsilon)$`,
	Hypotheses: `none; both readings of the loss are tried, each with its own expectation`,
	Uses:       []string{"eq-loss-rewrite", "lem-rewrite-tf"},
	Check:      populationGradients(func(v, hit, f float64) float64 { return float64(v*hit) - float64(v*f) }),
	Faults: []ledger.Fault{{
		What:  "J(v) without its rank-one part",
		Check: populationGradients(func(v, hit, _ float64) float64 { return float64(v * hit) }),
	}},
}

// populationGradients compares the printed gradients, sum by sum, with the
// derivative of the loss along each coordinate by the complex step
//
//	dL/da = Im L(a + ih) / h,  h = 1e-100,
//
// which subtracts nothing and is exact to rounding. jacobian returns
// (J(v) delta_a)_i for v_i, x_{i,a} and f_a. An instance is a population.
func populationGradients(jacobian func(v, hit, f float64) float64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		populations := drawPopulations(e, e.Budget(40, 8))
		for k, p := range populations {
			reading := theory.Reading(k / 2 % 2)
			g1, g2 := p.printedGradients(reading, jacobian)
			d1, d2 := p.derivatives(reading)
			scale := 0.0
			for _, g := range append(append([]float64(nil), g1...), g2...) {
				scale = max(scale, math.Abs(g))
			}
			compare := func(name string, derivative, printed []float64, columns int) {
				for k := range printed {
					w.Equal(derivative[k:k+1], printed[k:k+1], 1e-11*min(scale, 1), func() ledger.Instance {
						entry := fmt.Sprintf("%s[%d,%d]", name, k/columns+1, k%columns+1)
						return p.instance().With("reading", reading.String()).With("entry", entry)
					})
				}
			}
			compare("A1", d1, g1, p.model.T)
			compare("A2", d2, g2, p.model.S)
		}
		w.Instances = len(populations)
		return w.Finding("The chain rule; compared with the derivative of the loss by complex steps, in both readings. (The 1/S belongs to the sum over s.)")
	}
}

// printedGradients returns the right sides of Lemma 4 (lem-pop-grads), T x T and
// S x S.
func (p smallPopulation) printedGradients(reading theory.Reading, jacobian func(v, hit, f float64) float64) (g1, g2 []float64) {
	m := p.model
	s, t := m.S, m.T
	attention := m.Attention()
	inner := make([]float64, t*t)
	g1, g2 = make([]float64, t*t), make([]float64, s*s)
	p.queries(reading, func(weight float64, pi []float64, x []int, query int) {
		f, v, _ := m.Predict(x, query)
		for a := range s {
			c := weight * pi[query*s+a] / (f[a] + p.eps)
			for i := range t {
				jv := jacobian(v[i], unit(x[i] == a), f[a])
				for j := range i + 1 {
					inner[i*t+j] += float64(float64(c*jv) * m.A2[x[j]*s+query])
					g2[x[j]*s+query] -= float64(float64(c*jv)*attention[i*t+j]) / float64(s)
				}
			}
		}
	})
	for i := range t {
		lo, hi := i*t, i*t+i+1
		floats.ScaleTo(g1[lo:hi], -1/float64(s), rowGains(inner[lo:hi], attention[lo:hi]))
	}
	return g1, g2
}

// derivatives returns those of the loss along the entries of A1 on and below the
// diagonal, the others zero, and of A2.
func (p smallPopulation) derivatives(reading theory.Reading) (d1, d2 []float64) {
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
	p.queries(reading, func(weight float64, pi []float64, x []int, query int) {
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
