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
	fault("N^-.53", stageOneError{exact.Frac(53, 100), identity[exact.Interval], theory.QueryInSequence}.check()),
	fault("no logarithm of T/delta", stageOneError{exact.Frac(1, 2), withoutLog, theory.QueryInSequence}.check()),
	drop(querySamples, "the query apart, as ghat is printed",
		stageOneError{exact.Frac(1, 2), identity[exact.Interval], theory.QueryApart}.check()),
}

var thmFiniteStage1Spare = []ledger.Spare{
	spare(floorOfPi, "Without it the constant has no γ to depend on."),
	spare(largeEps,
		"For any ε > 0 it is true with the larger of T_eff and ε^-2 in the moments, and a constant that grows "+
			"with the quotient."),
}

var thmFiniteStage1StepMeanRepairs = []ledger.Repair{
	repair("the query in the sequence in both", empiricalMean(theory.QueryInSequence, undivided)),
}

var thmFiniteStage1StepMeanCorrectedFaults = []ledger.Fault{
	fault("without the factor S of the empirical gradient", empiricalMean(theory.QueryInSequence, perState)),
	drop("query in sequence", "the query apart", empiricalMean(theory.QueryApart, undivided)),
}

var thmFiniteStage1StepMeanCorrectedSpare = []ledger.Spare{
	spare("the query is uniform", "Task 1 has it so; the factor S is one over its probabilities."),
}

var thmFiniteStage1StepUnionRepairs = []ledger.Repair{
	repair("T_eff >= 4 S^3/gamma^6", rareToken{2, azumaExponent, polynomial(4, 3, 6), nearlyUniform}.check()),
}

var thmFiniteStage1StepUnionCorrectedFaults = []ledger.Fault{
	spoil("Chebyshev", "mu for its square", rareToken{1, azumaExponent, polynomial(4, 3, 6), rareCases}.check()),
	spoil("Azuma", "1.8 S^2 for 2 S^2", rareToken{2, func(gamma, s, t, teff float64) float64 {
		return azumaExponent(gamma, s, t, teff) / 0.9
	}, polynomial(4, 3, 6), rareCases}.check()),
	drop(floorOfPi, "gamma = 1 whatever the floor", rareToken{2, func(_, s, t, teff float64) float64 {
		return azumaExponent(1, s, t, teff)
	}, polynomial(4, 3, 6), rareCases}.check()),
	spoil("the printed bound", "3 S^3 gamma^-6",
		rareToken{2, azumaExponent, polynomial(3, 3, 6), rareCases}.check()),
	spoil("the printed bound", "4 S^3 gamma^-4",
		rareToken{2, azumaExponent, polynomial(4, 3, 4), rareCases}.check()),
	spoil("the printed bound", "4 S^2 gamma^-6",
		rareToken{2, azumaExponent, polynomial(4, 2, 6), rareCases}.check()),
	drop(manyEnough, "any T_eff", rareToken{2, azumaExponent, polynomial(4, 0, 0), rareCases}.check()),
}

var thmFiniteStage1StepNaiveFaults = []ledger.Fault{fault("0.99 of the bound", sampleSize(exact.Frac(99, 100)))}

var thmFiniteStage1StepNaiveSpare = []ledger.Spare{spare(`$\epsilon>0$`, "Without it the right side means nothing.")}

var thmFiniteStage1StepDisplayRepairs = []ledger.Repair{
	repair("the deviation of the mean of the indicators from P(A) for both", meanDisplay(centred)),
}

var thmFiniteStage1StepDisplayCorrectedFaults = []ledger.Fault{
	spoil("the tail", "no factor 2 in the root", sampleTail{func(second, most, n, l float64) float64 {
		return bernstein(second/2, most, n, l)
	}, 1, 0}.check()),
	spoil("the tail", "no second term",
		sampleTail{func(second, _, n, l float64) float64 { return bernstein(second, 0, n, l) }, 1, 0}.check()),
	spoil("the expectation", "nine tenths of ghat", sampleTail{bernstein, 0.9, 0}.check()),
	drop(`the $Z^{(n)}$ are independent copies of the gradient $Z$ of one sample, with the query in the sequence`, "one sample, N times", sampleTail{bernstein, 1, 1}.check()),
}

