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
	"learncausal/internal/property"
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
	for name, c := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"pipe": {
			func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o666)) },
			"regular file",
		},
		"sparse": {func(path string) error { return os.Truncate(path, 200<<30) }, "bytes"},
	} {
		for _, file := range []string{manifestName, curveName, attentionName, "weights-263.npz", checkpointName} {
			s := testStore(t.TempDir())
			path, _ := storedFile(t, s, file)
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			within(t, name+" "+file, func() {
				_, err := s.Get(t.Context(), testSpec, Options{})
				property.Mentions(t, err, path+" refused: ", c.want)
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
		if _, err := s.Get(t.Context(), testSpec, Options{Meter: m}); err == nil ||
			!strings.Contains(err.Error(), " refused: ") {
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
		m.Files[name] = files.Sum(b)
		text = m.encode()
	}
	err = errors.Join(err, os.WriteFile(path, text, 0o666), os.WriteFile(filepath.Join(dir, name), b, 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// Files with a right checksum in another form are refused by name; fuzz tests try more forms.
func TestHostileFilesBehindRightSumsAreRefused(t *testing.T) {
	s := testStore(t.TempDir())
	weights := "weights-263.npz"
	for _, c := range []struct {
		file, old, new string
		want           string
	}{
		{weights, "(20, 20), }        ", "(268435456, 64), } ", "not in the form"},
		{weights, "\x93NUMPY\x02\x00H\x00\x00\x00", "\x93NUMPY\x02\x00\xff\xff\xff\xff", "not in the form"},
		{weights, "PK\x05\x06", "PK\x05\x06.", "5543 bytes, want 5542"},
		{weights, "PK\x05\x06", strings.Repeat(".", 9057), "bytes, want at most 9056"},
		{curveName, "\n100,", "\n101,", "want step 100 and 2 numbers"},
		{curveName, "\n100,", "\n100,NaN,", "want step 100 and 2 numbers"},
		{curveName, "\n100,", "\n100,0", "not in the form"},
		{curveName, "\n100,", "\n", "want step 100"},
		{curveName, "\n0,", strings.Repeat("\n", 1<<20), "want at most 640"},
		{attentionName, "\n0,0,", "\n7,0,", "want child,parent,attention with 0 <= parent <= child < 7"},
		{attentionName, "\n1,0,", "\n0,0,", "want increasing child and parent"},
		{attentionName, "\n1,0,", "\n1,0,0", "not in the form"},
		{attentionName, "\n", strings.Repeat("\n", 1<<13), "want at most 4480"},
	} {
		path, before := storedFile(t, s, c.file)
		malformed := bytes.Replace(before, []byte(c.old), []byte(c.new), 1)
		resum(t, filepath.Dir(path), c.file, malformed)
		within(t, c.want, func() {
			_, err := s.Get(t.Context(), testSpec, Options{})
			property.Mentions(t, err, path+" refused: ", c.want)
		})
		resum(t, filepath.Dir(path), c.file, before)
	}
}

// A run.json that has one encoding and the right address may still be malformed.
func TestHostileManifestIsRefused(t *testing.T) {
	s := testStore(t.TempDir())
	path, b := storedFile(t, s, manifestName)
	for _, c := range []struct {
		change func(m *manifest)
		want   string
	}{
		{func(m *manifest) { m.States = m.States[1:] }, "7 digests of states, want 8"},
		{func(m *manifest) { m.States[2] = "abc" }, `digest 2 of a state is "abc"`},
		{func(m *manifest) { delete(m.Files, "weights-263.npz") }, "it lists 4 files of weights, want 5, or none"},
		{func(m *manifest) { delete(m.Files, curveName); m.Files["x"] = "" }, "curve.csv refused: "},
		{func(m *manifest) { m.Files = nil }, "curve.csv refused: "},
	} {
		var m manifest
		err := json.Unmarshal(b, &m)
		c.change(&m)
		if err := errors.Join(err, os.WriteFile(path, m.encode(), 0o666)); err != nil {
			t.Fatal(err)
		}
		_, err = s.Get(t.Context(), testSpec, Options{})
		property.Mentions(t, err, c.want)
	}
	// Its specification may describe a run beyond the memory limit.
	large := testSpec
	large.Model, large.Test = train.MLP{Width: 1 << 20}, 1
	id, err := identify(large)
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Write(filepath.Join(s.Dir, id.Address, manifestName), id.encode()); err != nil {
		t.Fatal(err)
	}
	_, err = s.Load(id.Address)
	property.Mentions(t, err, "GiB")
}

// The errors about a file of older or newer numerics, of a newer layout, or laid out anew by jq, and about an altered
// file differ. The first three do not advise to retrain the run.
func TestErrorsTellAgeLayoutAndDamageApart(t *testing.T) {
	const altered = "truncated or altered"
	for _, c := range []struct{ file, old, now, want string }{
		{manifestName, `"version": "2"`, `"version": "1"`, "numerics 1 wrote it, and this program has numerics 2, which would"},
		{manifestName, `"version": "2"`, `"version": "10"`, "numerics 10 wrote it, and this program has numerics 2: a newer"},
		{manifestName, `"version": "2"`, `"version": "x"`, `its numerics have the version "x", want "2": altered`},
		{manifestName, `"address"`, `"layout": 2, "address"`, "it has layout 2, and this program reads layout 1: a newer"},
		{manifestName, `"address": `, `"address":`, "another program, such as jq or an editor, has altered its layout; its content is whole"},
		{manifestName, `"states": ["`, `"states": ["0`, altered},
		{checkpointName, `"version":"2"`, `"version":"1"`, "numerics 1 wrote it, and this program has numerics 2, which would"},
		{checkpointName, `"version":"2"`, `"version":"10"`, "numerics 10 wrote it, and this program has numerics 2: a newer"},
		{checkpointName, `"states":["`, `"states":["0`, "digest 0 of a state"},
	} {
		s := testStore(t.TempDir())
		path, good := storedFile(t, s, c.file)
		if err := os.WriteFile(path, bytes.Replace(good, []byte(c.old), []byte(c.now), 1), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := s.Get(t.Context(), testSpec, Options{})
		property.Mentions(t, err, path+" refused: ", c.want)
		advice := strings.Contains(err.Error(), "to retrain the run") || strings.Contains(err.Error(), "from the start")
		if whole := strings.Contains(c.want, "this program"); whole == advice {
			t.Errorf("%s with %s: %v", c.file, c.now, err)
		}
	}
}

// A checkpoint that has the right sum is refused too unless it is one.
func TestHostileCheckpointIsRefused(t *testing.T) {
	s := testStore(t.TempDir())
	path, good := storedFile(t, s, checkpointName)
	write := func(parts ...[]byte) {
		b := files.AddSum(append(make([]byte, files.SumLine), slices.Concat(parts...)...), "}")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	line, body, _ := bytes.Cut(good[files.SumLine:], []byte("\n"))
	for _, c := range []struct {
		change func(h *checkpointHeader, body []byte) []byte
		want   string
	}{
		{func(h *checkpointHeader, b []byte) []byte { h.Step = 0; return b }, "4 digests of states, want 1"},
		{func(h *checkpointHeader, b []byte) []byte { h.Step = -1; return b }, "snapshot at step -1"},
		{func(h *checkpointHeader, b []byte) []byte { h.Step = 301; return b }, "snapshot at step 301"},
		{func(h *checkpointHeader, b []byte) []byte { h.Step = 112; return b }, "bytes after its header, want"},
		{func(h *checkpointHeader, b []byte) []byte { h.States[0] = ""; return b }, `digest 0 of a state is ""`},
		{func(h *checkpointHeader, b []byte) []byte { h.Spec.Seed++; return b }, "describes the run"},
		{func(h *checkpointHeader, b []byte) []byte { h.Spec.Batch = 1 << 60; return b }, "batch is 1152921504606846976"},
		{func(h *checkpointHeader, b []byte) []byte { return nil }, "0 bytes after its header, want"},
		{func(_ *checkpointHeader, b []byte) []byte {
			binary.LittleEndian.PutUint64(b[16:], math.Float64bits(math.NaN()))
			return b
		}, "the loss at step 50"},
	} {
		var h checkpointHeader
		if err := json.Unmarshal(line, &h); err != nil {
			t.Fatal(err)
		}
		b := c.change(&h, bytes.Clone(body))
		write(h.line(), b)
		_, err := s.Get(t.Context(), testSpec, Options{})
		property.Mentions(t, err, "checkpoint "+path+" refused: ", c.want)
	}
	for _, key := range []string{`"Step":`, `"step": `} { // two other forms of one key
		write(bytes.Replace(good[files.SumLine:], []byte(`"step":`), []byte(key), 1))
		_, err := s.Get(t.Context(), testSpec, Options{})
		property.Mentions(t, err, "not in the form")
	}
	// Other numbers are accepted, as they have no form, and a replay finds them.
	body[len(body)-80] ^= 1
	write(line, []byte("\n"), body)
	r := get(t, s, Options{})
	property.Mentions(t, r.Replay(t.Context(), 1, r.Segments()), "steps 113-213: at step 150")
}

// A process that is killed after the rename leaves nothing from which training could
// resume when the run is deleted.
func TestNoStaleCheckpointIsTrainedFrom(t *testing.T) {
	s := testStore(t.TempDir())
	r := get(t, s, Options{})
	stored, work := filepath.Join(s.Dir, r.Address), filepath.Join(s.Dir, ".unfinished", r.Address)
	begins := func(want int) {
		t.Helper()
		first := -1
		m := meterFunc(func(done int) {
			if first < 0 {
				first = done
			}
		})
		err := os.RemoveAll(stored)
		if again := get(t, s, Options{Meter: m}); err != nil || first != want || !reflect.DeepEqual(again.Final, r.Final) {
			t.Errorf("training began at step %d, want %d, %v", first, want, err)
		}
		for _, path := range []string{work, filepath.Join(stored, checkpointName)} {
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is left: %v", path, err)
			}
		}
	}
	begins(0)
	files := r.encode()
	stop := func() { // with a checkpoint and all files of the run in the folder of training
		if err := os.RemoveAll(stored); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(&countdown{t.Context(), 201}, testSpec, Options{}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		clean(work, files)
		if err := writeFiles(t.TempDir()+"/~", work, files); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := os.Rename(work, stored); err != nil { // killed after the rename
		t.Fatal(err)
	}
	begins(0)
	stop() // killed before it
	begins(200)
	// The next load removes a checkpoint in the run, and one beside it.
	for _, dir := range []string{stored, work} {
		path := filepath.Join(dir, checkpointName)
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(path, []byte("stale"), 0o666)); err != nil {
			t.Fatal(err)
		}
		get(t, s, Options{})
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
}

// A run is not finished where a file or its folder cannot be written.
func TestRunThatCannotBeStoredIsAnError(t *testing.T) {
	for file, want := range map[string]string{"": "rename ", curveName: "runs: writing "} {
		s := testStore(t.TempDir())
		stored := filepath.Join(s.Dir, Address(testSpec))
		_, err := s.Get(t.Context(), testSpec, Options{Meter: onDone(func() {
			err := os.WriteFile(stored, nil, 0o666) // in the place of the folder
			if file != "" {
				full := filepath.Join(s.Dir, ".unfinished", Address(testSpec), file, "full")
				err = errors.Join(os.Remove(stored), os.MkdirAll(full, 0o777))
			}
			if err != nil {
				t.Error(err)
			}
		})})
		property.Mentions(t, err, want)
		if info, err := os.Stat(stored); err == nil && info.IsDir() {
			t.Error("a run without its files is stored")
		}
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

// Where there can be no lock nobody waits for one. To open a pipe would block.
func TestImpossibleLockIsAnError(t *testing.T) {
	folder, m := t.TempDir(), notes{}
	pipe := filepath.Join(folder, "a.lock")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{folder, pipe} {
		_, err := lock(t.Context(), path, 1, &m)
		property.Mentions(t, err, "no lock on "+path)
	}
	if tidy(filepath.Join(folder, "a"), folder); len(m) > 0 {
		t.Errorf("the meter showed %q", m)
	}
}
