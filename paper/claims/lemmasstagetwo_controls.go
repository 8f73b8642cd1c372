package claims

import (
	"math"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
)

// This file has the planted faults of the claims in lemmasstagetwo.go.

var lemCompareShiftFaults = []ledger.Fault{
	fault("10(1+beta) is taken to be 19/10 (1+beta)",
		scoreGradientAtMost(exact.Frac(19, 10), exact.Frac(19, 10), 1, 1)),
	drop(`$\beta\ge0$`, "beta < 0", scoreGradientAtMost(exact.Frac(10, 1), exact.Frac(10, 1), -1, 1)),
	drop(`$z\in[0,1]^T$`, "z up to 40", scoreGradientAtMost(exact.Frac(10, 1), exact.Frac(10, 1), 1, 40)),
}

var lemCompareShiftSharpFaults = []ledger.Fault{
	fault("2 is taken to be 19/10", scoreGradientAtMost(exact.Frac(19, 10), exact.Frac(1, 1), 1, 1)),
	fault("the slope 1 in beta is taken to be 19/20",
		scoreGradientAtMost(exact.Frac(2, 1), exact.Frac(19, 20), 1, 1)),
	drop(`$\beta\ge0$`, "beta < 0", scoreGradientAtMost(exact.Frac(2, 1), exact.Frac(1, 1), -1, 1)),
	drop(`$z\in[0,1]^T$`, "z up to 2", scoreGradientAtMost(exact.Frac(2, 1), exact.Frac(1, 1), 1, 2)),
}

var epsilonSpare = []ledger.Spare{
	spare(`$\epsilon>0$`, "true at epsilon = 0 as well where some token is s'; where none is, q means nothing"),
}

var lemGradJFaults = []ledger.Fault{
	spoil("the formula", "the term (S^T u) J w is left out of the formula",
		gradientOfJacobian(gradientWithoutLastTerm, 2, 4, 0)),
	spoil("the formula", "the term (S^T w) J u is left out of the formula",
		gradientOfJacobian(func(p, u, w exact.Vector) exact.Vector {
			return exact.SubScaled(exact.Jacobian(p, exact.Hadamard(u, w)), exact.Dot(p, u), exact.Jacobian(p, w))
		}, 2, 4, 0)),
	spoil("the bound", "2 is taken to be 19/10", gradientOfJacobian(gradientOfForm, 1.9, 4, 0)),
	spoil("the bound", "4 is taken to be 39/10", gradientOfJacobian(gradientOfForm, 2, 3.9, 0)),
	drop(`$u,w\ge0$`, "entries of u and w down to -1", gradientOfJacobian(gradientOfForm, 2, 4, -1)),
}

var lemConcentrateE3Faults = append(concentrationFaults(e3Concentration),
	spoil(withConstants, "no term for the roots", e3Concentration.without(2)))

var lemConcentrateE12Faults = append(concentrationFaults(e12Concentration),
	spoil(withConstants, "no term for the roots", e12Concentration.without(4)))

var lemFToPiFaults = append(concentrationFaults(fConcentration), []ledger.Fault{
	spoil(theOrder, "without e^(-beta gamma)", withLimit(fConcentration, func(c setting) float64 { return c.p })),
	spoil(withConstants, "no term for the roots", fConcentration.without(4)),
	spoil(withConstants, "e^(-2 beta) for e^(-2 beta (1-mu))", withBias(fConcentration, func(c setting) float64 {
		return math.Pow((c.muTo-c.p)*num.Exp(-c.beta)/((1-c.r)*c.mu), 2)
	})),
	spoil(withConstants, "the limit is larger by a fiftieth", largerLimit(fConcentration, 1.02)),
	spoil(tailOfF, "the threshold 1/2 for gamma^3/(2 S^2)", withThreshold(fConcentration, 0.5)),
}...)

// concentrationFaults returns the faults that Lemmas 30 to 32 share: a wrong limit, a
// wrong order and wrong rows of A1.
func concentrationFaults(q convergence) []ledger.Fault {
	rate, roots, children := q, q, q
	rate.order = func(c setting) float64 { return q.order(c) * math.Pow(c.teff, -1.5) }
	roots.roots = rootsOnThemself
	children.astray = true
	return []ledger.Fault{
		spoil(theOrder, "the limit is larger by a tenth", largerLimit(q, 1.1)),
		spoil(theOrder, "T_eff^(-2) for T_eff^(-1/2)", rate.check),
		drop(rootsAverages, "roots attend to themselves", roots.check),
		drop(childrenPoint, "positions with a parent attend to position 1", children.check),
	}
}
