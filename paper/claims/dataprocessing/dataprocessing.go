// Package dataprocessing is the appendix with the chain of inequalities from a common ancestor, which proves
// Lemma 5: the idealized gradient g_ij is largest where j is the parent of i. Lemma 5 itself belongs to package
// stageone. Priors of Assumption 1 are uniform over the relabelings of matrices with traces that average to 1.
package dataprocessing

import (
	"fmt"
	"math"
	"math/big"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

// Section lists the claims in the order of the paper.
var Section = ledger.Section{Title: "Strong Data Processing Inequality", Claims: []ledger.Claim{
	eqStrongDPI, eqStrongDPILast, thmDPIGapSharp,
}}

var thmDPIGapSharp = ledger.Claim{
	ID: "thm-dpi-gap-sharp", Number: "Lemma 5", Kind: ledger.Step,
	Title:      "The idealized gradient is largest at the parent, with the best constant",
	Statement:  `If $p(i)\ne\emptyset$, then $g_{i,p(i)}\ge g_{i,j}+\bound{2\gamma^3/S^2}$ for all $j\in[i]\setminus p(i)$`,
	Parts:      []string{"j in the tree of i", "j = i", "j in another tree"},
	Hypotheses: instruments.OrbitPrior, Tried: instruments.TriedPriors,
	Uses: []string{
		"thm-dpi-gap-corrected", "eq-b-powers", "lem-spectral-gap", "lem-mu-lower", "lem-bound-g1-corrected",
	},
	Check: instruments.GradientGap(
		"; 2 cannot be replaced by more for any S ≥ 3, as Lemma 16 (lem-bound-g1-corrected) cannot, since j = i has g = 0."),
	Faults: instruments.GapFaults(`\frac{21}{10}\gamma^3/S^2`, "2.1 gamma^3/S^2 in place of 2 gamma^3/S^2"),
	Spare:  instruments.SpareSymmetry,
}

var eqStrongDPI = ledger.Claim{
	ID: "eq-strong-dpi", Number: "Appendix G.1", Title: "The chain of inequalities from the common ancestor",
	Statement: `$g_{ij}(\pi)\le\frac12\|B_\pi\|_F^2+\bound[means]{\frac12}I_{\chi^2}(s_i;s_j\mid\pi)$, ` +
		`$I_{\chi^2}(s_i;s_j\mid\pi)\le\alpha^{d(j,k)}I_{\chi^2}(s_k;s_i\mid\pi)\le\alpha^{d(i,j)-1}\|B_\pi\|_F^2$ ` +
		`and $g_{i,p(i)}(\pi)-g_{ij}(\pi)\ge\bound[gap]{\frac{1-\alpha}2}\|B_\pi\|_F^2$`,
	Parts:      []string{"means", "up to the ancestor", "down from it", "gap"},
	Hypotheses: instruments.OneMeasure + `; ` + distinct,
	Tried: `in rationals all positive matrices over two states with denominators up to 6, random ones over 2 to 4 ` +
		`states, and the worst that a search in floats finds, at 8 pairs of distances`,
	Uses:    []string{"lem-contraction", "eq-b-powers"},
	RestsOn: []string{"lem-contraction", "eq-b-powers", "eq-g-amgm", "eq-g-parent-chi2"},
	Check:   ancestorInequalities(ancestorLines{}, instruments.AncestorPairs),
	Faults: []ledger.Fault{
		ledger.PlantIn("up to the ancestor", "one more power of alpha",
			ancestorInequalities(ancestorLines{up: 1}, instruments.AncestorPairs)),
		ledger.PlantIn("down from it", "d(i,j) in place of d(i,j) - 1",
			ancestorInequalities(ancestorLines{down: 1}, instruments.AncestorPairs)),
		ledger.Drop(distinct, "j is the parent", ancestorInequalities(ancestorLines{}, [][2]int{{1, 0}})),
	},
	Spare: instruments.SpareMeasure,
}

const distinct = `$j<i$ in one tree, $j\ne p(i)$, with the last common ancestor $k$`

// ancestorLines are the displayed inequalities, with additional powers of alpha.
type ancestorLines struct {
	means    *big.Rat     // first bound of the statement
	gap      ledger.Bound // second
	up, down int
}

// ancestorInequalities searches in floats for a chain that breaks the displayed
// inequalities, and decides them and the identities on rational chains.
func ancestorInequalities(l ancestorLines, pairs [][2]int) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		l.means, l.gap = e.Bound(0).Constant(), e.Bound(1)
		instruments.AttackExactly(e, w, ledger.KernelBound{
			Sizes: []int{2, 3, 4}, Floor: 1e-3,
			Sides:  func(c *theory.Chain) (lhs, rhs float64) { return l.sides(c, pairs) },
			Broken: func(pi exact.Matrix) *ledger.Witness { return l.broken(pi, pairs) },
		})
		return instruments.SearchNote(w, fmt.Sprintf(", each at %d pairs of distances; true for all by Lemma 17 "+
			"(lem-contraction). The first and the last lines are not sharp: g_ij = ⟨B^{b+1}, B^a⟩ gives the gap "+
			"(1−λ)‖B‖² without the factor 1/2.", len(pairs)))
	}
}

