package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

func newShow() *cobra.Command {
	var store string
	var asJSON bool
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Print the settings and the curve of a stored run",
		Long:  help("show"),
		Example: `  paper show my-graph
  paper show runs/173e6bddecc149ba
  paper show 173e --store runs`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return show(c.OutOrStdout(), args[0], store, asJSON)
		},
	}
	storeFlag(c, &store)
	defineJSON(c.Flags(), &asJSON)
	return c
}

// storeFlag defines --store for a command whose first argument is a run.
func storeFlag(c *cobra.Command, store *string) {
	c.Flags().Var((*folder)(store), "store", "the store of an address (default runs/ of the checkout)")
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		dir := *store
		if dir == "" {
			dir, _ = files.Checkout("runs")
		}
		all, _ := runs.Open(dir).Addresses()
		return all, cobra.ShellCompDirectiveDefault
	}
}

// A found is a run that an argument names, either finished or unfinished, and its folder.
type found struct {
	run        *runs.Run
	unfinished *runs.Unfinished
	dir        string
}

func find(arg, store string) (found, error) {
	at, address, err := locate(arg, store)
	if err != nil {
		return found{}, err
	}
	r, err := runs.Open(at).Load(address)
	if err == nil {
		return found{run: r, dir: filepath.Join(at, r.Address)}, nil
	}
	all, _ := runs.Open(at).Unfinished() // the error of Load says more
	all = slices.DeleteFunc(all, func(u runs.Unfinished) bool { return !strings.HasPrefix(u.Address, address) })
	if len(all) != 1 {
		return found{}, err
	}
	return found{unfinished: &all[0], dir: filepath.Join(at, ".unfinished", all[0].Address)}, nil
}

// locate returns the store that an argument names, and an address or its beginning. The
// address is "" for a folder of train that has no summary yet.
func locate(arg, store string) (dir, address string, err error) {
	if info, err := os.Stat(arg); err != nil || !info.IsDir() {
		if store == "" {
			if store, err = files.Checkout("runs"); err != nil {
				return "", "", fmt.Errorf("no folder %s; if it is an address, name its store: --store runs", arg)
			}
		}
		return store, arg, nil
	}
	if _, err := os.Stat(filepath.Join(arg, "run.json")); err == nil {
		abs, err := filepath.Abs(arg)
		return filepath.Dir(abs), filepath.Base(abs), err
	}
	dir = filepath.Join(arg, ownStore)
	address, err = summarised(arg)
	switch {
	case err == nil && address == "":
		return "", "", fmt.Errorf("%s names no run: paper train replaces it", filepath.Join(arg, summaryJSON))
	case !errors.Is(err, fs.ErrNotExist):
		return dir, address, err
	}
	if _, err := os.Stat(dir); err != nil {
		return "", "", fmt.Errorf("%s is no folder of a run: it has neither %s nor run.json", arg, summaryJSON)
	}
	return dir, "", nil
}

func show(w io.Writer, arg, store string, asJSON bool) error {
	f, err := find(arg, store)
	if err != nil {
		return err
	}
	var spec train.Spec
	var curve []train.Point
	var state string
	step := 0
	if u := f.unfinished; u != nil {
		spec, curve, step = u.Spec, u.Curve, u.Steps
		state = fmt.Sprintf("under way or interrupted: the checkpoint is at step %d of %d; "+
			"paper train with the same settings resumes", u.Steps, spec.Steps)
	} else {
		spec, curve, step = f.run.Spec, f.run.Curve, f.run.Spec.Steps
		state = fmt.Sprintf("finished: all %d steps; ", spec.Steps)
		if f.run.WithoutWeights() {
			state += "no weights are kept"
		} else {
			state += "weights are kept after"
		}
		for _, m := range f.run.Milestones {
			state += fmt.Sprintf(" %d", m.Step)
		}
	}
	if asJSON {
		return printJSON(w, listed(spec, step, curve))
	}
	lines, err := settings(spec)
	if err != nil {
		return err
	}
	printColumns(w, fmt.Sprintf("run\t%s\nexperiment\t%s\nstate\t%s\nfolder\t%s\npositions\t%d\nedges\t%s\n%s",
		runs.Address(spec), spec.Description(), state, f.dir, spec.T(), edges(spec, nodeNames(f.dir, spec)), lines))
	printCurve(w, curve)
	fmt.Fprintf(w, "The test loss is the mean log-loss in nats on %d test sequences.\n", spec.Test)
	return nil
}

// settings returns the name and the value, with a tab between, of each setting but the graph.
func settings(spec train.Spec) (lines string, err error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &values); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name != "parents" && name != "nodes" { // the parents in Tasks 1 and 2
			lines += fmt.Sprintf("%s\t%s\n", name, strings.Trim(string(values[name]), `"`))
		}
	}
	return lines, nil
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

// edges returns the first edges of the graph of a run, with own names or s1..sT and y.
func edges(spec train.Spec, own []string) string {
	const most = 30
	var all []string
	names := trial.NodeNames(spec, own)
	for child, parents := range trial.GivenParents(spec) {
		for _, p := range parents {
			if p >= 0 {
				all = append(all, trial.Edge{Parent: p, Child: child}.Name(names))
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
