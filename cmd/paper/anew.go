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

// A task is a run that is to be trained anew and compared with what is kept of it.
type task struct {
	spec train.Spec
	do   func(context.Context, runs.Options) error
}

// doAll does the tasks under one meter. If each has ended well, it then forgets what they
// have left to go on from.
func doAll(ctx context.Context, tasks []task, jobs int, forget ...func() error) error {
	specs := make([]train.Spec, len(tasks))
	for i, t := range tasks {
		specs[i] = t.spec
	}
	err := sweep.Each(ctx, specs, jobs, runs.Terminal(os.Stderr),
		func(ctx context.Context, i int, opt runs.Options) error { return tasks[i].do(ctx, opt) })
	if err != nil {
		return err
	}
	for _, f := range forget {
		err = errors.Join(err, f())
	}
	return err
}

// ofStore are the tasks of the runs in a store but those that are known to be equal.
func ofStore(dir string, specs []train.Spec, equal *confirmed) ([]task, error) {
	rest, err := equal.rest(specs)
	if err != nil {
		return nil, err
	}
	if n := len(specs) - len(rest); n > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d runs were trained anew before, and equal\n", n, len(specs))
	}
	store := runs.Open(dir)
	var tasks []task
	for _, spec := range rest {
		tasks = append(tasks, task{spec, func(ctx context.Context, opt runs.Options) error {
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

// ofSweep are the tasks of some of the runs of a sweep.
func ofSweep(again *sweep.Again) (tasks []task) {
	for k, spec := range again.Specs() {
		tasks = append(tasks, task{spec, func(ctx context.Context, opt runs.Options) error {
			return again.Compare(ctx, k, opt)
		}})
	}
	return tasks
}

// again returns n of the runs of a sweep that take up to so much of a core, to be trained
// beside what is kept of them.
func again(s *sweep.Sweep, n int, longest time.Duration) (*sweep.Again, error) {
	self, err := runs.Program()
	if err != nil {
		return nil, err
	}
	return s.Again(n, longest, filepath.Join(s.Dir, ".again-"+self))
}

// sampled are the sweeps of which train --fresh trains some runs, so many of each, none of
// which takes longer on a core.
var sampled = []string{"figure-9", "figure-9-batch", "joint-training"}

const (
	samples = 4
	longest = 10 * time.Minute
)

// confirmEach trains each of the runs anew and compares it with the one in the store dir,
// where there is one, and some runs of the sweeps of the plans with what is kept of them.
// Stopped, it goes on after those that were equal.
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
		s, err := sweep.Open(plan)
		if err != nil {
			return err
		}
		a, err := again(s, samples, longest)
		if err != nil {
			return err
		}
		tasks, forget = append(tasks, ofSweep(a)...), append(forget, a.Forget)
	}
	return doAll(ctx, tasks, jobs, forget...)
}

// confirmed lists the runs of a store that this program has trained anew and found equal,
// an address a line: train --fresh that is stopped, or killed, goes on after them. The
// file lies beside the checkpoints and is named by the program, so that another one
// begins again.
type confirmed struct{ path string }

func newConfirmed(store string) (*confirmed, error) {
	self, err := runs.Program()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(store, ".unfinished")
	return &confirmed{filepath.Join(dir, "confirmed-"+self+".txt")}, os.MkdirAll(dir, 0o777)
}

// rest returns the specs that are not listed.
func (c *confirmed) rest(specs []train.Spec) ([]train.Spec, error) {
	text, err := os.ReadFile(c.path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listed := strings.Fields(string(text))
	return slices.DeleteFunc(slices.Clone(specs), func(s train.Spec) bool {
		return slices.Contains(listed, runs.Address(s))
	}), nil
}

// add lists a run; several may be added at a time.
func (c *confirmed) add(address string) error {
	f, err := os.OpenFile(c.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(address + "\n")
	return errors.Join(err, f.Close())
}

// forget removes the list.
func (c *confirmed) forget() error { return os.RemoveAll(c.path) }
