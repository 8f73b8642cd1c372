package mainresults

import (
	"math"
	"slices"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
)

// The parts and hypotheses of Theorem 2.
const (
	assumedChain = `$\min\tilde\pi\ge\gamma/S$`
	assumedTheta = `$\hat\theta$ as in Theorem 1`
)

var oodSpares = []ledger.Spare{
	ledger.Spared(assumedLength, "it is that of Theorem 1"),
	ledger.Spared(assumedChain, "gamma is that of the matrix at these lengths; see thm-ood-step-runs-corrected"),
}

var thmOOD = ledger.Claim{
	ID: "thm-ood", Number: "Theorem 2", Title: "Out of distribution",
	Statement: `with probability $0.99$: ` +
		`$\sup_{s'}|f_{\hat\theta}(s_{1:T})_{s'}-\tilde\pi(s'\mid s_T)|` +
		`\lesssim\frac{\log T}{T_{\mathrm{eff}}^{c\gamma}}$`,
	Hypotheses: assumedChain + "; " + assumedTheta + "; " + assumedLength, Tried: oodTried + `; $c=1/24$`,
	Read:    `the $\epsilon=T_{\mathrm{eff}}^{-1/2}$ of Appendix D.2 in the training of its model`,
	Uses:    []string{"thm-main", "lem-f-to-pi", "thm-ood-step-root"},
	OnPaper: []string{"thm-ood-corrected", "thm-main-step-horizon-corrected"},
	Check: farStranger(1./24, 1, "Theorem 1 (thm-main) lets epsilon be chosen, and with epsilon = 1 its first conclusion "+
		"holds without stage 2 (thm-main-step-epsilon). For T_eff below C^(-12) log^2 T the bound exceeds 1 "+
		"(thm-main-step-horizon-corrected). "+attentionKept+
		"Decided with the constants of the corrected theorem. "+oodUnresolved).Repaired(),
	Faults: []ledger.Fault{
		ledger.Plant("the exponent gamma", farStranger(1, 1, "").Repaired()),
		ledger.Drop(assumedTheta, "no stage 2", farStranger(1./24, 0, "").Repaired()),
	},
	Spare: oodSpares,
	Correction: &ledger.Claim{
		ID: "thm-ood-corrected", Title: "Out of distribution, with the model of the corrected Theorem 1",
		Statement: `with probability $0.99$: ` +
			`$\sup_{s'}|f_{\hat\theta}(s_{1:T})_{s'}-\tilde\pi(s'\mid s_T)|` +
			`\le\bound{15\,S^{3/2}\gamma^{-2}}C_{\gamma,S}^{-\gamma/2}` +
			`\big(\frac{\log^2T}{T_{\mathrm{eff}}}\big)^{\gamma/24}$ ` +
			`for the $\hat\theta$ of Theorem 1 at $\epsilon=T_{\mathrm{eff}}^{-1/2}$`,
		Hypotheses: assumedChain + "; " + assumedTheta + "; " + assumedLength, Tried: oodTried,
		Uses: []string{
			"thm-main-corrected", "thm-main-step-bias", "lem-f-to-pi", "lem-muhat-var", "lem-chat-var-corrected",
			"lem-mu-lower",
		},
		OnPaper: []string{"thm-ood-corrected"},
		Check:   farStranger(1./24, 1, "Trained runs are no instances. "+attentionKept+oodUnresolved),
		Faults: []ledger.Fault{
			ledger.Plant("the exponent gamma", farStranger(1, 1, "")),
			ledger.Drop(assumedTheta, "no stage 2", farStranger(1./24, 0, "")),
		},
		Spare: oodSpares,
	},
}

const oodTried = `the lengths of Theorem 1 under two $\pi$ of its priors, one outside and 200 random ones, by Chebyshev's inequality ` +
	`and Lemma 32 with constants. An instance is trivial where the bound exceeds the error of the uniform guess`

// farStranger decides Theorem 2 with the exponent fall gamma, at the given part of beta*.
func farStranger(fall, part float64, note string) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		drawn := instruments.DrawFarLengths(e.Stream("far"), e.Budget(200, 10), 640)
		farErrors(e, w, fall, part, slices.Concat(instruments.FarLengths(farPowers...), unseenLengths, drawn)...)
		return note
	}
}

// unseenLengths are lengths under a matrix that no prior of instruments.FarLengths contains, with their least gamma.
var unseenLengths = []instruments.FarLength{
	{Pi: exact.Rats("1/5 4/5; 7/10 3/10"), InPairs: false, Power: 540},
	{Pi: exact.Rats("1/5 4/5; 7/10 3/10"), InPairs: true, Power: 640},
}

// logErrorBound returns the logarithm of 15 S^(3/2) gamma^-2 C^(-gamma/2) y^(fall gamma), see logLossBound.
func logErrorBound(b ledger.Bound, gamma, s, logY, fall float64) float64 {
	front := b.Float(ledger.At[float64]{"S": s, `\gamma`: gamma})
	return num.Log(front) - gamma/2*instruments.LogRange(gamma, s) + fall*gamma*logY
}

// farErrors decides P(sup |f - pi(.|s)| > 15 S^(3/2) gamma^-2 C^(-gamma/2) y^(fall gamma)) <= 1/100 at the given part
// of both ends of stage 2, by Chebyshev's inequality: about zero from above, and about the limit of f from below.
func farErrors(e *ledger.Env, w *ledger.Worst, fall, part float64, lengths ...instruments.FarLength) {
	for _, c := range lengths {
		q, logY, betas := c.Ends()
		pi := c.Chain()
		bound := num.Exp(logErrorBound(e.Bound(0), q.Gamma, float64(pi.S), logY, fall))
		for k := range 2 * pi.S {
			s, beta := k/2, part*betas[k%2]
			bias, off := c.Errors(s, beta)
			_, square := c.SquareError(s, beta)
			least, guess := 0.0, 0.0
			for to, b := range bias {
				guess = max(guess, math.Abs(pi.Pi.At(s, to)-1/float64(pi.S)))
				if gap := b - bound; gap > off[to] {
					least = max(least, 1-math.Pow(off[to]/gap, 2))
				}
			}
			if bound >= guess {
				w.UpTo(0.01) // the uniform guess meets the bound
			}
			most := max(least, min(1, square/bound/bound))
			w.AtMostInterval(instruments.Around(least, most), exact.Point(exact.Frac(1, 100)), func() ledger.Instance {
				return c.Instance().With("s", s+1).With("beta", beta)
			})
		}
	}
}
