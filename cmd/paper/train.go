package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"learncausal/paper/experiment"
	"learncausal/paper/sweep"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// trainFlags are what train is told beside the settings of a run.
type trainFlags struct {
	jobs       int
	fresh, dry bool
	store, out string
	settings   experiment.Settings
	names      []string // of the flags that belong to a graph of one's own
}

const trainText = `Without GRAPH, train trains the paper's runs that are not stored, and computes the
losses of the Bayes predictor that they are compared with.

With GRAPH it trains on a graph of your own, and writes into the folder --out:

  weights.npz             the trained weights, for NumPy and others
  curve.csv               test loss and attention along training
  graph, curve, weights   figures as PNG, SVG, PDF and TeX; of --model mlp no weights
  given.dot, learned.dot  the graph as given, and as the first layer has learned it
  summary.txt, .json      the loss beside those of the reference predictors
  runs/                   the store with the run itself

GRAPH is one of

  my.dot                  a file with a DOT digraph, edges from parent to child
  -                       the same on standard input
  chain(12)               a family and its number of positions: chain, in-context,
                          spider, binary-tree, star; with two parents halves, trigram,
                          with three fourgram
  figure-1, figure-6      the graph of Figure 1, the random one of Figure 6
  graph-0 ... graph-19    those of Figure 9

A forest on nodes s1 ... sT is Task 1: each token has at most one parent, and the
last is the query, which stands by itself:

  digraph { s1 -> {s2 s3}; s2 -> s4; s3 -> s5; s6 }

A graph with a node y is Task 2: tokens may have several parents, and y is the
label, what is predicted:

  digraph { {s1 s2} -> s3; {s2 s3} -> s4; {s3 s4} -> y }

Training that is interrupted goes on where it was when it is asked for again with
the same settings, and ends in the same bytes.`

func newTrain() *cobra.Command {
	f := &trainFlags{settings: experiment.DefaultSettings()}
	c := &cobra.Command{
		Use:   "train [GRAPH]",
		Short: "Train the paper's runs, or a transformer on a graph of your own",
		Long:  trainText,
		Example: `  paper train my.dot --states 3 --prior 'dirichlet(0.1)' --steps 4096 --out my-graph
  paper train 'chain(12)' -n             # what it would take; nothing is written
  paper train my-dag.dot --heads 2,1 --optimiser adamw --rate 0.01
  paper train my.dot --model mlp --width 30
  paper train                            # the paper's own runs`,
		Args: atMostOneGraph,
		RunE: func(c *cobra.Command, args []string) error { return f.train(c, args) },
	}
	flags := c.Flags()
	flags.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "how many processors to use")
	flags.BoolVar(&f.fresh, "fresh", false, "train anew what is stored, and some of runs/sweeps/, and compare the bytes")
	flags.BoolVarP(&f.dry, "dry-run", "n", false, "say what would be trained and what it takes; write nothing")
	flags.StringVar(&f.store, "store", "", "`folder` of the store of the paper's runs (default runs/ of the checkout)")
	papers := map[string]bool{"jobs": true, "fresh": true, "dry-run": true, "store": true, "help": true}
	flags.StringVarP(&f.out, "out", "o", "",
		"`folder` to write to (default the name of GRAPH, as in my-graph for 'My graph.dot')")
	defineSettings(&f.settings, flags)
	f.names = namesOf(flags, papers)
	completeValues(c)
	return c
}

// completeValues completes the values of flags that are words, and the families.
func completeValues(c *cobra.Command) {
	for flag, words := range map[string][]cobra.Completion{
		"model": {"disentangled", "mlp"}, "optimiser": {"sgd", "adamw"}, "schedule": {"constant", "cosine"},
	} {
		complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
		if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic("paper: " + err.Error())
		}
	}
	var graphs []cobra.Completion
	for _, g := range experiment.GraphsOfThePaper() {
		graphs = append(graphs, g.Name)
	}
	for _, name := range experiment.GraphFamilies() {
		graphs = append(graphs, name+"(12)")
	}
	c.ValidArgsFunction = func(
		_ *cobra.Command, args []string, _ string,
	) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return graphs, cobra.ShellCompDirectiveDefault
	}
}

func atMostOneGraph(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes one graph, not %q", c.CommandPath(), args)
	}
	return nil
}

