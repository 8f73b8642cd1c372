package claims

import (
	"fmt"
	"math"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
)

const (
	lossConstant     = 20 // thm-main-corrected
	strangerConstant = 15 // thm-ood-corrected
)

// unseenLengths are lengths under a matrix that no prior of farLengths contains, with their least gamma.
var unseenLengths = []farLength{
	{exact.Rats("1/5 4/5; 7/10 3/10"), false, 300}, {exact.Rats("1/5 4/5; 7/10 3/10"), true, 600},
}

// logLossBound returns the logarithm of 20 S^5 gamma^-7 C^-gamma y^(fall gamma) for y = log^2 T/T_eff,
// logErrorBound of 15 S^(3/2) gamma^-2 C^(-gamma/2) y^(fall gamma), with 1/C = 10 S^(7/2) gamma^(-9/2).
func logLossBound(gamma, s, logY, fall float64) float64 {
	return num.Log(lossConstant) + 5*num.Log(s) - 7*num.Log(gamma) - gamma*logRange(gamma, s) + fall*gamma*logY
}

func logErrorBound(gamma, s, logY, fall float64) float64 {
	return num.Log(strangerConstant) + 1.5*num.Log(s) - 2*num.Log(gamma) - gamma/2*logRange(gamma, s) + fall*gamma*logY
}

// farLosses decides excess <= 20 S^5 gamma^-7 C^-gamma y^(fall gamma) at the ends of stage 2.
func farLosses(w *ledger.Worst, fall float64, lengths ...farLength) {
	for _, c := range lengths {
		q, logY, betas := c.ends()
		bound := num.Exp(logLossBound(q.gamma, float64(len(c.pi)), logY, fall))
		for _, beta := range betas {
			if betas[0] >= 0 {
				w.AtMostInterval(c.excess(beta), around(bound, bound), func() ledger.Instance {
					return c.instance().With("beta", beta)
				})
			}
		}
	}
}

// farErrors decides P(sup |f - pi(.|s)| > 15 S^(3/2) gamma^-2 C^(-gamma/2) y^(fall gamma)) <= 1/100 by Chebyshev's
// inequality: about zero from above, and about the limit of f from below.
func farErrors(w *ledger.Worst, fall float64, lengths ...farLength) {
	for _, c := range lengths {
		q, logY, betas := c.ends()
		pi := c.chain()
		bound := num.Exp(logErrorBound(q.gamma, float64(pi.S), logY, fall))
		for k := range 2 * pi.S {
			if s, beta := k/2, betas[k%2]; betas[0] >= 0 {
				bias, off := c.errors(s, beta)
				_, square := c.squareError(s, beta)
				least := 0.0
				for to, b := range bias {
					if gap := b - bound; gap > off[to] {
						least = max(least, 1-math.Pow(off[to]/gap, 2))
					}
				}
				most := max(least, min(1, square/bound/bound))
				w.AtMostInterval(around(least, most), exact.Point(exact.Frac(1, 100)), func() ledger.Instance {
					return c.instance().With("s", s+1).With("beta", beta)
				})
			}
		}
	}
}

// farTimes decides that the tau1 of farLength is enough for attention 1-1/T to the parent, by the time of Lemma 8
// on in-context graphs with 3^power positions, at eta1 beta0 = T and beta0 = T^(-2).
func farTimes(w *ledger.Worst, powers ...int) {
	bases, gamma := []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")}, exact.Frac(2, 5)
	for _, power := range powers {
		root := exact.Pow(exact.Int(3), power/2)
		t := exact.Mul(root, root)
		lead := exact.NewStageOne(root, exact.Inv(root), bases...).Gap(exact.OwnChild, exact.OwnRoot).Lo
		enough := around(math.NaN(), 0) // undecided
		if lead.Sign() > 0 {
			enough = exact.TimeBound(exact.Inv(t), t, exact.Quo(lead, exact.Int(2)), exact.Int(1))
		}
		tau := exact.Point(exact.Mul(exact.Quo(exact.Int(16*8), exact.Pow(gamma, 3)), t)).Mul(exact.Point(t).Log())
		w.AtMostInterval(enough, tau, func() ledger.Instance {
			return ledger.Instance{"T": fmt.Sprintf("3^%d", power), "graph": "in-context", "orbits": bases}
		})
	}
}
