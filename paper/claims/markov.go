package claims

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/pkg/exact"
	"learncausal/pkg/ledger"
	"learncausal/pkg/theory"
)

// markovChains is the appendix on Markov chain preliminaries: the spectral gap,
// the stationary measure, the total variation between rows and the norm of the
// centered matrix, bounded by the gamma of Assumption 1. Equations are decided
// on rational matrices; inequalities are attacked over all.
var markovChains = ledger.Section{Title: "Markov Chain Preliminaries", Claims: []ledger.Claim{
	eqBPowers, eqBPowersZero, eqBPowersZeroCorrected,
	lemSpectralGap, lemSpectralGapDecomposition, lemSpectralGapDecompositionCorrected,
	lemMuLower, lemTV, lemTVMax, lemBoundG1, lemBoundG1Corrected, lemContraction,
}}

const (
	oneMeasure      = `$\pi$ has one stationary measure $\mu_\pi$, and it is positive`
	floorHypothesis = `$\min_{s,s'}\pi(s'\mid s)\ge\gamma/S$`
	largestFloor    = floorHypothesis + `, with the largest such $\gamma$`
)

// rationalKernels returns transition matrices over 2 to 4 states: all positive
// ones with a small denominator over two states, and n random ones.
func rationalKernels(e *ledger.Env, n int) iter.Seq[exact.Matrix] {
	return func(yield func(exact.Matrix) bool) {
		for den := 2; den <= 6; den++ {
			for pi := range exact.Positive(2, den) {
				if !yield(pi) {
					return
				}
			}
		}
		r := rand.New(e.Stream("kernels"))
		for k := range n {
			s := 2 + k%3
			x := make([]float64, s*s)
			for i := range x {
				x[i] = 2 * r.NormFloat64()
			}
			if !yield(exact.Round(ledger.Kernel(x, s, 0.02), s, 100)) {
				return
			}
		}
	}
}

// onRationalKernels returns the check that decides equations for each of the
// rational matrices.
func onRationalKernels(decide func(w *ledger.Worst, pi exact.Matrix)) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		w := new(ledger.Worst)
		for pi := range rationalKernels(e, e.Budget(60, 20)) {
			decide(w, pi)
		}
		return w.Finding("")
	}
}

// searchFinding returns the finding of a search. Where the statement holds, the note
// says how many instances were tried, and then why it is true.
func searchFinding(w *ledger.Worst, reason string) ledger.Finding {
	f := w.Finding("")
	if f.Verdict == ledger.Holds {
		f.Note = fmt.Sprintf("No counterexample found in %d instances%s", w.Instances, reason)
	}
	return f
}

// kernelInstance describes a transition matrix as an instance.
func kernelInstance(pi exact.Matrix) func() ledger.Instance {
	return func() ledger.Instance { return ledger.Instance{"S": len(pi), "pi": pi} }
}

// independent returns 1 mu^T, the matrix all of whose rows are mu.
func independent(mu exact.Vector) exact.Matrix {
	m := make(exact.Matrix, len(mu))
	for s := range m {
		m[s] = mu
	}
	return m
}

// floorGamma returns S min pi(s'|s), the largest gamma of the first bullet of
// Assumption 1.
func floorGamma(c *theory.Chain) float64 { return float64(c.S) * slices.Min(c.Pi) }

// exactFloorGamma is floorGamma in rational numbers.
func exactFloorGamma(pi exact.Matrix) *big.Rat {
	return exact.Mul(exact.Frac(int64(len(pi)), 1), slices.MinFunc(slices.Concat(pi...), (*big.Rat).Cmp))
}

// floorWitness returns the witness that lhs exceeds rhs for pi, whose largest
// gamma of the first bullet it names, or nil.
func floorWitness(pi exact.Matrix, lhs, rhs *big.Rat) *ledger.Witness {
	if lhs.Cmp(rhs) <= 0 {
		return nil
	}
	at := ledger.Instance{"S": len(pi), "pi": pi, "mu": exact.MustStationary(pi), "gamma": exactFloorGamma(pi)}
	return &ledger.Witness{Instance: at, LHS: lhs, RHS: rhs}
}

// A coefficient is a factor in a bound, by the number S of states.
type coefficient func(states int) *big.Rat

