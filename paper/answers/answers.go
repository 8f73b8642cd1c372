// Package answers evaluates extensions of the paper on the sweeps in runs/sweeps/: how often the heads split
// several parents ([LoadSplits]), whether joint training of both layers obeys the law of Algorithm 1
// ([LoadJoint]), and whether n-grams are learned one order after the other ([LoadStages]). Figure 9 also rests
// on a sweep: [experiment.LoadComparison].
//
// The results of each run are stored in runs/sweeps/<name>/results.jsonl; paper sweep retrains any of them.
package answers

import (
	"context"
	"fmt"
	"slices"

	"learncausal/paper/experiment"
	"learncausal/pkg/train"
)

// Names of the sweeps.
const (
	severalParents = "several-parents"
	jointTraining  = "joint-training"
	stages         = "stages"
)

// Replay trains one run of each sweep, selected by the day among runs of at most 64 positions,
// up to the second evaluation and compares the results bit by bit with the stored ones. It
// returns a summary, which does not depend on the day, or an error that names a difference.
func Replay(ctx context.Context) (string, error) {
	sweeps := []string{
		experiment.Figure9, experiment.Figure9QuarterBatch, severalParents, jointTraining, stages, experiment.Figure8,
	}
	for _, name := range sweeps {
		all, err := experiment.Outcomes(name)
		if err != nil {
			return "", err
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		all = slices.DeleteFunc(all, func(o *experiment.Outcome) bool { return o.Spec.T() > 64 })
		o := all[experiment.Today()%len(all)]
		if err := begins(o); err != nil {
			return "", fmt.Errorf("answers: run %s of %s: %w", o.Address, name, err)
		}
	}
	return "A run of each of six sweeps was begun again and gave the stored evaluations.", nil
}

// begins trains a run up to its second evaluation and compares both evaluations, and the
// results of Algorithm 1, with the stored ones.
func begins(o *experiment.Outcome) error {
	spec := o.Spec.Canonical()
	t, err := train.New(spec, 0)
	if err != nil {
		return err
	}
	if err := t.Advance(min(spec.Every, spec.Steps)); err != nil {
		return err
	}
	for k, p := range t.Snapshot().Curve {
		if q := o.Curve[k]; q.Step != p.Step || float64(q.Loss) != p.Loss || float64(q.Attention) != p.Attention {
			return fmt.Errorf("it has the evaluation %+v, stored is %+v", p, q)
		}
	}
	if o.One == nil {
		return nil
	}
	one, err := experiment.AlgorithmOne(spec)
	if err != nil {
		return err
	}
	if got, want := fmt.Sprint(*one), fmt.Sprint(*o.One); got != want { // NaN equals NaN here
		return fmt.Errorf("loss and attention of Algorithm 1 are %s, stored is %s", got, want)
	}
	return nil
}
