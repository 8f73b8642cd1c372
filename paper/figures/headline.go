package figures

import (
	"context"
	"fmt"

	"learncausal/paper/errata"
	"learncausal/paper/ledger"
)

// A Headline counts the results of the paper that are reproduced, and its statements by verdict.
type Headline struct {
	Results           map[string]int         // rows of the Summary, see [Summary.Count]
	Verdicts          map[ledger.Verdict]int // of the statements, without the steps of proofs
	Mended            int                    // corrections of statements that are false
	Account, Theorems string                 // see ledger.Account and ledger.Theorems
}

// Headline counts the rows of the summary and of the stored ledger.
func (r *Results) Headline(ctx context.Context) (Headline, error) {
	h := Headline{Verdicts: map[ledger.Verdict]int{}}
	s, err := r.Summary(ctx)
	if err != nil {
		return h, err
	}
	l, err := fullLedger(ctx, r)
	if err != nil {
		return h, err
	}
	numbers, err := errata.Numbers(l)
	if err != nil {
		return h, err
	}
	h.Account, h.Theorems = l.Account(), l.Theorems(func(id string) string { return numbers[id] })
	h.Results = s.Count()
	for _, row := range l.Rows {
		if row.Kind != ledger.Statement {
			continue
		}
		h.Verdicts[row.Verdict]++
		if c := l.Find(row.Corrected); c != nil && row.Failed() && !c.Failed() {
			h.Mended++
		}
	}
	return h, nil
}

// Statements returns the number of statements of the paper that were checked.
func (h Headline) Statements() int {
	n := 0
	for _, v := range h.Verdicts {
		n += v
	}
	return n
}

// Markdown returns the counts in a few sentences for a notebook of this repository.
func (h Headline) Markdown() string {
	v, n := h.Verdicts, h.Results
	return fmt.Sprintf("**Of %d results of the figures and numbers %d reproduce, %d reproduce in pattern, "+
		"%d differ; untried: %d. %s** %s "+
		"[The ledger](../CLAIMS.md) has %d rows of statements: %d hold, %d are not decided and %d fail. "+
		"For %d of these %d it has a corrected form that passes its check.",
		n[reproduced]+n[inPattern]+n["differs"]+n[untried], n[reproduced], n[inPattern], n["differs"], n[untried],
		h.Theorems, h.Account, h.Statements(),
		v[ledger.Holds], v[ledger.Open], v[ledger.Fails], h.Mended, v[ledger.Fails])
}
