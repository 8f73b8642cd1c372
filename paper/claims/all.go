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
	"slices"
	"sync"

	"learncausal/paper/ledger"
	"learncausal/paper/proofs"
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
