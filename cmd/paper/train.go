package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
)

type trainFlags struct {
	jobs       int
	fresh, dry bool
	json       bool
	out        string
	settings   trial.Settings
	own        *pflag.FlagSet // the flags that need a GRAPH
}

func newTrain() *cobra.Command {
	f := &trainFlags{
		jobs: runtime.NumCPU(), settings: trial.DefaultSettings(),
		own: pflag.NewFlagSet("train", pflag.ContinueOnError),
	}
	c := &cobra.Command{
		Use:   "train [GRAPH]",
		Short: "Train the paper's runs, or a transformer on a graph of yours",
		Long:  help("train"),
		Example: `  paper train my.dot --states 3 --prior 'dirichlet(0.1)' -o my-graph
  paper train 'chain(12)' -n             # print time and memory; write nothing
  paper train my-dag.dot --heads 2,1 --optimiser adamw --rate 0.01
  paper train my.dot --model mlp --width 30
  paper train                            # the paper's own runs`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return trainOnGraph(c, f, args[0])
			}
			var err error
			f.own.VisitAll(func(flag *pflag.Flag) {
				if flag.Changed {
					err = fmt.Errorf("--%s belongs to a graph of yours, want paper train GRAPH --%[1]s", flag.Name)
				}
			})
			if err != nil {
				return err
			}
			return trainAll(c.Context(), c.OutOrStdout(), f)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	defineJobs(flags, &f.jobs, "number of processors to use")
	flags.BoolVar(&f.fresh, "fresh", false, "retrain stored runs, and some of runs/sweeps/, and compare the bytes")
	flags.BoolVarP(&f.dry, "dry-run", "n", false, "print the runs, their time and their memory; write nothing")
	f.own.VarP((*folder)(&f.out), "out", "o",
		"where to write (default the name of GRAPH, as in my-graph for 'My graph.dot')")
	defineJSON(f.own, &f.json)
	defineSettings(&f.settings, f.own)
	f.own.SortFlags = false
	flags.AddFlagSet(f.own)
	completeValues(c)
	return c
}

// completeValues completes the values of flags that are words, and the families.
func completeValues(c *cobra.Command) {
	models, _ := trial.ModelNames()
	for flag, words := range map[string][]cobra.Completion{
		"model": models, "optimiser": {"sgd", "adamw"}, "schedule": {"constant", "cosine"},
	} {
		complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
		if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic("paper: " + err.Error())
		}
	}
	var graphs []cobra.Completion
	for _, g := range trial.GraphsOfThePaper() {
		graphs = append(graphs, g.Name)
	}
	for _, name := range trial.GraphFamilies() {
		graphs = append(graphs, name+"(12)")
	}
	c.ValidArgsFunction = cobra.FixedCompletions(graphs, cobra.ShellCompDirectiveDefault)
}

// trainAll loads every run of the paper and trains the runs that are missing; with
// --fresh it retrains all. A run that differs does not stop the comparison of the others.
func trainAll(ctx context.Context, w io.Writer, f *trainFlags) error {
	dir, err := files.Checkout("runs")
	if err != nil {
		return err
	}
	if f.dry {
		return missing(w, dir)
	}
	if err := writable(dir); err != nil {
		return err
	}
	specs := figures.Specs()
	err = promptly(ctx, grace, func() error {
		if !f.fresh {
			return doAll(ctx, ofStore(dir, specs, false, func(*runs.Run) error { return nil }), f.jobs)
		}
		var plans []string
		for _, name := range sampled {
			plans = append(plans, filepath.Join(dir, "sweeps", name+".toml"))
		}
		return confirmEach(ctx, dir, specs, plans, f.jobs)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d runs are in %s\n", len(specs), dir)
	return storeBayes(ctx, f.fresh)
}

// storeBayes loads or computes the losses of the Bayes predictor that the paper's runs
// are compared with. If fresh, it recomputes the stored losses and compares the bytes.
func storeBayes(ctx context.Context, fresh bool) error {
	meter, sets := runs.Terminal(os.Stderr), figures.BayesSets()
	for i, s := range sets {
		show := func(share float64) {
			done := int(1000 * (float64(i) + share))
			meter.Update(done, 1000*len(sets), fmt.Sprintf("Bayes losses %d of %d", i+1, len(sets)))
		}
		ctx := trial.WithProgress(ctx, show)
		l, err := s.Losses(ctx)
		if err == nil && fresh {
			err = s.Confirm(ctx, l)
		}
		if err != nil {
			how := "failed"
			if ctx.Err() != nil {
				how = "stopped; running it again resumes"
			}
			meter.Done(how)
			return err
		}
	}
	meter.Done(fmt.Sprintf("%d sets of Bayes losses are stored with them", len(sets)))
	return nil
}

// missing prints, for each experiment, how many of its runs are stored in dir.
func missing(w io.Writer, dir string) error {
	stored, err := runs.Open(dir).Addresses()
	if err != nil {
		return err
	}
	lines := "experiment\truns\tstored\tsteps to train\n"
	for _, e := range figures.All() {
		have, steps := 0, 0
		for _, s := range e.Specs {
			if slices.Contains(stored, runs.Address(s)) {
				have++
			} else {
				steps += s.Steps
			}
		}
		lines += fmt.Sprintf("%s\t%d\t%d\t%d\n", e.Name, len(e.Specs), have, steps)
	}
	printColumns(w, lines+"environment.md has the training time of each.\n")
	return nil
}