// overS returns the coefficient a/(b S^k).
func overS(a, b int64, k int) coefficient {
	return func(states int) *big.Rat {
		return exact.Quo(exact.Frac(a, b), exact.Pow(exact.Frac(int64(states), 1), k))
	}
}

// A ratioPerSize lists, for a note, the worst rhs/lhs of a search for each S.
type ratioPerSize string

func (r *ratioPerSize) add(s int, lhs, rhs float64) {
	*r += ratioPerSize(fmt.Sprintf(" %.3g (S = %d)", rhs/lhs, s))
}

var eqBPowers = ledger.Claim{
	ID: "eq-b-powers", Number: "Appendix E", Title: "Powers and norm of the centered transition matrix", Quick: true,
	Statement:  `$(B_\pi^k)_{s,s'}=\sqrt{\mu_\pi(s)/\mu_\pi(s')}\,[\pi^k(s'\mid s)-\mu_\pi(s')]$ for $k\ge1$, and $\|B_\pi\|_F^2=\sum_{s,s'}\mu_\pi(s)\pi(s'\mid s)^2/\mu_\pi(s')-1$`,
	Hypotheses: oneMeasure,
	Check: powersOfB(exact.Matrix.Sub).Noted("For every chain: with P = π − 1μᵀ, P1 = 0 and μᵀP = 0, " +
		"so Pᵏ = πᵏ − 1μᵀ by induction for k ≥ 1, and B = D P D⁻¹. " +
		"The formula is not valid at k = 0 (Appendix E, eq-b-powers-step-zero)."),
	Faults: []ledger.Fault{{
		What:  "the stationary measure is not subtracted in B",
		Check: powersOfB(func(pi, _ exact.Matrix) exact.Matrix { return pi }),
	}},
}

// powersOfB decides the powers and the norm of B without roots: with
// D = diag(sqrt(mu)), B = D P D^-1 for P = pi - 1 mu^T, which centered returns,
// so that the formula is P^k = pi^k - 1 mu^T.
func powersOfB(centered func(pi, flat exact.Matrix) exact.Matrix) ledger.Check {
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		mu := exact.MustStationary(pi)
		flat := independent(mu)
		p := centered(pi, flat)
		for k := 1; k <= 4; k++ {
			equation := fmt.Sprintf("(pi - 1 mu^T)^%d = pi^%d - 1 mu^T", k, k)
			w.EqualMatrix(equation, p.Power(k), pi.Power(k).Sub(flat), kernelInstance(pi))
		}
		norm := new(big.Rat)
		for s, row := range p {
			for t, x := range row {
				norm.Add(norm, exact.Mul(exact.Mul(x, x), exact.Quo(mu[s], mu[t])))
			}
		}
		w.EqualRat("|B|_F^2", norm, exact.FrobeniusSquared(pi), kernelInstance(pi))
	})
}

var eqBPowersZero = ledger.Claim{
	ID: "eq-b-powers-step-zero", Number: "Appendix E", Kind: ledger.Step, Quick: true,
	Title:      "The formula for a power at k = 0",
	Corrected:  "eq-b-powers-step-zero-corrected",
	Statement:  `$(B_\pi^0)_{s,s'}=\sqrt{\mu_\pi(s)/\mu_\pi(s')}\,[\pi^0(s'\mid s)-\mu_\pi(s')]$, as Lemma 19 (lem-covariance) uses it where one position lies above the other`,
	Hypotheses: oneMeasure,
	Check: zerothPower(exact.Frac(1, 1)).Noted("No chain satisfies it: a matrix to the power 0 is I, and the " +
		"bracket is 1{s=s'} − μ(s'). Lemma 19 (lem-covariance) survives, because the projection that belongs there has " +
		"norm 1."),
	Faults: []ledger.Fault{{What: "the right side is doubled", Check: zerothPower(exact.Frac(2, 1))}},
}

// zerothPower decides whether I is the given multiple of the right side at k = 0.
func zerothPower(times *big.Rat) ledger.Check {
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		one := exact.Diag(exact.Ones(len(pi)))
		w.EqualMatrix("I = D (I - 1 mu^T) D^-1, entries multiplied by sqrt(mu(s')/mu(s))",
			one, one.Sub(independent(exact.MustStationary(pi))).Scale(times), kernelInstance(pi))
	})
}

