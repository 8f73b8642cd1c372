package figures

import (
	"context"
	"fmt"

	"learncausal/paper/errata"
)

// A Headline counts the results of the paper that are reproduced, and its statements by verdict.
type Headline struct {
	Results                     map[string]int // rows of the Summary, see [Summary.Count]
	Standing, Account, Theorems string         // see the methods of [ledger.Ledger]
}

// Headline counts the rows of the summary and of the stored ledger.
func (r *Results) Headline(ctx context.Context) (Headline, error) {
	s, err := r.Summary(ctx)
	if err != nil {
		return Headline{}, err
	}
	l, err := fullLedger(ctx, r)
	if err != nil {
		return Headline{}, err
	}
	numbers, err := errata.Numbers(l)
	if err != nil {
		return Headline{}, err
	}
	theorems := l.Theorems(func(id string) string { return numbers[id] })
	return Headline{s.Count(), l.Standing(), l.Account(), theorems}, nil
}

// Markdown returns the counts in a few sentences for a notebook of this repository.
func (h Headline) Markdown() string {
	n := h.Results
	return fmt.Sprintf("**Of %d results of the figures and numbers %d reproduce, %d reproduce in pattern, "+
		"%d differ; untried: %d. %s** %s %s [The ledger](../CLAIMS.md) has a row for each.",
		n[reproduced]+n[inPattern]+n["differs"]+n[untried], n[reproduced], n[inPattern], n["differs"], n[untried],
		h.Standing, h.Theorems, h.Account)
}
