package runs

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"learncausal/internal/files"
	"learncausal/internal/property"
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
	l, w := getSpec(t, light, smallSpec, Options{WithoutWeights: true}), getSpec(t, whole, smallSpec, Options{})
	if !l.WithoutWeights() || w.WithoutWeights() || l.Origin != Trained ||
		!reflect.DeepEqual(l.Final.Weights, w.Final.Weights) {
		t.Fatalf("%+v", l)
	}
	bytes := 0
	for name, b := range folder(t, light.Dir) {
		bytes += len(b)
		if name != manifestName && b != folder(t, whole.Dir)[name] {
			t.Errorf("%s has other bytes", name)
		}
	}
	if !reflect.DeepEqual(l.states, w.states) || bytes > 3000 {
		t.Errorf("a light run has other digests, or takes %d bytes", bytes)
	}
	for store, want := range map[*Store]bool{light: true, whole: false} {
		r := getSpec(t, store, smallSpec, Options{WithoutWeights: true})
		if r.Origin != Loaded || r.WithoutWeights() != want {
			t.Errorf("the stored run is %s, light %v, want %v", r.Origin, r.WithoutWeights(), want)
		}
	}
	if err := l.Replay(t.Context(), 2, append(l.Stretches(), l.Segments()...)); err != nil {
		t.Error(err)
	}
}

// A light run that is trained again is compared, and gets its weights unless WithoutWeights is set.
func TestLightRunIsCheckedAndFilled(t *testing.T) {
	s, whole := testStore(t.TempDir()), testStore(t.TempDir())
	trained := get(t, whole, Options{})
	for range 2 { // the second time with weights that run.json does not list, as a killed process leaves them
		r := get(t, s, Options{WithoutWeights: true, Fresh: true})
		has, err := s.HasWeights(r.Address)
		if !r.WithoutWeights() || has || err != nil {
			t.Errorf("light %v, with weights %v, %v", r.WithoutWeights(), has, err)
		}
		if err := files.Write(filepath.Join(s.Dir, r.Address, "weights-13.npz"), []byte("half")); err != nil {
			t.Fatal(err)
		}
	}
	r := get(t, s, Options{})
	if has, err := s.HasWeights(r.Address); r.Origin != Confirmed || r.WithoutWeights() || !has || err != nil {
		t.Errorf("asked for with weights: %s, %v, %v", r.Origin, has, err)
	}
	if !reflect.DeepEqual(folder(t, s.Dir), folder(t, whole.Dir)) || !reflect.DeepEqual(r.Milestones, trained.Milestones) {
		t.Error("a light run with its weights is not the run")
	}
	if entries, err := os.ReadDir(filepath.Join(s.Dir, ".unfinished")); err != nil || len(entries) > 2 {
		t.Errorf("scratch files left behind: %v, %v", entries, err)
	}
	// Where weights cannot be written the run stays light.
	light := testStore(t.TempDir())
	get(t, light, Options{WithoutWeights: true})
	if err := os.MkdirAll(filepath.Join(light.Dir, r.Address, "weights-13.npz", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := light.Get(t.Context(), testSpec, Options{})
	property.Mentions(t, err, "writing ")
	if r := get(t, light, Options{WithoutWeights: true}); r.Origin != Loaded {
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
		r := get(t, s, Options{WithoutWeights: true})
		plant(r)
		forge(t, filepath.Join(s.Dir, r.Address), r)
		for _, opt := range []Options{{}, {WithoutWeights: true, Fresh: true}} {
			_, err := s.Get(t.Context(), testSpec, opt)
			property.Mentions(t, err, name, "gave other bytes")
		}
		if r := get(t, s, Options{WithoutWeights: true}); !r.WithoutWeights() {
			t.Errorf("%s: the stored run was touched", name)
		}
	}
}
