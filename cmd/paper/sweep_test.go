//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"learncausal/internal/property"
	"learncausal/internal/runs"
)

const smallPlan = "steps = 200\nbatch = 32\ntest = 50\ngraph = [\"chain(5)\", \"figure-1\"]\nseed = {from = 0, to = " +
	"1}\n"

func TestSweepWritesTablesAndSkipsFinishedRuns(t *testing.T) {
	plan := write(t, "plan.toml", smallPlan)
	dir := strings.TrimSuffix(plan, ".toml")
	text := output(t, "sweep", plan, "-n")
	says(t, text, "4 runs, 4 of them to do", "time", "memory", "disk", dir, "Nothing is written")
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("a dry run has made %s", dir)
	}
	says(t, output(t, "sweep", plan, "--slurm", "-n", "--tasks", "100"), "--array=0-3\n")
	text = output(t, "sweep", plan)
	if table := content(t, dir)["table.csv"]; !strings.Contains(text, "table.csv") || strings.Count(table, "\n") != 5 {
		t.Errorf("%s%s", text, table)
	}
	says(t, output(t, "sweep", plan, "-n"), "4 runs, 0 of them to do")
	says(t, output(t, "sweep", plan, "--status"), "done        4")
	says(t, output(t, "sweep", plan, "--fresh", "3"), "3 of 4 runs retrained")
	script := output(t, "sweep", plan, "--slurm", "-n", "--tasks", "2", "--sbatch=--mem=2G")
	says(t, script, "#SBATCH --array=0-1", "#SBATCH --mem=2G", plan, filepath.Join(dir, "runs"))
}

func TestTasksShareTheRunsAndTheLastWritesTheTables(t *testing.T) {
	plan := write(t, "plan.toml", smallPlan)
	table := filepath.Join(strings.TrimSuffix(plan, ".toml"), "table.csv")
	for k, want := range []string{"task 0/3: 2 runs", "task 1/3: 1 runs", "task 2/3: 1 runs"} {
		if _, err := os.Stat(table); err == nil {
			t.Errorf("a table before task %d", k)
		}
		says(t, output(t, "sweep", plan, "--task", fmt.Sprintf("%d/3", k)), want)
	}
	says(t, output(t, "sweep", plan, "--status"), "done        4")
	if _, err := os.Stat(table); err != nil {
		t.Error(err)
	}
}

func TestBadSweepsAreRefused(t *testing.T) {
	plan := write(t, "plan.toml", smallPlan)
	for _, test := range []struct {
		args  []string
		words []string
	}{
		{nil, []string{"received 0", "paper sweep PLAN"}},
		{[]string{"nosuch.toml"}, []string{"nosuch.toml"}},
		{[]string{plan, "-j", "0"}, []string{"-j, --jobs", "at least 1"}},
		{[]string{plan, "--out", ""}, []string{"--out", "name of a folder"}},
		{[]string{plan, "--out", plan}, []string{"plan.toml is a file", "--out"}},
		{[]string{write(t, "plan", smallPlan)}, []string{"plan is a file", "--out"}},
		{[]string{plan, "--slurm", "--status"}, []string{"slurm", "status"}},
		{[]string{plan, "--fresh", "0"}, []string{"--fresh", "at least 1"}},
		{[]string{plan, "--status", "-n"}, []string{"status", "dry-run"}},
		{[]string{plan, "--tasks", "3"}, []string{"--tasks", "want --slurm"}},
		{[]string{plan, "--sbatch=--mem=2G"}, []string{"--sbatch", "want --slurm"}},
		{[]string{plan, "--fresh", "2", "-n"}, []string{"fresh", "dry-run"}},
		{[]string{plan, "--fresh", "2"}, []string{"of the 4 runs", "is done"}},
		{[]string{plan, "--slurm", "-n", "--tasks", "-1"}, []string{"-1", "--tasks"}},
		{[]string{plan, "--task", "4/4"}, []string{"--task", "0/100"}},
		{[]string{plan, "--task", "3/4x"}, []string{"--task", "0/100"}},
	} {
		refused(t, test.words, append([]string{"sweep"}, test.args...)...)
	}
}

