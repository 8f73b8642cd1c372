package figures

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// README.md counts the results that differ and the statements that are false, of which no theorem is one.
func TestReadmeHasTheHeadline(t *testing.T) {
	l, err := fullLedger(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	s, err := shared.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	refuted := 0
	for _, r := range l.Rows {
		if r.Kind == ledger.Statement && r.Verdict == ledger.Refuted {
			refuted++
			if strings.HasPrefix(r.Number, "Theorem") {
				t.Errorf("%s does not survive, as README.md says", r.Number)
			}
		}
	}
	count := s.Count()
	for _, said := range []string{
		fmt.Sprintf("Of the other statements %d are false as printed", refuted),
		fmt.Sprintf("while %d of %d differ", count["differs"], len(s.Rows)-count[notStated]),
	} {
		if !strings.Contains(string(readme), said) {
			t.Errorf("README.md does not say %q", said)
		}
	}
}

// Every row leads to a notebook that is there and, if it is of a figure, speaks of it.
func TestSummaryLeadsToNotebooks(t *testing.T) {
	s, err := shared.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range s.Rows {
		text, err := os.ReadFile(filepath.Join("..", "..", "notebooks", row.notebook+".ipynb"))
		if err != nil {
			t.Errorf("%s: %v", row.ID, err)
			continue
		}
		if name := fmt.Sprintf("Figure %d", row.Figure); row.Figure > 0 && !strings.Contains(string(text), name) {
			t.Errorf("%s: %s does not speak of %s", row.ID, row.notebook, name)
		}
	}
}

func TestSummaryNamesAFigureOnceAndFoldsUnstatedRows(t *testing.T) {
	ours := figure.Value(1, 0)
	s := &Summary{[]Row{
		{
			Figure: 2, What: "a", Setting: "text", Paper: "p", Ours: ours, Interval: "i", Verdict: reproduced,
			notebook: "03",
		},
		{Figure: 2, What: "b", Paper: "p", Ours: ours, Interval: "i", Verdict: differs("so"), notebook: "03"},
		{What: "c", Ours: ours, Interval: "i", Verdict: notStated, notebook: "14"},
	}}
	got, err := s.Markdown()
	const head = "| Of | | What | Setting | The paper | Ours | Interval | Verdict |\n" +
		"|---|---|---|---|---|--:|---|---|\n"
	want := head + "| [Figure 2](03.ipynb) | ✓ | a | text | p | 1 | i | reproduced |\n" +
		"|  | ✗ | b |  | p | 1 | i | differs: so |\n\n" +
		"<details><summary>1 results that the paper does not state, or only as colours of a plot</summary>\n\n" +
		head + "| [numbers](14.ipynb) | · | c |  |  | 1 | i | not stated |\n\n</details>\n"
	if err != nil || got != want {
		t.Errorf("got\n%s%v\nwant\n%s", got, err, want)
	}
}