// sides returns the tightest sides for the chain in floats.
func (l ancestorLines) sides(c *theory.Chain, pairs [][2]int) (lhs, rhs float64) {
	if c.FrobeniusSquared() < instruments.LeastGamma {
		return 0, math.Inf(1)
	}
	var worst instruments.LeastSlack
	for _, at := range pairs {
		for _, line := range l.inFloats(c, at[0], at[1]) {
			worst.Take(line[0], line[1])
		}
	}
	return worst.LHS, worst.RHS
}

// inFloats returns both sides of the displayed lines. It omits a line with the power
// 0 of alpha: its sides are one number, and in floats either may be the larger.
func (l ancestorLines) inFloats(c *theory.Chain, i, j int) (lines [][2]float64) {
	norm, alpha := c.FrobeniusSquared(), c.Alpha()
	contracts := func(lhs float64, power int, rhs float64) {
		if power > 0 {
			lines = append(lines, [2]float64{lhs, math.Pow(alpha, float64(power)) * rhs})
		}
	}
	k, toI, toJ := instruments.NearForest.Meet(i, j)
	g := c.G(instruments.NearForest, i, j)
	info := c.Information(theory.ChiSquared, instruments.NearForest, i, j)
	up := c.Information(theory.ChiSquared, instruments.NearForest, k, i)
	lines = append(lines, [2]float64{g, norm/2 + float64(exact.Float(l.means)*info)})
	contracts(info, toJ+l.up, up)
	contracts(up, toI-1+l.down, norm)
	contracts(info, toI+toJ-1+l.up+l.down, norm)
	return append(lines, [2]float64{l.gap.Float(ledger.At[float64]{`1-\alpha`: 1 - alpha}) * norm, norm - g})
}

// broken returns the witness that a displayed line fails for pi, or nil.
func (l ancestorLines) broken(pi exact.Matrix, pairs [][2]int) *ledger.Witness {
	for _, at := range pairs {
		for _, line := range l.inRationals(pi, at[0], at[1]) {
			if line.LHS.Cmp(line.RHS) > 0 {
				return &ledger.Witness{Equation: line.Name, LHS: line.LHS, RHS: line.RHS, Instance: ledger.Instance{
					"S": len(pi), "pi": pi, "graph": instruments.NearForest, "i": at[0] + 1, "j": at[1] + 1,
				}}
			}
		}
	}
	return nil
}

// inRationals returns the displayed lines, and the information as a sum over s'.
func (l ancestorLines) inRationals(pi exact.Matrix, i, j int) []instruments.NamedLine {
	norm, alpha, mu := exact.FrobeniusSquared(pi), exact.Alpha(pi), exact.MustStationary(pi)
	contracted := func(k int, x *big.Rat) *big.Rat { return exact.Mul(exact.Pow(alpha, k), x) }
	k, toI, toJ := instruments.NearForest.Meet(i, j)
	joint := exact.Joint(pi, instruments.NearForest, i, j)
	g, info := exact.G(pi, instruments.NearForest, i, j), exact.ChiSquaredInformation(joint)
	up := exact.ChiSquaredInformation(exact.Joint(pi, instruments.NearForest, k, i))
	byRow := new(big.Rat) // sum_s' mu(s') chi^2(P[s_j = . | s_i = s'] || mu)
	for a, row := range joint {
		law := exact.Matrix{row}.Scale(exact.Quo(exact.Int(1), mu[a]))[0]
		byRow.Add(byRow, exact.Mul(mu[a], exact.ChiSquared(law, mu)))
	}
	least := exact.Mul(l.gap.Rat(ledger.At[*big.Rat]{`1-\alpha`: exact.Sub(exact.Int(1), alpha)}), norm)
	return []instruments.NamedLine{
		{Name: "g <= (|B|^2 + I)/2", LHS: g, RHS: exact.Add(exact.Mul(exact.Frac(1, 2), norm), exact.Mul(l.means, info))},
		{Name: "I(s_i; s_j) <= sum over s'", LHS: info, RHS: byRow},
		{Name: "I(s_i; s_j) >= sum over s'", LHS: byRow, RHS: info},
		{Name: "I(s_i; s_j) <= alpha^d(j,k) I(s_k; s_i)", LHS: info, RHS: contracted(toJ+l.up, up)},
		{Name: "I(s_k; s_i) <= alpha^(d(i,k)-1) |B|^2", LHS: up, RHS: contracted(toI-1+l.down, norm)},
		{Name: "I(s_i; s_j) <= alpha^(d(i,j)-1) |B|^2", LHS: info, RHS: contracted(toI+toJ-1+l.up+l.down, norm)},
		{Name: "(1-alpha)/2 |B|^2 <= |B|^2 - g", LHS: least, RHS: exact.Sub(norm, g)},
	}
}

