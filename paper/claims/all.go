package claims

import (
	"sync"

	"learncausal/pkg/ledger"
)

// All returns every claim, section by section as in the paper.
func All() []ledger.Claim { return all() }

var all = sync.OnceValue(func() []ledger.Claim {
	return ledger.Collect(
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
		idealizedGradient,
		lemmasStageTwo,
		proofOOD,
		finiteSample,
	)
})

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
