package claims

import (
	"math"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
)

// This file has the planted faults of the claims in lemmasstagetwo.go.

var lemCompareShiftFaults = []ledger.Fault{
	{
		What:  "10(1+beta) is taken to be 19/10 (1+beta)",
		Check: scoreGradientAtMost(exact.Frac(19, 10), exact.Frac(19, 10), 1, 1),
	},
	{What: "beta < 0", Drops: `$\beta\ge0$`, Check: scoreGradientAtMost(exact.Frac(10, 1), exact.Frac(10, 1), -1, 1)},
	{
		What: "z up to 40", Drops: `$z\in[0,1]^T$`,
		Check: scoreGradientAtMost(exact.Frac(10, 1), exact.Frac(10, 1), 1, 40),
	},
}

var lemCompareShiftSharpFaults = []ledger.Fault{
	{What: "2 is taken to be 19/10", Check: scoreGradientAtMost(exact.Frac(19, 10), exact.Frac(1, 1), 1, 1)},
	{
		What:  "the slope 1 in beta is taken to be 19/20",
		Check: scoreGradientAtMost(exact.Frac(2, 1), exact.Frac(19, 20), 1, 1),
	},
	{What: "beta < 0", Drops: `$\beta\ge0$`, Check: scoreGradientAtMost(exact.Frac(2, 1), exact.Frac(1, 1), -1, 1)},
	{What: "z up to 2", Drops: `$z\in[0,1]^T$`, Check: scoreGradientAtMost(exact.Frac(2, 1), exact.Frac(1, 1), 1, 2)},
}

var epsilonSpare = []ledger.Spare{{
	Hypothesis: `$\epsilon>0$`,
	Why:        "true at epsilon = 0 as well where some token is s'; where none is, q means nothing",
}}

var lemGradJFaults = []ledger.Fault{
	{
		What: "the term (S^T u) J w is left out of the formula", Part: "the formula",
		Check: gradientOfJacobian(gradientWithoutLastTerm, 2, 4, 0),
	},
	{
		What: "the term (S^T w) J u is left out of the formula", Part: "the formula",
		Check: gradientOfJacobian(func(p, u, w exact.Vector) exact.Vector {
			return minusScaled(exact.Jacobian(p, entrywise(u, w)), exact.Dot(p, u), exact.Jacobian(p, w))
		}, 2, 4, 0),
	},
	{What: "2 is taken to be 19/10", Part: "the bound", Check: gradientOfJacobian(gradientOfForm, 1.9, 4, 0)},
	{What: "4 is taken to be 39/10", Part: "the bound", Check: gradientOfJacobian(gradientOfForm, 2, 3.9, 0)},
	{What: "entries of u and w down to -1", Drops: `$u,w\ge0$`, Check: gradientOfJacobian(gradientOfForm, 2, 4, -1)},
}

var lemConcentrateE3Faults = append(concentrationFaults(e3Concentration),
	ledger.Fault{What: "no term for the roots", Part: withConstants, Check: e3Concentration.without(2)})

var lemConcentrateE12Faults = append(concentrationFaults(e12Concentration),
	ledger.Fault{What: "no term for the roots", Part: withConstants, Check: e12Concentration.without(4)})

var lemFToPiFaults = append(concentrationFaults(fConcentration), []ledger.Fault{
	{
		What: "without e^(-beta gamma)", Part: theOrder,
		Check: withLimit(fConcentration, func(c setting) float64 { return c.p }),
	},
	{What: "no term for the roots", Part: withConstants, Check: fConcentration.without(4)},
	{
		What: "e^(-2 beta) for e^(-2 beta (1-mu))", Part: withConstants,
		Check: withBias(fConcentration, func(c setting) float64 {
			return math.Pow((c.to-c.p)*num.Exp(-c.beta)/((1-c.r)*c.mu), 2)
		}),
	},
	{What: "the limit is larger by a fiftieth", Part: withConstants, Check: largerLimit(fConcentration, 1.02)},
	{What: "the threshold 1/2 for gamma^3/(4 S^2)", Part: tailOfF, Check: fThreshold(fConcentration, 0.5)},
}...)

// concentrationFaults returns the faults that Lemmas 30 to 32 share: a wrong limit, a
// wrong order and wrong rows of A1.
func concentrationFaults(q convergence) []ledger.Fault {
	rate, roots, children := q, q, q
	rate.order = func(c setting) float64 { return q.order(c) * math.Pow(c.teff, -1.5) }
	roots.roots = rootsOnThemself
	children.astray = true
	return []ledger.Fault{
		{What: "the limit is larger by a tenth", Part: theOrder, Check: largerLimit(q, 1.1)},
		{What: "T_eff^(-2) for T_eff^(-1/2)", Part: theOrder, Check: rate.check},
		{What: "roots attend to themselves", Drops: rootsAverages, Check: roots.check},
		{What: "positions with a parent attend to position 1", Drops: childrenPoint, Check: children.check},
	}
}
