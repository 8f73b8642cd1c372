package claims

import "strings"

// unsettled are the rows whose parts and hypotheses have no controls of their
// own yet. The list only shrinks.
var unsettled = strings.Fields(strings.Join([]string{
	// finitesample.go
	`thm-finite-stage1
	thm-finite-stage1-step-mean
	thm-finite-stage1-step-mean-corrected
	thm-finite-stage1-step-union
	thm-finite-stage1-step-union-corrected
	thm-finite-stage1-step-naive
	thm-finite-stage2
	thm-finite-stage2-step-exponent
	thm-finite-stage2-step-exponent-corrected
	thm-finite-stage2-step-1
	thm-finite-stage2-step-1-corrected
	thm-finite-stage2-step-2
	thm-finite-stage2-step-3
	claim-sample-size
	`,

	// idealizedgradient.go
	`
	`,

	`
	`,

	// lemmasstagetwo.go
	`
	lem-compare-z
	lem-compare-z-corrected
	lem-concentrate-e3
	lem-concentrate-e12
	lem-f-to-pi
	`,

	// mainresults.go
	`assume-prior-remark
	assume-prior-remark-corrected
	`,

	// multipleparents.go
	`construct-multi
	construct-multi-step-limit
	construct-multi-step-scales
	`,

	// stagetwo.go
	`
	`,
}, " "))
