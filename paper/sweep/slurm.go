package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"learncausal/internal/files"
)

// Digest returns eight hexadecimal digits of a hash of the runs of the sweep, the parts
// that it keeps, and its folders.
func (s *Sweep) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n", s.Dir, s.Store.Dir)
	fmt.Fprintln(h, s.Plan.Keep, s.Plan.Comparisons)
	for _, r := range s.Plan.Runs {
		fmt.Fprintln(h, r.Address)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:4])
}

// A Job is a job array. Task k trains the runs i with i mod Tasks = k.
type Job struct {
	Tasks   int      // at least 1
	Options []string // of sbatch, as in --time=2:00:00; not those on which [Sweep] relies
	Command []string // of a task, the program first; the script adds --jobs and --task
}

// script is the format of a batch script: digest, last task, log files, options, command, number of tasks.
//
// Slurm sends USR1 to the script alone, a minute before the time limit. It sends TERM to the command as well,
// which writes its checkpoint; the script waits for it. A signal interrupts wait; wait returns the exit code of
// a command that has ended, also when it is called again.
//
//go:embed script.txt
var script string

// Script returns the batch script of a job array. A task that is killed and requeued, by
// Slurm or by hand, resumes from the checkpoint of its run.
func (s *Sweep) Script(j Job) (string, error) {
	if j.Tasks < 1 {
		return "", fmt.Errorf("sweep: %d tasks, want at least 1", j.Tasks)
	}
	log := filepath.Join(s.Dir, "log")
	if strings.ContainsAny(log, "%\\\"\n") {
		return "", fmt.Errorf("sweep: Slurm cannot log to %q: want a folder without %%, \\, \" and line ends", log)
	}
	options := ""
	for _, o := range j.Options {
		if !strings.HasPrefix(o, "-") || strings.ContainsAny(o, "\r\n") {
			return "", fmt.Errorf("sweep: %q is no option of sbatch, want it as in --time=2:00:00", o)
		}
		most, throttle := strings.CutPrefix(o, "--array=%")
		if n, err := strconv.Atoi(most); throttle && err == nil && n > 0 {
			o = fmt.Sprintf("--array=0-%d%%%d", j.Tasks-1, n)
		} else if name := overrides(o); name != "" {
			return "", fmt.Errorf("sweep: the option %s of sbatch is set by this program, and %q changes it; "+
				"--array=%%4 limits the tasks at a time, --signal=B:USR1@300 is sent 300 s before the end", name, o)
		}
		options += "#SBATCH " + o + "\n"
	}
	var command []string
	for _, word := range j.Command {
		command = append(command, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return fmt.Sprintf(script,
		s.Digest(), j.Tasks-1, filepath.Join(log, "%a.txt"), options, strings.Join(command, " "), j.Tasks), nil
}

// relied has the options of sbatch that [Sweep.Submit], [Sweep.Status] and the script rely on,
// with the letters of their short forms.
var relied = map[string]string{
	"array": "a", "clusters": "M", "job-name": "J", "no-requeue": "", "open-mode": "", "signal": "",
	"test-only": "", "wait": "W", "wrap": "",
}

// overrides returns the first relied option in a line of options, or "". sbatch takes
// abbreviations of long options, and several short ones in a word.
func overrides(line string) string {
	for _, word := range strings.Fields(line) {
		long, isLong := strings.CutPrefix(word, "--")
		long, value, _ := strings.Cut(long, "=")
		for name, letter := range relied {
			short := strings.TrimLeft(strings.TrimPrefix(word, "-"), "HIQhkOsv") // letters without a value
			switch {
			case isLong && name == "signal" && strings.HasPrefix(value, "B:USR1@"):
			case isLong && long != "" && strings.HasPrefix(name, long),
				!isLong && word[0] == '-' && letter != "" && strings.HasPrefix(short, letter):
				return "--" + name
			}
		}
	}
	return ""
}

func (s *Sweep) jobName() string { return "sweep-" + s.Digest() }

// Submit writes the script into the folder of the sweep, submits it with sbatch, and
// returns the number of the job. It is an error if tasks of the sweep are in the queue.
func (s *Sweep) Submit(ctx context.Context, j Job) (id string, err error) {
	text, err := s.Script(j)
	if err != nil {
		return "", err
	}
	queue, job, err := s.queue(ctx)
	if err != nil {
		return "", err
	}
	if len(queue) > 0 {
		return "", fmt.Errorf("sweep: %d tasks of this sweep are in the queue already: "+
			"wait for them (paper sweep --status), or scancel job %s", len(queue), job)
	}
	if err = s.check(); err == nil {
		err = s.folder().Write(files.File{Name: scriptName, Data: []byte(text)})
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(s.Dir, "log"), 0o777)
	}
	for i := 0; err == nil && i < len(s.Plan.Runs); i++ {
		err = remove(s.failurePath(s.Plan.Runs[i].Address))
	}
	if err != nil {
		return "", fmt.Errorf("sweep: %w", err)
	}
	out, err := command(ctx, "sbatch", "--parsable", s.scriptPath())
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";")
	return id, err
}

