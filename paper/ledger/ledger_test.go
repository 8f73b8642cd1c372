package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"learncausal/internal/property"
	"learncausal/paper/exact"
	"learncausal/pkg/num"
)

// Each contradiction within a row is named, and nothing else.
func TestEachFaultOfARowIsNamed(t *testing.T) {
	instance := Instance{"S": 2}
	good := Row{Finding: Finding{Verdict: Tested, LHS: 1, RHS: 2, Margin: 0.5, Instances: Instances{Floats: 1}}}
	bad := Row{Claim{Statement: `$a \le b$`, Defect: Constant}, Finding{
		Verdict: Refuted, LHS: 2, RHS: 1, Margin: -0.5, Instances: Instances{Floats: 1}, Instance: instance,
		Witness: &Witness{Instance: instance, LHS: exact.Int(2), RHS: exact.Int(1)},
	}}
	floats := bad
	floats.Witness = &Witness{Instance: instance} // the sides are in the finding alone
	equation := bad
	equation.Statement, equation.LHS, equation.RHS = "$a = b$", 1, 2
	equation.Witness = &Witness{Instance: instance, LHS: exact.Int(1), RHS: exact.Int(2)}
	for i, c := range []struct {
		row   Row
		spoil func(r *Row)
		want  []string
	}{
		{good, func(r *Row) {}, nil},
		{good, func(r *Row) { r.Margin = 0 }, nil},
		{good, func(r *Row) { r.Verdict = Open; r.Margin = -1 }, nil},
		{good, func(r *Row) { r.LHS = math.Inf(-1) }, nil},
		{good, func(r *Row) { r.Kind = Correction }, nil},
		{bad, func(r *Row) {}, nil},
		{floats, func(r *Row) {}, nil},
		{floats, func(r *Row) { r.LHS, r.RHS, r.Margin = 1, 2, 0.5 }, []string{
			"fails with a positive margin", "the margin does not belong to the sides",
			"an inequality lhs <= rhs fails with lhs <= rhs",
		}},
		{equation, func(r *Row) {}, nil},
		{bad, func(r *Row) { r.Witness = nil }, []string{"fails without a witness"}},
		{good, func(r *Row) { r.Witness = bad.Witness }, []string{"has a witness but does not fail"}},
		{good, func(r *Row) { r.Margin = -0.1 }, []string{"holds with a negative margin"}},
		{good, func(r *Row) { r.Defect = Constant }, []string{"has a defect but does not fail"}},
		{good, func(r *Row) { r.Instances = Instances{} }, []string{"no instances"}},
		{good, func(r *Row) { r.Margin = math.NaN() }, []string{"a side or the margin is not a number"}},
		{good, func(r *Row) { r.Margin = math.Inf(1) }, []string{"a side or the margin is not a number"}},
		{good, func(r *Row) { r.LHS, r.RHS = math.Inf(1), math.Inf(-1) }, []string{"a side or the margin is not a number"}},
		{good, func(r *Row) { r.Margin, r.Verdict = math.Inf(-1), Open }, []string{"a side or the margin is not a number"}},
		{bad, func(r *Row) { r.Instance = Instance{"S": 3} }, []string{"instance and witness differ"}},
		{bad, func(r *Row) { r.LHS, r.Margin = 4, -0.75 }, []string{"the sides differ from the sides of the witness"}},
		{bad, func(r *Row) { r.RHS, r.Margin = 1.5, -0.25 }, []string{"the sides differ from the sides of the witness"}},
		{bad, func(r *Row) { r.Margin = -0.4 }, []string{"the margin does not belong to the sides"}},
		{bad, func(r *Row) { r.Defect = "" }, []string{"fails but has no defect"}},
		{bad, func(r *Row) { r.Kind = Correction }, []string{"the corrected statement fails"}},
		{equation, func(r *Row) { r.Statement = `$a \le b$` }, []string{"an inequality lhs <= rhs fails with lhs <= rhs"}},
		{equation, func(r *Row) {
			r.Statement, r.Witness.LHS, r.LHS, r.Margin = `$a \le b$`, r.Witness.RHS, r.RHS, 0
		}, []string{"an inequality lhs <= rhs fails with lhs <= rhs"}},
		{equation, func(r *Row) { r.Statement, r.Witness.Equation = `$a \le b$, $a = b$`, "the second" }, nil},
	} {
		r := c.row
		if r.Witness != nil {
			w := *r.Witness
			r.Witness = &w
		}
		c.spoil(&r)
		if got := r.unsound(); !slices.Equal(got, c.want) {
			t.Errorf("case %d: %q, want %q", i, got, c.want)
		}
	}
}

// A witness has sides in floats if it has both.
func TestWitnessHasTwoSides(t *testing.T) {
	one := exact.Int(1)
	for _, w := range []*Witness{nil, {}, {LHS: one}, {RHS: one}} {
		if _, _, ok := w.floats(); ok {
			t.Errorf("%+v has two sides", w)
		}
	}
}

