package figures

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// Replay trains two stretches of each stored run again and compares the results bit by bit (see
// [runs.Run.Replay]): the last, and an earlier one selected by day and seed. It returns a summary, which does
// not depend on the day, or an error that names a difference. meter may be nil.
func Replay(ctx context.Context, meter runs.Meter, rs ...*runs.Run) (string, error) {
	var mu sync.Mutex
	stretches, steps := 0, 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	now := &trial.Sum{Meter: meter, Work: slices.Repeat([]float64{1}, len(rs)), What: "runs replayed"}
	now.Set(0, 0) // the meter measures the pace from here
	for i, r := range rs {
		group.Go(func() error {
			parts := stretchesOf(r, trial.Today())
			if err := r.Replay(ctx, 1, parts); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			stretches += len(parts)
			for _, part := range parts {
				steps += part.To - part.From
			}
			now.Finish(i)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	summary := fmt.Sprintf("%d run(s) checked: %d stretches, %d steps in all, were trained again "+
		"and gave the stored bytes.", len(rs), stretches, steps)
	runs.Quiet(meter).Done(summary)
	return summary, nil
}

// stretchesOf returns a stretch of the run before the last one, selected by the day and
// the seed, and the last; only the last if there is no other.
func stretchesOf(r *runs.Run, day int) []runs.Segment {
	all := r.Stretches()
	last := len(all) - 1
	if last == 0 {
		return all
	}
	return []runs.Segment{all[(day+int(r.Spec.Seed%uint64(last)))%last], all[last]}
}

// Provenance returns the version, seeds and addresses of the runs, in a few lines.
func Provenance(rs ...*runs.Run) string {
	var seeds []uint64
	for _, r := range rs {
		if !slices.Contains(seeds, r.Spec.Seed) {
			seeds = append(seeds, r.Spec.Seed)
		}
	}
	text := ""
	for six := range slices.Chunk(addresses(rs), 6) {
		text += "\n" + strings.Join(six, " ")
	}
	return fmt.Sprintf("numerics version %s, seeds %v, %d runs:%s", train.Version, seeds, len(rs), text)
}

// Replay trains one run of each sweep, selected by the day among runs of at most 64 positions,
// up to the second evaluation and compares the results bit by bit with the stored ones. It
// returns a summary, which does not depend on the day, or an error that names a difference.
func ReplaySweeps(ctx context.Context) (string, error) {
	sweeps := []string{
		Figure9, Figure9QuarterBatch, severalParents, jointTraining, stagesSweep, Figure8,
	}
	for _, name := range sweeps {
		all, err := trial.Outcomes(name)
		if err != nil {
			return "", err
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		all = slices.DeleteFunc(all, func(o *trial.Outcome) bool { return o.Spec.T() > 64 })
		o := all[trial.Today()%len(all)]
		if err := begins(o); err != nil {
			return "", fmt.Errorf("figures: run %s of %s: %w", o.Address, name, err)
		}
	}
	return "A run of each of six sweeps was begun again and gave the stored evaluations.", nil
}

// begins trains a run up to its second evaluation and compares both evaluations, and the
// results of Algorithm 1, with the stored ones.
func begins(o *trial.Outcome) error {
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
	one, err := trial.AlgorithmOne(spec)
	if err != nil {
		return err
	}
	if got, want := fmt.Sprint(*one), fmt.Sprint(*o.One); got != want { // NaN equals NaN here
		return fmt.Errorf("loss and attention of Algorithm 1 are %s, stored is %s", got, want)
	}
	return nil
}
