package main

import (
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/property"
	"learncausal/paper/account"
	"learncausal/paper/claims"
	"learncausal/paper/ledger"
)

// storedLedger returns a copy of the ledger of the checkout.
func storedLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := account.Stored()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A different result does not replace the stored one, unless it is accepted.
func TestDifferentResultsAreNotWritten(t *testing.T) {
	for what, change := range map[string]func(l *ledger.Ledger){
		"verdict": func(l *ledger.Ledger) { l.Find("lem-tv").Verdict = ledger.Open },
		"margin":  func(l *ledger.Ledger) { l.Find("thm-main").Margin += 1e-5 },
		"lhs":     func(l *ledger.Ledger) { l.Find("thm-main").LHS *= 1.001 },
		"witness": func(l *ledger.Ledger) { l.Find("lem-bound-g1").Witness.LHS = big.NewRat(1, 3) },
		"gone":    func(l *ledger.Ledger) { l.Rows = slices.Delete(l.Rows, 3, 4) },
	} {
		dir := t.TempDir()
		if err := keep(dir, storedLedger(t), false); err != nil {
			t.Fatal(err)
		}
		before, now := kept(t, dir), storedLedger(t)
		change(now)
		for range 2 {
			property.Mentions(t, keep(dir, now, false), what, "--accept")
			if kept(t, dir) != before {
				t.Fatalf("%s: the ledger was written", what)
			}
		}
		if err := keep(dir, now, true); err != nil || kept(t, dir) == before {
			t.Errorf("%s: accepted and not written: %v", what, err)
		}
	}
}

// Nor does the command write them, or a ledger with an unsound row.
func TestVerifyOfAllKeepsTheStoredRows(t *testing.T) {
	cs, err := ledger.Select(claims.All(), "lem-tv")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	before := &ledger.Ledger{Rows: []ledger.Row{*storedLedger(t).Find("lem-tv")}}
	before.Rows[0].Margin += 0.1
	if err := keep(dir, before, false); err != nil {
		t.Fatal(err)
	}
	was := kept(t, dir)
	err = (&verifyFlags{jobs: 1}).all(t.Context(), io.Discard, cs, dir)
	if property.Mentions(t, err, "lem-tv: margin is"); kept(t, dir) != was {
		t.Error("another margin is written")
	}
	cs[0].Check = func(*ledger.Env, *ledger.Worst) string { return "" }
	err = (&verifyFlags{accept: true, jobs: 1}).all(t.Context(), io.Discard, cs, dir)
	if err == nil || kept(t, dir) != was {
		t.Errorf("a row without a verdict: error %v", err)
	}
}

// A named row is compared with the stored row, after a quick check by verdict only.
func TestVerifyOfSomeComparesThemWithTheStored(t *testing.T) {
	for what, change := range map[string]func(r *ledger.Row){
		"verdict":   func(r *ledger.Row) { r.Verdict = ledger.Open },
		"margin":    func(r *ledger.Row) { r.Margin += 1e-5 },
		"rhs":       func(r *ledger.Row) { r.RHS *= 1.001 },
		"witness":   func(r *ledger.Row) { r.Witness = &ledger.Witness{} },
		"statement": func(r *ledger.Row) { r.Statement += "0" },
		"nothing":   func(*ledger.Row) {},
	} {
		dir, stored := t.TempDir(), storedLedger(t)
		change(stored.Find("lem-tv"))
		if err := keep(dir, stored, false); err != nil {
			t.Fatal(err)
		}
		verify := func(quick bool) error {
			return (&verifyFlags{quick: quick, jobs: 1}).some(t.Context(), io.Discard, []string{"lem-tv"}, dir)
		}
		err := verify(false)
		if (err != nil) != (what != "nothing") || err != nil && !strings.Contains(err.Error(), "lem-tv: "+what+" is") {
			t.Errorf("another %s: error %v", what, err)
		}
		if err := verify(true); (err != nil) != (what == "verdict" || what == "statement") {
			t.Errorf("another %s, by a quick check: error %v", what, err)
		}
	}
}

