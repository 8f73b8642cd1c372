package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"learncausal/paper/experiment"
	"learncausal/pkg/figure"
)

func (s *Sweep) resultPath(address string) string {
	return filepath.Join(s.Dir, "results", address+".json")
}

// Result returns what became of run i of the plan, or nil if it is not done, or was
// not compared with the Bayes predictor where the plan asks for that.
func (s *Sweep) Result(i int) (*experiment.Outcome, error) {
	address := s.Plan.Runs[i].Address
	path := s.resultPath(address)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		path = s.listPath()
		var lines map[string][]byte
		if lines, err = s.listed.read(path); err == nil && lines[address] == nil {
			return nil, nil
		}
		b = lines[address]
	}
	var r *experiment.Outcome
	if err == nil {
		r, err = experiment.DecodeOutcome(b)
	}
	if err == nil && r.Address != address {
		err = fmt.Errorf("it is not that of run %s", address)
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: %s refused: %w; delete it to have it measured anew", path, err)
	}
	if s.Plan.Bayes && r.Bayes == nil && r.Diverged == "" {
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

// A listed is a file of results that is read once, when first one is asked for.
type listed struct {
	once  sync.Once
	lines map[string][]byte // by address of run
	err   error
}

func (s *Sweep) listPath() string { return filepath.Join(s.Dir, "results.jsonl") }

func (l *listed) read(path string) (map[string][]byte, error) {
	l.once.Do(func() {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		l.lines, l.err = map[string][]byte{}, err
		n := 0
		for line := range bytes.Lines(b) {
			n++
			var r struct{ Address string }
			if err := json.Unmarshal(line, &r); err != nil && l.err == nil {
				l.err = fmt.Errorf("line %d: %w", n, err)
			}
			l.lines[r.Address] = line
		}
	})
	return l.lines, l.err
}

// list returns the results.jsonl of the results of the plan, and after them, by
// address, those in it of runs that are not in the plan: nothing that was trained is
// lost when a plan gets smaller.
func (s *Sweep) list(results []*experiment.Outcome) ([]byte, error) {
	lines, err := s.listed.read(s.listPath())
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	others := maps.Clone(lines)
	done := map[string]bool{} // two names may be of one graph
	for _, r := range results {
		delete(others, r.Address)
		line, err := r.Encode()
		if err != nil {
			return nil, err
		}
		if !done[r.Address] {
			b.Write(line)
		}
		done[r.Address] = true
	}
	for _, address := range slices.Sorted(maps.Keys(others)) {
		b.Write(others[address])
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
