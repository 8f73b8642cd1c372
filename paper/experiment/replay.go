package experiment

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// Replay trains two stretches of each stored run again, its last steps, and some before
// them that change from day to day and from seed to seed, and compares all that is kept
// of them bit by bit (see [runs.Run.Replay]). It returns a sentence that says what was
// found equal, the same on each day, or an error that names a difference. meter may be
// nil.
func Replay(ctx context.Context, meter runs.Meter, rs ...*runs.Run) (string, error) {
	var mu sync.Mutex
	done, stretches, steps := 0, 0, 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	tell := func() {
		if meter != nil {
			meter.Update(done, len(rs), fmt.Sprintf("%d of %d runs replayed", done, len(rs)))
		}
	}
	tell() // the pace counts from here
	for _, r := range rs {
		group.Go(func() error {
			parts := stretchesOf(r, Today())
			if err := r.Replay(ctx, 1, parts); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			stretches += len(parts)
			for _, part := range parts {
				steps += part.To - part.From
			}
			tell()
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%d run(s) checked: %d stretches, %d steps in all, were trained again "+
		"and gave the stored bytes.", len(rs), stretches, steps)
	if meter != nil {
		meter.Done(said)
	}
	return said, nil
}

// Today returns the number of the day since 1970, by which replays choose what they train
// again: that of the clock, or the one in the environment variable REPLAY_DAY, with which
// those of a day can be repeated. It is not negative, whatever the clock says, and panics if
// the variable is neither empty nor such a number.
//
// make sets the variable, without which Go would take the result of an earlier day for
// today's: it runs a test again if a variable that it reads has changed, not if the clock has.
func Today() int {
	text := os.Getenv("REPLAY_DAY")
	if text == "" {
		return int(max(0, time.Now().Unix()) / (24 * 60 * 60))
	}
	day, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		panic(fmt.Sprintf("experiment: REPLAY_DAY is %q, want the number of a day since 1970, or nothing", text))
	}
	return int(day)
}

// stretchesOf returns one of the stretches of a run before the last, another each day,
// and the last; that alone if there is no other.
func stretchesOf(r *runs.Run, day int) []runs.Segment {
	all := r.Stretches()
	last := len(all) - 1
	if last == 0 {
		return all
	}
	return []runs.Segment{all[(day+int(r.Spec.Seed%uint64(last)))%last], all[last]}
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
