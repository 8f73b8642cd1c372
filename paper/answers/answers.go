// Package answers puts questions to the sweeps in runs/sweeps/, which are larger than the
// experiments of the paper: how often the heads split several parents ([LoadSplits]), and
// whether what people train, both layers at once, obeys what is proved of Algorithm 1
// ([LoadJoint]). Figure 9 itself rests on one: [experiment.LoadComparison].
//
// What became of each run of a sweep is stored in runs/sweeps/<name>/results.jsonl; paper
// sweep trains any of them again.
package answers

import (
	"context"
	"fmt"
	"slices"

	"learncausal/paper/experiment"
	"learncausal/pkg/train"
)

// The sweeps, by the names of their plans.
const (
	severalParents = "several-parents"
	jointTraining  = "joint-training"
)

// Replay trains a run of each sweep again from the start to the second evaluation,
// another each day, and compares what is stored bit by bit. It returns a sentence that
// says what was found equal, the same on each day, or an error that names a difference.
// The runs are those of at most 64 positions, which takes seconds.
func Replay(ctx context.Context) (string, error) {
	for _, name := range []string{experiment.Figure9, experiment.Figure9QuarterBatch, severalParents, jointTraining} {
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
	return "A run of each of four sweeps was begun again and gave the stored evaluations.", nil
}

// begins trains up to the second evaluation and compares both with what is stored, and so
// is Algorithm 1.
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
	if got, want := fmt.Sprint(*one), fmt.Sprint(*o.One); got != want { // NaN is as NaN here
		return fmt.Errorf("to loss and attention %s comes Algorithm 1, stored is %s", got, want)
	}
	return nil
}
