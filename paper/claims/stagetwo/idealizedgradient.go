package stagetwo

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// This file has Lemma 11, which the appendix on stage 2 states and Appendix H.1 proves. Its
// subject is the gradient of stage 2 in the limit of long sequences, ghat(beta) = E_pi ghat(beta; pi) with
//
//	ghat(beta; pi) = 1/(S(S-1)) sum_s mu(s) sum_s' mu(s') h_s(pi(s'|s)/mu(s'))

const (
	entriesAbove    = `$\min\pi>\gamma/S$`
	spreadAtLeast   = `$\sum_s\|\pi(\cdot|s)-\mu_\pi\|_2^2\ge\gamma^2/S$`
	rootsAtMost     = `$r\le1-\gamma$`
	betaNotNegative = `$\beta\ge0$`

	ghatHypotheses = entriesAbove + "; " + spreadAtLeast + "; " + rootsAtMost + "; " + betaNotNegative
	ghatTried      = `every prior on the relabelings of one $\pi$: a search over $S=2,3,5$ whose end is enclosed, and a family decided in rationals`
)

var lemBoundGHat = ledger.Claim{
	ID: "lem-bound-ghat", Number: "Lemma 11", Title: "The idealized gradient of stage 2 is bounded below",
	Statement:  `$\hat g(\beta)\ge\bound{\tfrac12\gamma^8S^{-6}e^{-2\beta}}>0$`,
	Hypotheses: ghatHypotheses, Tried: ghatTried,
	Uses: []string{
		"lem-bound-ghat-step-second", "lem-bound-ghat-step-last", "lem-bound-g1", "lem-mu-lower", "eq-b-powers",
	},
	OnPaper: []string{"lem-bound-ghat-sharp"},
	// The bound of lem-bound-ghat-sharp is larger by the factor 4 S^3/(gamma^4 (S-1)),
	// which is 271 at the largest gamma.
	Check: ledger.Check(ghatBound{}.decide).Noted(
		"The printed proof rests on Lemma 16 (lem-bound-g1), which is false; the statement is true all the same, and " +
			"follows from Lemma 11 (lem-bound-ghat-sharp), which is larger by 4 S^3/(gamma^4 (S-1)). (The proof is " +
			"announced for Appendix G.1, and stands in Appendix H.1.)"),
	Faults: ghatDrops(),
}

var lemBoundGHatSharp = ledger.Claim{
	ID: "lem-bound-ghat-sharp", Number: "Lemma 11", Kind: ledger.Step,
	Title: "The lower bound of the idealized gradient, with better powers",
	Statement: `$\hat g(\beta)\ge\bound[` + byNorm + `]{\frac{1-r}{S(S-1)}e^{-2\beta}}\,\mathbb E_\pi\|B_\pi\|_F^2$ and ` +
		`$\hat g(\beta)\ge\bound[by gamma]{\frac{2\gamma^4}{S^3(S-1)}e^{-2\beta}}$`,
	Parts:      []string{byNorm, "by gamma"},
	Hypotheses: ghatHypotheses, Tried: ghatTried,
	Uses: []string{"lem-bound-g1-corrected"},
	Check: ledger.Check(ghatBound{}.decide).Noted(
		"The first is an equality at beta = 0; of the second the least quotient found is 1.7, at S = 2, r = 0.414, " +
			"gamma = 0.586."),
	Faults: ghatDrops(),
}

const byNorm = "by the norm" // the part whose bound has the factor |B_pi|_F^2

// ghatDrops returns the faults that drop a hypothesis of a bound.
func ghatDrops() (all []ledger.Fault) {
	for _, d := range [][2]string{
		{rootsAtMost, "any share of roots"},
		{spreadAtLeast, "any spread"},
		{betaNotNegative, "beta < 0"},
		{entriesAbove, "entries of any size"},
	} {
		all = append(all, ledger.Drop(d[0], d[1], ghatBound{d[0]}.decide))
	}
	return all
}

// A ghatBound is the claim that ghat(beta; pi) is at least each of the bounds, without the hypothesis drops. Under the
// uniform prior on the relabelings of pi it bounds ghat(beta).
type ghatBound struct{ drops string }

