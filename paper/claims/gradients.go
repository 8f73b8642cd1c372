package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

func gradientClaims() []Claim {
	const section = "Gradient Computations"
	return []Claim{
		{
			ID: "eq-loss-rewrite", Title: "The loss as a sum over the queried token", Section: section,
			Statement:  `$L(\theta) = -\frac1S\,\mathbb{E}_{\pi,X}\big[\sum_{s,s'}\pi(s'\mid s)\log(f_\theta(X;s)_{s'}+\epsilon)\big]$ with $f_\theta(X;s) = X^\top\mathcal{S}(\mathcal{S}(A^{(1)})XA^{(2)}e_s)$ and $X$ a whole sequence of the task`,
			Hypotheses: `none: any prior, graph, $\theta$ and $\epsilon>0$; the prior of the witness meets assumption 1, its graph assumption 2`,
			Corrected:  "eq-loss-rewrite-corrected", Quick: true,
			Check: func(e *Env) Finding { return lossRewriteFails(e) },
			Fault: "the factor 1/S is left out as well",
			Faulty: func(e *Env) Finding {
				return lossRewrite(e, theory.QueryApart, false)
			},
		},
		{
			ID: "eq-loss-rewrite-corrected", Title: "The loss as a sum over the queried token, whose row X then holds", Section: section,
			Statement:  `The same identity, with the last row of $X$ set to $e_s$ in the term of $s$: $\mathbb{E}_X[\,\cdot\mid s_T=s]$ for $\mathbb{E}_X$`,
			Hypotheses: `none: any prior, graph, $\theta$ and $\epsilon>0$`,
			Quick:      true,
			Check:      func(e *Env) Finding { return lossRewrite(e, theory.QueryInSequence, true) },
			Fault:      "X keeps its own last row",
			Faulty:     func(e *Env) Finding { return lossRewrite(e, theory.QueryApart, true) },
		},
		{
			ID: "lem-pop-grads", Title: "Population gradients", Section: section,
			Statement:  `$\nabla_{A^{(1)}_i}L = -\frac1S J(\mathcal{S}(A^{(1)}_i))\,G_i$ with $G_i = \sum_{s,s'}\mathbb{E}[w\,\delta_{s'}^\top J(v)e_i\cdot X_{\le i}A^{(2)}e_s]$, and $\nabla_{A^{(2)}}L = -\frac1S\sum_{s,s'}G_{s,s'}$ with $G_{s,s'} = \mathbb{E}[w\,X^\top\mathcal{S}(A^{(1)})^\top J(v)\delta_{s'}e_s^\top]$, where $w=\pi(s'\mid s)/(f_{s'}+\epsilon)$`,
			Hypotheses: `none; both readings of the loss are tried, each with its own expectation`,
			Uses:       []string{"eq-loss-rewrite", "lem-rewrite-tf"}, Quick: true,
			Check:  func(e *Env) Finding { return populationGradients(e, true) },
			Fault:  "J(v) without its rank-one part",
			Faulty: func(e *Env) Finding { return populationGradients(e, false) },
		},
	}
}

// A point is a small population with a model on it, for identities.
type point struct {
	graph *graph.Forest
	prior *markov.Finite
	model *theory.Reduced
	eps   float64
}

func (p point) instance() Instance {
	return Instance{"graph": parentList(p.graph), "S": p.model.S, "T": p.model.T, "prior": p.prior.String(), "eps": fmt.Sprintf("%.6g", p.eps)}
}

// points draws n of them: 2 or 3 states, 2 to 5 positions, a forest, one or two
// orbits, and normal entries of A1 and A2.
func (e *Env) points(n int) []point {
	out := make([]point, n)
	for k := range out {
		src := e.Stream("points", uint64(k))
		r := rand.New(src)
		s, t := 2+k%2, 2+r.IntN(3)
		if s == 2 && r.IntN(2) == 0 {
			t++
		}
		bases := make([][]float64, 1+r.IntN(2))
		for b := range bases {
			x := make([]float64, s*s)
			for i := range x {
				x[i] = 2 * r.NormFloat64()
			}
			bases[b] = floats(exact.Round(kernel(x, s, 0.01), s, 1000))
		}
		prior, err := markov.NewOrbit(s, bases...)
		if err != nil {
			panic("claims: " + err.Error())
		}
		m := theory.NewReduced(s, t, 0)
		for i := range m.A1 {
			m.A1[i] = r.NormFloat64()
		}
		for i := range m.A2 {
			m.A2[i] = 2 * r.NormFloat64()
		}
		out[k] = point{graph.Random(t, 0.3, src), prior, m, num.Exp(-3 * r.Float64())}
	}
	return out
}

// sequences calls f with every (pi, X, s) of the point that the rewritten loss
// sums over, and its weight without the 1/S.
func (p point) sequences(reading theory.Reading, f func(weight float64, pi []float64, x []int, s int)) {
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
				f(float64(p.prior.Weight[k]*w), pi, x, s)
			}
			x[last] = own
		}
	}
}

