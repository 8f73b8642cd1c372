package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"learncausal/paper/experiment"
	"learncausal/pkg/runs"
)

// trainAll loads or trains every run of the paper, several at a time, each on
// one processor: that wastes less than one run on all of them.
func trainAll(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	fresh := flags.Bool("fresh", false, "train every run anew and compare it with the stored one")
	jobs := flags.Int("j", runtime.NumCPU(), "runs to train at a time")
	store := flags.String("store", "", "folder of the run store (default runs/ of the checkout)")
	others, err := parse(flags, args)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("train takes no arguments, not %q", others)
	}
	if *jobs < 1 {
		return fmt.Errorf("-j is %d, want at least 1", *jobs)
	}
	if *store == "" {
		if *store, err = experiment.Dir("runs"); err != nil {
			return err
		}
	}
	specs := experiment.Specs()
	steps := 0
	for _, s := range specs {
		steps += s.Steps
	}
	meter := &sum{meter: runs.Terminal(os.Stderr), total: steps, done: make([]int, len(specs))}
	errs := make([]error, len(specs)) // one run that differs does not keep the others from being compared
	var group errgroup.Group
	group.SetLimit(*jobs)
	for i, s := range specs {
		group.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				opt := runs.Options{Workers: 1, Fresh: *fresh, Meter: meter.part(i)}
				_, errs[i] = runs.Open(*store).Get(ctx, s, opt)
			}
			meter.part(i).Update(s.Steps, s.Steps, "")
			return nil
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	meter.meter.Done(fmt.Sprintf("%d runs are in %s", len(specs), *store))
	return nil
}

// A sum is one meter for several runs at a time.
type sum struct {
	mu    sync.Mutex
	meter runs.Meter
	total int
	done  []int // steps of each run
}

type part struct {
	sum *sum
	i   int
}

func (s *sum) part(i int) part { return part{s, i} }

func (p part) Update(done, _ int, _ string) {
	s := p.sum
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[p.i] = done
	steps := 0
	for _, d := range s.done {
		steps += d
	}
	s.meter.Update(steps, s.total, fmt.Sprintf("run %d of %d", p.i+1, len(s.done)))
}

func (p part) Done(string) {}
