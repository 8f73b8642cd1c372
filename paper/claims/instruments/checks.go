// Package instruments has the mathematics that several sections of package claims share:
//
//	priors.go      transition matrices, priors, the gamma of Assumption 1, and searches that break a bound
//	forests.go     graphs of several families, pairs of positions
//	gap.go         the gap between g at the parent and g elsewhere, of Lemma 5
//	models.go      random tokens and matrices, small populations, the shares of a construction
//	descent.go     stage 1 by gradient descent, row by row
//	enclosures.go  orders in T at large T, and stage 2 on long chains over two states
//	longruns.go    the convergence of Lemmas 30 to 32, on chains and on samples
//	farlengths.go  stage 2 on chains of 3^100 positions and more
//	checks.go      hypotheses in LaTeX, notes and constants of checks
//
// It imports no section, and no section imports another.
package instruments

import (
	"fmt"
	"math/big"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/num"
)

// Identity returns x.
func Identity[T any](x T) T { return x }

// Indicator returns 1 if b holds, and 0 otherwise.
func Indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Sigmoid maps a coordinate of a search to (0, 1).
func Sigmoid(x float64) float64 { return 1 / (1 + num.Exp(-x)) }

// SearchNote returns the note of a search. If the statement holds, it
// gives the number of instances and then the reason why the statement is true.
func SearchNote(w *ledger.Worst, reason string) string {
	return w.IfHolds(fmt.Sprintf("No counterexample found in %d instances%s", w.N(), reason))
}

// A NamedLine is the inequality LHS <= RHS with its name in a proof.
type NamedLine struct {
	Name     string
	LHS, RHS *big.Rat
}

// NineDecimals returns the lower end of a narrow enclosure to nine decimals.
func NineDecimals(x exact.Interval) *big.Rat { return exact.Rat(x.Lo.FloatString(9)) }

// ShiftOfExp is the symbol of e^beta0 - 1 in bounds.
const ShiftOfExp = `e^{\beta_0}-1`

// CandidateConstants are the values that a check tries for a constant that the paper leaves open. The statement fails
// if each value is refuted at some T.
var CandidateConstants = []*big.Rat{exact.Int(1), exact.Int(100), exact.Int(10000)}

// TriedPriors describes the instances of checks of the gap.
const TriedPriors = `uniform priors over the relabelings of a matrix of trace 1, $S\le5$, or of two over two states ` +
	`whose traces average to 1, with the largest $\gamma$; the latter with $\gamma\ge1/20$ all by intervals, and ` +
	`for $S=3$ what the proof leaves to a computation`

// SpareSymmetry explains why no fault drops the symmetry of the prior.
var SpareSymmetry = []ledger.Spare{
	ledger.Spared("the prior is symmetric", "of the prior the proof uses that E tr pi = 1, at j = i, and nothing else"),
}

// Hypotheses on one transition matrix, and the instances of a search with the largest gamma.
const (
	OneMeasure      = `$\pi$ has one stationary measure $\mu_\pi$, and it is positive`
	FloorHypothesis = `$\min_{s,s'}\pi(s'\mid s)\ge\gamma/S$`
	SpreadOfRows    = `$\sum_s\|\pi(\cdot\mid s)-\mu_\pi\|_2^2\ge\gamma^2/S$`
	TriedSearch     = `in rationals those matrices and the worst that a search in floats over $S=2,3,4$ finds, each with ` +
		`the largest $\gamma$`
)

// SpareMeasure explains why no fault drops OneMeasure.
var SpareMeasure = []ledger.Spare{ledger.Spared(OneMeasure, "the statement divides by it")}

// UniformMeasure returns the uniform measure on the states of pi.
func UniformMeasure(pi exact.Matrix) exact.Vector { return exact.Uniform(len(pi)) }

// Hypotheses of lem-gradient-informal-corrected and of later sections.
const (
	SmallEps  = `$\epsilon=T_{\mathrm{eff}}^{-1/2}$`
	FloorOfPi = `$\pi\ge\gamma/S$`
	MeanOfPi  = `$\mathbb{E}_\pi[\pi]=\frac1S1_S1_S^\top$`
)

// OffTrace is a transition matrix of trace 27/20, which violates MeanOfPi. LightThird has a state of
// measure 2e-5.
var (
	OffTrace   = exact.Rats("9/10 1/20 1/20; 1/5 2/5 2/5; 1/5 3/4 1/20")
	LightThird = exact.Rats("1/4 74999/100000 1/100000; 74999/100000 1/4 1/100000; 1/4 1/4 1/2")
)

// Assumption1 is Assumption 1 of the paper: symmetric priors of constant mean with a floor gamma.
const Assumption1 = `assumption 1`