// lossAsDefined returns eq:CE_loss.
func (p point) lossAsDefined() float64 {
	loss := 0.0
	for k, pi := range p.prior.Pi {
		seq, err := task.Task{Graph: p.graph, Prior: p.prior}.Enumerate(pi, p.prior.Mu[k])
		if err != nil {
			panic("claims: " + err.Error())
		}
		for x, w := range seq {
			s := x[len(x)-1]
			loss += float64(float64(p.prior.Weight[k]*w) * p.model.Loss(x, s, pi[s*p.model.S:(s+1)*p.model.S], p.eps, nil))
		}
	}
	return loss
}

// lossRewrite compares the loss as defined with the sum over s.
func lossRewrite(e *Env, reading theory.Reading, factor bool) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Seed: Seed, Note: "Holds term by term: the query is uniform and the other tokens do not depend on it. The largest difference is of rounding."}
	for _, p := range e.points(e.Budget(60, 12)) {
		sum := 0.0
		p.sequences(reading, func(w float64, pi []float64, x []int, s int) {
			sum += float64(w * p.model.Loss(x, s, pi[s*p.model.S:(s+1)*p.model.S], p.eps, nil))
		})
		if factor {
			sum /= float64(p.model.S)
		}
		f.Instances++
		want := p.lossAsDefined()
		if d := Deviation(sum, want); f.Instance == nil || d < f.Margin {
			f.LHS, f.RHS, f.Margin, f.Instance = want, sum, d, p.instance()
		}
	}
	if f.Margin < -1e-12 {
		f.Verdict, f.Note = Fails, "The two sides differ by more than rounding."
	} else {
		f.Margin = 0 // of rounding
	}
	return f
}

// lossRewriteFails looks for the simplest matrix over three states, of trace 1,
// for which the two sides differ at A1 = A2 = 0 on a chain of three positions,
// and decides it in integers: with eps = 1/3 the logarithms are those of 1/3,
// 2/3, 1 and 4/3.
func lossRewriteFails(e *Env) Finding {
	f := lossRewrite(e, theory.QueryApart, true)
	if f.Verdict != Fails {
		return f
	}
	g := graph.Chain(3)
	for den := 3; den <= 5; den++ {
		for pi := range exact.Positive(3, den) {
			if pi.Trace().Cmp(exact.Frac(1, 1)) != 0 || gammaSquared(pi).Sign() == 0 {
				continue
			}
			defined, apart := lossCoefficients(g, pi)
			d := make([]*big.Rat, 4)
			for k := range d {
				d[k] = new(big.Rat).Sub(defined[k], apart[k])
			}
			// The difference is twos log 2 - threes log 3, which is 0 only
			// where both are, as no power of 2 is one of 3.
			twos := new(big.Rat).Add(d[1], new(big.Rat).Add(d[3], d[3]))
			threes := new(big.Rat).Add(d[0], new(big.Rat).Add(d[1], d[3]))
			if twos.Sign() == 0 && threes.Sign() == 0 {
				continue
			}
			f.Witness = Instance{
				"S": 3, "T": 3, "graph": parentList(g), "pi": pi.Strings(), "prior": "uniform over the relabelings of pi", "A1": "0", "A2": "0", "eps": "1/3",
				"defined: coefficients of -log(1/3), -log(2/3), -log 1, -log(4/3)": exact.Vector(defined).Strings(),
				"rewritten: the same": exact.Vector(apart).Strings(),
				"lhs":                 meanLog(defined), "rhs": meanLog(apart),
			}
			f.Note = "With A1 = A2 = 0 the prediction is the mean of the tokens, so both sides are sums of log(1/3), log(2/3), log 1 and log(4/3) with the rational coefficients shown, the same for each relabeling; they differ since no power of 2 is one of 3. The sum over s is right if the last row of X is e_s (query in sequence); with a last row of its own (query apart) one position of T differs, a change of order 1/T, except in what is special about position T."
			return f
		}
	}
	return f
}

// meanLog returns, to 9 digits, the sum of -log(1/3), -log(2/3), -log 1 and
// -log(4/3) with the coefficients c.
func meanLog(c []*big.Rat) string {
	sum := 0.0
	for k, q := range c {
		sum -= float64(exact.Float(q) * num.Log(float64(k+1)/3))
	}
	return fmt.Sprintf("%.9g", sum)
}

// lossCoefficients returns the coefficients of -log(k/T + eps), k = 0..T, of the
// two sides for one matrix pi and A1 = A2 = 0.
func lossCoefficients(g *graph.Forest, pi exact.Matrix) (defined, apart []*big.Rat) {
	s, t := len(pi), g.T()
	defined, apart = make([]*big.Rat, t+1), make([]*big.Rat, t+1)
	for k := range defined {
		defined[k], apart[k] = new(big.Rat), new(big.Rat)
	}
	for x, p := range exact.Sequences(g, pi) {
		for a := range s {
			k, mean := 0, new(big.Rat)
			for _, b := range x {
				k += int(unit(b == a))
			}
			for q := range s {
				mean.Add(mean, new(big.Rat).Quo(pi[q][a], exact.Frac(int64(s), 1)))
			}
			defined[k].Add(defined[k], new(big.Rat).Mul(p, pi[x[t-1]][a]))
			apart[k].Add(apart[k], mean.Mul(mean, p))
		}
	}
	return defined, apart
}

