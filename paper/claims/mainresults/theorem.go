package mainresults

import (
	"fmt"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
)

// The parts of the main theorem.
const (
	partLoss      = "the loss comes near its minimum"
	partAttention = "the attention finds the parents"
)

// The hypotheses of the main theorem.
const (
	assumedPrior  = `$P_\pi$ meets Assumption 1`
	assumedLength = `$T_{\mathrm{eff}}\ge C_{\gamma,S}^{-12}\log^2T$ with $C_{\gamma,S}=\gamma^{9/2}S^{-7/2}/10$`
	assumedRoots  = `$r\le1-\gamma$`
)

var (
	mainParts  = []string{partLoss, partAttention}
	mainSpares = []ledger.Spare{
		ledger.Spared(assumedLength, "below this length the bound exceeds any loss (thm-main-step-horizon-corrected)"),
		ledger.Spared(assumedRoots,
			"where all are roots there is no parent to find; the loss then stays, see thm-main-step-bias"),
	}
)

// attentionKept is a note on the predictions of the two theorems.
const attentionKept = "What positions with a parent lose of their attention to it, at most 1/T, moves the logarithm " +
	"of a prediction by at most 2 beta/T. "

// What the checks of the two theorems accept, as TestWhatTheTheoremsDoNotResolve holds.
const (
	mainUnresolved = "The check accepts an exponent 1.5 times as large and a tau_1 10,000 times as short. " +
		instruments.RootsUnresolved
	oodUnresolved = "The check accepts an exponent 1.5 times as large. " + instruments.RootsUnresolved
)

var thmMain = ledger.Claim{
	ID: "thm-main", Number: "Theorem 1", Title: "Algorithm 1 learns the graph and the task", Slow: true,
	Statement: `there are $\epsilon,\eta_1,\eta_2,\tau_1,\tau_2$ with ` +
		`$L(\hat\theta)-L^*\lesssim\frac{\log T}{T_{\mathrm{eff}}^{c\gamma}}$ and ` +
		`$\mathcal S(\hat A^{(1)})_{i,p(i)}\ge1-O(\tfrac1T)$ for $i\in\overline{\mathcal R}$`,
	Parts:      mainParts,
	Read:       `the loop of stage 2 in Algorithm 1 begun at $\tau_1+1$, from a $\beta_0>0$`,
	Hypotheses: assumedPrior + "; " + assumedLength + "; " + assumedRoots, Tried: mainTried + `; $c=1/12$`,
	Uses: []string{
		"alg-training", "cor-stage1-parents", "lem-a2-dynamics", "lem-f-to-pi", "thm-main-step-cauchy",
		"thm-main-step-threshold", "thm-main-step-horizon",
	},
	OnPaper: []string{"thm-main-corrected", "thm-main-step-horizon-corrected", "cor-stage1-parents"},
	Check: farTheorem(1./12, "Printed is the hypothesis T_eff >= poly(1/gamma, S); the instances here have T_eff >= "+
		"C^(-12) log^2 T, and for a smaller T_eff the bound exceeds every possible loss "+
		"(thm-main-step-horizon-corrected). Epsilon is T_eff^(-1/2), as in Appendix D.2, and "+
		"L - L* + log(1 + S eps), which is never negative, is compared. "+attentionKept+
		"It follows from the corrected theorem, as (log^2 T)^(gamma/12) <= log T; decided with its constants. "+
		"Without stage 2 the check does not refuse it: at these lengths the bound is too weak. "+mainUnresolved).Repaired(),
	Faults: mainFaults(farLosses(1, 1).Repaired()),
	Spare:  mainSpares,
	Correction: &ledger.Claim{
		ID: "thm-main-corrected", Title: "Algorithm 1 learns the graph and the task, with epsilon fixed", Slow: true,
		Statement: `for $\epsilon=T_{\mathrm{eff}}^{-1/2}$ there are $\beta_0,\eta_1,\eta_2,\tau_1,\tau_2$ with ` +
			`$0\le L(\hat\theta)-L^*+\log(1+S\epsilon)` +
			`\le\bound[` + partLoss + `]{20\,S^5\gamma^{-7}}C_{\gamma,S}^{-\gamma}` +
			`\big(\frac{\log^2T}{T_{\mathrm{eff}}}\big)^{\gamma/12}$ and ` +
			`$\mathcal S(\hat A^{(1)})_{i,p(i)}\ge1-\frac1T$ for $i\in\overline{\mathcal R}$`,
		Parts:      mainParts,
		Hypotheses: assumedPrior + "; " + assumedLength + "; " + assumedRoots, Tried: mainTried,
		Uses: []string{
			"alg-training-corrected", "lem-pop-grads", "thm-dpi-gap-corrected", "lem-nonzero-beta",
			"lem-concentration-a1-corrected", "thm-stage1-roots-corrected", "thm-stage1-parents-corrected", "lem-a1-dynamics",
			"lem-no-parents-corrected", "lem-compare-z-corrected", "lem-a2-sym", "thm-stage2-upper", "thm-stage2-lower",
			"lem-a2-dynamics-corrected", "lem-bound-ghat-sharp", "lem-muhat-var", "lem-chat-var-corrected",
			"lem-teff-leaves-corrected",
			"lem-f-to-pi", "lem-mu-lower", "thm-main-step-epsilon", "thm-main-step-bias",
		},
		OnPaper: []string{"thm-main-corrected"},
		Check: farTheorem(1./12, "The constants are absurd: at gamma = 2/5, S = 2 the hypothesis begins at T = 10^51, and "+
			"the bound is below log S from T_eff/log^2 T = 10^219 on. Trained runs, of at most 512 tokens, are no instances; "+
			"notebook 8 has them. That the left side is not negative is proved, not tested. "+attentionKept+mainUnresolved),
		Faults: mainFaults(farLosses(1, 1), ledger.PlantIn(partLoss, "no stage 2", farLosses(1./12, 0))),
		Spare:  mainSpares,
	},
}

