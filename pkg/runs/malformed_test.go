//go:build unix

package runs

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

// within fails if f takes long or allocates much.
func within(t *testing.T, name string, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, done := time.Now(), make(chan bool)
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: no answer within a minute", name)
	}
	runtime.ReadMemStats(&after)
	if took, n := time.Since(start), after.TotalAlloc-before.TotalAlloc; n > 64<<20 {
		t.Errorf("%s: %v, %d bytes allocated", name, took, n)
	}
}

// Any other file, or a file of the wrong size, is refused before anything is read.
func TestNothingButRegularFilesIsRead(t *testing.T) {
	replace := func(f func(path string) error) func(string) error {
		return func(path string) error { return errors.Join(os.Remove(path), f(path)) }
	}
	for name, c := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"pipe":     {replace(func(path string) error { return syscall.Mkfifo(path, 0o666) }), "not a regular file"},
		"device":   {replace(func(path string) error { return os.Symlink("/dev/zero", path) }), "not a regular file"},
		"folder":   {replace(func(path string) error { return os.Mkdir(path, 0o777) }), "not a regular file"},
		"dangling": {replace(func(path string) error { return os.Symlink("nowhere", path) }), "no such file"},
		"loop":     {replace(func(path string) error { return os.Symlink(filepath.Base(path), path) }), "symbolic links"},
		"sparse":   {func(path string) error { return os.Truncate(path, 200<<30) }, "214748364800 bytes"},
	} {
		for _, file := range []string{manifestName, curveName, attentionName, "weights-263.npz", checkpointName} {
			s := testStore(t.TempDir())
			path := filepath.Join(s.Dir, Address(testSpec), file)
			if file == checkpointName {
				path = filepath.Join(s.Dir, ".unfinished", Address(testSpec), file)
				s.Get(&countdown{context.Background(), 20}, testSpec, Options{})
			} else {
				get(t, s, Options{})
			}
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			want := c.want
			if name == "sparse" && file == checkpointName {
				want = "bytes after its header"
			}
			within(t, name+" "+file, func() {
				_, err := s.Get(t.Context(), testSpec, Options{})
				if err == nil || !strings.Contains(err.Error(), path+" refused: ") || !strings.Contains(err.Error(), want) {
					t.Errorf("%s for %s: %v, want %q", name, file, err, want)
				}
				_, loaded := s.Load(Address(testSpec))
				_, listed := s.Unfinished()
				if loaded == nil || (listed == nil) != (file != checkpointName) {
					t.Errorf("%s for %s: Load %v, Unfinished %v", name, file, loaded, listed)
				}
			})
		}
	}
}

func TestInvalidStoredRunIsRefusedBeforeTraining(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"dangling link": func(path string) error { return os.Symlink("nowhere", path) },
		"file":          func(path string) error { return os.WriteFile(path, nil, 0o666) },
		"empty folder":  func(path string) error { return os.Mkdir(path, 0o777) },
	} {
		s := testStore(t.TempDir())
		if err := change(filepath.Join(s.Dir, Address(testSpec))); err != nil {
			t.Fatal(err)
		}
		m := meterFunc(func(int) { t.Errorf("%s: training began", name) })
		if _, err := s.Get(t.Context(), testSpec, Options{Meter: m}); err == nil || !strings.Contains(err.Error(), " refused: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A link to a run is a run.
	s, other := testStore(t.TempDir()), testStore(t.TempDir())
	address := get(t, other, Options{}).Address
	if err := os.Symlink(filepath.Join(other.Dir, address), filepath.Join(s.Dir, address)); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, Options{}); r.Origin != Loaded {
		t.Errorf("a link to a run: %s", r.Origin)
	}
}