var eqBPowersZeroCorrected = ledger.Claim{
	ID: "eq-b-powers-step-zero-corrected", Number: "Appendix E", Quick: true,
	Title:      "The formula for a power at k = 0, corrected",
	Statement:  `At $k=0$ the right side of the powers of $B_\pi$ (Appendix E, eq-b-powers) is the projection $I-\sqrt{\mu_\pi}\sqrt{\mu_\pi}^\top$, of norm 1: entrywise $D(I-1\mu_\pi^\top)D^{-1}$ with $D=\mathrm{diag}(\sqrt{\mu_\pi})$, and $(I-1\mu_\pi^\top)^2=I-1\mu_\pi^\top$`,
	Hypotheses: oneMeasure,
	Check: projectionAlong(exact.MustStationary).Noted(
		"For every chain, since μᵀ1 = 1: the bracket is conjugate to an orthogonal projection."),
	Faults: []ledger.Fault{{
		What:  "the uniform measure in place of the stationary one",
		Check: projectionAlong(uniformMeasure),
	}},
}

// uniformMeasure returns the uniform measure on the states of pi.
func uniformMeasure(pi exact.Matrix) exact.Vector {
	return slices.Repeat(exact.Vector{exact.Frac(1, int64(len(pi)))}, len(pi))
}

// projectionAlong decides whether I - 1 m^T, with the measure m that is handed
// in, is the projection that belongs into the formula at k = 0.
func projectionAlong(measure func(pi exact.Matrix) exact.Vector) ledger.Check {
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		flat := independent(exact.MustStationary(pi))
		p := exact.Diag(exact.Ones(len(pi))).Sub(independent(measure(pi)))
		w.EqualMatrix("(I - 1 mu^T)^2 = I - 1 mu^T", p.Mul(p), p, kernelInstance(pi))
		w.EqualMatrix("pi (I - 1 mu^T) = pi - 1 mu^T", pi.Mul(p), pi.Sub(flat), kernelInstance(pi))
		w.EqualMatrix("mu^T (I - 1 mu^T) = 0", flat.Mul(p), exact.Zero(len(pi), len(pi)), kernelInstance(pi))
	})
}

var lemSpectralGap = ledger.Claim{
	ID: "lem-spectral-gap", Number: "Lemma 13", Title: "The spectral gap is bounded below", Quick: true,
	Uses:       []string{"lem-mu-lower", "lem-spectral-gap-step-decomposition"},
	Statement:  `$1-\lambda(\pi)\ge\gamma/S$`,
	Hypotheses: largestFloor,
	Check:      spectralGapAtLeast(overS(1, 1, 1)),
	Faults:     []ledger.Fault{{What: "3 gamma in place of gamma/S", Check: spectralGapAtLeast(overS(3, 1, 0))}},
}

// spectralGapAtLeast checks 1 - lambda(pi) >= part gamma.
func spectralGapAtLeast(part coefficient) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var ratios ratioPerSize
		w := ledger.KernelBound{
			Sizes: []int{2, 3, 4}, Floor: 1e-4,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				return floorGamma(c) * exact.Float(part(c.S)), 1 - c.Lambda()
			},
			Broken: func(pi exact.Matrix) *ledger.Witness {
				most := exact.Sub(exact.Frac(1, 1), exact.Mul(exactFloorGamma(pi), part(len(pi))))
				if most.Sign() >= 0 && exact.LambdaAtMost(pi, most) {
					return nil
				}
				return &ledger.Witness{Instance: kernelInstance(pi)().With("gamma", exactFloorGamma(pi))}
			},
			PerSize: ratios.add,
		}.Attack(e)
		return searchFinding(w, "; true for all by the decomposition as corrected. Least (1−λ)S/γ:"+string(ratios)+
			". The right side is 1 − λ(π). Sharper for S ≥ 3: λ² is the second eigenvalue of the reversible π*π, "+
			"so λ² ≤ α(π) ≤ 1−γ.")
	}
}