// populationGradients compares the printed gradients, sum by sum, with the
// derivative of the loss along each coordinate by the complex step
//
//	dL/da = Im L(a + ih) / h,  h = 1e-100,
//
// which subtracts nothing and is exact to rounding.
func populationGradients(e *Env, rankOne bool) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Seed: Seed, Note: "The chain rule; compared with the derivative of the loss by complex steps, in both readings. The largest difference, relative to the largest entry, is of rounding. (The 1/S belongs to the sum over s.)"}
	for k, p := range e.points(e.Budget(40, 8)) {
		reading := theory.Reading(k / 2 % 2)
		g1, g2 := p.printedGradients(reading, rankOne)
		scale := 0.0
		for _, g := range append(append([]float64(nil), g1...), g2...) {
			scale = max(scale, math.Abs(g))
		}
		f.Instances++
		compare := func(name string, printed, derivative float64) {
			if d := -math.Abs(printed-derivative) / scale; f.Instance == nil || d < f.Margin {
				f.LHS, f.RHS, f.Margin, f.Instance = derivative, printed, d, p.instance()
				f.Instance["reading"], f.Instance["entry"] = reading.String(), name
			}
		}
		for i := range p.model.T {
			for j := range i + 1 {
				compare(fmt.Sprintf("A1[%d,%d]", i+1, j+1), g1[i*p.model.T+j], p.derivative(reading, i*p.model.T+j, -1))
			}
		}
		for a := range p.model.A2 {
			compare(fmt.Sprintf("A2[%d,%d]", a/p.model.S+1, a%p.model.S+1), g2[a], p.derivative(reading, -1, a))
		}
	}
	if f.Margin < -1e-11 {
		f.Verdict, f.Note = Fails, "The formula is not the derivative of the loss."
	} else {
		f.Margin = 0 // of rounding
	}
	return f
}

// printedGradients returns the right sides of lem-pop-grads, T x T and S x S.
func (p point) printedGradients(reading theory.Reading, rankOne bool) (g1, g2 []float64) {
	m := p.model
	s, t := m.S, m.T
	attention := m.Attention()
	inner := make([]float64, t*t)
	g1, g2 = make([]float64, t*t), make([]float64, s*s)
	p.sequences(reading, func(weight float64, pi []float64, x []int, query int) {
		f, v, _ := m.Predict(x, query)
		for a := range s {
			c := weight * pi[query*s+a] / (f[a] + p.eps)
			for i := range t {
				jv := float64(v[i] * unit(x[i] == a)) // (J(v) delta_a)_i
				if rankOne {
					jv -= float64(v[i] * f[a])
				}
				for j := range i + 1 {
					inner[i*t+j] += float64(float64(c*jv) * m.A2[x[j]*s+query])
					g2[x[j]*s+query] -= float64(float64(c*jv)*attention[i*t+j]) / float64(s)
				}
			}
		}
	})
	for i := range t {
		mean := 0.0
		for j := range i + 1 {
			mean += float64(attention[i*t+j] * inner[i*t+j])
		}
		for j := range i + 1 {
			g1[i*t+j] = -float64(attention[i*t+j]*(inner[i*t+j]-mean)) / float64(s)
		}
	}
	return g1, g2
}

// derivative returns that of the loss along entry i1 of A1 or i2 of A2.
func (p point) derivative(reading theory.Reading, i1, i2 int) float64 {
	const h = 1e-100
	s, t := p.model.S, p.model.T
	a1, a2 := make([]complex128, t*t), make([]complex128, s*s)
	for k, v := range p.model.A1 {
		a1[k] = complex(v, h*unit(k == i1))
	}
	for k, v := range p.model.A2 {
		a2[k] = complex(v, h*unit(k == i2))
	}
	softmax := func(u []complex128) []complex128 {
		out, sum := make([]complex128, len(u)), complex128(0)
		for i, z := range u {
			out[i] = cmplx.Exp(z)
			sum += out[i]
		}
		for i := range out {
			out[i] /= sum
		}
		return out
	}
	attention := make([][]complex128, t)
	for i := range t {
		attention[i] = softmax(a1[i*t : i*t+i+1])
	}
	sum := 0.0
	p.sequences(reading, func(weight float64, pi []float64, x []int, query int) {
		u := make([]complex128, t)
		for i, row := range attention {
			for j, q := range row {
				u[i] += q * a2[x[j]*s+query]
			}
		}
		f := make([]complex128, s)
		for i, q := range softmax(u) {
			f[x[i]] += q
		}
		for a, q := range f {
			sum -= weight * pi[query*s+a] * imag(cmplx.Log(q+complex(p.eps, 0)))
		}
	})
	return sum / h / float64(s)
}
