package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"learncausal/internal/files"
	"learncausal/pkg/model"
	"learncausal/pkg/train"
)

var testSpec = train.Spec{
	Task:  train.Task1{Parents: []int{-1, 0, 0, 2, -1, 4, -1}, States: 3, Prior: "dirichlet(0.1)"},
	Model: train.Disentangled{Heads: [2]int{1, 1}}, Optimiser: train.SGD{Rate: 1, Schedule: train.Cosine},
	Batch: 32, Steps: 300, Seed: 7, Test: 200, Every: 50,
}

var multiSpec = train.Spec{
	Task: train.Task2{
		Parents: [][]int{{}, {}, {0, 1}, {2, 0}, {3, 1}}, States: 2, Prior: "dirichlet(0.1)", UniformRoots: true,
	},
	Model:     train.Disentangled{Heads: [2]int{2, 1}, Init: 1e-2},
	Optimiser: train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 1e-4},
	Batch:     16, Steps: 80, Test: 32, Every: 20,
}

func mlpSpec(m train.MLP) train.Spec {
	s := testSpec
	s.Steps, s.Model, s.Optimiser = 80, m, train.AdamW{Rate: 0.01, Schedule: train.Cosine, Decay: 2e-4}
	return s
}

func testStore(dir string) *Store { return &Store{Dir: dir, interval: time.Hour} }

func get(t *testing.T, s *Store, opt Options) *Run { return getSpec(t, s, testSpec, opt) }

func getSpec(t *testing.T, s *Store, spec train.Spec, opt Options) *Run {
	t.Helper()
	r, err := s.Get(context.Background(), spec, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// folder returns the files of the one run stored in dir.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	found, err := filepath.Glob(filepath.Join(dir, "????????????????"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s holds the runs %q", dir, found)
	}
	dir = found[0]
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

func TestLoadingEqualsTraining(t *testing.T) {
	dir := t.TempDir()
	trained := get(t, testStore(dir), Options{})
	loaded := get(t, testStore(dir), Options{Workers: 3})
	if trained.Origin != Trained || loaded.Origin != Loaded {
		t.Errorf("origins %q and %q", trained.Origin, loaded.Origin)
	}
	f, err := train.New(testSpec, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []int{13, 113, 213, 263, 300} {
		f.Advance(step - f.Step())
		for _, r := range []*Run{trained, loaded} {
			if m := r.Milestones[i]; !reflect.DeepEqual(f.Snapshot(), m) {
				t.Errorf("milestone %d: step %d, %s", i, m.Step, differentWeights(f.Snapshot(), m))
			}
		}
	}
	if !reflect.DeepEqual(loaded.Final, f.Snapshot()) || !reflect.DeepEqual(loaded.Curve, f.Snapshot().Curve) {
		t.Error("the end of the run is not the last milestone")
	}
	if _, err := os.Stat(filepath.Join(dir, ".unfinished", trained.Address)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("scratch files left behind: %v", err)
	}
}

// A run of AdamW keeps the moments from which its last stretch is replayed.
func TestRunOfAdamWIsReplayed(t *testing.T) {
	spec := multiSpec
	dir := t.TempDir()
	if _, err := Open(dir).Get(t.Context(), spec, Options{}); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir).Get(t.Context(), spec, Options{})
	if err != nil || run.Origin != Loaded {
		t.Fatal(run, err)
	}
	replayAll(t, run, "[0-10 10-30 30-50 50-70 70-80]", "[0-10 10-20 30-40 50-60 70-80]")
	for _, c := range []struct {
		milestone int
		want      string
	}{{0, "steps 0-10: at step 10 v-W[1,1] "}, {1, "steps 10-30: at step 30 v-W[1,1] "}, {3, "at step 70 v-W[1,1] "}} {
		at := &run.Milestones[c.milestone].Moments[1].(*model.Weights).W.RawMatrix().Data[3]
		before := *at
		*at *= 1.001
		if err := run.Replay(t.Context(), 2, run.Segments()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("an altered moment: %v, want %s", err, c.want)
		}
		*at = before
	}
	if _, err := Open(dir).Get(t.Context(), spec, Options{Fresh: true}); err != nil {
		t.Error(err)
	}
}

// A run of the standard transformer keeps its embeddings, fixed or not.
func TestRunOfMLPIsReplayed(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		spec := mlpSpec(train.MLP{Width: 6, FixedEmbeddings: fixed})
		dir := t.TempDir()
		if _, err := Open(dir).Get(t.Context(), spec, Options{}); err != nil {
			t.Fatal(err)
		}
		run, err := Open(dir).Get(t.Context(), spec, Options{})
		if err != nil || run.Origin != Loaded {
			t.Fatal(run, err)
		}
		replayAll(t, run, "[0-40 40-70 70-80]", "[0-10 40-50 70-80]")
		run.Milestones[1].Weights.(*model.MLP).E.RawMatrix().Data[3] *= 1.001
		if err := run.Replay(t.Context(), 2, run.Stretches()); err == nil {
			t.Error("an altered embedding went unseen")
		}
	}
}