var eqStrongDPILast = ledger.Claim{
	ID: "eq-strong-dpi-step-last", Number: "Appendix G.1", Kind: ledger.Step,
	Title:      "The last displayed step of the strong data processing inequality",
	Statement:  `$\frac{1-\alpha(\pi)}2\|B_\pi\|_F^2\ge\bound{\gamma^3/(2S)}$`,
	Hypotheses: instruments.OrbitPrior, Tried: instruments.TriedPriors,
	Uses: []string{"lem-tv", "lem-bound-g1"}, Defect: ledger.Constant,
	Check: lastStepOfPriors,
	Correction: &ledger.Claim{
		ID: "eq-strong-dpi-step-last-corrected", Title: "The last displayed step, corrected",
		Statement:  `$\frac{1-\alpha(\pi)}2\|B_\pi\|_F^2\ge\bound{\gamma^4/S^2}$`,
		Hypotheses: instruments.FloorHypothesis + `; ` + instruments.SpreadOfRows,
		Tried:      instruments.TriedSearch + `, up to $S=5$; by intervals all chains over two states with $\gamma\ge1/20$`,
		Uses:       []string{"lem-tv-step-max", "lem-bound-g1-corrected"},
		Check:      lastStepOfMatrices(instruments.BothBullets),
		Faults: []ledger.Fault{
			ledger.Drop(instruments.FloorHypothesis, "gamma by the rows alone", lastStepOfMatrices(instruments.RowBullet)),
			ledger.Drop(instruments.SpreadOfRows, "gamma by the entries alone", lastStepOfMatrices(instruments.EntryBullet)),
		},
	},
}

// lastStepOfPriors checks (1-alpha)/2 |B|_F^2 >= bound for the relabelings of one matrix. If a search breaks
// the bound, the witness is the simplest lightState over three states that breaks it.
func lastStepOfPriors(e *ledger.Env, w *ledger.Worst) string {
	bound := instruments.GammaBound{Bound: e.Bound(0), Of: instruments.BothBullets}
	ratios := instruments.PriorSearch{
		Bound: bound, Sizes: []int{3, 4, 5}, Budget: e.Budget(60000, 3000), Bases: instruments.BasesOfPrior, Value: halfGapOf,
		Witness: func(w *ledger.Worst, _ int) *ledger.Witness { return bound.HalfGapAmongLightStates(w) },
	}.Run(e, w)
	return "It rests on Lemma 16 (lem-bound-g1). Least found ratio of the sides:" + ratios +
		". The gap itself is larger than this line says (Lemma 5, thm-dpi-gap-corrected)."
}

// halfGapOf returns the mean of (1-alpha)/2 |B|_F^2 over the matrices.
func halfGapOf(bases []*theory.Chain) float64 {
	sum := 0.0
	for _, c := range bases {
		sum += (1 - c.Alpha()) / 2 * c.FrobeniusSquared() / float64(len(bases))
	}
	return sum
}

// lastStepOfMatrices checks (1-alpha)/2 |B|_F^2 >= gamma^4/S^2 for single matrices.
func lastStepOfMatrices(of instruments.Bullets) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		var ratios instruments.RatioPerSize
		bound := instruments.GammaBound{Bound: e.Bound(0), Of: of}
		instruments.AttackExactly(e, w, ledger.KernelBound{
			Sizes: []int{2, 3, 4, 5}, Floor: instruments.LeastEntry, From: instruments.LightStates,
			Sides: func(c *theory.Chain) (lhs, rhs float64) {
				g, gap := of.Float(c), halfGapOf([]*theory.Chain{c})
				if g < instruments.LeastGamma || gap < 1e-9 {
					return 0, math.Inf(1)
				}
				return bound.FloatAt(c.S, g), gap
			},
			Broken:  func(pi exact.Matrix) *ledger.Witness { return bound.Exceeds(instruments.HalfGap(pi), pi) },
			PerSize: ratios.Add,
		})
		boxes := instruments.EveryPairOfRows(w, func(c instruments.TwoStates) (lhs, rhs exact.Range) {
			half := exact.At(0.5).Mul(exact.At(1).Sub(c.Lambda)) // alpha = lambda
			return bound.Within(c.Gamma), half.Mul(c.Lambda.Pow(2))
		})
		return instruments.SearchNote(w, "; true for all: 1−α ≥ γ (Lemma 15, lem-tv-step-max) and ‖B‖² ≥ 2γ³/S²"+boxes+
			". Least found ratio of the sides:"+string(ratios)+
			"; Lemma 5 (thm-dpi-gap-corrected) has γ³/S² for the gap by another route.")
	}
}
