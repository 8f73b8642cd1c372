package report

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// Replay trains two stretches of each stored run again, its first steps and its
// last, and compares weights and test losses bit by bit with the stored ones.
// It returns a sentence that says what was found equal, or an error that names
// the first difference. meter may be nil.
func Replay(ctx context.Context, meter runs.Meter, rs ...*runs.Run) (string, error) {
	var mu sync.Mutex
	errs := make([]error, len(rs))
	done, segments, steps := 0, 0, 0
	err := Each(ctx, len(rs), runtime.GOMAXPROCS(0), func(i int) {
		s, err := rs[i].Replay(ctx, 1)
		mu.Lock()
		defer mu.Unlock()
		errs[i] = err
		done++
		segments += len(s)
		for _, seg := range s {
			steps += seg.To - seg.From
		}
		if meter != nil {
			meter.Update(done, len(rs), fmt.Sprintf("%d of %d runs replayed", done, len(rs)))
		}
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%d run(s) checked: %d stretches, %d steps in all, were trained again and gave the stored bytes.", len(rs), segments, steps)
	if meter != nil {
		meter.Done(said)
	}
	return said, nil
}

// Each calls f for i = 0, ..., n-1, on so many workers at a time. When ctx is
// cancelled it starts no further call, and returns ctx.Err() after the last.
func Each(ctx context.Context, n, workers int, f func(i int)) error {
	var wg sync.WaitGroup
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// Live trains a run from zero, without the store, and returns its state after
// each of the given numbers of steps, in ascending order. meter may be nil.
func Live(spec train.Spec, meter runs.Meter, at ...int) ([]train.Snapshot, error) {
	t, err := train.New(spec, 0)
	if err != nil {
		return nil, err
	}
	var shots []train.Snapshot
	for _, step := range at {
		for t.Step() < min(step, spec.Steps) {
			t.Advance(1)
			if meter != nil {
				meter.Update(t.Step(), spec.Steps, fmt.Sprintf("step %d of %d, loss %.3f", t.Step(), spec.Steps, t.Loss()))
			}
		}
		shots = append(shots, t.Snapshot())
	}
	if meter != nil {
		last := shots[len(shots)-1]
		meter.Done(fmt.Sprintf("%d steps: test loss %.4f, attention on the parents %.3f", last.Step, last.Curve[len(last.Curve)-1].Loss, spec.Attention(last.Weights)))
	}
	return shots, nil
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
