package claims

import (
	"math"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

// This file has the planted faults and the repairs of the claims in stageone.go.

var thmStageOneRootsRepairs = []ledger.Repair{
	repair("roots other than T", rootForce(exact.OwnRoot, pullAway, inverse, nil, candidateConstants...)),
}

var thmStageOneRootsCorrectedFaults = []ledger.Fault{
	spoil(otherRoots, rateInFault,
		rootForce(exact.OwnRoot, pullAway, inverse, exact.Frac(13, 20), gradientConstant(pullAway, 2))),
	spoil(otherRoots, "row T among them",
		rootForce(exact.Query, pullAway, inverse, nil, gradientConstant(pullAway, 2))),
	spoil(queryRow, "a third for a half, as without the query in the sequence",
		decided(func(w *ledger.Worst) { decideQueryForce(w, exact.Frac(1, 3)) })),
	drop(smallEps, "eps = 1/10",
		rootForce(exact.OwnRoot, pullAway, func(*big.Rat) *big.Rat { return exact.Frac(1, 10) }, nil,
			gradientConstant(pullAway, 2))),
	drop(meanOfPi, "a prior of mean trace 27/20",
		rootForce(exact.OwnRoot, offTrace, inverse, nil, gradientConstant(pullAway, 2))),
	drop(floorOfPi, "gamma = 9/10 for a matrix with entries far below 3/10",
		rootForce(exact.OwnRoot, lightThird, inverse, nil, exact.Frac(35*9*100, 81))),
}

var thmStageOneParentsRepairs = []ledger.Repair{repair("attention is largest at the parent", gapOnAChain(parentLeads))}

var thmStageOneParentsCorrectedFaults = []ledger.Fault{
	spoil(gapPart, "gamma^3/(4S) in place of gamma^3/(2S^2)", longGap(func(s int64, gamma *big.Rat) *big.Rat {
		return exact.Quo(exact.Pow(gamma, 3), exact.Frac(4*s, 1))
	}, inverse, exact.Frac(6, 25), fourteenStates)),
	spoil(softmaxPart, "S_p for S_p (1 - S_p)", decided(func(w *ledger.Worst) {
		decideSteps(w, leads, func(p *big.Rat) *big.Rat { return p })
	})),
	drop(parentLeader, "attention may lead elsewhere",
		decided(func(w *ledger.Worst) { decideSteps(w, func(_, _ *big.Rat) bool { return true }, oneMinusItself) })),
	drop(longEnough, "stars, where T_eff < 2", func(e *ledger.Env) ledger.Finding {
		var w ledger.Worst
		decideGaps(e, &w, gapOfParent, []string{"star"})
		return w.Finding("")
	}),
	drop(smallEps, "eps = 10^6", longGap(gapOfParent, func(*big.Rat) *big.Rat { return exact.Frac(1000000, 1) },
		exact.Frac(7, 50), pullAway)),
	drop(assumption1, "a chain that mixes in one step",
		longGap(gapOfParent, inverse, exact.Frac(7, 50), exact.Rats("1/3 1/3 1/3; 1/3 1/3 1/3; 1/3 1/3 1/3"))),
}

// longGap decides the gap of g* under one matrix pi.
func longGap(
	bound func(s int64, gamma *big.Rat) *big.Rat, eps func(root *big.Rat) *big.Rat, gamma *big.Rat, pi exact.Matrix,
) ledger.Check {
	return decided(func(w *ledger.Worst) { decideLongGap(w, bound, eps, gamma, pi) })
}

var lemNoParentsRepairs = []ledger.Repair{
	repair("other roots, while 4 tau eta1 |v| <= i", rootDrift{lateRootRests, runawayTime, linearInTime}.check),
}

var lemNoParentsCorrectedFaults = []ledger.Fault{
	fault("7/2 for 4 in the bound", driftBound{constant: 3.5, until: 4}.check),
	drop(fewEnough, "up to 7 tau eta1 V/2 = i", driftBound{constant: 4, until: 3.5}.check),
	drop(fromZero, "A(0) with 1/100 at one position", driftBound{constant: 4, until: 4, start: 0.01}.check),
	drop(sizeOfV, "|v| <= 11 V/10", driftBound{constant: 4, until: 4, excess: 0.1}.check),
}

var lemNoParentsStepJacobianRepairs = []ledger.Repair{
	repair("twice the right side", jacobianSizes(sumOne, normByNorm)),
}

var lemNoParentsStepJacobianCorrectedFaults = []ledger.Fault{
	spoil(spreadPart, "9/10 of the spread",
		jacobianSizes(sumOne, jacobianSize{spanSeminorm, spanSeminorm, exact.Frac(9, 10)})),
	spoil(twicePart, "9/5 for 2", jacobianSizes(sumOne, jacobianSize{spanSeminorm, supNorm, exact.Frac(9, 5)})),
	spoil(normPart, "7/5 for 2", jacobianSizes(sumOne, jacobianSize{supNorm, supNorm, exact.Frac(7, 5)})),
	drop(`$p$ is a distribution`, "a sum of 3/2",
		jacobianSizes(exact.Frac(3, 2), spreadBySpread, spreadByNorm, normByNorm)),
}

var lemA1DynamicsFaults = []ledger.Fault{
	spoil(smallSteps, "T^(9/5) for T^2", printedTime(exact.Frac(4, 5), exact.Frac(1, 1)).check),
	spoil(smallSteps, "T alpha^(-4/5) for T alpha^(-1)", printedTime(exact.Frac(1, 1), exact.Frac(4, 5)).check),
	spoil(anySteps, "a twentieth of the time",
		timeOfLemma8.changed(func(steps float64) float64 { return 0.05 * steps }).check),
	spoil(staysPart, "attention at the runner-up never falls", timeOfLemma8.watching(1).check),
	drop(leadBy, "another position with the same gradient", timeOfLemma8.competing(1).check),
}

var lemA1DynamicsSharpFaults = []ledger.Fault{
	spoil(smallSteps, "9/10 of 1/alpha + i", sharpTime(0.9, 2, 0.25).check),
	spoil(smallSteps, "one logarithm for two", sharpTime(1, 1, 0.25).check),
	spoil(anySteps, "without the exponential", sharpTime(1, 2, 0).check),
	spoil(staysPart, "attention at the runner-up never falls", sharpTime(1, 2, 0.25).watching(1).check),
	drop(leadBy, "another position with the same gradient", sharpTime(1, 2, 0.25).competing(1).check),
}

var lemA1DynamicsStepIntegerRepairs = []ledger.Repair{repair("eta1 beta0 = T", stepsOfBound(1, candidateConstants...))}

var lemA1DynamicsStepIntegerCorrectedFaults = []ledger.Fault{
	fault("rounded down", roundedTime(math.Floor, 0)),
	drop(leadBy, "another position with the same gradient", roundedTime(math.Ceil, 1)),
}

var corStageOneParentsFaults = []ledger.Fault{
	fault("T^(7/4) log T for T^2 log T", timeToEnd(exact.Frac(3, 4), 1).check),
	fault("T^(-2) for T^(-1)", timeToEnd(exact.Frac(1, 1), 2).check),
	drop(leadBy, "another position with the same gradient", timeToEnd(exact.Frac(1, 1), 1).competing(1).check),
}

var corStageOneRootsRepairs = []ledger.Repair{
	repair("roots other than T with i >= K T log T/sqrt(T_eff)",
		rootDrift{lateRootRests, childrenDone, printedAtEnd}.check),
}

var corStageOneRootsCorrectedFaults = []ledger.Fault{
	spoil(driftPart, "7/2 for 4", lateRootEnds(3.5, 4, nil)),
	spoil(drivePart, rateInFault, lateRootEnds(4, 4, exact.Frac(13, 20))),
	drop(lateRoot, "the early roots as well", lateRootEnds(4, 0, nil)),
	drop(driveOf, "the trace 27/20", rootForce(exact.OwnRoot, offTrace, inverse, nil, gradientConstant(pullAway, 2))),
}
