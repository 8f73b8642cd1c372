package mainresults

import (
	"math"
	"math/big"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// The parts of the corrections, and the conclusions of the two remarks on trained runs.
const (
	partGibbs = "the loss is at least its minimum"
	partLeak  = "what lost attention costs"

	runLength = `$4T_{\mathrm{eff}}\ge\log^2T$`
	keptRows  = `both first layers have $\mathcal S(A^{(1)})_{i,p(i)}\ge1-\delta$ for $i\in\overline{\mathcal R}$ and the ` +
		`same rows of roots`
)

var thmMainStepRuns = ledger.Claim{
	ID: "thm-main-step-runs", Number: "Theorem 1", Title: "Trained runs beside the limit of the loss",
	Kind: ledger.Step,
	Statement: `after Algorithm 1 with $\epsilon=T_{\mathrm{eff}}^{-1/2}$ and $e^{\beta^*}=10\,T_{\mathrm{eff}}^{1/12}` +
		`\log^{-1/6}T$, at lengths below those of Theorem 1: $\mathcal S(\hat A^{(1)})_{i,p(i)}\ge1-\frac1T$, ` +
		`$\beta^*\le\hat\beta\le\beta^*+1$ and $0\le L-L^*+\log(1+S\epsilon)\le\frac1S\sum_s\mathrm{KL}\big(\pi\,\big\|\,` +
		`\frac{f_\infty+\epsilon}{1+S\epsilon}\big)+\frac{S-1}{2S}\sum_s\frac1{\mu_\pi(s)}\cdot` +
		`\frac1{(1-r)T_{\mathrm{eff}}}$ with $f_\infty$ of thm-main-step-bias at $\beta^*$`,
	Hypotheses: assumedPrior + "; " + runLength,
	Defect:     ledger.Constant,
	Uses:       []string{"alg-training-corrected", "lem-a1-dynamics", "thm-main-step-bias"},
	Check: ledger.Decided(func(w *ledger.Worst) {
		c := statedEnd(4096, exact.Frac(1, 100_000))
		// With probability above (1-(T-2)p)/4 the chain is the one that stays, it does, and the query is the other state.
		stay, p := exact.Sub(exact.Int(1), c.p), exact.Point(c.p)
		most := c.own().Add(exact.Point(c.eps)).Quo(exact.Point(c.scale()))
		far := exact.Point(stay).Mul(exact.Point(stay).Quo(most).Log()).Add(p.Mul(p.Log()))
		seen := exact.Point(exact.Quo(c.stays(), exact.Int(2))).Mul(far)
		instruments.Decide(w, seen, c.limit().Add(exact.Point(exact.Frac(1, int64(c.t-2)))), func() ledger.Instance {
			return ledger.Instance{"T": c.t, "constant of exp(beta*)": endConstant, "orbits": []exact.Matrix{
				staying(c.p), staying(stay),
			}}
		})
	}).Noted("Whatever stage 1 and the row of the query are, the other conclusions contradict the bound on the loss. " +
		"No prior of the runs had such chains."),
	Correction: &ledger.Claim{
		ID: "thm-main-step-runs-corrected", Title: "What lost attention costs, on every graph",
		Statement: `at the same $\hat\beta$ the excess losses $\mathcal E=L-L^*+\log(1+S\epsilon)$ of both satisfy ` +
			`$\mathcal E\ge0$ and $|\mathcal E-\mathcal E'|\le\bound[` + partLeak + `]{2}\hat\beta\delta$; if ` +
			`$\mathcal S(A'^{(1)})_{i,p(i)}=1$, thm-main-step-variance-corrected bounds $\mathcal E'$ on chains`,
		Parts:      []string{partGibbs, partLeak},
		Hypotheses: keptRows + `; $\hat\beta\ge0$, $\epsilon>0$`,
		Tried: `chains, in-context graphs and stars with $T=5$ over two states: random $\pi$, rows, $\hat\beta\le6$, ` +
			`$\epsilon$ and $\delta$, and rows that give $\delta$ to one position`,
		Uses:  []string{"thm-main-step-epsilon", "thm-main-step-variance-corrected"},
		Check: leakClaim{most: 1, shift: 1}.check(),
		Faults: []ledger.Fault{
			ledger.PlantIn(partGibbs, "half of log(1 + S eps)", leakClaim{most: 1, shift: 0.5}.check()),
			ledger.Drop(keptRows, "ten times as much attention is lost", leakClaim{most: 10, shift: 1}.check()),
		},
		Spare: []ledger.Spare{
			ledger.Spared(`$\hat\beta\ge0$, $\epsilon>0$`, "for a negative one its absolute value does; see thm-main-step-epsilon"),
		},
	},
}

// endConstant is that of exp(beta*) in the two remarks.
const endConstant = 10

// A runEnd is the end of Algorithm 1 on a chain of t positions over two states that leaves each with probability p.
type runEnd struct {
	t      int
	p, eps *big.Rat
	grown  exact.Interval // e^(beta*)
}

// statedEnd returns the end at a length that is an even square.
func statedEnd(t int, p *big.Rat) runEnd {
	size := exact.Int(int64(t))
	log := exact.Point(size).Log()
	sixth := log.Log().Quo(exact.Point(exact.Int(6))).Exp()
	grown := exact.Point(exact.Int(endConstant)).Mul(exact.Power(size, exact.Frac(1, 12))).Quo(sixth)
	return runEnd{t, p, exact.Inv(exact.Point(size).Sqrt().Hi), grown}
}

// stays returns a lower bound on the probability that all tokens are one state, and the query the other.
func (c runEnd) stays() *big.Rat {
	leaves := exact.Mul(c.p, exact.Int(int64(c.t-2)))
	return exact.Quo(exact.Sub(exact.Int(1), leaves), exact.Int(2))
}

func (c runEnd) scale() *big.Rat { return exact.Add(exact.Int(1), exact.Mul(exact.Int(2), c.eps)) }

// own encloses the largest prediction of the query's own state, at beta*+1, where no other position has it.
func (c runEnd) own() exact.Interval {
	most := c.grown.Mul(exact.Point(exact.Int(1)).Exp())
	return most.Quo(most.Add(exact.Point(exact.Int(int64(c.t - 1)))))
}

// weight encloses w_s at beta*, for mu(s) = 1/2 and the two roots.
func (c runEnd) weight() exact.Interval {
	r, half := exact.Frac(2, int64(c.t)), exact.Point(exact.Frac(1, 2))
	keep := exact.Point(exact.Sub(exact.Int(1), r))
	rest := keep.Add(exact.Point(r).Mul(c.grown.Sqrt()))
	return rest.Quo(rest.Add(keep.Mul(half).Mul(c.grown.Sub(exact.Point(exact.Int(1))))))
}

// limit encloses the divergence of f_inf at beta*, which is equal for both states and for the chain that always leaves.
func (c runEnd) limit() exact.Interval {
	sum := exact.Point(new(big.Rat))
	for _, p := range []*big.Rat{c.p, exact.Sub(exact.Int(1), c.p)} {
		f := exact.Point(p).Add(c.weight().Mul(exact.Point(exact.Sub(exact.Frac(1, 2), p))))
		q := f.Add(exact.Point(c.eps)).Quo(exact.Point(c.scale()))
		sum = sum.Add(exact.Point(p).Mul(exact.Point(p).Quo(q).Log()))
	}
	return sum
}

// A leakClaim has the planted faults: a factor of the attention that is lost, and of log(1 + S eps).
type leakClaim struct{ most, shift float64 }

// check compares two first layers on short sequences.
func (q leakClaim) check() ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		r := rand.New(e.Stream("losses"))
		drawShort(e, e.Budget(600, 60), func(c shortModel) {
			delta := r.Float64() / 10
			kept := c
			c.rows, kept.rows = q.rows(r, c, delta)
			seen, _ := c.excess()
			of, _ := kept.excess()
			at := func() ledger.Instance {
				return c.instance().With("delta", delta).With("excess losses", []float64{seen, of})
			}
			w.AtMostRounded(0, seen-float64((1-q.shift)*num.Log(1+float64(2*c.eps))), 1e-12, at)
			w.AtMostRounded(math.Abs(seen-of), float64(e.Bound(0).Float(nil)*c.beta*delta), 1e-12, at)
		})
		return ""
	}
}

