package stageone

import (
	"math/big"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// This file has two steps of the printed proof of Lemma 8: the lead at the end of its first half, and its last line.

var lemA1DynamicsStepLead = ledger.Claim{
	ID: "lem-a1-dynamics-step-lead", Number: "Lemma 8", Kind: ledger.Step,
	Title:      "The lead when attention passes 1/2",
	Statement:  `$\Delta(\tau^+(\frac12))\le\log(2T)$ for every $\eta_1>0$, where $\tau^+(\frac12)$ is the first time with $\mathcal S(A^{(1)}_i)_{p(i)}>\frac12$ and $\Delta$ the lead of the parent over the other positions`,
	Hypotheses: `assumption 1; $\epsilon=T_{\mathrm{eff}}^{-1/2}$; $A^{(1)}(0)=0$; $i\ge2$`,
	Tried:      `row 3 of a chain of four positions, $\eta_1\beta_0=10^3$, query in sequence`,
	Uses:       []string{"lem-nonzero-beta"}, Defect: ledger.Boundary,
	Check: ledger.Decided(leadAtHalf).Noted("At that time S_p is above 1/2 by definition, so that S_p >= 2/3 is no " +
		"contradiction: a large step jumps over both. The same is said at tau^+(alpha), whose definition has < for >=, " +
		"and which is the time 0 as printed. One step earlier both are right, and Lemma 8 is true. The witness has a " +
		"lower bound of the lead after one step, and an upper bound of log(2T). "),
	Correction: &ledger.Claim{
		ID: "lem-a1-dynamics-step-lead-corrected", Title: "The lead before attention passes a level",
		Statement:  `At every time $e^{\Delta}\le \bound{nq}$ with $n=i-1$ and $q=\mathcal S_{p(i)}/(1-\mathcal S_{p(i)})$: so $\Delta(t)\le\log(i-1)$ for $t<\tau^+(\frac12)$, and $\Delta(t)<\log\frac{i-1}\alpha$ while $\mathcal S_{p(i)}<1-\alpha$`,
		Hypotheses: `$i\ge2$`, Tried: `softmaxes of two to five positions with the weights 1, 7 and 49`,
		Check: leadOfAttention(),
		Spare: []ledger.Spare{ledger.Spared(`$i\ge2$`, "A row of one position has no lead.")},
	},
}

// leadAtHalf decides the lead after the first step, at which attention passes 1/2.
func leadAtHalf(w *ledger.Worst) {
	g, eps, beta0, rate := graph.Chain(4), exact.Frac(1, 2), exact.Frac(1, 1_000_000), exact.Int(1_000_000_000)
	prior := []exact.Matrix{exact.Rats("4/5 1/5; 1/5 4/5"), exact.Rats("1/5 4/5; 4/5 1/5")}
	ghat := instruments.ExactPopulation(g, eps, theory.QueryInSequence, prior...).GHat(2)
	gap := exact.Sub(ghat[1], ghat[0])
	if other := exact.Sub(ghat[1], ghat[2]); other.Cmp(gap) < 0 {
		gap = other
	}
	// Lemma 23: g* is within 6 S^2 beta0/eps^2 of ghat.
	gap = exact.Sub(gap, exact.Quo(exact.Mul(exact.Int(48), beta0), exact.Pow(eps, 2)))
	lead := exact.Quo(exact.Mul(gap, exact.Mul(rate, beta0)), exact.Int(2*4*3)) // over S T i
	bound := exact.Point(exact.Int(8)).Log()
	instruments.Decide(w, exact.Point(lead), bound, func() ledger.Instance {
		return ledger.Instance{"graph": g, "prior": prior, "eps": eps, "i": 3, "eta1": rate, "beta0": beta0}
	})
}

// leadOfAttention decides exp(lead) <= (i-1) S_p/(1-S_p).
func leadOfAttention() ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		decideLeads(w, func(n int, p *big.Rat) *big.Rat {
			return e.Bound(0).Rat(ledger.At[*big.Rat]{
				"n": exact.Int(n - 1), "q": exact.Quo(p, exact.Sub(exact.Int(1), p)),
			})
		})
		return "The other positions share 1-S_p, so that one of them has at least (1-S_p)/(i-1)."
	}
}

// decideLeads decides S_p/max_j S_j <= bound for softmaxes over n positions.
func decideLeads(w *ledger.Worst, bound func(n int, p *big.Rat) *big.Rat) {
	for n := 2; n <= 5; n++ {
		for _, s := range attentions(n) {
			w.AtMostRat(exact.Quo(s[0], exact.NormInf(s[1:])), bound(n, s[0]), func() ledger.Instance {
				return ledger.Instance{"softmax(A1_i)": s, "parent": 1}
			})
		}
	}
}

