package ledger

import (
	"bytes"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"learncausal/pkg/exact"
)

func TestUnsoundRowsAreFound(t *testing.T) {
	good := Finding{Tier: Exact, Verdict: Holds, Instances: 1}
	if f := (Row{Finding: good}).Unsound(); f != nil {
		t.Errorf("a good row: %v", f)
	}
	var w Worst
	w.AtMost(1, 0, func() Instance { return Instance{"S": 2} })
	w.AtMostRat(big.NewRat(1, 2), big.NewRat(1, 3), func() Instance { return Instance{"S": 3} })
	fails := w.Finding("")
	if f := (Row{Claim{Statement: `$a \le b$`, Repairs: []Repair{{}}}, fails}).Unsound(); f != nil || fails.LHS != 0.5 || !strings.Contains(fails.Note, "margin -1, S = 2") {
		t.Errorf("a row that fails: %v, %+v", f, fails)
	}
	for _, spoil := range []func(*Finding){
		func(f *Finding) { f.Instance = Instance{"S": 2} },
		func(f *Finding) { f.LHS, f.Margin = 1, Deviation(1, f.RHS) },
		func(f *Finding) { f.Margin = -1 },
		func(f *Finding) {
			var w Worst
			w.Fail(Witness{LHS: big.NewRat(1, 3), RHS: big.NewRat(1, 2)})
			*f = w.Finding("")
		},
	} {
		f := fails
		spoil(&f)
		if (Row{Claim{Statement: `$a \le b$`, Repairs: []Repair{{}}}, f}).Unsound() == nil {
			t.Errorf("not found: %+v", f)
		}
	}
	for _, spoil := range []func(*Row){
		func(r *Row) { r.Tier = "" },
		func(r *Row) { r.Verdict = "proved" },
		func(r *Row) { r.Verdict = Fails },
		func(r *Row) { r.Verdict = Consistent },
		func(r *Row) { r.Tier = ConsistentWith },
		func(r *Row) { r.Witness = &Witness{Instance: Instance{"S": 2}} },
		func(r *Row) { r.Instances = 0 },
		func(r *Row) { r.Margin = -0.1 },
		func(r *Row) { r.Repairs = []Repair{{}} },
		func(r *Row) { *r = Row{Claim{Statement: `$a \le b$`}, fails} },
		func(r *Row) { r.Kind, r.Verdict, r.Witness = Correction, Fails, &Witness{Instance: Instance{"S": 2}} },
	} {
		r := Row{Finding: good}
		spoil(&r)
		if r.Unsound() == nil {
			t.Errorf("not found: %+v", r)
		}
	}
}

func TestGapsOfTheControlsAreFound(t *testing.T) {
	whole := Claim{
		Parts: []string{"lower", "upper"}, Hypotheses: `$S\ge2$; $\pi>0$`,
		Faults: []Fault{{What: "a", Part: "lower"}, {What: "b", Part: "upper"}, {What: "c", Drops: `$\pi>0$`}},
		Spare:  []Spare{{Hypothesis: `$S\ge2$`, Why: "one state has no transitions"}},
	}
	if gaps := whole.Gaps(); gaps != nil {
		t.Errorf("a whole claim: %v", gaps)
	}
	missed := exact.Rats("1/2 1/3")[0]
	if gaps := (Claim{Repairs: []Repair{{}}, Missed: missed}).Gaps(); gaps != nil {
		t.Errorf("a claim that fails: %v", gaps)
	}
	for what, spoil := range map[string]func(*Claim){
		"a part without a fault":       func(c *Claim) { c.Parts = append(c.Parts, "equality") },
		"a hypothesis without a fault": func(c *Claim) { c.Hypotheses += "; $T>2$" },
		"a fault of no part":           func(c *Claim) { c.Faults[0].Part = "middle" },
		"a fault of no hypothesis":     func(c *Claim) { c.Faults[2].Drops = "pi" },
		"a spare that is none":         func(c *Claim) { c.Spare = append(c.Spare, Spare{"$T>2$", "none"}) },
		"a spare without a reason":     func(c *Claim) { c.Spare = []Spare{{Hypothesis: `$S\ge2$`}} },
		"faults beside repairs":        func(c *Claim) { c.Repairs, c.Missed = []Repair{{}}, missed },
		"a failure of unstated size":   func(c *Claim) { c.Faults, c.Repairs = nil, []Repair{{}} },
		"one side of a witness":        func(c *Claim) { c.Faults, c.Repairs, c.Missed = nil, []Repair{{}}, missed[:1] },
		"a share of what fails": func(c *Claim) {
			c.Faults, c.Repairs, c.Missed, c.Share = nil, []Repair{{}}, missed, 0.9
		},
		"sides of what holds":            func(c *Claim) { c.Missed = missed },
		"a loose bound without a reason": func(c *Claim) { c.Share = 0.4 },
		"a share of more than all":       func(c *Claim) { c.Share = 1.2 },
	} {
		c := whole
		c.Faults = slices.Clone(whole.Faults)
		if spoil(&c); c.Gaps() == nil {
			t.Errorf("%s is not found", what)
		}
	}
}

func TestBelowFollowsTheGrounds(t *testing.T) {
	row := func(id string, uses, restsOn []string) Row {
		return Row{Claim: Claim{ID: id, Uses: uses, RestsOn: restsOn}}
	}
	l := &Ledger{Rows: []Row{
		row("a", []string{"b"}, nil), row("b", []string{"false"}, []string{"true"}), row("true", nil, nil), row("false", nil, nil),
	}}
	if got := slices.Sorted(maps.Keys(l.Below("a", "none"))); !slices.Equal(got, []string{"a", "b", "true"}) {
		t.Errorf("below a are %v, want a, b and true", got)
	}
}

