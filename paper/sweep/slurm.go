package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"learncausal/paper/figure"
)

// Digest returns eight hexadecimal digits that stand for the runs of the sweep, for
// what is kept of them, and for its folders.
func (s *Sweep) Digest() (string, error) {
	h := sha256.New()
	for _, dir := range []string{s.Dir, s.Store.Dir} {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("sweep: %w", err)
		}
		fmt.Fprintf(h, "%q\n", abs)
	}
	fmt.Fprintln(h, s.Plan.Keep, s.Plan.Beside)
	for _, r := range s.Plan.Runs {
		fmt.Fprintln(h, r.Address)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:4]), nil
}

// TaskRuns returns the numbers of the runs that task k of n is for, those that leave
// the rest k when they are divided by n. It panics unless 0 <= k < n.
func (p *Plan) TaskRuns(k, n int) []int {
	if k < 0 || k >= n {
		panic(fmt.Sprintf("sweep: task %d of %d", k, n))
	}
	var all []int
	for i := k; i < len(p.Runs); i += n {
		all = append(all, i)
	}
	return all
}

// A Job is what a script for Slurm says beside its sweep.
type Job struct {
	Tasks   int      // of the array, at least 1; task k does the runs of [Plan.TaskRuns]
	Options []string // of sbatch, as in --time=2:00:00; they stand last, and win
	Command []string // what a task runs, the program first; it is added which task it is
}

// script is a batch script with its options, name, last task, log files, tasks and
// command to fill in.
//
// The signal USR1 comes to the script alone, a minute before the time limit. What
// ends a job otherwise (TERM) comes to the command as well, which keeps its
// checkpoint; the script waits for it. A signal ends wait early; of a command that has
// ended it says how, as often as it is asked.
const script = `#!/bin/bash
#SBATCH --job-name=%s
#SBATCH --array=0-%d
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@60
#SBATCH --output="%s"
%s
# A task that comes to its time limit keeps its checkpoint and is queued again.
export GOMAXPROCS=${SLURM_CPUS_PER_TASK:-1}
again=
trap 'again=yes; kill -TERM $task' USR1
trap : TERM
%s --jobs "$GOMAXPROCS" --task "$SLURM_ARRAY_TASK_ID/%d" &
task=$!
while kill -0 $task 2>/dev/null; do wait $task; done
wait $task
code=$?
if [ "$again" ] && [ $code != 0 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
exit $code
`

// Script returns a batch script for Slurm, of a job array. A task that is killed and
// queued again, by Slurm or by hand, goes on from the checkpoint of its run.
func (s *Sweep) Script(j Job) (string, error) {
	name, err := s.jobName()
	if err != nil {
		return "", err
	}
	if j.Tasks < 1 {
		return "", fmt.Errorf("sweep: %d tasks, want at least 1", j.Tasks)
	}
	log, err := filepath.Abs(filepath.Join(s.Dir, "log"))
	if err != nil {
		return "", fmt.Errorf("sweep: %w", err)
	}
	if strings.ContainsAny(log, "%\\\"\n") {
		return "", fmt.Errorf("sweep: Slurm takes no logs in %q: want a folder without %%, \\, \" and line ends", log)
	}
	options := ""
	for _, o := range j.Options {
		if !strings.HasPrefix(o, "-") || strings.ContainsRune(o, '\n') {
			return "", fmt.Errorf("sweep: %q is no option of sbatch, want it as in --time=2:00:00", o)
		}
		options += "#SBATCH " + o + "\n"
	}
	var command []string
	for _, word := range j.Command {
		command = append(command, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return fmt.Sprintf(script,
		name, j.Tasks-1, filepath.Join(log, "%a.txt"), options, strings.Join(command, " "), j.Tasks), nil
}

func (s *Sweep) jobName() (string, error) {
	d, err := s.Digest()
	return "sweep-" + d, err
}

// Submit writes the script into the folder of the sweep, gives it to sbatch, and
// returns the number of the job. It is an error if tasks of the sweep are in the queue.
func (s *Sweep) Submit(ctx context.Context, j Job) (id string, err error) {
	text, err := s.Script(j)
	if err != nil {
		return "", err
	}
	queue, err := s.queue(ctx)
	if err != nil {
		return "", err
	}
	if len(queue) > 0 {
		return "", fmt.Errorf("sweep: %d tasks of this sweep are in the queue already: "+
			"wait for them (paper sweep --status), or scancel job %s", len(queue), queue[0].job)
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "log"), 0o777); err != nil {
		return "", fmt.Errorf("sweep: %w", err)
	}
	path := filepath.Join(s.Dir, "slurm.sh")
	// The job, with its number of tasks, is what Status asks the queue about.
	if err := s.forgetFailures(); err != nil {
		return "", err
	}
	for _, f := range []struct{ path, text string }{{path, text}, {s.tasksPath(), fmt.Sprintln(j.Tasks)}} {
		if err := figure.WriteFile(f.path, []byte(f.text)); err != nil {
			return "", fmt.Errorf("sweep: %w", err)
		}
	}
	out, err := command(ctx, "sbatch", "--parsable", path)
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";")
	return id, err
}