// train trains on the graph that is named, or the paper's runs.
func (f *trainFlags) train(c *cobra.Command, args []string) error {
	if err := atLeastOne("-j", f.jobs); err != nil {
		return err
	}
	for _, flag := range []string{"out", "store"} {
		if err := named(c.Flags(), flag); err != nil {
			return err
		}
	}
	if len(args) == 1 {
		return trainOwn(c, f, args[0])
	}
	for _, name := range f.names {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s belongs to a graph of your own, want paper train GRAPH --%[1]s", name)
		}
	}
	return trainAll(c.Context(), c.OutOrStdout(), f)
}

// trainAll loads every run of the paper, and trains those that are missing; fresh, it
// trains all. One that differs does not keep the others from being compared.
func trainAll(ctx context.Context, w io.Writer, f *trainFlags) error {
	dir := f.store
	if dir == "" {
		var err error
		if dir, err = experiment.Dir("runs"); err != nil {
			return err
		}
	}
	if f.dry {
		return missing(w, dir)
	}
	if err := writable(dir); err != nil {
		return err
	}
	specs := experiment.Specs()
	plans, err := f.plans()
	if err != nil {
		return err
	}
	err = promptly(ctx, grace, func() error {
		if f.fresh {
			return confirmEach(ctx, dir, specs, plans, f.jobs)
		}
		return loadEach(ctx, dir, specs, f.jobs)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d runs are in %s\n", len(specs), dir)
	if f.store != "" {
		return nil
	}
	return storeBayes(ctx, f.fresh)
}

// loadEach loads or trains each of the runs in the store dir.
func loadEach(ctx context.Context, dir string, specs []train.Spec, jobs int) error {
	return sweep.Each(ctx, specs, jobs, runs.Terminal(os.Stderr),
		func(ctx context.Context, i int, opt runs.Options) error {
			_, err := runs.Open(dir).Get(ctx, specs[i], opt)
			return err
		})
}

// plans are those of the sweeps of which some runs are trained anew, none where the store
// is not that of the checkout.
func (f *trainFlags) plans() ([]string, error) {
	if f.store != "" {
		return nil, nil
	}
	dir, err := experiment.Dir("runs/sweeps")
	var plans []string
	for _, name := range sampled {
		plans = append(plans, filepath.Join(dir, name+".toml"))
	}
	return plans, err
}

// storeBayes loads or computes the losses of the Bayes predictor that the paper's runs
// are compared with. Fresh, it computes them all, and compares the bytes.
func storeBayes(ctx context.Context, fresh bool) error {
	meter, sets := runs.Terminal(os.Stderr), experiment.BayesSets()
	for i, s := range sets {
		tell := func(share float64) {
			done := int(1000 * (float64(i) + share))
			meter.Update(done, 1000*len(sets), fmt.Sprintf("Bayes losses %d of %d", i+1, len(sets)))
		}
		if err := storeSet(experiment.WithProgress(ctx, tell), s, fresh); err != nil {
			how := "failed"
			if ctx.Err() != nil {
				how = "stopped; asking again resumes"
			}
			meter.Done(how)
			return err
		}
	}
	meter.Done(fmt.Sprintf("%d sets of Bayes losses are beside them", len(sets)))
	return nil
}

// storeSet is storeBayes of one set. What was not stored need not be compared.
func storeSet(ctx context.Context, s experiment.BayesSet, fresh bool) error {
	stored, err := s.Stored()
	if err != nil {
		return err
	}
	l, err := s.Losses(ctx)
	if err == nil && fresh && stored {
		err = s.Confirm(ctx, l, everyOne(s.Sequences)...)
	}
	return err
}

// everyOne returns 0, ..., n-1.
func everyOne(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// missing says which runs of the paper are not stored.
func missing(w io.Writer, dir string) error {
	all, err := runs.Open(dir).Addresses()
	if err != nil {
		return err
	}
	stored := map[string]bool{}
	for _, a := range all {
		stored[a] = true
	}
	for _, e := range experiment.All() {
		have, steps := 0, 0
		for _, s := range e.Specs {
			if stored[runs.Address(s)] {
				have++
			} else {
				steps += s.Steps
			}
		}
		fmt.Fprintf(w, "%-22s %3d of %3d runs are stored", e.Name, have, len(e.Specs))
		if have < len(e.Specs) {
			fmt.Fprintf(w, ", %d steps to train", steps)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "environment.md says what a run of each takes.")
	return nil
}
