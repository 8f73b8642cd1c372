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

// An Again is some of the runs of a sweep that are done, to be trained anew and compared
// with what is kept of them.
type Again struct {
	which []int
	kept  *Sweep
	anew  *Sweep
}

// Again returns n of the runs that are done and take at most about longest of a core: all
// of them where n is at least their number, else other ones from day to day, spread over
// the plan. They are trained in the folder scratch; one that is stopped goes on from there
// if it is among those asked for next.
func (s *Sweep) Again(n int, longest time.Duration, scratch string) (*Again, error) {
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
		return nil, fmt.Errorf("sweep: of the %d runs of the plan none that may be trained again is done in %s",
			len(s.Plan.Runs), s.Dir)
	}
	n = min(n, len(done))
	which := make([]int, n)
	for k := range which {
		which[k] = done[(experiment.Today()+k*len(done)/n)%len(done)]
	}
	anew := &Sweep{Plan: s.Plan, Store: runs.Open(filepath.Join(scratch, "runs")), Dir: scratch}
	return &Again{which, s, anew}, nil
}

// Specs returns what is trained.
func (a *Again) Specs() []train.Spec {
	specs := make([]train.Spec, len(a.which))
	for k, i := range a.which {
		specs[k] = a.kept.Plan.Runs[i].Spec
	}
	return specs
}

// Compare trains the k-th of the runs, from the first step to the last, and compares what
// becomes of it with what is kept, byte for byte. An error names the run and where it
// differs.
func (a *Again) Compare(ctx context.Context, k int, opt runs.Options) error {
	i := a.which[k]
	r := a.kept.Plan.Runs[i]
	got, err := a.anew.encoded(i)
	if err == nil && got == nil { // else it was trained before a stop
		if err = a.anew.do(ctx, i, opt); err == nil {
			got, err = a.anew.encoded(i)
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
	return fmt.Errorf("sweep: %s on %s with seed %d: trained anew it has %q where %q is kept",
		r.Address, r.Graph, r.Spec.Seed, near(got, at), near(kept, at))
}

// Forget removes what was trained.
func (a *Again) Forget() error { return os.RemoveAll(a.anew.Dir) }

// encoded returns the bytes of a result, nil if the run is not done.
func (s *Sweep) encoded(i int) ([]byte, error) {
	o, err := s.Result(i)
	if err != nil || o == nil {
		return nil, err
	}
	return o.Encode()
}

// near returns what stands around a byte.
func near(b []byte, at int) []byte { return b[max(0, at-40):min(len(b), at+20)] }
