package claims

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"learncausal/pkg/exact"
	"learncausal/pkg/theory"
)

const sectionMarkov = "Markov Chain Preliminaries"

func markovClaims() []Claim {
	const floor = `$\min_{s,s'}\pi(s'\mid s)\ge\gamma/S$`
	return []Claim{
		checked(Claim{
			ID: "eq-b-powers", Title: "Powers and norm of the centered transition matrix", Section: sectionMarkov, Quick: true,
			Statement:  `$(B_\pi^k)_{s,s'}=\sqrt{\mu_\pi(s)/\mu_\pi(s')}\,[\pi^k(s'\mid s)-\mu_\pi(s')]$ for $k\ge1$, and $\|B_\pi\|_F^2=\sum_{s,s'}\mu_\pi(s)\pi(s'\mid s)^2/\mu_\pi(s')-1$`,
			Hypotheses: `$\pi$ has one stationary measure $\mu_\pi$, and it is positive`,
			Fault:      "the stationary measure is not subtracted in B",
		}, powersCheck),
		checked(Claim{
			ID: "eq-b-powers-step-zero", Title: "The formula for a power at k = 0", Section: sectionMarkov, Quick: true, Corrected: "eq-b-powers-step-zero-corrected",
			Statement:  `$(B_\pi^0)_{s,s'}=\sqrt{\mu_\pi(s)/\mu_\pi(s')}\,[\pi^0(s'\mid s)-\mu_\pi(s')]$, as lem-covariance uses it where one position lies above the other`,
			Hypotheses: `$\pi$ has one stationary measure $\mu_\pi$, and it is positive`,
			Fault:      "the right side is doubled",
		}, func(e *Env, faulty bool) Finding { return powerZero(e, faulty, false) }),
		checked(Claim{
			ID: "eq-b-powers-step-zero-corrected", Title: "The formula for a power at k = 0, corrected", Section: sectionMarkov, Quick: true,
			Statement:  `At $k=0$ the right side of eq-b-powers is the projection $I-\sqrt{\mu_\pi}\sqrt{\mu_\pi}^\top$, of norm 1: entrywise $D(I-1\mu_\pi^\top)D^{-1}$ with $D=\mathrm{diag}(\sqrt{\mu_\pi})$, and $(I-1\mu_\pi^\top)^2=I-1\mu_\pi^\top$`,
			Hypotheses: `$\pi$ has one stationary measure $\mu_\pi$, and it is positive`,
			Fault:      "the uniform measure in place of the stationary one",
		}, func(e *Env, faulty bool) Finding { return powerZero(e, faulty, true) }),
		checked(Claim{
			ID: "lem-spectral-gap", Title: "The spectral gap is bounded below", Section: sectionMarkov, Quick: true, Uses: []string{"lem-mu-lower", "lem-spectral-gap-step-decomposition"},
			Statement:  `$1-\lambda(\pi)\ge\gamma/S$`,
			Hypotheses: floor + `, with the largest such $\gamma$`,
			Fault:      "3 gamma in place of gamma/S",
		}, spectralGap),
		checked(Claim{
			ID: "lem-spectral-gap-step-decomposition", Title: "The decomposition in the proof of the spectral gap", Section: sectionMarkov, Quick: true, Corrected: "lem-spectral-gap-step-decomposition-corrected",
			Statement:  `$\pi=\frac{\gamma}{S}1\mu_\pi^\top+(1-\gamma)Q$ with $Q$ a stochastic matrix`,
			Hypotheses: floor + `, $0<\gamma<1$`,
			Fault:      "the weight of Q is 1",
		}, func(e *Env, faulty bool) Finding { return decomposition(e, faulty, false) }),
		checked(Claim{
			ID: "lem-spectral-gap-step-decomposition-corrected", Title: "The decomposition, corrected", Section: sectionMarkov, Quick: true,
			Statement:  `$\pi=\frac{\gamma}{S}1\mu_\pi^\top+(1-\frac{\gamma}{S})Q$ with $Q$ stochastic, $\mu_\pi^\top Q=\mu_\pi^\top$ and $\pi-1\mu_\pi^\top=(1-\frac{\gamma}{S})(Q-1\mu_\pi^\top)$`,
			Hypotheses: floor + `, $0<\gamma<1$`,
			Fault:      "the weight of Q is 1 - gamma",
		}, func(e *Env, faulty bool) Finding { return decomposition(e, faulty, true) }),
		checked(Claim{
			ID: "lem-mu-lower", Title: "The stationary measure is bounded below", Section: sectionMarkov, Quick: true,
			Statement:  `$\min_s\mu_\pi(s)\ge\gamma/S$`,
			Hypotheses: floor + `, with the largest such $\gamma$`,
			Fault:      "gamma in place of gamma/S",
		}, muLower),
		checked(Claim{
			ID: "lem-tv", Title: "Two rows are close in total variation", Section: sectionMarkov, Quick: true,
			Statement:  `$\min_{j\ne k}\mathrm{TV}(\pi(\cdot\mid j),\pi(\cdot\mid k))\le1-\gamma$`,
			Hypotheses: floor + `, with the largest such $\gamma$`,
			Fault:      "1 - 2 gamma in place of 1 - gamma",
		}, func(e *Env, faulty bool) Finding { return rowsClose(e, faulty, false) }),
		checked(Claim{
			ID: "lem-tv-step-max", Title: "All pairs of rows are close, as the lemma is used", Section: sectionMarkov, Quick: true,
			Statement:  `$\alpha(\pi)=\max_{j\ne k}\mathrm{TV}(\pi(\cdot\mid j),\pi(\cdot\mid k))\le1-\gamma$`,
			Hypotheses: floor + `, with the largest such $\gamma$`,
			Fault:      "1 - 2 gamma in place of 1 - gamma",
		}, func(e *Env, faulty bool) Finding { return rowsClose(e, faulty, true) }),
		checked(Claim{
			ID: "lem-bound-g1", Title: "The norm of the centered matrix is bounded below", Section: sectionMarkov, Quick: true, Corrected: "lem-bound-g1-corrected",
			Statement:  `$\|B_\pi\|_F^2\ge\gamma^2/S$`,
			Hypotheses: `all four bullets of Assumption 1, the first two with the largest $\gamma$`,
			Fault:      "2 gamma^2/S in place of gamma^2/S",
		}, boundG1),
		checked(Claim{
			ID: "lem-bound-g1-corrected", Title: "The norm of the centered matrix is bounded below, corrected", Section: sectionMarkov, Quick: true, Uses: []string{"lem-mu-lower"},
			Statement:  `$\|B_\pi\|_F^2\ge2\min_s\mu_\pi(s)\sum_s\|\pi(\cdot\mid s)-\mu_\pi\|_2^2\ge2\gamma^3/S^2$`,
			Hypotheses: `the first two bullets of Assumption 1, with the largest $\gamma$`,
			Fault:      "3 in place of 2",
		}, boundG1Corrected),
		checked(Claim{
			ID: "lem-contraction", Title: "A Markov kernel contracts every divergence", Section: sectionMarkov, Quick: true,
			Statement:  `$D_f(\pi\circ x\,\|\,\pi\circ y)\le\alpha(\pi)D_f(x\,\|\,y)$ for each $f$-divergence`,
			Hypotheses: `$\pi$ is stochastic with $\max_s\pi(s'\mid s)>0$ for all $s'$; $x$, $y$ are probability vectors`,
			Fault:      "the least total variation between two rows in place of the largest",
		}, contraction),
	}
}

