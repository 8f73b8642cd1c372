//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain turns the test binary into the command, or into a command that ignores the
// first interrupt, if the environment variable PAPER_TEST is set.
func TestMain(m *testing.M) {
	switch os.Getenv("PAPER_TEST") {
	case "":
		os.Exit(m.Run())
	case "command":
		main()
	case "deaf":
		os.Exit(execute(func(ctx context.Context) error {
			os.Stdout.WriteString("ready\n")
			<-ctx.Done()
			os.Stdout.WriteString("signalled\n")
			time.Sleep(time.Minute)
			return ctx.Err()
		}))
	}
}

// start starts the test binary as one of the commands of TestMain, with output to
// a file.
func start(t *testing.T, as string, args ...string) (cmd *exec.Cmd, output string) {
	t.Helper()
	output = filepath.Join(t.TempDir(), "output")
	f, err := os.Create(output)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PAPER_TEST="+as)
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, output
}

// await waits for a text in the output.
func await(t *testing.T, output, text string) {
	t.Helper()
	for range 1000 {
		if b, _ := os.ReadFile(output); strings.Contains(string(b), text) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("no %q in the output", text)
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		args []string
		want int
	}{{[]string{"list"}, 0}, {[]string{"train", "--help"}, 0}, {[]string{"tran"}, 1}, {[]string{"list", "x"}, 1}} {
		cmd, output := start(t, "command", test.args...)
		if got := exitCode(t, cmd); got != test.want {
			b, _ := os.ReadFile(output)
			t.Errorf("paper %q: exit code %d, want %d: %s", test.args, got, test.want, b)
		}
	}
}

func TestInterruptEndsTrainingWith130(t *testing.T) {
	dir := t.TempDir()
	cmd, output := start(t, "command", "train", "chain(6)", "--steps", "10000000", "-o", dir)
	await(t, output, "step 0/10000000")
	cmd.Process.Signal(os.Interrupt)
	if got := exitCode(t, cmd); got != interrupted {
		t.Errorf("exit code %d, want %d", got, interrupted)
	}
	await(t, output, "running it again resumes")
}

func TestInterruptEndsAnExportWith130AndLeavesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	cmd, output := start(t, "command", "export", "-o", dir)
	await(t, output, " written") // 0 of 45 written, measuring ...
	cmd.Process.Signal(os.Interrupt)
	if got := exitCode(t, cmd); got != interrupted {
		b, _ := os.ReadFile(output)
		t.Errorf("exit code %d, want %d: %s", got, interrupted, b)
	}
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(hidden) > 0 {
		t.Errorf("it left %q", hidden)
	}
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	cmd, output := start(t, "deaf")
	await(t, output, "ready")
	cmd.Process.Signal(os.Interrupt)
	await(t, output, "signalled")
	time.Sleep(100 * time.Millisecond)
	begun := time.Now()
	cmd.Process.Signal(os.Interrupt)
	exitCode(t, cmd)
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != os.Interrupt || time.Since(begun) > 5*time.Second {
		t.Errorf("after a second interrupt it ended as %v, after %v", cmd.ProcessState, time.Since(begun))
	}
}
