package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
)

// A Row compares one result of the paper, a figure or a number, with ours.
type Row struct {
	Figure int    // number in the paper, 0 for a number without figure
	ID     string // of the figure, or of the number and its macro
	What   string // the quantity
	// Setting says who states the setting of the runs: the text, the released code, or both.
	Setting string
	Paper   string // result of the paper
	Ours    figure.Cell
	// Interval is the uncertainty of Ours: the range over the seeds or an interval of
	// 95 % confidence, with its name; "one run"; or "exact" if nothing is sampled.
	Interval string
	Verdict  string // starts with one of rowMarks
	Again    string // the command of paper that makes the runs again, their number and about the time of one core

	notebook string
}

// The marks with which verdicts begin.
const (
	reproduced = "reproduced"
	allRuns    = "in all runs"          // and of so many that the interval of their share lies above one half
	mostRuns   = "in most runs"         // the interval lies above one half
	tooFew     = "too few runs to tell" // the interval contains one half
	fewRuns    = "in few runs"          // the interval lies below one half
	samePlaces = "same largest entries" // one run: they are where the paper has them, with other values
	oneOfOurs  = "like one of our runs" // a value of the authors' plots that could be one more of them
	differing  = "differs"              // a reason follows
	notStated  = "not stated"
)

var rowMarks = []string{reproduced, allRuns, mostRuns, tooFew, fewRuns, samePlaces, oneOfOurs, differing, notStated}

// confident is the confidence of the intervals of shares and of a value of one more run. Twenty results have it, one of
// them at twenty seeds and again at forty, and so 94.75 % together.
const confident = 1 - 0.05/20

func differs(format string, args ...any) string {
	return differing + ": " + fmt.Sprintf(format, args...)
}

// verdict returns reproduced if the claim holds, or how it differs.
func verdict(holds bool, why string) string {
	if holds {
		return reproduced
	}
	return differs("%s", why)
}

// overRuns returns the verdict on a result that k of several runs have.
func overRuns(k, runs int) string {
	mark := tooFew
	switch share := trial.ClopperPearson(k, runs, confident); {
	case share[0] > 0.5 && k == runs:
		mark = allRuns
	case share[0] > 0.5:
		mark = mostRuns
	case share[1] < 0.5:
		mark = fewRuns
	}
	return fmt.Sprintf("%s: %d of %d", mark, k, runs)
}

// stated reports whether the paper states a result.
func (row Row) stated() bool { return !strings.HasPrefix(row.Verdict, notStated) }

// A Summary has the results of the paper with verdicts: the figures in their order, and then the numbers.
type Summary struct{ Rows []Row }

// A rowGroup is a part of the summary.
type rowGroup struct {
	notebook string   // on its figures or numbers
	again    string   // see [Row]
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
					row.Setting, row.Again, row.notebook = cmp.Or(row.Setting, "code"), g.again, g.notebook
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

// Count returns the number of rows by the first word or words of their verdicts.
func (s *Summary) Count() map[string]int {
	n := map[string]int{}
	for _, row := range s.Rows {
		n[row.mark()]++
	}
	return n
}

// Account returns the counts that are not 0 as a sentence.
func (s *Summary) Account() string {
	n, parts := s.Count(), []string(nil)
	for _, mark := range rowMarks[:len(rowMarks)-1] {
		if n[mark] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", mark, n[mark]))
		}
	}
	return fmt.Sprintf("Of %d results that the paper states or plots: %s; %d more that it does not state.",
		len(s.Rows)-n[notStated], strings.Join(parts, ", "), n[notStated])
}

// mark returns the first word or words of the verdict.
func (row Row) mark() string { return row.Verdict[:strings.IndexAny(row.Verdict+":", ":;")] }

// Export writes the table of the rows.
func (s *Summary) Export(dir string) ([]string, error) { return s.Table().Export(dir) }

// Numbers returns the numbers that belong to no figure, each from the first row of its id.
func (s *Summary) Numbers() (ns figure.Numbers) {
	for _, row := range s.Rows {
		n, ok := row.Ours.Number(row.ID)
		if n.Interval, n.Paper = row.Interval, row.Paper; !ok || row.Figure > 0 {
			continue
		}
		if !slices.ContainsFunc(ns, func(m figure.Number) bool { return m.ID == n.ID }) {
			ns = append(ns, n)
		}
	}
	return ns
}

// Table returns the table of the rows.
func (s *Summary) Table() *figure.Table {
	t := figure.NewTable(
		`What the paper says of its figures, in their order, and every number that it states: the paper, `+
			`ours, an interval, and the verdict. The interval is the range over the seeds where several runs were `+
			`made, or a confidence interval over test sequences or runs; \textquotedblleft `+
			`exact\textquotedblright{} means that nothing is sampled. Of several runs, most or few have a result if the `+
			fmt.Sprintf(`Clopper-Pearson interval of their share, of %.4g\,\%% confidence for each of 20 results, lies above `,
				100*confident)+`or below one half; else there are too few runs to tell. A value of the authors' plots is like one `+
			`of our runs if it could be one more of them, at the same level. The command of the last column makes `+
			`the runs again, in about the stated time of one core.`,
		"Id", "What", "Setting", "Paper", "Ours", "Interval", "Verdict", "Again")
	t.ID, t.Long, t.Shares = "summary", true, []float64{0.11, 0.13, 0.06, 0.12, 0.16, 0.1, 0.13, 0.08}
	for _, row := range s.Rows {
		what := row.What
		if row.Figure > 0 {
			what = fmt.Sprintf("Figure %d: %s", row.Figure, what)
		}
		t.Add(row.ID, what, row.Setting, row.Paper, row.Ours.Shown(), row.Interval, row.Verdict, row.Again)
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
	signs := map[string]string{
		reproduced: "✓", allRuns: "✓", mostRuns: "✓", samePlaces: "≈", oneOfOurs: "≈", tooFew: "?",
		fewRuns: "✗", differing: "✗",
	}
	return cmp.Or(signs[row.mark()], "·")
}
