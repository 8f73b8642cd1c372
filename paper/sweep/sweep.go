package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// A Sweep is a plan at work: its runs are trained into a store, and what becomes of
// them is kept in the folder Dir.
//
//	<Dir>/results/<address>.json   the result of a run
//	<Dir>/failed/<address>.txt     why a run has failed
//	<Dir>/results.jsonl            all results, a line each
//	<Dir>/table.csv, table.npz     the same as tables, see [Sweep.WriteTables]
//
// A result that is in results.jsonl is done: of a sweep that has ended and keeps curves,
// results.jsonl is all that has to be kept.
//
// Any number of processes, on any number of machines that share the folders, may be
// at one sweep. What is relied on is what [runs.Store] relies on for a run, and that
// a file that is renamed replaces another as a whole: two processes that measure the
// same run write the same bytes.
type Sweep struct {
	Plan  *Plan
	Store *runs.Store
	Dir   string

	once   sync.Once // for what [Sweep.listed] reads
	list   map[string]*experiment.Outcome
	unread error
}

// Open returns the sweep of a plan in its own folders, see [Folders].
func Open(plan string) (*Sweep, error) {
	p, err := Read(plan, MostRuns)
	if err != nil {
		return nil, err
	}
	dir, store := Folders(plan)
	return &Sweep{Plan: p, Store: runs.Open(store), Dir: dir}, nil
}

// Missing returns the numbers of the runs that have no [Sweep.Result], and where the plan
// keeps weights of those of which the store has none.
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

// done tells whether run i has its result, and in the store the weights if the plan keeps
// them.
func (s *Sweep) done(i int) (bool, error) {
	r, err := s.Result(i)
	if err != nil || r == nil || s.Plan.Keep == Curve || r.Diverged != "" {
		return r != nil, err
	}
	return s.Store.HasWeights(r.Address)
}

// Run trains or loads some runs of the plan and keeps their results. A run that
// diverges has that as its result; another error of one does not keep the others
// from being trained. It is an error, before anything is done, if so many jobs take more
// memory than there may be ([train.CheckMemory]). See [Each] for jobs, and for what happens
// when ctx is cancelled.
func (s *Sweep) Run(ctx context.Context, which []int, jobs int, meter runs.Meter) error {
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
	specs := make([]train.Spec, len(which))
	for k, i := range which {
		specs[k] = s.Plan.Runs[i].Spec
	}
	return Each(ctx, specs, jobs, meter, func(ctx context.Context, k int, opt runs.Options) error {
		r := s.Plan.Runs[which[k]]
		err := s.do(ctx, which[k], opt)
		if err == nil || ctx.Err() != nil {
			return err
		}
		err = fmt.Errorf("%s on %s with seed %d: %w", r.Address, r.Graph, r.Spec.Seed, err)
		return errors.Join(err, figure.WriteFile(s.failurePath(r.Address), []byte(err.Error()+"\n")))
	})
}

// do trains or loads run i and keeps its result, unless another process has done so.
func (s *Sweep) do(ctx context.Context, i int, opt runs.Options) error {
	r := s.Plan.Runs[i]
	if done, err := s.done(i); done || err != nil {
		return err
	}
	opt.Light = s.Plan.Keep == Curve
	run, err := s.Store.Get(ctx, r.Spec, opt)
	if err == nil && run.Final.Weights == nil { // it was stored
		if done, err := s.done(i); done || err != nil {
			return err
		}
		opt.Fresh = true // its result is not
		run, err = s.Store.Get(ctx, r.Spec, opt)
	}
	if errors.Is(err, train.ErrDiverged) {
		return s.keep(&experiment.Outcome{Address: r.Address, Spec: r.Spec, Diverged: err.Error()})
	}
	if err != nil {
		return err
	}
	result, err := experiment.NewOutcome(ctx, run, s.Plan.Beside)
	if err != nil {
		return err
	}
	return s.keep(result)
}

// Each calls get for each of the specs, those that take longest first, and jobs at a
// time with one worker each: that wastes less than one run after another on all
// processors. Where there are fewer runs than jobs they share the workers. One meter
// shows all of the work. The errors are those of all calls.
//
// When ctx is cancelled no more calls are made, and the error, which wraps ctx.Err(),
// comes when those under way have returned.
func Each(
	ctx context.Context, specs []train.Spec, jobs int, meter runs.Meter,
	get func(ctx context.Context, i int, opt runs.Options) error,
) error {
	if jobs < 1 {
		jobs = runtime.GOMAXPROCS(0)
	}
	sum := &sum{meter: meter, done: make([]float64, len(specs)), work: make([]float64, len(specs))}
	order := make([]int, len(specs))
	for i, s := range specs {
		order[i], sum.work[i] = i, work(s)
		sum.total += sum.work[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sum.work[b], sum.work[a]) })
	errs := make([]error, len(specs))
	var group errgroup.Group
	group.SetLimit(jobs)
	for _, i := range order {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			errs[i] = get(ctx, i, runs.Options{Workers: workers(jobs, len(specs)), Meter: part{sum, i}})
			if errs[i] == nil {
				sum.finish(i)
			}
			return nil
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		meter.Done(fmt.Sprintf("stopped with %d of %d runs done; asking again resumes", sum.finished, len(specs)))
		errs = slices.DeleteFunc(errs, func(e error) bool { return errors.Is(e, err) })
		return errors.Join(append(errs, err)...)
	}
	meter.Done(fmt.Sprintf("%d of %d runs done", sum.finished, len(specs)))
	return errors.Join(errs...)
}

// workers returns the number of workers of each of n runs.
func workers(jobs, n int) int { return max(1, jobs/n) }

// work is about how many microseconds of a core with AVX-512 a run takes. For each
// sequence it has terms for drawing it, for the attention of the first layer and for
// the products with the matrices of the second, or for the MLPs, with factors that
// were measured at T = 20 to 512.
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

// A sum is one meter for several runs at a time.
type sum struct {
	mu         sync.Mutex
	meter      runs.Meter
	total      float64   // work of all runs
	work, done []float64 // of each
	finished   int
}

// units are what the work of all runs is divided into for the meter.
const units = 1_000_000

func (s *sum) show() {
	done := 0.0
	for _, d := range s.done {
		done += d
	}
	status := fmt.Sprintf("%d of %d runs done", s.finished, len(s.done))
	s.meter.Update(int(units*done/max(s.total, 1)), units, status)
}

func (s *sum) finish(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[i] = s.work[i]
	s.finished++
	s.show()
}

// A part is the meter of a run of a sum.
type part struct {
	sum *sum
	i   int
}

// Update implements [runs.Meter].
func (p part) Update(done, total int, _ string) {
	p.sum.mu.Lock()
	defer p.sum.mu.Unlock()
	p.sum.done[p.i] = p.sum.work[p.i] * float64(done) / float64(max(total, 1))
	p.sum.show()
}

// Done implements [runs.Meter].
func (part) Done(string) {}

// Folders returns the folder of a plan's results if none is named, beside the plan
// with its name, and that of its store.
func Folders(plan string) (dir, store string) {
	dir = strings.TrimSuffix(plan, filepath.Ext(plan))
	return dir, filepath.Join(dir, "runs")
}
