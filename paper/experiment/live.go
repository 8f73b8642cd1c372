package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// glance is the time between two looks at a run that is watched.
const glance = 500 * time.Millisecond

// Live trains a run from zero, without the store, and returns its state after
// each of the given numbers of steps, which ascend and are at most spec.Steps.
// Until they are reached, look is given what they show so far: the states that
// were reached, and the present one in place of the others.
//
// If ctx is cancelled, Live says so through the meter and returns what look
// would be given, without an error; if the run diverges, with the error of
// [train.Trainer.Advance].
func Live(
	ctx context.Context, spec train.Spec, meter runs.Meter, look func([]train.Snapshot), at ...int,
) ([]train.Snapshot, error) {
	if len(at) == 0 || !slices.IsSorted(at) || at[0] < 0 || at[len(at)-1] > spec.Steps {
		const want = "experiment: states after steps %d, want them to ascend from 0 to %d, the steps of the run"
		return nil, fmt.Errorf(want,
			at, spec.Steps)
	}
	t, err := train.New(spec, 0)
	if err != nil {
		return nil, err
	}
	shots := make([]train.Snapshot, len(at))
	now := func() []train.Snapshot {
		present := t.Snapshot()
		for i := range at {
			if shots[i].Weights == nil || shots[i].Step < at[i] {
				shots[i] = present
			}
		}
		return shots
	}
	var seen time.Time
	for t.Step() < at[len(at)-1] && ctx.Err() == nil {
		if slices.Contains(at, t.Step()) || time.Since(seen) > glance {
			look(now())
			seen = time.Now()
		}
		meter.Update(t.Step(), spec.Steps, fmt.Sprintf("step %d of %d, loss %.3f", t.Step(), spec.Steps, t.Loss()))
		if err := t.Advance(1); err != nil {
			meter.Done(fmt.Sprintf("diverged at step %d of %d", t.Step(), spec.Steps))
			return now(), err
		}
	}
	now()
	meter.Done(told(spec, shots[len(at)-1]))
	return shots, nil
}

// told says how far a run has come.
func told(spec train.Spec, s train.Snapshot) string {
	said := fmt.Sprintf("%d steps", s.Step)
	if s.Step < spec.Steps {
		said = fmt.Sprintf("stopped at step %d of %d", s.Step, spec.Steps)
	}
	last := s.Curve[len(s.Curve)-1]
	said += fmt.Sprintf(": test loss %.4f", last.Loss)
	if last.Step < s.Step {
		said += fmt.Sprintf(" at step %d", last.Step)
	}
	if a := spec.Attention(s.Weights); !math.IsNaN(a) {
		said += fmt.Sprintf(", attention on the parents %.3f", a)
	}
	return said
}