func (s *Sweep) tasksPath() string { return filepath.Join(s.Dir, "tasks") }

// command returns what a program of Slurm prints. Its error has what the program says.
func command(ctx context.Context, name string, args ...string) (string, error) {
	var out, said bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("sweep: no %s here, want a machine that submits to Slurm: %w", name, err)
		}
		why := strings.ReplaceAll(strings.TrimSpace(said.String()), "\n", "; ")
		return "", fmt.Errorf("sweep: %s: %w: %s", name, err, why)
	}
	return out.String(), nil
}

// A queued is a task of the sweep in Slurm's queue.
type queued struct {
	job   string
	task  int
	state string // in Slurm's short form: R, CG, PD
}

// queue returns the tasks of the sweep that Slurm has not ended.
func (s *Sweep) queue(ctx context.Context) ([]queued, error) {
	name, err := s.jobName()
	if err != nil {
		return nil, err
	}
	out, err := command(ctx, "squeue", "--noheader", "--array", "--name="+name, "--format=%F %K %t")
	if err != nil {
		return nil, err
	}
	var all []queued
	for line := range strings.Lines(out) {
		var q queued
		if _, err := fmt.Sscan(line, &q.job, &q.task, &q.state); err != nil {
			return nil, fmt.Errorf("sweep: squeue says %q, want a job, a task and its state", line)
		}
		all = append(all, q)
	}
	return all, nil
}

// A Status counts the runs of a sweep.
type Status struct {
	Done     int // of which
	Diverged int // has that as its result
	Running  int // by a task of Slurm
	Waiting  int // for a task of Slurm
	Failed   int
	Left     int // neither done nor failed, and no task in Slurm's queue is for them
	Begun    int // of those that are left: training has kept a checkpoint

	Failures []string // what the failed runs have said
	Unasked  bool     // the sweep was given to Slurm, of which there is nothing on this machine
}

// Status looks at the results, at what has failed, and at Slurm's queue where it has
// been given the sweep and there is a Slurm to ask. Checkpoints that cannot be read are an
// error, which comes with the counts of the others.
func (s *Sweep) Status(ctx context.Context) (*Status, error) {
	missing, err := s.Missing()
	if err != nil {
		return nil, err
	}
	st := &Status{Done: len(s.Plan.Runs) - len(missing)}
	for i := range s.Plan.Runs {
		if r, err := s.Result(i); err == nil && r != nil && r.Diverged != "" {
			st.Diverged++
		}
	}
	states, tasks, err := s.taskStates(ctx)
	if st.Unasked = errors.Is(err, exec.ErrNotFound); err != nil && !st.Unasked {
		return nil, err
	}
	unfinished, unread := s.Store.Unfinished()
	begun := map[string]bool{}
	for _, u := range unfinished {
		begun[u.Address] = true
	}
	runs := map[int]bool{} // tasks whose run under way is counted
	for _, i := range missing {
		address := s.Plan.Runs[i].Address
		text, err := os.ReadFile(s.failurePath(address))
		task := 0
		if tasks > 0 {
			task = i % tasks
		}
		switch state := states[task]; {
		case err == nil:
			st.Failed++
			st.Failures = append(st.Failures, strings.TrimSpace(string(text)))
		case (state == "R" || state == "CG") && !runs[task]:
			runs[task] = true
			st.Running++
		case state != "":
			st.Waiting++
		default:
			st.Left++
			if begun[address] {
				st.Begun++
			}
		}
	}
	return st, unread
}

// taskStates returns the states of the tasks in Slurm's queue, and how many tasks
// there were; none if the sweep has not been given to Slurm.
func (s *Sweep) taskStates(ctx context.Context) (map[int]string, int, error) {
	b, err := os.ReadFile(s.tasksPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("sweep: %w", err)
	}
	tasks, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || tasks < 1 {
		return nil, 0, fmt.Errorf("sweep: %s says %q, want the number of tasks", s.tasksPath(), b)
	}
	queue, err := s.queue(ctx)
	if err != nil {
		return nil, 0, err
	}
	states := map[int]string{}
	for _, q := range queue {
		states[q.task] = q.state
	}
	return states, tasks, nil
}
