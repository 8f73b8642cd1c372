// Package markovchains is the appendix on Markov chain preliminaries: lower bounds by the gamma of Assumption 1 of the
// spectral gap, the stationary measure, the overlap between rows, and the norm of the centered matrix.
// Equations are decided on rational matrices; a search looks for a matrix that breaks an inequality.
package markovchains

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

// onRationalKernels returns the check that decides equations for each of the rational matrices.
func onRationalKernels(decide func(w *ledger.Worst, pi exact.Matrix)) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for pi := range instruments.RationalKernels(e, e.Budget(60, 20)) {
			decide(w, pi)
		}
		return ""
	}
}

var free instruments.Bullets

// Section lists the claims in the order of the paper.
var Section = ledger.Section{Title: "Markov Chain Preliminaries", Claims: []ledger.Claim{
	eqBPowers, eqBPowersZero,
	lemSpectralGap, lemSpectralGapDecomposition,
	lemMuLower, lemTV, lemTVMax, lemBoundG1, lemContraction,
}}

const triedKernels = `all positive matrices over two states with denominators up to 6, and random ones over 2 to 4 ` +
	`states, in rationals`

var eqBPowers = ledger.Claim{
	ID: "eq-b-powers", Number: "Appendix E", Title: "Powers and norm of the centered transition matrix",
	Statement: `$(B_\pi^k)_{s,s'}=\sqrt{\mu_\pi(s)/\mu_\pi(s')}\,[\pi^k(s'\mid s)-\mu_\pi(s')]$ for $k\ge1$, and ` +
		`$\|B_\pi\|_F^2=\sum_{s,s'}\mu_\pi(s)\pi(s'\mid s)^2/\mu_\pi(s')-1$`,
	Parts:      []string{"powers", "norm"},
	Hypotheses: instruments.OneMeasure, Tried: triedKernels,
	Check: powersOfB(1, exact.FrobeniusSquared).Noted("For every chain: with P = π − 1μᵀ, P1 = 0 and μᵀP = 0, so Pᵏ " +
		"= πᵏ − 1μᵀ by induction for k ≥ 1, and B = D P D⁻¹. The formula is not valid at k = 0 (Appendix E, " +
		"eq-b-powers-step-zero)."),
	Faults: []ledger.Fault{
		ledger.PlantIn("powers", "the powers from k = 0 on", powersOfB(0, exact.FrobeniusSquared)),
		ledger.PlantIn("norm", "s and s' exchanged in the weights of the norm", powersOfB(1, normExchanged)),
	},
	Spare: instruments.SpareMeasure,
}

// normExchanged returns sum_{s,s'} mu(s') pi(s'|s)^2/mu(s) - 1.
func normExchanged(pi exact.Matrix) *big.Rat {
	mu, sum := exact.MustStationary(pi), exact.Int(-1)
	for s, row := range pi {
		for t, p := range row {
			sum.Add(sum, exact.Mul(exact.Mul(p, p), exact.Quo(mu[t], mu[s])))
		}
	}
	return sum
}

// powersOfB decides the powers from k = first to 4, and the norm.
func powersOfB(first int, norm func(pi exact.Matrix) *big.Rat) ledger.Check {
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		mu := exact.MustStationary(pi)
		flat := instruments.Independent(mu)
		for k := first; k <= 4; k++ {
			decidePower(w, pi, flat, k)
		}
		sum := new(big.Rat)
		for s, row := range pi.Sub(flat) {
			for t, x := range row {
				sum.Add(sum, exact.Mul(exact.Mul(x, x), exact.Quo(mu[s], mu[t])))
			}
		}
		w.EqualRat("|B|_F^2", sum, norm(pi), instruments.KernelInstance(pi))
	})
}

// decidePower decides the formula for B^k, with its entries multiplied by sqrt(mu(s')/mu(s)) so that no root
// remains: B = D P D^-1 for D = diag(sqrt(mu)) and P = pi - 1 mu^T, hence the formula is P^k = pi^k - 1 mu^T.
func decidePower(w *ledger.Worst, pi, flat exact.Matrix, k int) {
	equation := fmt.Sprintf("D^-1 B^%d D = pi^%d - 1 mu^T, D = diag(sqrt(mu))", k, k)
	w.EqualMatrix(equation, pi.Sub(flat).Power(k), pi.Power(k).Sub(flat), instruments.KernelInstance(pi))
}