// replayAll replays all of a run, and its stretches.
func replayAll(t *testing.T, run *Run, segments, stretches string) {
	t.Helper()
	for want, parts := range map[string][]Segment{segments: run.Segments(), stretches: run.Stretches()} {
		if got := fmt.Sprint(parts); got != want {
			t.Errorf("parts %s, want %s", got, want)
		}
		if err := run.Replay(t.Context(), 2, parts); err != nil {
			t.Error(err)
		}
	}
}

// leaves calls f after each change of one field of v, and of the structs and
// interfaces in it, which is then undone.
func leaves(v reflect.Value, name string, f func(name string)) {
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), name+"."+v.Type().Field(i).Name, f)
		}
		return
	case reflect.Interface:
		part := reflect.New(v.Elem().Type()).Elem()
		part.Set(v.Elem())
		leaves(part, name, func(name string) {
			v.Set(part)
			f(name)
		})
		v.Set(old)
		return
	case reflect.Array:
		for i := range v.Len() {
			leaves(v.Index(i), fmt.Sprintf("%s[%d]", name, i), f)
		}
		return
	case reflect.Slice:
		v.Set(v.Slice(0, v.Len()-1))
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(1 << 63)
	case reflect.Float64:
		v.SetFloat(math.Nextafter(v.Float(), 2))
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		panic("runs: a field of kind " + v.Kind().String())
	}
	f(name)
	v.Set(old)
}

func TestAddressDependsOnEveryField(t *testing.T) {
	seen := map[string]string{}
	for name, spec := range map[string]train.Spec{
		"one": testSpec, "multi": multiSpec, "mlp": mlpSpec(train.MLP{Width: 6}),
	} {
		n := len(seen)
		check := func(name string) {
			a := Address(spec)
			if other, ok := seen[a]; ok || len(a) != 16 {
				t.Errorf("changing %s: address %s, that of %s", name, a, other)
			}
			seen[a] = name
		}
		check(name)
		leaves(reflect.ValueOf(&spec).Elem(), name, check)
		if n = len(seen) - n; n < 14 {
			t.Errorf("%s: %d addresses", name, n)
		}
	}
	id, err := identify(testSpec)
	if err != nil {
		t.Fatal(err)
	}
	id.Version += "x"
	if a := sum256(must(json.Marshal(id.identity)))[:16]; seen[a] != "" {
		t.Error("the version is not part of the address")
	}
	for _, change := range []func(*train.Spec){
		func(s *train.Spec) { s.Optimiser = train.SGD{Rate: math.NaN(), Schedule: train.Constant} },
		func(s *train.Spec) { s.Model = train.Disentangled{} },
		func(s *train.Spec) { *s = train.Spec{} },
	} {
		bad := testSpec
		change(&bad)
		if _, err := identify(bad); err == nil || !strings.Contains(err.Error(), "has no address") {
			t.Errorf("%+v: %v, want no address", bad, err)
		}
		want := "runs: " + bad.Validate().Error()
		if _, err := testStore(t.TempDir()).Get(context.Background(), bad, Options{}); err == nil || err.Error() != want {
			t.Errorf("Get gave the error %v, want %s", err, want)
		}
	}
}

// The runs of the repository keep their addresses: the JSON of a spec has not changed.
func TestStoredRunsKeepTheirAddresses(t *testing.T) {
	paths, err := filepath.Glob("../../runs/*/" + manifestName)
	if err != nil || len(paths) < 51 {
		t.Fatalf("%d stored runs, want at least 51; %v", len(paths), err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var stored struct {
			Address, Experiment, Version string
			Spec                         json.RawMessage
		}
		if err := json.Unmarshal(b, &stored); err != nil {
			t.Fatal(path, err)
		}
		var spec train.Spec
		if err := json.Unmarshal(stored.Spec, &spec); err != nil {
			t.Fatal(path, err)
		}
		if err := spec.Validate(); err != nil {
			t.Error(path, err)
		}
		id, err := identify(spec)
		if err != nil {
			t.Fatal(path, err)
		}
		if id.Address != filepath.Base(filepath.Dir(path)) || id.Address != stored.Address || id.Experiment != stored.Experiment {
			t.Errorf("%s: address %s of %q, stored under %s as %q",
				path, id.Address, id.Experiment, stored.Address, stored.Experiment)
		}
	}
}

// A written file has the mode of one that is created, and stands alone.
func TestWrittenFileIsLikeACreatedOne(t *testing.T) {
	dir := t.TempDir()
	created, err := os.Create(filepath.Join(dir, "created"))
	if err != nil {
		t.Fatal(err)
	}
	created.Close()
	path := filepath.Join(dir, "new", "written")
	for _, text := range []string{"first", "second"} {
		if err := files.Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("wrote %q, read %q, %v", text, b, err)
		}
	}
	for name, like := range map[string]string{path: created.Name(), filepath.Dir(path): dir} {
		want, err1 := os.Stat(like)
		got, err2 := os.Stat(name)
		if err := errors.Join(err1, err2); err != nil || got.Mode() != want.Mode() {
			t.Errorf("%s: mode %v, want %v; %v", name, got.Mode(), want.Mode(), err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// countdown is a context that is cancelled when it is asked for the n-th time.
type countdown struct {
	context.Context
	n int
}

func (c *countdown) Err() error {
	if c.n--; c.n <= 0 {
		return context.Canceled
	}
	return nil
}

func TestStoppedRunEndsInTheSameBytes(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	get(t, testStore(whole), Options{})
	s, at := testStore(parts), 0
	for _, stop := range []int{0, 1, 36, 37, 38, 150, 263, 264, 299} {
		_, err := s.Get(&countdown{context.Background(), stop - at + 1}, testSpec, Options{})
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), fmt.Sprintf("at step %d of 300", stop)) {
			t.Fatalf("stop at %d: %v", stop, err)
		}
		at = stop
	}
	get(t, s, Options{})
	if !reflect.DeepEqual(folder(t, whole), folder(t, parts)) {
		t.Error("the bytes of a run depend on where it was stopped")
	}
}

// onUpdate is a Meter that calls a function.
type onUpdate func()

func (f onUpdate) Update(int, int, string) { f() }
func (f onUpdate) Done(string)             {}

// A run whose checkpoint cannot be written, when it is stopped or on the way, does not
// say that it is kept.
func TestCheckpointThatCannotBeWrittenIsAnError(t *testing.T) {
	for name, interval := range map[string]time.Duration{"stopped": time.Hour, "on the way": 0} {
		dir := t.TempDir()
		work := filepath.Join(dir, ".unfinished", Address(testSpec))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		meter := onUpdate(func() {
			if err := os.WriteFile(work, nil, 0o666); err != nil { // in the place of the folder
				t.Error(err)
			}
			if name == "stopped" {
				cancel()
			}
		})
		_, err := (&Store{Dir: dir, interval: interval}).Get(ctx, testSpec, Options{Meter: meter})
		if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), work) {
			t.Errorf("%s: %v, want an error that names %s", name, err, work)
		}
	}
}

