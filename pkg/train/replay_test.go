package train

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/internal/jax"
	"learncausal/pkg/model"
)

func replaySpec() Spec {
	s := testSpec()
	s.Task = Task1{Parents: []int{-1, 0, -1, 1, -1}, States: 3, Prior: "dirichlet(0.1)", JAX: 4}
	s.Batch, s.Seed = 64, 9
	return s
}

func replayMulti() Spec {
	s := multiSpec()
	k := s.Task.(Task2)
	k.JAX = 1
	s.Task = k
	return s
}

func TestReplayHasTheSequencesOfItsKeys(t *testing.T) {
	s := replaySpec()
	keys, draws := jax.NewBatches(9, 4, jax.Epoch), jax.NewSampler(s.Task.(Task1).Parents, 3, 0.1)
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
	two := Task2{Parents: [][]int{nil, {0}, {0, 1}, {2}}, States: 3, Prior: "dirichlet(0.1)", JAX: 4}
	s.Task = two
	several := jax.NewMultiSampler(two.Parents, 3, 0.1)
	keys = jax.NewBatches(9, 4, 1<<15)
	step := 1<<15/64 + 1
	b = drawn(t, s, step)
	for k := range b.Len() {
		several.Draw(x[:3], y, keys.Of(64*step+k))
		if gotX, gotY := b.Seq(k); !slices.Equal(gotX, x[:3]) || !slices.Equal(gotY, y) {
			t.Fatalf("Task 2, sequence %d: %v with target %v, want %v with %v", k, gotX, gotY, x[:3], y)
		}
	}
}

// The released code in JAX 0.4.13 printed the first and the last entries of its initial weights.
func TestReplayBeginsWithTheReleasedWeights(t *testing.T) {
	s := replaySpec()
	s.Seed = 0
	s.Task = Task1{Parents: graph.Chain(20).Parents(), States: 10, Prior: "dirichlet(0.1)", JAX: 2}
	s.Model = MLP{Width: 30}
	w := initial(t, s).(*model.MLP)
	ends := func(a *mat.Dense, first, last float64) {
		t.Helper()
		v := a.RawMatrix().Data
		if math.Abs(v[0]-first) > 1e-6*math.Abs(first) || math.Abs(v[len(v)-1]-last) > 1e-6*math.Abs(last) {
			t.Errorf("the weights run from %v to %v, want %v to %v", v[0], v[len(v)-1], first, last)
		}
	}
	ends(w.E, 0.2810865640640259, -0.073695607483387)
	ends(w.P, -0.19876928627490997, -0.041049130260944366)
	ends(w.Layers[0].V, 0.1319301873445511, -0.1674422025680542)
	ends(w.Layers[0].In, 0.13995611667633057, 0.09840213507413864)
	ends(w.Layers[1].V, 0.061249904334545135, 0.24007874727249146)
	ends(w.Layers[1].In, 0.24599049985408783, -0.06348138302564621)

	s.Task = Task2{Parents: graph.Halves(32).Parents(), States: 5, Prior: "dirichlet(0.1)", JAX: 1}
	s.Model = Disentangled{Heads: [2]int{2, 1}, Init: 1e-4}
	a := initial(t, s).(*model.Weights).A
	if first := a[0][0].At(0, 0); math.Abs(first+0.0002355625038035214) > 1e-9 {
		t.Errorf("A of the first head begins with %v", first)
	}
	if last := a[0][1].At(36, 36); math.Abs(last+0.00010327147174393758) > 1e-9 {
		t.Errorf("A of the second head ends with %v", last)
	}
	ends(a[1][0], -3.68011183127237e-06, -0.00014184364408720285)
}

func initial(t *testing.T, s Spec) model.Model {
	t.Helper()
	r, err := New(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r.Snapshot().Weights
}

func TestReplayIsStoredOrRefused(t *testing.T) {
	s := replaySpec()
	two := replayMulti()
	for _, s := range []Spec{s, two} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var read Spec
		if err := json.Unmarshal(b, &read); err != nil || !reflect.DeepEqual(read, s.Canonical()) {
			t.Errorf("%s is read as %+v, %v, want %+v", b, read, err, s.Canonical())
		}
	}
	k := two.Task.(Task2)
	k.UniformRoots = true
	two.Task = k
	property.Mentions(t, two.Validate(), "jax is 1", "uniform roots")
	for want, change := range map[string]func(s *Spec, k *Task1){
		"jax is -1": func(_ *Spec, k *Task1) { k.JAX = -1 },
		"orbit(":    func(_ *Spec, k *Task1) { k.Prior = "orbit(0.7 0.2 0.1; 0.1 0.7 0.2; 0.2 0.1 0.7)" },
		"roots":     func(_ *Spec, k *Task1) { k.UniformRoots = true },
		"batch 48":  func(s *Spec, _ *Task1) { s.Batch = 48 },
		"MLPs":      func(s *Spec, k *Task1) { s.Model, k.JAX = MLP{Width: 3}, 1 },
		"seed 4294": func(s *Spec, _ *Task1) { s.Seed = math.MaxUint32 + 1 },
	} {
		s := replaySpec()
		k := s.Task.(Task1)
		change(&s, &k)
		s.Task = k
		property.Mentions(t, s.Validate(), want)
	}
}
