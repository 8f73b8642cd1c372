package stageone

import (
	"math/big"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
)

var thmDPIGap = ledger.Claim{
	ID: "thm-dpi-gap", Number: "Lemma 5", Title: "The idealized gradient is largest at the parent",
	Statement: `If $p(i)\ne\emptyset$, then $g_{i,p(i)}\ge g_{i,j}+\bound{\gamma^3/(2S)}$ for all $j\in[i]\setminus p(i)$; ` +
		`otherwise $g_{i,j}=0$ (Lemma 5, thm-dpi-gap-step-query)`,
	Hypotheses: instruments.OrbitPrior, Tried: instruments.TriedPriors,
	Uses:   []string{"eq-strong-dpi", "eq-strong-dpi-step-last", "thm-dpi-gap-step-query", "lem-tv", "lem-bound-g1"},
	Defect: ledger.Constant,
	Check:  gapAndRoots([][2]int{{1, 0}, {1, 1}, {4, 1}, {4, 4}}),
	Correction: &ledger.Claim{
		ID: "thm-dpi-gap-corrected", Title: "The idealized gradient is largest at the parent, corrected",
		Statement:  `If $p(i)\ne\emptyset$, then $g_{i,p(i)}\ge g_{i,j}+\bound{\gamma^3/S^2}$ for all $j\in[i]\setminus p(i)$`,
		Parts:      []string{"j in the tree of i", "j = i", "j in another tree"},
		Hypotheses: instruments.OrbitPrior, Tried: instruments.TriedPriors,
		Uses: []string{"eq-b-powers", "lem-spectral-gap", "lem-mu-lower", "lem-tv-step-max", "lem-bound-g1-corrected"},
		// Lemma 5 (thm-dpi-gap-sharp) has twice this bound.
		Check:  instruments.GradientGap("; Lemma 5 (thm-dpi-gap-sharp) has twice as much."),
		Faults: instruments.GapFaults(`\frac52\gamma^3/S^2`, "5/2 gamma^3/S^2 in place of gamma^3/S^2"),
		Spare:  instruments.SpareSymmetry,
	},
}

// gapAndRoots checks both halves of Lemma 5, the gap and zero at the pairs of roots.
func gapAndRoots(pairs [][2]int) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		ratios := instruments.GapCheck{
			Bound:  instruments.GammaBound{Bound: e.Bound(0), Of: instruments.BothBullets},
			Family: instruments.MeanOne, Places: instruments.PlacesOfJ,
		}.Search(e, w)
		if !w.Failed() {
			decideRoots(w, pairs, new(big.Rat), noTrace, instruments.Balanced)
		}
		return "The gap is false from S = 5 on: where only a light state is remembered, ‖B‖² ≈ 2γ³/S² < " +
			"γ³/(2S), and j = i has g = 0. True for S = 2, 3 and 4 (Lemma 5, thm-dpi-gap-sharp). Least found of the " +
			"gap over the bound:" + ratios + ". What follows survives with C(γ,S) multiplied by S/2; " +
			"at roots g vanishes, but for i = j = T."
	}
}

