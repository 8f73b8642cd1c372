package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"learncausal/paper/experiment"
	"learncausal/pkg/runs"
)

// Again trains n of the runs that are done anew, from the first step to the last, and
// compares what becomes of them with what is kept, byte for byte: of all of them where
// n is at least their number, else other ones from day to day, spread over the plan. It
// returns how many were compared, and an error that names each run that differs. Jobs is
// that of [Each]. What is trained is thrown away.
func (s *Sweep) Again(ctx context.Context, n, jobs int, meter runs.Meter) (int, error) {
	var done []int
	kept := map[int][]byte{}
	for i := range s.Plan.Runs {
		o, err := s.Result(i)
		if err != nil {
			return 0, err
		}
		if o == nil {
			continue
		}
		if kept[i], err = o.Encode(); err != nil {
			return 0, err
		}
		done = append(done, i)
	}
	if len(done) == 0 {
		return 0, fmt.Errorf("sweep: none of the %d runs of the plan is done in %s", len(s.Plan.Runs), s.Dir)
	}
	n = min(n, len(done))
	which := make([]int, n)
	for k := range which {
		which[k] = done[(experiment.Today()+k*len(done)/n)%len(done)]
	}
	dir, err := os.MkdirTemp("", "paper-sweep-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	anew := &Sweep{Plan: s.Plan, Store: runs.Open(filepath.Join(dir, "runs")), Dir: dir}
	if err := anew.Run(ctx, which, jobs, meter); err != nil {
		return 0, err
	}
	var differ []error
	for _, i := range which {
		o, err := anew.Result(i)
		if err != nil {
			return 0, err
		}
		got, err := o.Encode()
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(got, kept[i]) {
			r := s.Plan.Runs[i]
			at := 0
			for at < min(len(got), len(kept[i])) && got[at] == kept[i][at] {
				at++
			}
			differ = append(differ, fmt.Errorf("sweep: %s on %s with seed %d: trained anew it has %q where %q is kept",
				r.Address, r.Graph, r.Spec.Seed, near(got, at), near(kept[i], at)))
		}
	}
	return n, errors.Join(differ...)
}

// near returns what stands around a byte.
func near(b []byte, at int) []byte { return b[max(0, at-40):min(len(b), at+20)] }
