package trial

import (
	"context"
	"math"
	"runtime"
	"time"

	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

// A Cost is an estimate of time and memory of a training run, measured on its first
// steps on this machine under its present load.
type Cost struct {
	Parameters  int // number of trained weights
	Steps       int
	Step        time.Duration // time of a step
	Evaluations int           // on the test set
	Evaluation  time.Duration // time of an evaluation
	Memory      uint64        // bytes of this process
}

// Total returns the time of the whole run, at most the longest duration, 292 years.
func (c Cost) Total() time.Duration {
	total := float64(float64(c.Steps)*float64(c.Step)) + float64(float64(c.Evaluations)*float64(c.Evaluation))
	if total >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(total)
}

// Of returns the cost of a run of spec if its steps and evaluations take as long as in c.
func (c Cost) Of(spec train.Spec) Cost {
	spec = spec.Canonical()
	c.Steps, c.Evaluations = spec.Steps, 2+(spec.Steps-1)/spec.Every
	return c
}

// Bounds on the time and the number of steps of [MeasureCost].
const (
	costTime  = 500 * time.Millisecond
	costSteps = 200
)

// MeasureCost trains the first steps of a run and discards them. With workers <= 0 it
// uses every processor, as in training.
func MeasureCost(ctx context.Context, spec train.Spec, workers int) (Cost, error) {
	if err := spec.Validate(); err != nil {
		return Cost{}, err
	}
	c := Cost{}.Of(spec)
	begun := time.Now()
	if _, err := spec.TestSet(); err != nil {
		return c, err
	}
	drawing := time.Since(begun)
	spec.Every = spec.Steps // only the last step evaluates
	begun = time.Now()
	t, err := train.New(spec, workers)
	if err != nil {
		return c, err
	}
	c.Evaluation = max(0, time.Since(begun)-drawing)
	begun = time.Now()
	failed := t.Advance(1) // draws its sequences as well; later steps find theirs drawn
	c.Step = time.Since(begun)
	begun = time.Now()
	n, spent := 0, time.Duration(0)
	for failed == nil && ctx.Err() == nil && t.Step() < min(spec.Steps-1, costSteps) && spent < costTime {
		if failed = t.Advance(1); failed == nil { // a step that diverges does not count
			n, spent = n+1, time.Since(begun)
		}
	}
	if n > 0 {
		c.Step = spent / time.Duration(n)
	}
	for _, m := range model.Trained(t.Snapshot().Weights) {
		c.Parameters += len(m)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	c.Memory = mem.Sys
	return c, ctx.Err()
}
