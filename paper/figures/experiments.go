// Package figures has the figures, tables and numbers of the paper: the settings of each, its runs
// and measurements, the drawing with its caption, and the comparison with the paper.
//
// [Entries] is the registry: every figure, table and list of numbers has an id, which names its
// files, and a title. [Results] draws one of them by id, loading only the runs that it needs.
//
// [All] lists the experiments that are trained. Some figures rest on the sweeps in runs/sweeps/, whose
// results are stored in runs/sweeps/<name>/results.jsonl; paper sweep retrains any of their runs.
package figures

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// An Experiment is a set of training runs that figures or a notebook show.
type Experiment struct {
	Name  string
	Title string
	Specs []train.Spec // of its runs
}

// All returns the experiments, in the order in which their runs are trained.
func All() []Experiment {
	single := mapped(SingleParents(), SingleParent.Spec)
	return []Experiment{
		{"single-parent", "Weights trained on three graphs (Figures 2 and 6)", single},
		{"many-graphs", "Quantitative comparison on 20 graphs (Figure 9)", manyGraphsSpecs()},
		{"multi-parent", "Several parents, setting of the released code (Figures 5 and 7)", multiSpecs(MultiParents())},
		{"multi-parent-printed", "Several parents, setting that the paper prints", multiSpecs(PrintedParents())},
		{"mlp", "Standard transformer with MLPs (Figure 8)", mlpSpecs()},
		{"sub-n-grams", "Plateaus of a simplified transformer, beyond the paper (arXiv 2508.12837)", subNGramSpecs()},
		{"certified", "Models certified on every sequence, beyond the paper", trial.CertifiedSpecs()},
	}
}

// Named returns the experiment of the name, or an error that lists the names.
func Named(name string) (Experiment, error) {
	return named("experiment", All(), func(e Experiment) string { return e.Name }, name)
}

// Load loads or trains the runs of the experiment, in the order of Specs.
func (e Experiment) Load(ctx context.Context, get trial.Getter) ([]*runs.Run, error) {
	return trial.Each(ctx, e.Specs, get)
}

// Specs returns the specification of every run of every experiment.
func Specs() []train.Spec {
	var specs []train.Spec
	for _, e := range All() {
		specs = append(specs, e.Specs...)
	}
	return specs
}

func named[T any](what string, all []T, nameOf func(T) string, name string) (T, error) {
	names := mapped(all, nameOf)
	if i := slices.Index(names, name); i >= 0 {
		return all[i], nil
	}
	var none T
	return none, fmt.Errorf("figures: no %s has the name %q, want one of: %s", what, name, strings.Join(names, ", "))
}

// mapped returns f of each element of all.
func mapped[A, B any](all []A, f func(A) B) []B {
	out := make([]B, len(all))
	for i, a := range all {
		out[i] = f(a)
	}
	return out
}

// count returns the number of values for which f is true.
func count[T any](all []T, f func(T) bool) (n int) {
	for _, v := range all {
		if f(v) {
			n++
		}
	}
	return n
}
