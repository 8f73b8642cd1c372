package sweep

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
)

// Retrain returns tasks that train n finished runs again, in the folder scratch, and compare their results with
// the stored ones, byte for byte. An error of a task names the run and the place where it differs. The runs
// take at most about longest of a core each, are spread over the plan, and change from day to day; there are
// fewer than n if fewer are finished. Interrupted tasks resume while scratch exists.
func (s *Sweep) Retrain(n int, longest time.Duration, scratch string) ([]Task, error) {
	var done []int
	for i, r := range s.Plan.Runs {
		switch o, err := s.Result(i); {
		case err != nil:
			return nil, err
		case o != nil && work(r.Spec) <= float64(longest.Microseconds()):
			done = append(done, i)
		}
	}
	if len(done) == 0 {
		return nil, fmt.Errorf("sweep: of the %d runs of the plan none that may be retrained is done in %s",
			len(s.Plan.Runs), s.Dir)
	}
	n = min(n, len(done))
	tasks := make([]Task, n)
	in := &Sweep{Plan: s.Plan, Store: runs.Open(filepath.Join(scratch, "runs")), Dir: scratch}
	for k := range tasks {
		i := done[(trial.Today()+k*len(done)/n)%len(done)]
		tasks[k] = Task{s.Plan.Runs[i].Spec, func(ctx context.Context, opt runs.Options) error {
			return s.retrain(ctx, i, in, opt)
		}}
	}
	return tasks, nil
}

// retrain trains run i in another sweep of the plan, unless it has a result there, and compares the results.
func (s *Sweep) retrain(ctx context.Context, i int, in *Sweep, opt runs.Options) error {
	got, err := in.encoded(i)
	if err == nil && got == nil {
		if err = in.do(ctx, i, opt); err == nil {
			got, err = in.encoded(i)
		}
	}
	if err != nil {
		return err
	}
	kept, err := s.encoded(i)
	if err != nil || bytes.Equal(got, kept) {
		return err
	}
	at := 0
	for at < min(len(got), len(kept)) && got[at] == kept[at] {
		at++
	}
	near := func(b []byte) []byte { return b[max(0, at-40):min(len(b), at+20)] }
	r := s.Plan.Runs[i]
	return fmt.Errorf("sweep: %s on %s with seed %d: retraining gives %q, the stored result has %q",
		r.Address, r.Graph, r.Spec.Seed, near(got), near(kept))
}

// encoded returns the bytes of a result, nil if the run is not done.
func (s *Sweep) encoded(i int) ([]byte, error) {
	o, err := s.Result(i)
	if err != nil || o == nil {
		return nil, err
	}
	return o.Encode()
}