var eqBPowersZero = ledger.Claim{
	ID: "eq-b-powers-step-zero", Number: "Appendix E", Kind: ledger.Step,
	Title: "The formula for a power at k = 0",
	Statement: `$(B_\pi^0)_{s,s'}=\sqrt{\mu_\pi(s)/\mu_\pi(s')}\,[\pi^0(s'\mid s)-\mu_\pi(s')]$, as Lemma 19 ` +
		`(lem-covariance) uses it where one position lies above the other`,
	Hypotheses: instruments.OneMeasure, Tried: triedKernels,
	Defect: ledger.Boundary,
	Check: powerByFormula(0).Noted("No chain satisfies it: a matrix to the power 0 is I, and the bracket is 1{s=s'} " +
		"− μ(s'). Lemma 19 (lem-covariance) survives, because the projection that belongs there has norm 1."),
	Correction: &ledger.Claim{
		ID: "eq-b-powers-step-zero-corrected", Title: "The formula for a power at k = 0, corrected",
		Statement: `At $k=0$ the right side of the powers of $B_\pi$ (Appendix E, eq-b-powers) is the projection ` +
			`$I-\sqrt{\mu_\pi}\sqrt{\mu_\pi}^\top$, of norm 1: entrywise $D(I-1\mu_\pi^\top)D^{-1}$ with ` +
			`$D=\mathrm{diag}(\sqrt{\mu_\pi})$, and $(I-1\mu_\pi^\top)^2=I-1\mu_\pi^\top$`,
		Parts:      []string{"entrywise", "projection", "norm 1"},
		Hypotheses: instruments.OneMeasure, Tried: triedKernels,
		Check: projectionAt(exact.MustStationary, exact.Int(1), -1).Noted(
			"For every chain, since μᵀ1 = 1: the bracket is conjugate to an orthogonal projection, of rank S − 1."),
		Faults: []ledger.Fault{
			ledger.PlantIn("entrywise", "the uniform measure in place of the stationary one",
				projectionAt(instruments.UniformMeasure, exact.Int(1), -1)),
			ledger.PlantIn("projection", "half of the measure is subtracted",
				projectionAt(exact.MustStationary, exact.Frac(1, 2), -1)),
			ledger.PlantIn("norm 1", "rank S in place of S - 1", projectionAt(exact.MustStationary, exact.Int(1), 0)),
		},
		Spare: instruments.SpareMeasure,
	},
}

// powerByFormula decides the formula for B^k.
func powerByFormula(k int) ledger.Check {
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		decidePower(w, pi, instruments.Independent(exact.MustStationary(pi)), k)
	})
}

// projectionAt decides the statements about p = I - times 1 m^T for the measure m of
// pi: D p D^-1 is symmetric, because diag(mu) p is; p^2 = p; and the trace of p is
// its rank S + extra, so that p is not 0 and D p D^-1 has norm 1.
func projectionAt(measure func(pi exact.Matrix) exact.Vector, times *big.Rat, extra int64) ledger.Check {
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		mu, n := exact.MustStationary(pi), int64(len(pi))
		p := exact.Diag(exact.Ones(len(pi))).Sub(instruments.Independent(measure(pi)).Scale(times))
		weighted := exact.Diag(mu).Mul(p)
		w.EqualMatrix("diag(mu) (I - 1 mu^T) is symmetric", weighted, weighted.T(), instruments.KernelInstance(pi))
		w.EqualMatrix("(I - 1 mu^T)^2 = I - 1 mu^T", p.Mul(p), p, instruments.KernelInstance(pi))
		w.EqualRat("the trace of I - 1 mu^T", p.Trace(), exact.Int(n+extra), instruments.KernelInstance(pi))
		w.EqualMatrix("pi (I - 1 mu^T) = pi - 1 mu^T", pi.Mul(p), pi.Sub(instruments.Independent(mu)),
			instruments.KernelInstance(pi))
	})
}

var lemSpectralGap = ledger.Claim{
	ID: "lem-spectral-gap", Number: "Lemma 13", Title: "The spectral gap is bounded below",
	Statement:  `$1-\lambda(\pi)\ge\bound{\gamma/S}$`,
	Hypotheses: instruments.FloorHypothesis,
	Tried:      instruments.TriedSearch + `; by intervals all chains over two states with $\gamma\ge1/20$`,
	Uses:       []string{"lem-mu-lower", "lem-spectral-gap-step-decomposition"},
	RestsOn:    []string{"lem-mu-lower", "lem-spectral-gap-step-decomposition-corrected"},
	// The bound is loose: lambda^2 <= 1 - gamma, hence 1 - lambda >= gamma/2.
	Check: spectralGapAtLeast(instruments.EntryBullet),
	Faults: []ledger.Fault{ledger.Drop(instruments.FloorHypothesis, "gamma = 1 for every chain",
		spectralGapAtLeast(free))},
}

