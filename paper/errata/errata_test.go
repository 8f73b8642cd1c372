package errata

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"learncausal/paper/ledger"
)

// stored returns the ledger of the checkout, or of the folder that FIGURES names.
func stored(t *testing.T) *ledger.Ledger {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("FIGURES"), "../../figures"), "claims.json"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every row that fails has a remark, and every correction has a proof. A remark on a row that holds, a proof of a row
// that fails and a file of no row are errors.
func TestProseCoversTheLedger(t *testing.T) {
	l := stored(t)
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range l.Rows {
		m, ok := e.remarks[r.ID]
		if r.Failed() && !ok {
			t.Errorf("%s %s, but has no remark", r.ID, r.Verdict)
		}
		if r.Witness != nil && r.Witness.LHS == nil && strings.Contains(m.Sides, "HS") {
			t.Errorf("the remark on %s quotes two sides that its witness does not have", r.ID)
		}
		if r.Kind == ledger.Correction && e.proofs[r.ID] == "" {
			t.Errorf("the correction %s has no proof", r.ID)
		}
	}
	for _, spoil := range []func(r *ledger.Row){
		func(r *ledger.Row) { r.ID = "lem-gone" },
		func(r *ledger.Row) {
			r.Verdict = map[bool]ledger.Verdict{true: ledger.Tested, false: ledger.Refuted}[r.Failed()]
		},
	} {
		for _, id := range []string{"lem-bound-g1", "lem-bound-g1-corrected"} {
			other := stored(t)
			spoil(other.Find(id))
			if _, err := newErratum(other); err == nil {
				t.Errorf("prose of %s without its row, or with the other verdict, is accepted", id)
			}
		}
	}
}

// Propositions are numbered as they come, the letter has a line for each row that fails, with the number of
// its correction, and the numbers in the text are those of the ledger.
func TestDocumentCountsItsFigures(t *testing.T) {
	l := stored(t)
	letter, err := Letter(l)
	if err != nil {
		t.Fatal(err)
	}
	source, err := Supplement(l)
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := Numbers(l)
	if err != nil {
		t.Fatal(err)
	}
	labels := regexp.MustCompile(`\\label\{prop:([^}]*)\}`).FindAllStringSubmatch(source, -1)
	for i, m := range labels {
		if want := fmt.Sprintf("E%d", i+1); numbers[m[1]] != want {
			t.Errorf("%s is printed as %s and cited as %s", m[1], want, numbers[m[1]])
		}
	}
	if len(labels) != len(numbers) {
		t.Errorf("%d propositions, %d numbers", len(labels), len(numbers))
	}
	for _, m := range regexp.MustCompile(`\\proofof\{([^}]*)\}\{(\d+)\}`).FindAllStringSubmatch(letter+source, -1) {
		if numbers[m[1]] != "E"+m[2] {
			t.Errorf("%s is cited as E%s, its number is %q", m[1], m[2], numbers[m[1]])
		}
	}
	_, tail, _ := strings.Cut(letter, `\begin{longtable}`)
	table, _, _ := strings.Cut(tail, `\end{longtable}`)
	failing, statements := 0, 0
	for _, r := range l.Rows {
		if strings.HasPrefix(r.Number, "Theorem ") && r.Kind == ledger.Statement && r.Failed() {
			t.Errorf("the first page says that %s is true, but %s %s", r.Number, r.ID, r.Verdict)
		}
		for _, id := range r.OnPaper {
			if numbers[id] == "" {
				t.Errorf("%s is proved by %s, which has no proof in the erratum", r.ID, id)
			}
		}
		if r.Failed() {
			failing++
			if r.Kind == ledger.Statement {
				statements++
			}
		}
	}
	if n := strings.Count(letter, "\n\\finding{"); n != statements {
		t.Errorf("%d entries in the letter, %d statements fail", n, statements)
	}
	if n := strings.Count(table, `\proofof{`); n != failing-statements {
		t.Errorf("%d lines in the table of steps, %d steps fail", n, failing-statements)
	}
	if want := fmt.Sprintf(`\newcommand{\nFalseStatements}{%d}`, statements); !strings.Contains(letter, want) {
		t.Errorf("the letter has no %s", want)
	}
}

// A proof cites its own row and rows on which the ledger says that it rests. A number in words
// counts too, but for a number after "proof of", "the g of", "as in" and "neither", which point elsewhere.
func TestProofsRestOnTheirCitations(t *testing.T) {
	l := stored(t)
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
	cited := regexp.MustCompile(`\\(?:prop|paper)\{([^}]*)\}` +
		`|(proof of |the \$g\$ of |as in |neither )?((?:Lemma|Corollary|Theorem)~\d+)`)
	strays := func(id, proof string) (out []string) {
		below := l.Below(id)
		for _, m := range cited.FindAllStringSubmatch(proof, -1) {
			rests := below[m[1]] || m[2] != ""
			for _, r := range l.Rows {
				rests = rests || below[r.ID] && tied(r.Number) == m[3]
			}
			if !rests {
				out = append(out, m[0])
			}
		}
		return out
	}
	for id, proof := range e.proofs {
		if bad := strays(id, proof); len(bad) > 0 {
			t.Errorf("%s.tex cites %q, which are not below its row: add them to its RestsOn or Uses", id, bad)
		}
	}
	planted := `By \prop{thm-dpi-gap-corrected}, Lemma~15 and Lemma~99, as in the proof of Lemma~98.`
	if bad := strays("lem-tv", planted); len(bad) != 2 {
		t.Errorf("planted citations: %q", bad)
	}
}
