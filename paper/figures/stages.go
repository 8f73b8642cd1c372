package figures

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// stagesSweep is the name of the sweep of the runs on n-grams.
const stagesSweep = "stages"

// Stages are the runs of runs/sweeps/stages.toml on one n-gram.
type Stages struct {
	Parents int // k = n-1
	States  int
	Alpha   float64 // of the Dirichlet prior
	// Levels are the losses of the uniform prediction and of [Recent] with m = 0, ..., k, on
	// the test set of the first run.
	Levels []float64
	Runs   []StagesRun // by seed
}

// A StagesRun has the losses of a run along training, on its test set.
type StagesRun struct {
	Steps []int
	Loss  []float64
}

// LoadStages reads the results of runs/sweeps/stages.toml, in the order of the plan.
func LoadStages() ([]Stages, error) {
	outcomes, err := trial.Outcomes(stagesSweep)
	if err != nil {
		return nil, err
	}
	var all []Stages
	for _, o := range outcomes {
		several, ok := o.Spec.Task.(train.Task2)
		if !ok {
			return nil, fmt.Errorf("figures: run %s of %s is of %T, want Task 2", o.Address, stagesSweep, o.Spec.Task)
		}
		k := len(several.Parents[o.Spec.T()])
		if len(all) == 0 || all[len(all)-1].Parents != k {
			t, err1 := several.New()
			test, err2 := o.Spec.TestSet()
			if err := errors.Join(err1, err2); err != nil {
				return nil, fmt.Errorf("figures: run %s of %s: %w", o.Address, stagesSweep, err)
			}
			levels := []float64{math.Log(float64(several.States))}
			for m := range k + 1 {
				_, loss := Recent(t, test, m)
				levels = append(levels, loss)
			}
			all = append(all, Stages{Parents: k, States: several.States, Alpha: t.Prior.Alpha, Levels: levels})
		}
		var r StagesRun
		for _, p := range o.Curve {
			r.Steps, r.Loss = append(r.Steps, p.Step), append(r.Loss, float64(p.Loss))
		}
		last := &all[len(all)-1]
		last.Runs = append(last.Runs, r)
	}
	return all, nil
}

// Recent returns the predictor from the last m parents of the label, [task.Multi.Given] with
// the Dirichlet parameter that has the least loss on the batch, and this loss. The parameter
// is a power of two times the parameter of the task, up to 64 times.
func Recent(t task.Multi, b *task.Batch, m int) (predict func(f []float64, x []int), loss float64) {
	k := len(t.Graph.Parents()[t.Graph.T()])
	var last []int
	for l := k - m; l < k; l++ {
		last = append(last, l)
	}
	loss = math.Inf(1)
	for factor := 1.0; factor <= 64; factor *= 2 {
		smooth := t
		prior, err := markov.NewDirichlet(t.Prior.S, factor*t.Prior.Alpha)
		if err != nil {
			panic("figures: " + err.Error())
		}
		smooth.Prior = prior
		given := func(f []float64, x []int) { smooth.GivenParents(f, x, last...) }
		if mean := stat.Mean(task.Losses(b, given), nil); mean < loss {
			predict, loss = given, mean
		}
	}
	return predict, loss
}

// stagesFigure draws the test loss along training on each n-gram, a curve a run, and the
// losses of the predictors from fewer tokens.
func stagesFigure(context.Context, *Results) (*figure.Figure, error) {
	all, err := LoadStages()
	if err != nil {
		return nil, err
	}
	names := []string{"uniform", "tokens", "after 1", "after 2", "after 3"}
	var panels []*figure.Panel
	var alphas []string
	for _, n := range all {
		alphas = append(alphas, fmt.Sprint(n.Alpha))
		a := lossAxes(fmt.Sprintf("%d-gram", n.Parents+1))
		var x, median []float64
		for i, step := range n.Runs[0].Steps[1:] {
			losses := slices.Sorted(slices.Values(mapped(n.Runs, func(r StagesRun) float64 { return r.Loss[i+1] })))
			x = append(x, float64(step))
			median = append(median, (losses[(len(losses)-1)/2]+losses[len(losses)/2])/2)
		}
		for _, r := range n.Runs {
			a.Curve(0, "", x, r.Loss[1:]).Width = 0.4
		}
		l := a.Curve(6, "", x, median)
		l.Width, l.Dashes = 1.6, nil
		for m, loss := range n.Levels {
			a.Level(names[m], loss)
		}
		panels = append(panels, a)
	}
	return figure.OneRow(figure.TwoColumns,
		"Two panels of ten thin curves of the loss against the step, with their median, and dashed lines. On the "+
			"3-gram the curves rest below the line of tokens, fall to the line of one token before, rest, and fall to "+
			"the line of two. On the 4-gram they go down a longer stair.",
		fmt.Sprintf(`Test loss along training on %s $n$-grams over %s tokens, %d seeds each (bold: their median), with `+
			`the Dirichlet parameters %s, between the losses of the uniform prediction, of counts of all tokens, and of counts after `+
			`the same last tokens.`, inWords(len(all)), inWords(all[0].States), len(all[0].Runs), strings.Join(alphas, " and ")),
		panels...), nil
}
