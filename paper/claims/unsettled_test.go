package claims

import "strings"

// unsettled are the rows whose parts and hypotheses have no controls of their
// own yet. The list only shrinks.
var unsettled = strings.Fields(strings.Join([]string{
	// dataprocessing.go
	`thm-dpi-gap
	thm-dpi-gap-corrected
	thm-dpi-gap-step-query
	thm-dpi-gap-step-query-corrected
	eq-strong-dpi
	eq-strong-dpi-step-last
	eq-strong-dpi-step-last-corrected
	`,

	// equivalence.go
	`thm-equivalence-to
	thm-equivalence-to-corrected
	thm-equivalence-from
	thm-equivalence-from-corrected
	`,

	// gradients.go
	`eq-loss-rewrite
	eq-loss-rewrite-corrected
	lem-pop-grads
	`,

	// idealizedgradient.go
	`lem-bound-ghat
	lem-bound-ghat-sharp
	lem-bound-ghat-step-second
	lem-bound-ghat-step-last
	lem-bound-ghat-step-last-corrected
	`,

	// learned.go
	`construct-single
	construct-single-step-limit
	construct-single-step-limit-corrected
	construct-single-step-stream
	construct-single-step-stream-corrected
	construct-single-step-scales
	lem-rewrite-tf
	`,

	// lemmasstageone.go
	`lem-nonzero-beta
	`,

	// lemmasstagetwo.go
	`lem-compare-shift
	lem-compare-shift-sharp
	lem-j-l1
	lem-grad-j
	lem-grad-j-step-jacobian
	lem-grad-j-step-jacobian-corrected
	lem-compute-diffs
	lem-compare-z
	lem-compare-z-corrected
	lem-concentrate-e3
	lem-concentrate-e3-step-quotient
	lem-concentrate-e3-step-quotient-corrected
	lem-concentrate-e3-step-denominator
	lem-concentrate-e3-step-denominator-corrected
	lem-concentrate-e12
	lem-concentrate-e12-step-quotient
	lem-concentrate-e12-step-quotient-corrected
	lem-f-to-pi
	lem-f-to-pi-step-quotient
	lem-f-to-pi-step-quotient-corrected
	lem-f-to-pi-step-markov
	lem-f-to-pi-step-markov-corrected
	`,

	// mainresults.go
	`alg-training
	alg-training-corrected
	assume-prior-remark
	assume-prior-remark-corrected
	def-teff-examples
	thm-main
	thm-main-step-cauchy
	thm-main-step-cauchy-corrected
	thm-ood
	`,

	// markov.go
	`eq-b-powers
	eq-b-powers-step-zero
	eq-b-powers-step-zero-corrected
	lem-spectral-gap
	lem-spectral-gap-step-decomposition
	lem-spectral-gap-step-decomposition-corrected
	lem-mu-lower
	lem-tv
	lem-tv-step-max
	lem-bound-g1
	lem-bound-g1-corrected
	lem-contraction
	`,

	// multipleparents.go
	`construct-multi
	construct-multi-step-limit
	construct-multi-step-scales
	`,

	// oodproof.go
	`thm-ood-step-root
	thm-ood-step-root-corrected
	`,

	// proofsketch.go
	`lem-dpi
	alg-oracle
	alg-oracle-corrected
	rem-chow-liu
	eq-g-parent-chi2
	eq-g-amgm
	eq-g-root-zero
	eq-g-root-zero-corrected
	eq-a2-form
	eq-a2-form-corrected
	eq-f-pointwise
	eq-f-pointwise-corrected
	`,

	// setup.go
	`def-attention-row
	ex-induction-head
	ex-induction-head-corrected
	ex-icl
	ex-icl-corrected
	`,

	// stageone.go
	`thm-stage1-parents
	thm-stage1-parents-corrected
	lem-no-parents
	lem-no-parents-corrected
	lem-no-parents-step-jacobian
	lem-no-parents-step-jacobian-corrected
	lem-a1-dynamics
	cor-stage1-parents
	cor-stage1-roots
	cor-stage1-roots-corrected
	`,

	// stagetwo.go
	`lem-a2-sym
	thm-stage2-upper
	thm-stage2-lower
	lem-a2-dynamics
	`,
}, " "))