// New rows and new titles are written without --accept.
func TestVerifyWritesNewRows(t *testing.T) {
	dir, old, now := t.TempDir(), storedLedger(t), storedLedger(t)
	old.Rows = slices.Delete(old.Rows, 3, 4)
	now.Rows[0].Title += "!"
	if err := keep(dir, old, false); err != nil {
		t.Fatal(err)
	}
	if err := keep(dir, now, false); err != nil {
		t.Error(err)
	}
	got, err := account.Read(dir)
	if err != nil || len(got.Rows) != len(now.Rows) || got.Rows[0].Title != now.Rows[0].Title {
		t.Errorf("not written: %v", err)
	}
}

// Lemma 16 is printed with ≥: its sides 0.064 and 0.0625 would read as if it held.
func TestVerifyExplainsTheSides(t *testing.T) {
	text := output(t, "verify", "lem-bound-g1")
	const sides = "An inequality is read as lhs ≤ rhs, also where ≥ is printed."
	table, _, found := strings.Cut(text, "\n"+sides+"\n")
	if !found || !strings.Contains(table, "lem-bound-g1") {
		t.Errorf("not said below the table:\n%s", text)
	}
	help := strings.Join(strings.Fields(output(t, "verify", "--help")), " ")
	if !strings.Contains(help, sides) {
		t.Errorf("not said in the help:\n%s", help)
	}
	if !strings.Contains(text, "control     negative, must fail: gamma by the rows alone\n") {
		t.Errorf("the control is not explained:\n%s", text)
	}
}

// It is an error if nothing is stored to compare with: no file, a damaged file, a link to nothing, no row.
func TestVerifyOfSomeNeedsTheStored(t *testing.T) {
	verify := func(dir string) error {
		return (&verifyFlags{quick: true, jobs: 1}).some(t.Context(), io.Discard, []string{"lem-tv"}, dir)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "claims.json")
	property.Mentions(t, verify(dir), "no stored ledger in "+path)
	if err := os.Symlink("nowhere", path); err != nil {
		t.Fatal(err)
	}
	property.Mentions(t, verify(dir), "no stored ledger in "+path)
	dir = t.TempDir()
	if err := keep(dir, &ledger.Ledger{}, false); err != nil {
		t.Fatal(err)
	}
	property.Mentions(t, verify(dir), "figures/claims.json has no result of lem-tv to compare with")
	path = filepath.Join(dir, "claims.json")
	if err := os.WriteFile(path, []byte(kept(t, dir)+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	property.Mentions(t, verify(dir), path, "was edited", "git checkout", "paper verify --accept")
	property.Mentions(t, keep(dir, storedLedger(t), false), "was edited")
	if err := keep(dir, storedLedger(t), true); err != nil { // which the error advises
		t.Error(err)
	}
	if err := verify(dir); err != nil {
		t.Error(err)
	}
}

// kept returns claims.json of a folder.
func kept(t *testing.T, dir string) string {
	t.Helper()
	return content(t, dir)["claims.json"]
}

// Numbers of statements are read as people write them, and split by a shell.
func TestNumbersAreSpelledOut(t *testing.T) {
	for text, want := range map[string][]string{
		"Lemma|16": {"Lemma 16"}, "lemma16": {"Lemma 16"}, "Lem.|16": {"Lemma 16"}, "Lem. 16": {"Lemma 16"},
		"lem-tv|LEMMA|5|thm. 1": {"lem-tv", "Lemma 5", "Theorem 1"}, "Lemma  16": {"Lemma 16"}, "Lem.~16": {"Lemma 16"},
		"cor 2|Section|4.1": {"Corollary 2", "Section 4.1"}, "appendix|b": {"Appendix B"}, "eq.|(5)": {"Equation 5"},
		"lemmas": {"lemmas"}, "lem-tv|16": {"lem-tv", "16"}, "Lemma": {"Lemma"}, "secret 4": {"secret 4"},
	} {
		if got := spelled(strings.Split(text, "|")); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