var lemSpectralGapDecomposition = ledger.Claim{
	ID: "lem-spectral-gap-step-decomposition", Number: "Lemma 13", Kind: ledger.Step, Quick: true,
	Title:      "The decomposition in the proof of the spectral gap",
	Corrected:  "lem-spectral-gap-step-decomposition-corrected",
	Statement:  `$\pi=\frac{\gamma}{S}1\mu_\pi^\top+(1-\gamma)Q$ with $Q$ a stochastic matrix`,
	Hypotheses: floorHypothesis + `, $0<\gamma<1$`,
	Check: decomposition(overS(1, 1, 0), rowSumsOfQ).Noted("The rows of Q sum to (1−γ/S)/(1−γ), which is not 1 for " +
		"any 0 < γ < 1 and S ≥ 2. A misprint, as are πᵀQ = π for μᵀQ = μᵀ, and π for Q on the right of the next line: " +
		"with the weight 1 − γ/S the proof is whole."),
	Faults: []ledger.Fault{{What: "the weight of Q is 1", Check: decomposition(overS(0, 1, 0), rowSumsOfQ)}},
}

var lemSpectralGapDecompositionCorrected = ledger.Claim{
	ID: "lem-spectral-gap-step-decomposition-corrected", Number: "Lemma 13", Quick: true,
	Title:      "The decomposition, corrected",
	Statement:  `$\pi=\frac{\gamma}{S}1\mu_\pi^\top+(1-\frac{\gamma}{S})Q$ with $Q$ stochastic, $\mu_\pi^\top Q=\mu_\pi^\top$ and $\pi-1\mu_\pi^\top=(1-\frac{\gamma}{S})(Q-1\mu_\pi^\top)$`,
	Hypotheses: floorHypothesis + `, $0<\gamma<1$`,
	Check: decomposition(overS(1, 1, 1), stationaryQ).Noted("For every chain: π ≥ γ/S ≥ (γ/S) μ entrywise makes " +
		"Q ≥ 0. Q has the stationary measure μ, so its norm on L²(μ) is at most 1 and λ(π) ≤ 1 − γ/S."),
	Faults: []ledger.Fault{{What: "the weight of Q is 1 - gamma", Check: decomposition(overS(1, 1, 0), stationaryQ)}},
}

// A splitting is pi = gamma/S 1 mu^T + weight q.
type splitting struct {
	pi, flat, q   exact.Matrix // flat = 1 mu^T
	gamma, weight *big.Rat
}

func (d splitting) instance() ledger.Instance { return kernelInstance(d.pi)().With("gamma", d.gamma) }

// decomposition splits matrices with the weight 1 - part gamma of Q, and decides
// the lines.
func decomposition(part coefficient, lines func(w *ledger.Worst, d splitting)) ledger.Check {
	one := exact.Frac(1, 1)
	return onRationalKernels(func(w *ledger.Worst, pi exact.Matrix) {
		gamma, flat := exactFloorGamma(pi), independent(exact.MustStationary(pi))
		if gamma.Cmp(one) >= 0 {
			return
		}
		weight := exact.Sub(one, exact.Mul(part(len(pi)), gamma))
		rest := pi.Sub(flat.Scale(exact.Quo(gamma, exact.Frac(int64(len(pi)), 1))))
		lines(w, splitting{pi, flat, rest.Scale(exact.Quo(one, weight)), gamma, weight})
	})
}

// rowSumsOfQ decides whether the rows of Q sum to one.
func rowSumsOfQ(w *ledger.Worst, d splitting) {
	ones := exact.Matrix{exact.Ones(len(d.pi))}
	w.EqualMatrix("row sums of Q", d.q.Mul(ones.T()).T(), ones, d.instance)
}

// stationaryQ decides whether Q is stochastic with the stationary measure of pi,
// and the line that follows.
func stationaryQ(w *ledger.Worst, d splitting) {
	rowSumsOfQ(w, d)
	if least := slices.MinFunc(slices.Concat(d.q...), (*big.Rat).Cmp); least.Sign() < 0 {
		w.Fail(ledger.Witness{Instance: d.instance(), Equation: "Q >= 0", LHS: new(big.Rat), RHS: least})
	}
	mu := d.flat[:1]
	w.EqualMatrix("mu^T Q = mu^T", mu.Mul(d.q), mu, d.instance)
	w.EqualMatrix("pi - 1 mu^T = (1 - gamma/S)(Q - 1 mu^T)",
		d.pi.Sub(d.flat), d.q.Sub(d.flat).Scale(d.weight), d.instance)
}

