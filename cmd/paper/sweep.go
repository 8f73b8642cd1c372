package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"learncausal/paper/experiment"
	"learncausal/paper/sweep"
	"learncausal/pkg/runs"
)

// sweepFlags are what sweep is told beside its plan.
type sweepFlags struct {
	jobs, most  int
	fresh       int
	dry         bool
	out, store  string
	slurm       bool
	status      bool
	tasks       int
	sbatch      []string
	task, under string // of a task of a job array
}

const sweepText = `sweep trains every run of a plan that is not done, and writes into the folder --out

  results/               what has become of each run, by its address
  results.jsonl          all of that in one file, once all runs are done
  table.csv, table.npz   the same as tables: settings, loss, attention, edges, ...
  runs/                  the store with the runs, if --store names no other

What is in results.jsonl is not trained again, unless the plan keeps weights and the
store has none of the run: of a sweep of curves that is done, that file is all that
need be kept.

A plan is a TOML file:

  bayes = true                     # compare each run with the Bayes predictor
  algorithm-1 = true               # and with Algorithm 1 on the same graph
  steps = 4096
  seed  = {from = 0, to = 4}

  [[grid]]
  graph  = ["chain", "star"]       # families want a length
  length = [10, 20, 50]

  [[grid]]
  graph = ["figure-9", "my.dot"]   # the twenty graphs of Figure 9, and a file
  rate  = {from = 0.01, to = 1, times = 10}

Each grid is the runs of every combination of its settings, each a value, a list
or a range (with step = 2 or times = 10 if need be); what stands before the grids
holds for all. The settings are graph, length, and the flags of paper train
without their dashes, with heads = [2, 1]. keep = "curve" keeps no weights.

A sweep that is stopped goes on where it was. With --slurm it goes to a cluster as
a job array: the program, the results and the store are then in folders that all
machines share. Tasks that are killed and queued again go on from their
checkpoints; once there is nothing in the queue, --slurm submits what is left.

--fresh=3 trains three of the runs that are done anew, other ones from day to day,
and compares what becomes of them with what is kept, byte for byte.`

