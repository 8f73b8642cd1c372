package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"learncausal/paper/claims"
	"learncausal/pkg/figure"
	"learncausal/pkg/runs"
)

// Check runs the checks of the claims, so many at a time, and returns their rows
// as they are stored, with the time that each has taken. meter may be nil; what
// it says at the end holds no time.
func Check(ctx context.Context, cs []claims.Claim, quick bool, workers int, meter runs.Meter) (*claims.Ledger, map[string]time.Duration, error) {
	took := make(map[string]time.Duration)
	begun := make([]time.Time, len(cs))
	index := make(map[string]int)
	timed := slices.Clone(cs)
	for i, c := range cs {
		index[c.ID] = i
		timed[i].Check = func(e *claims.Env) claims.Finding {
			begun[i] = time.Now()
			return c.Check(e)
		}
	}
	if meter != nil {
		meter.Update(0, len(cs), "checking")
	}
	rows, err := claims.Run(ctx, timed, quick, workers, func(r claims.Row) {
		took[r.ID] = time.Since(begun[index[r.ID]])
		if meter != nil {
			meter.Update(len(took), len(cs), fmt.Sprintf("%d of %d checked, last %s (%v)", len(took), len(cs), r.ID, took[r.ID].Round(time.Millisecond)))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if meter != nil {
		meter.Done(fmt.Sprintf("%d claims checked", len(cs)))
	}
	l, err := claims.NewLedger(rows)
	return l, took, err
}

// QuickClaims returns the claims of the quick ledger.
func QuickClaims() []claims.Claim {
	return slices.DeleteFunc(claims.All(), func(c claims.Claim) bool { return !c.Quick })
}

// ReadLedger loads the ledger from claims.json in a folder, as the last full run
// of the checks left it there.
func ReadLedger(dir string) (*claims.Ledger, error) {
	b, err := os.ReadFile(filepath.Join(dir, "claims.json"))
	if err != nil {
		return nil, fmt.Errorf("report: no stored ledger, make verify writes it: %w", err)
	}
	return claims.ParseLedger(b)
}

// WriteLedger writes claims.json, and claims.dot with the dependencies, into a
// folder.
func WriteLedger(l *claims.Ledger, dir string) error {
	data, err := l.JSON()
	if err != nil {
		return err
	}
	d, err := l.Dependencies()
	if err != nil {
		return err
	}
	dot, err := d.DOT()
	if err != nil {
		return err
	}
	if err := figure.WriteFile(filepath.Join(dir, "claims.json"), data); err != nil {
		return err
	}
	return figure.WriteFile(filepath.Join(dir, "claims.dot"), dot)
}

// WriteLedgerPage writes the ledger as a page to CLAIMS.md at the top of the
// repository.
func WriteLedgerPage(l *claims.Ledger) error {
	page, err := l.Page()
	if err != nil {
		return err
	}
	return figure.WriteFile(Dir("CLAIMS.md"), []byte(page))
}

// LedgerTable is the ledger as a long table for a LaTeX document.
func LedgerTable(l *claims.Ledger) (*figure.Table, error) {
	t := &figure.Table{
		ID: "claims", Long: true,
		Caption: `The ledger: every statement as printed, displayed steps, and corrected statements, each with the kind of evidence, the verdict, the margin on the worst instance (where a statement of the exact tier fails, on its witness; then negative) and the number $N$ of instances tried.`,
		Shares:  []float64{0.15, 0.31, 0.1, 0.11, 0, 0},
		Columns: []figure.Label{
			figure.Text("Id"), figure.Text("Statement"), figure.Text("Tier"), figure.Text("Verdict"), figure.Text("Margin"),
			{Text: "N", TeX: "$N$"},
		},
	}
	for _, r := range l.Claims {
		title, err := figure.EscapeTeX(r.Title)
		if err != nil {
			return nil, fmt.Errorf("report: title of %s: %w", r.ID, err)
		}
		t.Rows = append(t.Rows, []figure.Cell{
			figure.Words(figure.Text(r.ID)),
			figure.Words(figure.Label{Text: r.Title, TeX: `\textbf{` + title + `.} ` + r.Statement}),
			figure.Words(figure.Text(string(r.Tier))), figure.Words(figure.Text(string(r.Verdict))),
			figure.Words(figure.Number{Value: r.Margin}.Shown()), figure.Value(float64(r.Instances), 0),
		})
	}
	return t, nil
}

// LedgerNumbers returns, for each row, its margin with its verdict, and its two
// sides; and how many rows there are of each verdict.
func LedgerNumbers(l *claims.Ledger) figure.Numbers {
	var ns figure.Numbers
	count := map[claims.Verdict]int{}
	for _, r := range l.Claims {
		ns = append(ns,
			figure.Number{ID: r.ID, Value: r.Margin, Verdict: string(r.Verdict)},
			figure.Number{ID: r.ID + "-lhs", Value: r.LHS},
			figure.Number{ID: r.ID + "-rhs", Value: r.RHS})
		if !strings.HasSuffix(r.ID, "-corrected") {
			count[r.Verdict]++
		}
	}
	for _, v := range []claims.Verdict{claims.Holds, claims.Fails, claims.Consistent, claims.Inconsistent, claims.Open} {
		ns = append(ns, figure.Number{ID: "claims-" + string(v), Value: float64(count[v]), Whole: true})
	}
	return ns
}
