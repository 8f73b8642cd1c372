// Package proofood is Appendix H.4, the proof of Theorem 2 (thm-ood).
package proofood

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// Section lists the claims in the order of the paper.
var Section = ledger.Section{Title: "Proof of Theorem 2", Claims: []ledger.Claim{
	thmOODStepRoot,
}}

var thmOODStepRoot = ledger.Claim{
	ID: "thm-ood-step-root", Number: "Theorem 2", Kind: ledger.Step, Title: "The last step out of distribution",
	Statement: `from $\mathbb P[D^2\ge100S^2\,\mathbb ED^2]\le\tfrac1{100S^2}$: $D\le100S^2\,\mathbb E[D^2]$ with ` +
		`probability $1-\tfrac1{100S^2}$`,
	Hypotheses: `any law of $D=|f-\pi|\in[0,1]$`,
	Defect:     ledger.FalseStep,
	Check: rootStep(100, above).Noted("The square root is missing: an error D below 1/(100 S^2) that never " +
		"changes is above 100 S^2 D^2. The theorem survives with half the exponent, which its unstated c covers."),
	Correction: &ledger.Claim{
		ID: "thm-ood-step-root-corrected", Title: "The last step out of distribution, with the root",
		Statement:  `$\mathbb P[D\ge10S\,(\mathbb E D^2)^{1/2}]\le\tfrac1{100S^2}$`,
		Hypotheses: `any law of $D\in[0,1]$; $\mathbb ED^2>0$`,
		Check: func(e *ledger.Env, w *ledger.Worst) string {
			rootStep(100, rootReached)(e, w)
			return w.IfHolds(fmt.Sprintf("Markov's inequality for D^2, true for all; no counterexample found "+
				"in %d laws.", w.N()))
		},
		Faults: []ledger.Fault{
			ledger.Plant("D >= 8 S", rootStep(64, rootReached)),
			ledger.Drop(`$\mathbb ED^2>0$`, "D may be zero", rootOfNothing),
		},
		Spare: []ledger.Spare{ledger.Spared(`any law of $D\in[0,1]$`, "it holds for every D >= 0 with a second moment")},
	},
}

// rootOfNothing is the check with the law of D = 0 among the laws.
func rootOfNothing(e *ledger.Env, w *ledger.Worst) string {
	zero := new(big.Rat)
	decideRoot(w, 2, 100, exact.Vector{zero, zero}, exact.Frac(1, 2), rootReached)
	return rootStep(100, rootReached)(e, w)
}

// above reports D > bound; rootReached compares D with bound^(1/2).
func above(d, bound *big.Rat) bool { return d.Cmp(bound) > 0 }

func rootReached(d, bound *big.Rat) bool { return exact.Mul(d, d).Cmp(bound) >= 0 }

// rootStep searches for a law of D with two values under which D exceeds the bound
// factor S^2 E D^2 with probability above 1/(100 S^2).
func rootStep(factor int64, exceeds func(d, bound *big.Rat) bool) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		r := rand.New(e.Stream("laws"))
		for n := 0; n < e.Budget(4000, 500) && !w.Failed(); n++ {
			s, low, high, p := drawTwoValues(r, n)
			decideRoot(w, s, factor, exact.Vector{low, high}, p, exceeds)
		}
		return ""
	}
}

// drawTwoValues returns the n-th S and law of D, p being the probability of high.
func drawTwoValues(r *rand.Rand, n int) (s int64, low, high, p *big.Rat) {
	s = 2 + r.Int64N(4)
	low, high = exact.Frac(r.Int64N(20), 1000), exact.Frac(1+r.Int64N(1000), 1000)
	p = exact.Frac(1+r.Int64N(100*s*s), 200*s*s)
	switch n {
	case 0:
		return 2, exact.Frac(1, 1000), exact.Frac(1, 1000), exact.Frac(1, 2)
	case 1:
		return s, new(big.Rat), high, exact.Frac(3, 200*s*s)
	case 2: // Markov's inequality is an equality
		return s, new(big.Rat), high, exact.Frac(1, 100*s*s)
	}
	return s, low, high, p
}

// decideRoot decides the statement for D with two values, the second of probability p.
func decideRoot(
	w *ledger.Worst, s, factor int64, values exact.Vector, p *big.Rat, exceeds func(d, bound *big.Rat) bool,
) {
	law := exact.Vector{exact.Sub(exact.Int(1), p), p}
	square, chance := exact.Dot(law, values, values), new(big.Rat)
	bound := exact.Mul(exact.Int(factor*s*s), square)
	for k, d := range values {
		if exceeds(d, bound) {
			chance = exact.Add(chance, law[k])
		}
	}
	w.AtMostRat(chance, exact.Frac(1, 100*s*s), func() ledger.Instance {
		return ledger.Instance{"S": int(s), "D": values, "P": law, "bound": bound}
	})
}
