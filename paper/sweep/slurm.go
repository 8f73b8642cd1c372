package sweep

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"learncausal/internal/files"
)

// A Job is a job array. Task k trains the runs i with i mod Tasks = k.
type Job struct {
	Tasks   int      // at least 1
	Options []string // of sbatch, as in --time=2:00:00, after those of the script
	Command []string // of a task, the program first; the script adds --jobs and --task
}

// script is the format of a batch script: name, last task, log files, options, command, number of tasks.
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
	log, options := filepath.Join(s.Dir, "log", "%a.txt"), ""
	if j.Tasks < 1 || strings.ContainsAny(s.Dir, "%\\\"\n") {
		return "", fmt.Errorf("sweep: %d tasks with logs in %q: want at least 1, and a folder that Slurm can name, "+
			"without %%, \\, \" and line ends", j.Tasks, s.Dir)
	}
	for _, o := range j.Options {
		if !strings.HasPrefix(o, "-") || strings.ContainsAny(o, "\r\n") {
			return "", fmt.Errorf("sweep: %q is no option of sbatch, want it as in --time=2:00:00", o)
		}
		options += "#SBATCH " + o + "\n"
	}
	var command []string
	for _, word := range j.Command {
		command = append(command, Quote(word))
	}
	return fmt.Sprintf(script, s.jobName(), j.Tasks-1, log, options, strings.Join(command, " "), j.Tasks), nil
}

// Quote returns a word as a shell reads it.
func Quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// jobName returns the name of the job in Slurm's accounting.
func (s *Sweep) jobName() string {
	return "sweep-" + strings.Join(strings.Fields(filepath.Base(s.Dir)), "-")
}

const scriptName = "slurm.sh"

// Submit writes the script into the folder of the sweep, submits it with sbatch, and returns the number of the job.
func (s *Sweep) Submit(ctx context.Context, j Job) (id string, err error) {
	text, err := s.Script(j)
	if err != nil {
		return "", err
	}
	if err = s.check(); err == nil {
		err = s.folder().Write(files.File{Name: scriptName, Data: []byte(text)})
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(s.Dir, "log"), 0o777)
	}
	if err != nil {
		return "", fmt.Errorf("sweep: %w", err)
	}
	var failure bytes.Buffer
	c := exec.CommandContext(ctx, "sbatch", "--parsable", filepath.Join(s.Dir, scriptName))
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("sweep: sbatch: %w %s", err, strings.TrimSpace(failure.String()))
	}
	id, _, _ = strings.Cut(strings.TrimSpace(string(out)), ";")
	return id, nil
}

// A Status counts the runs of a sweep by their files. Slurm's own commands have the states of its tasks.
type Status struct {
	Done     int
	Diverged int // done, with the result that training diverged
	Failed   int
	Left     int // neither done nor failed
	Begun    int // left, with a checkpoint

	Failures []string // the errors of the failed runs
}

// Status counts the runs by their results and errors. If a checkpoint cannot be read, it returns the counts with an
// error.
func (s *Sweep) Status() (*Status, error) {
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
	unfinished, unread := s.Store.Unfinished()
	begun := map[string]bool{}
	for _, u := range unfinished {
		begun[u.Address] = true
	}
	for _, i := range missing {
		address := s.Plan.Runs[i].Address
		if text, err := files.Read(s.failurePath(address), mostBytes); err == nil {
			st.Failed++
			st.Failures = append(st.Failures, strings.TrimSpace(string(text)))
			continue
		}
		st.Left++
		if begun[address] {
			st.Begun++
		}
	}
	return st, unread
}
