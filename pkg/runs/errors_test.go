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
	"time"

	"learncausal/pkg/train"
)

func TestCheckpointsAreHalfAMinuteApart(t *testing.T) {
	if s := Open("a"); s.Dir != "a" || s.interval != 30*time.Second {
		t.Errorf("%+v", s)
	}
}

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
		if makes := name == "lock" || name == "writeFile"; makes != (at.Op == "mkdir") || (name == "lock") == strings.HasPrefix(err.Error(), "runs: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who has waited for another process loads the run that it has stored, or refuses it, and
// does not train.
func TestRunStoredMeanwhileIsLoaded(t *testing.T) {
	whole := get(t, testStore(t.TempDir()), Options{}).encode()
	address := Address(testSpec)
	for name, want := range map[string]string{"": "", curveName: "curve.csv refused: "} {
		s := testStore(t.TempDir())
		unlock, err := lock(t.Context(), filepath.Join(s.Dir, ".unfinished", address+".lock"), 1, silent{})
		if err != nil {
			t.Fatal(err)
		}
		files, calls := maps.Clone(whole), 0
		if name != "" {
			files[name] = nil
		}
		m := onUpdate(func() {
			calls++
			if err := errors.Join(writeFiles(t.TempDir()+"/~", filepath.Join(s.Dir, address), files), unlock()); err != nil {
				t.Error(err)
			}
		})
		r, err := s.Get(t.Context(), testSpec, Options{Meter: m})
		if calls != 1 {
			t.Errorf("%d calls of the meter, want one for the waiting", calls)
		}
		if want == "" && (err != nil || r.Origin != Loaded) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v, %v, want the error %q", r, err, want)
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

// A run that takes more memory than there may be is refused when it is to be trained.
func TestRunBeyondMemoryIsAnError(t *testing.T) {
	spec := testSpec
	spec.Batch = 1 << 30
	want := "runs: run " + Address(spec) + ": train: about 1.6e+02 GiB of memory"
	if _, err := testStore(t.TempDir()).Get(t.Context(), spec, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A run.json is read up to 16 MiB and not a byte more, and one that is none is no run.
func TestManifestOfAnySizeIsNotRead(t *testing.T) {
	s := testStore(t.TempDir())
	r := get(t, s, Options{})
	path := filepath.Join(s.Dir, r.Address, manifestName)
	for _, c := range []struct {
		size           int64
		loaded, wanted string
	}{
		{16<<20 + 1, "runs: " + path + " refused: 16777217 bytes, want at most 16777216", "16777217 bytes, want at most 16777216"},
		{7, "runs: " + path + " refused: not the description of a run: ", "refused: not the description of a run: "},
	} {
		if err := os.Truncate(path, c.size); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(r.Address); err == nil || !strings.HasPrefix(err.Error(), c.loaded) {
			t.Errorf("%v, want %s", err, c.loaded)
		}
		if _, err := s.Get(t.Context(), testSpec, Options{}); err == nil || !strings.Contains(err.Error(), c.wanted) {
			t.Errorf("%v, want %s", err, c.wanted)
		}
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
			t.Errorf("%s: %+v, %v, want %+v", spec.Experiment(), got, err, c)
		}
		for _, n := range []int64{0, 1 << 12} { // readable bytes
			_, _, err := decodeCheckpoint(broken{bytes.NewReader(b), n}, int64(len(b)), p.Address)
			if !errors.Is(err, errBroken) {
				t.Errorf("%s, %d bytes: %v, want %v", spec.Experiment(), n, err, errBroken)
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

// The first line of a checkpoint is looked for in 16 MiB.
func TestEndlessLineIsNotRead(t *testing.T) {
	var read int64
	if _, _, err := decodeCheckpoint(zeros{&read}, 200<<30, Address(testSpec)); err == nil || read != 16<<20+SumLine {
		t.Errorf("%v, after %d bytes", err, read)
	}
}

// zeros is a file without an end that notes how far it is read.
type zeros struct{ read *int64 }

func (z zeros) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	*z.read = max(*z.read, at+int64(len(p)))
	return len(p), nil
}

func TestEdgesIncrease(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"0,0,1\n1,0,0.5\n1,1,0.5\n2,0,0.25\n", ""},
		{"1,0,1\n1,0,1\n", `line "1,0,1", want increasing child and parent`},
		{"1,1,1\n1,0,1\n", `line "1,0,1", want increasing child and parent`},
		{"2,0,1\n1,1,1\n", `line "1,1,1", want increasing child and parent`},
		{"1,0,1\n2,0,1\n1,1,1\n", `line "1,1,1", want increasing child and parent`},
		{"3,0,1\n", "with 0 <= parent <= child < 3"},
	} {
		b := []byte(attentionHeader + "\n" + c.lines)
		edges, err := decodeEdges(b, 3)
		if c.want == "" && (err != nil || len(edges) != 4) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, %v, want the error %q", c.lines, edges, err, c.want)
		}
	}
}

func TestMustPanicsOnAnError(t *testing.T) {
	defer func() {
		if p := recover(); p != "runs: "+errBroken.Error() {
			t.Errorf("panic %v, want the error", p)
		}
	}()
	if x := must(7, nil); x != 7 {
		t.Errorf("%d, want 7", x)
	}
	must(7, errBroken)
}
