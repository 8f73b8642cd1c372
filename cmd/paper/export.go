package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
	"learncausal/paper/report"
	"learncausal/pkg/runs"
)

func newExport() *cobra.Command {
	var out, width string
	c := &cobra.Command{
		Use:   "export [id...]",
		Short: "Write the paper's figures, tables and numbers",
		Long: `export writes the figures and tables of the ids and prints the paths of their
files. Without ids it writes all of them, which takes a minute or two, and prints
the table of results: what the paper says, what we find, and a verdict.

A figure comes as PNG, SVG, PDF and TeX, a table as TeX and CSV. Each file is
replaced as a whole, and only if it differs. With ids and -o, captions.tex in that
folder gets their captions and descriptions; without ids it has all of them. A
figure whose id ends in -1col fits a column of two; --width lays figures out for
any other width. A table fits the line that it stands in.`,
		Example: `  paper export                                # figures/ of the checkout
  paper export -o my-figures fig-many-graphs  # one figure, in a few seconds
  paper export -o slides --width 128mm fig-mlp fig-ood`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var ids []cobra.Completion
			for _, e := range report.Entries() {
				ids = append(ids, cobra.CompletionWithDesc(e.ID, e.Title))
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, ids []string) error {
			if err := named(c.Flags(), "out"); err != nil {
				return err
			}
			return export(c.Context(), c.OutOrStdout(), out, width, ids)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "`folder` to write to (default figures/ of the checkout)")
	c.Flags().StringVar(&width, "width", "", "`width` of the figures, as in 5.5in or 84mm; needs ids and -o")
	return c
}

// chosen returns the entries of ids, their figures laid out for a width if one is given.
func chosen(ids []string, width, out string) ([]report.Entry, error) {
	if width != "" && (len(ids) == 0 || out == "") {
		return nil, errors.New("--width is for some figures in a folder of yours: " +
			"give their ids, and the folder with -o")
	}
	for _, id := range ids {
		name := strings.TrimSuffix(id, ".tex")
		if slices.Contains([]string{"captions", "values", "all"}, name) {
			return nil, fmt.Errorf("%s has no id: paper export without ids writes %s.tex of everything; "+
				"captions go with the ids of figures and tables, values with numbers", id, name)
		}
	}
	entries, err := report.Select(ids...)
	if err != nil || width == "" {
		return entries, err
	}
	w, err := figure.ParseWidth(width)
	for i, e := range entries {
		entries[i] = e.At(w)
	}
	return entries, err
}

// export writes the figures and tables of the given ids, and lists the files.
// Without ids it writes all of them, and prints the table of results. With the
// ledger in figures/ goes its page, CLAIMS.md.
func export(ctx context.Context, w io.Writer, out, width string, ids []string) error {
	entries, err := chosen(ids, width, out)
	if err != nil {
		return err
	}
	dir := out
	if dir == "" {
		if dir, err = experiment.Dir("figures"); err != nil {
			return err
		}
	}
	if err := writable(dir); err != nil {
		return err
	}
	if p := figure.Platform(); p != figure.Pinned {
		fmt.Fprintf(os.Stderr, "paper: compiled for %s: last digits may differ from those in figures/, made on %s\n",
			p, figure.Pinned)
	}
	results := newResults()
	paths, err := results.Export(ctx, dir, entries...)
	if err != nil {
		return err
	}
	if all := len(ids) == 0; out == "" && (all || slices.Contains(ids, "claims")) {
		l, err := report.StoredLedger()
		if err != nil {
			return err
		}
		if err := report.WriteLedgerPage(l); err != nil {
			return err
		}
	}
	if len(ids) > 0 && out != "" {
		captions, err := writeCaptions(ctx, results, dir, entries)
		if err != nil {
			return err
		}
		paths = append(paths, captions...)
	}
	if len(ids) > 0 {
		for _, p := range paths {
			fmt.Fprintln(w, p)
		}
		return nil
	}
	return printSummary(ctx, w, results, filepath.Base(dir))
}

// newResults returns results out of the checkout's runs that show their progress.
func newResults() *report.Results {
	meter := runs.Terminal(os.Stderr)
	results := report.New(experiment.Stored(meter))
	results.Meter = meter
	return results
}

// writable makes the folder dir and returns an error unless a file can be written
// there.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("no files can be written in the folder %s: %w", dir, err)
	}
	f, err := os.CreateTemp(dir, ".writable-")
	if err != nil {
		return fmt.Errorf("no files can be written in the folder %s: %w", dir, err)
	}
	f.Close()
	return os.Remove(f.Name())
}