func newSweep() *cobra.Command {
	f := &sweepFlags{}
	c := &cobra.Command{
		Use:   "sweep PLAN",
		Short: "Train many runs from a plan, here or on a cluster",
		Long:  sweepText,
		Example: `  paper sweep plan.toml -n               # how many runs, and what they take
  paper sweep plan.toml
  paper sweep plan.toml --slurm --sbatch=--time=4:00:00 --sbatch=--mem=2G
  paper sweep plan.toml --slurm -n       # the script, which is not submitted
  paper sweep plan.toml --status
  paper sweep plan.toml --fresh 2        # two of what is done, trained anew and compared`,
		Args: onePlan,
		RunE: func(c *cobra.Command, args []string) error { return f.sweep(c, args[0]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "how many runs at a time, a processor each")
	flags.BoolVarP(&f.dry, "dry-run", "n", false, "say what would be done and what it takes; write nothing")
	flags.StringVarP(&f.out, "out", "o", "", "`folder` to write to (default beside the plan, with its name)")
	flags.StringVar(&f.store, "store", "", "`folder` of the runs (default runs/ in --out)")
	flags.IntVar(&f.most, "most", sweep.MostRuns, "the largest `number` of runs of a plan that is taken")
	flags.IntVar(&f.fresh, "fresh", 0, "train `number` of the runs that are done anew, and compare the bytes")
	flags.BoolVar(&f.status, "status", false, "count the runs that are done, running, waiting, failed")
	flags.BoolVar(&f.slurm, "slurm", false, "submit a job array to Slurm; "+
		"with -n print its script, which runs a copy of this program that submitting makes")
	flags.IntVar(&f.tasks, "tasks", 0, "`number` of tasks of the array (default a run each, at most 1000)")
	flags.StringArrayVar(&f.sbatch, "sbatch", nil, "an `option` of sbatch, as in --sbatch=--mem=2G; may be repeated")
	flags.StringVar(&f.task, "task", "", "do the runs of one task, as 3/100")
	flags.StringVar(&f.under, "digest", "", "the sweep that a task belongs to")
	for _, name := range []string{"task", "digest"} {
		if err := flags.MarkHidden(name); err != nil {
			panic("paper: " + err.Error())
		}
	}
	c.MarkFlagsMutuallyExclusive("status", "slurm", "task", "fresh")
	c.MarkFlagsMutuallyExclusive("dry-run", "fresh")
	c.MarkFlagsMutuallyExclusive("dry-run", "status")
	return c
}

func onePlan(c *cobra.Command, args []string) error {
	for _, flag := range []string{"store", "out"} {
		if err := named(c.Flags(), flag); err != nil {
			return err
		}
	}
	if len(args) != 1 {
		return fmt.Errorf("%s wants a plan, a TOML file (%[1]s --help shows one), not %q", c.CommandPath(), args)
	}
	return nil
}

// sweep does what the flags ask for.
func (f *sweepFlags) sweep(c *cobra.Command, path string) error {
	if err := errors.Join(atLeastOne("-j", f.jobs), atLeastOne("--most", f.most)); err != nil {
		return err
	}
	for _, name := range []string{"tasks", "sbatch"} {
		if c.Flags().Changed(name) && !f.slurm {
			return fmt.Errorf("--%s is for a job array, want --slurm beside it", name)
		}
	}
	plan, err := sweep.Read(path, f.most)
	if err != nil {
		return err
	}
	dir, _ := sweep.Folders(path)
	if f.out != "" {
		dir = f.out
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, and the folder of the results: name another with --out", dir)
	}
	store := f.store
	if store == "" {
		store = filepath.Join(dir, ownStore)
	}
	s := &sweep.Sweep{Plan: plan, Store: runs.Open(store), Dir: dir}
	ctx, w := c.Context(), c.OutOrStdout()
	switch {
	case c.Flags().Changed("fresh"):
		return f.again(ctx, w, s)
	case f.status:
		return printStatus(ctx, w, s)
	case f.slurm:
		return f.submit(ctx, w, s, path)
	case f.task != "":
		return f.runTask(ctx, w, s)
	}
	missing, err := s.Missing()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d runs, %d of them to do\n", len(plan.Runs), len(missing))
	if f.dry {
		return f.printCost(ctx, w, s, missing)
	}
	if err := trainSweep(ctx, s, missing, f.jobs); err != nil {
		return err
	}
	return writeTables(w, s)
}

// again trains some runs of a sweep anew, and compares what becomes of them.
func (f *sweepFlags) again(ctx context.Context, w io.Writer, s *sweep.Sweep) error {
	if err := atLeastOne("--fresh", f.fresh); err != nil {
		return err
	}
	return promptly(ctx, grace, func() error {
		a, err := again(s, f.fresh, math.MaxInt64)
		if err != nil {
			return err
		}
		tasks := ofSweep(a)
		err = doAll(ctx, tasks, f.jobs, a.Forget)
		if err == nil {
			fmt.Fprintf(w, "%d of %d runs trained anew, all of them to the bytes that are kept\n",
				len(tasks), len(s.Plan.Runs))
		}
		return err
	})
}

// trainSweep does some runs of a sweep. When ctx is cancelled it waits no more than a
// second for the checkpoints.
func trainSweep(ctx context.Context, s *sweep.Sweep, which []int, jobs int) error {
	for _, dir := range []string{s.Dir, s.Store.Dir} {
		if err := writable(dir); err != nil {
			return err
		}
	}
	if len(which) == 0 {
		return nil
	}
	return promptly(ctx, grace, func() error { return s.Run(ctx, which, jobs, runs.Terminal(os.Stderr)) })
}

func writeTables(w io.Writer, s *sweep.Sweep) error {
	paths, err := s.WriteTables()
	if err == nil {
		fmt.Fprintf(w, "Tables: %s\n", strings.Join(paths, ", "))
	}
	return err
}

// printCost says what the runs that are missing take.
func (f *sweepFlags) printCost(ctx context.Context, w io.Writer, s *sweep.Sweep, missing []int) error {
	meter := runs.Terminal(os.Stderr)
	var cost sweep.Cost
	err := promptly(ctx, 0, func() (err error) {
		cost, err = s.Cost(ctx, missing, func(share float64) {
			meter.Update(int(100*share), 100, "measuring a few steps of each kind of run")
		})
		return err
	})
	if err != nil {
		meter.Done("not measured")
		return err
	}
	meter.Done("measured a few steps of each kind of run")
	hours := func(d time.Duration) string {
		if d.Hours() < 1 {
			return d.Round(time.Second).String()
		}
		return fmt.Sprintf("%.3g hours", d.Hours())
	}
	whole := cost.CPU
	if n := min(f.jobs, max(len(missing), 1)); n > 1 {
		whole = max(cost.CPU/time.Duration(n), cost.Longest)
	}
	fmt.Fprintf(w, "time        about %s of one processor, the longest run %s; with %d processors that are idle %s\n",
		hours(cost.CPU), hours(cost.Longest), f.jobs, hours(whole))
	if s.Plan.Beside != (experiment.Beside{}) {
		fmt.Fprintln(w, "            and the time of what the runs are compared with, which is not measured")
	}
	bytes, err := s.Memory(missing, f.jobs)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "memory      at most about %s, for %d at a time\n", megabytes(bytes), f.jobs)
	fmt.Fprintf(w, "disk        about %s\n", megabytes(cost.Disk))
	fmt.Fprintf(w, "folder      %s, store %s\n", s.Dir, s.Store.Dir)
	fmt.Fprintln(w, "Nothing is written.")
	return nil
}

func megabytes(bytes float64) string {
	return fmt.Sprintf("%.3g MB", math.Ceil(bytes/1e4)/100)
}

// printStatus counts the runs.
func printStatus(ctx context.Context, w io.Writer, s *sweep.Sweep) error {
	st, err := s.Status(ctx)
	if st == nil {
		return err
	}
	for _, c := range []struct {
		name string
		n    int
		more string
	}{
		{"done", st.Done, among(st.Diverged, "diverged")},
		{"running", st.Running, ""},
		{"waiting", st.Waiting, ""},
		{"failed", st.Failed, ""},
		{"left", st.Left, among(st.Begun, "begun")},
	} {
		fmt.Fprintf(w, "%-8s%6d%s\n", c.name, c.n, c.more)
	}
	for _, why := range st.Failures {
		fmt.Fprintln(w, why)
	}
	if st.Unasked {
		fmt.Fprintln(w, "Slurm, which has this sweep, is not on this machine: what it runs or queues counts as left.")
	}
	return err
}

func among(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them %s", n, what)
}

// mostTasks is the largest array that Slurm takes as it is installed.
const mostTasks = 1000

// submit gives the sweep to Slurm, or prints the script with -n.
func (f *sweepFlags) submit(ctx context.Context, w io.Writer, s *sweep.Sweep, plan string) error {
	tasks := f.tasks
	if tasks == 0 {
		tasks = min(len(s.Plan.Runs), mostTasks)
	}
	job, err := f.job(s, plan, tasks)
	if err != nil {
		return err
	}
	if f.dry {
		text, err := s.Script(job)
		fmt.Fprint(w, text)
		return err
	}
	missing, err := s.Missing()
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		fmt.Fprintln(w, "all runs are done")
		return writeTables(w, s)
	}
	for _, dir := range []string{s.Dir, s.Store.Dir} {
		if err := writable(dir); err != nil {
			return err
		}
	}
	if err := copySelf(job.Command[0]); err != nil {
		return err
	}
	id, err := s.Submit(ctx, job)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "submitted job %s of %d tasks for %d runs\n", id, tasks, len(missing))
	fmt.Fprintf(w, "Then: %s sweep %s --status\n", called(os.Args[0]), quoted(plan))
	return nil
}

