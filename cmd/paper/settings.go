package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"learncausal/paper/experiment"
	"learncausal/pkg/train"
)

// defineSettings defines a flag for each of the settings, with what they are as its
// default.
func defineSettings(s *experiment.Settings, flags *pflag.FlagSet) {
	flags.SortFlags = false
	s.Given = flags.Changed
	flags.IntVar(&s.States, "states", s.States, "number of tokens S")
	flags.StringVar(&s.Prior, "prior", s.Prior,
		"`law` of the transition matrices: dirichlet(alpha), or orbit(...) or finite(...)\n"+
			"with the rows of a matrix, split by ;, as in orbit(0.7 0.3; 0.4 0.6)")
	flags.BoolVar(&s.UniformRoots, "uniform-roots", false, "Task 2: roots are uniform, not of a law that is drawn")
	flags.StringVar(&s.Model, "model", s.Model, "`kind`: disentangled, or mlp for the standard one with MLPs")
	flags.IntSliceVar(&s.Heads, "heads", nil, "heads in layers 1 and 2 (default 1,1; Task 2: a parent of y each, 1)")
	flags.Float64Var(&s.Init, "init", 0, "standard deviation of the initial attention (default 0; Task 2: 1e-4)")
	flags.IntVar(&s.Width, "width", s.Width, "mlp: dimension of the embeddings and of the MLPs")
	flags.BoolVar(&s.Fixed, "fixed-embeddings", false, "mlp: embeddings stay as they are drawn")
	flags.StringVar(&s.Optimiser, "optimiser", "", "sgd or adamw (default sgd; Task 2 and mlp: adamw)")
	flags.Float64Var(&s.Rate, "rate", 0, "learning rate (default 1 for sgd, 0.01 for adamw)")
	flags.StringVar(&s.Schedule, "schedule", s.Schedule, "of the rate: constant, or cosine to zero over all steps")
	flags.Float64Var(&s.Decay, "decay", 0, "adamw: weight decay")
	flags.IntVar(&s.Steps, "steps", s.Steps, "steps of the optimiser")
	flags.IntVar(&s.Batch, "batch", s.Batch, "fresh sequences in each step")
	flags.Uint64Var(&s.Seed, "seed", 0, "of every random draw")
	flags.IntVar(&s.Test, "test", s.Test, "sequences in the test set")
	flags.IntVar(&s.Every, "every", 0, "steps between two evaluations on it (default a 64th of all)")
}

// namesOf returns the names of the flags but for some.
func namesOf(flags *pflag.FlagSet, but map[string]bool) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !but[f.Name] {
			names = append(names, f.Name)
		}
	})
	return names
}

// specOf returns the specification of a run on a graph; an error names a setting as
// its flag.
func specOf(s *experiment.Settings, g *experiment.OwnGraph, workers int) (train.Spec, error) {
	spec, err := s.Spec(g)
	var setting *experiment.SettingError
	if errors.As(err, &setting) {
		return spec, errors.New("--" + setting.Error())
	}
	if err != nil {
		return spec, err
	}
	return spec, spec.CheckMemory(workers)
}

// readGraph reads what the command line says of a graph: what [experiment.OpenGraph]
// takes, or - for standard input. It waits for what is typed until ctx is cancelled.
func readGraph(ctx context.Context, in io.Reader, arg string) (*experiment.OwnGraph, error) {
	var g *experiment.OwnGraph
	read := func() (err error) { g, err = experiment.OpenGraph(arg, ""); return err }
	if arg == "-" {
		announce(in, "a DOT digraph")
		read = func() (err error) { g, err = experiment.ReadGraph(in, "", "standard input"); return err }
	}
	if err := promptly(ctx, 0, read); err != nil {
		return nil, err
	}
	return g, nil
}