// spectralGapAtLeast checks that 1 - lambda(pi) is at least the bound.
func spectralGapAtLeast(gamma instruments.Bullets) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		var ratios instruments.RatioPerSize
		bound := instruments.GammaBound{Bound: e.Bound(0), Of: gamma}
		instruments.AttackExactly(e, w, ledger.KernelBound{
			Sizes: []int{2, 3, 4}, Floor: 1e-4,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				return bound.FloatAt(c.S, gamma.Float(c)), 1 - c.Lambda()
			},
			Broken: func(pi exact.Matrix) *ledger.Witness {
				least := bound.RatAt(len(pi), gamma.Root(pi))
				most := exact.Sub(exact.Int(1), least)
				if most.Sign() >= 0 && exact.LambdaAtMost(pi, most) {
					return nil
				}
				return &ledger.Witness{
					Equation: "gamma/S <= 1 - lambda, of which the right side is rounded up",
					Instance: instruments.KernelInstance(pi)().With("gamma", gamma.Root(pi)), LHS: least, RHS: gapAtMost(pi, least),
				}
			},
			PerSize: ratios.Add,
		})
		boxes := instruments.EveryPairOfRows(w, func(c instruments.TwoStates) (lhs, rhs exact.Range) {
			return bound.Within(c.Entries), exact.At(1).Sub(c.Lambda)
		})
		return instruments.SearchNote(w,
			"; true for all by the decomposition as corrected"+boxes+". Least found of (1−λ)S/γ:"+
				string(ratios)+". The right side is 1 − λ(π). Sharper: λ² is the second eigenvalue of the reversible "+
				"π*π, so λ² ≤ α(π) ≤ 1−γ < (1−γ/S)².")
	}
}