func TestCheckpointsHoldEveryModel(t *testing.T) {
	for name, spec := range map[string]train.Spec{
		"multi": multiSpec, "mlp": mlpSpec(train.MLP{Width: 6, FixedEmbeddings: true}),
	} {
		whole, parts := t.TempDir(), t.TempDir()
		getSpec(t, testStore(whole), spec, Options{})
		_, err := testStore(parts).Get(&countdown{context.Background(), 21}, spec, Options{})
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "at step 20 of 80") {
			t.Fatalf("%s: %v", name, err)
		}
		getSpec(t, testStore(parts), spec, Options{})
		if !reflect.DeepEqual(folder(t, whole), folder(t, parts)) {
			t.Errorf("%s: the bytes of a run depend on where it was stopped", name)
		}
	}
}

func TestDamageIsRefused(t *testing.T) {
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	cut := func(b []byte) []byte { return b[:len(b)-1] }
	empty := func(b []byte) []byte { return nil }
	foreign := func(b []byte) []byte { return []byte("dear diary\n") }
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
	}
	address, version := Address(testSpec), fmt.Sprintf("%q", train.Version)
	other := testSpec
	other.Seed++
	for _, c := range []struct {
		file   string
		damage func([]byte) []byte
		want   string
	}{
		{"checkpoint", flip, "altered"},
		{"checkpoint", cut, "truncated"},
		{"checkpoint", empty, "second line"},
		{"checkpoint", foreign, "second line"},
		{"checkpoint", replace(address, "0123456789abcdef"), "it has address \"0123456789abcdef\""},
		{"checkpoint", replace(`"version":`+version, `"version":"0"`), `version "0"`},
		{"run.json", flip, ""},
		{"run.json", cut, "altered"},
		{"run.json", empty, "not the description"},
		{"run.json", foreign, "not the description"},
		{"run.json", replace("  ", " "), "altered"},
		{"run.json", replace(address, "0123456789abcdef"), "address \"0123456789abcdef\""},
		{"run.json", replace(`"seed":7`, `"seed":8`), "describes the run " + Address(other)},
		{"run.json", replace(`"every":50`, `"every":50,"embeddings":"fixed"`), "width is 0"},
		{"run.json", replace(`"version": `+version, `"version": "0"`), `version "0"`},
		{"curve.csv", flip, "altered"},
		{"curve.csv", cut, "truncated"},
		{"attention.csv", flip, "altered"},
		{"weights-13.npz", flip, "altered"},
		{"weights-263.npz", empty, "truncated"},
		{"weights-300.npz", cut, "truncated"},
		{"weights-300.npz", foreign, "altered"},
	} {
		s := testStore(t.TempDir())
		path := filepath.Join(s.Dir, address, c.file)
		if c.file == "checkpoint" {
			path = filepath.Join(s.Dir, ".unfinished", address, c.file)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			s.Get(ctx, testSpec, Options{})
		} else {
			get(t, s, Options{})
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(b)
		damaged := c.damage(b)
		if bytes.Equal(damaged, before) {
			t.Fatalf("%s: the damage %q does nothing", c.file, c.want)
		}
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, fresh := range []bool{false, true} {
			_, err = s.Get(context.Background(), testSpec, Options{Fresh: fresh})
			if err == nil || !strings.Contains(err.Error(), path+" refused: ") || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "delete") {
				t.Errorf("%s, %q: %v", c.file, c.want, err)
			}
		}
		if b, _ := os.ReadFile(path); !bytes.Equal(b, damaged) {
			t.Errorf("%s, %q: the file was written over", c.file, c.want)
		}
		os.WriteFile(path, before, 0o666)
		os.WriteFile(filepath.Join(filepath.Dir(path), "."+c.file+"17"), damaged, 0o666) // remains of a crash are ignored
		os.WriteFile(filepath.Join(filepath.Dir(path), "notes.txt"), damaged, 0o666)
		get(t, s, Options{})
	}
}

