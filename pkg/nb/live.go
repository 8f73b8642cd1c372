package nb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"

	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// refresh is the least time between two drawings of a run in training.
const refresh = 500 * time.Millisecond

// Live trains a run from zero, without a store, and meanwhile draws the attention of each head of the first layer
// after each of the given numbers of steps, in increasing order, with the current state in place of later ones. It
// returns these states. An interrupt of the cell ends the training: then it returns the states reached.
// An invalid specification, or a run that diverges, stops the cell with an error.
func Live(spec train.Spec, at ...int) []train.Snapshot {
	shown := newPicture()
	draw := func(shots []train.Snapshot) {
		shown.Plot("Attention of the first layer, position by position, after more and more steps of training.",
			attentions(spec, shots)...)
	}
	shots := Must(live(Context(), spec, NewMeter("Live training"), draw, at...))
	draw(shots)
	return shots
}

// attentions draws the attention of each head of the first layer in states of a run.
func attentions(spec train.Spec, shots []train.Snapshot) (plots []*plot.Plot) {
	for _, s := range shots {
		heads := spec.HeadAttentions(s.Weights)
		for h, attention := range heads {
			p := plot.New()
			p.Title.Text = fmt.Sprintf("step %d", s.Step)
			if len(heads) > 1 {
				p.Title.Text += fmt.Sprintf(", head %d", h+1)
			}
			AddMatrix(p, attention)
			plots = append(plots, p)
		}
	}
	return plots
}

// live trains as Live does, and calls draw with the states from time to time. If the run diverges,
// it returns the states with the error of [train.Trainer.Advance].
func live(
	ctx context.Context, spec train.Spec, meter runs.Meter, draw func([]train.Snapshot), at ...int,
) ([]train.Snapshot, error) {
	if len(at) == 0 || !slices.IsSorted(at) || at[0] < 0 || at[len(at)-1] > spec.Steps {
		const want = "nb: states after steps %d, want increasing numbers from 0 to %d, the steps of the run"
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
