package runs

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"learncausal/pkg/train"
)

// train trains the run to its end and writes checkpoints into the folder of training.
func (j *job) train(ctx context.Context) (*Run, error) {
	steps := j.Spec.Steps
	fail := func(err error) (*Run, error) { return nil, fmt.Errorf("runs: run %s: %w", j.Address, err) }
	what := fmt.Sprintf("training with batch %d and test set %d, and the %d states that are kept",
		j.Spec.Batch, j.Spec.Test, len(j.milestones))
	if err := train.CheckMemory(j.memory(j.Workers), what); err != nil {
		return fail(err)
	}
	path := filepath.Join(j.work, checkpointName)
	c, _, err := readCheckpoint(path, j.Address)
	if err != nil {
		return nil, err
	}
	how := "resumed"
	if c == nil {
		how, c = "from the start", &checkpoint{}
	}
	t, err := j.trainer(c.now, j.Workers)
	if err != nil {
		return fail(err)
	}
	left := steps - t.Step()
	outlook, err := pace(t, left)
	if err != nil {
		return fail(err)
	}
	j.Meter.Update(t.Step(), steps, fmt.Sprintf("step %d/%d  %s: %d steps take about %v here",
		t.Step(), steps, how, left, outlook.Round(time.Second)))
	saved, shown := time.Now(), time.Now().Add(outlookShown)
	for step := t.Step(); ; step = t.Step() {
		j.keep(c, t)
		if step >= steps {
			j.Meter.Done(fmt.Sprintf("run %s  %d steps  batch loss %.3f", j.Address, step, t.Loss()))
			return j.finished(c), nil
		}
		stopped := ctx.Err()
		if stopped != nil {
			j.Meter.Done(fmt.Sprintf("run %s  stopped at step %d/%d", j.Address, step, steps))
		}
		if stopped != nil || time.Since(saved) >= j.interval {
			c.now = t.Snapshot()
			if err := writeFile(j.temporary(), path, encodeCheckpoint(j.plan, c)); err != nil {
				return nil, err
			}
			saved = time.Now()
		}
		if stopped != nil {
			return nil, fmt.Errorf("runs: run %s stopped at step %d of %d; its checkpoint is kept, "+
				"and running it again resumes: %w", j.Address, step, steps, stopped)
		}
		if err := t.Advance(1); err != nil {
			j.Meter.Done(fmt.Sprintf("run %s  diverged at step %d", j.Address, t.Step()))
			return fail(err)
		}
		if time.Since(shown) >= 100*time.Millisecond {
			j.Meter.Update(t.Step(), steps, fmt.Sprintf("step %d/%d  batch loss %.3f", t.Step(), steps, t.Loss()))
			shown = time.Now()
		}
	}
}

// trainer returns a trainer of the run in the state s, at step 0 if s is zero.
func (p *plan) trainer(s train.Snapshot, workers int) (*train.Trainer, error) {
	if s.Weights == nil {
		return train.New(p.Spec, workers)
	}
	return train.Resume(p.Spec, workers, s)
}

// outlookShown is the time for which a meter shows the estimate made before training.
const outlookShown = 2 * time.Second

// pace estimates the time of n steps from four steps after one for warming up. It restores
// the state of the trainer. A divergence is reported by the step that is kept.
func pace(t *train.Trainer, n int) (time.Duration, error) {
	before := t.Snapshot()
	_ = t.Advance(1)
	began := time.Now()
	_ = t.Advance(4)
	return time.Duration(n) * (time.Since(began) / 4), t.Restore(before)
}

// keep adds the digest and the milestone due at the step of the trainer to the checkpoint, unless it has them.
func (p *plan) keep(c *checkpoint, t *train.Trainer) {
	mark := len(c.states) < until(t.Step(), p.marks)
	milestone := len(c.milestones) < until(t.Step(), p.milestones)
	if !mark && !milestone {
		return
	}
	now := t.Snapshot()
	if mark {
		c.states = append(c.states, digest(now))
	}
	if milestone {
		c.milestones = append(c.milestones, now)
	}
}

// finished returns the run of a checkpoint after the last step.
func (p *plan) finished(c *checkpoint) *Run {
	r := &Run{Spec: p.Spec, Address: p.Address, Milestones: c.milestones, states: c.states}
	r.Final = c.milestones[len(c.milestones)-1]
	r.Curve, r.Edges = r.Final.Curve, p.Spec.Edges(r.Final.Weights)
	return r
}