func TestBelowFollowsTheGrounds(t *testing.T) {
	row := func(id string, uses, restsOn []string) Row {
		return Row{Claim: Claim{ID: id, Uses: uses, RestsOn: restsOn}}
	}
	l := &Ledger{Rows: []Row{
		row("a", []string{"b"}, nil), row("b", []string{"false"}, []string{"true"}), row("false", nil, nil),
		row("true", []string{"a"}, nil), // in a circle, which ends
	}}
	if got := slices.Sorted(maps.Keys(l.Below("a", "none"))); !slices.Equal(got, []string{"a", "b", "true"}) {
		t.Errorf("below a are %v, want a, b and true", got)
	}
	for i, v := range []Verdict{Proved, Proved, Refuted, Tested} {
		l.Rows[i].Verdict = v
	}
	if got := l.Weakest("a").ID; got != "true" {
		t.Errorf("the weakest row below a is %s, want the one that is tested", got)
	}
	l.Rows[1].OnPaper = []string{"false"} // its proof is that of another row
	if got := l.Weakest("a").ID; got != "false" {
		t.Errorf("the weakest row below a is %s, want the one whose proof it has", got)
	}
}

// sample is a small ledger: b uses a, which fails and has a correction; c uses b.
func sample() []Row {
	row := func(id, corrected string, v Verdict, uses ...string) Row {
		kind := Statement
		if strings.HasSuffix(id, "-corrected") {
			kind = Correction
		}
		c := Claim{ID: id, Number: "Lemma 2", Kind: kind, Title: "Title of " + id, Section: "Section"}
		c.Statement, c.Hypotheses, c.Faults = "$a \\le b$", "none", []Fault{{What: "a sign"}}
		c.Uses, c.Corrected = uses, corrected
		return Row{c, Finding{Verdict: v, LHS: 1.0 / 3, RHS: 0.5, Margin: 1.0 / 3, Instances: Instances{Floats: 7}}}
	}
	a := row("lem-a", "lem-a-corrected", Refuted)
	a.Witness = &Witness{LHS: big.NewRat(1, 3), RHS: big.NewRat(1, 2)}
	a.Witness.Instance = Instance{"S": 2, "pi": exact.Rats("3/10 7/10; 1/2 1/2"), "lambda": 0.123456789}
	return []Row{a, row("lem-a-corrected", "", Tested), row("lem-b", "", Tested, "lem-a"), row("thm-c", "", Open, "lem-b")}
}