// resum writes bytes into a file of a stored run and makes its run.json say their sum.
func resum(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	var m manifest
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil {
		m.Files[name] = sum256(b)
		text = m.encode()
	}
	err = errors.Join(err, os.WriteFile(path, text, 0o666), os.WriteFile(filepath.Join(dir, name), b, 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// Files with a correct checksum in any form but the one that a store writes are refused by
// name.
func TestHostileFilesBehindRightSumsAreRefused(t *testing.T) {
	s := testStore(t.TempDir())
	r := get(t, s, Options{})
	dir := filepath.Join(s.Dir, r.Address)
	edit := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte {
			if !bytes.Contains(b, []byte(old)) {
				t.Fatalf("no %q", old)
			}
			return bytes.ReplaceAll(b, []byte(old), []byte(new))
		}
	}
	line := func(i int, f func(string) string) func([]byte) []byte {
		return func(b []byte) []byte {
			lines := strings.Split(string(b), "\n")
			lines[i] = f(lines[i])
			return []byte(strings.Join(lines, "\n"))
		}
	}
	to := func(text string) func(string) string { return func(string) string { return text } }
	weights, curve, attention := "weights-263.npz", curveName, attentionName
	for _, c := range []struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		{weights, edit("(10, 10), ", "(-1, 10), "), "not in the form"},
		{weights, edit("(10, 10), ", "(00, 00), "), "not in the form"},
		{weights, edit("(10, 10), ", "(1L, 10), "), "not in the form"},
		{weights, edit("(20, 20), }        ", "(268435456, 64), } "), "not in the form"},
		{weights, edit("<f8", ">f8"), "not in the form"},
		{weights, edit("<f8", "|O8"), "not in the form"},
		{weights, edit("order': False", "order': True "), "not in the form"},
		{weights, edit("\x93NUMPY\x02\x00", "\x93NUMPY\x03\x00"), "not in the form"},
		{weights, edit("\x93NUMPY\x02\x00H\x00\x00\x00", "\x93NUMPY\x02\x00\xff\xff\xff\xff"), "not in the form"},
		{weights, edit("A1.npy", "A2.npy"), "not in the form"},
		{weights, edit("A1.npy", "../npy"), "not in the form"},
		{weights, func(b []byte) []byte { return make([]byte, 9057) }, "9057 bytes, want at most 9056"},
		{weights, func(b []byte) []byte { return b[:200] }, "200 bytes, want 5542"},
		{weights, func(b []byte) []byte { return nil }, "0 bytes, want 5542"},
		{weights, func(b []byte) []byte { return append(b, 0) }, "bytes, want 5"},
		{weights, func(b []byte) []byte { return make([]byte, len(b)) }, "not in the form"},
		{weights, func(b []byte) []byte { b[len(b)-400] ^= 1; return b }, "not in the form"},
		{curve, func([]byte) []byte { return nil }, "points, want 7"},
		{curve, func([]byte) []byte { return []byte(curveHeader + "\n") }, "0 points, want 7"},
		{curve, line(0, to("step,loss")), "not in the form"},
		{curve, line(3, to("101,0.5,0.5")), `line "101,0.5,0.5", want step 100 and two numbers`},
		{curve, line(3, to("-100,0.5,0.5")), "want step 100 and two numbers"},
		{curve, line(3, to("100,NaN,0.5")), "want step 100 and two numbers"},
		{curve, line(3, to("100,0.50,0.5")), "not in the form"},
		{curve, line(3, to("100,0x1p-2,0.5")), "not in the form"},
		{curve, line(3, to("100,0.5,0.5 ")), "not in the form"},
		{curve, line(3, to("100,0.5,0.5,1")), "not in the form"},
		{curve, line(3, to("100,1e999,0.5")), "want step 100 and two numbers"},
		{curve, func(b []byte) []byte { return append(b, "and so on"...) }, "not in the form"},
		{curve, func(b []byte) []byte { return b[:len(b)-1] }, "6 points, want 7"},
		{curve, func(b []byte) []byte { return bytes.Repeat([]byte("\n"), 1<<20) }, "1048576 bytes, want at most 640"},
		{attention, func([]byte) []byte { return nil }, "not in the form"},
		{attention, line(1, to("7,0,0.5")), "want child,parent,attention with 0 <= parent <= child < 7"},
		{attention, line(1, to("0,1,0.5")), "want child,parent,attention with 0 <= parent <= child < 7"},
		{attention, line(1, to("-1,-1,0.5")), "want child,parent,attention with 0 <= parent <= child < 7"},
		{attention, line(2, to("0,0,0.5")), "want increasing child and parent"},
		{attention, line(2, to("1,0,.5")), "not in the form"},
		{attention, line(2, to("1,0")), "want child,parent,attention"},
		{attention, func(b []byte) []byte { return bytes.Repeat(b, 1<<12) }, "want at most 4480"},
	} {
		before, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		malformed := c.change(bytes.Clone(before))
		resum(t, dir, c.file, malformed)
		within(t, c.want, func() {
			_, err := s.Get(t.Context(), testSpec, Options{})
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, c.file)+" refused: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %.60q: %v, want %q", c.file, malformed, err, c.want)
			}
		})
		resum(t, dir, c.file, before)
	}
	if r := get(t, s, Options{}); r.Origin != Loaded {
		t.Error(r.Origin)
	}
}