var lemA1DynamicsStepTime = ledger.Claim{
	ID: "lem-a1-dynamics-step-time", Number: "Lemma 8", Kind: ledger.Step,
	Title:      "The sum of the two times",
	Statement:  `$T^2\eta_1^{-1}\beta_0^{-1}\log(2T)+T\alpha^{-1}\beta_0^{-1}\log(T/\alpha)\lesssim\eta_1^{-1}\beta_0^{-1}(T^2+T\alpha^{-1})\log(T/\alpha)$ for every $\eta_1>0$`,
	Hypotheses: `$0<\alpha\le\frac12$`,
	Tried:      `$\alpha=1/T$, $\eta_1=T$, $T=3^6$ to $3^{90}$; $C=1$, $100$ and $10^4$`,
	Defect:     ledger.Misprint,
	Check: ledger.Decided(sumOfTimes).Noted("The second time lacks eta1^(-1), here and in the two " +
		"lines before, which have eta2 for eta1 as well. As printed the last relation is false for a large eta1, and " +
		"the time of the second half too short for a small one. The statement of Lemma 8 has the factor."),
	Correction: &ledger.Claim{
		ID: "lem-a1-dynamics-step-time-corrected", Title: "The sum of the two times, each with the rate",
		Statement:  `$T^2\eta_1^{-1}\beta_0^{-1}\log(2T)+T\alpha^{-1}\eta_1^{-1}\beta_0^{-1}\log(T/\alpha)\le \bound{KL}$ with $K=\eta_1^{-1}\beta_0^{-1}(T^2+T\alpha^{-1})$ and $L=\log(T/\alpha)$`,
		Hypotheses: `$0<\alpha\le\frac12$`, Tried: `$\alpha=\frac12-T^{-1},\frac14,T^{-1}$, $\eta_1\beta_0=1$, $T=3^6$ to $3^{90}$`,
		Check: bothTimes("0"),
		Faults: []ledger.Fault{
			ledger.Drop(`$0<\alpha\le\frac12$`, "alpha = 3/4", bothTimes("3/4")),
		},
	},
}

// sumOfTimes decides, at alpha = 1/T and eta1 = T, both sides times eta1 beta0/T^2,
//
//	log(2T) + eta1 log(T^2) <= 2 C log(T^2)
func sumOfTimes(w *ledger.Worst) {
	instruments.Order{
		LHS: func(root *big.Rat) exact.Interval {
			t := exact.Pow(root, 2)
			late := exact.Point(t).Mul(exact.Point(exact.Pow(t, 2)).Log())
			return exact.Point(exact.Mul(exact.Int(2), t)).Log().Add(late)
		},
		RHS: func(root *big.Rat) exact.Interval {
			return exact.Point(exact.Int(2)).Mul(exact.Point(exact.Pow(root, 4)).Log())
		},
		At: func(root *big.Rat) ledger.Instance {
			t := exact.Pow(root, 2)
			return ledger.Instance{"T": t, "alpha": exact.Inv(t), "eta1": t}
		},
	}.Decide(w, fewRootsOfT(), instruments.CandidateConstants...)
}

// bothTimes decides the corrected sum at eta1 beta0 = 1, also at another alpha unless it is zero.
func bothTimes(another string) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		for _, root := range fewRootsOfT() {
			t := exact.Pow(root, 2)
			alphas := []*big.Rat{exact.Sub(exact.Frac(1, 2), exact.Inv(t)), exact.Frac(1, 4), exact.Inv(t)}
			if x := exact.Rat(another); x.Sign() > 0 {
				alphas = append(alphas, x)
			}
			for _, alpha := range alphas {
				late, long := exact.Quo(t, alpha), exact.Point(exact.Quo(t, alpha)).Log()
				lhs := exact.Point(exact.Pow(t, 2)).Mul(exact.Point(exact.Mul(exact.Int(2), t)).Log()).
					Add(exact.Point(late).Mul(long))
				rhs := e.Bound(0).Enclose(ledger.At[exact.Interval]{
					"K": exact.Point(exact.Add(exact.Pow(t, 2), late)), "L": long,
				})
				w.AtMostInterval(lhs, rhs, func() ledger.Instance { return ledger.Instance{"T": t, "alpha": alpha} })
			}
		}
		return "log(2T) is at most log(T/alpha)."
	}
}
