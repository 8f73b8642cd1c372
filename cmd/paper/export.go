package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"learncausal/internal/figure"
	"learncausal/internal/files"
	"learncausal/paper/account"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/runs"
)

func newExport() *cobra.Command {
	var out, width, height string
	var slide bool
	c := &cobra.Command{
		Use:   "export [id...]",
		Short: "Write the paper's figures, tables and numbers",
		Long:  help("export"),
		Example: `  paper export                                # figures/ of the checkout
  paper export -o my-figures fig-many-graphs  # one figure, in a few seconds
  paper export -o slides --slide fig-mlp fig-ood
  paper export errata supplement`,
		RunE: func(c *cobra.Command, ids []string) error {
			if slide {
				width, height = cmp.Or(width, "152mm"), cmp.Or(height, "80mm")
			}
			return export(c.Context(), c.OutOrStdout(), out, width, height, ids)
		},
	}
	var all []cobra.Completion
	for _, e := range figures.Entries() {
		all = append(all, cobra.CompletionWithDesc(e.ID, e.Title))
	}
	c.ValidArgsFunction = cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
	c.Flags().VarP((*folder)(&out), "out", "o", "where to write (default figures/ of the checkout)")
	c.Flags().StringVar(&width, "width", "", "`width` of the figures, as in 5.5in or 84mm; needs ids and -o")
	c.Flags().StringVar(&height, "height", "", "largest `height` of the figures; needs --width")
	c.Flags().BoolVar(&slide, "slide", false, "152mm x 80mm, for a slide of 160mm x 90mm without a title")
	return c
}

// chosen returns the entries of ids, with figures laid out for a width and a height, if given.
func chosen(ids []string, width, height, out string) ([]figures.Entry, error) {
	if width != "" && (len(ids) == 0 || out == "") {
		return nil, errors.New("--width needs the ids of figures, and a folder with -o")
	}
	if height != "" && width == "" {
		return nil, errors.New("--height needs --width")
	}
	entries, err := figures.Select(ids...)
	if err != nil || width == "" {
		return entries, err
	}
	w, err := figure.ParseWidth(width)
	h := figure.Width(0)
	if err == nil && height != "" {
		h, err = figure.ParseWidth(height)
	}
	for i, e := range entries {
		entries[i] = e.At(w, h)
	}
	return entries, err
}

// export writes the figures and tables of the given ids, and prints the paths of the files. Without ids it
// writes all of them, and prints the table of results. It writes CLAIMS.md with the ledger in figures/.
func export(ctx context.Context, w io.Writer, out, width, height string, ids []string) error {
	entries, err := chosen(ids, width, height, out)
	if err != nil {
		return err
	}
	dir, err := files.Checkout("figures") // also with -o: the runs that are drawn stand there
	if err != nil {
		return err
	}
	if out != "" {
		dir = out
	}
	if err := writable(dir); err != nil {
		return err
	}
	if p := figure.Platform(); p != figure.Pinned {
		fmt.Fprintf(os.Stderr, "paper: compiled for %s: last digits may differ from those in figures/, made on %s\n",
			p, figure.Pinned)
	}
	results := newResults()
	paths, failed := results.Export(ctx, dir, entries...)
	if failed != nil && (len(ids) == 0 || ctx.Err() != nil) {
		return failed
	}
	if all := len(ids) == 0; out == "" && (all || slices.Contains(ids, "claims")) {
		l, err := account.Stored()
		if err != nil {
			return err
		}
		if err := account.WritePage(l); err != nil {
			return err
		}
	}
	if len(ids) > 0 {
		for _, p := range paths {
			fmt.Fprintln(w, p)
		}
		return failed
	}
	return printSummary(ctx, w, results, filepath.Base(dir))
}

// newResults returns results of the runs in the checkout, with a progress bar.
func newResults() *figures.Results {
	meter := runs.Terminal(os.Stderr)
	results := figures.New(trial.Stored(meter))
	results.Meter = meter
	return results
}
