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
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"learncausal/internal/files"
	"learncausal/internal/property"
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
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			break
		}
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
	if a := files.Sum(must(json.Marshal(id.identity)))[:16]; seen[a] != "" {
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
		if id.Address != filepath.Base(filepath.Dir(path)) || id.Address != stored.Address ||
			id.Experiment != stored.Experiment {
			t.Errorf("%s: address %s of %q, stored under %s as %q",
				path, id.Address, id.Experiment, stored.Address, stored.Experiment)
		}
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

// A damaged file is refused by name and never overwritten. Remains of a crash are ignored.
func TestDamageIsRefused(t *testing.T) {
	cut := func(b []byte) []byte { return b[:len(b)-1] }
	empty := func(b []byte) []byte { return nil }
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
		{checkpointName, cut, "truncated"},
		{checkpointName, empty, "second line"},
		{checkpointName, replace(address, "0123456789abcdef"), `address "0123456789abcdef"`},
		{checkpointName, replace(`"version":`+version, `"version":"0"`), `version "0"`},
		{manifestName, cut, "altered"},
		{manifestName, empty, "not the description"},
		{manifestName, replace(address, "0123456789abcdef"), `address "0123456789abcdef"`},
		{manifestName, replace(`"seed":7`, `"seed":8`), "describes the run " + Address(other)},
		{manifestName, replace(`"every":50`, `"every":50,"embeddings":"fixed"`), "width is 0"},
		{curveName, cut, "truncated"},
		{"weights-263.npz", empty, "truncated"},
	} {
		s := testStore(t.TempDir())
		path, before := storedFile(t, s, c.file)
		damaged := c.damage(bytes.Clone(before))
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, fresh := range []bool{false, true} {
			_, err := s.Get(t.Context(), testSpec, Options{Fresh: fresh})
			property.Mentions(t, err, path+" refused: ", c.want, "delete")
		}
		if b, _ := os.ReadFile(path); !bytes.Equal(b, damaged) {
			t.Errorf("%s, %q: the file was written over", c.file, c.want)
		}
		os.WriteFile(path, before, 0o666)
		os.WriteFile(filepath.Join(filepath.Dir(path), "."+c.file+"17"), damaged, 0o666)
		get(t, s, Options{})
	}
	for _, name := range []string{manifestName, curveName, attentionName, "weights-263.npz"} {
		s := testStore(t.TempDir())
		path, _ := storedFile(t, s, name)
		os.Remove(path)
		_, err := s.Get(t.Context(), testSpec, Options{})
		property.Mentions(t, err, path)
	}
}

// forge writes a run into the folder dir, with sums that are right.
func forge(t *testing.T, dir string, r *Run) {
	t.Helper()
	if err := writeFiles(t.TempDir()+"/~", dir, r.encode()); err != nil {
		t.Fatal(err)
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
	if left, err := os.ReadDir(filepath.Join(dir, ".unfinished")); err != nil || len(left) > 0 {
		t.Errorf("locks that are left: %v, %v", left, err)
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
	if _, err := s.Get(ctx, testSpec, Options{Meter: &m}); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), ".lock") {
		t.Error(err)
	}
	if want := (notes{
		"0/300 waiting: another process is training this run",
		"done: waited for another process",
	}); !slices.Equal(m, want) {
		t.Errorf("the meter showed %q, want %q", m, want)
	}
}

