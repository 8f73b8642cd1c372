package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"learncausal/internal/runs"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

func newList() *cobra.Command {
	var store string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "Show what can be exported, the experiments, or the runs of a store",
		Long:  help("list"),
		Example: `  paper list
  paper list --store runs            # the paper's runs
  paper list --store my-graph/runs   # the runs of paper train --out my-graph`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if store != "" {
				return listRuns(c.OutOrStdout(), store, asJSON)
			}
			return list(c.OutOrStdout(), asJSON)
		},
	}
	c.Flags().Var((*folder)(&store), "store", "list the runs of this store")
	defineJSON(c.Flags(), &asJSON)
	return c
}

// list prints the figures, tables and numbers, and the experiments.
func list(w io.Writer, asJSON bool) error {
	type object map[string]any
	all := map[string][]object{}
	text := "id\tformats\ttitle\n"
	for _, e := range figures.Entries() {
		all["exports"] = append(all["exports"], object{"id": e.ID, "formats": e.Formats, "title": e.Title})
		text += fmt.Sprintf("%s\t%s\t%s\n", e.ID, strings.Join(e.Formats, " "), e.Title)
	}
	text += "\nexperiment\truns\ttitle\n"
	for _, e := range figures.All() {
		all["experiments"] = append(all["experiments"], object{"id": e.Name, "runs": len(e.Specs), "title": e.Title})
		text += fmt.Sprintf("%s\t%d\t%s\n", e.Name, len(e.Specs), e.Title)
	}
	if asJSON {
		return printJSON(w, all)
	}
	printColumns(w, text)
	return nil
}

// A listedRun is a run as list and show print it in JSON.
type listedRun struct {
	Address    string     `json:"run"`
	Experiment string     `json:"experiment"`
	Graph      string     `json:"graph"`
	Figures    string     `json:"figures,omitempty"` // the experiment of paper list whose figures show the run
	Spec       train.Spec `json:"spec"`
	Step       int        `json:"step"` // less than the steps of the spec if training is under way or interrupted
	Loss       float64    `json:"loss"`
	Attention  float64    `json:"attention"`
}

func listed(spec train.Spec, step int, curve []train.Point) listedRun {
	end := curve[len(curve)-1]
	address := runs.Address(spec)
	return listedRun{
		address, spec.Description(), trial.GraphName(spec), experiments()[address], spec, step, end.Loss, end.Attention,
	}
}

// experiments returns the name of the experiment of each run that figures show, by address.
var experiments = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, e := range figures.All() {
		for _, spec := range e.Specs {
			all[runs.Address(spec)] = e.Name
		}
	}
	return all
})

// parts returns the prior and the model of a specification in a few words.
func parts(spec train.Spec) (prior, model string) {
	switch of := spec.Task.(type) {
	case train.Task1:
		prior = of.Prior
	case train.Task2:
		prior = of.Prior
	case train.Chain:
		prior = of.Prior
	}
	switch of := spec.Model.(type) {
	case train.Disentangled:
		model = fmt.Sprintf("%d,%d heads", of.Heads[0], of.Heads[1])
	case train.Positional:
		model = fmt.Sprintf("positional, %d heads", of.Heads)
	case train.MLP:
		model = fmt.Sprintf("MLP %d%s%s", of.Width, map[bool]string{true: " fixed"}[of.FixedEmbeddings],
			map[bool]string{true: " residual"}[of.Residual])
	}
	return prior, model
}

// listRuns prints the finished and the unfinished runs of a store. A run that cannot be
// read is an error, which is returned after the other runs are printed.
func listRuns(w io.Writer, dir string, asJSON bool) error {
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	store := runs.Open(dir)
	addresses, err := store.Addresses()
	if own := filepath.Join(dir, ownStore); err == nil && len(addresses) == 0 {
		if _, missing := os.Stat(own); missing == nil { // a folder of train
			store = runs.Open(own)
			addresses, err = store.Addresses()
		}
	}
	if err != nil {
		return err
	}
	others, err := store.Unfinished()
	if err == nil && len(addresses)+len(others) == 0 {
		return fmt.Errorf("no runs in %s", dir)
	}
	faults := []error{err}
	var all []listedRun
	for _, a := range addresses {
		r, err := store.Load(a)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, listed(r.Spec, r.Spec.Steps, r.Curve))
	}
	for _, u := range others {
		all = append(all, listed(u.Spec, u.Steps, u.Curve))
	}
	if asJSON {
		return errors.Join(append(faults, printJSON(w, all))...)
	}
	text := "run\tgraph\tT\tS\tprior\tmodel\tsteps\tseed\ttest loss\tattention\tfigures\n"
	for _, r := range all {
		steps, what := fmt.Sprint(r.Step), cmp.Or(r.Figures, "-")
		if r.Step < r.Spec.Steps {
			steps, what = fmt.Sprintf("%d of %d", r.Step, r.Spec.Steps), "under way or interrupted"
		}
		prior, model := parts(r.Spec)
		text += fmt.Sprintf("%s\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t%.4f\t%.3f\t%s\n", r.Address, r.Graph, r.Spec.T(), r.Spec.S(),
			prior, model, steps, r.Spec.Seed, r.Loss, r.Attention, what)
	}
	printColumns(w, text)
	return errors.Join(faults...)
}