var lemMuLower = ledger.Claim{
	ID: "lem-mu-lower", Number: "Lemma 14", Title: "The stationary measure is bounded below", Quick: true,
	Statement:  `$\min_s\mu_\pi(s)\ge\gamma/S$`,
	Hypotheses: largestFloor,
	Check:      measureAtLeast(overS(1, 1, 1)),
	Faults:     []ledger.Fault{{What: "gamma in place of gamma/S", Check: measureAtLeast(overS(1, 1, 0))}},
}

// measureAtLeast checks min mu >= part gamma.
func measureAtLeast(part coefficient) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		w := ledger.KernelBound{
			Sizes: []int{2, 3, 4}, Floor: 1e-3,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				return floorGamma(c) * exact.Float(part(c.S)), slices.Min(c.Mu)
			},
			Broken: func(pi exact.Matrix) *ledger.Witness {
				least := slices.MinFunc(exact.MustStationary(pi), (*big.Rat).Cmp)
				return floorWitness(pi, exact.Mul(exactFloorGamma(pi), part(len(pi))), least)
			},
		}.Attack(e)
		return searchFinding(w, "; true for all, since μ(s') is a mean of the entries π(s'|s). "+
			"Equality where a column is constant at γ/S.")
	}
}

// A rowDistance is a total variation between rows of pi, in floats and in
// rational numbers.
type rowDistance struct {
	float func(c *theory.Chain) float64
	rat   func(pi exact.Matrix) *big.Rat
}