// rows returns attention that loses delta, or most times as much, to one position or to random ones, and the attention
// that loses nothing; both have the rows of roots of c.
func (q leakClaim) rows(r *rand.Rand, c shortModel, delta float64) (leaky, kept [][]float64) {
	for i, random := range c.rows {
		sharp, p := random, c.graph.Parent(i)
		if p >= 0 {
			sharp = make([]float64, i+1)
			sharp[p] = 1
		}
		if p >= 0 && r.IntN(2) == 0 {
			random = make([]float64, i+1)
			random[r.IntN(i+1)] = 1
		}
		lost, mixed := min(1, delta*q.most), make([]float64, i+1)
		for j := range mixed {
			mixed[j] = float64(lost*random[j]) + float64((1-lost)*sharp[j])
		}
		leaky, kept = append(leaky, mixed), append(kept, sharp)
	}
	return leaky, kept
}

// A shortModel is a reduced model with given attention of its first layer, and A2 = beta I, on a short graph over two
// states.
type shortModel struct {
	graph     *graph.Forest
	pi        exact.Matrix
	rows      [][]float64
	beta, eps float64
}

// drawShort visits n random models on three graphs of five positions, until the run is interrupted.
func drawShort(e *ledger.Env, n int, visit func(c shortModel)) {
	r := rand.New(e.Stream("models"))
	for k := 0; k < n && e.Err() == nil; k++ {
		c := shortModel{
			graph: []*graph.Forest{graph.Chain(5), graph.InContext(5), graph.Star(5)}[k%3],
			pi:    instruments.RandomKernel(r, 2), beta: 6 * r.Float64(), eps: 1 / float64(1+r.IntN(50)),
		}
		for i := range c.graph.T() {
			row := make([]float64, i+1)
			for j := range row {
				row[j] = r.ExpFloat64()
			}
			floats.Scale(1/floats.Sum(row), row)
			c.rows = append(c.rows, row)
		}
		visit(c)
	}
}

