package claims

import (
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

const triedPriors = `uniform priors over the relabelings of a matrix of trace 1, $S\le5$, or of two over two states ` +
	`whose traces average to 1, with the largest $\gamma$; the latter with $\gamma\ge1/20$ all by intervals, and ` +
	`for $S=3$ what the proof leaves to a computation`

var spareSymmetry = []ledger.Spare{
	ledger.Spared("the prior is symmetric", "of the prior the proof uses that E tr pi = 1, at j = i, and nothing else"),
}

const (
	oneMeasure      = `$\pi$ has one stationary measure $\mu_\pi$, and it is positive`
	floorHypothesis = `$\min_{s,s'}\pi(s'\mid s)\ge\gamma/S$`
	spreadOfRows    = `$\sum_s\|\pi(\cdot\mid s)-\mu_\pi\|_2^2\ge\gamma^2/S$`
	triedSearch     = `in rationals those matrices and the worst that a search in floats over $S=2,3,4$ finds, each with ` +
		`the largest $\gamma$`
)

var spareMeasure = []ledger.Spare{ledger.Spared(oneMeasure, "the statement divides by it")}

// uniformMeasure returns the uniform measure on the states of pi.
func uniformMeasure(pi exact.Matrix) exact.Vector { return exact.Uniform(len(pi)) }

const (
	// Hypotheses of lem-gradient-informal-corrected and of later sections, and the fault of their rates.
	smallEps  = `$\epsilon=T_{\mathrm{eff}}^{-1/2}$`
	floorOfPi = `$\pi\ge\gamma/S$`
	meanOfPi  = `$\mathbb{E}_\pi[\pi]=\frac1S1_S1_S^\top$`
)

// offTrace has the trace 27/20, and lightThird a rare state.
var (
	offTrace   = exact.Rats("9/10 1/20 1/20; 1/5 2/5 2/5; 1/5 3/4 1/20")
	lightThird = exact.Rats("1/4 74999/100000 1/100000; 74999/100000 1/4 1/100000; 1/4 1/4 1/2")
)

const assumption1 = `assumption 1`
