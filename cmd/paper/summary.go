package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"learncausal/paper/figures"
)

// printSummary prints the results and the paths of the files.
func printSummary(ctx context.Context, w io.Writer, results *figures.Results, dir string) error {
	summary, err := results.Summary(ctx)
	if err != nil {
		return err
	}
	printColumns(w, resultLines(summary))
	in := func(name string) string { return filepath.Join(filepath.Base(dir), name) }
	fmt.Fprintf(w, "\nFiles: %s (PNG, PDF, TeX), %s (TeX, CSV);\n", in("fig-*"), in("tab-*"))
	fmt.Fprintf(w, "numbers as macros in %s; all on paper: %s\n", in("values.tex"), in("all.tex"))
	fmt.Fprintln(w, "paper list describes each file.")
	fmt.Fprintf(w, "\n%s\n%s\n", stored(ctx, dir), summary.Account())
	return nil
}

// stored says whether the files that the two commands write are those that git keeps.
func stored(ctx context.Context, dir string) string {
	c := exec.CommandContext(ctx, "git", "-C", filepath.Dir(dir), "status", "--porcelain", "--",
		"figures", "notebooks", "runs", "CLAIMS.md")
	switch changed, err := c.Output(); {
	case err != nil:
		return "There is no git here that could say whether the files are those that were stored."
	case len(changed) == 0:
		return "All is as stored: git finds no change in figures, notebooks, runs and CLAIMS.md."
	default:
		return "Not as stored, see git diff:\n" + strings.TrimRight(string(changed), "\n")
	}
}

// resultLines returns a line of cells for each result. The reason of a verdict stands at its end.
func resultLines(s *figures.Summary) string {
	lines := "id\tverdict\tresult\n"
	for _, r := range s.Rows {
		verdict, why, _ := strings.Cut(strings.Replace(r.Verdict, ": ", "; ", 1), "; ")
		lines += fmt.Sprintf("%s\t%s\t%s: %s", r.ID, verdict, r.What, r.Ours.Text())
		if r.Paper != "" {
			lines += "; the paper: " + r.Paper
		}
		if why != "" {
			lines += "; " + why
		}
		lines += "\n"
	}
	return lines
}