var thmFiniteStage1StepDisplayCorrectedSpare = []ledger.Spare{spare(`$\epsilon>0$`, "Without it Z means nothing.")}

var thmFiniteStage2Faults = []ledger.Fault{
	spoil("one sample", "0.99 for 1", stageTwoError{exact.Frac(99, 100), exact.Frac(1, 2), 0}.check()),
	spoil("the mean of N samples", "N^-.53", stageTwoError{exact.Frac(1, 1), exact.Frac(53, 100), 0}.check()),
	drop(`the $N$ sequences are independent`, "one sample, N times",
		stageTwoError{exact.Frac(1, 1), exact.Frac(1, 2), 1}.check()),
}

var thmFiniteStage2Spare = []ledger.Spare{spare(`$\epsilon>0$`, "Without it the loss may be infinite.")}

var thmFiniteStage2StepExponentRepairs = []ledger.Repair{repair("e^beta0 - 1", exponentOrder(shiftOfPrediction))}

var thmFiniteStage2StepExponentCorrectedFaults = []ledger.Fault{
	spoil("the shift", "0.24 (e^beta0 - 1)", predictionShift("24/100", "3/2", "3/2")),
	spoil("the rate", "T_eff^-1.6", predictionShift("1/4", "3/2", "8/5")),
	drop(`$0\le\beta_0\le T_{\mathrm{eff}}^{-3/2}$`, "beta0 = T_eff^-1.4", predictionShift("1/4", "7/5", "3/2")),
}

var thmFiniteStage2Step1Repairs = []ledger.Repair{
	repair("half of the l1 norm",
		sumOfDeltas(func(u exact.Vector) *big.Rat { return exact.Quo(exact.Norm1(u), exact.Frac(2, 1)) })),
}

var thmFiniteStage2Step1CorrectedFaults = []ledger.Fault{
	spoil("the sum", "0.49 for 1/2", predictorChain("49/100", "1", "1", "1")),
	spoil("the l1 norm", "0.99 of the distance", predictorChain("1/2", "99/100", "1", "1")),
	spoil("the end", "0.99 of the largest entry", predictorChain("1/2", "1", "99/100", "1")),
	drop(rowsOfAttention, "rows of sum 2", predictorChain("1/2", "1", "1", "2")),
}

var thmFiniteStage2Step2Faults = []ledger.Fault{fault("0.49 for 1/2", largestShift(exact.Frac(49, 100)))}

var thmFiniteStage2Step2Spare = []ledger.Spare{spare(`$z,z'\in\mathbb R^T$`, "All vectors.")}

var thmFiniteStage2Step3Faults = []ledger.Fault{
	fault("0.99 of the bound", attended(exact.Frac(99, 100), exact.Frac(1, 1))),
	drop(rowsOfAttention, "rows of sum 2", attended(exact.Frac(1, 1), exact.Frac(2, 1))),
}

var claimSampleSizeRepairs = []ledger.Repair{repair("roots other than T", rootSamples(exact.OwnRoot))}

var claimSampleSizeCorrectedFaults = []ledger.Fault{
	spoil("as many suffice", "T_eff^.95 log(2T^2/delta)", enoughSamples("95/100", "19/20", exact.OwnRoot, pullToward...)),
	spoil("roots other than T", "row T among them", enoughSamples("1", "19/20", exact.Query, pullToward...)),
	spoil("fewer do not", "fewer is as many, a = 0", enoughSamples("1", "1", exact.OwnRoot, pullToward...)),
	drop(assumption1, "a prior of mean trace 27/20", enoughSamples("1", "19/20", exact.OwnRoot, offTrace)),
}

var claimSampleSizeCorrectedSpare = []ledger.Spare{
	spare(smallEps,
		"For a larger ε up to 1 the first part is true as it is; the second compares with that of Lemma 6."),
	spare(querySamples, "The mean of the samples is ĝ in this reading (thm-finite-stage1-step-mean-corrected)."),
}
