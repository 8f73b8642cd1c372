package runs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"learncausal/internal/files"
	"learncausal/pkg/train"
)

// smallSpec is the spec of a run of a sweep, with the numbers of evaluations and test
// sequences that Spec has by itself.
var smallSpec = func() train.Spec {
	s := testSpec
	parents := make([]int, 20)
	for i := range parents {
		parents[i] = i/2 - 1
	}
	parents[0], parents[19] = -1, -1
	s.Task = train.Task1{Parents: parents, States: 3, Prior: "dirichlet(0.1)"}
	s.Steps, s.Every, s.Test = 160, 0, 0
	return s
}()

func TestLightRunIsSmallAndHasAllButWeights(t *testing.T) {
	light, whole := testStore(t.TempDir()), testStore(t.TempDir())
	l, w := getSpec(t, light, smallSpec, Options{Light: true}), getSpec(t, whole, smallSpec, Options{})
	if !l.Light() || w.Light() || l.Origin != Trained || !reflect.DeepEqual(l.Final.Weights, w.Final.Weights) {
		t.Fatalf("%+v", l)
	}
	if !reflect.DeepEqual(l.Curve, w.Curve) || !reflect.DeepEqual(l.Edges, w.Edges) || !reflect.DeepEqual(l.states, w.states) {
		t.Error("a light run has another curve, attention or digests")
	}
	bytes := 0
	for name, b := range folder(t, light.Dir) {
		bytes += len(b)
		if name != manifestName && b != folder(t, whole.Dir)[name] {
			t.Errorf("%s has other bytes", name)
		}
	}
	if t.Logf("a light run takes %d bytes", bytes); bytes > 3000 {
		t.Errorf("a light run takes %d bytes", bytes)
	}
	if r := getSpec(t, light, smallSpec, Options{Light: true}); r.Origin != Loaded {
		t.Errorf("asked for again: %s", r.Origin)
	}
	if r, err := light.Load(l.Address); err != nil || !r.Light() {
		t.Errorf("by its address: %v, %v", r, err)
	}
	if r := getSpec(t, whole, smallSpec, Options{Light: true}); r.Light() || r.Origin != Loaded {
		t.Errorf("a whole run asked for as a light one: %s", r.Origin)
	}
	if err := l.Replay(t.Context(), 2, append(l.Stretches(), l.Segments()...)); err != nil {
		t.Error(err)
	}
}

// A light run that is trained again is compared, and given its weights if they are
// asked for.
func TestLightRunIsCheckedAndFilled(t *testing.T) {
	s, whole := testStore(t.TempDir()), t.TempDir()
	get(t, s, Options{Light: true})
	stored := folder(t, s.Dir)
	if r := get(t, s, Options{Light: true, Fresh: true}); r.Origin != Confirmed || !r.Light() || !reflect.DeepEqual(folder(t, s.Dir), stored) {
		t.Errorf("trained anew: %s", r.Origin)
	}
	r := get(t, s, Options{})
	if r.Origin != Confirmed || r.Light() {
		t.Errorf("asked for with weights: %s", r.Origin)
	}
	trained := get(t, testStore(whole), Options{})
	if !reflect.DeepEqual(folder(t, s.Dir), folder(t, whole)) || !reflect.DeepEqual(r.Milestones, trained.Milestones) {
		t.Error("a light run with its weights is not the run")
	}
	if entries, err := os.ReadDir(filepath.Join(s.Dir, ".unfinished")); err != nil || len(entries) > 2 {
		t.Errorf("scratch files left behind: %v, %v", entries, err)
	}
	// A process that was killed while it added weights has left a light run.
	light := testStore(t.TempDir())
	get(t, light, Options{Light: true})
	path := filepath.Join(light.Dir, r.Address, "weights-13.npz")
	if err := files.Write(path, []byte("half")); err != nil {
		t.Fatal(err)
	}
	if r := get(t, light, Options{Light: true}); !r.Light() {
		t.Error("weights that run.json does not list were taken")
	}
	has := func(want bool) {
		if got, err := light.HasWeights(r.Address); got != want || err != nil {
			t.Errorf("it has weights: %v, want %v, %v", got, want, err)
		}
	}
	has(false)
	get(t, light, Options{})
	has(true)
	if !reflect.DeepEqual(folder(t, light.Dir), folder(t, whole)) {
		t.Error("after that, weights were not added")
	}
	// Where they cannot be written it stays one.
	light = testStore(t.TempDir())
	get(t, light, Options{Light: true})
	if err := os.MkdirAll(filepath.Join(light.Dir, r.Address, "weights-13.npz", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := light.Get(t.Context(), testSpec, Options{}); err == nil || !strings.Contains(err.Error(), "writing ") {
		t.Errorf("weights in the place of a folder: %v", err)
	}
	if r := get(t, light, Options{Light: true}); r.Origin != Loaded {
		t.Error(r.Origin)
	}
}

// Every kind of file of a light run is compared when it is trained again.
func TestForgedLightRunIsFound(t *testing.T) {
	for name, plant := range map[string]func(r *Run){
		curveName:     func(r *Run) { r.Curve[3].Loss *= 1.1 },
		attentionName: func(r *Run) { r.Edges[3].Attention *= 0.9 },
		manifestName:  func(r *Run) { r.states[3] = r.states[4] },
	} {
		s := testStore(t.TempDir())
		r := get(t, s, Options{Light: true})
		plant(r)
		forge(t, filepath.Join(s.Dir, r.Address), r)
		for _, opt := range []Options{{}, {Light: true, Fresh: true}} {
			_, err := s.Get(t.Context(), testSpec, opt)
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "gave other bytes") {
				t.Errorf("%s, %+v: %v", name, opt, err)
			}
		}
		if r := get(t, s, Options{Light: true}); !r.Light() {
			t.Errorf("%s: the stored run was touched", name)
		}
	}
}