// gapAtMost returns the first upper bound of 1 - lambda(pi) below bound that bisection finds.
func gapAtMost(pi exact.Matrix, bound *big.Rat) *big.Rat {
	lo, hi := new(big.Rat), exact.Int(1) // lambda is above lo and at most hi
	for exact.Sub(exact.Int(1), lo).Cmp(bound) >= 0 {
		middle := exact.Quo(exact.Add(lo, hi), exact.Int(2))
		if exact.LambdaAtMost(pi, middle) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return exact.Sub(exact.Int(1), lo)
}

var lemSpectralGapDecomposition = ledger.Claim{
	ID: "lem-spectral-gap-step-decomposition", Number: "Lemma 13", Kind: ledger.Step,
	Title:      "The decomposition in the proof of the spectral gap",
	Statement:  `$\pi=\frac{\gamma}{S}1\mu_\pi^\top+(1-\gamma)Q$ with $Q$ a stochastic matrix`,
	Hypotheses: instruments.FloorHypothesis + `; $0<\gamma<1$`, Tried: triedKernels,
	Defect: ledger.Misprint,
	Check: decomposition(exact.FloorGamma, 0,
		rowSumsOfQ).Noted("The rows of Q sum to (1−γ/S)/(1−γ), " +
		"which is not 1 for any 0 < γ < 1 and S ≥ 2. A misprint, as are πᵀQ = π for μᵀQ = μᵀ, and π for Q on the " +
		"right of the next line: with the weight 1 − γ/S the proof is whole."),
	Correction: &ledger.Claim{
		ID: "lem-spectral-gap-step-decomposition-corrected", Title: "The decomposition, corrected",
		Statement: `$\pi=\frac{\gamma}{S}1\mu_\pi^\top+(1-\frac{\gamma}{S})Q$ with $Q$ stochastic, ` +
			`$\mu_\pi^\top Q=\mu_\pi^\top$ and $\pi-1\mu_\pi^\top=(1-\frac{\gamma}{S})(Q-1\mu_\pi^\top)$`,
		Parts:      []string{"rows of Q", "Q is not negative", "measure of Q", "centered"},
		Hypotheses: instruments.FloorHypothesis + `; $0<\gamma<1$`, Tried: triedKernels,
		Uses: []string{"lem-mu-lower"},
		Check: decomposition(exact.FloorGamma, 1,
			stationaryQ).Noted("For every chain: π ≥ γ/S ≥ (γ/S) μ " +
			"entrywise makes Q ≥ 0. Q has the stationary measure μ, so its norm on L²(μ) is at most 1 and λ(π) ≤ 1 − γ/S."),
		Faults: []ledger.Fault{
			ledger.PlantIn("rows of Q", "the weight of Q is 1 - gamma",
				decomposition(exact.FloorGamma, 0, stationaryQ)),
			ledger.PlantIn("Q is not negative", "the entries of Q are at least those of mu",
				decomposition(exact.FloorGamma, 1, func(w *ledger.Worst, d splitting) {
					notNegative(w, d, d.q.Sub(d.flat))
				})),
			ledger.PlantIn("measure of Q", "the uniform measure is stationary for Q",
				decomposition(exact.FloorGamma, 1, func(w *ledger.Worst, d splitting) {
					measureOfQ(w, d, exact.Matrix{instruments.UniformMeasure(d.pi)})
				})),
			ledger.PlantIn("centered", "1 - gamma before Q - 1 mu^T",
				decomposition(exact.FloorGamma, 1, func(w *ledger.Worst, d splitting) {
					d.weight = exact.Sub(exact.Int(1), d.gamma)
					centeredQ(w, d)
				})),
			ledger.Drop(instruments.FloorHypothesis, "gamma twice the largest that the entries allow",
				decomposition(func(pi exact.Matrix) *big.Rat {
					return exact.Mul(exact.Int(2), exact.FloorGamma(pi))
				}, 1, stationaryQ)),
		},
		Spare: []ledger.Spare{
			ledger.Spared(`$0<\gamma<1$`,
				"the entries leave no gamma > 1; at 1 both sides are 1 mu^T, with Q = 1 mu^T, and at 0 Q = pi"),
		},
	},
}

// A splitting is pi = gamma/S 1 mu^T + weight q.
type splitting struct {
	pi, flat, q   exact.Matrix // flat = 1 mu^T
	gamma, weight *big.Rat
}

func (d splitting) instance() ledger.Instance {
	return instruments.KernelInstance(d.pi)().With("gamma", d.gamma)
}

// decomposition splits matrices with the weight 1 - gamma/S^k of Q, and decides the
// lines. It omits matrices with gamma >= 1.
func decomposition(
	gammaOf func(exact.Matrix) *big.Rat, k int, lines func(w *ledger.Worst, d splitting),
) ledger.Check {
	one := exact.Int(1)
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		gamma, flat := gammaOf(pi), instruments.Independent(exact.MustStationary(pi))
		if gamma.Cmp(one) >= 0 {
			return
		}
		weight := exact.Sub(one, exact.Quo(gamma, exact.Pow(exact.Int(len(pi)), k)))
		rest := pi.Sub(flat.Scale(exact.Quo(gamma, exact.Int(len(pi)))))
		lines(w, splitting{pi, flat, rest.Scale(exact.Quo(one, weight)), gamma, weight})
	})
}

// rowSumsOfQ decides whether the rows of Q sum to one.
func rowSumsOfQ(w *ledger.Worst, d splitting) {
	ones := exact.Matrix{exact.Ones(len(d.pi))}
	w.EqualMatrix("row sums of Q", d.q.Mul(ones.T()).T(), ones, d.instance)
}

// stationaryQ decides whether Q is stochastic with the stationary measure of pi,
// and the line of the centered matrices.
func stationaryQ(w *ledger.Worst, d splitting) {
	rowSumsOfQ(w, d)
	notNegative(w, d, d.q)
	measureOfQ(w, d, d.flat[:1])
	centeredQ(w, d)
}

// notNegative decides whether the matrix m has no negative entry.
func notNegative(w *ledger.Worst, d splitting, m exact.Matrix) {
	for s, row := range m {
		for t, x := range row {
			if x.Sign() < 0 {
				w.Fail(ledger.Witness{
					Instance: d.instance().With("row", s+1).With("column", t+1),
					Equation: "0 <= an entry", LHS: new(big.Rat), RHS: x,
				})
			}
		}
	}
}

// measureOfQ decides whether the row mu is stationary for Q.
func measureOfQ(w *ledger.Worst, d splitting, mu exact.Matrix) {
	w.EqualMatrix("mu^T Q = mu^T", mu.Mul(d.q), mu, d.instance)
}