// alphaOfRows is alpha(pi), the largest total variation between two rows, and
// closestRows the least.
var (
	alphaOfRows = rowDistance{(*theory.Chain).Alpha, exact.Alpha}
	closestRows = rowDistance{
		float: func(c *theory.Chain) float64 {
			least := math.Inf(1)
			for j := range c.S {
				for k := range j {
					row, other := c.Pi[j*c.S:j*c.S+c.S], c.Pi[k*c.S:k*c.S+c.S]
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
	ID: "lem-tv", Number: "Lemma 15", Title: "Two rows are close in total variation", Quick: true,
	Statement:  `$\min_{j\ne k}\mathrm{TV}(\pi(\cdot\mid j),\pi(\cdot\mid k))\le1-\gamma$`,
	Hypotheses: largestFloor,
	Check: rowsWithin(closestRows, 1, " The printed min is a misprint for max: the proof gives, and "+
		"Lemma 5 (thm-dpi-gap) needs, all pairs (Lemma 15, lem-tv-step-max)."),
	Faults: []ledger.Fault{{What: "1 - 2 gamma in place of 1 - gamma", Check: rowsWithin(closestRows, 2, "")}},
}

var lemTVMax = ledger.Claim{
	ID: "lem-tv-step-max", Number: "Lemma 15", Kind: ledger.Step, Quick: true,
	Title:      "All pairs of rows are close, as the lemma is used",
	Statement:  `$\alpha(\pi)=\max_{j\ne k}\mathrm{TV}(\pi(\cdot\mid j),\pi(\cdot\mid k))\le1-\gamma$`,
	Hypotheses: largestFloor,
	Check:      rowsWithin(alphaOfRows, 1, ""),
	Faults:     []ledger.Fault{{What: "1 - 2 gamma in place of 1 - gamma", Check: rowsWithin(alphaOfRows, 2, "")}},
}

// rowsWithin checks distance <= 1 - times gamma; remark ends the note.
func rowsWithin(distance rowDistance, times int64, remark string) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		w := ledger.KernelBound{
			Sizes: []int{2, 3, 4}, Floor: 1e-3,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				return distance.float(c), 1 - float64(float64(times)*floorGamma(c))
			},
			Broken: func(pi exact.Matrix) *ledger.Witness {
				most := exact.Sub(exact.Frac(1, 1), exact.Mul(exact.Frac(times, 1), exactFloorGamma(pi)))
				return floorWitness(pi, distance.rat(pi), most)
			},
		}.Attack(e)
		return searchFinding(w, "; true for all, since two rows share at least γ/S in each of S columns. "+
			"Equality where they share no more."+remark)
	}
}

// squaredSpread returns sum_s |pi(.|s) - mu|_2^2.
func squaredSpread(pi exact.Matrix) *big.Rat {
	mu, sum := exact.MustStationary(pi), new(big.Rat)
	for _, row := range pi.Sub(independent(mu)) {
		sum.Add(sum, exact.Dot(row, row))
	}
	return sum
}

// gammaSquared returns the square of [theory.Chain.Gamma], which is rational.
func gammaSquared(pi exact.Matrix) *big.Rat {
	floor := exactFloorGamma(pi)
	bullets := exact.Vector{exact.Mul(floor, floor), exact.Mul(exact.Frac(int64(len(pi)), 1), squaredSpread(pi))}
	return slices.MinFunc(bullets, (*big.Rat).Cmp)
}

// simplestGamma returns the gamma of least denominator, up to 60, that accept
// takes and for which pi satisfies the first two bullets of Assumption 1, or nil.
func simplestGamma(pi exact.Matrix, accept func(gamma *big.Rat) bool) *big.Rat {
	for q := int64(2); q <= 60; q++ {
		for p := int64(1); p < q; p++ {
			if gamma := exact.Frac(p, q); accept(gamma) && exact.CheckGamma(pi, gamma) == nil {
				return gamma
			}
		}
	}
	return nil
}

// leastGamma bounds the gamma of a search from below: as the rows become equal,
// both sides vanish, and only rounding errors are left.
const leastGamma = 0.01

var lemBoundG1 = ledger.Claim{
	ID: "lem-bound-g1", Number: "Lemma 16", Title: "The norm of the centered matrix is bounded below", Quick: true,
	Corrected:  "lem-bound-g1-corrected",
	Statement:  `$\|B_\pi\|_F^2\ge\gamma^2/S$`,
	Hypotheses: `all four bullets of Assumption 1, the first two with the largest $\gamma$`,
	Check:      normAtLeastSquare(1),
	Faults:     []ledger.Fault{{What: "2 gamma^2/S in place of gamma^2/S", Check: normAtLeastSquare(2)}},
}

// normAtLeastSquare checks |B|_F^2 >= times gamma^2/S. It attacks single
// matrices, then completes the worst kind to a prior that satisfies all of
// Assumption 1.
func normAtLeastSquare(times int64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var infima ratioPerSize
		w := ledger.KernelBound{
			Sizes: []int{2, 3, 4, 5}, Floor: 2e-3,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				g := c.Gamma()
				if g < leastGamma {
					return 0, math.Inf(1)
				}
				return g * g / float64(c.S) * float64(times), c.FrobeniusSquared()
			},
			Broken:  func(exact.Matrix) *ledger.Witness { return nil }, // one matrix is no prior
			PerSize: infima.add,
		}.Attack(e)
		if pair := orbitPair(times); pair != nil {
			w.Fail(*pair)
		}
		return w.Finding("The proof bounds each row by γ²/S, but Assumption 1 bounds only their sum over s, and B weights " +
			"row s by μ(s). Over two states ‖B‖² = λ₂², while Σ‖π(·|s)−μ‖² = 2λ₂²(μ₁²+μ₂²). " +
			"Least ‖B‖²S/γ² found:" + string(infima) + ".")
	}
}

// orbitPair returns the simplest pair of 2 x 2 matrices and gamma that satisfy
// Assumption 1, where the first has |B|_F^2 < times gamma^2/2 and their traces
// average to one, or nil.
func orbitPair(times int64) *ledger.Witness {
	bound := func(gammaSquared *big.Rat) *big.Rat { return exact.Mul(exact.Frac(times, 2), gammaSquared) }
	for den := 2; den <= 8; den++ {
		for pi := range exact.Positive(2, den) {
			norm := exact.FrobeniusSquared(pi)
			if bound(gammaSquared(pi)).Cmp(norm) <= 0 {
				continue
			}
			gamma := simplestGamma(pi, func(gamma *big.Rat) bool { return norm.Cmp(bound(exact.Pow(gamma, 2))) < 0 })
			if gamma == nil {
				continue
			}
			want := exact.Sub(exact.Frac(2, 1), pi.Trace())
			partner := ledger.SmallestKernel(2, 12, func(pi exact.Matrix) bool {
				return pi.Trace().Cmp(want) == 0 && exact.CheckGamma(pi, gamma) == nil
			})
			if partner == nil {
				continue
			}
			return &ledger.Witness{LHS: bound(exact.Pow(gamma, 2)), RHS: norm, Instance: ledger.Instance{
				"S": 2, "orbits": []exact.Matrix{pi, partner}, "gamma": gamma,
				"mu": exact.MustStationary(pi), "spread": squaredSpread(pi),
			}}
		}
	}
	return nil
}