// float returns the largest of the bounds.
func (ghatBound) float(bounds []ledger.Bound, c *theory.Chain, gamma, r, beta float64) (most float64) {
	s := float64(c.S)
	at := ledger.At[float64]{"S": s, "S-1": s - 1, `\gamma`: gamma, "1-r": 1 - r, `e^\beta`: num.Exp(beta)}
	for _, b := range bounds {
		v := b.Float(at)
		if b.Part == byNorm {
			v *= c.FrobeniusSquared()
		}
		most = max(most, v)
	}
	return most
}

// enclosed encloses the largest of the bounds, given an enclosure of e^beta.
func (ghatBound) enclosed(bounds []ledger.Bound, pi exact.Matrix, gamma, r *big.Rat, eb exact.Interval) exact.Interval {
	s, one := len(pi), exact.Int(1)
	at := ledger.At[exact.Interval]{
		"S": exact.Point(exact.Int(s)), "S-1": exact.Point(exact.Int(s - 1)), `\gamma`: exact.Point(gamma),
		"1-r": exact.Point(exact.Sub(one, r)), `e^\beta`: eb,
	}
	var all []exact.Interval
	for _, b := range bounds {
		v := b.Enclose(at)
		if b.Part == byNorm {
			v = v.Mul(exact.Point(exact.FrobeniusSquared(pi)))
		}
		all = append(all, v)
	}
	return slices.MaxFunc(all, func(a, b exact.Interval) int { return a.Hi.Cmp(b.Hi) })
}

// gamma returns the largest gamma that the hypotheses allow.
func (b ghatBound) gamma(c *theory.Chain, r float64) float64 {
	entries, rows := c.GammaBounds()
	most := 2.0
	for h, limit := range map[string]float64{entriesAbove: entries, spreadAtLeast: rows, rootsAtMost: 1 - r} {
		if h != b.drops {
			most = min(most, limit)
		}
	}
	return most
}

// rationalGamma returns gamma rounded down to a multiple of 10^-6, and minus 10^-6 for
// the rounding of the limits. It is nil if the result is not positive.
func (b ghatBound) rationalGamma(pi exact.Matrix, r *big.Rat) *big.Rat {
	c := theory.MustChain(pi.Floats(), len(pi))
	if gamma := int64(math.Floor(b.gamma(c, exact.Float(r))*1e6)) - 1; gamma > 0 {
		return big.NewRat(gamma, 1000000)
	}
	return nil
}

// decide searches for a counterexample for each S, encloses both sides at the worst
// point, and decides the bound in rational numbers on a family.
func (b ghatBound) decide(e *ledger.Env, w *ledger.Worst) string {
	if b.drops != betaNotNegative {
		for _, s := range []int{2, 3, 5}[:e.Budget(3, 2)] {
			b.attack(e, w, s)
		}
	}
	for _, pi := range ghatMatrices(e) {
		for _, r := range []*big.Rat{new(big.Rat), big.NewRat(1, 4), big.NewRat(41, 100), exact.Int(1)} {
			b.decideRational(w, e.Bounds(), pi, r)
		}
	}
	return fmt.Sprintf(" No counterexample in %d instances.", w.N())
}

// attack searches over the matrices with s states, and decides the bound in intervals at a rational neighbour
// of the worst point. It keeps both: the bound may fail at one of the two points alone.
func (b ghatBound) attack(e *ledger.Env, w *ledger.Worst, s int) {
	sides := func(x []float64) (bound, ghat float64) {
		c, r, beta := chainAt(x, s)
		gamma := b.gamma(c, r)
		if gamma < 1e-3 {
			return 0, math.Inf(1)
		}
		return b.float(e.Bounds(), c, gamma, r, beta), c.GHatBeta(r, beta)
	}
	best, _ := e.Attack(func(x []float64) float64 {
		bound, ghat := sides(x)
		return num.Log(ghat) - num.Log(bound)
	}, e.KernelStarts(e.Budget(6, 1), s, 2), e.Budget(12000, 1200))
	if best == nil {
		return
	}
	c, r, beta := chainAt(best, s)
	roundedPi := exact.Round(c.Pi.RawMatrix().Data, s, 10000)
	roundedR, roundedBeta := big.NewRat(int64(r*1000), 1000), big.NewRat(int64(math.Ceil(beta*1000)), 1000)
	gamma := b.rationalGamma(roundedPi, roundedR)
	instance := func() ledger.Instance {
		return ledger.Instance{"S": s, "pi": roundedPi, "r": roundedR, "beta": roundedBeta, "gamma": gamma}
	}
	bound, ghat := sides(best)
	w.Keep(bound, ghat, instance)
	if gamma != nil {
		lower := b.enclosed(e.Bounds(), roundedPi, gamma, roundedR, exact.Point(roundedBeta).Exp())
		w.AtMostInterval(lower, exact.GHat(roundedPi, roundedR, roundedBeta), instance)
	}
}