// rationalKernels calls f with transition matrices over 2 to 4 states: all
// positive ones with a small denominator over two states, and random ones.
func rationalKernels(e *Env, n int, f func(pi exact.Matrix)) {
	for den := 2; den <= 6; den++ {
		for pi := range exact.Positive(2, den) {
			f(pi)
		}
	}
	r := rand.New(e.Stream("kernels"))
	for k := range n {
		s := 2 + k%3
		x := make([]float64, s*s)
		for i := range x {
			x[i] = 2 * r.NormFloat64()
		}
		f(exact.Round(kernel(x, s, 0.02), s, 100))
	}
}

// independent returns 1 mu^T.
func independent(mu exact.Vector) exact.Matrix {
	m := make(exact.Matrix, len(mu))
	for s := range m {
		m[s] = mu
	}
	return m
}

// differ returns the first place where two matrices are not equal.
func differ(a, b exact.Matrix) (i, j int, ok bool) {
	for i := range a {
		for j := range a[i] {
			if a[i][j].Cmp(b[i][j]) != 0 {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// An identity collects what a check finds of equalities between rational
// matrices.
type identity struct{ Finding }

func newIdentity() *identity { return &identity{Finding{Tier: Exact, Verdict: Holds}} }

// equal records whether left = right for the matrix pi; what names the
// equation in the witness.
func (f *identity) equal(what string, pi, left, right exact.Matrix) {
	f.Instances++
	i, j, bad := differ(left, right)
	f.decide(what, pi, left[i][j], right[i][j], i, j, bad)
}

// decide records one equation, at the entry (i, j), as broken or not.
func (f *identity) decide(what string, pi exact.Matrix, left, right *big.Rat, i, j int, bad bool) {
	if f.Verdict == Fails {
		return
	}
	f.LHS, f.RHS = exact.Float(left), exact.Float(right)
	f.Instance = Instance{"S": len(pi), "pi": pi.Strings()}
	if bad {
		f.Verdict, f.Margin = Fails, Deviation(f.LHS, f.RHS)
		f.Witness = Instance{"S": len(pi), "pi": pi.Strings(), "equation": what, "s": i + 1, "s'": j + 1, "lhs": left.RatString(), "rhs": right.RatString()}
	}
}

// powersCheck decides eq-b-powers without roots: with D = diag(sqrt(mu)),
// B = D (pi - 1 mu^T) D^-1, so that the formula is (pi - 1 mu^T)^k = pi^k - 1 mu^T.
func powersCheck(e *Env, faulty bool) Finding {
	f := newIdentity()
	rationalKernels(e, e.Budget(60, 20), func(pi exact.Matrix) {
		mu := exact.MustStationary(pi)
		flat := independent(mu)
		centered := pi.Sub(flat)
		if faulty {
			centered = pi
		}
		for k := 1; k <= 4; k++ {
			f.equal(fmt.Sprintf("(pi - 1 mu^T)^%d = pi^%d - 1 mu^T", k, k), pi, centered.Power(k), pi.Power(k).Sub(flat))
		}
		norm := exact.Zero(1, 1)
		for s := range pi {
			for t := range pi {
				d := new(big.Rat).Mul(centered[s][t], centered[s][t])
				norm[0][0].Add(norm[0][0], d.Mul(d, new(big.Rat).Quo(mu[s], mu[t])))
			}
		}
		f.equal("|B|_F^2", pi, norm, exact.Matrix{{exact.FrobeniusSquared(pi)}})
	})
	if f.Verdict == Holds {
		f.Note = `For every chain: with P = π − 1μᵀ, P1 = 0 and μᵀP = 0, so Pᵏ = πᵏ − 1μᵀ by induction for k ≥ 1, and B = D P D⁻¹. The formula is not valid at k = 0 (eq-b-powers-step-zero).`
	}
	return f.Finding
}

func powerZero(e *Env, faulty, corrected bool) Finding {
	f := newIdentity()
	rationalKernels(e, e.Budget(60, 20), func(pi exact.Matrix) {
		mu := exact.MustStationary(pi)
		flat, one := independent(mu), exact.Diag(exact.Ones(len(pi)))
		right := one.Sub(flat)
		if corrected && faulty {
			uniform := exact.Ones(len(pi))
			for s := range uniform {
				uniform[s] = exact.Frac(1, int64(len(pi)))
			}
			right = one.Sub(independent(uniform))
		}
		switch {
		case !corrected:
			if faulty {
				right = right.Scale(exact.Frac(2, 1))
			}
			f.equal("I = D (I - 1 mu^T) D^-1, entries multiplied by sqrt(mu(s')/mu(s))", pi, one, right)
		default:
			f.equal("(I - 1 mu^T)^2 = I - 1 mu^T", pi, right.Mul(right), right)
			zero := exact.Zero(len(pi), len(pi))
			f.equal("pi (I - 1 mu^T) = pi - 1 mu^T", pi, pi.Mul(right), pi.Sub(flat))
			f.equal("mu^T (I - 1 mu^T) = 0", pi, flat.Mul(right), zero)
		}
	})
	switch {
	case f.Verdict == Fails:
		f.Note = "No chain satisfies it: a matrix to the power 0 is I, and the bracket is 1{s=s'} − μ(s'). lem-covariance survives, because the projection that belongs there has norm 1."
	default:
		f.Note = "For every chain, since μᵀ1 = 1: the bracket is conjugate to an orthogonal projection."
	}
	return f.Finding
}

// floorGamma returns S min pi(s'|s).
func floorGamma(c *theory.Chain) float64 {
	low := math.Inf(1)
	for _, p := range c.Pi {
		low = min(low, p)
	}
	return float64(c.S) * low
}

func exactFloorGamma(pi exact.Matrix) *big.Rat {
	low := pi[0][0]
	for _, row := range pi {
		for _, p := range row {
			if p.Cmp(low) < 0 {
				low = p
			}
		}
	}
	return new(big.Rat).Mul(low, exact.Frac(int64(len(pi)), 1))
}

// piWitness names the matrix and the largest gamma of the first bullet.
func piWitness(pi exact.Matrix) Instance {
	return Instance{"S": len(pi), "pi": pi.Strings(), "mu": exact.MustStationary(pi).Strings(), "gamma": exactFloorGamma(pi).RatString()}
}

func spectralGap(e *Env, faulty bool) Finding {
	part := func(s int) *big.Rat { return exact.Frac(1, int64(s)) }
	if faulty {
		part = func(int) *big.Rat { return exact.Frac(3, 1) }
	}
	q := aboutKernel{
		sizes: []int{2, 3, 4}, floor: 1e-4,
		sides: func(c *theory.Chain) (lhs, rhs float64) {
			return floorGamma(c) * exact.Float(part(c.S)), 1 - c.Lambda()
		},
		broken: func(pi exact.Matrix) bool {
			c := exactFloorGamma(pi)
			c.Mul(c, part(len(pi)))
			c.Sub(exact.Frac(1, 1), c)
			return c.Sign() < 0 || !exact.LambdaAtMost(pi, c)
		},
		witness: piWitness,
	}
	var ratios string
	f := q.attack(e, func(s int, lhs, rhs float64) { ratios += fmt.Sprintf(" %.3g (S = %d)", rhs/lhs, s) })
	if f.Verdict == Holds {
		f.Note = fmt.Sprintf("No counterexample found in %d instances; true for all by the decomposition as corrected. Least (1−λ)S/γ:%s. The right side is 1 − λ(π). Sharper for S ≥ 3: λ² is the second eigenvalue of the reversible π*π, so λ² ≤ α(π) ≤ 1−γ.", f.Instances, ratios)
	}
	return f
}

func decomposition(e *Env, faulty, corrected bool) Finding {
	f := newIdentity()
	rationalKernels(e, e.Budget(60, 20), func(pi exact.Matrix) {
		gamma := exactFloorGamma(pi)
		one := exact.Frac(1, 1)
		if gamma.Cmp(one) >= 0 {
			return
		}
		mu := exact.MustStationary(pi)
		part := new(big.Rat).Quo(gamma, exact.Frac(int64(len(pi)), 1))
		weight := new(big.Rat).Sub(one, part)
		switch {
		case faulty && !corrected:
			weight = one
		case faulty || !corrected:
			weight = new(big.Rat).Sub(one, gamma)
		}
		rest := pi.Sub(independent(mu).Scale(part)).Scale(new(big.Rat).Inv(weight))
		sums := exact.Matrix{rest.Mul(exact.Matrix{exact.Ones(len(pi))}.T()).T()[0]}
		f.equal("row sums of Q", pi, sums, exact.Matrix{exact.Ones(len(pi))})
		if f.Witness != nil && f.Witness["gamma"] == nil {
			f.Witness["gamma"] = gamma.RatString()
		}
		if !corrected {
			return
		}
		for s, row := range rest {
			for t, v := range row {
				if v.Sign() < 0 {
					f.decide("Q >= 0", pi, new(big.Rat), v, s, t, true)
				}
			}
		}
		row := exact.Matrix{mu}
		f.equal("mu^T Q = mu^T", pi, row.Mul(rest), row)
		f.equal("pi - 1 mu^T = (1 - gamma/S)(Q - 1 mu^T)", pi, pi.Sub(independent(mu)), rest.Sub(independent(mu)).Scale(weight))
	})
	if f.Verdict == Fails {
		f.Note = "The rows of Q sum to (1−γ/S)/(1−γ), which is not 1 for any 0 < γ < 1 and S ≥ 2. A misprint, as are πᵀQ = π for μᵀQ = μᵀ, and π for Q on the right of the next line: with the weight 1 − γ/S the proof is whole."
	} else {
		f.Note = "For every chain: π ≥ γ/S ≥ (γ/S) μ entrywise makes Q ≥ 0. Q has the stationary measure μ, so its norm on L²(μ) is at most 1 and λ(π) ≤ 1 − γ/S."
	}
	return f.Finding
}

func muLower(e *Env, faulty bool) Finding {
	part := func(s int) *big.Rat { return exact.Frac(1, int64(s)) }
	if faulty {
		part = func(int) *big.Rat { return exact.Frac(1, 1) }
	}
	q := aboutKernel{
		sizes: []int{2, 3, 4}, floor: 1e-3,
		sides: func(c *theory.Chain) (lhs, rhs float64) {
			rhs = math.Inf(1)
			for _, m := range c.Mu {
				rhs = min(rhs, m)
			}
			return floorGamma(c) * exact.Float(part(c.S)), rhs
		},
		broken: func(pi exact.Matrix) bool {
			bound := exactFloorGamma(pi)
			bound.Mul(bound, part(len(pi)))
			for _, m := range exact.MustStationary(pi) {
				if m.Cmp(bound) < 0 {
					return true
				}
			}
			return false
		},
		witness: piWitness,
	}
	f := q.attack(e, nil)
	if f.Verdict == Holds {
		f.Note = fmt.Sprintf("No counterexample found in %d instances; true for all, since μ(s') is a mean of the entries π(s'|s). Equality where a column is constant at γ/S.", f.Instances)
	}
	return f
}

func rowsClose(e *Env, faulty, most bool) Finding {
	times := int64(1)
	if faulty {
		times = 2
	}
	distance := func(pi exact.Matrix) *big.Rat {
		if most {
			return exact.Alpha(pi)
		}
		return leastTV(pi)
	}
	q := aboutKernel{
		sizes: []int{2, 3, 4}, floor: 1e-3,
		sides: func(c *theory.Chain) (lhs, rhs float64) {
			rhs = 1 - float64(float64(times)*floorGamma(c))
			if most {
				return c.Alpha(), rhs
			}
			lhs = math.Inf(1)
			for j := range c.S {
				for k := range j {
					lhs = min(lhs, theory.TotalVariation.Between(c.Pi[j*c.S:j*c.S+c.S], c.Pi[k*c.S:k*c.S+c.S]))
				}
			}
			return lhs, rhs
		},
		broken: func(pi exact.Matrix) bool {
			bound := exactFloorGamma(pi)
			bound.Mul(bound, exact.Frac(times, 1))
			return distance(pi).Cmp(bound.Sub(exact.Frac(1, 1), bound)) > 0
		},
		witness: piWitness,
	}
	f := q.attack(e, nil)
	if f.Verdict == Holds {
		f.Note = fmt.Sprintf("No counterexample found in %d instances; true for all, since two rows share at least γ/S in each of S columns. Equality where they share no more.", f.Instances)
		if !most {
			f.Note += " The printed min is a misprint for max: the proof gives, and thm-dpi-gap needs, all pairs (lem-tv-step-max)."
		}
	}
	return f
}

// leastTV returns min_{j != k} TV(pi(.|j), pi(.|k)).
func leastTV(pi exact.Matrix) *big.Rat {
	least := exact.Frac(2, 1)
	for j := range pi {
		for k := range j {
			if d := exact.TV(pi[j], pi[k]); d.Cmp(least) < 0 {
				least = d
			}
		}
	}
	return least
}

// spread returns sum_s |pi(.|s) - mu|_2^2.
func spread(pi exact.Matrix) *big.Rat {
	mu, sum := exact.MustStationary(pi), new(big.Rat)
	for _, row := range pi {
		for t, p := range row {
			d := new(big.Rat).Sub(p, mu[t])
			sum.Add(sum, d.Mul(d, d))
		}
	}
	return sum
}

// gammaSquared returns the square of theory.Chain.Gamma, which is rational.
func gammaSquared(pi exact.Matrix) *big.Rat {
	a := exactFloorGamma(pi)
	a.Mul(a, a)
	b := spread(pi)
	b.Mul(b, exact.Frac(int64(len(pi)), 1))
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// leastGamma bounds the gamma of a search from below: as the rows become equal,
// both sides vanish, and only rounding errors are left.
const leastGamma = 0.01

// boundG1 attacks single matrices, then completes the worst kind to a prior
// that satisfies all of Assumption 1: the orbits of two matrices over two
// states whose traces average to one.
func boundG1(e *Env, faulty bool) Finding {
	times := exact.Frac(1, 1)
	if faulty {
		times = exact.Frac(2, 1)
	}
	var infima string
	q := aboutKernel{
		sizes: []int{2, 3, 4, 5}, floor: 2e-3,
		sides: func(c *theory.Chain) (lhs, rhs float64) {
			g := c.Gamma()
			if g < leastGamma {
				return 0, math.Inf(1)
			}
			return g * g / float64(c.S) * exact.Float(times), c.FrobeniusSquared()
		},
		broken: func(exact.Matrix) bool { return false },
	}
	f := q.attack(e, func(s int, lhs, rhs float64) { infima += fmt.Sprintf(" %.3g (S = %d)", rhs/lhs, s) })
	f.Verdict = Holds
	if w := orbitPair(times); w != nil {
		f.Verdict, f.Witness = Fails, w
		f.Note = "The proof bounds each row by γ²/S, but Assumption 1 bounds only their sum over s, and B weights row s by μ(s). Over two states ‖B‖² = λ₂², while Σ‖π(·|s)−μ‖² = 2λ₂²(μ₁²+μ₂²). Least ‖B‖²S/γ² found:" + infima + "."
	}
	return f
}

// orbitPair returns the simplest pair of 2 x 2 matrices and gamma that satisfy
// Assumption 1 where the first has |B|_F^2 < times gamma^2/2.
func orbitPair(times *big.Rat) Instance {
	fits := func(pi exact.Matrix, gamma *big.Rat) bool { return exact.CheckGamma(pi, gamma) == nil }
	for den := 2; den <= 8; den++ {
		var gamma *big.Rat
		first := exact.Matrix(nil)
		for pi := range exact.Positive(2, den) {
			norm := exact.FrobeniusSquared(pi)
			bound := gammaSquared(pi)
			if bound.Mul(bound, times).Cmp(new(big.Rat).Mul(norm, exact.Frac(2, 1))) <= 0 {
				continue
			}
			half := new(big.Rat).Quo(times, exact.Frac(2, 1))
			gamma = simplestGamma(pi, func(gamma *big.Rat) bool { return norm.Cmp(timesPower(half, gamma, 2)) < 0 })
			first = pi
			if gamma != nil {
				break
			}
		}
		if gamma == nil {
			continue
		}
		want := new(big.Rat).Sub(exact.Frac(2, 1), first.Trace())
		second := smallestKernel(2, 12, func(pi exact.Matrix) bool { return pi.Trace().Cmp(want) == 0 && fits(pi, gamma) })
		if second == nil {
			continue
		}
		bound := new(big.Rat).Mul(gamma, gamma)
		return Instance{
			"S": 2, "pi": first.Strings(), "prior": "uniform over the relabelings of pi and partner", "partner": second.Strings(), "gamma": gamma.RatString(),
			"mu": exact.MustStationary(first).Strings(), "spread": spread(first).RatString(),
			"lhs": bound.Mul(bound, times).Quo(bound, exact.Frac(2, 1)).RatString(), "rhs": exact.FrobeniusSquared(first).RatString(),
		}
	}
	return nil
}

// simplestGamma returns the gamma of least denominator, up to 60, that accept
// takes and that pi admits, or nil.
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

// timesPower returns x gamma^k.
func timesPower(x, gamma *big.Rat, k int) *big.Rat {
	p := new(big.Rat).Set(x)
	for range k {
		p.Mul(p, gamma)
	}
	return p
}

// lightState returns the chain over s >= 3 states whose rows are all
// (m, h, h, m, ..., m), except that in the first, d is added to the second
// entry and taken from the third. Its trace is one, and only the light first
// state is remembered.
func lightState(s int, m, d *big.Rat) exact.Matrix {
	h := new(big.Rat).Mul(m, exact.Frac(int64(s-2), 1))
	h.Sub(exact.Frac(1, 1), h).Quo(h, exact.Frac(2, 1))
	pi := exact.Zero(s, s)
	for i := range pi {
		for j := range pi {
			pi[i][j].Set(m)
		}
		pi[i][1].Set(h)
		pi[i][2].Set(h)
	}
	pi[0][1].Add(h, d)
	pi[0][2].Sub(h, d)
	return pi
}

func boundG1Corrected(e *Env, faulty bool) Finding {
	times := int64(2)
	if faulty {
		times = 3
	}
	var infima string
	q := aboutKernel{
		sizes: []int{2, 3, 4, 5}, floor: 2e-3,
		sides: func(c *theory.Chain) (lhs, rhs float64) {
			g := c.Gamma()
			if g < leastGamma {
				return 0, math.Inf(1)
			}
			return float64(times) * g * g * g / float64(c.S*c.S), c.FrobeniusSquared()
		},
		// |B|^4 < times^2 gamma^6/S^4 has no root in it.
		broken: func(pi exact.Matrix) bool {
			g, norm, s := gammaSquared(pi), exact.FrobeniusSquared(pi), int64(len(pi))
			bound := new(big.Rat).Mul(g, g)
			bound.Mul(bound, g).Mul(bound, exact.Frac(times*times, s*s*s*s))
			low := exact.MustStationary(pi)
			least := low[0]
			for _, m := range low {
				if m.Cmp(least) < 0 {
					least = m
				}
			}
			middle := new(big.Rat).Mul(least, spread(pi))
			middle.Mul(middle, exact.Frac(times, 1))
			return norm.Cmp(middle) < 0 || norm.Mul(norm, norm).Cmp(bound) < 0
		},
		witness: func(pi exact.Matrix) Instance {
			w := piWitness(pi)
			w["gamma^2"], w["|B|_F^2"] = gammaSquared(pi).RatString(), exact.FrobeniusSquared(pi).RatString()
			return w
		},
	}
	f := q.attack(e, func(s int, lhs, rhs float64) { infima += fmt.Sprintf(" %.3g (S = %d)", rhs/lhs, s) })
	if f.Verdict == Holds {
		lhs, rhs := q.sides(theory.MustChain(lightState(3, exact.Frac(1, 200), exact.Frac(6, 1000)).Floats(), 3))
		f.Note = "For every chain: ‖B‖² = Σ μ(s) χ²(π(·|s)‖μ), and χ²(p‖q) ≥ ‖p−q‖₁² ≥ 2‖p−q‖₂², because p−q sums to zero; then min μ ≥ γ/S. Least ‖B‖²S²/(2γ³) of the search:" + infima + fmt.Sprintf("; %.3f where one light state (μ = 1/200) of three is remembered, so that the constant is sharp.", rhs/lhs)
	}
	return f
}

// contraction attacks each divergence over pi, x and y.
func contraction(e *Env, faulty bool) Finding {
	f := Finding{Tier: Exact, Verdict: Holds, Margin: math.Inf(1), Seed: Seed}
	all := theory.Divergences()
	var tightest string
	for _, s := range []int{2, 3} {
		for _, d := range all {
			split := func(v []float64) (c *theory.Chain, x, y []float64) {
				laws := kernel(append(append([]float64(nil), v[s*s:]...), make([]float64, s*s)...)[:s*s], s, 1e-3)
				c, _ = theory.NewChain(kernel(v[:s*s], s, 1e-4), s)
				return c, laws[:s], laws[s : 2*s]
			}
			sides := func(v []float64) (lhs, rhs float64) {
				c, x, y := split(v)
				if c == nil || theory.TotalVariation.Between(x, y) < 1e-3 {
					return 0, math.Inf(1)
				}
				alpha := c.Alpha()
				if faulty {
					alpha = math.Inf(1)
					for j := range s {
						for i := range j {
							alpha = min(alpha, theory.TotalVariation.Between(c.Pi[i*s:i*s+s], c.Pi[j*s:j*s+s]))
						}
					}
				}
				if alpha < 0.01 {
					return 0, math.Inf(1)
				}
				return d.Between(push(x, c.Pi), push(y, c.Pi)), alpha * d.Between(x, y)
			}
			v, _, n := e.Attack(func(v []float64) float64 {
				lhs, rhs := sides(v)
				return Slack(lhs, rhs)
			}, e.kernelStarts(e.Budget(4, 1), s, 2*s)[e.Budget(0, 6):], e.Budget(4000, 200))
			f.Instances += n
			lhs, rhs := sides(v)
			if m := Slack(lhs, rhs); m < f.Margin && lhs > 0 {
				c, x, y := split(v)
				f.LHS, f.RHS, f.Margin = lhs, rhs, m
				f.Instance = Instance{"S": s, "f": d.Name, "pi": decimals(c.Pi, s), "x": decimals(x, s)[0], "y": decimals(y, s)[0]}
				tightest = d.Name
			}
		}
	}
	f.Witness = contractionWitness(e, faulty, &f.Instances)
	if f.Witness != nil {
		f.Verdict = Fails
	}
	if f.settle(); f.Verdict == Holds {
		f.Note = fmt.Sprintf("No counterexample found in %d instances over seven divergences (chi-squared and total variation also decided in rationals); tightest for %s, where two point masses give equality. A theorem of Cohen et al.; the hypothesis on the columns only keeps π∘y positive.", f.Instances, tightest)
	}
	return f
}

// contractionWitness decides the claim exactly for total variation and
// chi-squared, on random rational instances.
func contractionWitness(e *Env, faulty bool, n *int) Instance {
	var w Instance
	r := rand.New(e.Stream("rational"))
	rationalKernels(e, 30, func(pi exact.Matrix) {
		s := len(pi)
		v := make([]float64, s*s)
		for k := range v {
			v[k] = 2 * r.NormFloat64()
		}
		laws := exact.Round(kernel(v, s, 0.05), s, 20)
		x, y := exact.Vector(laws[0]), exact.Vector(laws[1])
		alpha := exact.Alpha(pi)
		if faulty {
			alpha = leastTV(pi)
		}
		px, py := exact.Matrix{x}.Mul(pi)[0], exact.Matrix{y}.Mul(pi)[0]
		for _, d := range []struct {
			name    string
			between func(p, q exact.Vector) *big.Rat
		}{{"total variation", exact.TV}, {"chi-squared", exact.ChiSquared}} {
			*n++
			lhs, rhs := d.between(px, py), d.between(x, y)
			if rhs.Mul(rhs, alpha); w == nil && lhs.Cmp(rhs) > 0 {
				w = Instance{"S": s, "f": d.name, "pi": pi.Strings(), "x": x.Strings(), "y": y.Strings(), "lhs": lhs.RatString(), "rhs": rhs.RatString()}
			}
		}
	})
	return w
}

// push returns the law of the next state, x pi.
func push(x, pi []float64) []float64 {
	s := len(x)
	out := make([]float64, s)
	for i, p := range x {
		for j := range out {
			out[j] += float64(p * pi[i*s+j])
		}
	}
	return out
}
