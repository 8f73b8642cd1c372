package experiment

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// Replay trains two stretches of each stored run again, its first steps and its
// last, and compares weights and test losses bit by bit with the stored ones.
// It returns a sentence that says what was found equal, or an error that names
// a difference. meter may be nil.
func Replay(ctx context.Context, meter runs.Meter, rs ...*runs.Run) (string, error) {
	var mu sync.Mutex
	done, segments, steps := 0, 0, 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, r := range rs {
		group.Go(func() error {
			s, err := r.Replay(ctx, 1)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			segments += len(s)
			for _, seg := range s {
				steps += seg.To - seg.From
			}
			if meter != nil {
				meter.Update(done, len(rs), fmt.Sprintf("%d of %d runs replayed", done, len(rs)))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%d run(s) checked: %d stretches, %d steps in all, were trained again "+
		"and gave the stored bytes.", len(rs), segments, steps)
	if meter != nil {
		meter.Done(said)
	}
	return said, nil
}

// Provenance returns, in a few lines, everything that determines the given runs.
func Provenance(rs ...*runs.Run) string {
	var seeds []uint64
	text := ""
	for i, r := range rs {
		if !slices.Contains(seeds, r.Spec.Seed) {
			seeds = append(seeds, r.Spec.Seed)
		}
		sep := " "
		if i%6 == 0 {
			sep = "\n"
		}
		text += sep + r.Address
	}
	return fmt.Sprintf("numerics version %s, seeds %v, %d runs:%s", train.Version, seeds, len(rs), text)
}
