package trial

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// refresh is the least time between two drawings of a run in training.
const refresh = 500 * time.Millisecond

// Live trains a run from zero, without the store, and returns its state after each of the given
// numbers of steps, in increasing order. Meanwhile it calls draw with these states, with the
// current state in place of later ones.
//
// If ctx is cancelled, Live returns the states of the last such call, without an error.
// If the run diverges, it returns them with the error of [train.Trainer.Advance].
func Live(
	ctx context.Context, spec train.Spec, meter runs.Meter, draw func([]train.Snapshot), at ...int,
) ([]train.Snapshot, error) {
	if len(at) == 0 || !slices.IsSorted(at) || at[0] < 0 || at[len(at)-1] > spec.Steps {
		const want = "trial: states after steps %d, want increasing numbers from 0 to %d, the steps of the run"
		return nil, fmt.Errorf(want, at, spec.Steps)
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
	var drawn time.Time
	for t.Step() < at[len(at)-1] && ctx.Err() == nil {
		if slices.Contains(at, t.Step()) || time.Since(drawn) > refresh {
			draw(now())
			drawn = time.Now()
		}
		meter.Update(t.Step(), spec.Steps, fmt.Sprintf("step %d of %d, loss %.3f", t.Step(), spec.Steps, t.Loss()))
		if err := t.Advance(1); err != nil {
			meter.Done(fmt.Sprintf("diverged at step %d of %d", t.Step(), spec.Steps))
			return now(), err
		}
	}
	now()
	meter.Done(outline(spec, shots[len(at)-1]))
	return shots, nil
}

// outline returns step, test loss and attention of a state in one line.
func outline(spec train.Spec, s train.Snapshot) string {
	text := fmt.Sprintf("%d steps", s.Step)
	if s.Step < spec.Steps {
		text = fmt.Sprintf("stopped at step %d of %d", s.Step, spec.Steps)
	}
	last := s.Curve[len(s.Curve)-1]
	text += fmt.Sprintf(": test loss %.4f", last.Loss)
	if last.Step < s.Step {
		text += fmt.Sprintf(" at step %d", last.Step)
	}
	if a := spec.Attention(s.Weights); !math.IsNaN(a) {
		text += fmt.Sprintf(", attention on the parents %.3f", a)
	}
	return text
}