// chainAt returns the chain, the root fraction r and beta at a point of the search.
func chainAt(x []float64, s int) (c *theory.Chain, r, beta float64) {
	c = theory.MustChain(ledger.Kernel(x[:s*s], s, 1e-3), s)
	return c, 0.999 * instruments.Sigmoid(x[s*s]), num.Exp(max(min(x[s*s+1], 3), -6))
}

// ghatMatrices returns matrices whose stationary measure has a small denominator.
func ghatMatrices(e *ledger.Env) []exact.Matrix {
	out := []exact.Matrix{
		exact.Rats("293/1000 707/1000; 707/1000 293/1000"), // of the largest gamma
		exact.Rats("1/2 3/8 1/8; 1/2 1/8 3/8; 1/2 1/8 3/8"), exact.Rats("3/10 3/10 2/5; 2/5 3/10 3/10; 3/10 2/5 3/10"),
		exact.Rats("7/10 3/10; 3/10 7/10"), exact.Rats("3/5 2/5; 4/5 1/5"), exact.Rats("1/2 1/2; 1/2 1/2"),
		exact.Rats("1/100 99/100; 99/100 1/100"),
		exact.LightState(3, exact.Frac(1, 20), exact.Frac(6, 100)),
		exact.LightState(3, exact.Frac(1, 2000), exact.Frac(49, 100)),
	}
	for pi := range exact.Positive(2, 10) {
		if exact.MustStationary(pi)[0].Denom().Int64() < 10 {
			out = append(out, pi)
		}
	}
	return out[:e.Budget(min(len(out), 40), 9)]
}

// decideRational decides the bound for values of beta at which exp(beta) and all exp(beta mu) are rational.
func (b ghatBound) decideRational(w *ledger.Worst, bounds []ledger.Bound, pi exact.Matrix, r *big.Rat) {
	gamma := b.rationalGamma(pi, r)
	if gamma == nil {
		return
	}
	d := exact.NewBeta(exact.Int(1), exact.MustStationary(pi)...).Denominator
	bases := []*big.Rat{exact.Int(1), big.NewRat(9, 8), big.NewRat(3, 2), exact.Int(3), exact.Int(400)}
	switch {
	case b.drops == betaNotNegative && d > 60:
		return
	case b.drops == betaNotNegative:
		bases = []*big.Rat{big.NewRat(1, 4)}
	case d > 60:
		bases, d = bases[:1], 1
	}
	for _, base := range bases {
		ghat, eb := exact.Beta{Root: base, Denominator: d}.GHat(pi, r), exact.Pow(base, int(d))
		at := func() ledger.Instance {
			return ledger.Instance{"S": len(pi), "pi": pi, "r": r, "gamma": gamma, "exp(beta)": eb}
		}
		w.AtMostRat(b.enclosed(bounds, pi, gamma, r, exact.Point(eb)).Hi, ghat, at)
	}
}

