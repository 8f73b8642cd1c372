//go:build unix

package runs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"learncausal/internal/files"
	"learncausal/internal/property"
	"learncausal/pkg/train"
)

func TestFileInThePlaceOfAFolderIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	under := testStore(t.TempDir())
	for _, path := range []string{file, filepath.Join(under.Dir, ".unfinished")} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := testStore(file)
	_, listed := s.Addresses()
	_, loaded := s.Load("0")
	_, unfinished := under.Unfinished()
	_, locked := lock(t.Context(), filepath.Join(file, "a.lock"), 1, silent{})
	for name, err := range map[string]error{
		"Addresses": listed, "Load": loaded, "Unfinished": unfinished, "lock": locked,
		"writeFile": writeFile(file+"~", filepath.Join(file, "a"), nil),
	} {
		at := new(fs.PathError)
		if !errors.Is(err, syscall.ENOTDIR) || !errors.As(err, &at) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if makes := name == "lock" || name == "writeFile"; makes != (at.Op == "mkdir") ||
			(name == "lock") == strings.HasPrefix(err.Error(), "runs: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run that a process stores while another waits for it is loaded or refused, not trained.
func TestRunStoredMeanwhileIsLoaded(t *testing.T) {
	whole := get(t, testStore(t.TempDir()), Options{}).encode()
	for _, damaged := range []bool{false, true} {
		s := testStore(t.TempDir())
		unlock, err := lock(t.Context(), filepath.Join(s.Dir, ".unfinished", Address(testSpec)+".lock"), 1, silent{})
		if err != nil {
			t.Fatal(err)
		}
		files, calls := maps.Clone(whole), 0
		if damaged {
			files[curveName] = nil
		}
		m := onUpdate(func() {
			calls++
			dir := filepath.Join(s.Dir, Address(testSpec))
			if err := errors.Join(writeFiles(t.TempDir()+"/~", dir, files), unlock()); err != nil {
				t.Error(err)
			}
		})
		r, err := s.Get(t.Context(), testSpec, Options{Meter: m})
		if calls != 1 || (err != nil) != damaged || !damaged && r.Origin != Loaded {
			t.Errorf("%+v, %v, after %d calls of the meter, want one for the waiting", r, err, calls)
		}
	}
}

// Where there are no locks another process may be first: its run is the one that is kept.
func TestFirstFinishedRunIsKept(t *testing.T) {
	files := get(t, testStore(t.TempDir()), Options{}).encode()
	s := testStore(t.TempDir())
	stored := filepath.Join(s.Dir, Address(testSpec))
	r := get(t, s, Options{Meter: onDone(func() {
		if err := writeFiles(t.TempDir()+"/~", stored, files); err != nil {
			t.Error(err)
		}
	})})
	if r.Origin != Loaded {
		t.Errorf("the run is %s", r.Origin)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, ".unfinished", r.Address)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("scratch files left behind: %v", err)
	}
}

// All of a checkpoint is read as it was written, the curves of its milestones too.
func TestCheckpointIsReadAsItWasWritten(t *testing.T) {
	for _, spec := range []train.Spec{testSpec, multiSpec, mlpSpec(train.MLP{Width: 6})} {
		p, err := newPlan(spec)
		if err != nil {
			t.Fatal(err)
		}
		f, err := train.New(spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		c := &checkpoint{}
		for p.keep(c, f); f.Step() < spec.Steps-3; p.keep(c, f) {
			if err := f.Advance(1); err != nil {
				t.Fatal(err)
			}
		}
		c.now = f.Snapshot()
		b := encodeCheckpoint(p, c)
		got, q, err := decodeCheckpoint(bytes.NewReader(b), int64(len(b)), p.Address)
		if err != nil || !reflect.DeepEqual(got, c) || !reflect.DeepEqual(q, p) {
			t.Errorf("%s: %+v, %v, want %+v", spec.Description(), got, err, c)
		}
		for _, n := range []int64{0, 1 << 12} { // readable bytes
			_, _, err := decodeCheckpoint(broken{bytes.NewReader(b), n}, int64(len(b)), p.Address)
			if !errors.Is(err, errBroken) {
				t.Errorf("%s, %d bytes: %v, want %v", spec.Description(), n, err, errBroken)
			}
		}
	}
}

// broken is a file of which so many bytes can be read.
type broken struct {
	io.ReaderAt
	n int64
}

var errBroken = errors.New("it cannot be read")

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.n {
		return 0, errBroken
	}
	return b.ReaderAt.ReadAt(p, at)
}

// A run.json and the first line of a checkpoint are read up to 16 MiB.
func TestEndlessLineIsNotRead(t *testing.T) {
	var read int64
	_, _, err := decodeCheckpoint(zeros{&read}, 200<<30, Address(testSpec))
	if err == nil || read != 16<<20+files.SumLine {
		t.Errorf("%v, after %d bytes", err, read)
	}
	s := testStore(t.TempDir())
	path, _ := storedFile(t, s, manifestName)
	if err := os.Truncate(path, 16<<20+1); err != nil {
		t.Fatal(err)
	}
	_, err = s.Load(Address(testSpec))
	property.Mentions(t, err, path+" refused: 16777217 bytes, want at most 16777216")
}

// zeros is a file without an end that notes how far it is read.
type zeros struct{ read *int64 }

func (z zeros) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	*z.read = max(*z.read, at+int64(len(p)))
	return len(p), nil
}