// It takes half a second, and longer where other tests run.
func TestInterruptEndsASweepWithinASecond(t *testing.T) {
	plan := write(t, "plan.toml", "graph = \"chain(1000)\"\nbatch = 256\ntest = 2\nsteps = 100\n")
	cmd, printed := start(t, "command", "sweep", plan)
	await(t, printed, "0 of 1 runs done")
	time.Sleep(500 * time.Millisecond)
	begun := time.Now()
	cmd.Process.Signal(os.Interrupt)
	if got := exitCode(t, cmd); got != interrupted || time.Since(begun) > 3*time.Second {
		t.Errorf("exit code %d after %v, want %d within a second, or three beside other tests",
			got, time.Since(begun), interrupted)
	}
}

// A file that cannot be read is an error, after the output of the others.
func TestOneDamagedFileHidesNoOther(t *testing.T) {
	plan := write(t, "plan.toml", smallPlan)
	output(t, "sweep", plan)
	store := filepath.Join(strings.TrimSuffix(plan, ".toml"), "runs")
	whole, err := runs.Open(store).Addresses()
	if err != nil || len(whole) != 4 {
		t.Fatalf("%q are stored, %v", whole, err)
	}
	begun := filepath.Join(store, ".unfinished", strings.Repeat("0", 16), "checkpoint")
	damaged := filepath.Join(store, whole[1], "run.json")
	for _, c := range []struct {
		damaged      string
		args         []string
		shown, wrong []string
	}{
		{begun, []string{"sweep", plan, "--status"}, []string{"done        4"}, []string{begun}},
		{damaged, []string{"list", "--store", store}, []string{whole[0], whole[2], whole[3]}, []string{damaged, begun}},
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(c.damaged), 0o777), os.WriteFile(c.damaged, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		property.Mentions(t, run(t.Context(), &out, c.args), c.wrong...)
		says(t, out.String(), c.shown...)
	}
}

// A job array of which sbatch runs one task after the other ends as a sweep here, and the advice has the flags.
func TestAJobArrayTrainsTheSweep(t *testing.T) {
	plan, bin := write(t, "plan.toml", smallPlan), t.TempDir()
	const sbatch = "#!/bin/bash\nshift\nfor i in $(sed -n 's/^#SBATCH --array=0-//p' \"$1\" | xargs seq 0); do\n" +
		"SLURM_ARRAY_TASK_ID=$i bash \"$1\" >&2 || exit 1\ndone\necho '7;here'\n"
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte(sbatch), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("PAPER_TEST", "command")
	there, here := filepath.Join(t.TempDir(), "it's there"), filepath.Join(t.TempDir(), "here")
	text := output(t, "sweep", plan, "--slurm", "--tasks", "2", "--out", there)
	says(t, text, "submitted job 7 of 2 tasks for 4 runs", "squeue -j 7; sacct -j 7; paper sweep '"+plan+"' --out '",
		`it'\''s there' --status`)
	t.Setenv("PAPER_TEST", "")
	output(t, "sweep", plan, "--out", here)
	got, want := content(t, there), content(t, here)
	for _, name := range []string{"table.csv", "results.jsonl"} {
		if got[name] != want[name] || want[name] == "" {
			t.Errorf("%s of the array is\n%s\nwant\n%s", name, got[name], want[name])
		}
	}
	const failing = "#!/bin/sh\necho no partition >&2; exit 3\n"
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte(failing), 0o777); err != nil {
		t.Fatal(err)
	}
	refused(t, []string{"sbatch", "no partition"}, "sweep", plan, "--slurm", "--out", filepath.Join(bin, "new"))
}
