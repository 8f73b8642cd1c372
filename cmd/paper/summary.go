package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"learncausal/paper/figure"
	"learncausal/paper/report"
)

// printSummary prints the number of reproduced claims, the columns of the table of
// results that fit the page, and the paths of the files.
func printSummary(ctx context.Context, w io.Writer, results *report.Results, dir string) error {
	summary, err := results.Summary(ctx)
	if err != nil {
		return err
	}
	text, err := fitted(summary, pageWidth(w)).Plain()
	if err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	fmt.Fprintf(w, "%s\n\n%s\n", headline(summary), text)
	fmt.Fprintf(w, "Files: %s (PNG, SVG, PDF, TeX), %s (TeX, CSV);\n", in("fig-*"), in("tab-*"))
	fmt.Fprintf(w, "numbers in %s and as macros in %s; all on paper: %s\n",
		in("numbers.json"), in("values.tex"), in("all.tex"))
	fmt.Fprintln(w, "paper list describes each file.")
	return nil
}

func headline(s *report.Summary) string {
	reproduced, differ, silent := s.Count()
	verb := "differ"
	if differ == 1 {
		verb = "differs"
	}
	return fmt.Sprintf("%d of the %d values and statements that the paper gives are reproduced, %d %s; "+
		"it states none for %d more.", reproduced, reproduced+differ, differ, verb, silent)
}

// columnWidths are the widths of the columns of the table of results, by head. A narrow
// page leaves out leftOut, the first first.
var (
	columnWidths = map[string]int{"Id": 24, "What": 26, "Paper": 20, "Ours": 18, "Interval": 22, "Verdict": 22}
	leftOut      = []string{"Id", "Interval", "Paper"}
)

// fitted returns the table of results in at most width characters a line, or in the 70
// of the columns What, Ours and Verdict if the page is narrower.
func fitted(s *report.Summary, width int) *figure.Table {
	full := s.Table()
	keep := map[string]int{} // width of each column
	for _, c := range full.Columns {
		keep[c.Text] = columnWidths[c.Text]
	}
	total := func() int {
		n := -2
		for _, w := range keep {
			n += w + 2
		}
		return n
	}
	for _, name := range leftOut {
		if total() > width {
			delete(keep, name)
		}
	}
	if spare := width - total(); spare > 0 {
		keep["What"] += spare / 2
		keep["Verdict"] += spare / 2
	}
	t := &figure.Table{ID: full.ID, Long: true}
	for j, c := range full.Columns {
		w, kept := keep[c.Text]
		if !kept {
			continue
		}
		t.Columns = append(t.Columns, c)
		t.Shares = append(t.Shares, (float64(w)+0.5)/figure.PlainWidth)
		for i, row := range full.Rows {
			if len(t.Rows) <= i {
				t.Rows = append(t.Rows, nil)
			}
			t.Rows[i] = append(t.Rows[i], row[j])
		}
	}
	return t
}
