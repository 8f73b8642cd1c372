package runs

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"learncausal/pkg/train"
)

// TestMain turns the test binary into a program that asks for one run, if the
// environment names a store: something to kill.
func TestMain(m *testing.M) {
	dir := os.Getenv("RUNS_TEST_STORE")
	if dir == "" {
		os.Exit(m.Run())
	}
	s := childStore(dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := s.Get(ctx, killSpec, Options{Meter: Terminal(os.Stderr)}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// childStore trains for about half a second with more than a hundred checkpoints.
func childStore(dir string) *Store { return &Store{Dir: dir, interval: 2 * time.Millisecond} }

// killSpec takes about half a second.
var killSpec = func() train.Spec {
	s := testSpec
	s.Batch, s.Steps = 1024, 600
	return s
}()

func child(dir string) (*exec.Cmd, *bytes.Buffer) {
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RUNS_TEST_STORE="+dir)
	cmd.Stderr = &out
	return cmd, &out
}

// waitForCheckpoint returns when the child has written its first checkpoint,
// or a new one if there was one.
func waitForCheckpoint(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, ".unfinished", Address(killSpec), checkpointName)
	before, _ := os.Stat(path)
	for range 10_000 {
		if now, err := os.Stat(path); err == nil && (before == nil || !os.SameFile(before, now)) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("no checkpoint within 10 seconds")
}

func TestKilledRunEndsInTheSameBytes(t *testing.T) {
	whole, killed, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	getSpec(t, testStore(whole), killSpec, Options{})
	random := rand.New(rand.NewPCG(1, 2))
	steps := []int{}
	for range 6 {
		cmd, out := child(killed)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForCheckpoint(t, killed)
		time.Sleep(time.Duration(random.IntN(40_000)) * time.Microsecond)
		cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			t.Fatalf("the child ended before it was killed: the test is too slow\n%s", out)
		}
		c, _, err := readCheckpoint(filepath.Join(killed, ".unfinished", Address(killSpec), checkpointName),
			Address(killSpec))
		if err != nil || c == nil {
			t.Fatal(c, err)
		}
		steps = append(steps, c.now.Step)
	}
	t.Log("killed with checkpoints at steps", steps)
	for i := 1; i < len(steps); i++ {
		if steps[i] <= steps[i-1] {
			t.Errorf("checkpoints at steps %v: not resumed", steps)
		}
	}
	getSpec(t, testStore(killed), killSpec, Options{})
	if !reflect.DeepEqual(folder(t, whole), folder(t, killed)) {
		t.Error("the bytes of a run depend on where it was killed")
	}
	for dir, most := range map[string]int{elsewhere: 0, filepath.Join(killed, ".unfinished"): 0} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > most {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
}

// Where there are no locks, as under WebAssembly, a store trains and loads all the same.
func TestStoreWorksUnderWebAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it compiles for another platform")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("NOT CHECKED: stores under WebAssembly, because node is not installed")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "go_js_wasm_exec")
	cmd := exec.Command("go", "test", "-count=1", "-run=^TestLoadingEqualsTraining$", "-exec="+wasm,
		"-trimpath", "-gcflags=all=-dwarf=false", "-tags=minimal", ".") // the flags of make systems
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
