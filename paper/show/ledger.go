package show

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"learncausal/paper/ledger"
	"learncausal/paper/report"
	"learncausal/pkg/nb"
	"learncausal/pkg/runs"
)

// page is the path of the ledger's page from a notebook.
const page = "../CLAIMS.md"

// Check runs the quick checks of the claims with the given numbers of the paper or ids
// (see ledger.Select), and shows their verdicts, notes and witnesses. An unsound row
// (see [ledger.Run]) stops the cell.
func Check(all []ledger.Claim, names ...string) { Rows(nb.Must(checked(nb.Context(), all, names...))) }

func checked(ctx context.Context, all []ledger.Claim, names ...string) ([]ledger.Row, error) {
	cs, err := ledger.Select(all, names...)
	if err != nil {
		return nil, err
	}
	l, _, err := report.Check(ctx, cs, true, runtime.GOMAXPROCS(0), nil)
	if err != nil {
		return nil, err
	}
	return l.Rows, nil
}

// Verdicts runs the quick checks of claims, and shows the number of verdicts that differ
// from the stored ones.
func Verdicts(cs []ledger.Claim) {
	changes := nb.Must(changed(nb.Context(), cs, nb.NewMeter("Ledger")))
	nb.Printf("verdicts that are not the stored ones: %d\n", len(changes))
}

// changed runs the quick checks and returns the differences from the stored rows. meter
// may be nil.
func changed(ctx context.Context, cs []ledger.Claim, meter runs.Meter) ([]string, error) {
	run, _, err := report.Check(ctx, cs, true, runtime.GOMAXPROCS(0), meter)
	if err != nil {
		return nil, err
	}
	stored, err := report.StoredLedger()
	if err != nil {
		return nil, err
	}
	return stored.Changes(run), nil
}

// Stored shows the stored rows of the statements with the given numbers of the paper or
// ids, in the form of Check.
func Stored(names ...string) {
	stored := nb.Must(report.StoredLedger())
	var all []ledger.Claim
	for _, r := range stored.Rows {
		all = append(all, r.Claim)
	}
	var rows []ledger.Row
	for _, c := range nb.Must(ledger.Select(all, names...)) {
		rows = append(rows, *stored.Find(c.ID))
	}
	Rows(rows)
}

// Rows shows a table of verdicts of rows of the ledger, with notes and witnesses folded
// below it.
func Rows(rows []ledger.Row) {
	nb.Markdown("%s", (&ledger.Ledger{Rows: rows}).Verdicts(page))
}

// Resting shows a table of the statements and steps of the stored ledger whose proofs
// use one of the given ids, directly or indirectly, with a mark for each id. An id
// without a row stops the cell.
func Resting(ids ...string) {
	stored := nb.Must(report.StoredLedger())
	for _, id := range ids {
		if stored.Find(id) == nil {
			nb.Check(fmt.Errorf("show: no row %q in the ledger, want an id of CLAIMS.md", id))
		}
	}
	nb.Markdown("%s", resting(stored, nb.Must(stored.Dependencies()), ids))
}

func resting(l *ledger.Ledger, d *ledger.Dependencies, ids []string) string {
	head, rule := "| Proof of | Verdict | Corrected |", "|---|---|---|"
	users := map[string][]bool{} // by the id of the user, for each of ids
	for k, id := range ids {
		head, rule = head+" "+l.Find(id).Number+" |", rule+":-:|"
		for _, u := range d.Users(id) {
			if users[u.ID] == nil {
				users[u.ID] = make([]bool, len(ids))
			}
			users[u.ID][k] = true
		}
	}
	text := []string{head, rule}
	for _, r := range l.Rows {
		if users[r.ID] == nil || r.Kind == ledger.Correction {
			continue
		}
		line := fmt.Sprintf("| %s [`%s`](%s#%s) | %s | ", r.Number, r.ID, page, r.ID, r.Verdict)
		if c := l.Find(r.Corrected); c != nil {
			line += string(c.Verdict)
		}
		for _, uses := range users[r.ID] {
			line += " | " + map[bool]string{true: "●"}[uses]
		}
		text = append(text, line+" |")
	}
	return strings.Join(text, "\n") + "\n"
}
