package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"learncausal/internal/files"
	"learncausal/paper/trial"
)

func (s *Sweep) resultPath(address string) string {
	return filepath.Join(s.Dir, "results", address+".json")
}

// Result returns the result of run i of the plan. It is nil if the run is not done, or
// lacks a comparison that the plan has.
func (s *Sweep) Result(i int) (*trial.Outcome, error) {
	address := s.Plan.Runs[i].Address
	path := s.resultPath(address)
	all, err := trial.ReadOutcomes(path)
	if errors.Is(err, fs.ErrNotExist) {
		var listed map[string]*trial.Outcome
		listed, err = s.listed()
		all = []*trial.Outcome{listed[address]}
	} else if err == nil && (len(all) != 1 || all[0].Address != address) {
		err = fmt.Errorf("sweep: %s refused: want the result of run %s alone; delete it to measure the run again",
			path, address)
	}
	if err != nil || all[0] == nil {
		return nil, err
	}
	r := all[0]
	if r.Diverged == "" && (s.Plan.Bayes && r.Bayes == nil || s.Plan.One && r.One == nil) {
		return nil, nil
	}
	return r, nil
}

// results returns the results of all runs, in the order of the plan. It is an error if a run is not done.
func (s *Sweep) results() ([]*trial.Outcome, error) {
	all := make([]*trial.Outcome, len(s.Plan.Runs))
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

func (s *Sweep) listPath() string { return filepath.Join(s.Dir, listName) }

// listed returns the results in results.jsonl by address, none if there is no such file.
// It reads the file once.
func (s *Sweep) listed() (map[string]*trial.Outcome, error) {
	s.once.Do(func() {
		all, err := trial.ReadOutcomes(s.listPath())
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		s.unread = err
		s.list = map[string]*trial.Outcome{}
		for _, o := range all {
			s.list[o.Address] = o
		}
	})
	return s.list, s.unread
}

// encodeList returns a new results.jsonl: the results of the plan, and then, by address, the results in the old
// file of runs that are not in the plan. So a plan may shrink without a loss of results.
func (s *Sweep) encodeList(results []*trial.Outcome) ([]byte, error) {
	listed, err := s.listed()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(results)
	for _, address := range slices.Sorted(maps.Keys(listed)) {
		all = append(all, listed[address])
	}
	written := map[string]bool{} // two names may have the same graph
	all = slices.DeleteFunc(all, func(o *trial.Outcome) bool {
		before := written[o.Address]
		written[o.Address] = true
		return before
	})
	return trial.EncodeOutcomes(all...)
}

// keep writes a result, and removes an earlier error of the run.
func (s *Sweep) keep(r *trial.Outcome) error {
	b, err := trial.EncodeOutcomes(r)
	if err != nil {
		return err
	}
	if err := files.Write(s.resultPath(r.Address), b); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := remove(s.failurePath(r.Address)); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// remove removes a file, if there is one.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Sweep) failurePath(address string) string {
	return filepath.Join(s.Dir, "failed", address+".txt")
}