var lemBoundGHatStepSecond = ledger.Claim{
	ID: "lem-bound-ghat-step-second", Number: "Lemma 11", Kind: ledger.Step,
	Title:      "h_s is convex, with the displayed second derivative and its bounds",
	Statement:  `$h''(z)=\frac{2D(AD-BC)}{(Cz+D)^3}$ for $h=\frac{Az^2+Bz}{Cz+D};\quad h_s''(z)\ge\frac{2(1-r)^2e^\beta}{((1-r)(e^\beta-1)\mu S\gamma^{-1}+1-r+re^{\beta\mu})^3}\ge\frac{2(1-r)^2e^\beta}{(S\gamma^{-1}e^\beta)^3}\ge\bound[the third bound]{2\gamma^5S^{-3}e^{-2\beta}}$`,
	Parts:      []string{"the formula", "the first bound", "the second bound", "the third bound"},
	Hypotheses: `$0\le z\le S\gamma^{-1}$; $\gamma/S\le\mu\le1-(S-1)\gamma/S$; $\gamma\le1-r$; $\beta\ge0$`,
	Check:      curvature{reach: 1}.check,
	Faults: []ledger.Fault{
		ledger.PlantIn("the formula", "D (AD-BC) is taken to be D (AD+BC)",
			curvature{reach: 1, plus: true}.check),
		ledger.PlantIn("the first bound", "the bound without (1-r)^2",
			curvature{reach: 1, anyShare: true}.check),
		ledger.PlantIn("the second bound", "gamma in place of S/gamma below",
			curvature{reach: 1, narrow: true}.check),
		ledger.Drop(`$0\le z\le S\gamma^{-1}$`, "z up to 4 S/gamma", curvature{reach: 4}.check),
		ledger.Drop(`$\gamma\le1-r$`, "r up to one", curvature{reach: 1, anyRoots: true}.check),
		ledger.Drop(`$\beta\ge0$`, "beta < 0", curvature{reach: 1, cold: true}.check),
	},
	Spare: []ledger.Spare{
		ledger.Spared(`$\gamma/S\le\mu\le1-(S-1)\gamma/S$`, "only 0 <= mu <= 1 is used, which all measures have"),
	},
}

// A curvature is the claim with z up to reach S/gamma. The other fields are its planted faults.
type curvature struct {
	reach    int64
	plus     bool // AD+BC for AD-BC in the formula
	anyShare bool // 1 for (1-r)^2 in the bounds
	narrow   bool // gamma for S/gamma in the second bound
	anyRoots bool // r up to one
	cold     bool // beta < 0
	last     ledger.Bound
}

// check compares the second derivative of h_s with its formula and its bounds at random rational points.
func (c curvature) check(e *ledger.Env, w *ledger.Worst) string {
	c.last = e.Bound(0)
	r := rand.New(e.Stream("instances"))
	for range e.Budget(2000, 300) {
		if h, ok := c.draw(r); ok {
			c.compare(w, h)
		}
	}
	return "The formula is an identity of rational functions, compared with the second Taylor coefficient " +
		"in rational numbers. The bounds: D >= 1, AD - BC >= (1-r)^2 e^beta as e^beta - mu(e^beta - 1) >= 0; mu <= 1, 1 " +
		"<= S/gamma and e^(beta mu) <= e^beta; 1-r >= gamma. Margin is that of the first bound; it is true with 1-r for " +
		"(1-r)^2 (lem-bound-ghat-sharp)."
}

// A convexInstance is a rational point of the h_s of Lemma 11 (lem-bound-ghat):
// mu = k/n, and exp(beta/n) is rational.
type convexInstance struct {
	s, gamma, mu, r, z *big.Rat
	expBeta, expBetaMu *big.Rat
}

// draw draws a point. It returns false if mu is out of its range.
func (c curvature) draw(r *rand.Rand) (h convexInstance, ok bool) {
	one := exact.Int(1)
	frac := func(top, den int) *big.Rat { return big.NewRat(int64(r.IntN(top*den+1)), int64(den)) }
	states := 2 + r.IntN(4)
	h.s, h.gamma = exact.Int(states), big.NewRat(int64(1+r.IntN(20)), 20)
	n := 2 + r.IntN(9)
	k := 1 + r.IntN(n-1)
	h.mu = big.NewRat(int64(k), int64(n))
	low := exact.Quo(h.gamma, h.s)
	if h.mu.Cmp(low) < 0 || h.mu.Cmp(exact.Sub(one, exact.Mul(exact.Int(states-1), low))) > 0 {
		return h, false
	}
	root := exact.Add(one, frac(1, 5)) // exp(beta/n)
	if c.cold {
		root = exact.Quo(one, root)
	}
	h.expBeta, h.expBetaMu = exact.Pow(root, n), exact.Pow(root, k)
	most := exact.Sub(one, h.gamma)
	if c.anyRoots {
		most = big.NewRat(99, 100)
	}
	h.r = exact.Mul(most, frac(1, 4))
	h.z = exact.Mul(exact.Mul(exact.Quo(h.s, h.gamma), exact.Int(c.reach)), frac(1, 6))
	return h, true
}

