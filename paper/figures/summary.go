package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"learncausal/internal/figure"
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

	notebook string
}

// Verdicts; "differs" is followed by a reason. A result is in pattern if it holds in most of
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

// A Summary has the results of the paper with verdicts: the figures in their order, and then the numbers.
type Summary struct{ Rows []Row }

// A rowGroup is a part of the summary.
type rowGroup struct {
	notebook string   // on its figures or numbers
	ids      []string // of its rows
	rows     source[[]Row]
}

// summary returns the source of the rows with the given ids, or of all rows without ids.
func summary(ids ...string) source[*Summary] {
	wanted := func(id string) bool { return len(ids) == 0 || slices.Contains(ids, id) }
	place := func(r Row) int { return cmp.Or(r.Figure, math.MaxInt) }
	return func(ctx context.Context, r *Results) (*Summary, error) {
		s := new(Summary)
		for _, g := range rowGroups() {
			if len(ids) > 0 && !slices.ContainsFunc(g.ids, wanted) {
				continue
			}
			rows, err := g.rows(ctx, r)
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				if wanted(row.ID) {
					row.Setting, row.notebook = cmp.Or(row.Setting, "code"), g.notebook
					s.Rows = append(s.Rows, row)
				}
			}
		}
		slices.SortStableFunc(s.Rows, func(a, b Row) int { return cmp.Compare(place(a), place(b)) })
		return s, nil
	}
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
	t := figure.NewTable(
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
		t.Add(row.ID, what, row.Setting, row.Paper, row.Ours, row.Interval, row.Verdict)
	}
	return t
}

// subject returns the figure of a row, or "numbers", with a link to the notebook.
func (row Row) subject() string {
	name := fmt.Sprintf("Figure %d", row.Figure)
	if row.Figure == 0 {
		name = "numbers"
	}
	return fmt.Sprintf("[%s](%s.ipynb)", name, row.notebook)
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
	t := figure.NewTable("", "What", "Setting", "The paper", "Ours", "Interval", "Verdict")
	t.ID = "summary"
	for _, row := range rows {
		t.Add(row.What, row.Setting, row.Paper, row.Ours, row.Interval, row.Verdict)
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
