package errata

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"learncausal/internal/property"
	"learncausal/paper/exact"
	"learncausal/paper/finitelength"
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
		if r.Failed() && (!ok || (m.Short == "") == (r.Kind == ledger.Statement)) {
			t.Errorf("%s %s: want a remark, and the witness in one line if it is a statement", r.ID, r.Verdict)
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

// The chain of the main theorem refuses a row that is only tested.
func TestChainRefusesWhatIsNotProved(t *testing.T) {
	l := stored(t)
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Chain(); err != nil {
		t.Error(err)
	}
	l.Find("lem-spectral-gap").Verdict = ledger.Tested
	_, err = e.Chain()
	property.Mentions(t, err, "lem-spectral-gap")
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
	checkPropositions(t, letter, source, numbers)
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
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
		if r.Failed() && e.remarks[r.ID].Ours == "" {
			failing++
			if r.Kind == ledger.Statement {
				statements++
			}
		}
	}
	_, rest, _ := strings.Cut(letter, `\section{Statements}`)
	before, rest, _ := strings.Cut(rest, `\section{Steps of proofs}`)
	steps, rest, _ := strings.Cut(rest, `\section{Misprints`)
	if n := strings.Count(before, "\n\\amend{"); n != statements || strings.Count(before, `\emph{Witness:}`) != n {
		t.Errorf("%d entries on statements in the letter, %d statements fail", n, statements)
	}
	if n := strings.Count(steps, "\n\\amend{"); n != failing-statements {
		t.Errorf("%d entries on steps, %d steps fail", n, failing-statements)
	}
	if n := strings.Count(rest, "\n\\amend{"); n != len(corrections())-failing {
		t.Errorf("%d entries on rows that hold, want %d", n, len(corrections())-failing)
	}
	if want := fmt.Sprintf(`\newcommand{\nFalseStatements}{%d}`, statements); !strings.Contains(letter, want) {
		t.Errorf("the letter has no %s", want)
	}
}

