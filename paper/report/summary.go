package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/paper/figure"
	"learncausal/pkg/num"
)

// A Row is one claim of the paper's on a figure or a number, and what became of
// it.
type Row struct {
	Figure int    // of the paper, 0 for a number that stands in no figure
	ID     string // of the figure, or of the number in numbers.json
	What   string
	Paper  string // what the paper says
	Ours   figure.Cell
	// Interval says how sure Ours is: the range over the seeds or an interval of
	// 95 % confidence, each named; "one run"; or "exact" where nothing is sampled.
	Interval string
	Verdict  string // starts with reproduced, "differs: " or notStated
}

// The forms of a verdict; the third is that of differs.
const (
	reproduced = "reproduced"
	notStated  = "not stated"
)

func differs(format string, args ...any) string {
	return "differs: " + fmt.Sprintf(format, args...)
}

// verdict returns reproduced if the claim holds, or how it differs.
func verdict(holds bool, why string) string {
	if holds {
		return reproduced
	}
	return differs("%s", why)
}

func (row Row) reproduced() bool { return strings.HasPrefix(row.Verdict, reproduced) }

// stated reports whether the paper says something that a row can differ from.
func (row Row) stated() bool { return !strings.HasPrefix(row.Verdict, notStated) }

// overSeeds returns the Interval of a quantity with one value for each seed.
func overSeeds(v []float64, digits int) string {
	if len(v) == 1 {
		return "one run"
	}
	return fmt.Sprintf("%.*f to %.*f over %d seeds", digits, floats.Min(v), digits, floats.Max(v), len(v))
}

// confidence returns the Interval of an estimate on many sequences, 95 % of a
// normal distribution.
func confidence(e num.Estimate, digits int) string {
	half := distuv.UnitNormal.Quantile(0.975) * e.StdErr
	return fmt.Sprintf("%.*f to %.*f (95 %%)", digits, e.Mean-half, digits, e.Mean+half)
}

// A Summary is what the paper says of its figures, in their order, and then its
// numbers, with verdicts.
type Summary struct{ Rows []Row }

// A rowGroup is a part of the summary, with the ids that it may be asked for by.
type rowGroup struct {
	ids  []string
	rows source[[]Row]
}

func rowGroups() []rowGroup {
	return []rowGroup{
		{[]string{"fig-graph-example"}, alone(exampleRows)},
		{[]string{"fig-induction-head", "fig-single-parent"}, drawn(singleRuns, weightRows)},
		{[]string{"fig-forward-pass"}, alone(forwardPassRows)},
		{[]string{"fig-proof-sketch"}, alone(sketchRows)},
		{[]string{"fig-multi-parent", "fig-multi-parent-full"}, drawn(multiRuns, multiRows)},
		{[]string{"fig-multi-parent-printed"}, drawn(printedRuns, multiRows)},
		{[]string{"fig-mlp"}, drawn(mlpRuns, mlpRows)},
		{[]string{"fig-many-graphs", "num-avg-attn", "num-avg-attn-sd"}, drawn(comparison, comparisonRows)},
		{nil, drawn(finalLosses, finalLossRows)},
	}
}

// summary returns the source of the rows with the given ids; without ids, of all.
func summary(ids ...string) source[*Summary] {
	var groups []source[[]Row]
	for _, g := range rowGroups() {
		if len(ids) == 0 || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(g.ids, id) }) {
			groups = append(groups, g.rows)
		}
	}
	place := func(r Row) int {
		if r.Figure == 0 {
			return math.MaxInt
		}
		return r.Figure
	}
	return drawn(joined(groups...), func(rows []Row) *Summary {
		if len(ids) > 0 {
			rows = slices.DeleteFunc(rows, func(r Row) bool { return !slices.Contains(ids, r.ID) })
		}
		slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(place(a), place(b)) })
		return &Summary{rows}
	})
}

// Summary returns the rows with the given ids, such as fig-mlp; without ids, all.
func (r *Results) Summary(ctx context.Context, ids ...string) (*Summary, error) {
	return summary(ids...)(ctx, r)
}

// Count returns how many of the rows are reproduced, how many differ, and on how many
// the paper states nothing.
func (s *Summary) Count() (agree, differ, silent int) {
	for _, row := range s.Rows {
		switch {
		case row.reproduced():
			agree++
		case row.stated():
			differ++
		default:
			silent++
		}
	}
	return agree, differ, silent
}

// Export writes the table of the rows.
func (s *Summary) Export(dir string) ([]string, error) { return s.Table().Export(dir) }

// Table returns the table of the rows.
func (s *Summary) Table() *figure.Table {
	t := newTable(
		`What the paper says of its figures, in their order, and every number that it states: the paper, `+
			`ours, an interval, and the verdict. The interval is the range over the seeds where several runs were `+
			`made, or one of 95\,\% confidence over test sequences or runs, as it says; \textquotedblleft `+
			`exact\textquotedblright{} means that nothing is sampled.`,
		"Id", "What", "Paper", "Ours", "Interval", "Verdict")
	t.ID, t.Long, t.Shares = "summary", true, []float64{0.13, 0.16, 0.15, 0.18, 0.12, 0.15}
	for _, row := range s.Rows {
		what := row.What
		if row.Figure > 0 {
			what = fmt.Sprintf("Figure %d: %s", row.Figure, what)
		}
		addRow(t, row.ID, what, row.Paper, row.Ours, row.Interval, row.Verdict)
	}
	return t
}

// Files returns the files of a row in dir, as a pattern.
func (row Row) Files(dir string) string {
	if strings.HasPrefix(row.ID, "fig-") {
		return filepath.Join(dir, row.ID+".*")
	}
	return filepath.Join(dir, "numbers.json")
}
