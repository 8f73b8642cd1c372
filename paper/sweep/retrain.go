package sweep

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"learncausal/paper/experiment"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// A Sample is a set of finished runs of a sweep, to be retrained and compared with their
// results.
type Sample struct {
	which   []int
	kept    *Sweep
	scratch *Sweep
}

// Sample returns n finished runs that take at most about longest of a core each. They are
// spread over the plan, and change from day to day; there are fewer where fewer are
// finished. They are retrained in the folder scratch, where an interrupted run resumes.
func (s *Sweep) Sample(n int, longest time.Duration, scratch string) (*Sample, error) {
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
	which := make([]int, n)
	for k := range which {
		which[k] = done[(experiment.Today()+k*len(done)/n)%len(done)]
	}
	return &Sample{which, s, &Sweep{Plan: s.Plan, Store: runs.Open(filepath.Join(scratch, "runs")), Dir: scratch}}, nil
}

// Specs returns the specifications of the runs.
func (a *Sample) Specs() []train.Spec {
	specs := make([]train.Spec, len(a.which))
	for k, i := range a.which {
		specs[k] = a.kept.Plan.Runs[i].Spec
	}
	return specs
}

// Retrain trains run k of the sample from the first step to the last, and compares its
// result with the stored one, byte for byte. An error names the run and the place where
// it differs.
func (a *Sample) Retrain(ctx context.Context, k int, opt runs.Options) error {
	i := a.which[k]
	r := a.kept.Plan.Runs[i]
	got, err := a.scratch.encoded(i)
	if err == nil && got == nil { // else it was trained before an interruption
		if err = a.scratch.do(ctx, i, opt); err == nil {
			got, err = a.scratch.encoded(i)
		}
	}
	if err != nil {
		return err
	}
	kept, err := a.kept.encoded(i)
	if err != nil || bytes.Equal(got, kept) {
		return err
	}
	at := 0
	for at < min(len(got), len(kept)) && got[at] == kept[at] {
		at++
	}
	return fmt.Errorf("sweep: %s on %s with seed %d: retraining gives %q, the stored result has %q",
		r.Address, r.Graph, r.Spec.Seed, near(got, at), near(kept, at))
}

// Forget removes the folder scratch.
func (a *Sample) Forget() error { return os.RemoveAll(a.scratch.Dir) }

// encoded returns the bytes of a result, nil if the run is not done.
func (s *Sweep) encoded(i int) ([]byte, error) {
	o, err := s.Result(i)
	if err != nil || o == nil {
		return nil, err
	}
	return o.Encode()
}

// near returns the bytes around position at.
func near(b []byte, at int) []byte { return b[max(0, at-40):min(len(b), at+20)] }
