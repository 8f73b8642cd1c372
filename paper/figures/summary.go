package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/figure"
	"learncausal/pkg/num"
)

// A Row compares one result of the paper, a figure or a number, with ours.
type Row struct {
	Figure int    // number in the paper, 0 for a number without figure
	ID     string // of the figure, or of the number in numbers.json
	What   string // the quantity
	// Setting says who states the setting of the runs: the text, the released code, or both.
	Setting string
	Paper   string // result of the paper
	Ours    figure.Cell
	// Interval is the uncertainty of Ours: the range over the seeds or an interval of
	// 95 % confidence, with its name; "one run"; or "exact" if nothing is sampled.
	Interval string
	Verdict  string // starts with reproduced, inPattern, "differs: ", untried or notStated
}

// Beginnings of a verdict; differs has one more. A result is in pattern if it holds in most of
// several runs, or if the largest entries are in their places and have not the stated values.
const (
	reproduced = "reproduced"
	inPattern  = "in pattern"
	untried    = "untried" // no run has the setting
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

// mostly returns reproduced if a result holds in k of k runs, in pattern if it holds in most
// runs, or else how it differs.
func mostly(k, runs int, why string) string {
	if 2*k > runs && k < runs {
		return inPattern + ": " + why
	}
	return verdict(k == runs, why)
}

// stated reports whether the paper states a result.
func (row Row) stated() bool { return !strings.HasPrefix(row.Verdict, notStated) }

// overSeeds returns the Interval of a quantity with one value for each seed.
func overSeeds(v []float64, digits int) string {
	return rangeOverSeeds(NewSample(v), digits)
}

// confidence returns the Interval of an estimate on many sequences, 95 % of a normal distribution.
func confidence(e num.Estimate, digits int) string {
	half := distuv.UnitNormal.Quantile(0.975) * e.StdErr
	return fmt.Sprintf("%.*f to %.*f (95 %%)", digits, e.Mean-half, digits, e.Mean+half)
}

// A Summary has the results of the paper with verdicts: the figures in their order, and then the numbers.
type Summary struct{ Rows []Row }

// A rowGroup is a part of the summary, with the ids of its rows.
type rowGroup struct {
	ids  []string
	rows source[[]Row]
}

func rowGroups() []rowGroup {
	return []rowGroup{
		{[]string{"fig-graph-example"}, alone(exampleRows)},
		{[]string{"fig-induction-head", "fig-single-parent"}, then(singleRuns, weightRows)},
		{[]string{"fig-single-parent"}, variedRows},
		{[]string{"fig-forward-pass"}, alone(forwardPassRows)},
		{[]string{"fig-proof-sketch"}, alone(sketchRows)},
		{[]string{"fig-multi-parent", "fig-multi-parent-printed"}, then(splits, splitRows)},
		{[]string{"fig-multi-parent-full"}, then(multiRuns, outsideRows)},
		{[]string{"fig-mlp"}, then(mlpRuns, mlpRows)},
		{[]string{"fig-many-graphs", "num-avg-attn", "num-avg-attn-sd"}, then(comparison, comparisonRows)},
		{nil, then(finalLosses, finalLossRows)},
	}
}

// summary returns the source of the rows with the given ids, or of all rows without ids.
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
	return then(joined(groups...), func(rows []Row) *Summary {
		if len(ids) > 0 {
			rows = slices.DeleteFunc(rows, func(r Row) bool { return !slices.Contains(ids, r.ID) })
		}
		for i := range rows {
			rows[i].Setting = cmp.Or(rows[i].Setting, "code")
		}
		slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(place(a), place(b)) })
		return &Summary{rows}
	})
}

// Summary returns the rows with the given ids, such as fig-mlp; without ids, all.
func (r *Results) Summary(ctx context.Context, ids ...string) (*Summary, error) {
	return summary(ids...)(ctx, r)
}

// Count returns the number of rows by the first word or words of their verdicts: reproduced,
// in pattern, differs, untried, not stated.
func (s *Summary) Count() map[string]int {
	n := map[string]int{}
	for _, row := range s.Rows {
		n[row.mark()]++
	}
	return n
}

// mark returns the first word or words of the verdict.
func (row Row) mark() string { return row.Verdict[:strings.IndexAny(row.Verdict+":", ":;")] }

