// Package claims states every numbered statement of the paper as a check that can fail.
//
// A [ledger.Claim] holds the statement as printed. If that is false, its field Correction holds a true one, whose
// id ends in "-corrected". Each claim stands above its check and carries planted faults: the same check with one
// formula or hypothesis changed, which must fail. Wrong constants and exponents follow from the [ledger.Bound]s of
// the statement.
//
// Each section of the paper is a package below, which has the claims with their checks and, in the file <id>.tex, the
// remark on a false statement or the proof of a true one. Package instruments has the mathematics that several
// sections share. No section imports another.
package claims

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"learncausal/paper"
	"learncausal/paper/claims/concentration"
	"learncausal/paper/claims/dataprocessing"
	"learncausal/paper/claims/equivalence"
	"learncausal/paper/claims/finitesample"
	"learncausal/paper/claims/gradients"
	"learncausal/paper/claims/learned"
	"learncausal/paper/claims/lemmasstageone"
	"learncausal/paper/claims/lemmasstagetwo"
	"learncausal/paper/claims/mainresults"
	"learncausal/paper/claims/markovchains"
	"learncausal/paper/claims/multipleparents"
	"learncausal/paper/claims/proofood"
	"learncausal/paper/claims/proofsketch"
	"learncausal/paper/claims/setup"
	"learncausal/paper/claims/stageone"
	"learncausal/paper/claims/stagetwo"
	"learncausal/paper/ledger"
	"learncausal/paper/proofs"
)

// All returns every claim, section by section as in the paper.
func All() []ledger.Claim { return all() }

var all = sync.OnceValue(func() []ledger.Claim {
	return proved(ledger.Collect(
		setup.Section,
		learned.Section,
		mainresults.Section,
		proofsketch.Section,
		multipleparents.Section,
		equivalence.Section,
		multipleparents.Construction,
		gradients.Section,
		stageone.Section,
		stagetwo.Section,
		markovchains.Section,
		concentration.Section,
		dataprocessing.Section,
		lemmasstageone.Section,
		lemmasstagetwo.Section,
		proofood.Section,
		finitesample.Section,
	))
})

// proved adds to each claim its theorems of Coq, and to a true one its own proof on paper.
func proved(all []ledger.Claim) []ledger.Claim {
	of := map[string][]ledger.Proof{}
	for _, t := range proofs.Listed().Theorems {
		of[t.ID] = append(of[t.ID], ledger.Proof{
			Theorem: t.Theorem, File: "paper/proofs/" + t.File, Refutes: t.Kind == "refuted", Gap: t.Gap,
		})
	}
	written := map[string]bool{} // the ids with prose
	files, err := fs.Glob(paper.Prose, "claims/*/*.tex")
	if err != nil {
		panic(err) // the pattern is bad
	}
	for _, f := range files {
		written[strings.TrimSuffix(path.Base(f), ".tex")] = true
	}
	for i := range all {
		c := &all[i]
		c.Proved = of[c.ID]
		if written[c.ID] && c.OnPaper == nil && c.Defect == "" {
			c.OnPaper = []string{c.ID}
		}
	}
	return all
}

// Quick returns the claims of the quick ledger.
func Quick() []ledger.Claim {
	return slices.DeleteFunc(slices.Clone(All()), func(c ledger.Claim) bool { return c.Slow })
}
