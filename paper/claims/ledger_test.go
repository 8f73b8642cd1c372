package claims

import (
	"bytes"
	"context"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The quick rows are checked once, for all tests.
var quickRows = sync.OnceValues(func() ([]Row, error) {
	return Run(context.Background(), quick(), true, 2, nil)
})

func quick() []Claim {
	return slices.DeleteFunc(All(), func(c Claim) bool { return !c.Quick })
}

func TestEveryStatementHasAClaim(t *testing.T) {
	have := map[string]bool{}
	for _, c := range All() {
		if have[c.ID] {
			t.Errorf("two claims have the id %s", c.ID)
		}
		have[c.ID] = true
		if !slices.Contains(sections, c.Section) {
			t.Errorf("%s: %q is no section of the list", c.ID, c.Section)
		}
	}
	for _, id := range Statements() {
		if !have[id] {
			t.Errorf("no claim has the id %s", id)
		}
	}
}

// The page has a heading for each section, which must not come twice.
func TestSectionsAreInOnePiece(t *testing.T) {
	var seen []string
	for _, c := range All() {
		if len(seen) == 0 || seen[len(seen)-1] != c.Section {
			seen = append(seen, c.Section)
		}
	}
	if !slices.Equal(seen, sections) {
		t.Errorf("sections in the order of the rows: %q, want %q", seen, sections)
	}
}

func TestEveryClaimIsWhole(t *testing.T) {
	for _, c := range All() {
		for what, s := range map[string]string{
			"ID": c.ID, "Title": c.Title, "Section": c.Section, "Statement": c.Statement, "Hypotheses": c.Hypotheses, "Fault": c.Fault,
		} {
			if strings.TrimSpace(s) == "" || strings.Contains(s, "\n") {
				t.Errorf("%s: %s is %q, want one line", c.ID, what, s)
			}
		}
		if strings.Count(c.Statement, "$")%2 != 0 || strings.Count(c.Hypotheses, "$")%2 != 0 {
			t.Errorf("%s: a formula is not closed", c.ID)
		}
		if words := outside(c.Statement + " " + c.Hypotheses); strings.ContainsAny(strings.ReplaceAll(words, `\_`, ""), `\_^{}`) {
			t.Errorf("%s: LaTeX outside of a formula: %s", c.ID, words)
		}
		if c.Check == nil || c.Faulty == nil {
			t.Errorf("%s: want a check and a planted fault", c.ID)
		}
		if c.Corrected != "" && c.Corrected != c.ID+correctedSuffix {
			t.Errorf("%s: corrected by %s, want the suffix %s", c.ID, c.Corrected, correctedSuffix)
		}
	}
}

// outside returns what stands between the formulas of a line of LaTeX.
func outside(s string) string {
	text := ""
	for i, part := range strings.Split(s, "$") {
		if i%2 == 0 {
			text += part
		}
	}
	return text
}

// Every check fails once its formula or its hypotheses are spoilt.
func TestEveryPlantedFaultIsFound(t *testing.T) {
	for _, c := range All() {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			f := c.Faulty(NewEnv(t.Context(), c, true))
			if f.Verdict != Fails && f.Verdict != Inconsistent {
				t.Errorf("%s, with this fault: %s. The check found it %s (lhs %v, rhs %v, margin %v): %s", c.ID, c.Fault, f.Verdict, f.LHS, f.RHS, f.Margin, f.Note)
			}
		})
	}
}