// job is the job array of a sweep. What its tasks run is named by absolute paths.
func (f *sweepFlags) job(s *sweep.Sweep, plan string, tasks int) (sweep.Job, error) {
	digest, err := s.Digest()
	if err != nil {
		return sweep.Job{}, err
	}
	paths := []string{filepath.Join(s.Dir, "paper"), plan, s.Dir, s.Store.Dir}
	for i, p := range paths {
		if paths[i], err = filepath.Abs(p); err != nil {
			return sweep.Job{}, err
		}
	}
	return sweep.Job{Tasks: tasks, Options: f.sbatch, Command: []string{
		paths[0], "sweep", paths[1], "--out", paths[2], "--store", paths[3],
		"--most", fmt.Sprint(f.most), "--digest", digest,
	}}, nil
}

// copySelf copies this program, which go run takes away when it ends.
func copySelf(path string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	beside := path + ".new"
	if err := os.WriteFile(beside, b, 0o777); err != nil {
		return err
	}
	return os.Rename(beside, path)
}

// runTask does the runs of one task of a job array, and writes the tables if they are
// the last.
func (f *sweepFlags) runTask(ctx context.Context, w io.Writer, s *sweep.Sweep) error {
	var k, n int
	_, err := fmt.Sscanf(f.task, "%d/%d", &k, &n)
	if err != nil || k < 0 || k >= n || f.task != fmt.Sprintf("%d/%d", k, n) {
		return fmt.Errorf("--task is %q, want it as in 3/100, the first is 0", f.task)
	}
	if digest, err := s.Digest(); err != nil || digest != f.under {
		return errors.Join(err, fmt.Errorf("the plan or its folders are no longer those of this job (%s, not %s): "+
			"submit it anew", digest, f.under))
	}
	missing, err := s.Missing()
	if err != nil {
		return err
	}
	which := slices.DeleteFunc(s.Plan.TaskRuns(k, n), func(i int) bool { return !slices.Contains(missing, i) })
	fmt.Fprintf(w, "task %s: %d runs to do\n", f.task, len(which))
	if err := trainSweep(ctx, s, which, f.jobs); err != nil {
		return err
	}
	missing, err = s.Missing()
	if err != nil || len(missing) > 0 {
		return err
	}
	return writeTables(w, s)
}
