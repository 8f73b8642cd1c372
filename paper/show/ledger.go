package show

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
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

// Rows checks statements that are not the paper's, with their planted faults, and shows a table, and below it a
// counterexample of each one that is refuted. A fault that is not refuted stops the cell.
func Rows(all []ledger.Claim) {
	t, refuted, err := rows(nb.Context(), all)
	nb.Check(err)
	t.Show()
	for _, r := range refuted {
		nb.Printf("%s is refuted:\n%s", r.ID, r.Witness.Layout())
	}
}

func rows(ctx context.Context, all []ledger.Claim) (t *nb.TextTable, refuted []ledger.Row, err error) {
	t = nb.NewTable("Statement", "Verdict", "Instances", "Refuted, as they must be")
	checked, err := ledger.Run(ctx, all, true, runtime.GOMAXPROCS(0), nil)
	again := slices.Clone(all)
	for k, r := range checked {
		if r.Failed() && r.Defect == "" { // only the paper's statements have a defect, which a sound row must have
			again[k].Defect, refuted = ledger.Constant, append(refuted, r)
		}
	}
	if refuted != nil {
		checked, err = ledger.Run(ctx, again, true, runtime.GOMAXPROCS(0), nil)
	}
	for _, r := range checked {
		var faults []string
		e := ledger.NewEnv(ctx, r.Claim, true)
		for _, f := range r.Faults {
			if !f.Check.Finding(e).Failed() {
				err = cmp.Or(err, fmt.Errorf("%s: the planted fault %q is not refuted", r.ID, f.What))
			}
			faults = append(faults, f.What)
		}
		t.Line(r.Title+": "+r.Statement, string(r.Verdict), r.Instances.String(), strings.Join(faults, "; "))
	}
	return t, refuted, err
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