var lemBoundG1Corrected = ledger.Claim{
	ID: "lem-bound-g1-corrected", Number: "Lemma 16", Quick: true,
	Title:      "The norm of the centered matrix is bounded below, corrected",
	Uses:       []string{"lem-mu-lower"},
	Statement:  `$\|B_\pi\|_F^2\ge2\min_s\mu_\pi(s)\sum_s\|\pi(\cdot\mid s)-\mu_\pi\|_2^2\ge2\gamma^3/S^2$`,
	Hypotheses: `the first two bullets of Assumption 1, with the largest $\gamma$`,
	Check:      normAtLeastCube(2),
	Faults:     []ledger.Fault{{What: "3 in place of 2", Check: normAtLeastCube(3)}},
}

// normAtLeastCube checks |B|_F^2 >= times min mu sum_s |pi(.|s) - mu|_2^2 and
// |B|_F^2 >= times gamma^3/S^2.
func normAtLeastCube(times int64) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		var infima ratioPerSize
		q := ledger.KernelBound{
			Sizes: []int{2, 3, 4, 5}, Floor: 2e-3,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				g := c.Gamma()
				if g < leastGamma {
					return 0, math.Inf(1)
				}
				return float64(times) * g * g * g / float64(c.S*c.S), c.FrobeniusSquared()
			},
			Broken:  func(pi exact.Matrix) *ledger.Witness { return normBelow(pi, times) },
			PerSize: infima.add,
		}
		f := q.Attack(e).Finding("")
		if f.Verdict == ledger.Holds {
			lhs, rhs := q.Sides(theory.MustChain(lightState(3, exact.Frac(1, 200), exact.Frac(6, 1000)).Floats(), 3))
			f.Note = fmt.Sprintf("For every chain: ‖B‖² = Σ μ(s) χ²(π(·|s)‖μ), and χ²(p‖q) ≥ ‖p−q‖₁² ≥ 2‖p−q‖₂², because "+
				"p−q sums to zero; then min μ ≥ γ/S. Least ‖B‖²S²/(2γ³) of the search:%s; %.3f where one light state "+
				"(μ = 1/200) of three is remembered, so that the constant is sharp.", infima, rhs/lhs)
		}
		return f
	}
}

// normBelow returns the witness that |B|_F^2 is below one of the two bounds of
// normAtLeastCube, or nil. The last is compared in squares, for gamma may be a
// root.
func normBelow(pi exact.Matrix, times int64) *ledger.Witness {
	norm, s := exact.FrobeniusSquared(pi), int64(len(pi))
	least := slices.MinFunc(exact.MustStationary(pi), (*big.Rat).Cmp)
	middle := exact.Mul(exact.Mul(exact.Frac(times, 1), least), squaredSpread(pi))
	if w := floorWitness(pi, middle, norm); w != nil {
		w.Equation = "2 min mu sum_s |pi(.|s) - mu|^2 <= |B|_F^2"
		return w
	}
	last := exact.Mul(exact.Frac(times*times, s*s*s*s), exact.Pow(gammaSquared(pi), 3))
	w := floorWitness(pi, last, exact.Mul(norm, norm))
	if w != nil {
		w.Equation, w.Squared = "2 gamma^3/S^2 <= |B|_F^2", true
	}
	return w
}