// Export writes the table of the rows.
func (s *Summary) Export(dir string) ([]string, error) { return s.Table().Export(dir) }

// Table returns the table of the rows.
func (s *Summary) Table() *figure.Table {
	t := newTable(
		`What the paper says of its figures, in their order, and every number that it states: the paper, `+
			`ours, an interval, and the verdict. The interval is the range over the seeds where several runs were `+
			`made, or one of 95\,\% confidence over test sequences or runs, as it says; \textquotedblleft `+
			`exact\textquotedblright{} means that nothing is sampled.`,
		"Id", "What", "Setting", "Paper", "Ours", "Interval", "Verdict")
	t.ID, t.Long, t.Shares = "summary", true, []float64{0.12, 0.15, 0.07, 0.13, 0.17, 0.11, 0.14}
	for _, row := range s.Rows {
		what := row.What
		if row.Figure > 0 {
			what = fmt.Sprintf("Figure %d: %s", row.Figure, what)
		}
		addRow(t, row.ID, what, row.Setting, row.Paper, row.Ours, row.Interval, row.Verdict)
	}
	return t
}

// notebooks has the notebooks on the rows of the summary, by the beginnings of their ids.
var notebooks = []struct{ prefix, notebook string }{
	{"fig-graph-example", "01-task"},
	{"fig-induction-head", "03-single-parent"},
	{"fig-single-parent", "03-single-parent"},
	{"fig-forward-pass", "13-constructions"},
	{"fig-proof-sketch", "05-information"},
	{"fig-multi-parent", "12-multiple-parents"},
	{"fig-mlp", "14-standard-transformer"},
	{"fig-many-graphs", "04-many-graphs"},
	{"num-avg-attn", "04-many-graphs"},
	{"chain-", "03-single-parent"},
	{"icl-", "03-single-parent"},
	{"random-", "03-single-parent"},
	{"multi-", "12-multiple-parents"},
	{"mlp-", "14-standard-transformer"},
}

// notebook returns the file of the notebook on a row, or "".
func (row Row) notebook() string {
	for _, t := range notebooks {
		if strings.HasPrefix(row.ID, t.prefix) {
			return t.notebook + ".ipynb"
		}
	}
	return ""
}

// subject returns the figure of a row, or "numbers", with a link to the notebook.
func (row Row) subject() string {
	name := fmt.Sprintf("Figure %d", row.Figure)
	if row.Figure == 0 {
		name = "numbers"
	}
	if row.notebook() == "" {
		return name
	}
	return fmt.Sprintf("[%s](%s)", name, row.notebook())
}

// Markdown returns the rows as tables for a notebook of this repository. Rows without a
// stated result of the paper are in a folded table below the others.
func (s *Summary) Markdown() (string, error) {
	var stated, rest []Row
	for _, row := range s.Rows {
		if row.stated() {
			stated = append(stated, row)
		} else {
			rest = append(rest, row)
		}
	}
	above, err := rowTable(stated)
	if err != nil || len(rest) == 0 {
		return above, err
	}
	below, err := rowTable(rest)
	return fmt.Sprintf("%s\n<details><summary>%d results that the paper does not state, "+
		"or only as colours of a plot</summary>\n\n%s\n</details>\n", above, len(rest), below), err
}

// rowTable returns a table of rows. It writes subject and sign before the lines of a
// [figure.Table], whose cells hold neither links nor signs.
func rowTable(rows []Row) (string, error) {
	t := newTable("", "What", "Setting", "The paper", "Ours", "Interval", "Verdict")
	t.ID = "summary"
	for _, row := range rows {
		addRow(t, row.What, row.Setting, row.Paper, row.Ours, row.Interval, row.Verdict)
	}
	text, err := t.Markdown()
	if err != nil {
		return "", err
	}
	before := []string{"| Of | ", "|---|---"}
	last := ""
	for _, row := range rows {
		subject := row.subject()
		if subject == last {
			subject = ""
		} else {
			last = subject
		}
		before = append(before, "| "+subject+" | "+row.sign()+" ")
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(before[i] + line + "\n")
	}
	return b.String(), nil
}

func (row Row) sign() string {
	return cmp.Or(map[string]string{reproduced: "✓", inPattern: "≈", "differs": "✗"}[row.mark()], "·")
}