func TestLedgerIsReadAsWritten(t *testing.T) {
	l, err := New(sample())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"lhs": 0.333333,`, `"corrected_by": "lem-a-corrected"`, `"uses": []`,
		`"witness": null`, `"instance": {}`, `"lambda": 0.123457`, `"$a \\le b$"`,
	} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	again, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, l) {
		t.Errorf("%+v is read as %+v", l, again)
	}
	if second, _ := again.JSON(); !bytes.Equal(b, second) {
		t.Errorf("read and written again:\n%s", second)
	}
	if c := l.Changes(again); c != nil {
		t.Errorf("changes: %v", c)
	}
	again.Rows[2].Verdict = Open
	again.Rows[3].ID = "thm-d"
	if c := l.Changes(again); len(c) != 2 {
		t.Errorf("changes: %q, want one verdict and one new row", c)
	}
	again.Rows[0].Note += "!"
	again.Rows[1].Spare = []Spare{{Hypothesis: "h", Why: "w"}}
	if c := l.Changes(again); len(c) != 3 || !strings.HasPrefix(c[0], again.Rows[1].ID+": spare is ") {
		t.Errorf("changes: %q, want the spared hypothesis too, and not the note", c)
	}
	if d := l.Differences(again); len(d) != 3 || !strings.HasPrefix(d[0], again.Rows[0].ID+": note is ") {
		t.Errorf("differences: %q, want a note, a verdict and a row that is gone", d)
	}
	for want, spoil := range map[string]func(r *Row){
		"ledger: lem-b: lhs +Inf, rhs 0.5, margin 0.333":  func(r *Row) { r.LHS = math.Inf(1) },
		"ledger: lem-b: lhs 0.333333, rhs NaN, margin 0.": func(r *Row) { r.RHS = math.NaN() },
		"ledger: lem-b: lhs 0.333333, rhs 0.5, margin -I": func(r *Row) { r.Margin = math.Inf(-1) },
		"ledger: lem-b: json: error":                      func(r *Row) { r.Instance = Instance{"f": math.NaN} },
	} {
		rows := sample()
		spoil(&rows[2])
		if _, err := New(rows); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	l.Rows[1].LHS = math.NaN()
	if b, err := l.JSON(); err == nil || !strings.HasPrefix(err.Error(), "ledger: writing the ledger: ") {
		t.Errorf("a side that is no number is written: %s, %v", b, err)
	}
}

// A ledger that is older, newer, edited or damaged is refused, each with an error of its own. An edited one is
// named by the first line that differs.
func TestParseTellsAgeEditsAndDamageApart(t *testing.T) {
	l, err := New(sample())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	text, last := string(b), bytes.Count(b, []byte("\n"))
	_, unsummed, _ := strings.Cut(text, "\n")
	for changed, want := range map[string]string{
		" " + text: "line 1 is \" {\\\"sha256",
		strings.Replace(text, `"id": "lem-a"`, `"id":  "lem-a"`, 1):    "line 5 was edited",
		strings.Replace(text, `"id": "lem-a"`, `"ID": "lem-a"`, 1):     "line 5 was edited",
		strings.Replace(text, `"lhs": 0.333333`, `"lhs": 0.333332`, 1): "line 1 is \"{\\\"sha256",
		strings.TrimSuffix(text, "\n"):                                 fmt.Sprintf("line %d was edited", last),
		strings.TrimSuffix(text, "\n") + " ":                           fmt.Sprintf("line %d was edited", last),
		text + "\n":                                                    fmt.Sprintf("line %d was edited", last+1),
		"{":                                                            "truncated or damaged: unexpected end of JSON",
		text[:len(text)/2]:                                             "truncated or damaged: unexpected end of JSON",
		"{" + unsummed[len(" \"layout\": 2,"):]:                        "an older program wrote it, without a checksum",
		strings.Replace(text, `"layout": 2`, `"layout": 3`, 1):         "it has layout 3, and this program reads 2: a newer",
	} {
		_, err := Parse([]byte(changed))
		property.Mentions(t, err, "reading the ledger: "+want)
	}
	accepted := 0
	property.Damages(b, func(b []byte) {
		if _, err := Parse(b); err == nil {
			accepted++
		}
	})
	if accepted > 0 {
		t.Errorf("%d damages are accepted", accepted)
	}
}

// A row keeps its stored fields alone, in the form that JSON returns.
func TestNewKeepsStoredValues(t *testing.T) {
	rows := sample()
	rows[0].Slow, rows[0].Statement = true, "$a < b$"
	l, err := New(rows)
	if err != nil {
		t.Fatal(err)
	}
	r := l.Rows[0]
	if r.Slow || r.Faults[0].What != "a sign" || r.Witness.Instance["S"] != 2.0 {
		t.Errorf("%+v", r)
	}
	if b, err := l.JSON(); err != nil || !bytes.Contains(b, []byte("$a < b$")) {
		t.Errorf("%v, not as it is printed:\n%s", err, b)
	}
	l.Rows[1].ID = r.ID
	if _, err := l.Dependencies(); err == nil || err.Error() != "ledger: two rows have the id lem-a" {
		t.Errorf("two rows with one id: %v", err)
	}
}

func TestDependencies(t *testing.T) {
	l, err := New(sample())
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
	if s := d.Consequences("lem-a"); !strings.Contains(s, "Lemma 2 `lem-b` (tested), Lemma 2 `thm-c` (open)") {
		t.Error(s)
	}
	rows := sample()
	rows[3].Verdict, rows[3].Corrected = Refuted, "lem-a-corrected"
	l.Rows = rows
	said := d.Consequences
	if s := said("lem-b"); !strings.HasSuffix(s, "false as printed: Lemma 2 `thm-c` (refuted; corrected: tested).") {
		t.Error(s)
	}
	rows[3].Corrected = ""
	if s := said("lem-b"); !strings.HasSuffix(s, "false as printed: Lemma 2 `thm-c` (refuted).") {
		t.Error(s)
	}
	rows[3].Kind = Correction
	if s := said("lem-b"); s != "No proof of another row uses it." {
		t.Errorf("a correction is no user: %s", s)
	}
	l.Rows = sample()
	b, err := d.DOT()
	if err != nil || !bytes.Contains(b, []byte(`"lem-a" -> "lem-b"`)) ||
		!bytes.Contains(b, []byte(`"lem-a" -> "lem-a-corrected" [style=dashed]`)) || bytes.Count(b, []byte("dashed")) != 1 {
		t.Errorf("%s (%v)", b, err)
	}
	if said := property.Refused(t, "ledger", func() { d.Users("lem-z") }); said != "ledger: no row has the id lem-z" {
		t.Errorf("users of a row that is not there: %q", said)
	}
	if s := l.Verdicts("CLAIMS.md"); strings.Count(s, "<details>") != 1 ||
		!strings.Contains(s, "<summary><code>lem-a</code>: refuted</summary>\n\n\n\n```text\n") {
		t.Errorf("of four rows without notes one has a witness to show: %s", s)
	}
	page := l.Page(func(id string) Place { return Place{Source: "paper/claims/x.go"} })
	if strings.Contains(page, "| step or remark |") || !strings.Contains(page, "| correction |") {
		t.Errorf("a line for steps, of which there are none, or none for a correction in\n%s", page)
	}
	page = l.Page(func(id string) Place { return Place{Source: "paper/claims/" + id + "/x.go"} })
	for _, r := range l.Rows {
		if !strings.Contains(page, "]: paper/claims/"+r.ID+"/x.go\n") {
			t.Errorf("files of one name in two folders have one link:\n%s", page)
		}
	}
}

