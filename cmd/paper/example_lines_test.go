//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"learncausal/internal/files"
	"learncausal/paper/figures"
)

// checkout returns a folder with the files that the examples name: the stored runs,
// graphs, sequences and a trained run, and the command in bin.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	stored, err := files.Checkout("runs")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"bin", "figures"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	claims := filepath.Join(filepath.Dir(stored), "figures", "claims.json")
	for name, to := range map[string]string{"runs": stored, "bin/paper": self, "figures/claims.json": claims} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"go.mod": "module learncausal\n", "my.dot": forest,
		"plan.toml":     smallPlan,
		"my-dag.dot":    "digraph { {s1 s2} -> s3; {s2 s3} -> s4; {s3 s4} -> y }",
		"sequences.csv": "0,1,2,0,1,2,0,1,2,0,1,2,0,1,2,0,1,2,0,1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	own := []string{"train", filepath.Join(dir, "my.dot"), "-o", filepath.Join(dir, "my-graph")}
	output(t, append(own, quickly...)...)
	return dir
}

// cheaply returns the line of an example as the test runs it: training is a dry run, and
// of commands that take minutes the test checks the flags and the ids.
func cheaply(t *testing.T, line string) string {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	switch {
	case strings.Contains(line, "--slurm"):
		return line + " -n"
	case strings.HasPrefix(line, "paper train"):
		return line + " -n --jobs 1"
	case strings.HasPrefix(line, "paper annotate"), strings.HasPrefix(line, "paper score"):
		return line + " --help"
	case strings.HasPrefix(line, "paper export"), line == "paper verify -j 4", strings.Contains(line, "--quick"):
		for word := range strings.FieldsSeq(line) {
			if strings.HasPrefix(word, "fig-") || strings.HasPrefix(word, "tab-") {
				if _, err := figures.Select(word); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
		return line + " --help"
	}
	return line
}

func TestEveryLineOfAnExampleRuns(t *testing.T) {
	dir := checkout(t)
	examples := newRoot().Example
	for _, c := range newRoot().Commands() {
		examples += "\n" + c.Example
	}
	n := 0
	for line := range strings.Lines(examples) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		n++
		cmd := exec.CommandContext(t.Context(), "sh", "-c", cheaply(t, line))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PAPER_TEST=command", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	if n < 15 {
		t.Errorf("%d lines of examples", n)
	}
}
