package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A binary has the tests of a package, built with the instrumented code of one
// package that it needs or is.
type binary struct {
	program, dir string
	environment  []string
	tests        []test // the cheap ones first
}

// A test is a function of a test file: a test, an example, or the seeds of a fuzz test.
type test struct {
	name string
	cpu  time.Duration // while it was recorded what differs
	seen []byte        // by point: bit k, whether variant k makes a difference
}

// reaches reports whether a mutant makes a difference in a test.
func (t test) reaches(m mutant) bool { return t.seen[m.point.id]&(1<<m.number) != 0 }

const (
	// tooLong is the CPU time, measured while recording, of a test that is not used.
	tooLong = time.Minute
	// enough is for how much CPU time of the tests of one package a mutant is tried.
	enough = 30 * time.Second
)

// longer is how much longer than five times its CPU time a test may take with a mutant.
var longer = 2 * time.Second

// noVectors has the packages that import lanes compute with its plain Go; its own
// tests hold the vectors against that.
const noVectors = "LEARNCAUSAL_VECTORS=none"

// newBinary builds the tests of a package, which run in a copy of the module.
func newBinary(root, copied, dir, overlay string, p place) (*binary, error) {
	b := &binary{
		program: filepath.Join(dir, strings.ReplaceAll(p.folder, "/", "-")+".test"),
		dir:     filepath.Join(copied, p.folder),
	}
	args := []string{"test", "-c", "-vet=off", "-trimpath", "-overlay", overlay, "-o", b.program, "./" + p.folder}
	return b, compile(root, args...)
}

// record runs each test alone and records in which of them mutants at some points,
// where asked is 1, make a difference.
func (b *binary) record(ctx context.Context, p place, asked []byte, workers int) error {
	if _, err := os.Stat(b.program); errors.Is(err, fs.ErrNotExist) { // no tests
		return nil
	}
	out, err := b.command("-test.list=.").Output()
	if err != nil {
		return fmt.Errorf("mutants: the list of the tests of %s: %w", p.folder, err)
	}
	var names []string
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, "Benchmark") {
			names = append(names, name)
		}
	}
	all, failures := make([]test, len(names)), make([]error, len(names))
	meter := newMeter("tests of "+p.folder, len(names))
	inParallel(workers, len(names), func(i int) {
		if failures[i] = ctx.Err(); failures[i] != nil {
			return
		}
		all[i], failures[i] = b.cover(names[i], fmt.Sprintf("%s-%d", b.program, i), asked)
		meter.step()
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, err := range failures {
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s of %s is left out: %v\n", names[i], p.folder, err)
			continue
		}
		b.tests = append(b.tests, all[i])
	}
	slices.SortStableFunc(b.tests, func(x, y test) int { return int(x.cpu - y.cpu) })
	return nil
}

// cover runs a test unmutated and records in a file what makes a difference in it.
func (b *binary) cover(name, file string, asked []byte) (test, error) {
	if err := os.WriteFile(file, asked, 0o644); err != nil {
		return test{}, err
	}
	defer os.Remove(file)
	out, cpu, err := b.run(name, "cover "+file, tooLong)
	if err != nil {
		return test{}, fmt.Errorf("it does not pass in the instrumented build: %w\n%s", err, out)
	}
	seen, err := os.ReadFile(file)
	return test{name, cpu, seen}, err
}

// nicely is a command at niceness 10, or that of the caller if it is nicer still.
func nicely(program string, arguments ...string) *exec.Cmd {
	rest, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // 20 less the niceness
	if err != nil {
		rest = 20
	}
	return exec.Command("nice", append([]string{fmt.Sprintf("-n%d", max(rest-10, 0)), program}, arguments...)...)
}

// command begins in the package's folder and dies with the caller.
func (b *binary) command(arguments ...string) *exec.Cmd {
	cmd := nicely(b.program, arguments...)
	cmd.Dir = b.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// run runs one test with a value of MUTANT and returns what it prints, the time that
// it takes, and an error if it fails or takes longer than the limit.
func (b *binary) run(name, mutant string, limit time.Duration) (out string, cpu time.Duration, err error) {
	runtime.LockOSThread() // or the test dies with the thread
	defer runtime.UnlockOSThread()
	cmd := b.command("-test.short", "-test.failfast", "-test.paniconexit0", "-test.run=^"+name+"$")
	cmd.Env = slices.Concat(os.Environ(), b.environment,
		[]string{
			"MUTANT=" + mutant, fmt.Sprintf("MUTANT_SECONDS=%d", int(limit.Seconds())+1),
			"RAPID_SHRINKTIME=0s", // a failure is enough
		})
	var text strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &text, &text, time.Second
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	// Who waits for ever uses no time, and a busy machine gives little.
	late := time.AfterFunc(2*time.Minute+20*limit, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left behind
	return text.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// try runs the tests in which a mutant makes a difference until one fails.
func (b *binary) try(m *mutant) {
	spent := time.Duration(0)
	for _, t := range b.tests {
		if !t.reaches(*m) {
			continue
		}
		if spent += t.cpu; m.reached && spent > enough {
			return
		}
		m.reached = true
		if _, _, err := b.run(t.name, fmt.Sprintf("%d:%d", m.point.id, m.number), longer+5*t.cpu); err != nil {
			m.killed = filepath.Base(b.dir) + "." + t.name
			return
		}
	}
}

// copyModule copies what is not hidden of the module at root, in which mutants may
// write what they want.
func copyModule(root, to string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o644)
	})
}

// tryPackage draws mutants of a package and tries them on its tests, and those that
// survive and are not listed on the tests of the packages that import it.
func (o options) tryPackage(
	ctx context.Context, root, copied string, p place, by []place, of map[string]string,
) ([]mutant, error) {
	dir, err := os.MkdirTemp(filepath.Dir(copied), "package")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	units, err := loadFor(root, p.folder, map[string][]string{p.folder: nil})
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		u.tested = true
	}
	points, overlay, err := instrument(root, dir, units, map[string]string{})
	if err != nil {
		return nil, err
	}
	drawn := slices.DeleteFunc(planted(points), func(m mutant) bool { return !strings.Contains(m.key(), o.only) })
	if !o.all {
		drawn = sample(drawn, o.n, o.seed)
	}
	for _, q := range append([]place{p}, by...) {
		asked, open := make([]byte, len(points)), []int(nil)
		for i, m := range drawn {
			if m.killed == "" && (q.folder == p.folder || of[m.key()] == "") {
				open = append(open, i)
				asked[m.point.id] = 1
			}
		}
		if len(open) == 0 || ctx.Err() != nil {
			break
		}
		b, err := newBinary(root, copied, dir, overlay, q)
		if err != nil {
			return nil, err
		}
		if q.folder != p.folder {
			b.environment = []string{noVectors}
		}
		if err := b.record(ctx, q, asked, o.workers); err != nil {
			return nil, err
		}
		meter := newMeter("mutants of "+p.folder+" in "+q.folder, len(open))
		inParallel(o.workers, len(open), func(k int) {
			if ctx.Err() == nil {
				b.try(&drawn[open[k]])
				meter.step()
			}
		})
	}
	return drawn, ctx.Err()
}
