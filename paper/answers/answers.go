// Package answers puts questions to the sweeps in sweeps/, which are larger than the
// experiments of the paper: how often an edge of Figure 9 fails and whether the printed
// mean is one draw of ours ([LoadSeeds]), how often the heads split several parents
// ([LoadSplits]), and whether what people train, both layers at once, obeys what is
// proved of Algorithm 1 ([LoadJoint]).
//
// What became of each run of a sweep is stored in sweeps/<name>/results.jsonl; paper
// sweep trains any of them again.
package answers

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"learncausal/paper/experiment"
	"learncausal/paper/sweep"
	"learncausal/pkg/train"
)

// plans are those in sweeps/.
var plans = []string{"figure-9.toml", "several-parents.toml", "joint-training.toml"}

// load returns the runs of a plan of this project, and what became of each.
func load(plan string) ([]sweep.Run, []*sweep.Result, error) {
	dir, err := experiment.Dir("sweeps")
	if err != nil {
		return nil, nil, err
	}
	s, err := sweep.Open(filepath.Join(dir, plan))
	if err != nil {
		return nil, nil, err
	}
	results, err := s.Results()
	return s.Plan.Runs, results, err
}

// replayed is how many runs of each sweep [Replay] begins again.
const replayed = 3

// Replay trains some runs of each sweep again from the start to the second evaluation,
// others from day to day, and compares what is stored bit by bit. It returns a sentence
// that says what was found equal, the same on each day, or an error that names a
// difference. The runs are those of at most 64 positions, which takes seconds.
func Replay(ctx context.Context) (string, error) {
	day, done := int(time.Now().Unix()/(24*60*60)), 0
	for _, plan := range plans {
		all, results, err := load(plan)
		if err != nil {
			return "", err
		}
		var short []int
		for i, r := range all {
			if r.Spec.T() <= 64 {
				short = append(short, i)
			}
		}
		for k := range replayed {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			i := short[(day+k*len(short)/replayed)%len(short)]
			if err := begins(all[i].Spec, results[i]); err != nil {
				return "", fmt.Errorf("answers: %s: run %s on %s with seed %d: %w",
					plan, all[i].Address, all[i].Graph, all[i].Spec.Seed, err)
			}
			done++
		}
	}
	return fmt.Sprintf("%d runs of %d sweeps were begun again and gave the stored evaluations.", done, len(plans)), nil
}

// begins trains up to the second evaluation and compares both with what is stored.
func begins(spec train.Spec, r *sweep.Result) error {
	spec = spec.Canonical()
	t, err := train.New(spec, 0)
	if err != nil {
		return err
	}
	if err := t.Advance(min(spec.Every, spec.Steps)); err != nil {
		return err
	}
	for k, p := range t.Snapshot().Curve {
		if q := r.Curve[k]; q.Step != p.Step || float64(q.Loss) != p.Loss || float64(q.Attention) != p.Attention {
			return fmt.Errorf("it has the evaluation %+v, stored is %+v", p, q)
		}
	}
	return nil
}