// lightState returns the chain over s >= 3 states whose rows are all
// (m, h, h, m, ..., m), except that in the first, d is added to the second
// entry and taken from the third. Its trace is one, and only the light first
// state is remembered.
func lightState(s int, m, d *big.Rat) exact.Matrix {
	h := exact.Sub(exact.Frac(1, 1), exact.Mul(m, exact.Frac(int64(s-2), 1)))
	h.Quo(h, exact.Frac(2, 1))
	row := slices.Repeat(exact.Vector{m}, s)
	row[1], row[2] = h, h
	pi := make(exact.Matrix, s)
	for i := range pi {
		pi[i] = slices.Clone(row)
	}
	pi[0][1], pi[0][2] = exact.Add(h, d), exact.Sub(h, d)
	return pi
}

var lemContraction = ledger.Claim{
	ID: "lem-contraction", Number: "Lemma 17", Title: "A Markov kernel contracts every divergence", Quick: true,
	Statement:  `$D_f(\pi\circ x\,\|\,\pi\circ y)\le\alpha(\pi)D_f(x\,\|\,y)$ for each $f$-divergence`,
	Hypotheses: `$\pi$ is stochastic with $\max_s\pi(s'\mid s)>0$ for all $s'$; $x$, $y$ are probability vectors`,
	Check:      contractsBy(alphaOfRows),
	Faults: []ledger.Fault{{
		What:  "the least total variation between two rows in place of the largest",
		Check: contractsBy(closestRows),
	}},
}

// contractsBy checks D_f(x pi || y pi) <= alpha D_f(x || y): each divergence is
// attacked over pi, x and y, and two are decided on rational instances.
func contractsBy(alpha rowDistance) ledger.Check {
	return func(e *ledger.Env) ledger.Finding {
		w := new(ledger.Worst)
		for _, s := range []int{2, 3} {
			for _, d := range theory.Divergences() {
				attackContraction(e, w, s, d, alpha)
			}
		}
		decideContraction(e, w, alpha)
		return searchFinding(w, fmt.Sprintf(" over seven divergences (chi-squared and total variation also decided in "+
			"rationals); tightest for %s, where two point masses give equality. A theorem of Cohen et al.; "+
			"the hypothesis on the columns only keeps π∘y positive.", w.Finding("").Instance["f"]))
	}
}

// attackContraction searches over chains over s states and two laws for the
// divergence that contracts least.
func attackContraction(e *ledger.Env, w *ledger.Worst, s int, d theory.Divergence, alpha rowDistance) {
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
		a := alpha.float(c)
		if a < 0.01 {
			return 0, math.Inf(1)
		}
		return d.Between(nextLaw(x, c.Pi), nextLaw(y, c.Pi)), a * d.Between(x, y)
	}
	starts := e.KernelStarts(e.Budget(4, 1), s, 2*s)[e.Budget(0, 6):]
	v, _, n := e.Attack(func(v []float64) float64 { return ledger.Slack(sides(v)) }, starts, e.Budget(4000, 200))
	if v == nil { // interrupted
		return
	}
	w.Instances += n
	lhs, rhs := sides(v)
	w.Keep(lhs, rhs, func() ledger.Instance {
		c, x, y := split(v)
		return ledger.Instance{"S": s, "f": d.Name, "pi": ledger.Grid(c.Pi, s), "x": x, "y": y}
	})
}

// decideContraction decides the contraction exactly for total variation and
// chi-squared, on random rational instances.
func decideContraction(e *ledger.Env, w *ledger.Worst, alpha rowDistance) {
	r := rand.New(e.Stream("rational"))
	for pi := range rationalKernels(e, 30) {
		s := len(pi)
		v := make([]float64, s*s)
		for k := range v {
			v[k] = 2 * r.NormFloat64()
		}
		laws := exact.Round(ledger.Kernel(v, s, 0.05), s, 20)
		x, y, a := exact.Vector(laws[0]), exact.Vector(laws[1]), alpha.rat(pi)
		next := laws.Mul(pi)
		for _, d := range []struct {
			name    string
			between func(p, q exact.Vector) *big.Rat
		}{{"total variation", exact.TV}, {"chi-squared", exact.ChiSquared}} {
			w.AtMostRat(d.between(next[0], next[1]), exact.Mul(a, d.between(x, y)), func() ledger.Instance {
				return ledger.Instance{"S": s, "f": d.name, "pi": pi, "x": x, "y": y}
			})
		}
	}
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
