package mainresults

import (
	"fmt"
	"math"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// The parts and hypotheses of Theorem 2.
const (
	partError    = "the prediction is near with probability 0.99"
	assumedChain = `$\min\tilde\pi\ge\gamma/S$`
	assumedTheta = `$\hat\theta$ as in Theorem 1`
)

var thmOOD = ledger.Claim{
	ID: "thm-ood", Number: "Theorem 2", Title: "Out of distribution", Slow: true,
	Statement: `with probability $0.99$: ` +
		`$\sup_{s'}|f_{\hat\theta}(s_{1:T})_{s'}-\tilde\pi(s'\mid s_T)|` +
		`\lesssim\frac{\log T}{T_{\mathrm{eff}}^{c\gamma}}$`,
	Parts:      []string{partError, partRate},
	Hypotheses: assumedChain + "; " + assumedTheta + "; " + assumedLength, Tried: oodTried + `; $c=1/24$`,
	Uses:    []string{"thm-main", "lem-f-to-pi", "thm-ood-step-root"},
	OnPaper: []string{"thm-ood-corrected"},
	Check: statedOOD().check("As printed the theorem speaks of the trained model of Theorem 1 (thm-main), which may " +
		"be untrained in stage 2 (thm-main-step-epsilon); here it is trained at epsilon = T_eff^(-1/2). " +
		attentionKept),
	Faults: oodFaults(),
	Spare:  []ledger.Spare{ledger.Spared(assumedLength, "it is that of Theorem 1, and tried there")},
	Correction: &ledger.Claim{
		ID: "thm-ood-corrected", Title: "Out of distribution, with the model of the corrected Theorem 1", Slow: true,
		Statement: `with probability $0.99$: ` +
			`$\sup_{s'}|f_{\hat\theta}(s_{1:T})_{s'}-\tilde\pi(s'\mid s_T)|` +
			fmt.Sprintf(`\le%d\,S^{3/2}\gamma^{-2}C_{\gamma,S}^{-\gamma/2}`, strangerConstant) +
			`\big(\frac{\log^2T}{T_{\mathrm{eff}}}\big)^{\gamma/24}$ ` +
			`for the $\hat\theta$ of Theorem 1 at $\epsilon=T_{\mathrm{eff}}^{-1/2}$`,
		Parts:      []string{partError, partRate},
		Hypotheses: assumedChain + "; " + assumedTheta + "; " + assumedLength, Tried: oodTried,
		Uses: []string{
			"thm-main-corrected", "thm-main-step-bias", "lem-f-to-pi", "lem-muhat-var", "lem-chat-var-corrected",
			"lem-mu-lower",
		},
		OnPaper: []string{"thm-ood-corrected"},
		Check: statedOOD().check("What is trained is compared with w max |mu - pi| of thm-main-step-bias at beta*, and " +
			"what the frequencies of a row miss with probability 0.01, were they normal. " + attentionKept),
		Faults: oodFaults(),
		Spare:  []ledger.Spare{ledger.Spared(assumedLength, "it is that of Theorem 1, and tried there")},
	},
}

const oodTried = `decided at the lengths of Theorem 1 under two $\pi$ of its priors and one outside, by Chebyshev's inequality ` +
	`and Lemma 32 with constants; the trained model of Theorem 1 on the chain over two states with $T=512$ and two ` +
	`$\tilde\pi$ outside of the support of its prior, where the probability is a finite sum`

// An oodClaim has the training and the numbers of the theorem; its training.fall is the
// exponent of the rate over gamma.
type oodClaim struct {
	training
	part   float64     // factor of the bound on the error
	unseen [][]float64 // pi~ over two states
}

// statedOOD is the theorem on chains outside the support of the prior of the training,
// with entries that are not below the prior's.
func statedOOD() oodClaim {
	stated := asStated().with(onChains).with(func(t *training) { t.fall = 1. / 24 })
	return oodClaim{stated, 1, [][]float64{{0.2, 0.8, 0.7, 0.3}, {0.75, 0.25, 0.35, 0.65}}}
}

func oodFaults() []ledger.Fault {
	spoilt := func(spoil func(q *oodClaim)) ledger.Check {
		q := statedOOD()
		spoil(&q)
		return q.check("")
	}
	return []ledger.Fault{
		ledger.PlantIn(partError, "half of the distance", spoilt(func(q *oodClaim) { q.part = 0.5 })),
		ledger.PlantIn(partRate, "the exponent gamma/22", spoilt(func(q *oodClaim) { q.fall = 1. / 22 })),
		ledger.PlantIn(partRate, "the exponent gamma", spoilt(func(q *oodClaim) { q.fall = 1 })),
		ledger.PlantIn(partRate, "the exponent 1/2", spoilt(func(q *oodClaim) { q.fall = 0.5 / rateGamma })),
		ledger.Drop(assumedChain, "a state of stationary probability 1/300", spoilt(func(q *oodClaim) {
			q.unseen = [][]float64{{0.998, 0.002, 0.6, 0.4}}
		})),
		ledger.Drop(assumedTheta, "no stage 2", spoilt(func(q *oodClaim) { q.rate = 0 })),
	}
}

// check bounds the probability that the error of a trained model exceeds the bound, and compares the rate.
func (q oodClaim) check(note string) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		var runs ledger.Worst
		for _, prior := range q.priors {
			for _, pi := range q.unseen {
				if e.Err() != nil {
					return ""
				}
				q.run(e, "chain", 512, prior).compareError(&runs, theory.MustChain(pi, 2), q.part)
			}
		}
		compareErrorRate(w, q.fall)
		farErrors(w, q.fall, append(instruments.FarLengths(120, 300, 600), unseenLengths...)...)
		w.Count(&runs)
		if runs.Failed() {
			return note
		}
		return note + "The sides of the rate are logarithms."
	}
}

