package readings

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"learncausal/paper"
	"learncausal/paper/ledger"
)

var (
	regen  = flag.Bool("regen", false, "write the tables of README.md anew")
	accept = flag.Bool("accept", false, "store the rows that answer doubts: after you have read each answer and its rows")
)

// A claim is a line of a list, with its line of match.jsonl. README.md explains the fields.
type claim struct {
	List, Lines, Kind, Doubt string
	N                        int

	Class, Why string   // of the answer
	Where      []string // ids of rows, or an id or a file, a colon, and words that stand there
	Rows       string   // the verdicts of the rows, and a checksum, see answered
}

// answered returns what the rows of an answer say: whether each stands or is refuted, and a checksum of the doubt, the
// answer and the statements of the rows.
func answered(l *ledger.Ledger, c claim) string {
	var verdicts []string
	said := []string{c.Doubt, c.Class, c.Why}
	for _, place := range c.Where {
		name, _, _ := strings.Cut(place, ": ")
		if r := l.Find(name); r != nil {
			said = append(said, place, r.Statement, r.Hypotheses)
			verdict := "stands"
			if r.Failed() {
				verdict = string(ledger.Refuted)
			}
			verdicts = append(verdicts, verdict)
		}
	}
	if verdicts == nil {
		return ""
	}
	return fmt.Sprintf("%s =%.4x", strings.Join(verdicts, ", "), sha256.Sum256([]byte(strings.Join(said, "\n"))))
}

// claims returns the claims of both lists with their answers.
func claims(t *testing.T) (all []claim) {
	t.Helper()
	place := map[string]int{}
	for _, list := range []string{"a", "b", "match"} {
		b, err := os.ReadFile(list + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			c := claim{List: list}
			err := json.Unmarshal(line, &c)
			key := fmt.Sprint(c.List, c.N)
			k, known := place[key]
			switch {
			case err != nil || known != (list == "match"):
				t.Fatalf("%s.jsonl: %s: a wrong value, or a claim that is known or missing (%v)", list, line, err)
			case known:
				all[k].Class, all[k].Why, all[k].Where, all[k].Rows = c.Class, c.Why, c.Where, c.Rows
			default:
				place[key], all = len(all), append(all, c)
			}
		}
	}
	return all
}

// stands reports whether a place of an answer exists. The words of a row are in the stored ledger or in its prose.
func stands(l *ledger.Ledger, place string) bool {
	name, words, _ := strings.Cut(place, ": ")
	if strings.Contains(name, "/") {
		b, err := os.ReadFile("../../" + name)
		return err == nil && strings.Contains(string(b), words)
	}
	r := l.Find(name)
	if r == nil {
		return false
	}
	text := r.Title + r.Statement + r.Hypotheses + r.Note
	sections, _ := paper.Prose.ReadDir("claims")
	for _, s := range sections {
		b, _ := paper.Prose.ReadFile("claims/" + s.Name() + "/" + name + ".tex") // one section has it, or none
		text += string(b)
	}
	return strings.Contains(text, words)
}

func TestDoubtsHaveAnswers(t *testing.T) {
	b, err := os.ReadFile("../../figures/claims.json")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claims(t) {
		at := fmt.Sprintf("claim %d of list %s, lines %s of the paper, doubt %q", c.N, c.List, c.Lines, c.Doubt)
		switch needsPlace := slices.Contains([]string{"row", "note", "lines", "proof"}, c.Class); {
		case c.Doubt == "" && c.Class == "":
		case needsPlace && len(c.Where) == 0, !needsPlace && c.Why == "":
			t.Errorf("%s: the answer %q has no place or no reason", at, c.Class)
		}
		for _, place := range c.Where {
			if !stands(l, place) {
				t.Errorf("%s: nothing stands at %q, which is the answer", at, place)
			}
		}
		if want := answered(l, c); c.Rows != want && !*accept {
			t.Errorf("%s: the answer, or a row of %v, is another, %q, stored %q: if it answers the doubt, "+
				"go test ./paper/readings -accept stores it", at, c.Where, want, c.Rows)
		}
	}
	if *accept {
		acceptRows(t, l)
	}
	for _, gone := range []string{"lem-gone", "lem-tv: words that it lacks", "notebooks/gone.ipynb: words"} {
		if stands(l, gone) {
			t.Errorf("%q stands", gone)
		}
	}
}

// acceptRows writes what the rows of all answers say into match.jsonl.
func acceptRows(t *testing.T, l *ledger.Ledger) {
	b, err := os.ReadFile("match.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, c := range claims(t) {
		of[fmt.Sprintf("{\"list\": %q, \"n\": %d,", c.List, c.N)] = answered(l, c)
	}
	stored, head := regexp.MustCompile(`, "rows": "[^"]*"`), regexp.MustCompile(`^\{"list": "\w", "n": \d+,`)
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(stored.ReplaceAllString(line, ""), "}\n")
		if rows := of[head.FindString(line)]; rows != "" {
			line += fmt.Sprintf(", \"rows\": %q", rows)
		}
		out.WriteString(line + "}\n")
	}
	if err := os.WriteFile("match.jsonl", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// counts returns a table of the answers to claims with or without a doubt, by kind of claim.
func counts(all []claim, doubted bool, head string, classes ...string) string {
	table := fmt.Sprintf("| %s | %s | none | all |\n|---|%s\n", head, strings.Join(classes, " | "),
		strings.Repeat("--:|", len(classes)+2))
	for _, kind := range []string{
		"statement", "display", "proof-step", "definition, assumption", "prose, related, future",
		"caption, number, experiment",
	} {
		of := make([]int, len(classes)+2)
		for _, c := range all {
			if strings.Contains(kind, c.Kind) && (c.Doubt != "") == doubted {
				of[slices.Index(append(classes, ""), c.Class)]++
				of[len(classes)+1]++
			}
		}
		table += fmt.Sprintf("| %s | %s |\n", kind, strings.Trim(strings.ReplaceAll(fmt.Sprint(of), " ", " | "), "[]"))
	}
	return table + "\n"
}

// unchecked returns a table of what was not checked, by its reason.
func unchecked(all []claim) string {
	reasons := map[string][]string{}
	for _, c := range all {
		if from, _, _ := strings.Cut(c.Lines, "-"); c.Class == "unchecked" && !slices.Contains(reasons[c.Why], from) {
			reasons[c.Why] = append(reasons[c.Why], from)
		}
	}
	table := "| read, not checked, because | lines of the paper's source |\n|---|---|\n"
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		slices.SortFunc(reasons[why], func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
		table += fmt.Sprintf("| %s | %s |\n", why, strings.Join(reasons[why], ", "))
	}
	return table
}

func TestReadmeCountsTheAnswers(t *testing.T) {
	const begin, end = "<!-- counts -->\n", "<!-- end -->"
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(b), begin)
	_, tail, _ := strings.Cut(rest, end)
	all := claims(t)
	want := head + begin + counts(all, true, "doubts on", "row", "note", "pedantry", "wrong", "unchecked") +
		counts(all, false, "no doubt on", "note", "lines", "proof", "unchecked") + unchecked(all) + end + tail
	if *regen {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(b) != want {
		t.Error("README.md has other counts; write them with: go test ./paper/readings -regen")
	}
}