// compare checks the formula, as stated and as expanded in the proof, and the chain of bounds at h.
func (c curvature) compare(w *ledger.Worst, h convexInstance) {
	at := func() ledger.Instance {
		return ledger.Instance{
			"S": int(h.s.Num().Int64()), "gamma": h.gamma, "mu": h.mu, "r": h.r, "exp(beta)": h.expBeta, "z": h.z,
		}
	}
	steps := c.steps(h)
	for k, step := range steps {
		if d := step.LHS.Cmp(step.RHS); d > 0 || k < 2 && d != 0 {
			w.Fail(ledger.Witness{Instance: at(), Equation: step.Name, LHS: step.LHS, RHS: step.RHS})
		}
	}
	w.AtMostRat(steps[2].LHS, steps[2].RHS, at)
}

// steps returns two equations of the second derivative and its three bounds.
func (c curvature) steps(h convexInstance) []instruments.NamedLine {
	one, two := exact.Int(1), exact.Int(2)
	eb, em, rest := h.expBeta, h.expBetaMu, exact.Sub(one, h.r)
	grown := exact.Mul(rest, exact.Sub(eb, one))
	A, B := exact.Mul(rest, eb), exact.Mul(h.r, em)
	C, D := exact.Mul(grown, h.mu), exact.Add(rest, B)
	over := func(top, root *big.Rat) *big.Rat { return exact.Quo(exact.Mul(two, top), exact.Pow(root, 3)) }

	den := exact.Add(exact.Mul(C, h.z), D)
	cross := exact.Mul(B, C)
	if c.plus {
		cross = exact.Sub(new(big.Rat), cross)
	}
	formula := over(exact.Mul(D, exact.Sub(exact.Mul(A, D), cross)), den)
	inner := exact.Sub(exact.Add(A, exact.Mul(B, eb)), exact.Mul(exact.Mul(B, exact.Sub(eb, one)), h.mu))
	printed := over(exact.Mul(exact.Mul(D, rest), inner), den)

	widest := exact.Quo(h.s, h.gamma)
	top := exact.Mul(exact.Pow(rest, 2), eb)
	if c.anyShare {
		top = eb
	}
	second := secondCoefficient(A, B, C, D, h.z)
	first := over(top, exact.Add(exact.Mul(C, widest), D))
	if c.narrow {
		widest = h.gamma
	}
	next := over(top, exact.Mul(widest, eb))
	last := c.last.Rat(ledger.At[*big.Rat]{`\gamma`: h.gamma, "S": h.s, `e^\beta`: eb})
	return []instruments.NamedLine{
		{Name: "formula", LHS: second, RHS: formula},
		{Name: "printed formula", LHS: second, RHS: printed},
		{Name: "first bound", LHS: first, RHS: second},
		{Name: "second bound", LHS: next, RHS: first},
		{Name: "third bound", LHS: last, RHS: next},
	}
}

// secondCoefficient returns the second derivative of h = (A z^2 + B z)/(C z + D) at z:
// twice the second Taylor coefficient, by division of the polynomials in t at z + t.
func secondCoefficient(A, B, C, D, z *big.Rat) *big.Rat {
	two := exact.Int(2)
	n0 := exact.Add(exact.Mul(A, exact.Mul(z, z)), exact.Mul(B, z))
	n1 := exact.Add(exact.Mul(two, exact.Mul(A, z)), B)
	d0 := exact.Add(exact.Mul(C, z), D)
	h0 := exact.Quo(n0, d0)
	h1 := exact.Quo(exact.Sub(n1, exact.Mul(h0, C)), d0)
	return exact.Mul(two, exact.Quo(exact.Sub(A, exact.Mul(h1, C)), d0))
}

const frobeniusTried = `matrices of trace one over $S=3,\dots,6$ states with one light state remembered or several light ones, $\gamma$ the largest`

