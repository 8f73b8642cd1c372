package main

import (
	"cmp"
	"context"
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

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/paper/sweep"
	"learncausal/paper/trial"
)

type sweepFlags struct {
	jobs, fresh        int
	dry, slurm, status bool
	out, store         string
	tasks              int
	sbatch             []string
	task               string // of a job array
}

func newSweep() *cobra.Command {
	f := &sweepFlags{jobs: runtime.NumCPU()}
	c := &cobra.Command{
		Use:   "sweep PLAN",
		Short: "Train many runs from a plan, on this machine or on a cluster",
		Long:  help("sweep"),
		Example: `  paper sweep plan.toml -n         # print the runs, their time, memory and disk
  paper sweep plan.toml            # a run on each processor
  paper sweep plan.toml --slurm --sbatch=--time=4:00:00 --sbatch=--mem=2G
  paper sweep plan.toml --slurm -n # print the script, do not submit it
  paper sweep plan.toml --status   # count the runs done, failed and left
  paper sweep plan.toml --fresh 2  # retrain two finished runs and compare`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.sweep(c, args[0]) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	defineJobs(flags, &f.jobs, "number of runs to train at a time, a processor each")
	flags.BoolVarP(&f.dry, "dry-run", "n", false, "print the number, time, memory and disk of the runs; write nothing")
	flags.VarP((*folder)(&f.out), "out", "o", "where to write (default beside the plan, with its name)")
	flags.Var((*folder)(&f.store), "store", "the store of the runs (default runs/ in --out)")
	flags.Var((*positive)(&f.fresh), "fresh", "`number` of finished runs to retrain and compare")
	flags.BoolVar(&f.status, "status", false, "count the runs that are done, failed and left")
	flags.BoolVar(&f.slurm, "slurm", false, "submit a job array to Slurm; with -n print its script")
	flags.Var((*positive)(&f.tasks), "tasks", "`number` of tasks of the array (default a run each, at most 1000)")
	flags.StringArrayVar(&f.sbatch, "sbatch", nil, "an `option` of sbatch, as in --sbatch=--mem=2G; may be repeated")
	flags.StringVar(&f.task, "task", "", "train a part of the runs, task 3 of the tasks 0 to 99 as `3/100`")
	c.MarkFlagsMutuallyExclusive("status", "slurm", "task", "fresh")
	c.MarkFlagsMutuallyExclusive("dry-run", "fresh")
	c.MarkFlagsMutuallyExclusive("dry-run", "status")
	return c
}

func (f *sweepFlags) sweep(c *cobra.Command, path string) error {
	for _, name := range []string{"tasks", "sbatch"} {
		if c.Flags().Changed(name) && !f.slurm {
			return fmt.Errorf("--%s is for a job array, want --slurm with it", name)
		}
	}
	s, err := sweep.Open(path, f.out, f.store)
	if err != nil {
		return err
	}
	ctx, w := c.Context(), c.OutOrStdout()
	switch {
	case f.fresh > 0:
		return f.retrain(ctx, w, s)
	case f.status:
		return printStatus(w, s)
	case f.slurm:
		return f.submit(ctx, w, s, path)
	case f.task != "":
		return f.runTask(ctx, w, s)
	}
	missing, err := s.Missing()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d runs, %d of them to do\n", len(s.Plan.Runs), len(missing))
	if f.dry {
		return f.printCost(ctx, w, s, missing)
	}
	if err := trainSweep(ctx, s, missing, f.jobs); err != nil {
		return err
	}
	return writeTables(w, s)
}

func (f *sweepFlags) retrain(ctx context.Context, w io.Writer, s *sweep.Sweep) error {
	return promptly(ctx, grace, func() error {
		tasks, forget, err := ofSweep(s, f.fresh, math.MaxInt64)
		if err != nil {
			return err
		}
		if err := doAll(ctx, tasks, f.jobs, forget); err != nil {
			return err
		}
		fmt.Fprintf(w, "%d of %d runs retrained, all equal to their stored results\n", len(tasks), len(s.Plan.Runs))
		return nil
	})
}

func trainSweep(ctx context.Context, s *sweep.Sweep, which []int, jobs int) error {
	if err := writable(s.Dir, s.Store.Dir); err != nil || len(which) == 0 {
		return err
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
	fmt.Fprintf(w, "time        about %s of one processor, the longest run %s; on %d idle processors %s\n",
		hours(cost.CPU), hours(cost.Longest), f.jobs, hours(whole))
	if s.Plan.Comparisons != (trial.Comparisons{}) {
		fmt.Fprintln(w, "            and the time of the comparisons, which is not measured")
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

func printStatus(w io.Writer, s *sweep.Sweep) error {
	st, err := s.Status()
	if st == nil {
		return err
	}
	fmt.Fprintf(w, "done   %6d%s\nfailed %6d\n", st.Done, among(st.Diverged, "diverged"), st.Failed)
	fmt.Fprintf(w, "left   %6d%s\n", st.Left, among(st.Begun, "begun"))
	for _, why := range st.Failures {
		fmt.Fprintln(w, why)
	}
	return err
}

func among(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them %s", n, what)
}

// mostTasks is the size of the largest array in Slurm's default configuration.
const mostTasks = 1000

// submit submits the sweep to Slurm, or prints the script with -n.
func (f *sweepFlags) submit(ctx context.Context, w io.Writer, s *sweep.Sweep, plan string) error {
	path, err := filepath.Abs(plan)
	if err != nil {
		return err
	}
	program := filepath.Join(s.Dir, "paper")
	job := sweep.Job{
		Tasks: min(cmp.Or(f.tasks, mostTasks), len(s.Plan.Runs)), Options: f.sbatch,
		Command: []string{program, "sweep", path, "--out", s.Dir, "--store", s.Store.Dir},
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
	if err := writable(s.Dir, s.Store.Dir); err != nil {
		return err
	}
	if err := copySelf(program); err != nil {
		return err
	}
	id, err := s.Submit(ctx, job)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "submitted job %s of %d tasks for %d runs\n", id, job.Tasks, len(missing))
	again := "paper sweep " + sweep.Quote(plan)
	for _, given := range [][2]string{{" --out ", f.out}, {" --store ", f.store}} {
		if given[1] != "" {
			again += given[0] + sweep.Quote(given[1])
		}
	}
	fmt.Fprintf(w, "Then: squeue -j %s; sacct -j %[1]s; %s --status\n", id, again)
	return nil
}

// copySelf copies this program, which go run removes when it ends, over an earlier copy.
func copySelf(path string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	if err := files.Folder(filepath.Dir(path)).Write(files.File{Name: filepath.Base(path), Data: b}); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode()&0o100 != 0 {
		return err
	}
	return os.Chmod(path, info.Mode()|0o100)
}

// runTask trains the runs of a task of a job array. The last task writes the tables.
func (f *sweepFlags) runTask(ctx context.Context, w io.Writer, s *sweep.Sweep) error {
	var k, n int
	_, err := fmt.Sscanf(f.task, "%d/%d", &k, &n)
	if err != nil || k < 0 || k >= n || f.task != fmt.Sprintf("%d/%d", k, n) {
		return fmt.Errorf("--task is %q, want a task and the number of tasks, as in 0/100", f.task)
	}
	missing, err := s.Missing()
	if err != nil {
		return err
	}
	which := slices.DeleteFunc(missing, func(i int) bool { return i%n != k })
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
