package claims

import (
	"fmt"
	"math"

	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// stageTwoLower finds up to which beta -Delta_beta exceeds
// gamma^8 S^-6 e^(-2 beta)/4 by three standard errors, as the constant C in
// exp(beta) = C T_eff^(1/12) log^(-1/6) T, cut at 100. The claim is that some C
// does for all T, so that the largest one does not fall.
func stageTwoLower(e *Env, fault spoil) Finding {
	least, quotient := math.Inf(1), math.Inf(1)
	f := e.overRuns(0, fault, growing, func(r *run) float64 {
		constant := 0.0
		for _, at := range r.Full {
			bound := math.Pow(r.gamma, 8) * math.Pow(float64(r.s), -6) * num.Exp(-2*at.Beta) / 4
			if at.Beta == 0 {
				quotient = min(quotient, -at.DeltaBeta.Mean/bound)
			}
			if !(-at.DeltaBeta.Mean-3*at.DeltaBeta.StdErr > bound) {
				break
			}
			constant = num.Exp(at.Beta - theory.BetaStar(1, r.teff, r.t))
		}
		constant = min(constant, 100)
		least = min(least, constant)
		return 1 / max(constant, 1e-3)
	})
	f.Note += fmt.Sprintf(" LHS and values are those of 1/C, C being the constant in exp(beta*), cut at 100 (where runs reach the cut their values are equal by construction); the least C is %.3g. At beta = 0, -Delta_beta is at least %.3g times the bound.", least, quotient)
	if least < 0.1 {
		f.Verdict, f.Margin = Inconsistent, -1
		f.Note += " Some graph has no growth at all."
	}
	return f
}

// stageTwoDynamics runs beta(t+1) = beta(t) - eta2 Delta_beta with Delta_beta
// interpolated between the beta of the grid, and fits
// tau2 eta2 / (e^(2 beta*) beta*) against T_eff; beta* belongs to C = 2, 8.
func stageTwoDynamics(e *Env, fault spoil) Finding {
	overshoot, most, never := 0.0, 0.0, false
	f := e.overRuns(0, fault, growing, func(r *run) float64 {
		value := 0.0
		for _, constant := range []float64{2, 8} {
			target := theory.BetaStar(constant, r.teff, r.t)
			for _, rate := range []float64{1, 0.25} {
				beta, steps := math.Pow(r.teff, -1.5), 0
				limit := int(1e4 / rate)
				for ; beta < target && steps < limit; steps++ {
					k := min(int(4*beta), 31)
					w := 4*beta - float64(k)
					beta -= float64(rate * (float64((1-w)*r.Full[k].DeltaBeta.Mean) + float64(w*r.Full[k+1].DeltaBeta.Mean)))
					beta = max(beta, 0)
				}
				never = never || beta < target
				overshoot = max(overshoot, beta-target)
				value = max(value, float64(steps)*rate/(num.Exp(2*target)*target))
			}
		}
		most = max(most, value)
		return value
	})
	f.Note += fmt.Sprintf(" tau2 eta2 <= %.3g e^(2 beta*) beta* for C = 2, 8 and eta2 = 1, 1/4; the largest overshoot beyond beta* is %.3g.", most, overshoot)
	if never || overshoot > 1 {
		f.Verdict, f.Margin = Inconsistent, -1
		f.Note += " Some run does not reach beta*, or leaps by more than one."
	}
	return f
}

func growthClaims() []Claim {
	hypotheses := `$A^{(1)}$ after $\tau_1$ of stage 1 at $\beta_0\to0$, $\epsilon=T_{\mathrm{eff}}^{-1/2}$; chains, in-context graphs, spiders; two priors; query in sequence`
	return []Claim{
		{
			ID: "thm-stage2-lower", Title: "beta grows", Section: stageTwoSection,
			Statement:  `$-\Delta_\beta(\theta)\ge\frac14\gamma^8S^{-6}e^{-2\beta}$ for $e^\beta\le C_{\gamma,S}T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$`,
			Hypotheses: hypotheses,
			Uses:       []string{"cor-stage1-parents", "lem-compare-shift", "lem-concentrate-e3", "lem-concentrate-e12", "lem-bound-ghat"},
			Check:      func(e *Env) Finding { return stageTwoLower(e, sound) },
			Fault:      "positions with a parent attend to themselves",
			Faulty:     func(e *Env) Finding { return stageTwoLower(e, toItself) },
		},
		{
			ID: "lem-a2-dynamics", Title: "Stage 2 reaches beta*", Section: stageTwoSection,
			Statement:  `$\beta^*\le\beta(\tau_1+\tau_2)\le1+\beta^*$ for some $\tau_2\lesssim e^{2\beta^*}\beta^*\eta_2^{-1}$`,
			Hypotheses: `$\eta_2\le1$; $\Delta_\beta$ interpolated between multiples of $1/4$; ` + hypotheses,
			Uses:       []string{"thm-stage2-upper", "thm-stage2-lower"},
			Check:      func(e *Env) Finding { return stageTwoDynamics(e, sound) },
			Fault:      "positions with a parent attend to themselves",
			Faulty:     func(e *Env) Finding { return stageTwoDynamics(e, toItself) },
		},
	}
}