// centeredQ decides the line of the centered matrices.
func centeredQ(w *ledger.Worst, d splitting) {
	w.EqualMatrix("pi - 1 mu^T = (1 - gamma/S)(Q - 1 mu^T)",
		d.pi.Sub(d.flat), d.q.Sub(d.flat).Scale(d.weight), d.instance)
}

var lemMuLower = ledger.Claim{
	ID: "lem-mu-lower", Number: "Lemma 14", Title: "The stationary measure is bounded below",
	Statement:  `$\min_s\mu_\pi(s)\ge\bound{\gamma/S}$`,
	Hypotheses: instruments.FloorHypothesis, Tried: instruments.TriedSearch,
	Check:  measureAtLeast(instruments.EntryBullet),
	Faults: []ledger.Fault{ledger.Drop(instruments.FloorHypothesis, "gamma = 1 for every chain", measureAtLeast(free))},
}

// measureAtLeast checks that min mu is at least the bound.
func measureAtLeast(gamma instruments.Bullets) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		bound := instruments.GammaBound{Bound: e.Bound(0), Of: gamma}
		instruments.AttackExactly(e, w, ledger.KernelBound{
			Sizes: []int{2, 3, 4}, Floor: 1e-3,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				return bound.FloatAt(c.S, gamma.Float(c)), slices.Min(c.Mu)
			},
			Broken: func(pi exact.Matrix) *ledger.Witness {
				least := slices.MinFunc(exact.MustStationary(pi), (*big.Rat).Cmp)
				return floorWitness(pi, bound.RatAt(len(pi), gamma.Root(pi)), least)
			},
		})
		return instruments.SearchNote(w, "; true for all, since μ(s')−γ/S = Σ μ(s)(π(s'|s)−γ/S). Equality where a column is "+
			"constant at γ/S.")
	}
}

// floorWitness returns the witness that lhs exceeds rhs for pi, or nil. It gives the
// largest gamma of the first bullet of Assumption 1.
func floorWitness(pi exact.Matrix, lhs, rhs *big.Rat) *ledger.Witness {
	if lhs.Cmp(rhs) <= 0 {
		return nil
	}
	at := ledger.Instance{"S": len(pi), "pi": pi, "mu": exact.MustStationary(pi), "gamma": exact.FloorGamma(pi)}
	return &ledger.Witness{Instance: at, LHS: lhs, RHS: rhs}
}

// A rowDistance is a total variation distance between rows of pi, in floats and in rational numbers.
type rowDistance struct {
	float func(c *theory.Chain) float64
	rat   func(pi exact.Matrix) *big.Rat
}

// alphaOfRows is alpha(pi), the largest total variation between two rows, and closestRows the least.
var (
	alphaOfRows = rowDistance{(*theory.Chain).Alpha, exact.Alpha}
	closestRows = rowDistance{
		float: func(c *theory.Chain) float64 {
			least := math.Inf(1)
			for j := range c.S {
				for k := range j {
					row, other := c.Pi.RawRowView(j), c.Pi.RawRowView(k)
					least = min(least, theory.TotalVariation.Between(row, other))
				}
			}
			return least
		},
		rat: func(pi exact.Matrix) *big.Rat {
			var all exact.Vector
			for j := range pi {
				for k := range j {
					all = append(all, exact.TV(pi[j], pi[k]))
				}
			}
			return slices.MinFunc(all, (*big.Rat).Cmp)
		},
	}
)

var lemTV = ledger.Claim{
	ID: "lem-tv", Number: "Lemma 15", Title: "Two rows are close in total variation",
	Statement:  `$\min_{j\ne k}\mathrm{TV}(\pi(\cdot\mid j),\pi(\cdot\mid k))\le1-\bound{\gamma}$`,
	Hypotheses: instruments.FloorHypothesis, Tried: instruments.TriedSearch,
	Check: rowsWithin(closestRows, instruments.EntryBullet, " The printed min is a misprint for max: the proof "+
		"gives, and Lemma 5 (thm-dpi-gap) needs, all pairs (Lemma 15, lem-tv-step-max)."),
	Faults: []ledger.Fault{ledger.Drop(instruments.FloorHypothesis, "gamma = 1 for every chain",
		rowsWithin(closestRows, free, ""))},
}

