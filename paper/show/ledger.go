package show

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"learncausal/internal/runs"
	"learncausal/paper/account"
	"learncausal/paper/ledger"
	"learncausal/pkg/nb"
)

// page is the path of the ledger's page from a notebook.
const page = "../CLAIMS.md"

// Check runs the quick checks of the claims with the given numbers of the paper or ids
// (see ledger.Select), and shows their verdicts, with notes and witnesses folded below. An
// unsound row (see [ledger.Run]) stops the cell.
func Check(all []ledger.Claim, names ...string) {
	rows := nb.Must(checked(nb.Context(), all, names...))
	nb.Markdown("%s", (&ledger.Ledger{Rows: rows}).Verdicts(page))
}

func checked(ctx context.Context, all []ledger.Claim, names ...string) ([]ledger.Row, error) {
	cs, err := ledger.Select(all, names...)
	if err != nil {
		return nil, err
	}
	l, _, err := account.Check(ctx, cs, true, runtime.GOMAXPROCS(0), nil)
	if err != nil {
		return nil, err
	}
	return l.Rows, nil
}

// Rows checks statements that are not the paper's, with their planted faults, and shows a table. A fault
// that is not refuted stops the cell.
func Rows(all []ledger.Claim) { nb.Must(rows(nb.Context(), all)).Show() }

func rows(ctx context.Context, all []ledger.Claim) (*nb.TextTable, error) {
	t := nb.NewTable("Statement", "Verdict", "Instances", "Refuted, as they must be")
	checked, err := ledger.Run(ctx, all, true, runtime.GOMAXPROCS(0), nil)
	for _, r := range checked {
		var refuted []string
		e := ledger.NewEnv(ctx, r.Claim, true)
		for _, f := range r.Faults {
			if !f.Check.Finding(e).Failed() {
				err = cmp.Or(err, fmt.Errorf("%s: the planted fault %q is not refuted", r.ID, f.What))
			}
			refuted = append(refuted, f.What)
		}
		t.Line(r.Title+": "+r.Statement, string(r.Verdict), r.Instances.String(), strings.Join(refuted, "; "))
	}
	return t, err
}

// Verdicts runs the quick checks of claims, and shows the number of verdicts that changed.
func Verdicts(cs []ledger.Claim) {
	changes := nb.Must(changed(nb.Context(), cs, nb.NewMeter("Ledger")))
	nb.Printf("verdicts that are not the stored ones: %d\n", len(changes))
}

// changed runs the quick checks and returns the differences from the stored rows.
func changed(ctx context.Context, cs []ledger.Claim, meter runs.Meter) ([]string, error) {
	run, _, err := account.Check(ctx, cs, true, runtime.GOMAXPROCS(0), meter)
	if err != nil {
		return nil, err
	}
	stored, err := account.Stored()
	if err != nil {
		return nil, err
	}
	return stored.Changes(run), nil
}
