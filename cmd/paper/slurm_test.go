//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"learncausal/internal/runs"
)

// inSlurm skips a test where there is no cluster of its own, and has what is
// submitted run as the command.
func inSlurm(t *testing.T) {
	t.Helper()
	if !strings.HasPrefix(os.Getenv("SLURM_CONF"), os.TempDir()) {
		t.Skip("beside a Slurm of its own: make test-slurm")
	}
	t.Setenv("PAPER_TEST", "command")
}

// slurmPlan takes ten seconds or more for each of its runs: longer than it takes to find
// and kill one, also with kernels that are some times as fast.
const slurmPlan = `
steps = 40000
batch = 512
test = 200
seed = {from = 0, to = 2}
graph = "chain(8)"
`

// slurm runs a program of Slurm.
func slurm(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return string(out)
}

// until waits until a condition holds, for at most two minutes.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 1200 {
		if holds() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("not within two minutes: %s", what)
}

// count returns a count of sweep --status.
func count(t *testing.T, plan, name string) int {
	t.Helper()
	var n int
	text := output(t, "sweep", plan, "--status")
	m := regexp.MustCompile(`(?m)^` + name + ` +(\d+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in the status:\n%s", name, text)
	}
	fmt.Sscan(m[1], &n)
	return n
}

// inState returns how many tasks of a job Slurm has in a state, such as R or PD.
func inState(t *testing.T, job, state string) int {
	t.Helper()
	return strings.Count(slurm(t, "squeue", "--noheader", "--array", "--jobs="+job, "--states="+state), "\n")
}

// submitted returns the number of the job of a plan that is submitted.
func submitted(t *testing.T, plan string, args ...string) string {
	t.Helper()
	text := output(t, append([]string{"sweep", plan, "--slurm"}, args...)...)
	m := regexp.MustCompile(`submitted job (\d+) of`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("submitted: %s", text)
	}
	return m[1]
}

// results returns the tables and the runs of a sweep.
func results(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := content(t, dir)
	for name := range files {
		if !strings.HasPrefix(name, "table") && !strings.HasPrefix(name, "runs/") && !strings.HasPrefix(name, "results") {
			delete(files, name)
		}
	}
	return files
}

// killTask kills the process of a task of a plan as a loss of power does.
func killTask(t *testing.T, plan, task string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		line, _ := os.ReadFile(path) // of a process that may have ended
		words := strings.Split(string(line), "\x00")
		if slices.Contains(words, plan) && slices.Contains(words, task) {
			var pid int
			fmt.Sscanf(path, "/proc/%d/", &pid)
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no process of task %s", task)
}

func TestSlurmTasksThatAreKilledEndInTheSameBytes(t *testing.T) {
	inSlurm(t)
	plan := write(t, "plan.toml", slurmPlan)
	dir := strings.TrimSuffix(plan, ".toml")
	job := submitted(t, plan)
	until(t, "two runs running, one waiting", func() bool {
		return inState(t, job, "R") == 2 && inState(t, job, "PD") == 1
	})

	// One is cancelled, which lets it keep its checkpoint, and one is killed.
	time.Sleep(2 * time.Second)
	slurm(t, "scancel", job+"_0")
	killTask(t, plan, "1/3")
	until(t, "a checkpoint, and no run running but the third", func() bool {
		begun, err := runs.Open(filepath.Join(dir, "runs")).Unfinished()
		return err == nil && len(begun) > 0 && inState(t, job, "R") == 1 && inState(t, job, "CG") == 0
	})
	begun, err := runs.Open(filepath.Join(dir, "runs")).Unfinished()
	if err != nil || len(begun) != 1 || begun[0].Steps == 0 || begun[0].Steps == 40000 {
		t.Fatalf("checkpoints %+v, %v", begun, err)
	}
	slurm(t, "scontrol", "requeue", job+"_0")
	slurm(t, "scontrol", "requeue", job+"_1")
	until(t, "all runs done", func() bool { return count(t, plan, "done") == 3 })
	until(t, "an empty queue", func() bool { return slurm(t, "squeue", "--noheader") == "" })

	log, err := os.ReadFile(filepath.Join(dir, "log", "0.txt"))
	if err != nil || strings.Count(string(log), "task 0/3: 1 runs to do") != 2 {
		t.Errorf("%v, log of task 0: %s", err, log)
	}
	t.Setenv("PAPER_TEST", "")
	here := filepath.Join(t.TempDir(), "here")
	output(t, "sweep", plan, "--out", here)
	if got, want := results(t, dir), results(t, here); !reflect.DeepEqual(got, want) || len(want) < 3*4+2 {
		t.Errorf("%d files of Slurm's tasks are not the %d of a sweep here", len(got), len(want))
	}
	if text := output(t, "sweep", plan, "--slurm"); !strings.Contains(text, "all runs are done") {
		t.Errorf("submitted again: %s", text)
	}
}

func TestSlurmTaskAtItsTimeLimitIsQueuedAgain(t *testing.T) {
	inSlurm(t)
	plan := write(t, "plan.toml", strings.NewReplacer("to = 2", "to = 0", "40000", "2000000").Replace(slurmPlan))
	dir := strings.TrimSuffix(plan, ".toml")
	job := submitted(t, plan, "--sbatch=--time=1", "--sbatch=--signal=B:USR1@50")
	until(t, "a restart", func() bool {
		return strings.Contains(slurm(t, "scontrol", "show", "job", job), "Restarts=1")
	})
	begun, err := runs.Open(filepath.Join(dir, "runs")).Unfinished()
	if err != nil || len(begun) != 1 || begun[0].Steps == 0 {
		t.Fatalf("checkpoints %+v, %v", begun, err)
	}
	until(t, "it in the queue", func() bool { return inState(t, job, "PD,R") > 0 })
	slurm(t, "scancel", job)
	until(t, "it to end", func() bool { return slurm(t, "squeue", "--noheader") == "" && count(t, plan, "left") == 1 })
}

func TestErrorsOfSlurmAreReported(t *testing.T) {
	inSlurm(t)
	plan := write(t, "plan.toml", slurmPlan)
	refused(t, []string{"sbatch", "partition"}, "sweep", plan, "--slurm", "--sbatch=--partition=none")
	if n := count(t, plan, "left"); n != 3 {
		t.Errorf("%d left after a refusal", n)
	}
}