func (c shortModel) instance() ledger.Instance {
	return ledger.Instance{"graph": c.graph, "pi": c.pi, "softmax(A1)": c.rows, "beta": c.beta, "eps": c.eps}
}

// excess returns L - L* + log(1 + S eps), and half of the mean of |q - pi|_1^2, by a sum over all sequences.
func (c shortModel) excess() (excess, square float64) {
	for x, chance := range exact.Sequences(c.graph, c.pi) {
		query, p := x[len(x)-1], exact.Float(chance)
		f := theory.Prediction(x, 2, c.beta, func(i int) float64 {
			z := 0.0
			for j, a := range c.rows[i] {
				z += float64(a * instruments.Indicator(x[j] == query))
			}
			return z
		})
		far := 0.0
		for to, want := range c.pi.Floats()[2*query : 2*query+2] {
			got := (f[to] + c.eps) / (1 + float64(2*c.eps))
			excess += float64(p * want * num.Log(want/got))
			far += math.Abs(got - want)
		}
		square += float64(p * far * far / 2)
	}
	return excess, square
}

var thmOODStepRuns = ledger.Claim{
	ID: "thm-ood-step-runs", Number: "Theorem 2", Title: "Trained runs on matrices outside of the prior",
	Kind: ledger.Step,
	Statement: `after Algorithm 1 as in thm-main-step-runs: $|f(s_{1:T})_{s'}-\tilde\pi(s'\mid s)|` +
		`\le w_s|\mu_{\tilde\pi}(s')-\tilde\pi(s'\mid s)|` +
		`+2.58\big(\frac{\tilde\pi(s'\mid s)(1-\tilde\pi(s'\mid s))}{\mu_{\tilde\pi}(s)(1-r)T}\big)^{1/2}$ with ` +
		`probability 0.99, with $w_s$ of thm-main-step-bias at $\beta^*$`,
	Hypotheses: assumedChain + "; " + assumedTheta,
	Defect:     ledger.Constant,
	Uses:       []string{"alg-training-corrected", "thm-main-step-bias"},
	Check: ledger.Decided(func(w *ledger.Worst) {
		c := statedEnd(4096, exact.Frac(1, 100_000))
		stay, half := exact.Sub(exact.Int(1), c.p), exact.Point(exact.Frac(1, 2))
		bias := c.weight().Mul(exact.Point(stay).Sub(half))
		spread := exact.Quo(exact.Mul(c.p, stay), exact.Frac(int64(c.t-2), 2))
		bound := bias.Add(exact.Point(exact.Frac(258, 100)).Mul(exact.Point(spread).Sqrt()))
		missed := new(big.Rat)
		if bound.AtMost(exact.Point(stay).Sub(c.own())) == exact.Certainly {
			missed = c.stays()
		}
		w.AtMostRat(missed, exact.Frac(1, 100), func() ledger.Instance {
			return ledger.Instance{"T": c.t, "constant of exp(beta*)": endConstant, "pi": staying(c.p)}
		})
	}).Noted("As for thm-main-step-runs: a chain that stays shows nothing of the other state."),
	Correction: &ledger.Claim{
		ID: "thm-ood-step-runs-corrected", Title: "The prediction near its limit, for every chain", Slow: true,
		Statement: costTerms + `, for $\tau>0$: with probability at least $1-\bound{4}\tau^{-2}-P_s$, ` +
			`$|f(s_{1:T})_{s'}-\pi(s'\mid s)|\le w_s|\mu_\pi(s')-\pi(s'\mid s)|+\tau\,u_{s'}(\mu n)^{-1/2}$ on chains`,
		Hypotheses: `$\mathcal S(A^{(1)})_{i,p(i)}=1$ for $i\in\overline{\mathcal R}$; $\beta\ge0$; $\min\pi>0$`,
		Tried: `two states: three $\pi$ with $T=64,256$, $e^\beta=1,12,150,10^6$, and random $\pi$ and $\beta$ with $T\le64$; $\tau=3,20$; $\tau=20$ is for ` +
			`probability $0.99-P_s$`,
		Uses:  []string{"thm-main-step-variance-corrected"},
		Check: nearClaim{}.check(),
		Faults: []ledger.Fault{
			ledger.Plant("without P_s", nearClaim{noFew: true}.check()),
			ledger.Plant("1/n for n^(-1/2)", nearClaim{squared: true}.check()),
			ledger.Drop(`$\mathcal S(A^{(1)})_{i,p(i)}=1$ for $i\in\overline{\mathcal R}$`, "nobody attends to the parent",
				nearClaim{noParents: true}.check()),
		},
		Spare: []ledger.Spare{
			ledger.Spared(`$\beta\ge0$`, "stage 2 begins at zero and grows"),
			ledger.Spared(`$\min\pi>0$`, "lambda(pi) < 1 is used; at 1 the bound is infinite"),
		},
	},
}

