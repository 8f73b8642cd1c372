package figures

import (
	"context"
	"fmt"

	"learncausal/internal/figure"

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

// headlineFigure counts the rows of the ledger by verdict in three bars: the statements
// as printed, the steps and remarks, and the corrections.
func headlineFigure(l *ledger.Ledger) *figure.Figure {
	const left, bar, gap, top = 96.0, 17.0, 7.0, 16.0
	kinds := []struct {
		kind ledger.Kind
		name string
	}{
		{ledger.Statement, "statements"}, {ledger.Step, "steps, remarks"}, {ledger.Correction, "corrected"},
	}
	count := func(k ledger.Kind, v ledger.Verdict) (n int) {
		for _, r := range l.Rows {
			if r.Kind == k && (v == "" || r.Verdict == v) {
				n++
			}
		}
		return n
	}
	most := 0
	for _, k := range kinds {
		most = max(most, count(k.kind, ""))
	}
	d := &figure.Drawing{W: float64(figure.FullText) - 6, H: top + float64(len(kinds))*(bar+gap)}
	unit := (d.W - left - 1) / float64(most)
	legend(d, l, left, d.H-5)
	for row, k := range kinds {
		y := d.H - top - float64(row+1)*(bar+gap) + gap
		total := figure.Text(fmt.Sprintf("%d %s", count(k.kind, ""), k.name))
		d.Text(figure.Black, 8, 1, total, left-6, y+bar/2)
		x := left
		for _, v := range verdictOrder {
			n := count(k.kind, v)
			if n == 0 {
				continue
			}
			w := unit * float64(n)
			d.Box(verdictInk[v], x, y, w, bar)
			number := figure.Text(fmt.Sprint(n))
			from := x + (w-number.Width(8)-7)/2 // of the mark and the number
			d.Mark(verdictInk[v], verdictMark[v], from+2, y+bar/2)
			d.Text(figure.Black, 8, -1, number, from+7, y+bar/2)
			x += w
		}
	}
	return oneRow(figure.FullText,
		"Three bars of coloured pieces with their counts: two thirds of the statements hold and a third fail; "+
			"most of the steps listed fail; every correction holds.",
		fmt.Sprintf(`The ledger in numbers: the %d rows of statements of the paper, the displayed steps and remarks, `+
			`and the corrections. %s`, count(ledger.Statement, ""), l.Account()), d)
}
