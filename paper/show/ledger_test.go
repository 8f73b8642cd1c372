package show

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"learncausal/paper/claims"
	"learncausal/paper/figures"
	"learncausal/paper/ledger"
)

func TestAStatementIsCheckedByItsNumberWithItsCorrection(t *testing.T) {
	rows, err := checked(t.Context(), claims.All(), "Lemma 13")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := figures.StoredLedger()
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

// A verdict that is not the stored one is counted, and a row that is unsound is an error.
func TestVerdictsEqualTheStoredLedger(t *testing.T) {
	for what, c := range map[string]struct {
		spoil   func(f *ledger.Finding)
		changes int
		fault   string
	}{
		"as it is":  {func(*ledger.Finding) {}, 0, ""},
		"a verdict": {func(f *ledger.Finding) { f.Verdict = ledger.Open }, 1, ""},
		"no number": {func(f *ledger.Finding) { f.LHS = math.NaN() }, 0, "not a number"},
		"a margin":  {func(f *ledger.Finding) { f.Margin = -1 }, 0, "lem-tv: holds with a negative margin"},
	} {
		cs, err := ledger.Select(claims.All(), "lem-bound-g1-corrected", "lem-tv")
		if err != nil {
			t.Fatal(err)
		}
		check := cs[0].Check
		cs[0].Check = func(e *ledger.Env) ledger.Finding {
			f := check(e)
			c.spoil(&f)
			return f
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