// A nearClaim has planted faults.
type nearClaim struct{ noFew, squared, noParents bool }

// check decides the probability of a miss on listed chains.
func (q nearClaim) check() ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		r := rand.New(e.Stream("chains"))
		for range e.Budget(300, 10) {
			root := 2 + r.IntN(7)
			q.decide(w, e.Bound(0), trainedChain{
				instruments.RandomKernel(r, 2), root * root, float64(r.IntN(2)), exact.Frac(1, int64(root)),
				exact.Frac(20+r.Int64N(4000), 20),
			})
		}
		for _, pi := range []exact.Matrix{
			exact.Rats("4/5 1/5; 2/5 3/5"), staying(exact.Frac(1, 10)), staying(exact.Frac(1, 2000)),
		} {
			for _, root := range []int{8, 16} {
				for _, of := range listedBetas {
					q.decide(w, e.Bound(0), trainedChain{pi, root * root, of.pull, exact.Frac(1, int64(root)), exact.Int(of.grown)})
				}
			}
		}
		return ""
	}
}

// decide decides the probability for both queries of one chain.
func (q nearClaim) decide(w *ledger.Worst, tail ledger.Bound, c trainedChain) {
	chain, grown := c.chain(), exact.Float(c.grown)
	if q.noParents {
		grown = 1
	}
	for s, mu := range chain.Mu {
		visits, _, _, u := c.deviations(s, false)
		far := u[0] / math.Sqrt(visits)
		if q.squared {
			far /= math.Sqrt(visits)
		}
		few := c.few(s)
		if q.noFew {
			few = exact.Point(new(big.Rat))
		}
		p, weight := chain.Pi.At(s, 0), theory.MixtureWeight(mu, 0, c.beta())
		for _, tau := range []float64{3, 20} {
			bound := float64(weight*math.Abs(chain.Mu[0]-p)) + float64(tau*far)
			missed := exact.PairMean(c.pi, c.mu(), c.t-1, func(x exact.Pairs) float64 {
				return instruments.Indicator(!(math.Abs(c.prediction(x, s, grown)-p) <= bound-1e-12))
			}, 0)
			w.UpTo(1).AtMostInterval(missed, few.Add(around(tail.Float(nil)/(tau*tau))), func() ledger.Instance {
				return c.instance().With("s", s+1).With("tau", tau).With("bound", bound)
			})
		}
	}
}