const scriptName = "slurm.sh"

func (s *Sweep) scriptPath() string { return filepath.Join(s.Dir, scriptName) }

// array matches the begin of a script, with the last task.
var array = regexp.MustCompile(`^#!/bin/bash\n#SBATCH --job-name=sweep-\w+\n#SBATCH --array=0-(\d+)\n`)

// overriding matches variables that stand for [relied] options, or hide tasks from squeue.
var overriding = regexp.MustCompile(
	`^(SQUEUE_\w*|SBATCH_(ARRAY_INX|CLUSTERS|JOB_NAME|NO_REQUEUE|OPEN_MODE|SIGNAL|TEST_ONLY|WAIT))=`)

// command returns the standard output of a program of Slurm. Its error has the standard error.
func command(ctx context.Context, name string, args ...string) (string, error) {
	var failure bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Env = slices.DeleteFunc(os.Environ(), overriding.MatchString)
	c.Stderr = &failure
	out, err := c.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("sweep: no %s on this machine, want one that submits to Slurm: %w", name, err)
	}
	if err != nil {
		why := strings.ReplaceAll(strings.TrimSpace(failure.String()), "\n", "; ")
		return "", fmt.Errorf("sweep: %s: %w: %s", name, err, why)
	}
	return string(out), nil
}

// queue returns the states of the tasks of the sweep in Slurm's queue, in Slurm's short
// form (R, CG, PD), and the number of their job.
func (s *Sweep) queue(ctx context.Context) (states map[int]string, job string, err error) {
	out, err := command(ctx, "squeue", "--noheader", "--array", "--name="+s.jobName(), "--format=%F %K %t")
	if err != nil {
		return nil, "", err
	}
	states = map[int]string{}
	for line := range strings.Lines(out) {
		var task int
		var state string
		if _, err := fmt.Sscan(line, &job, &task, &state); err != nil {
			return nil, "", fmt.Errorf("sweep: squeue prints %q, want a job, a task and its state", line)
		}
		states[task] = state
	}
	return states, job, nil
}

// A Status counts the runs of a sweep.
type Status struct {
	Done     int
	Diverged int // done, with the result that training diverged
	Running  int // in a task of Slurm
	Waiting  int // for a task of Slurm
	Failed   int
	Left     int // neither done nor failed, nor in Slurm's queue
	Begun    int // left, with a checkpoint

	Failures []string // the errors of the failed runs
	Unknown  bool     // the sweep was submitted to Slurm, which this machine does not have
}

// Status counts the runs by their results, their errors, and Slurm's queue if the sweep
// was submitted. If a checkpoint cannot be read, it returns the counts with an error.
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
	if st.Unknown = errors.Is(err, exec.ErrNotFound); err != nil && !st.Unknown {
		return nil, err
	}
	unfinished, unread := s.Store.Unfinished()
	begun := map[string]bool{}
	for _, u := range unfinished {
		begun[u.Address] = true
	}
	running := map[int]bool{} // the tasks whose running run is counted
	for _, i := range missing {
		address := s.Plan.Runs[i].Address
		text, err := files.Read(s.failurePath(address), mostBytes)
		task := 0
		if tasks > 0 {
			task = i % tasks
		}
		switch state := states[task]; {
		case err == nil:
			st.Failed++
			st.Failures = append(st.Failures, strings.TrimSpace(string(text)))
		case (state == "R" || state == "CG") && !running[task]:
			running[task] = true
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

// taskStates returns the states of the tasks in Slurm's queue, and the number of tasks of
// the job; 0 if the sweep has not been submitted.
func (s *Sweep) taskStates(ctx context.Context) (map[int]string, int, error) {
	b, err := files.Read(s.scriptPath(), mostBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("sweep: %w", err)
	}
	m := array.FindSubmatch(b)
	if m == nil {
		return nil, 0, nil // a script of someone else
	}
	last, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return nil, 0, fmt.Errorf("sweep: %s: %w", s.scriptPath(), err)
	}
	states, _, err := s.queue(ctx)
	return states, last + 1, err
}