// sample is a small ledger: b uses a, which fails and has a correction; c uses b.
func sample() []Row {
	row := func(id, corrected string, v Verdict, uses ...string) Row {
		kind := Statement
		if strings.HasSuffix(id, "-corrected") {
			kind = Correction
		}
		return Row{
			Claim{ID: id, Number: "Lemma 2", Kind: kind, Title: "Title of " + id, Section: "Section", Statement: "$a \\le b$", Hypotheses: "none", Uses: uses, Corrected: corrected, Faults: []Fault{{What: "a sign"}}},
			Finding{Tier: Exact, Verdict: v, LHS: 1.0 / 3, RHS: 0.5, Margin: 1.0 / 3, Instances: 7},
		}
	}
	a := row("lem-a", "lem-a-corrected", Fails)
	a.Witness = &Witness{Instance: Instance{"S": 2, "pi": exact.Rats("3/10 7/10; 1/2 1/2"), "lambda": 0.123456789}, LHS: big.NewRat(1, 3), RHS: big.NewRat(1, 2)}
	return []Row{a, row("lem-a-corrected", "", Holds), row("lem-b", "", Holds, "lem-a"), row("thm-c", "", Consistent, "lem-b")}
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
	for _, want := range []string{`"lhs": 0.333333,`, `"corrected_by": "lem-a-corrected"`, `"uses": []`, `"witness": null`, `"instance": {}`, `"lambda": 0.123457`, `"$a \\le b$"`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in\n%s", want, b)
		}
	}
	again, err := Parse(b)
	if err != nil {
		t.Fatal(err)
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
	rows := sample()
	rows[0].LHS /= 0
	if _, err := New(rows); err == nil {
		t.Error("an infinite side was stored")
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
	if s := d.Consequences("lem-a"); !strings.Contains(s, "Lemma 2 `lem-b` (holds), Lemma 2 `thm-c` (consistent)") {
		t.Error(s)
	}
	b, err := d.DOT()
	if err != nil || !bytes.Contains(b, []byte(`"lem-a" -> "lem-b"`)) || !bytes.Contains(b, []byte(`"lem-a" -> "lem-a-corrected" [style=dashed]`)) {
		t.Errorf("%s (%v)", b, err)
	}
	page, err := l.Page(func(id string) Place { return Place{Source: "paper/claims/x.go", Line: 7} })
	if err != nil {
		t.Fatal(err)
	}
	if want := "S       2\npi      3/10  7/10\n        1/2   1/2\nlambda  0.123457\nlhs     1/3\nrhs     1/2\n"; !strings.Contains(page, want) {
		t.Errorf("no witness in\n%s", page)
	}
	for _, spoil := range []func(*Ledger){
		func(l *Ledger) { l.Rows[0].Uses = []string{"thm-c"} },
		func(l *Ledger) { l.Rows[0].Uses = []string{"lem-a"} },
		func(l *Ledger) { l.Rows[0].Uses = []string{"lem-z"} },
		func(l *Ledger) { l.Rows[0].Corrected = "lem-z" },
		func(l *Ledger) { l.Rows[1].ID = "lem-b" },
	} {
		bad, err := New(sample())
		if err != nil {
			t.Fatal(err)
		}
		spoil(bad)
		if _, err := bad.Dependencies(); err == nil {
			t.Errorf("no error for %+v", bad.Rows)
		} else if !strings.HasPrefix(err.Error(), "ledger: ") {
			t.Error(err)
		}
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
	for names, want := range map[string]int{"lem-tv": 1, "Lemma 15": 2, "lemma 1": 2, "lem-bound": 2, "lem-bound-corrected": 1} {
		if got, err := Select(all, names); err != nil || len(got) != want {
			t.Errorf("%s: %d claims (%v), want %d", names, len(got), err, want)
		}
	}
	for name, near := range map[string]string{"Lemma 16": "Lemma 1", "lem-tvv": "lem-tv", "bound": "lem-bound"} {
		if _, err := Select(all, name); err == nil || !strings.Contains(err.Error(), near) {
			t.Errorf("%s: %v, want %s named", name, err, near)
		}
	}
}

// A row says with what seed something was drawn for it, and only then.
func TestRunSaysTheSeed(t *testing.T) {
	shared := func(e *Env) Finding { e.Seed(); return Finding{} }
	stream := func(e *Env) Finding { e.Stream("points"); return Finding{} }
	cs := []Claim{{Check: shared}, {Check: stream}, {Check: func(*Env) Finding { return Finding{} }}}
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

func TestNotedStandsBeforeTheNoteOfTheCheck(t *testing.T) {
	for verdict, want := range map[Verdict]string{Holds: "Proof. Seen.", Fails: "Proof. Seen.", Open: " Seen."} {
		check := Check(func(*Env) Finding { return Finding{Verdict: verdict, Note: " Seen."} }).Noted("Proof.")
		if got := check(nil).Note; got != want {
			t.Errorf("%s: note %q, want %q", verdict, got, want)
		}
	}
}

func TestKeepCountsNoInstanceAndPassesOverTheEqualityOfZeros(t *testing.T) {
	w := Worst{Instances: 40}
	w.Keep(1, 2, func() Instance { return Instance{"S": 2} })
	w.Keep(0, 0, func() Instance { return Instance{"S": 3} })
	w.Keep(3, 4, func() Instance { return Instance{"S": 4} })
	if f := w.Finding(""); f.Instances != 40 || f.Margin != 0.25 || f.Instance["S"] != 4 {
		t.Errorf("%+v, want 40 instances and the margin 1/4 at S = 4", f)
	}
}
