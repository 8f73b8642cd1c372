package figures

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// inForm reports whether a verdict starts with a mark, and one that needs a reason has it.
func inForm(v string) bool {
	mark, why, _ := strings.Cut(v, ": ")
	return slices.Contains(rowMarks, mark) && (why != "" || mark == reproduced || mark == notStated)
}

func TestVerdictsBeginWithAMark(t *testing.T) {
	summary, err := shared.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := summary.Rows
	figures := map[int]bool{}
	for _, row := range rows {
		figures[row.Figure] = true
		if !inForm(row.Verdict) {
			t.Errorf("%s, %s: verdict %q, want a mark, and a reason", row.ID, row.What, row.Verdict)
		}
		if row.Interval == "" || row.Setting == "" {
			t.Errorf("%s, %s: no interval or no setting", row.ID, row.What)
		}
	}
	if len(figures) != 10 {
		t.Errorf("rows for the figures %v, want 1 to 9, and 0 for the numbers", figures)
	}
	place := func(r Row) int { return (r.Figure + 9) % 10 }
	if !slices.IsSortedFunc(rows, func(a, b Row) int { return cmp.Compare(place(a), place(b)) }) {
		t.Error("the rows are not in the order of the figures, with the numbers behind them")
	}

	// Each number of its own has a macro.
	for _, n := range summary.Numbers() {
		if n.Value == 0 || n.Interval == "" {
			t.Errorf("number %+v: want a value and an interval", n)
		}
	}
	if n := len(summary.Numbers()); n < 10 {
		t.Errorf("%d numbers, want the mean of Figure 9, its deviation and final losses", n)
	}
}

// A value far from ours does not pass for one more of our runs.
func TestPaperSpreadCanDiffer(t *testing.T) {
	c, err := LoadComparison(Figure9)
	if err != nil {
		t.Fatal(err)
	}
	if v := spreadVerdict(c.Variance()); !strings.HasPrefix(v, reproduced) {
		t.Errorf("the paper's 0.054: %s", v)
	}
	for g := range c.Printed {
		c.Printed[g] = 0.837 + 1.5*(c.Printed[g]-0.837)
	}
	if v := spreadVerdict(c.Variance()); !strings.HasPrefix(v, "differs: ") {
		t.Errorf("half as much again as the paper's 0.054: %s", v)
	}
}

// Runs of a sweep count as stored runs do: Figure 5 has all seeds of several-parents, also of the
// setting in which most heads share parents, and Figure 6 the rates and priors of the text.
func TestSummaryCountsSweeps(t *testing.T) {
	s, err := shared.Summary(t.Context(), "fig-multi-parent-printed", "fig-single-parent")
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, row := range s.Rows {
		n[row.mark()]++
		if row.What == "4-gram, printed" && row.mark() != tooFew {
			t.Errorf("%s: %s (%s)", row.What, row.Verdict, row.Ours.Text())
		}
	}
	if n[reproduced] != 1 || n[tooFew] != 3 || n[samePlaces] != 10 || n[differing] != 3 {
		t.Errorf("%v", n)
	}
}

// The interval of the share decides, and at most twenty rows of the summary rest on one.
func TestIntervalsDecide(t *testing.T) {
	for want, shares := range map[string][][2]int{
		allRuns: {{20, 20}, {10, 10}}, mostRuns: {{18, 20}}, tooFew: {{5, 5}, {9, 10}, {16, 20}, {11, 20}, {5, 20}, {0, 3}},
		fewRuns: {{1, 20}, {0, 10}},
	} {
		for _, s := range shares {
			if got := (Row{Verdict: overRuns(s[0], s[1])}).mark(); got != want {
				t.Errorf("%d of %d runs: %s, want %s", s[0], s[1], got, want)
			}
		}
	}
	summary, err := shared.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := summary.Count()
	if shares := n[allRuns] + n[mostRuns] + n[tooFew] + n[fewRuns]; shares > 20 || 20*(1-confident) > 0.05+1e-12 {
		t.Errorf("%d rows rest on intervals of confidence %v", shares, confident)
	}
}

// Rows that are asked for by id are those of the whole summary, and load only
// their runs.
func TestRowsByIDEqualTheRowsOfTheSummary(t *testing.T) {
	loads := 0
	some, err := New(func(ctx context.Context, spec train.Spec) (*runs.Run, error) {
		loads++
		return stored(ctx, spec)
	}).Summary(t.Context(), "fig-induction-head", "fig-graph-example")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, row := range some.Rows {
		ids = append(ids, row.ID)
	}
	want := []string{"fig-graph-example", "fig-induction-head", "fig-induction-head", "fig-induction-head"}
	if !slices.Equal(ids, want) || loads != 3 {
		t.Errorf("rows %v out of %d runs, want %v out of 3", ids, loads, want)
	}
}
