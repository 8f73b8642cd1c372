//go:build unix

package figures

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"learncausal/paper/trial"
)

// cpu returns the processor time that this process has used.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A cancelled export returns within a second: after half a second, and after a time that
// depends on the day. The test measures processor time, which does not depend on the
// load of the machine.
func TestExportStopsWithinASecond(t *testing.T) {
	moments := []time.Duration{time.Second / 2}
	if !testing.Short() {
		moments = append(moments, time.Duration(1+trial.Today()%6)*time.Second)
	}
	for _, moment := range moments {
		dir := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), moment)
		done := make(chan error)
		go func() {
			_, err := New(trial.Stored(nil)).Export(ctx, dir)
			done <- err
		}()
		<-ctx.Done()
		before := cpu(t)
		err := <-done
		used := cpu(t) - before
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped after %v: error %v", moment, err)
		}
		t.Logf("stopped after %v: %v of the processors", moment, used)
		if most := time.Duration(runtime.GOMAXPROCS(0)) * time.Second; used > most {
			t.Errorf("stopped after %v: it went on for %v of the processors, want at most %v", moment, used, most)
		}
		for _, name := range list(t, dir) {
			if strings.HasPrefix(name, ".") {
				t.Errorf("stopped after %v: it left %s", moment, name)
			}
		}
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, filepath.Base(f.Name()))
	}
	return names
}

func TestExportReportsItsProgress(t *testing.T) {
	r, seen := New(trial.Stored(nil)), &recorder{}
	r.Meter = seen
	entries := selected(t, "fig-graph-example", "fig-sample-size")
	if _, err := r.Export(t.Context(), t.TempDir(), entries...); err != nil {
		t.Fatal(err)
	}
	if len(seen.done) < 10 || seen.last != "2 of 2 written" {
		t.Errorf("told %d times, at last %q", len(seen.done), seen.last)
	}
	for i, d := range seen.done[1:] {
		if d < seen.done[i] {
			t.Errorf("progress falls from %d to %d", seen.done[i], d)
		}
	}
}
