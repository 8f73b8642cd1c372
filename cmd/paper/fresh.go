package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"learncausal/paper/sweep"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// doAll does the tasks. If none fails, it then calls forget, which removes the files from
// which an interrupted command resumes.
func doAll(ctx context.Context, tasks []sweep.Task, jobs int, forget ...func() error) error {
	err := sweep.Each(ctx, tasks, jobs, runs.Terminal(os.Stderr))
	if err != nil {
		return err
	}
	for _, f := range forget {
		err = errors.Join(err, f())
	}
	return err
}

// ofStore returns tasks that retrain the runs in a store that are not confirmed yet.
func ofStore(dir string, specs []train.Spec, equal *confirmed) ([]sweep.Task, error) {
	rest, err := equal.rest(specs)
	if err != nil {
		return nil, err
	}
	if n := len(specs) - len(rest); n > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d runs were retrained before the interruption, and equal\n", n, len(specs))
	}
	store := runs.Open(dir)
	var tasks []sweep.Task
	for _, spec := range rest {
		tasks = append(tasks, sweep.Task{Spec: spec, Do: func(ctx context.Context, opt runs.Options) error {
			opt.Fresh = true
			run, err := store.Get(ctx, spec, opt)
			if err != nil {
				return err
			}
			return equal.add(run.Address)
		}})
	}
	return tasks, nil
}

// ofSweep returns tasks that retrain n finished runs of a sweep, each of which takes at
// most the given time of a core, and a function that removes their scratch files.
func ofSweep(s *sweep.Sweep, n int, longest time.Duration) (tasks []sweep.Task, forget func() error, err error) {
	self, err := runs.Program()
	if err != nil {
		return nil, nil, err
	}
	scratch := filepath.Join(s.Dir, ".fresh-"+self)
	tasks, err = s.Retrain(n, longest, scratch)
	return tasks, func() error { return os.RemoveAll(scratch) }, err
}

// sampled are the sweeps from which train --fresh retrains runs. It retrains as many
// runs of each as samples, and none that takes longer than longest on a core.
var sampled = []string{"figure-9", "figure-9-batch", "joint-training"}

const (
	samples = 4
	longest = 10 * time.Minute
)

// confirmEach retrains the runs and compares them with the store dir, and compares some runs
// of the plans with their stored results. It resumes after the runs that were equal.
func confirmEach(ctx context.Context, dir string, specs []train.Spec, plans []string, jobs int) error {
	equal, err := newConfirmed(dir)
	if err != nil {
		return err
	}
	tasks, err := ofStore(dir, specs, equal)
	if err != nil {
		return err
	}
	forget := []func() error{equal.forget}
	for _, plan := range plans {
		s, err := sweep.Open(plan, "", "")
		if err != nil {
			return err
		}
		more, clean, err := ofSweep(s, samples, longest)
		if err != nil {
			return err
		}
		tasks, forget = append(tasks, more...), append(forget, clean)
	}
	return doAll(ctx, tasks, jobs, forget...)
}

// confirmed is a file beside the checkpoints of a store. It lists the runs that this program
// has retrained and found equal, an address a line.
type confirmed struct{ path string }

func newConfirmed(store string) (*confirmed, error) {
	self, err := runs.Program()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(store, ".unfinished")
	return &confirmed{filepath.Join(dir, "confirmed-"+self+".txt")}, os.MkdirAll(dir, 0o777)
}

func (c *confirmed) rest(specs []train.Spec) ([]train.Spec, error) {
	text, err := runs.ReadFile(c.path, 1<<30)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listed := strings.Fields(string(text))
	return slices.DeleteFunc(slices.Clone(specs), func(s train.Spec) bool {
		return slices.Contains(listed, runs.Address(s))
	}), nil
}

// add lists a run. It may be called concurrently.
func (c *confirmed) add(address string) error {
	f, err := os.OpenFile(c.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(address + "\n")
	return errors.Join(err, f.Close())
}

func (c *confirmed) forget() error { return os.RemoveAll(c.path) }
