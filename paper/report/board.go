package report

import (
	"fmt"
	"strings"
)

// tellers are the notebooks that tell of the rows of the summary, by the
// beginnings of their ids.
var tellers = []struct{ prefix, notebook string }{
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

// notebook returns the file of the notebook that tells of a row, "" if none does.
func (row Row) notebook() string {
	for _, t := range tellers {
		if strings.HasPrefix(row.ID, t.prefix) {
			return t.notebook + ".ipynb"
		}
	}
	return ""
}

// subject returns the figure or number that a row is about, with a link to the
// notebook that tells of it.
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

// Board returns the rows as Markdown for a notebook of this repository: those of
// one figure together, each with a sign before its verdict, and folded below
// them what the paper does not state.
func (s *Summary) Board() (string, error) {
	var stated, rest []Row
	for _, row := range s.Rows {
		if row.stated() {
			stated = append(stated, row)
		} else {
			rest = append(rest, row)
		}
	}
	above, err := board(stated)
	if err != nil || len(rest) == 0 {
		return above, err
	}
	below, err := board(rest)
	return fmt.Sprintf("%s\n<details><summary>%d results that the paper does not state, "+
		"or only as colours of a plot</summary>\n\n%s\n</details>\n", above, len(rest), below), err
}

// board returns a table of rows. The subject and the sign stand before the lines of
// a table of cells, which holds neither links nor signs.
func board(rows []Row) (string, error) {
	t := NewTable("summary", "What", "The paper", "Ours", "Interval", "Verdict")
	for _, row := range rows {
		addRow(t, row.What, row.Paper, row.Ours, row.Interval, row.Verdict)
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

// sign returns a mark for the form of a verdict.
func (row Row) sign() string {
	switch {
	case row.reproduced():
		return "✓"
	case row.stated():
		return "✗"
	}
	return "·"
}
