package finitelength

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// lemmas are the steps of the proof that hold for every graph, and the enclosure of ghat.
func lemmas() []ledger.Claim {
	const section = "At lengths that can be run"
	return []ledger.Claim{
		{
			ID: "length-lead", Number: "Proposition L1", Kind: ledger.Step, Title: "The gradient of stage 1 at small beta_0",
			Section: section, Hypotheses: `$\epsilon>0$; $\beta_0\ge0$`, OnPaper: []string{"L1"},
			Statement: `$|g^*_{i,j}-\hat g_{i,j}|\le(e^{2\beta_0}-1)(\hat g_{i,j}+c_{i,j})+(e^{\beta_0}-1)c_{i,j}$ for every ` +
				`$A^{(1)}$, where $c_{i,j}=1$ but $c_{T,T}=S$`,
			Check: movesAtMost(1, 1),
			Faults: []ledger.Fault{
				ledger.Plant("half of the bound", movesAtMost(0.5, 0.5)),
				ledger.Plant("without the second term", movesAtMost(1, 0)),
			},
		},
		{
			ID: "length-turn", Number: "Proposition L3", Kind: ledger.Step, Section: section,
			Title:      "Stage 2 does not turn back for eta_2 <= 4(S-1)",
			Hypotheses: `$\epsilon>0$; $0\le z_i\le1$`, OnPaper: []string{"L3"},
			Statement: `$\partial_\beta q_{s'}\ge-\frac14$ for $q_{s'}=\delta_{s'}(X)^\top J(\mathcal S(\beta z))z/` +
				`(\delta_{s'}(X)^\top\mathcal S(\beta z)+\epsilon)$, so that $-\partial_\beta\Delta_\beta\ge-1/(4(S-1))$`,
			Check:  fallsAtMost(0.25),
			Faults: []ledger.Fault{ledger.Plant("-1/5 in place of -1/4", fallsAtMost(0.2))},
		},
		{
			ID: "length-enclosure", Number: "Proposition L5", Kind: ledger.Step, Section: section,
			Title:      "The enclosure of the gradient at beta_0 = 0",
			Hypotheses: `$S=2$, $T=6$, a chain`,
			Statement:  `$\hat g_{i,j}$, a rational sum over all sequences, lies in its enclosure for all $j\le i$`,
			Check:      encloses(func(r exact.Range) exact.Range { return r }),
			Faults: []ledger.Fault{ledger.Plant("an enclosure without width", encloses(func(r exact.Range) exact.Range {
				return exact.At(r.Lo + (r.Hi-r.Lo)/2)
			}))},
		},
	}
}

// movesAtMost searches over A1, one transition matrix, eps and beta_0 for the largest quotient of |g* - ghat| and
// first (e^(2 beta_0) - 1)(ghat + c) + second (e^beta_0 - 1) c. Both gradients are sums over all sequences.
func movesAtMost(first, second float64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for _, g := range []*graph.Forest{graph.Star(4), graph.Chain(4), graph.Chain(5)} {
			sides := func(x []float64) (beta0, lhs, rhs float64) {
				n, beta0 := g.T(), 1e-3+1/(1+num.Exp(-x[5]))
				prior, err := markov.NewFinite(2, ledger.Kernel(x[:4], 2, 1e-3))
				if err != nil {
					return beta0, 0, math.NaN()
				}
				p, err := theory.NewPopulation(g, prior, 1e-3+num.Exp(-math.Abs(x[4])), theory.QueryInSequence)
				if err != nil {
					return beta0, 0, math.NaN()
				}
				m, rows := theory.NewReduced(2, n, beta0), x[6:]
				for i := range n {
					rows = rows[copy(m.A1.RawRowView(i)[:i+1], rows):]
				}
				star := p.Gradient(m).GStar
				m.A2 = mat.NewDense(2, 2, nil)
				hat := p.Gradient(m).GStar
				rhs = 1
				for i := range n {
					for j := range i + 1 {
						c := 1.0
						if j == n-1 {
							c = 2
						}
						bound := first*(num.Exp(2*beta0)-1)*(hat.At(i, j)+c) + second*(num.Exp(beta0)-1)*c
						if v := math.Abs(star.At(i, j) - hat.At(i, j)); v*rhs > lhs*bound {
							lhs, rhs = v, bound
						}
					}
				}
				return beta0, lhs, rhs
			}
			starts := e.Starts(e.Budget(6, 4), 6+g.T()*(g.T()+1)/2)
			best, _ := e.Attack(func(x []float64) float64 {
				_, lhs, rhs := sides(x)
				return -lhs / rhs
			}, starts, e.Budget(6000, 3000))
			beta0, lhs, rhs := sides(best)
			w.AtMostRounded(lhs, rhs, 1e-9, func() ledger.Instance { return ledger.Instance{"graph": g, "beta0": beta0} })
		}
		return ""
	}
}

// fallsAtMost searches for the least derivative of q in beta, over five groups of positions of which two have the
// token s', over their weights and scores, beta and eps >= 1/1000. The derivative is a difference of q over 2^-12.
func fallsAtMost(most float64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		fall := func(x []float64) float64 {
			q := func(beta float64) float64 {
				f, fz, v, vz := 0.0, 0.0, 0.0, 0.0
				for k := range 5 {
					z := 1 / (1 + num.Exp(-x[k]))
					weight := num.Exp(x[5+k] + beta*z)
					v, vz = v+weight, vz+weight*z
					if k < 2 {
						f, fz = f+weight, fz+weight*z
					}
				}
				return (fz/v - f/v*vz/v) / (f/v + 1e-3 + num.Exp(x[10]))
			}
			const h = 0x1p-12
			beta := math.Abs(x[11])
			return (q(beta) - q(beta+h)) / h
		}
		best, _ := e.Attack(func(x []float64) float64 { return -fall(x) }, e.Starts(6, 12), e.Budget(20000, 8000))
		w.AtMostRounded(fall(best), most, 1e-9, func() ledger.Instance { return ledger.Instance{"at": best} })
		return ""
	}
}

// encloses decides that the rational ghat of chains lies in its enclosures, after a change of these.
func encloses(change func(exact.Range) exact.Range) ledger.Check {
	return ledger.Decided(func(w *ledger.Worst) {
		for _, pi := range []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/10 9/10; 9/10 1/10")} {
			p := exact.Population{Graph: graph.Chain(6), Pis: []exact.Matrix{pi}, Eps: exact.Frac(1, 2)}
			for i, row := range exact.ChainGHat(pi, 6, p.Eps) {
				for j, v := range p.GHat(i) {
					r := change(row[j])
					at := func() ledger.Instance { return ledger.Instance{"pi": pi, "i": i + 1, "j": j + 1} }
					w.AtMostRat(new(big.Rat).SetFloat64(r.Lo), v, at)
					w.AtMostRat(v, new(big.Rat).SetFloat64(r.Hi), at)
				}
			}
		}
	})
}
