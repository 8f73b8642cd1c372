package figures

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"learncausal/paper/trial"
	"learncausal/pkg/runs"
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
	for six := range slices.Chunk(mapped(rs, func(r *runs.Run) string { return r.Address }), 6) {
		text += "\n" + strings.Join(six, " ")
	}
	return fmt.Sprintf("numerics version %s, seeds %v, %d runs:%s", train.Version, seeds, len(rs), text)
}
