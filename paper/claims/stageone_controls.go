package claims

import (
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// This file has the planted faults and the repairs of the claims in stageone.go.

var thmStageOneRootsRepairs = []ledger.Repair{{
	What:  "roots other than T",
	Check: rootForce(exact.OwnRoot, pullAway, inverse, nil, candidateConstants...),
}}

var thmStageOneRootsCorrectedFaults = []ledger.Fault{
	{
		What: rateInFault, Part: otherRoots,
		Check: rootForce(exact.OwnRoot, pullAway, inverse, exact.Frac(13, 20), gradientConstant(pullAway, 2)),
	},
	{
		What: "row T among them", Part: otherRoots,
		Check: rootForce(exact.Query, pullAway, inverse, nil, gradientConstant(pullAway, 2)),
	},
	{
		What: "a third for a half, as without the query in the sequence", Part: queryRow,
		Check: decided(func(w *ledger.Worst) { decideQueryForce(w, exact.Frac(1, 3)) }),
	},
	{
		What: "eps = 1/10", Drops: smallEps,
		Check: rootForce(exact.OwnRoot, pullAway, func(*big.Rat) *big.Rat { return exact.Frac(1, 10) }, nil,
			gradientConstant(pullAway, 2)),
	},
	{
		What: "a prior of mean trace 27/20", Drops: meanOfPi,
		Check: rootForce(exact.OwnRoot, offTrace, inverse, nil, gradientConstant(pullAway, 2)),
	},
	{
		What: "gamma = 9/10 for a matrix with entries far below 3/10", Drops: floorOfPi,
		Check: rootForce(exact.OwnRoot, lightThird, inverse, nil, exact.Frac(35*9*100, 81)),
	},
}

var thmStageOneParentsRepairs = []ledger.Repair{{
	What: "attention is largest at the parent", Check: gapOnAChain(parentLeads),
}}

var thmStageOneParentsCorrectedFaults = []ledger.Fault{
	{
		What: "gamma^3/(4S) in place of gamma^3/(2S^2)", Part: gapPart,
		Check: longGap(func(s int64, gamma *big.Rat) *big.Rat {
			return exact.Quo(exact.Pow(gamma, 3), exact.Frac(4*s, 1))
		}, inverse, exact.Frac(6, 25), fourteenStates),
	},
	{
		What: "S_p for S_p (1 - S_p)", Part: softmaxPart,
		Check: decided(func(w *ledger.Worst) {
			decideSteps(w, parentLeads, func(p *big.Rat) *big.Rat { return p })
		}),
	},
	{
		What: "attention may lead elsewhere", Drops: parentLeader,
		Check: decided(func(w *ledger.Worst) { decideSteps(w, anyAttention, oneMinusItself) }),
	},
	{
		What: "stars, where T_eff < 2", Drops: longEnough,
		Check: func(e *ledger.Env) ledger.Finding {
			var w ledger.Worst
			decideGaps(e, &w, gapOfParent, []string{"star"})
			return w.Finding("")
		},
	},
	{
		What: "eps = 10^6", Drops: smallEps,
		Check: longGap(gapOfParent, func(*big.Rat) *big.Rat { return exact.Frac(1000000, 1) },
			exact.Frac(7, 50), pullAway),
	},
	{
		What: "a chain that mixes in one step", Drops: assumption1,
		Check: longGap(gapOfParent, inverse, exact.Frac(7, 50), exact.Rats("1/3 1/3 1/3; 1/3 1/3 1/3; 1/3 1/3 1/3")),
	},
}

// longGap decides the gap of g* under one matrix pi.
func longGap(
	bound func(s int64, gamma *big.Rat) *big.Rat, eps func(root *big.Rat) *big.Rat, gamma *big.Rat, pi exact.Matrix,
) ledger.Check {
	return decided(func(w *ledger.Worst) { decideLongGap(w, bound, eps, gamma, pi) })
}

var lemNoParentsRepairs = []ledger.Repair{{
	What: "other roots, while 4 tau eta1 |v| <= i", Check: rootDrift{lateRootRests, runawayTime, linearInTime}.check,
}}

var lemNoParentsCorrectedFaults = []ledger.Fault{
	{What: "7/2 for 4 in the bound", Check: driftBound{constant: 3.5, until: 4}.check},
	{What: "up to 7 tau eta1 V/2 = i", Drops: fewEnough, Check: driftBound{constant: 4, until: 3.5}.check},
	{
		What: "A(0) with 1/100 at one position", Drops: fromZero,
		Check: driftBound{constant: 4, until: 4, start: 0.01}.check,
	},
	{What: "|v| <= 11 V/10", Drops: sizeOfV, Check: driftBound{constant: 4, until: 4, excess: 0.1}.check},
}

var lemNoParentsStepJacobianRepairs = []ledger.Repair{{
	What: "twice the right side", Check: jacobianSizes(sumOne, normByNorm),
}}

var lemNoParentsStepJacobianCorrectedFaults = []ledger.Fault{
	{
		What: "9/10 of the spread", Part: spreadPart,
		Check: jacobianSizes(sumOne, jacobianSize{spanSeminorm, spanSeminorm, exact.Frac(9, 10)}),
	},
	{
		What: "9/5 for 2", Part: twicePart,
		Check: jacobianSizes(sumOne, jacobianSize{spanSeminorm, supNorm, exact.Frac(9, 5)}),
	},
	{
		What: "7/5 for 2", Part: normPart,
		Check: jacobianSizes(sumOne, jacobianSize{supNorm, supNorm, exact.Frac(7, 5)}),
	},
	{
		What: "a sum of 3/2", Drops: `$p$ is a distribution`,
		Check: jacobianSizes(exact.Frac(3, 2), spreadBySpread, spreadByNorm, normByNorm),
	},
}

var lemA1DynamicsFaults = []ledger.Fault{
	{What: "T^(9/5) for T^2", Part: smallSteps, Check: printedTime(exact.Frac(4, 5), exact.Frac(1, 1)).check},
	{
		What: "T alpha^(-4/5) for T alpha^(-1)", Part: smallSteps,
		Check: printedTime(exact.Frac(1, 1), exact.Frac(4, 5)).check,
	},
	{
		What: "a twentieth of the time", Part: anySteps,
		Check: timeOfLemma8.changed(func(steps float64) float64 { return 0.05 * steps }).check,
	},
	{What: "attention at the runner-up never falls", Part: staysPart, Check: timeOfLemma8.watching(1).check},
	{What: "another position with the same gradient", Drops: leadBy, Check: timeOfLemma8.competing(1).check},
}

var lemA1DynamicsSharpFaults = []ledger.Fault{
	{What: "9/10 of 1/alpha + i", Part: smallSteps, Check: sharpTime(0.9, 2, 0.25).check},
	{What: "one logarithm for two", Part: smallSteps, Check: sharpTime(1, 1, 0.25).check},
	{What: "without the exponential", Part: anySteps, Check: sharpTime(1, 2, 0).check},
	{What: "attention at the runner-up never falls", Part: staysPart, Check: sharpTime(1, 2, 0.25).watching(1).check},
	{What: "another position with the same gradient", Drops: leadBy, Check: sharpTime(1, 2, 0.25).competing(1).check},
}

var lemA1DynamicsStepIntegerRepairs = []ledger.Repair{{
	What: "eta1 beta0 = T", Check: stepsOfBound(1, candidateConstants...),
}}

var lemA1DynamicsStepIntegerCorrectedFaults = []ledger.Fault{
	{What: "rounded down", Check: roundedTime(math.Floor, 0)},
	{What: "another position with the same gradient", Drops: leadBy, Check: roundedTime(math.Ceil, 1)},
}

var corStageOneParentsFaults = []ledger.Fault{
	{What: "T^(7/4) log T for T^2 log T", Check: timeToEnd(exact.Frac(3, 4), 1).check},
	{What: "T^(-2) for T^(-1)", Check: timeToEnd(exact.Frac(1, 1), 2).check},
	{
		What: "another position with the same gradient", Drops: leadBy,
		Check: timeToEnd(exact.Frac(1, 1), 1).competing(1).check,
	},
}

var corStageOneRootsRepairs = []ledger.Repair{{
	What:  "roots other than T with i >= K T log T/sqrt(T_eff)",
	Check: rootDrift{lateRootRests, childrenDone, printedAtEnd}.check,
}}

var corStageOneRootsCorrectedFaults = []ledger.Fault{
	{What: "7/2 for 4", Part: driftPart, Check: lateRootEnds(3.5, 4, nil)},
	{What: rateInFault, Part: drivePart, Check: lateRootEnds(4, 4, exact.Frac(13, 20))},
	{What: "the early roots as well", Drops: lateRoot, Check: lateRootEnds(4, 0, nil)},
}
