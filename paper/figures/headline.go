package figures

import (
	"context"
	"fmt"

	"learncausal/paper/errata"
)

// A Headline counts the results of the paper that are reproduced, and its statements by verdict.
type Headline struct {
	Results                     string // see [Summary.Account]
	Standing, Account, Theorems string // see the methods of [ledger.Ledger]
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
	return Headline{s.Account(), l.Standing(), l.Account(), theorems}, nil
}

// Markdown returns the counts in a few sentences for a notebook of this repository.
func (h Headline) Markdown() string {
	return fmt.Sprintf("**%s** **%s** %s %s [The ledger](../CLAIMS.md) has a row for each.",
		h.Results, h.Standing, h.Theorems, h.Account)
}
