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

// Result returns what became of run i of the plan, or nil if it is not done, or was
// not compared with what the plan asks for.
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
			err = fmt.Errorf("it is not that of run %s", address)
		}
		if err != nil {
			return nil, fmt.Errorf("sweep: %s refused: %w; delete it to have the run measured anew", path, err)
		}
	}
	if r.Diverged == "" && (s.Plan.Bayes && r.Bayes == nil || s.Plan.One && r.One == nil) {
		return nil, nil
	}
	return r, nil
}

// Results returns what became of all runs, in the order of the plan. It is an error if
// one is not done.
func (s *Sweep) Results() ([]*experiment.Outcome, error) {
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

// listed returns what results.jsonl has, by address of run, nothing where there is no
// such file. It is read once.
func (s *Sweep) listed() (map[string]*experiment.Outcome, error) {
	s.once.Do(func() {
		all, err := experiment.ReadOutcomes(s.listPath())
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			s.unread = fmt.Errorf("sweep: %w; delete it to have its runs measured anew", err)
		}
		s.list = map[string]*experiment.Outcome{}
		for _, o := range all {
			s.list[o.Address] = o
		}
	})
	return s.list, s.unread
}

// encodeList returns the results.jsonl of the results of the plan, and after them, by
// address, those in it of runs that are not in the plan: nothing that was trained is
// lost when a plan gets smaller.
func (s *Sweep) encodeList(results []*experiment.Outcome) ([]byte, error) {
	listed, err := s.listed()
	if err != nil {
		return nil, err
	}
	others := maps.Clone(listed)
	done := map[string]bool{} // two names may be of one graph
	var all []*experiment.Outcome
	for _, r := range results {
		delete(others, r.Address)
		if !done[r.Address] {
			all = append(all, r)
		}
		done[r.Address] = true
	}
	for _, address := range slices.Sorted(maps.Keys(others)) {
		all = append(all, others[address])
	}
	var b bytes.Buffer
	for _, o := range all {
		line, err := o.Encode()
		if err != nil {
			return nil, fmt.Errorf("sweep: %w", err)
		}
		b.Write(line)
	}
	return b.Bytes(), nil
}

// keep writes a result, and forgets that the run has failed before.
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

// forgetFailures takes away what is kept of runs that have failed, which are to be
// tried again.
func (s *Sweep) forgetFailures() error {
	if err := os.RemoveAll(filepath.Join(s.Dir, "failed")); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}
