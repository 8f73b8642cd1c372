package train

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/jax"
)

func replaySpec() Spec {
	s := testSpec()
	s.Task = Task1{Parents: []int{-1, 0, -1, 1, -1}, States: 3, Prior: "dirichlet(0.1)", JAX: 4}
	s.Batch, s.Seed = 64, 9
	return s
}

func TestReplayHasTheSequencesOfItsKeys(t *testing.T) {
	s := replaySpec()
	keys, draws := jax.NewBatches(9, 4), jax.NewSampler(s.Task.(Task1).Parents, 3, 0.1)
	x, y := make([]int, 5), make([]float64, 3)
	for _, step := range []int{0, 7, jax.Epoch/64 + 1, 3} {
		b := drawn(t, s, step)
		for k := range b.Len() {
			draws.Draw(x, y, keys.Of(64*step+k))
			if gotX, gotY := b.Seq(k); !slices.Equal(gotX, x) || !slices.Equal(gotY, y) {
				t.Fatalf("step %d, sequence %d: %v with target %v, want %v with %v", step, k, gotX, gotY, x, y)
			}
		}
	}
	s.Test = chunk + 10
	b, err := s.TestSet()
	if err != nil {
		t.Fatal(err)
	}
	for k := range b.Len() {
		draws.Draw(x, y, jax.NewKey(9).Next(3).Of(s.Test, k))
		if got, _ := b.Seq(k); !slices.Equal(got, x) {
			t.Fatalf("test sequence %d: %v, want %v", k, got, x)
		}
	}
}

func TestReplayIsStoredOrRefused(t *testing.T) {
	s := replaySpec()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read Spec
	if err := json.Unmarshal(b, &read); err != nil || !reflect.DeepEqual(read, s.Canonical()) {
		t.Errorf("%s is read as %+v, %v, want %+v", b, read, err, s.Canonical())
	}
	for want, change := range map[string]func(s *Spec, k *Task1){
		"jax is -1": func(_ *Spec, k *Task1) { k.JAX = -1 },
		"orbit(":    func(_ *Spec, k *Task1) { k.Prior = "orbit(0.7 0.2 0.1; 0.1 0.7 0.2; 0.2 0.1 0.7)" },
		"roots":     func(_ *Spec, k *Task1) { k.UniformRoots = true },
		"batch 48":  func(s *Spec, _ *Task1) { s.Batch = 48 },
		"seed 4294": func(s *Spec, _ *Task1) { s.Seed = math.MaxUint32 + 1 },
	} {
		s := replaySpec()
		k := s.Task.(Task1)
		change(&s, &k)
		s.Task = k
		property.Mentions(t, s.Validate(), want)
	}
}