var thmDPIGapQuery = ledger.Claim{
	ID: "thm-dpi-gap-step-query", Number: "Lemma 5", Kind: ledger.Step,
	Title:      "The idealized gradient vanishes at roots",
	Statement:  `If $p(i)=\emptyset$, then $g_{i,j}=0$ for all $j\in[i]$, also for $i=j=T$`,
	Hypotheses: instruments.OrbitPrior, Tried: triedRoots,
	Defect: ledger.Boundary,
	Check: rootGradient(new(big.Rat), noTrace,
		instruments.Balanced).Noted("The proof treats the query only for j in another " +
		"tree. At i = j = T, s_T is uniform but the formula divides by μ(s'). For j < T, and for the other roots, g " +
		"vanishes; so no row of a non-root is concerned."),
	Correction: &ledger.Claim{
		ID: "thm-dpi-gap-step-query-corrected", Title: "The idealized gradient at roots, corrected",
		Statement: `If $p(i)=\emptyset$, then $g_{i,j}=0$ for all $j\in[i]$ except $i=j=T$, where ` +
			`$g_{T,T}=\frac1S\mathbb E_\pi\sum_s\pi(s\mid s)/\mu_\pi(s)-1$`,
		Parts:      []string{"zero but at the query", "the query"},
		Hypotheses: instruments.OrbitPrior, Tried: triedRoots,
		Uses: []string{"eq-g-root-zero-corrected"},
		Check: rootGradient(new(big.Rat), traceOver(exact.MustStationary), instruments.Balanced).Noted("For every prior of " +
			"Assumption 1: s_i and s_j are independent for j < i, and for i = j < T the value is E tr π − 1 = 0."),
		Faults: []ledger.Fault{
			ledger.PlantIn("zero but at the query", "1/1000 in place of 0",
				rootGradient(exact.Frac(1, 1000), traceOver(exact.MustStationary), instruments.Balanced)),
			ledger.PlantIn("the query", "the trace in place of its weighted form",
				rootGradient(new(big.Rat), traceOver(instruments.UniformMeasure), instruments.Balanced)),
			ledger.Drop(instruments.ConstantMean, "a single matrix of any trace",
				rootGradient(new(big.Rat), traceOver(exact.MustStationary), instruments.Identity)),
		},
		Spare: append([]ledger.Spare{
			ledger.Spared(instruments.FloorHypothesis, "a positive stationary measure is enough"),
			ledger.Spared(instruments.SpreadOfRows, "where all rows are equal the values are the same"),
		}, instruments.SpareSymmetry...),
	},
}

const triedRoots = `priors of two matrices over two states with denominators up to 6, on a forest with three roots ` +
	`beside the query, summed over all sequences in rationals`

// noTrace returns 0.
func noTrace(exact.Matrix) *big.Rat { return new(big.Rat) }

// traceOver returns the function sum_s pi(s|s)/m(s) / S - 1 for a measure m.
func traceOver(measure func(exact.Matrix) exact.Vector) func(exact.Matrix) *big.Rat {
	return func(pi exact.Matrix) *big.Rat {
		sum := new(big.Rat)
		for s, m := range measure(pi) {
			sum.Add(sum, exact.Quo(pi[s][s], m))
		}
		return exact.Sub(exact.Quo(sum, exact.Int(len(pi))), exact.Int(1))
	}
}

// rootGradient decides g_ij at all roots, as decideRoots does.
func rootGradient(
	zero *big.Rat, atQuery func(exact.Matrix) *big.Rat, partner func(exact.Matrix) exact.Matrix,
) ledger.Check {
	return ledger.Decided(func(w *ledger.Worst) {
		pairs := [][2]int{{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 2}, {4, 0}, {4, 1}, {4, 3}, {4, 4}}
		decideRoots(w, pairs, zero, atQuery, partner)
	})
}

// decideRoots decides at pairs of roots i, j that g_ij is zero, and that g_TT is
// the mean of atQuery. The priors are uniform over the relabelings of a matrix and
// its partner. The law of a pair is summed over all sequences, with a uniform query.
func decideRoots(
	w *ledger.Worst, pairs [][2]int,
	zero *big.Rat, atQuery func(exact.Matrix) *big.Rat, partner func(exact.Matrix) exact.Matrix,
) {
	g := graph.MustNew(graph.Root, graph.Root, graph.Root, 0, graph.Root)
	mean := func(x, y *big.Rat) *big.Rat { return exact.Quo(exact.Add(x, y), exact.Int(2)) }
	for den := 2; den <= 6; den++ {
		for first := range exact.Positive(2, den) {
			second := partner(first)
			if w.Failed() || instruments.BothBullets.Square(first).Sign() == 0 ||
				instruments.BothBullets.Square(second).Sign() == 0 {
				continue
			}
			for _, at := range pairs {
				i, j, right := at[0], at[1], zero
				if j == g.T()-1 {
					right = mean(atQuery(first), atQuery(second))
				}
				left := mean(instruments.EnumeratedGradient(first, g, i, j), instruments.EnumeratedGradient(second, g, i, j))
				w.EqualRat("g_ij", left, right, func() ledger.Instance {
					return ledger.Instance{
						"S": len(first), "orbits": []exact.Matrix{first, second}, "graph": g, "i": i + 1, "j": j + 1,
					}
				})
			}
		}
	}
}
