package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/train"
)

// A Sweep is a plan, the store of its runs, and the folder Dir of their results, an absolute path.
//
//	<Dir>/results/<address>.json   the result of a run
//	<Dir>/failed/<address>.txt     the error of a run
//	<Dir>/results.jsonl            a checksum, then all results, a line each
//	<Dir>/table.csv                the same as a table, see [Sweep.WriteTables]
//
// A result may be in either place: of a finished sweep that keeps curves, results.jsonl suffices.
//
// Any number of processes may work on one sweep, on any number of machines that share the folders. Their file
// system must meet the conditions of [runs.Store]. Two processes that measure the same run write the same
// bytes.
type Sweep struct {
	Plan  *Plan
	Store *runs.Store
	Dir   string

	once   sync.Once // of listed, which sets list and unread
	list   map[string]*trial.Outcome
	unread error
}

// Open reads a plan and returns its sweep, with absolute paths. If dir is "", the folder of the results stands
// beside the plan and has its name; if store is "", the store is the folder runs in it.
func Open(plan, dir, store string) (*Sweep, error) {
	p, err := read(plan, mostRuns)
	if err != nil {
		return nil, err
	}
	dir = cmp.Or(dir, strings.TrimSuffix(plan, filepath.Ext(plan)))
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("sweep: %s is a file; name the folder of the results with --out", dir)
	}
	dir, err1 := filepath.Abs(dir)
	store, err2 := filepath.Abs(cmp.Or(store, filepath.Join(dir, "runs")))
	return &Sweep{Plan: p, Store: runs.Open(store), Dir: dir}, errors.Join(err1, err2)
}

// Missing returns the numbers of the runs that have no [Sweep.Result], or no weights in
// the store although the plan keeps weights.
func (s *Sweep) Missing() ([]int, error) {
	var missing []int
	for i := range s.Plan.Runs {
		done, err := s.done(i)
		if err != nil {
			return nil, err
		}
		if !done {
			missing = append(missing, i)
		}
	}
	return missing, nil
}

// done reports whether run i has a result and, if the plan keeps weights, weights in the store.
func (s *Sweep) done(i int) (bool, error) {
	r, err := s.Result(i)
	if err != nil || r == nil || s.Plan.Keep == Curve || r.Diverged != "" {
		return r != nil, err
	}
	return s.Store.HasWeights(r.Address)
}

// Run trains or loads the runs whose numbers are in which, and writes their results. A diverged
// run counts as finished; another error of a run does not stop the others. It is an error, before
// any training, if so many jobs take too much memory ([train.CheckMemory]). See [Each] for jobs and for the
// cancellation of ctx.
func (s *Sweep) Run(ctx context.Context, which []int, jobs int, meter runs.Meter) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if n := min(jobs, len(which)); n > 1 {
		what := fmt.Sprintf("the largest %d runs, as many as are trained at a time (-j)", n)
		bytes, err := s.Memory(which, jobs)
		if err == nil {
			err = train.CheckMemory(bytes, what)
		}
		if err != nil {
			return err
		}
	}
	tasks := make([]Task, len(which))
	for k, i := range which {
		r := s.Plan.Runs[i]
		tasks[k] = Task{r.Spec, func(ctx context.Context, opt runs.Options) error {
			err := s.do(ctx, i, opt)
			if err == nil || ctx.Err() != nil {
				return err
			}
			err = fmt.Errorf("%s on %s with seed %d: %w", r.Address, r.Graph, r.Spec.Seed, err)
			return errors.Join(err, files.Write(s.failurePath(r.Address), []byte(err.Error()+"\n")))
		}}
	}
	return Each(ctx, tasks, jobs, meter)
}

// do trains or loads run i and writes its result, unless another process has.
func (s *Sweep) do(ctx context.Context, i int, opt runs.Options) error {
	r := s.Plan.Runs[i]
	if done, err := s.done(i); done || err != nil {
		return err
	}
	opt.WithoutWeights = s.Plan.Keep == Curve
	run, err := s.Store.Get(ctx, r.Spec, opt)
	if err == nil && run.Final.Weights == nil { // stored by another process without weights
		if done, err := s.done(i); done || err != nil {
			return err
		}
		opt.Fresh = true // its result is not stored
		run, err = s.Store.Get(ctx, r.Spec, opt)
	}
	if errors.Is(err, train.ErrDiverged) {
		return s.keep(&trial.Outcome{Address: r.Address, Spec: r.Spec, Diverged: err.Error()})
	}
	if err != nil {
		return err
	}
	result, err := trial.NewOutcome(ctx, run, s.Plan.Comparisons)
	if err != nil {
		return err
	}
	return s.keep(result)
}

// A Task trains or loads a run of the specification.
type Task struct {
	Spec train.Spec
	Do   func(ctx context.Context, opt runs.Options) error
}

// Each does the tasks, the longest first, at most jobs > 0 at a time and with one worker each; if there are
// fewer tasks than jobs, they share the workers. This is faster than one run after another on all processors.
// The meter shows the progress of all. Each joins the errors of all tasks.
//
// When ctx is cancelled, Each starts no more tasks, waits for the tasks under way, and returns an error that
// wraps ctx.Err().
func Each(ctx context.Context, tasks []Task, jobs int, meter runs.Meter) error {
	sum := &trial.Sum{Meter: meter, What: "runs done"}
	order := make([]int, len(tasks))
	for i, t := range tasks {
		order[i], sum.Work = i, append(sum.Work, work(t.Spec))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sum.Work[b], sum.Work[a]) })
	errs := make([]error, len(tasks))
	var group errgroup.Group
	group.SetLimit(jobs)
	for _, i := range order {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			meter := part(func(share float64) { sum.Set(i, share) })
			errs[i] = tasks[i].Do(ctx, runs.Options{Workers: workers(jobs, len(tasks)), Meter: meter})
			if errs[i] == nil {
				sum.Finish(i)
			}
			return nil
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		meter.Done("stopped with " + sum.Finished() + "; running it again resumes")
		errs = slices.DeleteFunc(errs, func(e error) bool { return errors.Is(e, err) })
		return errors.Join(append(errs, err)...)
	}
	meter.Done(sum.Finished())
	return errors.Join(errs...)
}

// workers returns the number of workers of each of n runs.
func workers(jobs, n int) int { return max(1, jobs/n) }

// work estimates the time of a run on a core with AVX-512, in microseconds. Each sequence
// has terms for sampling, for the attention of the first layer, and for the products of
// the second layer or the MLPs, with factors that were measured at T = 20 to 512.
func work(s train.Spec) float64 {
	states, t := float64(s.S()), float64(s.T())
	each := 0.5 + 0.005*states*states
	switch m := s.Model.(type) {
	case train.Disentangled:
		heads, d := float64(m.Heads[0]), states+t
		each += 0.0012*heads*t*t + 0.00018*heads*(1+heads)*float64(m.Heads[1])*d*d
	case train.MLP:
		each += 0.0005 * t * t * float64(m.Width)
	}
	return each * float64(s.Steps) * float64(s.Batch)
}

// A part is the meter of a run among others: it takes the share of the steps that is done.
type part func(share float64)

// Update implements [runs.Meter].
func (p part) Update(done, total int, _ string) { p(float64(done) / float64(max(total, 1))) }

// Done implements [runs.Meter].
func (part) Done(string) {}