var lemTVMax = ledger.Claim{
	ID: "lem-tv-step-max", Number: "Lemma 15", Kind: ledger.Step,
	Title:      "All pairs of rows are close, as the lemma is used",
	Statement:  `$\alpha(\pi)=\max_{j\ne k}\mathrm{TV}(\pi(\cdot\mid j),\pi(\cdot\mid k))\le1-\bound{\gamma}$`,
	Hypotheses: instruments.FloorHypothesis, Tried: instruments.TriedSearch,
	Check: rowsWithin(alphaOfRows, instruments.EntryBullet, ""),
	Faults: []ledger.Fault{ledger.Drop(instruments.FloorHypothesis, "gamma = 1 for every chain",
		rowsWithin(alphaOfRows, free, ""))},
}

// rowsWithin checks distance <= 1 - gamma; remark ends the note.
func rowsWithin(distance rowDistance, gamma instruments.Bullets, remark string) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		bound := instruments.GammaBound{Bound: e.Bound(0), Of: gamma}
		instruments.AttackExactly(e, w, ledger.KernelBound{
			Sizes: []int{2, 3, 4}, Floor: 1e-3,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				return distance.float(c), 1 - bound.FloatAt(c.S, gamma.Float(c))
			},
			Broken: func(pi exact.Matrix) *ledger.Witness {
				most := exact.Sub(exact.Int(1), bound.RatAt(len(pi), gamma.Root(pi)))
				return floorWitness(pi, distance.rat(pi), most)
			},
		})
		return instruments.SearchNote(w,
			"; true for all, since 1−TV = Σ min(π(t|j), π(t|k)) ≥ S·γ/S. Equality where two rows "+
				"share no more."+remark)
	}
}

var lemBoundG1 = ledger.Claim{
	ID: "lem-bound-g1", Number: "Lemma 16", Title: "The norm of the centered matrix is bounded below",
	Statement:  `$\|B_\pi\|_F^2\ge\bound{\gamma^2/S}$`,
	Hypotheses: instruments.FloorHypothesis + `; ` + instruments.SpreadOfRows + `; the prior is symmetric and has constant mean`,
	Tried: `uniform priors over the relabelings of a matrix of trace 1, or of two over two states whose traces ` +
		`average to 1; $\gamma$ is the largest`,
	Uses: []string{"lem-mu-lower"}, Defect: ledger.Constant,
	Check: normOfPriors,
	Correction: &ledger.Claim{
		ID: "lem-bound-g1-corrected", Title: "The norm of the centered matrix is bounded below, corrected",
		Statement: `$\|B_\pi\|_F^2\ge\bound[first inequality]{2}\min_s\mu_\pi(s)\sum_s\|\pi(\cdot\mid s)-\mu_\pi\|_2^2\ge` +
			`\bound[second inequality]{2\gamma^3/S^2}$`,
		Parts:      []string{"first inequality", "second inequality"},
		Hypotheses: instruments.FloorHypothesis + `; ` + instruments.SpreadOfRows,
		Tried: instruments.TriedSearch + `, up to $S=5$; the second inequality by intervals for all chains over two states with ` +
			`$\gamma\ge1/20$`,
		Uses:  []string{"lem-mu-lower"},
		Check: normAtLeastCube(instruments.BothBullets),
		Faults: []ledger.Fault{
			ledger.Drop(instruments.FloorHypothesis, "gamma by the rows alone", normAtLeastCube(instruments.RowBullet)),
			ledger.Drop(instruments.SpreadOfRows, "gamma by the entries alone", normAtLeastCube(instruments.EntryBullet)),
		},
	},
}

// normOfPriors checks E|B|_F^2 >= bound for priors of Assumption 1.
func normOfPriors(e *ledger.Env, w *ledger.Worst) string {
	bound := instruments.GammaBound{Bound: e.Bound(0), Of: instruments.BothBullets}
	infima := instruments.PriorSearch{
		Bound: bound, Sizes: []int{2, 3, 4, 5}, Budget: e.Budget(48000, 2400), Bases: instruments.BasesOfPrior,
		Value: instruments.NormOf,
		Witness: func(w *ledger.Worst, s int) *ledger.Witness {
			return cmp.Or(bound.AmongLightStates(w, s, bound.ExceedsNorm), bound.OrbitPair())
		},
	}.Run(e, w)
	return "The proof bounds each row by γ²/S, but Assumption 1 bounds only their sum over s, and B " +
		"weights row s by μ(s). Over two states ‖B‖² = λ₂², while Σ‖π(·|s)−μ‖² = 2λ₂²(μ₁²+μ₂²). Least found of " +
		"‖B‖² over the right side:" + infima + "."
}

