package show

import (
	"context"
	"runtime"

	"learncausal/paper/account"
	"learncausal/paper/ledger"
	"learncausal/pkg/nb"
	"learncausal/pkg/runs"
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
