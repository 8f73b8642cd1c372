package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"learncausal/paper/experiment"
	"learncausal/paper/report"
	"learncausal/pkg/runs"
)

// list prints what can be exported, with its formats, and the experiments with
// their numbers of runs.
func list(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("list", flag.ContinueOnError)
	others, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("list takes no arguments, not %q", others)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\tformats\ttitle")
	for _, e := range report.Entries() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", e.ID, strings.Join(e.Formats(), " "), e.Title)
	}
	fmt.Fprintln(t, "\nexperiment\truns\ttitle")
	for _, e := range experiment.All() {
		fmt.Fprintf(t, "%s\t%d\t%s\n", e.Name, len(e.Specs), e.Title)
	}
	return t.Flush()
}

// export writes the figures and tables of the given ids, and lists the files.
// Without ids it writes all of them, and prints the table of results. With the
// ledger in figures/ goes its page, CLAIMS.md.
func export(ctx context.Context, w io.Writer, args []string) error {
	flags := flag.NewFlagSet("export", flag.ContinueOnError)
	out := flags.String("o", "", "folder to write to (default figures/ of the checkout)")
	ids, err := parse(flags, args)
	if err != nil {
		return err
	}
	dir := *out
	if dir == "" {
		if dir, err = experiment.Dir("figures"); err != nil {
			return err
		}
	}
	results := report.New(experiment.Stored(runs.Terminal(os.Stderr)))
	paths, err := results.Export(ctx, dir, ids...)
	if err != nil {
		return err
	}
	if all := len(ids) == 0; *out == "" && (all || slices.Contains(ids, "claims")) {
		if err := report.WriteStoredLedgerPage(); err != nil {
			return err
		}
	}
	if len(ids) > 0 {
		for _, p := range paths {
			fmt.Fprintln(w, p)
		}
		return nil
	}
	return printSummary(ctx, w, results, filepath.Base(dir))
}

// printSummary prints the table of results, and where to find what it names.
func printSummary(ctx context.Context, w io.Writer, results *report.Results, dir string) error {
	summary, err := results.Summary(ctx)
	if err != nil {
		return err
	}
	table, err := summary.Table().Plain()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\nFiles:\n", table)
	seen := map[string]bool{}
	for _, row := range summary.Rows {
		if !seen[row.ID] {
			fmt.Fprintf(w, "  %-20s %s\n", row.ID, row.Files(dir))
		}
		seen[row.ID] = true
	}
	return nil
}
