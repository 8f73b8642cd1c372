package claims

import (
	"os"
	"slices"
	"strings"
	"testing"

	"learncausal/paper/ledger"
)

// statements returns the ids of the paper's statements, numbered or displayed. Names of figures have a colon.
func statements(t *testing.T) (ids []string) {
	places, err := os.ReadFile("../errata/text/places.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(places)) {
		if id, _, _ := strings.Cut(line, " "); id[0] >= 'a' && id[0] <= 'z' && !strings.Contains(id, ":") {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestEveryStatementHasAClaim(t *testing.T) {
	have := map[string]bool{}
	for _, c := range All() {
		if have[c.ID] {
			t.Errorf("two claims have the id %s", c.ID)
		}
		have[c.ID] = true
	}
	for _, id := range statements(t) {
		if !have[id] {
			t.Errorf("no claim has the id %s", id)
		}
	}
}

// What is neither in the list of statements nor a correction is a step or remark.
func TestOnlyStatementsAreOfTheirKind(t *testing.T) {
	for _, c := range All() {
		want := ledger.Step
		switch {
		case strings.HasSuffix(c.ID, "-corrected"):
			want = ledger.Correction
		case slices.Contains(statements(t), c.ID):
			want = ledger.Statement
		}
		if c.Kind != want {
			t.Errorf("%s is a %s, want %s", c.ID, c.Kind, want)
		}
	}
}

func TestEveryClaimIsComplete(t *testing.T) {
	for _, c := range All() {
		for what, s := range map[string]string{
			"ID": c.ID, "Number": c.Number, "Title": c.Title, "Section": c.Section,
			"Statement": c.Statement, "Hypotheses": c.Hypotheses,
		} {
			if strings.TrimSpace(s) == "" || strings.Contains(s, "\n") {
				t.Errorf("%s: %s is %q, want one line", c.ID, what, s)
			}
		}
		if strings.Count(c.Statement, "$")%2 != 0 || strings.Count(c.Hypotheses, "$")%2 != 0 {
			t.Errorf("%s: a formula is not closed", c.ID)
		}
		if words := strings.ReplaceAll(outside(c.Statement+" "+c.Hypotheses), `\_`, ""); strings.ContainsAny(words, `\_^{}`) {
			t.Errorf("%s: LaTeX outside of a formula: %s", c.ID, words)
		}
		if c.Check == nil || c.Defect == "" && len(c.Faults)+len(c.Bounds) == 0 {
			t.Errorf("%s: want a check, and a bound, a planted fault or a defect", c.ID)
		}
		if c.Defect != "" && (!slices.Contains(ledger.Defects, c.Defect) || c.Corrected == "") {
			t.Errorf("%s: the defect is %q and the correction %q, want one of %q and an id",
				c.ID, c.Defect, c.Corrected, ledger.Defects)
		}
		for _, gap := range gaps(c) {
			t.Errorf("%s: %s", c.ID, gap)
		}
		if c.Corrected != "" && c.Corrected != c.ID+"-corrected" {
			t.Errorf("%s: corrected by %s, want the suffix -corrected", c.ID, c.Corrected)
		}
	}
}

// outside returns the text between the formulas of a line of LaTeX.
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
			for _, fault := range c.Faults {
				if !fault.Check.Refuses(ledger.NewEnv(t.Context(), c, true)) {
					f := fault.Check.Finding(ledger.NewEnv(t.Context(), c, true))
					t.Errorf("%s, with this fault: %s. The check found %+v", c.ID, fault.What, f)
				}
			}
		})
	}
}
