package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"learncausal/paper/trial"
	"learncausal/pkg/markov"
)

// A folder is the value of a flag that names a folder. An empty name is an error.
type folder string

// Set implements [pflag.Value].
func (f *folder) Set(name string) error {
	if name == "" {
		return errors.New("want the name of a folder")
	}
	*f = folder(name)
	return nil
}

func (f *folder) String() string { return string(*f) }

// Type implements [pflag.Value].
func (*folder) Type() string { return "folder" }

// A positive is the value of a flag that is a whole number, at least 1.
type positive int

// Set implements [pflag.Value].
func (p *positive) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("want a whole number, at least 1")
	}
	*p = positive(n)
	return nil
}

func (p *positive) String() string { return strconv.Itoa(int(*p)) }

// Type implements [pflag.Value].
func (*positive) Type() string { return "int" }

// defineJobs defines the flag --jobs, whose default is the value of n.
func defineJobs(flags *pflag.FlagSet, n *int, usage string) {
	flags.VarP((*positive)(n), "jobs", "j", usage)
}

func defineJSON(flags *pflag.FlagSet, asJSON *bool) {
	flags.BoolVar(asJSON, "json", false, "print JSON, for programs")
}

// modelKinds lists the models with their descriptions.
func modelKinds() string {
	names, texts := trial.ModelNames()
	for i, text := range texts {
		if text != "" {
			names[i] += " (" + text + ")"
		}
	}
	return strings.Join(names, ", ")
}

// defineSettings defines a flag for each of the settings, whose value is its default.
func defineSettings(s *trial.Settings, flags *pflag.FlagSet) {
	s.Given = flags.Changed
	flags.IntVar(&s.States, "states", s.States, "number of tokens S")
	flags.StringVar(&s.Prior, "prior", s.Prior,
		"`law` of the transition matrices: "+markov.PriorForms()+
			", with the rows of a matrix split by ;, as in orbit(0.7 0.3; 0.4 0.6)")
	flags.BoolVar(&s.UniformRoots, "uniform-roots", false, "draw roots uniformly, not by the law of the prior")
	flags.StringVar(&s.Model, "model", s.Model, "`kind`: "+modelKinds())
	flags.IntSliceVar(&s.Heads, "heads", nil, "heads in layers 1 and 2 (default 1,1; Task 2: a parent of y each, 1)")
	flags.Float64Var(&s.Init, "init", 0, "standard deviation of the initial attention (default 0; Task 2: 1e-4)")
	flags.IntVar(&s.Width, "width", s.Width, "MLPs: dimension of the embeddings and of the MLPs")
	flags.BoolVar(&s.Fixed, "fixed-embeddings", false, "MLPs: embeddings keep their initial values")
	flags.StringVar(&s.Optimiser, "optimiser", "", "sgd or adamw (default sgd; Task 2 and MLPs: adamw)")
	flags.Float64Var(&s.Rate, "rate", 0, "learning rate (default 1 for sgd, 0.01 for adamw)")
	flags.StringVar(&s.Schedule, "schedule", s.Schedule, "learning rate: constant, or cosine to zero over all steps")
	flags.Float64Var(&s.Decay, "decay", 0, "weight decay, for sgd coupled to the gradient")
	flags.IntVar(&s.Steps, "steps", s.Steps, "steps of the optimiser")
	flags.IntVar(&s.Batch, "batch", s.Batch, "fresh sequences in each step")
	flags.Uint64Var(&s.Seed, "seed", 0, "seed of every random draw")
	flags.IntVar(&s.JAX, "jax", 0, "draw as the authors' code in JAX 0.4.13, from the `key` of this number (0: do not)")
	flags.IntVar(&s.Test, "test", s.Test, "sequences in the test set")
	flags.IntVar(&s.Every, "every", 0, "steps between two evaluations on the test set (default steps/64)")
}