func TestFreshComparesWithTheStoredBytes(t *testing.T) {
	s := childStore(t.TempDir()) // with checkpoints
	if r := get(t, s, Options{Fresh: true}); r.Origin != Trained {
		t.Errorf("nothing was stored, yet the run is %q", r.Origin)
	}
	dir := filepath.Join(s.Dir, Address(testSpec))
	work := filepath.Join(s.Dir, ".unfinished", Address(testSpec)+"-fresh-")
	begun := func(program string) { // leaves a file in the place of its checkpoint
		if err := files.Write(filepath.Join(work+program, checkpointName), []byte("begun")); err != nil {
			t.Fatal(err)
		}
	}
	before, err1 := os.Stat(filepath.Join(dir, manifestName))
	begun("0123456789abcdef")
	r := get(t, s, Options{Fresh: true})
	if r.Origin != Confirmed || r.Final.Weights != r.Milestones[4].Weights {
		t.Errorf("the run is %q, with other weights at its end", r.Origin)
	}
	if after, err2 := os.Stat(filepath.Join(dir, manifestName)); err1 != nil || err2 != nil ||
		!os.SameFile(before, after) {
		t.Errorf("an equal run is written again, %v, %v", err1, err2)
	}
	begun(must(Program()))
	_, err := s.Get(t.Context(), testSpec, Options{Fresh: true})
	property.Mentions(t, err, "refused")
	if err := os.RemoveAll(work + must(Program())); err != nil {
		t.Fatal(err)
	}
	r.Milestones[3].Disentangled().W.RawMatrix().Data[0]++ // other arithmetic, right sums
	forge(t, dir, r)
	stored := folder(t, s.Dir)
	for range 2 {
		_, err := s.Get(t.Context(), testSpec, Options{Fresh: true})
		property.Mentions(t, err, `["run.json" "weights-263.npz"] differ`)
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
		{func(r *Run) { ulp(&r.Milestones[2].Disentangled().A[1][0].RawRowView(4)[19]) }, "at step 213 A2[4,19] "},
		{func(r *Run) { ulp(&r.Milestones[4].Disentangled().W.RawRowView(13)[1]) }, "263-300: at step 300 W[13,1] "},
		{func(r *Run) { ulp(&r.Curve[0].Loss) }, "0-13: at step 0 point 0 of the curve"},
		{func(r *Run) { ulp(&r.Curve[6].Attention) }, "263-300: at step 300 point 6 of the curve"},
		{func(r *Run) { r.Curve[2].Step++ }, "13-113: at step 100 point 2 of the curve"},
		{func(r *Run) { r.states[1] = "0" }, `at step 37 the digest of the state is stored as "0" and replayed as "9`},
		{func(r *Run) { r.states[7] = r.states[6] }, "263-300: at step 300 the digest of the state"},
		{func(r *Run) { r.Edges = r.Edges[1:] }, "263-300: at step 300 the attention"},
		{func(r *Run) { r.Curve = r.Curve[:6] }, "want a run from Get or Load"},
	} {
		r := get(t, s, Options{})
		c.plant(r)
		property.Mentions(t, r.Replay(t.Context(), 1, r.Segments()), c.want, r.Address)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Replay(ctx, 1, r.Segments()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, part := range []Segment{{1, 13}, {0, 0}, {0, 12}, {0, 301}, {300, 300}, {37, 50}, {113, 50}} {
		property.Mentions(t, r.Replay(t.Context(), 1, []Segment{part}), "want it ")
	}
}

func TestShortRunsHaveMilestones(t *testing.T) {
	large := mlpSpec(train.MLP{Width: 80}) // a state of 1.1 MB with its moments
	sized := func(positions int) train.Spec {
		spec := testSpec
		spec.Task = train.Task1{Parents: slices.Repeat([]int{-1}, positions), States: 24, Prior: "dirichlet(0.1)"}
		return spec
	}
	evaluations := " [0 64 4096 8192 12288 16384 20480 24576 28672 32768]"
	for _, c := range []struct {
		spec         train.Spec
		steps, every int
		want         string
	}{
		{testSpec, 1, 0, "[1] [0 1]"},
		{testSpec, 7, 0, "[7] [0 1 2 3 4 5 6 7]"},
		{testSpec, 8, 0, "[1 3 5 7 8] [0 1 2 3 4 5 6 7 8]"},
		{testSpec, 8, 8, "[7 8] [0 1 8]"},
		{testSpec, 1024, 256, "[192 448 704 960 1024] [0 64 256 512 768 1024]"},
		{testSpec, 1024, 400, "[336 736 960 1024] [0 64 400 800 1024]"},
		{large, 1024, 256, "[448 960 1024] [0 64 256 512 768 1024]"},
		{sized(8), 1 << 15, 1 << 12, "[4032 8128 12224 16320 20416 24512 28608 32704 32768]" + evaluations}, // 64 KiB
		{sized(9), 1 << 15, 1 << 12, "[8128 16320 24512 32704 32768]" + evaluations},
		{large, 1 << 15, 1 << 12, "[16320 32704 32768]" + evaluations},
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
	long := &Run{Spec: train.Spec{Steps: 1024}}
	if got := fmt.Sprint(long.Stretches(), long.Segments()); got != "[0-64] [0-1024]" {
		t.Errorf("stretches and segments %s of a light run", got)
	}
	spec := testSpec
	spec.Steps, spec.Every = 1<<18, 1
	_, err := newPlan(spec)
	spec.Steps++
	_, above := newPlan(spec)
	if property.Mentions(t, above, "every is 1, which gives 262145 evaluations"); err != nil {
		t.Error(err)
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
		_, err := testStore(t.TempDir()).Get(t.Context(), spec, Options{Workers: 1})
		property.Mentions(t, err, want, Address(spec))
	}
}

// A run just trained has its weights, even if the stored run has none.
func TestWeightsOfALightRunThatIsConfirmed(t *testing.T) {
	s := testStore(t.TempDir())
	for _, opt := range []Options{{WithoutWeights: true}, {WithoutWeights: true, Fresh: true}} {
		run := getSpec(t, s, testSpec, opt)
		if !run.WithoutWeights() || run.Final.Weights == nil {
			t.Errorf("%+v: light %v, weights %v", opt, run.WithoutWeights(), run.Final.Weights != nil)
		}
	}
	for address, want := range map[string]bool{Address(testSpec): false, "0123456789abcdef": false} {
		if has, err := s.HasWeights(address); err != nil || has != want {
			t.Errorf("%s has weights: %v, %v", address, has, err)
		}
	}
}

// Files hold every float, NaN and infinities included.
func TestFilesHoldEveryFloat(t *testing.T) {
	w, v := model.NewWeights(10, 20, 1, 1), model.NewWeights(10, 20, 1, 1)
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
	err := decodeWeights(b, matrices(train.Snapshot{Weights: v}))
	points, err1 := decodeCurve(encodeCurve(curve, nil), steps, nil)
	pairs, err2 := decodeEdges(encodeEdges(edges), len(edges))
	if err := errors.Join(err, err1, err2); err != nil {
		t.Fatal(err)
	}
	if d := differentWeights(train.Snapshot{Weights: w}, train.Snapshot{Weights: v}); d != "" {
		t.Error(d)
	}
	for i := range special { // a NaN has no payload in a CSV file
		bothNaN := math.IsNaN(special[i]) && math.IsNaN(points[i].Attention) && math.IsNaN(pairs[i].Attention)
		if !bothNaN && (!reflect.DeepEqual(points[i], curve[i]) || pairs[i] != edges[i]) {
			t.Errorf("%v becomes %v, %v becomes %v", curve[i], points[i], edges[i], pairs[i])
		}
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
		{testSpec, 999, "20/300 step 20/300  resumed: 280 steps take about ", "  300 steps  batch loss 0."},
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
	null, err1 := os.Open(os.DevNull) // a device, as a terminal is
	file, err2 := os.Create(filepath.Join(t.TempDir(), "file"))
	closed, err3 := os.Open(os.DevNull)
	if err := errors.Join(err1, err2, err3, closed.Close()); err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	defer file.Close()
	for w, want := range map[io.Writer]bool{null: true, file: false, closed: false, &bytes.Buffer{}: false} {
		if got := Terminal(w).(*terminal).live; got != want {
			t.Errorf("%T: a terminal is %v, want %v", w, got, want)
		}
	}
}

// Before its first step a run shows an estimate of its time for two seconds, and then each tenth of a second.
func TestMeterFirstShowsAnEstimateOfTheTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var first time.Duration
	begun, calls := time.Time{}, 0
	m := meterFunc(func(int) {
		gap := time.Since(begun)
		begun = time.Now()
		switch calls++; {
		case calls == 2:
			first = gap
		case calls == 3:
			if gap < 90*time.Millisecond {
				t.Errorf("after %v the meter is called again, want ten times a second at most", gap)
			}
			cancel()
		}
	})
	spec := testSpec
	spec.Steps, spec.Batch = 1<<20, 1<<15
	_, err := testStore(t.TempDir()).Get(ctx, spec, Options{Meter: m})
	if !errors.Is(err, context.Canceled) || first < outlookShown {
		t.Errorf("%v, the estimate is shown for %v", err, first)
	}
}

// A run that diverges, in a step or with weights that are no numbers after the last, is not stored.
func TestDivergenceIsAnErrorAndStoresNothing(t *testing.T) {
	spec := testSpec
	spec.Optimiser = train.SGD{Rate: 1e300, Schedule: train.Constant}
	f, err := train.New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	f.Advance(spec.Steps)
	for _, steps := range []int{testSpec.Steps, f.Step() - 1} {
		spec.Steps = steps
		s := testStore(t.TempDir())
		_, err := s.Get(t.Context(), spec, Options{})
		property.Mentions(t, err, "diverged")
		if _, err := os.Stat(filepath.Join(s.Dir, Address(spec))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a diverged run was stored: %v", err)
		}
	}
}

// A run that differs from its spec, or cannot be trained, is not replayed.
func TestReplayOfNoRunIsAnError(t *testing.T) {
	s := testStore(t.TempDir())
	get(t, s, Options{})
	for want, change := range map[string]func(r *Run){
		"digests":    func(r *Run) { r.states = nil },
		"batch is 0": func(r *Run) { r.Spec.Batch = 0 },
		"GiB":        func(r *Run) { r.Spec.Batch = 1 << 30 },
		"step 13":    func(r *Run) { r.Milestones[0].Weights = model.NewWeights(2, 2, 1, 1) },
		"diverged":   func(r *Run) { r.Spec.Optimiser = train.SGD{Rate: 1e308, Schedule: train.Constant} },
	} {
		r := get(t, s, Options{})
		change(r)
		property.Mentions(t, r.Replay(t.Context(), 1, r.Segments()[1:]), "runs: ", want)
	}
}

// storedFile trains the test run, or only 120 steps of it for a checkpoint, and returns a file of it.
func storedFile(t *testing.T, s *Store, file string) (path string, b []byte) {
	t.Helper()
	path = filepath.Join(s.Dir, Address(testSpec), file)
	if file == checkpointName {
		path = filepath.Join(s.Dir, ".unfinished", Address(testSpec), file)
		if _, err := s.Get(&countdown{t.Context(), 121}, testSpec, Options{}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	} else {
		get(t, s, Options{})
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, b
}

// Runs of every model, and of a graph without edges, are stored, replayed, and resumed with equal bytes.
func TestRunOfEveryModelIsReplayedAndResumed(t *testing.T) {
	edgeless := testSpec
	edgeless.Task, edgeless.Steps = train.Task1{Parents: []int{-1, -1}, States: 3, Prior: "dirichlet(0.1)"}, 40
	for _, c := range []struct {
		spec                train.Spec
		segments, stretches string
	}{
		{multiSpec, "[0-10 10-30 30-50 50-70 70-80]", "[0-10 10-20 30-40 50-60 70-80]"},
		{mlpSpec(train.MLP{Width: 6}), "[0-40 40-70 70-80]", "[0-10 40-50 70-80]"},
		{mlpSpec(train.MLP{Width: 6, FixedEmbeddings: true}), "[0-40 40-70 70-80]", "[0-10 40-50 70-80]"},
		{edgeless, "[0-35 35-40]", "[0-5 35-40]"},
	} {
		whole, parts := t.TempDir(), t.TempDir()
		getSpec(t, testStore(whole), c.spec, Options{})
		run := getSpec(t, testStore(whole), c.spec, Options{})
		if run.Origin != Loaded || math.IsNaN(run.Curve[0].Attention) != (c.spec.Steps == 40) {
			t.Fatalf("%s, attention %v", run.Origin, run.Curve[0].Attention)
		}
		replayAll(t, run, c.segments, c.stretches)
		_, err := testStore(parts).Get(&countdown{t.Context(), 21}, c.spec, Options{})
		property.Mentions(t, err, fmt.Sprintf("at step 20 of %d", c.spec.Steps))
		getSpec(t, testStore(parts), c.spec, Options{})
		if !reflect.DeepEqual(folder(t, whole), folder(t, parts)) {
			t.Errorf("%s: the bytes of a run depend on where it was stopped", c.spec.Description())
		}
	}
}

// A run of AdamW keeps the moments from which its last stretch is replayed.
func TestAlteredMomentsAreFound(t *testing.T) {
	store := testStore(t.TempDir())
	getSpec(t, store, multiSpec, Options{})
	run := getSpec(t, store, multiSpec, Options{})
	for milestone, want := range map[int]string{
		0: "steps 0-10: at step 10 v-W[1,1] ", 1: "steps 10-30: at step 30 v-W[1,1] ", 3: "at step 70 v-W[1,1] ",
	} {
		at := &run.Milestones[milestone].Moments[1].(*model.Weights).W.RawMatrix().Data[3]
		before := *at
		*at *= 1.001
		property.Mentions(t, run.Replay(t.Context(), 2, run.Segments()), want)
		*at = before
	}
}

// The estimate is about the time that the run takes: a busy machine may take ten times as long.
func TestPaceEstimatesTheTime(t *testing.T) {
	spec := testSpec
	spec.Batch = 1 << 13
	f, err := train.New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, err := pace(f, 20)
	begun := time.Now()
	if err := errors.Join(err, f.Advance(20)); err != nil || f.Step() != 20 {
		t.Fatal(f.Step(), err)
	}
	if took := time.Since(begun); took < want/2 || took > 10*want {
		t.Errorf("20 steps took %v, estimated %v", took, want)
	}
}
