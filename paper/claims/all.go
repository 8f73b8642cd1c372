// Package claims states every numbered statement of the paper as a check that
// can fail.
//
// A [ledger.Claim] holds the statement as printed; where that is false, a second
// one, with the suffix "-corrected", holds what is true instead. Each claim stands
// above its check, and carries planted faults: the same check with one formula or
// hypothesis spoilt, which must report failure. There is one file for each section
// of the paper; Lemma 5 stands beside its proof (dataprocessing.go), Lemma 11 in a
// file of its own (idealizedgradient.go). What several sections share is in files of its own: the dynamics
// of both stages (dynamics.go), their gradients in rationals (exactgradients.go)
// and, on graphs of any length, enclosed (incontext.go),
// and populations small enough to sum over (smallpopulation.go).
package claims

import (
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

// proved gives each claim its theorems.
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

// decided returns the check that gives the instances of decide to a Worst.
func decided(decide func(w *ledger.Worst)) ledger.Check {
	return func(*ledger.Env) ledger.Finding {
		var w ledger.Worst
		decide(&w)
		return w.Finding("")
	}
}

// Quick returns the claims of the quick ledger.
func Quick() []ledger.Claim {
	var quick []ledger.Claim
	for _, c := range All() {
		if c.Quick {
			quick = append(quick, c)
		}
	}
	return quick
}