// checkPropositions fails unless propositions are numbered as they come and cited by their numbers.
func checkPropositions(t *testing.T, letter, source string, numbers map[string]string) {
	t.Helper()
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

// number matches the numbers of a text, of at least two digits, and fractions of two digits without braces.
var number = regexp.MustCompile(`\\t?frac\d\d|\d[\d.]*\d`)

// numbersOf returns the numbers of a text without references and labels.
func numbersOf(text string) []string {
	text = regexp.MustCompile(`11\^\{?\\top|\\(?:prop|paper|short|label|ref|at)\{[^}]*\}`+
		`|(?:Lemmas?|Theorems?|Proposition|Corollary|Appendix|Section|Figure|[Ee]q\.)[~ ]\(?[\dA-Z.]+(?:(?: and|,| to)[~ ]\d+)*`).
		ReplaceAllString(text, "")
	return number.FindAllString(text, -1)
}

// known returns the numbers that a remark or a proof may have: those of its row, of the rows below it in the
// ledger, and of its steps, which TestStepsOfProofsHold decides.
func known(l *ledger.Ledger, id, text string) map[string]bool {
	row, ids := l.Find(id), l.Below(id)
	if row.Corrected != "" {
		maps.Copy(ids, l.Below(row.Corrected))
	}
	all := map[string]bool{}
	for _, r := range l.Rows {
		if !ids[r.ID] && r.ID != id && r.Corrected != id {
			continue
		}
		has := []any{r.Statement, r.Hypotheses}
		if r.ID == id || r.Corrected == id || row.Corrected == r.ID {
			has = append(has, r.Note, r.Witness)
		}
		b, err := json.Marshal(has)
		if err != nil {
			panic(err)
		}
		for _, n := range numbersOf(strings.ReplaceAll(string(b), `\\`, `\`)) {
			all[n] = true
		}
	}
	for _, n := range numbersOf(strings.Join(steps(text), ";")) {
		all[n] = true
	}
	return all
}

// Each number of at least two digits in a remark or a proof is a number of the ledger, or of a step of the
// proof. A planted digit is found, except where the changed number belongs to the same rows.
func TestNumbersOfTheProseAreOfTheLedger(t *testing.T) {
	l := stored(t)
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
	prose := maps.Clone(e.proofs)
	for id, m := range e.remarks {
		prose[id] = m.Text + m.Line + limit.ReplaceAllString(m.Limit, "") + m.Short + m.First
	}
	planted, missed := 0, 0
	for id, text := range prose {
		allowed := known(l, id, text)
		for _, n := range numbersOf(text) {
			if strings.HasPrefix(n, `\`) {
				continue // two numbers of one digit
			}
			if !allowed[n] {
				t.Errorf("%s.tex has the number %s, and its rows do not", id, n)
			}
			planted++
			last := len(n) - 1
			if allowed[n[:last]+string('0'+(n[last]-'0'+1)%10)] {
				missed++
			}
		}
	}
	if planted < 150 || missed > planted/20 {
		t.Errorf("of %d planted digits %d are missed", planted, missed)
	}
}

// limit matches a limit that is a fraction.
var limit = regexp.MustCompile(`(?:\\to|tends to |modulus )\$?\\frac(?:\{(\d+)\}\{(\d+)\}|(\d)(\d)|(\d)\{(\d+)\})`)

// Where the limit of a left side is a fraction in words, the left side of the witness is within a thousandth of it.
func TestLimitsAreNearTheWitnesses(t *testing.T) {
	l := stored(t)
	e, err := newErratum(l)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for id, m := range e.remarks {
		for _, f := range limit.FindAllStringSubmatch(m.Limit, -1) {
			num, _ := strconv.ParseFloat(f[1]+f[3]+f[5], 64)
			den, _ := strconv.ParseFloat(f[2]+f[4]+f[6], 64)
			seen++
			if left, _ := l.Find(id).Witness.LHS.Float64(); math.Abs(left-num/den) > 1e-3 {
				t.Errorf("%s: the limit is %v/%v in words, and the witness has %v", id, num, den, left)
			}
		}
	}
	if seen < 5 {
		t.Errorf("%d limits", seen)
	}
}

// The numbers of the letter itself: its version and date, two lengths from the constants of the ledger, and else those
// of the rows that a paragraph cites.
func TestNumbersOfTheLetter(t *testing.T) {
	main := stored(t).Find("thm-main-corrected")
	var front, five, seven float64
	form := regexp.MustCompile(`\\le(\d+)\\,S\^(\d)\\gamma\^\{-(\d)\}C_\{\\gamma,S\}\^\{-\\gamma\}.*\\gamma/12`)
	for i, m := range form.FindStringSubmatch(main.Statement)[1:] {
		*[]*float64{&front, &five, &seven}[i], _ = strconv.ParseFloat(m, 64)
	}
	if !strings.Contains(main.Hypotheses, `C_{\gamma,S}^{-12}\log^2T$ with $C_{\gamma,S}=\gamma^{9/2}S^{-7/2}/10$`) {
		t.Fatalf("another hypothesis: %s", main.Hypotheses)
	}
	const s, gamma = 2., 0.4
	logC := 4.5*math.Log(gamma) - 3.5*math.Log(s) - math.Log(10)
	length := 100.0 // log T, where log T = 2 log log T - 12 log C
	for range 100 {
		length = 2*math.Log(length) - 12*logC
	}
	far := (math.Log(front/math.Log(s)) + five*math.Log(s) - seven*math.Log(gamma) - gamma*logC) * 12 / gamma
	citation, err := os.ReadFile("../../CITATION.cff")
	if err != nil {
		t.Fatal(err)
	}
	cited := regexp.MustCompile(`(?s)version: "([^"]*)".*date-released: "([^"]*)"`).FindStringSubmatch(string(citation))
	day, err := time.Parse(time.DateOnly, cited[2])
	if err != nil {
		t.Fatal(err)
	}
	date := fmt.Sprintf(`\date{Version %s, %s}`, cited[1], day.Format("2 January 2006"))
	for _, name := range []string{"letter.tex", "supplement.tex"} {
		if !strings.Contains(text(name), date) {
			t.Errorf("%s does not have %s of CITATION.cff", name, date)
		}
	}
	known := string(citation)
	for _, want := range []string{
		fmt.Sprintf("$T=10^{%.0f}$", math.Ceil(length/math.Ln10)),
		fmt.Sprintf("exceeds $10^{%.0f}$", math.Floor(far/math.Ln10)),
	} {
		known += want
		if !strings.Contains(text("letter.tex"), want) {
			t.Errorf("the letter does not have %s", want)
		}
	}
	_, body, _ := strings.Cut(text("letter.tex"), `\maketitle`)
	for _, th := range finitelength.Theorems() {
		known += fmt.Sprint(" ", th.T, exact.Inv(exact.Mul(th.Alpha, exact.Int(th.T))))
	}
	for paragraph := range strings.SplitSeq(body, "\n\n") {
		has := known
		for _, m := range regexp.MustCompile(`\\prop\{([^{}]*)\}`).FindAllStringSubmatch(paragraph, -1) {
			r := stored(t).Find(m[1])
			has += r.Statement + r.Hypotheses + r.Tried
		}
		all := numbersOf(has)
		for _, n := range numbersOf(paragraph) {
			if !strings.HasPrefix(n, `\`) && !slices.Contains(all, n) {
				t.Errorf("the letter has the number %s, and the rows that its paragraph cites have not: %s", n, paragraph)
			}
		}
	}
}
