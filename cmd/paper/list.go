package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"learncausal/paper/experiment"
	"learncausal/paper/report"
	"learncausal/pkg/runs"
)

func newList() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "list",
		Short: "Show what can be exported, the experiments, or the runs of a store",
		Long: `list shows every figure, table and list of numbers with its id and formats, and
the experiments with their numbers of runs. With --store it lists the runs of a
store instead.`,
		Example: `  paper list
  paper list --store runs            # the paper's runs
  paper list --store my-graph/runs   # the runs of paper train --out my-graph`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if store != "" {
				return listRuns(c.OutOrStdout(), store)
			}
			return list(c.OutOrStdout())
		},
	}
	c.Flags().Var((*folder)(&store), "store", "list the runs of this store")
	return c
}

// list prints the figures, tables and numbers with their formats, and the experiments
// with their numbers of runs.
func list(w io.Writer) error {
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

// listRuns prints the finished and the unfinished runs of a store. A run that cannot be
// read is an error, which is returned after the other runs are printed.
func listRuns(w io.Writer, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	store := runs.Open(dir)
	all, err := store.Addresses()
	if err != nil {
		return err
	}
	others, err := store.Unfinished()
	if err == nil && len(all)+len(others) == 0 {
		return fmt.Errorf("no runs in %s", dir)
	}
	faults := []error{err}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "run\tT\tS\tsteps\tseed\tloss\tattention\texperiment")
	for _, a := range all {
		r, err := store.Load(a)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		s, end := r.Spec, r.Curve[len(r.Curve)-1]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%.4f\t%.3f\t%s\n",
			a, s.T(), s.S(), s.Steps, s.Seed, end.Loss, end.Attention, s.Experiment())
	}
	for _, u := range others {
		s, end := u.Spec, u.Curve[len(u.Curve)-1]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d of %d\t%d\t%.4f\t%.3f\tunder way or interrupted\n",
			u.Address, s.T(), s.S(), u.Steps, s.Steps, s.Seed, end.Loss, end.Attention)
	}
	return errors.Join(append(faults, t.Flush())...)
}
