package readings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"learncausal/paper"
	"learncausal/paper/ledger"
)

var regen = flag.Bool("regen", false, "write the tables of README.md anew")

// A claim is a line of a list, with its line of match.jsonl. README.md explains the fields.
type claim struct {
	List, Lines, Kind, Doubt string
	N                        int

	Class, Why string   // of the answer
	Where      []string // ids of rows, or an id or a file, a colon, and words that stand there
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
				all[k].Class, all[k].Why, all[k].Where = c.Class, c.Why, c.Where
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
	}
	for _, gone := range []string{"lem-gone", "lem-tv: words that it lacks", "notebooks/gone.ipynb: words"} {
		if stands(l, gone) {
			t.Errorf("%q stands", gone)
		}
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
