package show

import (
	"fmt"
	"strings"
	"testing"

	"learncausal/paper/account"
	"learncausal/paper/claims"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
)

func TestAStatementIsCheckedByItsNumberWithItsCorrection(t *testing.T) {
	rows, err := checked(t.Context(), claims.All(), "Lemma 13")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := account.Stored()
	if err != nil {
		t.Fatal(err)
	}
	text := (&ledger.Ledger{Rows: rows}).Verdicts(page)
	want := 0
	for _, r := range stored.Rows {
		if r.Number != "Lemma 13" {
			continue
		}
		want++
		line := fmt.Sprintf("| Lemma 13 [`%s`](../CLAIMS.md#%s) |", r.ID, r.ID)
		if !strings.Contains(text, line) {
			t.Errorf("no line that begins with %s", line)
		}
		if open := "<summary><code>" + r.ID; r.Witness != nil && !strings.Contains(text, open) {
			t.Errorf("the witness of %s is not shown", r.ID)
		}
	}
	if want == 0 || len(rows) != want {
		t.Errorf("%d rows in the ledger and %d in the table", want, len(rows))
	}
	if _, err := checked(t.Context(), claims.All(), "Lemma 1400"); err == nil {
		t.Error("an unknown number is taken")
	}
}

func nowhere() ledger.Instance { return nil }

// A verdict that is not the stored one is counted, and a row that is unsound is an error.
func TestVerdictsEqualTheStoredLedger(t *testing.T) {
	for what, c := range map[string]struct {
		spoil   func(w *ledger.Worst)
		changes int
		fault   string
	}{
		"as it is":  {func(*ledger.Worst) {}, 0, ""},
		"undecided": {func(w *ledger.Worst) { w.AtMostRounded(1, 1, 1, nowhere) }, 1, ""},
		"a witness": {
			func(w *ledger.Worst) { w.EqualRat("", exact.Frac(1, 1), exact.Frac(2, 1), nowhere) }, 0,
			"lem-tv: fails but has no defect",
		},
		"no instance": {func(w *ledger.Worst) { *w = ledger.Worst{} }, 0, "lem-tv: no instances"},
	} {
		cs, err := ledger.Select(claims.All(), "lem-bound-g1-corrected", "lem-tv")
		if err != nil {
			t.Fatal(err)
		}
		check := cs[0].Check
		cs[0].Check = func(e *ledger.Env, w *ledger.Worst) string {
			defer c.spoil(w)
			return check(e, w)
		}
		changes, err := changed(t.Context(), cs, nil)
		if len(changes) != c.changes || (err == nil) != (c.fault == "") {
			t.Errorf("%s: changes %q, error %v", what, changes, err)
		}
		if err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: error %v, want %q in it", what, err, c.fault)
		}
	}
}

// A fault that its check does not refute stops the cell.
func TestAFaultThatIsNotRefutedStopsTheCell(t *testing.T) {
	one := func(value int) ledger.Check {
		return ledger.Decided(func(w *ledger.Worst) {
			w.EqualRat("", exact.Int(value), exact.Int(1), func() ledger.Instance { return nil })
		})
	}
	for want, c := range map[string]ledger.Claim{
		`one: the planted fault "one again" is not refuted`: {
			Check: one(1), Faults: []ledger.Fault{ledger.Plant("one again", one(1))},
		},
	} {
		c.ID = "one"
		if _, _, err := rows(t.Context(), []ledger.Claim{c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
