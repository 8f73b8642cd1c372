package claims

import (
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

// This file holds the planted faults, repairs and spared hypotheses of Appendix I, in
// the order of finitesample.go.

var thmFiniteStage1Faults = []ledger.Fault{
	{
		What:  "N^-.53",
		Check: stageOneError{exact.Frac(53, 100), identity[exact.Interval], theory.QueryInSequence}.check(),
	},
	{
		What:  "no logarithm of T/delta",
		Check: stageOneError{exact.Frac(1, 2), withoutLog, theory.QueryInSequence}.check(),
	},
	{
		What: "the query apart, as ghat is printed", Drops: querySamples,
		Check: stageOneError{exact.Frac(1, 2), identity[exact.Interval], theory.QueryApart}.check(),
	},
}

var thmFiniteStage1Spare = []ledger.Spare{
	{Hypothesis: floorOfPi, Why: "Without it the constant has no γ to depend on."},
	{
		Hypothesis: largeEps,
		Why: "For any ε > 0 it is true with the larger of T_eff and ε^-2 in the moments, and a constant that grows " +
			"with the quotient.",
	},
}

var thmFiniteStage1StepMeanRepairs = []ledger.Repair{{
	What: "the query in the sequence in both", Check: empiricalMean(theory.QueryInSequence, undivided),
}}

var thmFiniteStage1StepMeanCorrectedFaults = []ledger.Fault{
	{What: "without the factor S of the empirical gradient", Check: empiricalMean(theory.QueryInSequence, perState)},
	{What: "the query apart", Drops: "query in sequence", Check: empiricalMean(theory.QueryApart, undivided)},
}

var thmFiniteStage1StepMeanCorrectedSpare = []ledger.Spare{{
	Hypothesis: "the query is uniform",
	Why:        "Task 1 has it so; the factor S is one over its probabilities.",
}}

var thmFiniteStage1StepUnionRepairs = []ledger.Repair{{
	What:  "T_eff >= 4 S^3/gamma^6",
	Check: rareToken{2, azumaExponent, polynomial(4, 3, 6), nearlyUniform}.check(),
}}

var thmFiniteStage1StepUnionCorrectedFaults = []ledger.Fault{
	{
		What: "mu for its square", Part: "Chebyshev",
		Check: rareToken{1, azumaExponent, polynomial(4, 3, 6), rareCases}.check(),
	},
	{
		What: "1.8 S^2 for 2 S^2", Part: "Azuma",
		Check: rareToken{2, func(gamma, s, t, teff float64) float64 {
			return azumaExponent(gamma, s, t, teff) / 0.9
		}, polynomial(4, 3, 6), rareCases}.check(),
	},
	{
		What: "gamma = 1 whatever the floor", Drops: floorOfPi,
		Check: rareToken{2, func(_, s, t, teff float64) float64 {
			return azumaExponent(1, s, t, teff)
		}, polynomial(4, 3, 6), rareCases}.check(),
	},
	{
		What: "3 S^3 gamma^-6", Part: "the printed bound",
		Check: rareToken{2, azumaExponent, polynomial(3, 3, 6), rareCases}.check(),
	},
	{
		What: "4 S^3 gamma^-4", Part: "the printed bound",
		Check: rareToken{2, azumaExponent, polynomial(4, 3, 4), rareCases}.check(),
	},
	{
		What: "4 S^2 gamma^-6", Part: "the printed bound",
		Check: rareToken{2, azumaExponent, polynomial(4, 2, 6), rareCases}.check(),
	},
	{What: "any T_eff", Drops: manyEnough, Check: rareToken{2, azumaExponent, polynomial(4, 0, 0), rareCases}.check()},
}

var thmFiniteStage1StepNaiveFaults = []ledger.Fault{{What: "0.99 of the bound", Check: sampleSize(exact.Frac(99, 100))}}

var thmFiniteStage1StepNaiveSpare = []ledger.Spare{{
	Hypothesis: `$\epsilon>0$`,
	Why:        "Without it the right side means nothing.",
}}

var thmFiniteStage1StepDisplayRepairs = []ledger.Repair{{
	What:  "the deviation of the mean of the indicators from P(A) for both",
	Check: meanDisplay(centred),
}}

var thmFiniteStage1StepDisplayCorrectedFaults = []ledger.Fault{
	{
		What: "no factor 2 in the root", Part: "the tail",
		Check: sampleTail{func(second, most, n, l float64) float64 {
			return bernstein(second/2, most, n, l)
		}, 1, 0}.check(),
	},
	{
		What: "no second term", Part: "the tail",
		Check: sampleTail{func(second, _, n, l float64) float64 { return bernstein(second, 0, n, l) }, 1, 0}.check(),
	},
	{What: "nine tenths of ghat", Part: "the expectation", Check: sampleTail{bernstein, 0.9, 0}.check()},
	{What: "one sample, N times", Drops: `the $Z^{(n)}$ are independent`, Check: sampleTail{bernstein, 1, 1}.check()},
}

var thmFiniteStage1StepDisplayCorrectedSpare = []ledger.Spare{{
	Hypothesis: `$\epsilon>0$`,
	Why:        "Without it Z means nothing.",
}}

var thmFiniteStage2Faults = []ledger.Fault{
	{What: "0.99 for 1", Part: "one sample", Check: stageTwoError{exact.Frac(99, 100), exact.Frac(1, 2), 0}.check()},
	{
		What: "N^-.53", Part: "the mean of N samples",
		Check: stageTwoError{exact.Frac(1, 1), exact.Frac(53, 100), 0}.check(),
	},
	{
		What: "one sample, N times", Drops: `the $N$ sequences are independent`,
		Check: stageTwoError{exact.Frac(1, 1), exact.Frac(1, 2), 1}.check(),
	},
}

var thmFiniteStage2Spare = []ledger.Spare{{Hypothesis: `$\epsilon>0$`, Why: "Without it the loss may be infinite."}}

var thmFiniteStage2StepExponentRepairs = []ledger.Repair{{What: "e^beta0 - 1", Check: exponentOrder(shiftOfPrediction)}}

var thmFiniteStage2StepExponentCorrectedFaults = []ledger.Fault{
	{What: "0.24 (e^beta0 - 1)", Part: "the shift", Check: predictionShift("24/100", "3/2", "3/2")},
	{What: "T_eff^-1.6", Part: "the rate", Check: predictionShift("1/4", "3/2", "8/5")},
	{
		What: "beta0 = T_eff^-1.4", Drops: `$0\le\beta_0\le T_{\mathrm{eff}}^{-3/2}$`,
		Check: predictionShift("1/4", "7/5", "3/2"),
	},
}

var thmFiniteStage2Step1Repairs = []ledger.Repair{{
	What:  "half of the l1 norm",
	Check: sumOfDeltas(func(u exact.Vector) *big.Rat { return exact.Quo(exact.Norm1(u), exact.Frac(2, 1)) }),
}}

var thmFiniteStage2Step1CorrectedFaults = []ledger.Fault{
	{What: "0.49 for 1/2", Part: "the sum", Check: predictorChain("49/100", "1", "1", "1")},
	{What: "0.99 of the distance", Part: "the l1 norm", Check: predictorChain("1/2", "99/100", "1", "1")},
	{What: "0.99 of the largest entry", Part: "the end", Check: predictorChain("1/2", "1", "99/100", "1")},
	{What: "rows of sum 2", Drops: rowsOfAttention, Check: predictorChain("1/2", "1", "1", "2")},
}

var thmFiniteStage2Step2Faults = []ledger.Fault{{What: "0.49 for 1/2", Check: largestShift(exact.Frac(49, 100))}}

var thmFiniteStage2Step2Spare = []ledger.Spare{{Hypothesis: `$z,z'\in\mathbb R^T$`, Why: "All vectors."}}

var thmFiniteStage2Step3Faults = []ledger.Fault{
	{What: "0.99 of the bound", Check: attended(exact.Frac(99, 100), exact.Frac(1, 1))},
	{What: "rows of sum 2", Drops: rowsOfAttention, Check: attended(exact.Frac(1, 1), exact.Frac(2, 1))},
}

var claimSampleSizeRepairs = []ledger.Repair{{
	What: "roots other than T", Check: rootSamples(ownRoot),
}}

var claimSampleSizeCorrectedFaults = []ledger.Fault{
	{
		What: "T_eff^.95 log(2T^2/delta) samples", Part: "as many suffice",
		Check: enoughSamples("95/100", "19/20", ownRoot),
	},
	{What: "row T among them", Part: "roots other than T", Check: enoughSamples("1", "19/20", queryRole)},
	{What: "fewer is as many, a = 0", Part: "fewer do not", Check: enoughSamples("1", "1", ownRoot)},
}

var claimSampleSizeCorrectedSpare = []ledger.Spare{
	{Hypothesis: floorOfPi, Why: "Without it K has no γ to depend on."},
	{
		Hypothesis: smallEps,
		Why:        "For a larger ε up to 1 the first part is true as it is; the second compares with that of Lemma 6.",
	},
	{
		Hypothesis: querySamples,
		Why:        "The mean of the samples is ĝ in this reading (thm-finite-stage1-step-mean-corrected).",
	},
}