func TestFaultsOfDependenciesAreNamed(t *testing.T) {
	top := []string{"thm-c"}
	for _, c := range []struct {
		want  string
		spoil func(*Ledger)
	}{
		{"a cycle of proofs: lem-a -> lem-b -> thm-c -> lem-a", func(l *Ledger) { l.Rows[0].Uses = top }},
		{"a cycle of proofs: lem-b -> thm-c -> lem-b", func(l *Ledger) { l.Rows[0].Uses, l.Rows[2].Uses = top, top }},
		{"lem-a uses itself", func(l *Ledger) { l.Rows[0].Uses = []string{"lem-a"} }},
		{"lem-a uses lem-z, which has no row", func(l *Ledger) { l.Rows[0].Uses = []string{"lem-z"} }},
		{"lem-a is corrected by lem-z, which has no row", func(l *Ledger) { l.Rows[0].Corrected = "lem-z" }},
		{"lem-b rests on lem-z, which has no row", func(l *Ledger) { l.Rows[2].RestsOn = []string{"lem-a", "lem-z"} }},
		{"two rows have the id lem-b", func(l *Ledger) { l.Rows[1].ID = "lem-b" }},
	} {
		bad, err := New(sample())
		if err != nil {
			t.Fatal(err)
		}
		c.spoil(bad)
		_, err = bad.Dependencies()
		if err == nil || !strings.HasPrefix(err.Error(), "ledger: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// The users of a statement have the order of the ledger, not of the proofs.
func TestUsersAreInTheOrderOfTheLedger(t *testing.T) {
	l := &Ledger{}
	for _, row := range [][]string{{"a"}, {"d", "c"}, {"b", "a"}, {"c", "b"}, {"e"}} {
		l.Rows = append(l.Rows, Row{Claim: Claim{ID: row[0], Uses: row[1:]}})
	}
	d, err := l.Dependencies()
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][]string{"a": {"d", "b", "c"}, "b": {"d", "c"}, "d": nil, "e": nil} {
		var users []string
		for _, u := range d.Users(id) {
			users = append(users, u.ID)
		}
		if !slices.Equal(users, want) {
			t.Errorf("users of %s: %v, want %v", id, users, want)
		}
	}
}

// A row is refuted if its first theorem refutes it, proved if one says all of it, else in part.
func TestTheoremsAreCounted(t *testing.T) {
	refuted, whole, part := Proof{"no", "n.v", true, ""}, Proof{"all", "a.v", false, ""}, Proof{"some", "s.v", false, "so"}
	for p, want := range map[Proof]string{
		refuted:                   "refuted in Coq, witness computed: no, n.v",
		{"no", "n.v", true, "so"}: "refuted in Coq in part: no, n.v (so)",
		whole:                     "proved in Coq: all, a.v",
		part:                      "proved in Coq in part: some, s.v (so)",
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is reported as %q, want %q", p, got, want)
		}
	}
	l := &Ledger{Rows: []Row{{}}}
	for _, proved := range [][]Proof{
		nil,
		{refuted, part},
		{refuted, whole},
		{part, whole},
		{part, refuted},
		{part, part},
		{{"no", "n.v", true, "so"}, whole},
	} {
		l.Rows = append(l.Rows, Row{Claim: Claim{Proved: proved}})
	}
	const want = "\n12 theorems of Coq in [paper/proofs](paper/proofs), without axioms and with " +
		"[numbers](paper/proofs/instances.v) that satisfy the premises before their conclusions, " +
		"confirm 3 counterexamples (2 of them whole) and 3 proofs (1 of them whole).\n"
	if got := l.theorems(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSelect(t *testing.T) {
	all := Collect(Section{"A", []Claim{
		{ID: "lem-tv", Number: "Lemma 15"},
		{ID: "lem-tv-step-max", Number: "Lemma 15", Kind: Step},
		{ID: "lem-bound", Number: "Lemma 1", Corrected: "lem-bound-corrected"},
		{ID: "lem-bound-corrected", Number: "Lemma 1"},
	}})
	if all[1].Kind != Step || all[2].Kind != Statement || all[3].Kind != Correction || all[0].Section != "A" {
		t.Errorf("collected: %+v", all)
	}
	for id, n := range map[string]int{"lem-tv": 1, "Lemma 15": 2, "lemma 1": 2, "lem-bound": 2, "lem-bound-corrected": 1} {
		if got, err := Select(all, id); err != nil || len(got) != n {
			t.Errorf("%s: %d claims (%v), want %d", id, len(got), err, n)
		}
	}
	for name, near := range map[string]string{"Lemma 16": "Lemma 1", "lem-tvv": "lem-tv", "bound": "lem-bound"} {
		_, err := Select(all, name)
		property.Mentions(t, err, near)
	}
	_, err := Select([]Claim{{ID: "lem-tv"}}, "x")
	property.Mentions(t, err, "nearest: lem-tv (") // a claim without a number
	want := `ledger: no statement has the id or number "lemma"; nearest: Lemma 15, Lemma 1, lem-tv (CLAIMS.md lists all)`
	if _, err := Select(all, "lemma"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// good is a check that holds on one instance.
func good(_ *Env, w *Worst) string {
	w.AtMost(1, 2, func() Instance { return nil })
	return ""
}

// A row has the seed if its check drew a random number.
func TestRunRecordsTheSeed(t *testing.T) {
	shared := func(e *Env, w *Worst) string { e.Seed(); return good(e, w) }
	stream := func(e *Env, w *Worst) string { e.Stream("points"); return good(e, w) }
	cs := []Claim{{Check: shared}, {Check: stream}, {Check: good}}
	reported := 0
	if _, err := Run(t.Context(), cs, true, 1, func(Row, time.Duration) { reported++ }); err != nil || reported != 3 {
		t.Errorf("reported %d rows, want 3, %v", reported, err)
	}
	rows, err := Run(t.Context(), cs, true, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{Seed, Seed, 0} {
		if rows[i].Seed != want {
			t.Errorf("row %d has the seed %d, want %d", i, rows[i].Seed, want)
		}
	}
}

// Every row that is unsound is named, and all rows are returned.
func TestRunNamesUnsoundRows(t *testing.T) {
	nothing := func(*Env, *Worst) string { return "" }
	cs := []Claim{{ID: "a", Check: nothing}, {ID: "b", Check: good}}
	rows, err := Run(t.Context(), cs, true, 2, nil)
	if err == nil || err.Error() != "ledger: a: no instances" || len(rows) != 2 || rows[1].Verdict != Tested {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
}

// After a stop no check is begun.
func TestRunBeginsNothingAfterAStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun := Claim{Check: func(*Env, *Worst) string { t.Error("a check is begun"); return "" }}
	if rows, err := Run(ctx, []Claim{begun}, true, 1, nil); rows != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%d rows, error %v", len(rows), err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	stopped := Claim{Check: func(*Env, *Worst) string { cancel(); return "" }}
	report := func(Row, time.Duration) { t.Error("a check that was stopped is reported") }
	if _, err := Run(ctx, []Claim{stopped}, true, 1, report); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Each worker runs one check at a time; there is at least one; every row is reported.
func TestRunHasWorkers(t *testing.T) {
	for workers, want := range map[int]int64{-1: 1, 0: 1, 1: 1, 3: 3} {
		var running, most atomic.Int64
		both := make(chan bool) // is closed when as many run as should
		check := func(e *Env, w *Worst) string {
			n := running.Add(1)
			defer running.Add(-1)
			if n > most.Load() {
				most.Store(n)
			}
			if n == want {
				select {
				case <-both:
				default:
					close(both)
				}
			}
			select {
			case <-both:
			case <-time.After(10 * time.Second):
			}
			time.Sleep(time.Millisecond)
			return good(e, w)
		}
		var cs []Claim
		for i := range 6 {
			cs = append(cs, Claim{ID: fmt.Sprint(i), Check: check})
		}
		var reported sync.Map
		report := func(r Row, _ time.Duration) { reported.Store(r.ID, true) }
		if _, err := Run(t.Context(), cs, true, workers, report); err != nil {
			t.Fatal(err)
		}
		n := 0
		reported.Range(func(id, _ any) bool { n++; return id != "" })
		if n != 6 || most.Load() != want {
			t.Errorf("%d workers: %d rows are reported, %d checks run at a time, want 6 and %d", workers, n, most.Load(), want)
		}
	}
}

// All claims share the seed; a stream depends on the claim and the purpose.
func TestStreamsDependOnTheClaimAlone(t *testing.T) {
	e := NewEnv(t.Context(), Claim{ID: "lem-x"}, false)
	if e.Seed() != Seed {
		t.Errorf("seed %d, want %d", e.Seed(), Seed)
	}
	if got, want := e.Stream("draws", 2, 3).Uint64(), num.Stream(Seed, "claims/lem-x/draws", 2, 3).Uint64(); got != want {
		t.Errorf("the stream begins with %d, want %d", got, want)
	}
}

func TestNotedStandsBeforeTheNoteOfTheCheck(t *testing.T) {
	seen := Check(func(e *Env, w *Worst) string { return good(e, w) + " Seen." }).Noted("Proof.")
	if got := seen.Finding(nil).Note; got != "Proof. Seen." {
		t.Errorf("note %q", got)
	}
}

func TestKeepPassesOverTheEqualityOfZeros(t *testing.T) {
	var w Worst
	w.Keep(1, 2, func() Instance { return Instance{"S": 2} })
	w.Keep(0, 0, func() Instance { return Instance{"S": 3} })
	w.Keep(0, 9, func() Instance { return Instance{"S": 5} })
	w.Keep(3, 4, func() Instance { return Instance{"S": 4} })
	if f := w.Finding(""); f.Instances.N() != 4 || f.Margin != 0.25 || f.Instance["S"] != 4 {
		t.Errorf("%+v, want 4 instances and the margin 1/4 at S = 4", f)
	}
	w = Worst{}
	w.Keep(0, 0, func() Instance { return Instance{"S": 3} })
	if f := w.Finding(""); f.Verdict != Tested {
		t.Errorf("%+v, want zero at most zero", f)
	}
	w = Worst{}
	w.Keep(0, 9, func() Instance { return Instance{"S": 5} })
	if f := w.Finding(""); f.RHS != 9 || f.Instance["S"] != 5 {
		t.Errorf("%+v, want zero below nine at S = 5", f)
	}
}

// Each type of value has its stored form, and other types are refused by name.
func TestValuesOfAnInstanceAreStored(t *testing.T) {
	third := big.NewRat(1, 3)
	for _, c := range []struct {
		value  any
		stored string
		layout string
	}{
		{nil, `null`, "none"},
		{3, `3`, "3"},
		{0.123456789, `0.123457`, "0.123457"},
		{math.Copysign(0, -1), `0`, "0"},
		{12345678.0, `12345678`, "1.2345678e+07"},
		{"two\nlines", `"two\nlines"`, "two\n   lines"},
		{[]float64{1.23456789, 2}, `[1.23457,2]`, "1.23457, 2"},
		{[][]float64{{0.123456789, 1}, {10, 2}}, `[[0.123457,1],[10,2]]`, "0.123457  1\n   10        2"},
		{third, `"1/3"`, "1/3"},
		{exact.Vector{third, exact.Int(2)}, `["1/3","2"]`, "1/3, 2"},
		{[]*big.Rat{third}, `["1/3"]`, "1/3"},
		{exact.Rats("1/2 1/2"), `[["1/2","1/2"]]`, "1/2  1/2"},
		{[]exact.Matrix{exact.Rats("1 2"), exact.Rats("3 4")}, `[[["1","2"]],[["3","4"]]]`, "1, 2\n   3, 4"},
		{parents{-1, 0}, `[0,1]`, "0, 1"},
		{[]any{1, third}, `[1,"1/3"]`, "1, 1/3"},
		{[]any{}, `[]`, "none"},
		{[]any{[]any{}, []any{1, 2}}, `[[],[1,2]]`, "none\n   1     2"},
		{[]string{"a b", "c"}, `["a b","c"]`, "a b\n   c"},
		{map[string]any{"b": 1, "aa": 2}, `{"aa":2,"b":1}`, "aa  2\n   b   1"},
		{Instance{"S": 2}, `{"S":2}`, "S  2"},
		{true, `true`, "true"},
	} {
		b, err := Instance{"x": c.value}.MarshalJSON()
		if want := `{"x":` + c.stored + "}"; err != nil || string(b) != want {
			t.Errorf("%v is stored as %s (%v), want %s", c.value, b, err, want)
		}
		if got, want := (Instance{"x": c.value}).Layout(), "x  "+c.layout+"\n"; got != want {
			t.Errorf("%v is shown as\n%s, want\n%s", c.value, got, want)
		}
	}
	for _, value := range []any{make(chan int), []any{struct{}{}}} {
		_, err := Instance{"x": value}.MarshalJSON()
		property.Mentions(t, err, "no stored form")
	}
}

type parents []int

func (p parents) Parents() []int { return p }

// Names stand in the order in which a reader needs them.
func TestLayoutBeginsWithTheSettingAndEndsWithTheSides(t *testing.T) {
	if got := (&Witness{Equation: "the second"}).Layout(); got != "equation  the second\n" {
		t.Errorf("a witness without an instance: %q", got)
	}
	want := "ledger: json: error calling MarshalJSON for type ledger.Instance: " +
		"x: a value of type struct {} has no stored form (see Instance)"
	if said := property.Refused(t, "ledger", func() { Instance{"x": struct{}{}}.Layout() }); said != want {
		t.Errorf("%q, want %s", said, want)
	}
	w := Witness{
		Instance: Instance{"zeta": 1, "mu": 2, "T": 3, "alpha": 4, "S": 5, "graph": 6, "pi": 7},
		Equation: "line 2", LHS: big.NewRat(1, 2), RHS: big.NewRat(1, 3), Squared: true,
	}
	names := strings.Fields(regexp.MustCompile(`(?m)  .*$`).ReplaceAllString(w.Layout(), ""))
	if want := "S T graph pi mu alpha zeta equation lhs^2 rhs^2"; strings.Join(names, " ") != want {
		t.Errorf("the names stand as %v, want %v", names, want)
	}
	if (&Witness{RHS: exact.Int(1)}).Layout()+(&Witness{LHS: exact.Int(1)}).Layout() != "" {
		t.Error("one side alone is shown")
	}
}

func TestWitnessesAreReadAsWritten(t *testing.T) {
	for _, w := range []Witness{
		{Instance: Instance{"S": 2.0}, Equation: "a line", Squared: true, LHS: big.NewRat(1, 3), RHS: exact.Int(-2)},
		{Instance: Instance{"S": 2.0}},
	} {
		b, err := json.Marshal(&w)
		if err != nil {
			t.Fatal(err)
		}
		var again Witness
		if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(w, again) {
			t.Errorf("%s is read as %+v (%v), want %+v", b, again, err, w)
		}
	}
	for _, bad := range []string{`{"lhs": "a/b"}`, `{"rhs": ""}`, `{`} {
		if err := json.Unmarshal([]byte(bad), new(Witness)); err == nil {
			t.Errorf("%s is a witness", bad)
		}
	}
}

func TestMarginsOfFindings(t *testing.T) {
	var w Worst
	if m := w.Margin(); !math.IsInf(m, 1) {
		t.Errorf("margin %v before the first instance", m)
	}
	w.AtMost(1, 4, here)
	w.AtMost(1, 2, here)
	w.AtMost(1, 3, here)
	if w.Margin() != 0.5 {
		t.Errorf("margin %v, want 1/2", w.Margin())
	}
	w.AtMost(math.NaN(), 4, here)
	w.Keep(1, 8, here)
	fails, open, holds := new(Worst), new(Worst), new(Worst)
	fails.AtMostRat(exact.Int(2), exact.Int(1), here)
	open.AtMost(math.NaN(), 4, here)
	holds.AtMost(1, 2, here)
	for _, c := range [][2]*Worst{{fails, open}, {fails, holds}, {open, holds}} {
		for _, order := range [][2]*Worst{{c[0], c[1]}, {c[1], c[0]}} {
			both := *order[0]
			both.Include(order[1])
			if f, want := both.Finding(""), c[0].Finding("").Verdict; f.Verdict != want || f.Instances.N() != 2 {
				t.Errorf("two of different verdicts: %s on %d instances, want %s on 2", f.Verdict, f.Instances, want)
			}
		}
	}
	inf := math.Inf(1)
	if !math.IsNaN(Slack(inf, inf)) || !math.IsNaN(Slack(1, inf)) {
		t.Error("an infinite bound has a margin")
	}
	for _, c := range []struct{ lhs, rhs, want float64 }{
		{inf, 1, -1},
		{inf, 0, -1},
		{inf, -2, -1},
		{1, 2, 0.5},
		{2, 1, -0.5},
		{-1, 1, 2},
		{1, -1, -2},
		{0, 0, 0},
		{3, 3, 0},
		{0, 2, 1},
		{-4, 0, 1},
	} {
		if got := Slack(c.lhs, c.rhs); got != c.want {
			t.Errorf("the margin of %v <= %v is %v, want %v", c.lhs, c.rhs, got, c.want)
		}
		if got := deviation(c.lhs, c.rhs); got != -math.Abs(c.want) {
			t.Errorf("the margin of %v = %v is %v, want %v", c.lhs, c.rhs, got, -math.Abs(c.want))
		}
	}
}

// The note reports a search that went further than the witness.
func TestNotesOfFindings(t *testing.T) {
	w := Worst{}
	w.AtMost(3, 1, func() Instance { return Instance{"S": 2, "p": big.NewRat(1, 2), "x": 0.5, "name": "n"} })
	w.AtMostRat(exact.Int(2), exact.Int(1), here)
	const worst = "Note. Worst found by the search: lhs 3, rhs 1, margin -0.667, S = 2, name = n, p = 1/2."
	if f := w.Finding("Note."); f.Note != worst {
		t.Errorf("note %q", f.Note)
	}
	w = Worst{}
	w.AtMostRat(exact.Int(2), exact.Int(1), here)
	if f := w.Finding("Note."); f.Note != "Note." {
		t.Errorf("note %q", f.Note)
	}
	w = Worst{}
	w.Equal([]float64{1}, []float64{1 + 1e-15}, 1e-12, here)
	if f := w.Finding("Note."); f.Note != "Note. Largest deviation 1e-15, rounding." || f.Margin != 0 {
		t.Errorf("note %q, margin %v", f.Note, f.Margin)
	}
}

// Nothing and nothing is an instance that says nothing; one side that is zero says all.
func TestZerosOfRationals(t *testing.T) {
	zero, third, half := new(big.Rat), big.NewRat(1, 3), big.NewRat(1, 2)
	for _, c := range []struct {
		lhs, rhs *big.Rat
		margin   float64
	}{{zero, zero, 1. / 3}, {zero, half, 1. / 3}, {third, third, 0}} {
		var w Worst
		w.AtMostRat(third, half, here)
		w.AtMostRat(c.lhs, c.rhs, here)
		if f := w.Finding(""); math.Abs(f.Margin-c.margin) > 1e-12 || f.Instances.N() != 2 || f.Verdict != Tested {
			t.Errorf("%v <= %v: %+v, want the margin %v", c.lhs, c.rhs, f, c.margin)
		}
	}
	var w Worst
	if w.AtMostRat(third, zero, here); !w.Failed() {
		t.Error("1/3 <= 0 holds")
	}
}

func TestStatesAreCountedFromOne(t *testing.T) {
	if got := OneBased([]int{0, 2, -1}); !slices.Equal(got, []int{1, 3, 0}) {
		t.Errorf("%v", got)
	}
	if got := Grid([]float64{1, 2, 3, 4, 5, 6}, 3); !reflect.DeepEqual(got, [][]float64{{1, 2, 3}, {4, 5, 6}}) {
		t.Errorf("%v", got)
	}
}

var regen = flag.Bool("regen", false, "write the golden files anew")

// The page of a small ledger, with a row of each kind and verdict, and the table of a
// notebook, are those in testdata.
func TestGoldenPages(t *testing.T) {
	rows := sample()
	rows[0].Proved = []Proof{{Theorem: "a_false", File: "proofs/a.v", Refutes: true}}
	rows[0].Defect, rows[3].OnPaper = Boundary, []string{"lem-a", "lem-a"}
	rows[0].Note = "A note with a | in it, and *signs*."
	rows[1].Proved = []Proof{{"a_part", "proofs/a.v", false, "one half"}, {"a_true", "proofs/a.v", false, ""}}
	rows[1].Note = "Shown."
	rows[2].Proved = []Proof{{Theorem: "b_part", File: "proofs/b.v", Gap: "one half"}}
	rows[2].Instance = Instance{"S": 3}
	more := sample()[2:]
	more[0].ID, more[0].Kind, more[0].Verdict = "lem-b-step", Step, Refuted
	more[0].Uses, more[0].Section = []string{"lem-a"}, "Section 2: More"
	more[1].ID, more[1].Verdict, more[1].Uses, more[1].Section = "thm-d", Open, nil, "Section 2: More"
	l, err := New(append(rows, more...))
	if err != nil {
		t.Fatal(err)
	}
	page := l.Page(func(id string) Place {
		p := Place{Source: "paper/claims/" + id + ".go"}
		if id == "lem-a" {
			p.Notebook, p.Proof = "notebooks/05-theory.ipynb", "3"
		}
		return p
	})
	for name, got := range map[string]string{"page.md": page, "verdicts.md": l.Verdicts("../CLAIMS.md")} {
		name = filepath.Join("testdata", name)
		if *regen {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("%v (go test -regen writes it)", err)
		}
		if got != string(want) {
			t.Errorf("%s is another; look at the difference, then run with -regen:\n%s", name, got)
		}
	}
}

// Two rows of one lemma count once, two examples of one section twice; theorems are named only
// while they stand and have a proof.
func TestAccountCountsAsAnAuthorDoes(t *testing.T) {
	row := func(number, id string, v Verdict, d Defect) Row {
		return Row{Claim: Claim{Number: number, ID: id, Kind: Statement, Defect: d}, Finding: Finding{Verdict: v}}
	}
	l := &Ledger{Rows: []Row{
		row("Theorem 1", "thm-a", Open, ""), row("Theorem 2", "thm-b", Tested, ""),
		row("Lemma 6", "lem-a", Refuted, Boundary), row("Lemma 6", "lem-b", Refuted, Missing),
		row("Lemma 7", "lem-c", Tested, ""),
		row("Section 2", "ex-a", Refuted, Missing), row("Section 2", "ex-b", Refuted, Misprint),
	}}
	step := row("Lemma 7", "lem-c-step", Refuted, Constant)
	step.Kind = Step
	l.Rows = append(l.Rows, step)
	const want = "None of 2 theorems, 1 of 2 lemmas and 2 of 2 displays and remarks are false as printed: " +
		"1 misprint, 1 boundary case and 2 missing hypotheses."
	if got := l.Account(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := l.Theorems(strings.ToUpper); got != "" {
		t.Errorf("theorems without a proof: %q", got)
	}
	l.Rows[0].OnPaper, l.Rows[1].OnPaper = []string{"e1", "e2"}, []string{"e3"}
	l.Rows[0].Verdict, l.Rows[1].Verdict = Proved, Proved
	for read, want := range map[string]string{"": ".", "a word": ": Theorem 2 needs a word."} {
		l.Rows[1].Read = read
		want = "Theorems 1 and 2 survive" + want + " Their proofs in the supplement are E1 and E2; E3."
		if got := l.Theorems(strings.ToUpper); got != want {
			t.Errorf("two theorems: %q, want %q", got, want)
		}
	}
	l.Rows[0].Verdict = Refuted
	if got := l.Theorems(strings.ToUpper); strings.Contains(got, "E1") {
		t.Errorf("a theorem that fails: %q", got)
	}
}
