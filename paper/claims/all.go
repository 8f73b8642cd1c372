// Package claims states every numbered statement of the paper as a check that can fail.
//
// A [ledger.Claim] holds the statement as printed. If that is false, its field Correction holds a true one, whose
// id ends in "-corrected". Each claim stands above its check and carries planted faults: the same check with one
// formula or hypothesis changed, which must fail. Wrong constants and exponents follow from the [ledger.Bound]s of
// the statement. There is one file for each section of the paper. Other files hold the mathematics that several
// sections share: chains.go and forests.go have the chains, priors and forests of the checks, gradients.go sums
// over all sequences of a small task, enclosures.go encloses expectations on long sequences, and dynamics.go
// follows gradient descent.
package claims

import (
	"math/big"
	"slices"
	"sync"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/paper/proofs"
	"learncausal/pkg/num"
)

// All returns every claim, section by section as in the paper.
func All() []ledger.Claim { return all() }

var all = sync.OnceValue(func() []ledger.Claim {
	return proved(ledger.Collect(
		setup,
		learned,
		mainResults,
		proofSketch,
		multipleParents,
		equivalence,
		multipleParentsConstruction,
		gradientComputations,
		stageOneGradient,
		stageTwoGradient,
		markovChains,
		concentration,
		strongDataProcessing,
		lemmasStageOne,
		lemmasStageTwo,
		proofOOD,
		finiteSample,
	))
})

// proved adds to each claim its theorems of Coq.
func proved(all []ledger.Claim) []ledger.Claim {
	of := map[string][]ledger.Proof{}
	for _, t := range proofs.Listed().Theorems {
		of[t.ID] = append(of[t.ID], ledger.Proof{
			Theorem: t.Theorem, File: "paper/proofs/" + t.File, Refutes: t.Kind == "refuted", Gap: t.Gap,
		})
	}
	for i := range all {
		all[i].Proved = of[all[i].ID]
	}
	return all
}

// Quick returns the claims of the quick ledger.
func Quick() []ledger.Claim {
	return slices.DeleteFunc(slices.Clone(All()), func(c ledger.Claim) bool { return c.Slow })
}

// decided returns the check that keeps the worst of the instances of decide.
func decided(decide func(w *ledger.Worst)) ledger.Check {
	return func(_ *ledger.Env, w *ledger.Worst) string {
		decide(w)
		return ""
	}
}

// identity returns x.
func identity[T any](x T) T { return x }

// unit returns 1 if b holds, and 0 otherwise.
func unit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sigmoid maps a coordinate of a search to (0, 1).
func sigmoid(x float64) float64 { return 1 / (1 + num.Exp(-x)) }

func isZero(x *big.Rat) bool { return x.Sign() == 0 }

// zeros returns the zero vector of n entries.
func zeros(n int) exact.Vector { return exact.Zero(1, n)[0] }

// ifHolds returns the note if the statement holds, and else no note.
func ifHolds(w *ledger.Worst, note string) string {
	if w.Holds() {
		return note
	}
	return ""
}

// largestEntry returns |u|_inf.
func largestEntry(u exact.Vector) *big.Rat {
	most := new(big.Rat)
	for _, x := range u {
		if x = exact.Abs(x); x.Cmp(most) > 0 {
			most = x
		}
	}
	return most
}
