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

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/sweep"
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

// ofStore returns a task for each run of the specs, which loads or trains it in a store, or with
// fresh retrains it and compares the bytes, and then calls done.
func ofStore(dir string, specs []train.Spec, fresh bool, done func(*runs.Run) error) (tasks []sweep.Task) {
	for _, spec := range specs {
		tasks = append(tasks, sweep.Task{Spec: spec, Do: func(ctx context.Context, opt runs.Options) error {
			opt.Fresh = fresh
			run, err := runs.Open(dir).Get(ctx, spec, opt)
			if err != nil {
				return err
			}
			return done(run)
		}})
	}
	return tasks
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
var sampled = []string{"figure-9", "figure-9-batch", "figure-9-printed", "joint-training"}

const (
	samples = 4
	longest = 10 * time.Minute
)

// confirmEach retrains the runs and compares them with the store dir, and compares some runs
// of the plans with their stored results. A file beside the checkpoints lists the addresses of
// the runs that this program has found equal; after an interruption it resumes after them.
func confirmEach(ctx context.Context, dir string, specs []train.Spec, plans []string, jobs int) error {
	self, err := runs.Program()
	if err != nil {
		return err
	}
	list := filepath.Join(dir, ".unfinished", "confirmed-"+self+".txt")
	equal, err := files.Read(list, 1<<30)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(specs), func(s train.Spec) bool {
		return strings.Contains(string(equal), runs.Address(s))
	})
	if n := len(specs) - len(rest); n > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d runs were retrained before the interruption, and equal\n", n, len(specs))
	}
	tasks := ofStore(dir, rest, true, func(r *runs.Run) error { return addLine(list, r.Address) })
	forget := []func() error{func() error { return os.RemoveAll(list) }}
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

// addLine adds a line to a file, whose other lines stay. It may be called concurrently.
func addLine(path, line string) error {
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}