const mainTried = `chains and in-context graphs with $T=3^{540}$, $3^{600}$ and $3^{640}$, two $\pi$, and 200 random ones over two and three states with $T=3^{640}$: the ` +
	`loss is enclosed by Lemma 32 with constants at $\beta^*$ and $\beta^*+1$; the time of stage 1 by Lemma 8, with $T=3^{120}$, ` +
	`$3^{300}$ and $3^{600}$. An instance is trivial where the bound exceeds the loss of the uniform guess`

// The lengths at which Theorems 1 and 2 are decided. On longer ones 1/T^2 is no float.
var farPowers = []int{540, 600, 640}

// farTheorem decides Theorem 1 with the exponent fall gamma.
func farTheorem(fall float64, note string) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		farLosses(fall, 1)(e, w)
		farTimes(w, 1, farBases, 120, 300, 600)
		return note
	}
}

// mainFaults returns the faults of both rows, beside that of the exponent.
func mainFaults(exponent ledger.Check, others ...ledger.Fault) []ledger.Fault {
	times := func(shorter int, bases ...exact.Matrix) ledger.Check {
		return ledger.Decided(func(w *ledger.Worst) { farTimes(w, shorter, bases, 300) })
	}
	return append([]ledger.Fault{
		ledger.PlantIn(partLoss, "the exponent gamma", exponent),
		ledger.PlantIn(partAttention, "a 100,000th of the time of stage 1", times(100_000, farBases...)),
		ledger.Drop(assumedPrior, "chains that mix at once",
			times(1, exact.Rats("2/3 1/3; 2/3 1/3"), exact.Rats("1/3 2/3; 1/3 2/3"))),
	}, others...)
}

// logLossBound returns the logarithm of 20 S^5 gamma^-7 C^-gamma y^(fall gamma), of which the first three are the given
// bound, for y = log^2 T/T_eff and 1/C = 10 S^(7/2) gamma^(-9/2).
func logLossBound(b ledger.Bound, gamma, s, logY, fall float64) float64 {
	front := b.Float(ledger.At[float64]{"S": s, `\gamma`: gamma})
	return num.Log(front) - gamma*instruments.LogRange(gamma, s) + fall*gamma*logY
}

// farLosses decides the first conclusion, excess <= 20 S^5 gamma^-7 C^-gamma y^(fall gamma), at the given part of both
// ends of stage 2.
func farLosses(fall, part float64) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		drawn := instruments.DrawFarLengths(e.Stream("far"), e.Budget(200, 10), 640)
		for _, c := range append(instruments.FarLengths(farPowers...), drawn...) {
			q, logY, betas := c.Ends()
			bound := num.Exp(logLossBound(e.Bound(0), q.Gamma, float64(len(c.Pi)), logY, fall))
			for _, beta := range betas {
				w.UpTo(c.Guess()).AtMostInterval(c.Excess(part*beta), instruments.Around(bound, bound), func() ledger.Instance {
					return c.Instance().With("beta", part*beta)
				})
			}
		}
		return ""
	}
}

// farBases are the matrices of the prior of farTimes, with gamma = 2/5.
var farBases = []exact.Matrix{exact.Rats("4/5 1/5; 2/5 3/5"), exact.Rats("1/5 4/5; 3/5 2/5")}

// farTimes decides that tau1 = 128 gamma^-3 T log T, divided by shorter, is enough for attention 1-1/T to the parent:
// by the time of Lemma 8 on in-context graphs with 3^power positions, at eta1 beta0 = T and beta0 = T^(-2).
func farTimes(w *ledger.Worst, shorter int, bases []exact.Matrix, powers ...int) {
	for _, power := range powers {
		root := exact.Pow(exact.Int(3), power/2)
		t := exact.Mul(root, root)
		lead := exact.NewStageOne(root, exact.Inv(root), bases...).Gap(exact.OwnChild, exact.OwnRoot).Lo
		enough := exact.Point(exact.Pow(t, 9)) // without a lead no time is enough
		if lead.Sign() > 0 {
			enough = exact.TimeBound(exact.Inv(t), t, exact.Quo(lead, exact.Int(2)), exact.Int(1))
		}
		factor := exact.Quo(exact.Frac(128, int64(shorter)), exact.Pow(exact.Frac(2, 5), 3))
		tau := exact.Point(exact.Mul(factor, t)).Mul(exact.Point(t).Log())
		w.AtMostInterval(enough, tau, func() ledger.Instance {
			return ledger.Instance{"T": fmt.Sprintf("3^%d", power), "graph": "in-context", "orbits": bases}
		})
	}
}