// compareError bounds, for one trained model on a chain over two states and another pi, the probability that
// the error exceeds part times the bound.
func (r *mainRun) compareError(w *ledger.Worst, c *theory.Chain, part float64) {
	far := func(s int) float64 { return part * r.errorBound(c, s) }
	w.AtMostInterval(r.pairs(c).missed(r.beta, far), exact.Point(exact.Frac(1, 100)), func() ledger.Instance {
		return r.Instance().With("pi~", ledger.Grid(c.Pi.RawMatrix().Data, c.S)).With("beta at the end", r.beta).
			With("bound for state 1", far(0))
	})
}

// normalTail is the number of standard deviations that a normal error exceeds with probability 0.01.
const normalTail = 2.5758293035

// errorBound bounds the error of the prediction for the query s over two states: the weight of mu in the limit
// times |pi - mu|, plus normalTail standard deviations of a row's frequencies.
func (r *mainRun) errorBound(c *theory.Chain, s int) float64 {
	mu, p := max(c.Mu[s], theory.Gamma(r.Prior)/2), c.Pi.At(s, 0)
	sampling := normalTail * math.Sqrt(p*(1-p)/(mu*(1-r.r)*float64(r.T)))
	return float64(theory.MixtureWeight(mu, r.r, r.betaStar)*math.Abs(p-c.Mu[0])) + sampling
}

// compareErrorRate decides the logarithm of the bound for the largest w_s at beta*, for a chain with a state of
// measure 18/19 and a tenth of positions with a parent.
func compareErrorRate(w *ledger.Worst, fall float64) {
	c := exact.Rats("19/20 1/20; 9/10 1/10")
	const gamma = rateGamma
	mu := exact.MustStationary(c).Floats()
	for k := 0; k <= 60_000; k += 5000 {
		x := float64(k) * math.Ln10
		weight := 0.0
		for _, m := range mu {
			weight = max(weight, theory.MixtureWeight(m, 1-gamma, max(x/12+instruments.LogRange(gamma, 2), 0)))
		}
		w.AtMostRounded(num.Log(weight), logErrorBound(gamma, 2, -x, fall), 1e-6, func() ledger.Instance {
			return ledger.Instance{"pi": c, "gamma": gamma, "r": 1 - gamma, "log10 of T_eff/log^2 T": k}
		})
	}
}

// strangerConstant is the constant of the bound of thm-ood-corrected.
const strangerConstant = 15

// unseenLengths are lengths under a matrix that no prior of instruments.FarLengths contains, with their least gamma.
var unseenLengths = []instruments.FarLength{
	{Pi: exact.Rats("1/5 4/5; 7/10 3/10"), InPairs: false, Power: 300},
	{Pi: exact.Rats("1/5 4/5; 7/10 3/10"), InPairs: true, Power: 600},
}

// logErrorBound returns the logarithm of 15 S^(3/2) gamma^-2 C^(-gamma/2) y^(fall gamma), see logLossBound.
func logErrorBound(gamma, s, logY, fall float64) float64 {
	return num.Log(strangerConstant) + 1.5*num.Log(s) - 2*num.Log(gamma) - gamma/2*instruments.LogRange(gamma, s) +
		fall*gamma*logY
}

// farErrors decides P(sup |f - pi(.|s)| > 15 S^(3/2) gamma^-2 C^(-gamma/2) y^(fall gamma)) <= 1/100 by Chebyshev's
// inequality: about zero from above, and about the limit of f from below.
func farErrors(w *ledger.Worst, fall float64, lengths ...instruments.FarLength) {
	for _, c := range lengths {
		q, logY, betas := c.Ends()
		pi := c.Chain()
		bound := num.Exp(logErrorBound(q.Gamma, float64(pi.S), logY, fall))
		for k := range 2 * pi.S {
			if s, beta := k/2, betas[k%2]; betas[0] >= 0 {
				bias, off := c.Errors(s, beta)
				_, square := c.SquareError(s, beta)
				least := 0.0
				for to, b := range bias {
					if gap := b - bound; gap > off[to] {
						least = max(least, 1-math.Pow(off[to]/gap, 2))
					}
				}
				most := max(least, min(1, square/bound/bound))
				w.AtMostInterval(instruments.Around(least, most), exact.Point(exact.Frac(1, 100)), func() ledger.Instance {
					return c.Instance().With("s", s+1).With("beta", beta)
				})
			}
		}
	}
}