// forge writes a run into the folder dir, with sums that are right.
func forge(t *testing.T, dir string, r *Run) {
	t.Helper()
	if err := writeFiles(t.TempDir()+"/~", dir, r.encode()); err != nil {
		t.Fatal(err)
	}
}

func TestMissingFileIsRefused(t *testing.T) {
	for _, name := range []string{"run.json", "curve.csv", "attention.csv", "weights-263.npz"} {
		s := testStore(t.TempDir())
		path := filepath.Join(s.Dir, get(t, s, Options{}).Address, name)
		os.Remove(path)
		if _, err := s.Get(context.Background(), testSpec, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestOnlyOneTrains(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	origins := map[Origin]int{}
	var mutex sync.Mutex
	for range 4 {
		group.Go(func() {
			r, err := testStore(dir).Get(context.Background(), testSpec, Options{Workers: 1})
			if err != nil {
				t.Error(err)
				return
			}
			mutex.Lock()
			defer mutex.Unlock()
			origins[r.Origin]++
		})
	}
	group.Wait()
	if origins[Trained] != 1 || origins[Loaded] != 3 {
		t.Errorf("four askers at once: %v", origins)
	}
}

func TestWaitingCanBeCancelled(t *testing.T) {
	s := testStore(t.TempDir())
	unlock, err := lock(context.Background(), filepath.Join(s.Dir, ".unfinished", Address(testSpec)+".lock"), 1, silent{})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var m notes
	if _, err := s.Get(ctx, testSpec, Options{Meter: &m}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), ".lock") {
		t.Error(err)
	}
	if want := (notes{"0/300 waiting: another process is training this run", "done: waited for another process"}); !slices.Equal(m, want) {
		t.Errorf("the meter showed %q, want %q", m, want)
	}
}

func TestFreshComparesWithTheStoredBytes(t *testing.T) {
	s := childStore(t.TempDir()) // with checkpoints
	if r := get(t, s, Options{Fresh: true}); r.Origin != Trained {
		t.Errorf("nothing was stored, yet the run is %q", r.Origin)
	}
	path := filepath.Join(s.Dir, Address(testSpec), manifestName)
	before, err1 := os.Stat(path)
	r := get(t, s, Options{Fresh: true})
	if r.Origin != Confirmed || r.Final.Weights != r.Milestones[4].Weights {
		t.Errorf("the run is %q, with other weights at its end", r.Origin)
	}
	if after, err2 := os.Stat(path); err1 != nil || err2 != nil || !os.SameFile(before, after) {
		t.Errorf("a run that is as it was is written again, %v, %v", err1, err2)
	}
	// Training begun by another program is not resumed.
	dir := filepath.Join(s.Dir, r.Address)
	work := filepath.Join(s.Dir, ".unfinished", r.Address+"-fresh-")
	if err := files.Write(filepath.Join(work+"0123456789abcdef", checkpointName), []byte("of another program")); err != nil {
		t.Fatal(err)
	}
	if r := get(t, s, Options{Fresh: true}); r.Origin != Confirmed {
		t.Errorf("the run is %q", r.Origin)
	}
	if err := files.Write(filepath.Join(work+must(Program()), checkpointName), []byte("of this one")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), testSpec, Options{Fresh: true}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("what this program has begun was not read: %v", err)
	}
	if err := os.RemoveAll(work + must(Program())); err != nil {
		t.Fatal(err)
	}
	// A run of other arithmetic, whose sums are right.
	r.Milestones[3].Disentangled().W.RawMatrix().Data[0]++
	forge(t, dir, r)
	stored := folder(t, s.Dir)
	for range 2 {
		_, err := s.Get(context.Background(), testSpec, Options{Fresh: true})
		if err == nil || !strings.Contains(err.Error(), `["run.json" "weights-263.npz"] differ`) {
			t.Errorf("a difference was not reported: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(work+must(Program()), checkpointName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the next training would not be from the start: %v", err)
	}
	if !reflect.DeepEqual(stored, folder(t, s.Dir)) {
		t.Error("the stored run was touched")
	}
}

func TestReplayFindsEveryPlantedFault(t *testing.T) {
	s := testStore(t.TempDir())
	r := get(t, s, Options{})
	replayAll(t, r, "[0-13 13-113 113-213 213-263 263-300]", "[0-37 13-50 113-150 213-250 263-300]")
	ulp := func(x *float64) { *x = math.Nextafter(*x, 9) }
	for _, c := range []struct {
		plant func(r *Run)
		want  string
	}{
		{func(r *Run) { ulp(&r.Milestones[0].Disentangled().A[0][0].RawRowView(0)[7]) }, "0-13: at step 13 A1[0,7] "},
		{func(r *Run) { r.Milestones[2].Disentangled().A[1][0].RawMatrix().Data[99] += 0.01 }, "113-213: at step 213 A2[4,19] "},
		{func(r *Run) { ulp(&r.Milestones[4].Disentangled().A[1][0].RawMatrix().Data[99]) }, "263-300: at step 300 A2[4,19] "},
		{func(r *Run) { ulp(&r.Milestones[4].Disentangled().W.RawMatrix().Data[40]) }, "263-300: at step 300 W[13,1] "},
		{func(r *Run) { ulp(&r.Curve[0].Loss) }, "0-13: at step 0 point 0 of the curve"},
		{func(r *Run) { ulp(&r.Curve[3].Loss) }, "113-213: at step 150 point 3 of the curve"},
		{func(r *Run) { ulp(&r.Curve[6].Attention) }, "263-300: at step 300 point 6 of the curve"},
		{func(r *Run) { r.Curve[2].Step++ }, "13-113: at step 100 point 2 of the curve"},
		{func(r *Run) { r.states[1] = r.states[2] }, "13-113: at step 37 the digest of the state"},
		{func(r *Run) { r.states[1] = "0" }, `at step 37 the digest of the state is stored as "0" and replayed as "9`},
		{func(r *Run) { r.states[7] = r.states[6] }, "263-300: at step 300 the digest of the state"},
		{func(r *Run) { ulp(&r.Edges[3].Attention) }, "263-300: at step 300 the attention"},
		{func(r *Run) { r.Edges = r.Edges[1:] }, "263-300: at step 300 the attention"},
		{func(r *Run) { r.Curve = r.Curve[:6] }, "want a run from Get or Load"},
		{func(r *Run) { r.states = r.states[:7] }, "want a run from Get or Load"},
	} {
		r := get(t, s, Options{})
		c.plant(r)
		err := r.Replay(context.Background(), 1, r.Segments())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), r.Address) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Replay(ctx, 1, r.Segments()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, part := range []Segment{{1, 13}, {0, 0}, {0, 12}, {0, 301}, {13, 13}, {300, 300}, {37, 50}, {113, 50}} {
		if err := r.Replay(t.Context(), 1, []Segment{part}); err == nil || !strings.Contains(err.Error(), "want it ") {
			t.Errorf("replay of %v: %v", part, err)
		}
	}
}

func TestShortRunsHaveMilestones(t *testing.T) {
	large := mlpSpec(train.MLP{Width: 80}) // a state of 1.1 MB with its moments
	sized := func(states, positions int) train.Spec {
		spec := testSpec
		spec.Task = train.Task1{Parents: slices.Repeat([]int{-1}, positions), States: states, Prior: "dirichlet(0.1)"}
		return spec
	}
	often := "[4032 8128 12224 16320 20416 24512 28608 32704 32768] [0 64 4096 8192 12288 16384 20480 24576 28672 32768]"
	seldom := "[8128 16320 24512 32704 32768] [0 64 4096 8192 12288 16384 20480 24576 28672 32768]"
	for _, c := range []struct {
		spec         train.Spec
		steps, every int
		want         string
	}{
		{testSpec, 1, 0, "[1] [0 1]"},
		{testSpec, 7, 0, "[7] [0 1 2 3 4 5 6 7]"},
		{testSpec, 7, 7, "[7] [0 7]"},
		{testSpec, 8, 0, "[1 3 5 7 8] [0 1 2 3 4 5 6 7 8]"},
		{testSpec, 8, 8, "[7 8] [0 1 8]"},
		{testSpec, 16, 0, "[2 6 10 14 16] [0 2 4 6 8 10 12 14 16]"},
		{testSpec, 1024, 256, "[192 448 704 960 1024] [0 64 256 512 768 1024]"},
		{testSpec, 1024, 400, "[336 736 960 1024] [0 64 400 800 1024]"},
		{large, 1024, 256, "[448 960 1024] [0 64 256 512 768 1024]"},
		{testSpec, 1 << 14, 1 << 12, "[4032 8128 12224 16320 16384] [0 64 4096 8192 12288 16384]"},
		{testSpec, 1 << 15, 1 << 12, often},
		{sized(24, 8), 1 << 15, 1 << 12, often}, // a state of 8192 numbers, 64 KiB
		{sized(24, 9), 1 << 15, 1 << 12, seldom},
		{large, 1 << 15, 1 << 12, "[16320 32704 32768] [0 64 4096 8192 12288 16384 20480 24576 28672 32768]"},
		{testSpec, 1 << 15, 1 << 14, "[16320 32704 32768] [0 64 16384 32768]"}, // several parts for an evaluation
	} {
		spec := c.spec
		spec.Steps, spec.Every = c.steps, c.every
		p, err := newPlan(spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.milestones, p.marks); got != c.want {
			t.Errorf("%d steps, every %d: milestones and marks %s, want %s", c.steps, c.every, got, c.want)
		}
	}
	for steps := 1 << 10; steps <= 1<<20; steps *= 2 {
		for every := 1 << 6; every <= steps; every *= 4 {
			spec := testSpec
			spec.Steps, spec.Every = steps, every
			p, err := newPlan(spec)
			if err != nil {
				t.Fatal(err)
			}
			for i, at := range p.milestones[1:] {
				if at <= p.milestones[i] {
					t.Errorf("%d steps, every %d: milestones %v, want each after the one before", steps, every, p.milestones)
					break
				}
			}
		}
	}
	long := &Run{Spec: train.Spec{Steps: 1024}}
	if got := fmt.Sprint(long.Stretches(), long.Segments()); got != "[0-64] [0-1024]" {
		t.Errorf("stretches and segments %s of a light run", got)
	}
	spec := testSpec
	spec.Steps, spec.Every = 1<<18, 1
	if _, err := newPlan(spec); err != nil {
		t.Error(err)
	}
	spec.Steps++
	if _, err := newPlan(spec); err == nil || !strings.Contains(err.Error(), "every is 1, which gives 262145 evaluations, want at most 262144") {
		t.Error(err)
	}
}

// By hand: of a state there are two for each milestone, and three more.
func TestMemoryOfARun(t *testing.T) {
	p, err := newPlan(testSpec)
	if err != nil {
		t.Fatal(err)
	}
	const numbers = 10*10 + 20*20 + 40*3 // A1, A2 and W of S = 3, T = 7
	got, err := Memory(testSpec, 2)
	if want := testSpec.Memory(2) + float64((2*len(p.milestones)+3)*8*numbers); err != nil || got != want {
		t.Errorf("%v bytes, %v, want %v", got, err, want)
	}
}

// The memory of a run in addition to its trainer is checked before training.
func TestRunBeyondTheMemoryIsRefused(t *testing.T) {
	spec := mlpSpec(train.MLP{Width: 80})
	whole, err := Memory(spec, 1)
	if err != nil || whole < 1.5*spec.Memory(1) {
		t.Fatalf("%v bytes, %v for the trainer, %v", whole, spec.Memory(1), err)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	for limit, want := range map[float64]string{
		(whole + spec.Memory(1)) / 2: "states that are kept", spec.Memory(1) / 2: "of memory for",
	} {
		debug.SetMemoryLimit(int64(limit))
		dir := t.TempDir()
		_, err := testStore(dir).Get(t.Context(), spec, Options{Workers: 1})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), Address(spec)) {
			t.Errorf("a limit of %v bytes: %v, want %s", limit, err, want)
		}
	}
}

// A run just trained has its weights, even if the stored run has none.
func TestWeightsOfALightRunThatIsConfirmed(t *testing.T) {
	s := testStore(t.TempDir())
	for _, opt := range []Options{{Light: true}, {Light: true, Fresh: true}} {
		run := getSpec(t, s, testSpec, opt)
		if !run.Light() || run.Final.Weights == nil {
			t.Errorf("%+v: light %v, weights %v", opt, run.Light(), run.Final.Weights != nil)
		}
	}
	for address, want := range map[string]bool{Address(testSpec): false, "0123456789abcdef": false} {
		if has, err := s.HasWeights(address); err != nil || has != want {
			t.Errorf("%s has weights: %v, %v", address, has, err)
		}
	}
}

// A store leaves no file open: training, going on from a checkpoint, loading, confirming.
func TestNoFileIsLeftOpen(t *testing.T) {
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("NOT CHECKED: this system does not say which files are open")
		}
		return len(entries)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close some
	dir := t.TempDir()
	getSpec(t, testStore(t.TempDir()), testSpec, Options{}) // opens the files that stay open
	before := open()
	if _, err := testStore(dir).Get(&countdown{t.Context(), 101}, testSpec, Options{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	getSpec(t, testStore(dir), testSpec, Options{})
	work := filepath.Join(dir, ".unfinished", Address(testSpec)) // as a killed process may leave it
	if err := os.MkdirAll(work, 0o777); err != nil {
		t.Fatal(err)
	}
	getSpec(t, testStore(dir), testSpec, Options{})
	if _, err := os.Stat(work); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	getSpec(t, testStore(dir), testSpec, Options{Fresh: true})
	if after := open(); after != before {
		t.Errorf("%d files are open, %d were", after, before)
	}
}

func TestFilesHoldEveryFloat(t *testing.T) {
	w := model.NewWeights(10, 20, 1, 1)
	special := []float64{math.Copysign(0, -1), math.NaN(), math.Inf(-1), 5e-324, math.MaxFloat64, 0.1, 1.0 / 3}
	var curve []train.Point
	var edges []train.Edge
	var steps []int
	for i, x := range special {
		for _, m := range w.Matrices() {
			m.Data[i] = x
		}
		steps = append(steps, 3*i)
		curve = append(curve, train.Point{Step: 3 * i, Loss: special[(i+2)%3*2], Attention: -x})
		edges = append(edges, train.Edge{Child: i, Parent: i, Attention: x})
	}
	b := encodeWeights(matrices(train.Snapshot{Weights: w}))
	if len(b) > 47_000 {
		t.Errorf("a set of weights takes %d bytes", len(b))
	}
	v := model.NewWeights(10, 20, 1, 1)
	if err := decodeWeights(b, matrices(train.Snapshot{Weights: v})); err != nil {
		t.Fatal(err)
	}
	if d := differentWeights(train.Snapshot{Weights: w}, train.Snapshot{Weights: v}); d != "" {
		t.Error(d)
	}
	points, err1 := decodeCurve(encodeCurve(curve), steps)
	pairs, err2 := decodeEdges(encodeEdges(edges), len(edges))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	for i := range special { // a NaN has no payload in a CSV file
		bothNaN := math.IsNaN(special[i]) && math.IsNaN(points[i].Attention) && math.IsNaN(pairs[i].Attention)
		if !bothNaN && (points[i] != curve[i] || pairs[i] != edges[i]) {
			t.Errorf("%v becomes %v, %v becomes %v", curve[i], points[i], edges[i], pairs[i])
		}
	}
	if !bytes.Equal(b, encodeWeights(matrices(train.Snapshot{Weights: v}))) {
		t.Error("two encodings of the same weights")
	}
	other := matrices(train.Snapshot{Weights: model.NewWeights(9, 20, 1, 1)})
	if err := decodeWeights(b, other); err == nil || !strings.Contains(err.Error(), "46186 bytes, want 42576") {
		t.Error(err)
	}
}

func TestManifestIsReadable(t *testing.T) {
	s := testStore(t.TempDir())
	get(t, s, Options{})
	var m struct {
		Version string
		Spec    train.Spec
		States  []string
		Files   map[string]string
	}
	if err := json.Unmarshal([]byte(folder(t, s.Dir)["run.json"]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Version != train.Version || !reflect.DeepEqual(m.Spec, testSpec) || len(m.Files) != 7 || len(m.States) != 8 {
		t.Errorf("%+v", m)
	}
}

func TestMeterLines(t *testing.T) {
	for _, c := range []struct {
		live bool
		want string
	}{
		{true, "\r\x1b[K 50%  a\r\x1b[K 50%  c  50s to go\r\x1b[Kend\n\r\x1b[K  0%  next"},
		{false, " 50%  a\n 60%  d  40s to go\n 65%  g  2m43s to go\nend\n  0%  next\n"},
	} {
		var b bytes.Buffer
		clock := time.Unix(0, 0)
		m := &terminal{w: &b, live: c.live, now: func() time.Time { return clock }}
		at := func(since time.Duration, done int, status string) {
			clock = time.Unix(0, int64(since))
			m.Update(done, 1000, status)
		}
		at(0, 500, "a")
		if c.live {
			at(100*time.Millisecond-1, 501, "b") // too soon
			at(100*time.Millisecond, 501, "c")
		} else {
			at(10*time.Second-1, 600, "b") // too soon
			at(10*time.Second, 599, "c")   // less than 10 %
			at(10*time.Second, 600, "d")
			at(70*time.Second-1, 610, "f") // less than 10 %, less than a minute
			at(70*time.Second, 650, "g")
		}
		m.Done("end")
		at(99*time.Second, 0, "next")
		if b.String() != c.want {
			t.Errorf("live %v:\n%q, want\n%q", c.live, b.String(), c.want)
		}
	}
	for total, want := range map[int]string{0: "  0%  x\n", 1: "100%  x\n"} {
		var b bytes.Buffer
		Terminal(&b).Update(total, total, "x")
		if b.String() != want {
			t.Errorf("%d of %d steps: %q, want %q", total, total, b.String(), want)
		}
	}
}

// notes is a Meter that records its calls.
type notes []string

func (n *notes) Update(done, total int, status string) {
	*n = append(*n, fmt.Sprintf("%d/%d %s", done, total, status))
}
func (n *notes) Done(status string) { *n = append(*n, "done: "+status) }

func TestMeterShowsBeginningAndEnd(t *testing.T) {
	s, bad := testStore(t.TempDir()), testSpec
	bad.Optimiser = train.SGD{Rate: 1e300, Schedule: train.Constant}
	for _, c := range []struct {
		spec        train.Spec
		stop        int // asks of the context
		first, last string
	}{
		{testSpec, 21, "0/300 step 0/300  from the start: 300 steps take about ", "  stopped at step 20/300"},
		{testSpec, 999, "20/300 step 20/300  resumed: 280 steps take about ", "  300 steps  loss 0."},
		{bad, 999, "0/300 step 0/300  from the start: 300 steps take about ", "  diverged at step "},
	} {
		var m notes
		_, _ = s.Get(&countdown{context.Background(), c.stop}, c.spec, Options{Meter: &m})
		last := "done: run " + Address(c.spec) + c.last
		if n := len(m); n < 2 || !strings.HasPrefix(m[0], c.first) || !strings.HasPrefix(m[n-1], last) {
			t.Errorf("the meter showed %q, want %q first and %q at last", m, c.first, last)
		}
	}
}

func TestTerminalsAreDetected(t *testing.T) {
	null, err := os.Open(os.DevNull) // a device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Chmod(0o777); err != nil { // for every user
		t.Fatal(err)
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for w, want := range map[io.Writer]bool{null: true, file: false, closed: false, &bytes.Buffer{}: false} {
		if got := Terminal(w).(*terminal).live; got != want {
			t.Errorf("%T: a terminal is %v, want %v", w, got, want)
		}
	}
}

// Before its first step a run says how many there are and how long they take, long enough
// to be read, and about as long as they then take: a busy machine may take ten times that.
func TestMeterFirstShowsAnEstimateOfTheTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var said []string
	var begun, last time.Time
	var steps int
	var took time.Duration
	m := statusFunc(func(done int, status string) {
		now := time.Now()
		switch said = append(said, status); len(said) {
		case 1:
			begun = now
		case 2:
			steps, took = done, now.Sub(begun)
		default:
			if gap := now.Sub(last); gap < 90*time.Millisecond {
				t.Errorf("after %v the meter is called again, want ten times a second at most", gap)
			}
			cancel()
		}
		last = now
	})
	spec := testSpec
	spec.Steps, spec.Batch = 1<<20, 1<<15
	if _, err := testStore(t.TempDir()).Get(ctx, spec, Options{Meter: m}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`^step 0/1048576  from the start: 1048576 steps take about (\w+) here$`).FindStringSubmatch(said[0])
	if first == nil {
		t.Fatalf("%q", said[0])
	}
	outlook, err := time.ParseDuration(first[1])
	if err != nil {
		t.Fatal(err)
	}
	if took < outlookShown {
		t.Errorf("it was shown for %v, want %v", took, outlookShown)
	}
	if pace := took.Seconds() / float64(steps) * float64(spec.Steps); pace < 0.5*outlook.Seconds() || pace > 10*outlook.Seconds() {
		t.Errorf("%d steps took %v, at which pace all take %.0f s, and %v was said", steps, took, pace, outlook)
	}
}

type statusFunc func(done int, status string)

func (f statusFunc) Update(done, _ int, status string) { f(done, status) }
func (f statusFunc) Done(string)                       {}

func TestDivergenceIsAnErrorAndStoresNothing(t *testing.T) {
	spec := testSpec
	spec.Optimiser = train.SGD{Rate: 1e300, Schedule: train.Cosine}
	s := testStore(t.TempDir())
	_, err := s.Get(context.Background(), spec, Options{})
	if err == nil || !strings.Contains(err.Error(), "diverged: the loss of step") {
		t.Fatalf("a rate of 1e300 gave the error %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, Address(spec))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a diverged run was stored: %v", err)
	}
}

// A graph without edges has no attention to average, and its runs replay too.
func TestRunWithoutEdgesIsReplayed(t *testing.T) {
	for _, parents := range [][]int{{-1, -1}, {-1, -1, -1, -1, -1}} {
		spec := testSpec
		spec.Task, spec.Steps = train.Task1{Parents: parents, States: 3, Prior: "dirichlet(0.1)"}, 40
		s := testStore(t.TempDir())
		getSpec(t, s, spec, Options{})
		run := getSpec(t, s, spec, Options{})
		if run.Origin != Loaded || !math.IsNaN(run.Curve[0].Attention) {
			t.Fatalf("%s, attention %v", run.Origin, run.Curve[0].Attention)
		}
		replayAll(t, run, "[0-35 35-40]", "[0-5 35-40]")
	}
}

// However a spec is written, it is one run.
func TestOneRunHasOneAddress(t *testing.T) {
	want := testSpec
	want.Steps, want.Test, want.Every = 80, 4096, 10
	other := want
	other.Task = train.Task1{Parents: testSpec.Task.(train.Task1).Parents, States: 3, Prior: "dirichlet(1e-1)"}
	other.Test, other.Every = 0, 0
	if a, b := Address(want), Address(other); a != b {
		t.Errorf("addresses %s and %s", a, b)
	}
	s := testStore(t.TempDir())
	getSpec(t, s, want, Options{})
	if run := getSpec(t, s, other, Options{}); run.Origin != Loaded || !reflect.DeepEqual(run.Spec, want) {
		t.Errorf("%s %+v", run.Origin, run.Spec)
	}
	own := want
	own.Task = train.OwnTask{
		Parents: make([][]int, 3), States: 2, Sampler: func() train.Sampler { return nil },
	}
	if _, err := s.Get(context.Background(), own, Options{}); err == nil || !strings.Contains(err.Error(), "an own task has no JSON") {
		t.Errorf("an own task was stored: %v", err)
	}
}

// A run whose weights are no numbers after its last step is not stored either.
func TestDivergenceAtTheEndIsAnErrorToo(t *testing.T) {
	spec := testSpec
	spec.Optimiser = train.SGD{Rate: 1e300, Schedule: train.Constant}
	f, err := train.New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	f.Advance(spec.Steps)
	spec.Steps = f.Step() - 1
	if _, err := testStore(t.TempDir()).Get(context.Background(), spec, Options{}); err == nil || !strings.Contains(err.Error(), "diverged") {
		t.Errorf("diverged after %d steps: %v", spec.Steps, err)
	}
}

// A run that differs from its spec, or cannot be trained, is not replayed.
func TestReplayOfNoRunIsAnError(t *testing.T) {
	s := testStore(t.TempDir())
	r := get(t, s, Options{})
	for want, change := range map[string]func(r *Run){
		"has no digests of its states":                                    func(r *Run) { r.states = nil },
		"runs: spec: batch is 0":                                          func(r *Run) { r.Spec.Batch = 0 },
		"runs: run " + r.Address + ": train: about 1.6e+02 GiB of memory": func(r *Run) { r.Spec.Batch = 1 << 30 },
		"runs: run " + r.Address + ": train: snapshot at step 13 is of another model": func(r *Run) {
			r.Milestones[0].Weights = model.NewWeights(2, 2, 1, 1)
		},
		"runs: replay of run " + r.Address + ": train: diverged": func(r *Run) {
			r.Spec.Optimiser = train.SGD{Rate: 1e308, Schedule: train.Constant}
		},
	} {
		r := get(t, s, Options{})
		change(r)
		if err := r.Replay(t.Context(), 1, r.Segments()[1:]); err == nil || !strings.HasPrefix(err.Error(), "runs: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
