package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"learncausal/paper/experiment"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

func newShow() *cobra.Command {
	var store string
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what a stored run is",
		Long: `show prints what determines a run, its state, the end of its curve, and its files.

RUN is a folder that paper train has written, the folder of a run in a store, or
an address in --store or its beginning.`,
		Example: `  paper show my-graph
  paper show runs/173e6bddecc149ba
  paper show 173e --store runs`,
		Args: oneRun(1),
		RunE: func(c *cobra.Command, args []string) error {
			return show(c.OutOrStdout(), args[0], store)
		},
	}
	storeFlag(c, &store)
	return c
}

// storeFlag defines --store for a command that is given a run.
func storeFlag(c *cobra.Command, store *string) {
	c.Flags().StringVar(store, "store", "", "`folder` to look for an address in (default runs/ of the checkout)")
	c.ValidArgsFunction = func(
		_ *cobra.Command, args []string, _ string,
	) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		dir := *store
		if dir == "" {
			dir, _ = experiment.Dir("runs")
		}
		all, _ := runs.Open(dir).Addresses()
		return all, cobra.ShellCompDirectiveDefault
	}
}

// oneRun is for a command that takes a run, and arguments up to a number in all.
func oneRun(most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := named(c.Flags(), "store"); err != nil {
			return err
		}
		if len(args) < 1 {
			return fmt.Errorf("%s wants a run: a folder that paper train has written, or an address", c.CommandPath())
		}
		if len(args) > most {
			return fmt.Errorf("%s takes at most %d argument(s), not %q", c.CommandPath(), most, args)
		}
		return nil
	}
}

// find returns the run that an argument stands for, and its folder.
func find(arg, store string) (*runs.Run, string, error) {
	at, address := store, arg
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		var err error
		if at, address, err = inFolder(arg); err != nil {
			return nil, "", err
		}
	} else if at == "" {
		if at, err = experiment.Dir("runs"); err != nil {
			return nil, "", fmt.Errorf("no folder %s; if it is an address, say where: --store runs", arg)
		}
	}
	r, err := runs.Open(at).Load(address)
	if err != nil {
		return nil, "", err
	}
	return r, filepath.Join(at, r.Address), nil
}

// inFolder returns the store and the address of the run in a folder that train has
// written, or in a folder of a store.
func inFolder(dir string) (store, address string, err error) {
	if _, err := os.Stat(filepath.Join(dir, "run.json")); err == nil {
		abs, err := filepath.Abs(dir)
		return filepath.Dir(abs), filepath.Base(abs), err
	}
	address, err = summarised(dir)
	switch {
	case err == nil && address == "":
		return "", "", fmt.Errorf("%s names no run: paper train writes it anew", filepath.Join(dir, summaryJSON))
	case !errors.Is(err, fs.ErrNotExist):
		return filepath.Join(dir, ownStore), address, err
	}
	begun, err := runs.Open(filepath.Join(dir, ownStore)).Unfinished()
	if err != nil {
		return "", "", err
	}
	for _, u := range begun {
		return "", "", fmt.Errorf("%s: training has not come to its end: "+
			"run %s has been left at step %d, and paper train resumes it", dir, u.Address, u.Steps)
	}
	return "", "", fmt.Errorf("%s is no folder of a run: it has neither %s nor run.json", dir, summaryJSON)
}

// show prints a run.
func show(w io.Writer, arg, store string) error {
	r, dir, err := find(arg, store)
	if err != nil {
		if u, work := begun(arg, store); u != nil {
			return showBegun(w, u, work)
		}
		return err
	}
	spec, err := json.MarshalIndent(r.Spec, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "run %s: %s\n%s\n\n", r.Address, r.Spec.Experiment(), spec)
	fmt.Fprintf(w, "edges: %s\n", edges(r.Spec))
	fmt.Fprintf(w, "finished: all %d steps; ", r.Spec.Steps)
	if r.Light() {
		fmt.Fprint(w, "no weights are kept")
	} else {
		fmt.Fprint(w, "weights are kept after")
	}
	for _, m := range r.Milestones {
		fmt.Fprintf(w, " %d", m.Step)
	}
	fmt.Fprintln(w)
	printCurve(w, r.Curve)
	return files(w, dir)
}

// begun returns the training under way, and its folder, that an argument stands for
// of which [find] knows no finished run; nil if there is none, or are several.
func begun(arg, store string) (u *runs.Unfinished, work string) {
	at, beginning := store, arg
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		if _, err := os.Stat(filepath.Join(arg, summaryJSON)); err == nil {
			return nil, "" // of a run that is finished, or damaged
		}
		at, beginning = filepath.Join(arg, ownStore), ""
	} else if at == "" {
		if at, err = experiment.Dir("runs"); err != nil {
			return nil, ""
		}
	}
	all, _ := runs.Open(at).Unfinished() // an error of the store is one of find
	all = slices.DeleteFunc(all, func(u runs.Unfinished) bool { return !strings.HasPrefix(u.Address, beginning) })
	if len(all) != 1 || arg == "" {
		return nil, ""
	}
	return &all[0], filepath.Join(at, ".unfinished", all[0].Address)
}

// showBegun prints what is kept of training under way.
func showBegun(w io.Writer, u *runs.Unfinished, work string) error {
	spec, err := json.MarshalIndent(u.Spec, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "run %s: %s\n%s\n\nunder way or interrupted: kept at step %d of %d; "+
		"paper train with the same settings resumes it\n",
		u.Address, u.Spec.Experiment(), spec, u.Steps, u.Spec.Steps)
	printCurve(w, u.Curve)
	return files(w, work)
}

// printCurve prints the first point of a curve and the last five.
func printCurve(w io.Writer, curve []train.Point) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nstep\ttest loss\tattention\t")
	for i, p := range curve {
		if last := len(curve) - 1; i == 0 || i > last-5 {
			fmt.Fprintf(t, "%d\t%.4f\t%.3f\t\n", p.Step, p.Loss, p.Attention)
		} else if i == 1 {
			fmt.Fprintln(t, "...\t\t\t")
		}
	}
	t.Flush()
}

// edges names the first edges of the graph of a run as a graph file does, whose
// positions count from 1.
func edges(spec train.Spec) string {
	const most = 30
	var all []string
	add := func(parent, child int) {
		all = append(all, experiment.OwnEdge{Parent: parent, Child: child}.Name(spec.T()))
	}
	switch of := spec.Task.(type) {
	case train.Task1:
		for i, p := range of.Parents {
			if p >= 0 {
				add(p, i)
			}
		}
	case train.Task2:
		for i, parents := range of.Parents {
			for _, p := range parents {
				add(p, i)
			}
		}
	}
	if len(all) == 0 {
		return "none"
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

// files lists the files of a folder.
func files(w io.Writer, dir string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nfiles in %s:\n", dir)
	for _, f := range all {
		info, err := f.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%9d  %s\n", info.Size(), f.Name())
	}
	return nil
}