var lemBoundGHatStepLast = ledger.Claim{
	ID: "lem-bound-ghat-step-last", Number: "Lemma 11", Kind: ledger.Step,
	Title:      "The last displayed step of the lower bound",
	Statement:  `$\gamma^5S^{-5}e^{-2\beta}\,\mathbb E_\pi\|B_\pi\|_F^2=\bound{\tfrac12\gamma^8S^{-6}}e^{-2\beta}$, read as $\ge$`,
	Hypotheses: `$P_\pi$ satisfies the assumption with $\gamma$`, Tried: frobeniusTried,
	Uses: []string{"lem-bound-g1"}, Defect: ledger.Constant,
	Check: frobeniusStep(1).Noted(
		"As an equality it has no meaning for a varying prior; as the inequality that the proof needs it fails from S = " +
			"5 on in the family searched, because Lemma 16 (lem-bound-g1) fails: |B|_F^2 >= 2 gamma^3/S^2 is what holds. " +
			"The conclusion survives: Lemma 11 (lem-bound-ghat-sharp)."),
	Correction: &ledger.Claim{
		ID:         "lem-bound-ghat-step-last-corrected",
		Title:      "The last displayed step with the powers that hold",
		Statement:  `$\gamma^5S^{-5}e^{-2\beta}\,\mathbb E_\pi\|B_\pi\|_F^2\ge\bound{2\gamma^8S^{-7}}e^{-2\beta}$`,
		Hypotheses: `$P_\pi$ satisfies the assumption with $\gamma$`, Tried: frobeniusTried,
		Uses: []string{"lem-bound-g1-corrected"},
		Check: frobeniusStep(1).Noted(
			"It is |B|_F^2 >= 2 gamma^3/S^2 (lem-bound-g1-corrected), whose constant is the best."),
		Faults: []ledger.Fault{
			ledger.Drop(`$P_\pi$ satisfies the assumption with $\gamma$`, "gamma twice the largest", frobeniusStep(2)),
		},
	},
}

// frobeniusStep decides that gamma^5 S^-5 |B|_F^2 is at least the bound for the largest gamma of
// the assumption, times beyond. It takes matrices of trace 1, so that the prior on
// their relabelings has constant mean, until the claim fails.
func frobeniusStep(beyond int64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for s := 3; s <= 6; s++ {
			S := exact.Int(s)
			matrices := append(lightMatrices(s),
				exact.LightState(s, exact.Frac(1, 200), exact.Frac(6, 1000)),
				exact.LightState(s, exact.Frac(1, 1000), exact.Frac(12, 10000)))
			for _, pi := range matrices {
				gamma := instruments.RoundedGamma(pi, 1000000)
				if w.Failed() || exact.CheckGamma(pi, gamma) != nil || pi.Trace().Cmp(exact.Int(1)) != 0 {
					continue
				}
				gamma = exact.Mul(gamma, exact.Int(beyond))
				lhs := e.Bound(0).Rat(ledger.At[*big.Rat]{`\gamma`: gamma, "S": S})
				rhs := exact.Mul(exact.Quo(exact.Pow(gamma, 5), exact.Pow(S, 5)), exact.FrobeniusSquared(pi))
				w.AtMostRat(lhs, rhs, func() ledger.Instance { // both sides without e^(-2 beta)
					return ledger.Instance{"S": s, "orbits": []exact.Matrix{pi}, "gamma": gamma}
				})
			}
		}
		return ""
	}
}

// lightMatrices returns transition matrices over s states. All states but the first
// two have one small probability. The first two share the rest: equally in all rows
// but the last, unevenly by multiples of 1/200 in the last.
func lightMatrices(s int) []exact.Matrix {
	var out []exact.Matrix
	for _, light := range []int64{20, 25, 40, 50, 100} {
		small, heavy := big.NewRat(1, light), big.NewRat(light-int64(s-2), 2*light)
		for k := int64(1); ; k++ {
			d := big.NewRat(k, 200)
			if exact.Add(d, small).Cmp(heavy) >= 0 {
				break
			}
			row := exact.Vector(slices.Repeat([]*big.Rat{small}, s))
			row[0], row[1] = heavy, heavy
			pi := exact.Matrix(slices.Repeat([][]*big.Rat{row}, s))
			pi[s-1] = slices.Clone(row)
			pi[s-1][0], pi[s-1][1] = exact.Add(heavy, d), exact.Sub(heavy, d)
			out = append(out, pi)
		}
	}
	return out
}
