package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
	"learncausal/pkg/runs"
)

func (s *Sweep) resultPath(address string) string {
	return filepath.Join(s.Dir, "results", address+".json")
}

// Result returns the result of run i of the plan. It is nil if the run is not done, or
// lacks a comparison that the plan has.
func (s *Sweep) Result(i int) (*experiment.Outcome, error) {
	address := s.Plan.Runs[i].Address
	path := s.resultPath(address)
	b, err := runs.ReadFile(path, experiment.MaxOutcome)
	var r *experiment.Outcome
	if errors.Is(err, fs.ErrNotExist) {
		listed, err := s.listed()
		if r = listed[address]; err != nil || r == nil {
			return nil, err
		}
	} else {
		if err == nil {
			r, err = experiment.DecodeOutcome(b)
		}
		if err == nil && r.Address != address {
			err = fmt.Errorf("it is the result of run %s, want %s", r.Address, address)
		}
		if err != nil {
			return nil, fmt.Errorf("sweep: %s refused: %w; delete it to measure the run again", path, err)
		}
	}
	if r.Diverged == "" && (s.Plan.Bayes && r.Bayes == nil || s.Plan.One && r.One == nil) {
		return nil, nil
	}
	return r, nil
}

// results returns the results of all runs, in the order of the plan. It is an error if a
// run is not done.
func (s *Sweep) results() ([]*experiment.Outcome, error) {
	all := make([]*experiment.Outcome, len(s.Plan.Runs))
	for i, r := range s.Plan.Runs {
		var err error
		if all[i], err = s.Result(i); err != nil {
			return nil, err
		}
		if all[i] == nil {
			return nil, fmt.Errorf("sweep: run %s on %s with seed %d is not done", r.Address, r.Graph, r.Spec.Seed)
		}
	}
	return all, nil
}

func (s *Sweep) listPath() string { return filepath.Join(s.Dir, "results.jsonl") }

// listed returns the results in results.jsonl by address, none if there is no such file.
// It reads the file once.
func (s *Sweep) listed() (map[string]*experiment.Outcome, error) {
	s.once.Do(func() {
		all, err := experiment.ReadOutcomes(s.listPath())
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			s.unread = fmt.Errorf("sweep: %w; delete it to measure its runs again", err)
		}
		s.list = map[string]*experiment.Outcome{}
		for _, o := range all {
			s.list[o.Address] = o
		}
	})
	return s.list, s.unread
}

// encodeList returns a new results.jsonl: the results of the plan, and then, by address,
// the results in the old file of runs that are not in the plan. So a plan may shrink
// without a loss of results.
func (s *Sweep) encodeList(results []*experiment.Outcome) ([]byte, error) {
	listed, err := s.listed()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(results)
	for _, address := range slices.Sorted(maps.Keys(listed)) {
		all = append(all, listed[address])
	}
	written := map[string]bool{} // two names may have the same graph
	var b bytes.Buffer
	for _, o := range all {
		if written[o.Address] {
			continue
		}
		written[o.Address] = true
		line, err := o.Encode()
		if err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		b.Write(line)
	}
	return b.Bytes(), nil
}

// keep writes a result, and removes an earlier error of the run.
func (s *Sweep) keep(r *experiment.Outcome) error {
	b, err := r.Encode()
	if err != nil {
		return err
	}
	if err := figure.WriteFile(s.resultPath(r.Address), b); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := os.Remove(s.failurePath(r.Address)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

func (s *Sweep) failurePath(address string) string {
	return filepath.Join(s.Dir, "failed", address+".txt")
}