func TestQuickRowsAreSoundAndTheSameEachTime(t *testing.T) {
	rows, err := quickRows()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, fault := range unsound(r) {
			t.Errorf("%s: %s", r.ID, fault)
		}
	}
	again, err := Run(t.Context(), quick(), true, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var stored [2][]byte
	for i, rows := range [][]Row{rows, again} {
		l, err := NewLedger(rows)
		if err != nil {
			t.Fatal(err)
		}
		if stored[i], err = l.JSON(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(stored[0], stored[1]) {
		t.Error("one worker gave other rows than two")
	}
}

var inequality = regexp.MustCompile(`\\(le|ge|lesssim)\b`)

// unsound lists what is wrong with a row, whatever it claims.
func unsound(r Row) []string {
	var out []string
	fault := func(wrong bool, text string) {
		if wrong {
			out = append(out, text)
		}
	}
	trend := r.Tier == ConsistentWith
	fault(!slices.Contains([]Tier{Exact, Enclosed, ConsistentWith}, r.Tier), "no tier")
	fault(!slices.Contains(verdicts, r.Verdict), "no verdict")
	fault(trend && (r.Verdict == Holds || r.Verdict == Fails && r.Witness == nil), "a trend is consistent, inconsistent or open")
	fault(!trend && (r.Verdict == Consistent || r.Verdict == Inconsistent), "only a trend can be consistent or inconsistent")
	fault(r.Verdict == Fails && r.Witness == nil, "fails without a witness")
	fault(r.Verdict != Fails && r.Verdict != Inconsistent && r.Witness != nil, "has a witness and does not fail")
	fault(r.Verdict == Fails && r.Margin > 0, "fails with a positive margin")
	if r.Tier == Exact && r.Verdict == Fails {
		lhs, rhs, ok := r.Witness.sides()
		fault(!reflect.DeepEqual(r.Instance, r.Witness), "the instance is not the witness")
		fault(ok && (lhs != r.LHS || rhs != r.RHS), "the sides are not those of the witness")
		fault(r.Margin != Deviation(r.LHS, r.RHS), "the margin is not that of the sides")
		fault(inequality.MatchString(r.Statement) && r.Witness["equation"] == nil && r.LHS <= r.RHS, "an inequality lhs <= rhs fails with lhs <= rhs")
	}
	fault(r.Instances <= 0, "no instances")
	fault(strings.HasSuffix(r.ID, correctedSuffix) && (r.Verdict == Fails || r.Verdict == Inconsistent), "the corrected statement fails")
	return out
}

func TestUnsoundRowsAreFound(t *testing.T) {
	good := Finding{Tier: Exact, Verdict: Holds, Instances: 1}
	if f := unsound(Row{Finding: good}); f != nil {
		t.Errorf("a good row: %v", f)
	}
	fails := Finding{Tier: Exact, Verdict: Fails, Instances: 1, Margin: -1, Witness: Instance{"lhs": "1/2", "rhs": "1/3"}}.byWitness()
	if f := unsound(Row{Claim{Statement: `$a \le b$`}, fails}); f != nil || fails.LHS != 0.5 || !strings.Contains(fails.Note, "margin -1") {
		t.Errorf("a row that fails: %v, %+v", f, fails)
	}
	for _, spoil := range []func(*Finding){
		func(f *Finding) { f.Instance = Instance{"S": 2} },
		func(f *Finding) { f.LHS, f.Margin = 1, Deviation(1, f.RHS) },
		func(f *Finding) { f.Margin = -1 },
		func(f *Finding) {
			*f = Finding{Tier: Exact, Verdict: Fails, Instances: 1, Witness: Instance{"lhs": "1/3", "rhs": "1/2"}}.byWitness()
		},
	} {
		f := fails
		spoil(&f)
		if unsound(Row{Claim{Statement: `$a \le b$`}, f}) == nil {
			t.Errorf("not found: %+v", f)
		}
	}
	for _, spoil := range []func(*Row){
		func(r *Row) { r.Tier = "" },
		func(r *Row) { r.Verdict = "proved" },
		func(r *Row) { r.Verdict = Fails },
		func(r *Row) { r.Verdict = Consistent },
		func(r *Row) { r.Tier = ConsistentWith },
		func(r *Row) { r.Witness = Instance{"S": 2} },
		func(r *Row) { r.Instances = 0 },
		func(r *Row) { r.ID, r.Verdict, r.Witness = "x-corrected", Fails, Instance{"S": 2} },
	} {
		r := Row{Finding: good}
		spoil(&r)
		if unsound(r) == nil {
			t.Errorf("not found: %+v", r)
		}
	}
}

// sample is a small ledger: b uses a, which fails and has a correction; c uses b.
func sample() []Row {
	row := func(id, corrected string, v Verdict, uses ...string) Row {
		return Row{
			Claim{ID: id, Title: "Title of " + id, Section: "Section", Statement: "$a \\le b$", Hypotheses: "none", Uses: uses, Corrected: corrected, Fault: "a sign"},
			Finding{Tier: Exact, Verdict: v, LHS: 1.0 / 3, RHS: 0.5, Margin: 1.0 / 3, Instances: 7},
		}
	}
	a := row("lem-a", "lem-a-corrected", Fails)
	a.Witness = Instance{"S": 2, "pi": [][]string{{"3/10", "7/10"}, {"1/2", "1/2"}}, "lambda": 0.123456789}
	return []Row{a, row("lem-a-corrected", "", Holds), row("lem-b", "", Holds, "lem-a"), row("thm-c", "", Consistent, "lem-b")}
}

func TestLedgerIsReadAsWritten(t *testing.T) {
	l, err := NewLedger(sample())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"lhs": 0.333333,`, `"corrected_by": null`, `"corrected_by": "lem-a-corrected"`, `"uses": []`, `"witness": null`, `"instance": {}`, `"lambda": 0.123457`, `"$a \\le b$"`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	again, err := ParseLedger(b)
	if err != nil {
		t.Fatal(err)
	}
	if second, _ := again.JSON(); !bytes.Equal(b, second) {
		t.Errorf("read and written again:\n%s", second)
	}
	if c := l.Changes(again); c != nil {
		t.Errorf("changes: %v", c)
	}
	again.Claims[2].Verdict = Open
	again.Claims[3].ID = "thm-d"
	if c := l.Changes(again); len(c) != 2 {
		t.Errorf("changes: %q, want one verdict and one new row", c)
	}
	rows := sample()
	rows[0].LHS /= 0
	if _, err := NewLedger(rows); err == nil {
		t.Error("an infinite side was stored")
	}
}

func TestDependencies(t *testing.T) {
	l, err := NewLedger(sample())
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Dependencies()
	if err != nil {
		t.Fatal(err)
	}
	var users []string
	for _, u := range d.Users("lem-a") {
		users = append(users, u.ID)
	}
	if !slices.Equal(users, []string{"lem-b", "thm-c"}) {
		t.Errorf("users of lem-a: %v", users)
	}
	if s := d.Consequences("lem-a"); !strings.Contains(s, "`lem-b` (holds), `thm-c` (consistent)") {
		t.Error(s)
	}
	b, err := d.DOT()
	if err != nil || !bytes.Contains(b, []byte(`"lem-a" -> "lem-b"`)) || !bytes.Contains(b, []byte(`"lem-a" -> "lem-a-corrected" [style=dashed]`)) {
		t.Errorf("%s (%v)", b, err)
	}
	page, err := l.Page()
	if err != nil {
		t.Fatal(err)
	}
	if want := "S       2\nlambda  0.123457\npi      3/10  7/10\n        1/2   1/2\n"; !strings.Contains(page, want) {
		t.Errorf("no witness in\n%s", page)
	}
	for _, spoil := range []func(*Ledger){
		func(l *Ledger) { l.Claims[0].Uses = []string{"thm-c"} },
		func(l *Ledger) { l.Claims[0].Uses = []string{"lem-a"} },
		func(l *Ledger) { l.Claims[0].Uses = []string{"lem-z"} },
		func(l *Ledger) { l.Claims[0].CorrectedBy = "lem-z" },
		func(l *Ledger) { l.Claims[1].ID = "lem-b" },
	} {
		bad, err := NewLedger(sample())
		if err != nil {
			t.Fatal(err)
		}
		spoil(bad)
		if _, err := bad.Dependencies(); err == nil {
			t.Errorf("no error for %+v", bad.Claims)
		} else if !strings.HasPrefix(err.Error(), "claims: ") {
			t.Error(err)
		}
	}
}

func TestNearest(t *testing.T) {
	cs := []Claim{{ID: "lem-spectral-gap"}, {ID: "lem-tv"}, {ID: "thm-main"}, {ID: "lem-covariance"}}
	for id, want := range map[string]string{"spectral": "lem-spectral-gap", "lem-covarance": "lem-covariance", "thm-mian": "thm-main"} {
		if got := Nearest(id, cs); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %v, want %s first", id, got, want)
		}
	}
}
