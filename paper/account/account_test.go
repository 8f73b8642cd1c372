package account

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/claims"
	"learncausal/paper/ledger"
)

func storedLedger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := Stored()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The error about a ledger names its file.
func TestUnreadableLedgerIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claims.json")
	for _, text := range []string{"", "{", "{}", "[]", `{"Rows": 1}`} {
		err := os.WriteFile(path, []byte(text), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// What is stored of each claim, apart from what its check found, is what the
// code says now.
func TestStoredLedgerStatesTheClaimsOfTheCode(t *testing.T) {
	l := storedLedger(t)
	var ids, want []string
	for _, r := range l.Rows {
		ids = append(ids, r.ID)
	}
	var rows []ledger.Row
	for _, c := range claims.All() {
		want = append(want, c.ID)
		if r := l.Find(c.ID); r != nil {
			rows = append(rows, ledger.Row{Claim: c, Finding: ledger.Finding{Verdict: r.Verdict}})
		}
	}
	if !slices.Equal(ids, want) {
		t.Errorf("stored ids %v, want %v: run make verify", ids, want)
	}
	now, err := ledger.New(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range l.Changes(now) {
		t.Errorf("%s: run make verify", c)
	}
}

// Every check, in full, gives its stored row: verdict, sides, margin, worst instance and
// witness. The result does not depend on the order of the checks.
func TestChecksGiveTheStoredRows(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs every check in full")
	}
	all := slices.Clone(claims.All())
	slices.Reverse(all)
	now, _, err := Check(t.Context(), all, false, runtime.GOMAXPROCS(0), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := storedLedger(t)
	for _, d := range append(l.Differences(now), l.Changes(now)...) {
		t.Errorf("%s: is that right? make verify ACCEPT=1", d)
	}
}

// A part without a planted fault has a bound of which the check resolves a constant or an exponent.
func TestEveryPartWithoutAFaultIsResolved(t *testing.T) {
	l := storedLedger(t)
	for _, c := range claims.All() {
		resolved := map[string]bool{}
		for k, text := range l.Find(c.ID).Resolves {
			part := c.Bounds[k].Part
			resolved[part] = resolved[part] || !strings.HasPrefix(strings.TrimPrefix(text, part+": "), "not at all")
		}
		for part, ok := range resolved {
			if !ok && !slices.ContainsFunc(c.Faults, func(f ledger.Fault) bool { return f.Part == part && f.Drops == "" }) {
				t.Errorf("%s: the check resolves nothing of the bound of %q, which has no fault", c.ID, part)
			}
		}
	}
}

func TestClaimsPageEqualsTheStoredLedger(t *testing.T) {
	l := storedLedger(t)
	where, err := Places(l)
	if err != nil {
		t.Fatal(err)
	}
	page := l.Page(where)
	if b, err := os.ReadFile(filepath.Join("..", "..", "CLAIMS.md")); err != nil || string(b) != page {
		t.Errorf("CLAIMS.md is not the page of figures/claims.json: paper export claims writes it (%v)", err)
	}
}

// CLAIMS.md leads to the notebook that checks or states a row, not to the first that names it.
func TestLinksLeadToTheNotebookThatTreatsTheStatement(t *testing.T) {
	where, err := Places(storedLedger(t))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"thm-main":                        "notebooks/08-main-theorem.ipynb",
		"lem-dpi":                         "notebooks/05-information.ipynb",
		"lem-teff-leaves":                 "notebooks/09-chains-counts-samples.ipynb",
		"lem-tv-step-max":                 "notebooks/09-chains-counts-samples.ipynb",
		"lem-gradient-informal-corrected": "notebooks/06-stage-one.ipynb",
		"construct-single":                "notebooks/02-model.ipynb",
	} {
		if got := where(id).Notebook; got != want {
			t.Errorf("%s leads to %q, want %q", id, got, want)
		}
	}
}

func TestNotebooksRankByTheirUseOfAStatement(t *testing.T) {
	const id, number = "lem-a", "Lemma 1"
	stated := "[Lemma 1](../CLAIMS.md#lem-a) (`lem-a`)"
	for k, c := range []struct {
		better, worse notebook
	}{
		{notebook{text: "`lem-a`"}, notebook{text: "`lem-ab` lem-a", code: `show.Stored("lem-b")`}},
		{notebook{text: "`lem-a` `lem-a`"}, notebook{text: "`lem-a`"}},
		{notebook{text: stated}, notebook{text: "`lem-a` `lem-a` `lem-a`", code: `show.Stored("lem-a")`}},
		{notebook{code: `show.Check(claims.All(), "Lemma 1")`}, notebook{text: stated}},
		{notebook{code: `show.Check(claims.All(), "lem-a")`}, notebook{text: stated}},
		{notebook{code: "x := 1 // Lemma 1 (lem-a)"}, notebook{text: stated, code: "f(lem-a) // lem-a"}},
	} {
		if better, worse := c.better.rank(id, number), c.worse.rank(id, number); better <= worse {
			t.Errorf("case %d: rank %d is not above %d", k, better, worse)
		}
	}
}

// A legend of the ledger has no verdict that is nowhere.
func TestLegendHasTheVerdictsThatOccur(t *testing.T) {
	rows := make([]ledger.Row, 2)
	rows[0].Verdict, rows[1].Verdict = ledger.Refuted, ledger.Tested
	l := &ledger.Ledger{Rows: rows}
	if got := verdictsOf(l); !slices.Equal(got, []ledger.Verdict{ledger.Tested, ledger.Refuted}) {
		t.Errorf("%v", got)
	}
}

// last is a meter that keeps its last message.
type last string

func (*last) Update(int, int, string) {}

func (l *last) Done(text string) { *l = last(text) }

// Check does not wait for the checks that it cancels.
func TestCheckStopsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	under := make(chan bool)
	deaf := ledger.Claim{ID: "deaf", Check: func(*ledger.Env, *ledger.Worst) string {
		close(under)
		<-t.Context().Done()
		return ""
	}}
	go func() {
		<-under
		cancel()
	}()
	if _, _, err := Check(ctx, []ledger.Claim{deaf}, true, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestCheckCountsItsRows(t *testing.T) {
	for _, test := range []struct {
		want string
		ids  []string
	}{
		{"1 row checked", []string{"lem-bound-g1-corrected"}},
		{"2 rows checked", []string{"Lemma 16"}},
	} {
		cs, err := ledger.Select(claims.All(), test.ids...)
		if err != nil {
			t.Fatal(err)
		}
		var seen last
		if _, _, err := Check(t.Context(), cs, true, 2, &seen); err != nil || string(seen) != test.want {
			t.Errorf("%q: %q (%v), want %q", test.ids, seen, err, test.want)
		}
	}
}