// A run.json that has one encoding and the right address may still be malformed.
func TestHostileManifestIsRefused(t *testing.T) {
	large := testSpec
	large.Model, large.Test = train.MLP{Width: 1 << 14}, 1
	for name, c := range map[string]struct {
		change func(m *manifest)
		want   string
	}{
		"digest missing":   {func(m *manifest) { m.States = m.States[1:] }, "7 digests of states, want 8"},
		"no digests":       {func(m *manifest) { m.States = nil }, "0 digests of states, want 8"},
		"digest too short": {func(m *manifest) { m.States[2] = "abc" }, `digest 2 of a state is "abc"`},
		"file missing":     {func(m *manifest) { delete(m.Files, "weights-263.npz") }, "it lists 4 files of weights, want 5, or none"},
		"other file":       {func(m *manifest) { delete(m.Files, curveName); m.Files["x"] = "" }, "curve.csv refused: "},
		"no files":         {func(m *manifest) { m.Files = nil }, "curve.csv refused: "},
	} {
		s := testStore(t.TempDir())
		r := get(t, s, Options{})
		path := filepath.Join(s.Dir, r.Address, manifestName)
		b, err := os.ReadFile(path)
		var m manifest
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		c.change(&m)
		if err := errors.Join(err, os.WriteFile(path, m.encode(), 0o666)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), testSpec, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// Its specification may describe a run beyond the memory limit.
	large.Model = train.MLP{Width: 1 << 20}
	id, err := identify(large)
	if err != nil {
		t.Fatal(err)
	}
	s := testStore(t.TempDir())
	if err := files.Write(filepath.Join(s.Dir, id.Address, manifestName), id.encode()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(id.Address); err == nil || !strings.Contains(err.Error(), "want at most 1.6e+04 GiB") {
		t.Errorf("a model beyond all memory: %v", err)
	}
}

// A checkpoint that has the right sum is refused too unless it is one.
func TestHostileCheckpointIsRefused(t *testing.T) {
	p, err := newPlan(testSpec)
	if err != nil {
		t.Fatal(err)
	}
	s := testStore(t.TempDir())
	path := filepath.Join(s.Dir, ".unfinished", p.Address, checkpointName)
	_, err = s.Get(&countdown{context.Background(), 121}, testSpec, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	summed := func(parts ...[]byte) []byte {
		return AddSum(append(make([]byte, SumLine), slices.Concat(parts...)...), "}")
	}
	line, body, _ := bytes.Cut(good[SumLine:], []byte("\n"))
	for _, c := range []struct {
		change func(h *checkpointHeader, body []byte) []byte
		want   string
	}{
		{func(h *checkpointHeader, b []byte) []byte { h.Step = 0; return b }, "4 digests of states, want 1"},
		{func(h *checkpointHeader, b []byte) []byte { h.Step = -1; return b }, "snapshot at step -1 of a run of 300 steps"},
		{func(h *checkpointHeader, b []byte) []byte { h.Step = 301; return b }, "snapshot at step 301"},
		{func(h *checkpointHeader, b []byte) []byte { h.Step = 112; return b }, "bytes after its header, want"},
		{func(h *checkpointHeader, b []byte) []byte { h.Step = 300; return b }, "4 digests of states, want 8"},
		{func(h *checkpointHeader, b []byte) []byte { h.States = nil; return b }, "0 digests of states, want 4"},
		{func(h *checkpointHeader, b []byte) []byte { h.States[0] = ""; return b }, `digest 0 of a state is ""`},
		{func(h *checkpointHeader, b []byte) []byte { h.Spec.Seed++; return b }, "and describes the run"},
		{func(h *checkpointHeader, b []byte) []byte { h.Spec.Batch = 1 << 60; return b }, "spec: batch is 1152921504606846976"},
		{func(h *checkpointHeader, b []byte) []byte { return b[:len(b)-8] }, "bytes after its header, want"},
		{func(h *checkpointHeader, b []byte) []byte { return append(b, 0) }, "bytes after its header, want"},
		{func(h *checkpointHeader, b []byte) []byte { return nil }, "0 bytes after its header, want"},
		{func(_ *checkpointHeader, b []byte) []byte {
			binary.LittleEndian.PutUint64(b[16:], math.Float64bits(math.NaN()))
			return b
		}, "the loss at step 50 is not a number"},
	} {
		var h checkpointHeader
		if err := json.Unmarshal(line, &h); err != nil {
			t.Fatal(err)
		}
		b := c.change(&h, bytes.Clone(body))
		if err := os.WriteFile(path, summed(h.line(), b), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = s.Get(t.Context(), testSpec, Options{})
		_, listed := s.Unfinished()
		want := "checkpoint " + path + " refused: "
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.want) || listed == nil {
			t.Errorf("%v, %v, want %s%s", err, listed, want, c.want)
		}
	}
	// One that is written otherwise: a key in capitals, a space.
	for _, change := range []string{`"Step":`, `"step": `} {
		b := summed(bytes.Replace(good[SumLine:], []byte(`"step":`), []byte(change), 1))
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), testSpec, Options{}); err == nil || !strings.Contains(err.Error(), "not in the form") {
			t.Errorf("%s: %v", change, err)
		}
	}
	// Numbers of one's own are taken, as they have no form, and a replay finds them.
	body[len(body)-80] ^= 1
	if err := os.WriteFile(path, summed(line, []byte("\n"), body), 0o666); err != nil {
		t.Fatal(err)
	}
	r := get(t, s, Options{})
	if err := r.Replay(t.Context(), 1, r.Segments()); err == nil || !strings.Contains(err.Error(), "steps 113-213: at step 150") {
		t.Errorf("a run from an altered checkpoint: %v", err)
	}
}

// A process that is killed after the rename leaves nothing from which training could
// go on when the run is deleted.
func TestNoStaleCheckpointIsTrainedFrom(t *testing.T) {
	s := testStore(t.TempDir())
	r := get(t, s, Options{})
	work := filepath.Join(s.Dir, ".unfinished", r.Address)
	stored := filepath.Join(s.Dir, r.Address)
	if _, err := os.Stat(work); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("scratch files left behind: %v", err)
	}
	if _, err := os.Stat(filepath.Join(stored, checkpointName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a checkpoint left behind: %v", err)
	}
	begins := func(want int) {
		t.Helper()
		if err := os.RemoveAll(stored); err != nil {
			t.Fatal(err)
		}
		first := -1
		m := meterFunc(func(done int) {
			if first < 0 {
				first = done
			}
		})
		if again := get(t, s, Options{Meter: m}); first != want || !reflect.DeepEqual(again.Final, r.Final) {
			t.Errorf("training began at step %d, want %d", first, want)
		}
	}
	// Killed after the rename, and then the run is deleted.
	files := r.encode()
	stop := func() {
		if err := os.RemoveAll(stored); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(&countdown{context.Background(), 201}, testSpec, Options{}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	stop()
	clean(work, files)
	if err := errors.Join(writeFiles(t.TempDir()+"/~", work, files), os.Rename(work, stored)); err != nil {
		t.Fatal(err)
	}
	begins(0)
	// Killed before it: training goes on.
	stop()
	if clean(work, files); writeFiles(t.TempDir()+"/~", work, files) != nil {
		t.Fatal("no files written")
	}
	if _, err := os.Stat(filepath.Join(work, checkpointName)); err != nil {
		t.Fatal(err)
	}
	begins(200)
	if _, err := os.Stat(filepath.Join(stored, checkpointName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a checkpoint left in the run: %v", err)
	}
	// Killed between the rename and its removal: the next load takes it away.
	if err := os.WriteFile(filepath.Join(stored, checkpointName), []byte("stale"), 0o666); err != nil {
		t.Fatal(err)
	}
	if get(t, s, Options{}); len(differing(map[string][]byte{checkpointName: []byte("stale")}, stored)) == 0 {
		t.Error("a checkpoint left in the run by a killed process stays")
	}
	// A checkpoint next to a stored run is removed by the next load.
	if err := errors.Join(os.MkdirAll(work, 0o777), os.WriteFile(filepath.Join(work, checkpointName), []byte("stale"), 0o666)); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, Options{}); r.Origin != Loaded {
		t.Fatal(r.Origin)
	}
	begins(0)
}

// A run is not finished where a file or its folder cannot be written.
func TestRunThatCannotBeStoredIsAnError(t *testing.T) {
	s := testStore(t.TempDir())
	stored := filepath.Join(s.Dir, Address(testSpec))
	_, err := s.Get(t.Context(), testSpec, Options{Meter: onDone(func() {
		if err := os.WriteFile(stored, nil, 0o666); err != nil { // in the place of the folder
			t.Error(err)
		}
	})})
	if link := new(os.LinkError); !errors.As(err, &link) || link.New != stored {
		t.Errorf("%v, want an error of renaming to %s", err, stored)
	}
	s = testStore(t.TempDir())
	stored = filepath.Join(s.Dir, Address(testSpec))
	_, err = s.Get(t.Context(), testSpec, Options{Meter: onDone(func() {
		if err := os.MkdirAll(filepath.Join(s.Dir, ".unfinished", Address(testSpec), curveName, "full"), 0o777); err != nil {
			t.Error(err)
		}
	})})
	if err == nil || !strings.HasPrefix(err.Error(), "runs: writing ") {
		t.Errorf("%v, want an error of writing", err)
	}
	if _, err := os.Stat(stored); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without its files is stored: %v", err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, curveName, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := writeFiles(t.TempDir()+"/~", dir, map[string][]byte{curveName: nil, manifestName: nil}); err == nil {
		t.Error("a folder was written over")
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was written without the rest: %v", manifestName, err)
	}
}

// Where there can be no lock nobody waits for one.
func TestImpossibleLockIsAnError(t *testing.T) {
	path, m := t.TempDir(), notes{}
	if _, err := lock(t.Context(), path, 1, &m); err == nil || !strings.Contains(err.Error(), "no lock on "+path) || len(m) > 0 {
		t.Errorf("%v, and the meter showed %q", err, m)
	}
}

// onDone is a Meter that calls a function when training has ended.
type onDone func()

func (f onDone) Update(int, int, string) {}
func (f onDone) Done(string)             { f() }

// Every file that is opened is closed again, at the latest with the run.
func TestFilesAreClosed(t *testing.T) {
	open := func() int {
		all, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(all)
	}
	s := testStore(t.TempDir())
	if _, err := s.Get(&countdown{context.Background(), 20}, testSpec, Options{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	before := open()
	_, err := s.Unfinished()
	r := get(t, s, Options{})
	_, err2 := s.Load(r.Address)
	if now := open(); now != before || err != nil || err2 != nil {
		t.Errorf("%d files are open, %d were before, %v, %v", now, before, err, err2)
	}
}

// To open a pipe would block, and no signal would end the wait.
func TestPipeIsNoLock(t *testing.T) {
	s := testStore(t.TempDir())
	path := filepath.Join(s.Dir, ".unfinished", Address(testSpec)+".lock")
	err := errors.Join(os.MkdirAll(strings.TrimSuffix(path, ".lock"), 0o777), syscall.Mkfifo(path, 0o666))
	if err != nil {
		t.Skip(err)
	}
	if _, err := s.Get(t.Context(), testSpec, Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	tidy(strings.TrimSuffix(path, ".lock"), s.Dir)
}

func TestLockFollowsTheUmask(t *testing.T) {
	old := syscall.Umask(0o002)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "folder", "a.lock")
	unlock, err := lock(t.Context(), path, 1, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for name, want := range map[string]string{path: "-rw-rw-r--", filepath.Dir(path): "drwxrwxr-x"} {
		if info, err := os.Stat(name); err != nil || info.Mode().String() != want {
			t.Errorf("%s: %v, %v, want the mode %s", name, info.Mode(), err, want)
		}
	}
}

// Where locks hold nobody back several train one run at a time: all of them get it, and
// its bytes are the bytes of a process that trains alone.
func TestWritersWithoutLocksLoseNothing(t *testing.T) {
	alone, dir := t.TempDir(), t.TempDir()
	get(t, testStore(alone), Options{})
	begun, all := sync.WaitGroup{}, sync.WaitGroup{}
	begun.Add(6)
	for i := range 6 {
		all.Go(func() {
			once := sync.OnceFunc(begun.Done)
			defer once()
			s := &Store{Dir: dir, interval: time.Duration(i) * time.Millisecond}
			m := meterFunc(func(int) {
				// The others wait for another lock.
				if err := os.RemoveAll(filepath.Join(dir, ".unfinished", Address(testSpec)+".lock")); err != nil {
					t.Error(err)
				}
				once()
				begun.Wait()
			})
			r, err := s.Get(context.Background(), testSpec, Options{Workers: 1, Meter: m})
			if err != nil {
				t.Error(err)
				return
			}
			if err := r.Replay(context.Background(), 1, r.Stretches()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	if _, err := os.Stat(filepath.Join(dir, ".unfinished", Address(testSpec))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("scratch files left behind: %v", err)
	}
	got := folder(t, dir)
	for name, b := range folder(t, alone) {
		if got[name] != b {
			t.Errorf("%s has other bytes than where one process trains alone", name)
		}
	}
}
