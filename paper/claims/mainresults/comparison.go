package mainresults

import (
	"fmt"
	"math"

	"learncausal/paper/claims/instruments"
	"learncausal/paper/ledger"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// The parts of the comparisons with Theorem 1.
const (
	partGibbs  = "the loss is at least its minimum"
	partLimit  = "the loss is near its limit"
	partRows   = "the attention finds the parents"
	partTarget = "stage 2 gets to beta*"
	partRate   = "the limit falls at the rate of the bound"
)

var thmMainStepRuns = ledger.Claim{
	ID: "thm-main-step-runs", Number: "Theorem 1", Title: "Trained runs beside the limit of the loss", Slow: true,
	Kind: ledger.Step,
	Statement: `no instance of Theorem 1, whose hypothesis begins near $T=10^{51}$: after Algorithm 1 with ` +
		`$\epsilon=T_{\mathrm{eff}}^{-1/2}$, $0\le L-L^*+\log(1+S\epsilon)\le\frac1S\sum_s\mathrm{KL}\big(\pi\,\big\|\,` +
		`\frac{f_\infty+\epsilon}{1+S\epsilon}\big)+\frac{S-1}{2S}\sum_s\frac1{\mu_\pi(s)}\cdot` +
		`\frac1{(1-r)T_{\mathrm{eff}}}$ with ` +
		`$f_\infty$ of thm-main-step-bias at $\beta^*$, $\mathcal S(\hat A^{(1)})_{i,p(i)}\ge1-\frac1T$ and ` +
		`$\beta^*\le\hat\beta\le\beta^*+1$; and $\mathrm{KL}(\pi\,\|\,f_\infty)$ at $\beta^*$ is below the bound of Theorem 1`,
	Parts:      []string{partGibbs, partLimit, partRows, partTarget, partRate},
	Hypotheses: assumedPrior + "; " + runLength, Tried: runsTried,
	Uses: []string{"alg-training-corrected", "lem-a1-dynamics", "thm-main-step-bias", "thm-main-step-variance"},
	Check: asStated().beside("The bound is a comparison, with the cost of a sample to first order. The sides of the " +
		"rate are logarithms, of a chain that nearly mixes in one step."),
	Faults: runFaults(asStated()),
}

const runLength = `$4T_{\mathrm{eff}}\ge\log^2T$`

const runsTried = `$\beta_0\to0$, gradient descent with the $\tau_1$ of Lemma ` +
	`8 and $\eta_2=4$ until $e^{\beta^*}=10\,T_{\mathrm{eff}}^{1/12}\log^{-1/6}T$; chains, in-context graphs and ` +
	`spiders with $T=32,128,512$, six rows with a parent of each, two priors; ` +
	`the loss of the chain over two states as an exact sum, others ` +
	`from 400 sequences and five standard errors; three of the steps of stage 2 on that chain against the slope of ` +
	`that sum; the rate for $T_{\mathrm{eff}}/\log^2T$ up to $10^{60000}$`

// beside trains over the priors, families and lengths that satisfy the hypotheses, until a run violates a
// comparison.
func (t training) beside(note string) ledger.Check {
	return func(e *ledger.Env, w *ledger.Worst) string {
		var runs ledger.Worst
		outside, most := 0, 0.0
		for _, prior := range t.priors {
			for _, family := range t.family {
				for _, n := range []int{32, 512, 128}[:e.Budget(3, 2)] {
					if e.Err() != nil {
						return ""
					}
					if runs.Failed() {
						continue
					}
					l := num.Log(float64(n))
					if g := graph.FamilyNamed(family).New(n); g.TEff() < float64(t.long*float64(l*l)) {
						outside++
						continue
					}
					r := t.run(e, family, n, prior)
					most = max(most, r.lost*float64(n))
					t.compare(&runs, r)
				}
			}
		}
		t.compareRate(w)
		w.Count(&runs)
		return fmt.Sprintf("%s T (1 - S_{i,p(i)}) is at most %.2g; %d runs were left out for too small a T_eff.",
			note, most, outside)
	}
}

// compare compares the loss, the attention and beta of one run with the bounds.
func (t training) compare(w *ledger.Worst, r *mainRun) {
	n := float64(r.T)
	all, rounding := r.seen()
	shift := num.Log(1 + float64(float64(r.S)*r.eps))
	err, seen := all.StdErr, t.excess(all.Mean, r.TEff)-float64((1-t.shift)*shift)
	bound := r.bound(r.betaStar)
	at := func() ledger.Instance {
		return r.Instance().With("beta at the end", r.beta).With("beta*", r.betaStar).With("excess loss", seen).
			With("its bound", bound).With("standard error", err).With("largest 1 - S", r.lost)
	}
	w.AtMostRounded(0, seen+5*err, rounding, at)
	w.AtMostRounded(seen-5*err, bound, rounding, at)
	w.Sampled(t.lost(r.lost, n), 1/n, at)
	w.Sampled(float64(t.reach*r.betaStar), r.beta, at)
	w.Sampled(r.beta, r.betaStar+1, at)
	for i, slope := range r.slopes() {
		k := r.sampledSteps()[i]
		descent := r.path[k].descent
		w.Sampled(math.Abs(descent.Mean+slope), 5*descent.StdErr, func() ledger.Instance {
			return at().With("step", k+1).With("slope of the loss", slope)
		})
	}
}

// rateGamma is the gamma of the rates.
const rateGamma = 0.1

// statedLoss has the constants of the bound of thm-main-corrected.
var statedLoss = ledger.MustBound(`20\,S^5\gamma^{-7}`)

// compareRate decides the logarithm of the bound for the limit of the loss at beta*, up to T_eff/log^2 T =
// 10^60000, for a chain that nearly mixes in one step and has a state of measure 18/19.
func (t training) compareRate(w *ledger.Worst) {
	c := theory.MustChain([]float64{0.95, 0.05, 0.9, 0.1}, 2)
	const gamma = rateGamma
	for k := 0; k <= 60_000; k += 5000 {
		x := float64(k) * math.Ln10 // log(T_eff/log^2 T)
		logLimit := math.Inf(-1)
		for s := range 2 {
			weight, far := theory.MixtureWeight(c.Mu[s], 1-gamma, max(x/12+instruments.LogRange(gamma, 2), 0)), 0.0
			for to := range 2 {
				d := c.Pi.At(s, to) - c.Mu[to]
				far += float64(d*d) / (c.Pi.At(s, to) - float64(weight*d))
			}
			logLimit = max(logLimit, 2*num.Log(weight)+num.Log(far))
		}
		w.AtMostRounded(logLimit, logLossBound(statedLoss, gamma, 2, -x, t.fall), 1e-6, func() ledger.Instance {
			return ledger.Instance{
				"pi": ledger.Grid(c.Pi.RawMatrix().Data, 2), "gamma": gamma, "r": 1 - gamma,
				"log10 of T_eff/log^2 T": k,
			}
		})
	}
}

// runFaults returns the faults of the comparison with the given training; most of them
// spoil the training. All but the stars are on chains over two states.
func runFaults(t training) []ledger.Fault {
	spoilt := func(spoil func(q *training)) ledger.Check { return t.with(onChains).with(spoil).beside("") }
	excess := func(f func(excess, teff float64) float64) ledger.Check {
		return spoilt(func(q *training) { q.excess = f })
	}
	return []ledger.Fault{
		ledger.PlantIn(partGibbs, "half of log(1 + S eps)", spoilt(func(q *training) { q.shift = 0.5 })),
		ledger.PlantIn(partLimit, "the excess loss is always 0.01", excess(func(_, _ float64) float64 { return 0.01 })),
		ledger.PlantIn(partLimit, "it grows like T_eff^0.03, from a third of what is seen at T = 32",
			excess(func(_, teff float64) float64 { return 0.01 * math.Pow(teff, 0.03) })),
		ledger.PlantIn(partLimit, "1.1 times what is seen", excess(func(seen, _ float64) float64 { return 1.1 * seen })),
		ledger.PlantIn(partLimit, "T_eff^0.15 times what is seen",
			excess(func(seen, teff float64) float64 { return seen * math.Pow(teff, 0.15) })),
		ledger.PlantIn(partLimit, "epsilon = 1", spoilt(func(q *training) {
			q.eps = func(float64) float64 { return 1 }
		})),
		ledger.PlantIn(partLimit, "T_eff^(-1/4) for T_eff^(-1/2)", spoilt(func(q *training) {
			q.eps = func(teff float64) float64 { return math.Pow(teff, -0.25) }
		})),
		ledger.PlantIn(partLimit, "no stage 2, which need not get to beta*",
			spoilt(func(q *training) { q.rate, q.reach = 0, 0 })),
		ledger.PlantIn(partRate, "the exponent gamma/11", spoilt(func(q *training) { q.fall = 1. / 11 })),
		ledger.PlantIn(partRate, "the exponent gamma", spoilt(func(q *training) { q.fall = 1 })),
		ledger.PlantIn(partRate, "the exponent 1/2", spoilt(func(q *training) { q.fall = 0.5 / rateGamma })),
		ledger.PlantIn(partRows, "no stage 1", spoilt(func(q *training) { q.time = 0 })),
		ledger.PlantIn(partRows, "a tenth of stage 1", spoilt(func(q *training) { q.time = 0.1 })),
		ledger.PlantIn(partRows, "the attention lost is T^(-1/2)", spoilt(func(q *training) {
			q.lost = func(_, length float64) float64 { return 1 / math.Sqrt(length) }
		})),
		ledger.PlantIn(partTarget, "no stage 2", spoilt(func(q *training) { q.rate = 0 })),
		ledger.PlantIn(partTarget, "steps of one size, whatever the gradient", spoilt(func(q *training) { q.drift = 0.01 })),
		ledger.PlantIn(partTarget, "gradient steps beyond beta* + 1", spoilt(func(q *training) { q.rate = 400 })),
		ledger.Drop(assumedPrior, "a prior of chains that mix at once", spoilt(func(q *training) {
			q.priors = []*markov.Finite{instruments.MustOrbit(2, []float64{0.8, 0.2, 0.8, 0.2}, []float64{0.2, 0.8, 0.2, 0.8})}
		})),
		ledger.Drop(runLength, "stars, T_eff near one", t.with(func(q *training) {
			q.long, q.family = 0, []string{"star"}
		}).beside("")),
	}
}