// normAtLeastCube checks |B|_F^2 >= 2 min mu sum_s |pi(.|s) - mu|_2^2 and |B|_F^2 >= 2 gamma^3/S^2.
func normAtLeastCube(gamma instruments.Bullets) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		var infima instruments.RatioPerSize
		first, second := e.Bound(0).Constant(), instruments.GammaBound{Bound: e.Bound(1), Of: gamma}
		instruments.AttackExactly(e, w, ledger.KernelBound{
			Sizes: []int{2, 3, 4, 5}, Floor: 1e-4, From: instruments.LightStates,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				g, norm := gamma.Float(c), c.FrobeniusSquared()
				if g < instruments.LeastGamma || norm < 1e-9 {
					return 0, math.Inf(1)
				}
				times := second.Over(`S^{-2}`).Float(ledger.At[float64]{`\gamma`: g, "S": float64(c.S)})
				return times / float64(c.S*c.S), norm
			},
			Broken:  func(pi exact.Matrix) *ledger.Witness { return normBelowCube(pi, first, second) },
			PerSize: infima.Add,
		})
		boxes := instruments.EveryPairOfRows(w, func(c instruments.TwoStates) (lhs, rhs exact.Range) {
			return second.Within(c.Gamma), c.Lambda.Pow(2)
		})
		return instruments.SearchNote(w, "; true for all: ‖B‖² = Σ μ(s) χ²(π(·|s)‖μ), and χ²(p‖q) ≥ ‖p−q‖₁² ≥ 2‖p−q‖₂², "+
			"because p−q sums to zero; then min μ ≥ γ/S"+boxes+". Least found of ‖B‖²S²/(2γ³):"+string(infima)+
			"; it tends to 1 where one light state of three or more is remembered.")
	}
}

// normBelowCube returns the witness that |B|_F^2 is below one of the two bounds of normAtLeastCube, or nil. The
// second bound is compared in squares, because gamma may be irrational.
func normBelowCube(pi exact.Matrix, first *big.Rat, second instruments.GammaBound) *ledger.Witness {
	norm, square := exact.FrobeniusSquared(pi), second.Of.Square(pi)
	least := slices.MinFunc(exact.MustStationary(pi), (*big.Rat).Cmp)
	middle := exact.Mul(exact.Mul(first, least), exact.RowSpread(pi))
	if w := floorWitness(pi, middle, norm); w != nil {
		w.Equation = "2 min mu sum_s |pi(.|s) - mu|^2 <= |B|_F^2"
		return w
	}
	if square.Sign() == 0 {
		return nil
	}
	times, exponent := second.Factors(len(pi))
	last := exact.Mul(exact.Pow(times, 2), exact.Power(square, exponent).Lo)
	w := floorWitness(pi, last, exact.Mul(norm, norm))
	if w != nil {
		w.Equation, w.Squared = "2 gamma^3/S^2 <= |B|_F^2", true
		w.Instance["gamma^2"] = square
		delete(w.Instance, "gamma")
	}
	return w
}

var lemContraction = ledger.Claim{
	ID: "lem-contraction", Number: "Lemma 17", Title: "A Markov kernel contracts every divergence",
	Statement:  `$D_f(\pi\circ x\,\|\,\pi\circ y)\le\bound{\alpha(\pi)}D_f(x\,\|\,y)$ for each $f$-divergence`,
	Hypotheses: `$\pi$ is stochastic; $\max_s\pi(s'\mid s)>0$ for all $s'$; $x$, $y$ are probability vectors`,
	Tried: `rational chains over 2 to 4 states with rational $x$, $y$, each for all $f$ at once; a search in floats ` +
		`over seven divergences`,
	Check: contractsBy(alphaOfRows),
	Faults: []ledger.Fault{
		ledger.Plant("the least total variation between two rows in place of the largest", contractsBy(closestRows)),
	},
	Spare: []ledger.Spare{
		ledger.Spared(`$\pi$ is stochastic`, "else the left side is no divergence of probability vectors"),
		ledger.Spared(`$\max_s\pi(s'\mid s)>0$ for all $s'$`, "a column of zeros adds nothing to either side, with 0 f(0/0) = 0"),
		ledger.Spared(`$x$, $y$ are probability vectors`, "a divergence is one of probability vectors"),
	},
}

// contractsBy checks D_f(x pi || y pi) <= alpha D_f(x || y), by a search over pi, x
// and y for each divergence, and for all divergences on rational instances.
func contractsBy(alpha rowDistance) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for _, s := range []int{2, 3} {
			for _, d := range theory.Divergences() {
				searchContraction(e, w, s, d, alpha)
			}
		}
		decideContraction(e, w, alpha)
		return instruments.SearchNote(w, fmt.Sprintf("; tightest for %s, where two point masses give equality. On rational "+
			"instances it is decided for all f at once: an f-divergence is a mean of hockey-stick divergences "+
			"Σ(x−ty)⁺, which are linear in t between likelihood ratios. A theorem of Cohen et al.", w.Finding("").Instance["f"]))
	}
}

// searchContraction searches over chains over s states and two laws for the instance
// that the divergence contracts least.
func searchContraction(e *ledger.Env, w *ledger.Worst, s int, d theory.Divergence, alpha rowDistance) {
	split := func(v []float64) (c *theory.Chain, x, y []float64) {
		free := make([]float64, s*s)
		copy(free, v[s*s:])
		laws := ledger.Kernel(free, s, 1e-3)
		c, _ = theory.NewChain(ledger.Kernel(v[:s*s], s, 1e-4), s)
		return c, laws[:s], laws[s : 2*s]
	}
	sides := func(v []float64) (lhs, rhs float64) {
		c, x, y := split(v)
		if c == nil || theory.TotalVariation.Between(x, y) < 1e-3 {
			return 0, math.Inf(1)
		}
		a := e.Bound(0).Float(ledger.At[float64]{`\alpha(\pi)`: alpha.float(c)})
		if a < 0.01 {
			return 0, math.Inf(1)
		}
		return d.Between(nextLaw(x, c.Pi.RawMatrix().Data), nextLaw(y, c.Pi.RawMatrix().Data)), a * d.Between(x, y)
	}
	starts := e.KernelStarts(e.Budget(4, 1), s, 2*s)[e.Budget(0, 6):]
	e.Search(w, sides, starts, e.Budget(4000, 200), func(v []float64) ledger.Instance {
		c, x, y := split(v)
		return ledger.Instance{"S": s, "f": d.Name, "pi": ledger.Grid(c.Pi.RawMatrix().Data, s), "x": x, "y": y}
	})
}

// decideContraction decides the contraction on random rational instances, for every f. Up to a linear function,
// f is a mean of (u-t)^+ over t >= 1 and (t-u)^+ over t < 1. Both sides are linear in t between the likelihood
// ratios of the two pairs of laws, so these t, and t = 1, suffice.
func decideContraction(e *ledger.Env, w *ledger.Worst, alpha rowDistance) {
	r := rand.New(e.Stream("rational"))
	for pi := range instruments.RationalKernels(e, e.Budget(60, 30)) {
		s := len(pi)
		v := make([]float64, s*s)
		for k := range v {
			v[k] = 2 * r.NormFloat64()
		}
		laws := exact.Round(ledger.Kernel(v, s, 0.05), s, 20)
		a, next := e.Bound(0).Rat(ledger.At[*big.Rat]{`\alpha(\pi)`: alpha.rat(pi)}), laws.Mul(pi)
		ratios := exact.Vector{exact.Int(1)}
		for k := range s {
			ratios = append(ratios, exact.Quo(laws[0][k], laws[1][k]), exact.Quo(next[0][k], next[1][k]))
		}
		for _, t := range ratios {
			lhs, rhs := hockeyStick(next[0], next[1], t), exact.Mul(a, hockeyStick(laws[0], laws[1], t))
			w.AtMostRat(lhs, rhs, func() ledger.Instance {
				return ledger.Instance{"S": s, "f": "(u-t)^+ or (t-u)^+", "t": t, "pi": pi, "x": laws[0], "y": laws[1]}
			})
		}
	}
}

// hockeyStick returns sum_k (x_k - t y_k)^+ for t >= 1 and sum_k (t y_k - x_k)^+
// for t < 1, the divergence of (u-t)^+ or (t-u)^+.
func hockeyStick(x, y exact.Vector, t *big.Rat) *big.Rat {
	sum, above := new(big.Rat), t.Cmp(exact.Int(1)) >= 0
	for k := range x {
		d := exact.Sub(x[k], exact.Mul(t, y[k]))
		if above == (d.Sign() > 0) {
			sum.Add(sum, exact.Abs(d))
		}
	}
	return sum
}

// nextLaw returns x pi, the law of the next state.
func nextLaw(x, pi []float64) []float64 {
	s := len(x)
	out := make([]float64, s)
	for i, p := range x {
		for j := range out {
			out[j] += float64(p * pi[i*s+j])
		}
	}
	return out
}
