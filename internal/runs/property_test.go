package runs

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

func TestProperties(t *testing.T) {
	s := testStore(t.TempDir())
	property.Test(t, property.Table{
		"Address":    addresses,
		"Store.Load": func(t *rapid.T) { loadedRuns(t, s) },
		"Store.Get Run.Replay Run.Segments Run.Stretches Run.WithoutWeights": func(t *rapid.T) { storedRuns(t, s) },
		"Memory": func(t *rapid.T) { memories(t) },
	})
}

// memories is of more than the trainer for a spec that is right, and says why of others.
func memories(t *rapid.T) {
	spec := drawSpec(t)
	_, own := spec.Task.(law)
	right := spec.Validate() == nil && !own && spec.Memory(0) < 4<<30
	workers := property.Int().Draw(t, "workers")
	bytes, err := Memory(spec, workers)
	if property.Decide(t, right, property.Said(t, "runs", err)) && bytes <= spec.Memory(workers) {
		t.Fatalf("%v bytes, %v for the trainer", bytes, spec.Memory(workers))
	}
}

// drawSpec draws a small spec, most often right.
func drawSpec(t *rapid.T) train.Spec {
	s := testSpec
	s.Batch, s.Steps, s.Test = 8, rapid.IntRange(1, 9).Draw(t, "steps"), rapid.IntRange(0, 9).Draw(t, "test")
	s.Every = rapid.IntRange(0, 4).Draw(t, "every")
	parents := rapid.SampledFrom([][]int{{-1, 0, -1}, {-1, -1}, {-1, 0, 0}, {}}).Draw(t, "parents")
	prior := rapid.SampledFrom([]string{"dirichlet(0.1)", "dirichlet(1e-1)", "dirichlet(-1)"}).Draw(t, "prior")
	s.Task = train.Task1{Parents: parents, States: rapid.IntRange(1, 3).Draw(t, "states"), Prior: prior}
	switch number := property.Int(); rapid.IntRange(0, 8).Draw(t, "fault") {
	case 0:
		s.Batch = number.Draw(t, "any batch")
	case 1:
		s.Steps = min(number.Draw(t, "any steps"), 9)
	case 2:
		s.Test = number.Draw(t, "any test")
	case 3:
		s.Every = number.Draw(t, "any every")
	case 4:
		s.Optimiser = train.SGD{Rate: property.Float().Draw(t, "any rate"), Schedule: train.Cosine}
	case 5:
		s.Model = train.Disentangled{Heads: [2]int{number.Draw(t, "any heads"), 1}}
	case 6:
		s.Task = law{}
	}
	return s
}

// A law is a task of a reader that is not registered.
type law struct{ task.Task }

func (law) Validate() error     { return nil }
func (law) Tokens() int         { return 2 }
func (law) ParentSets() [][]int { return make([][]int, 2) }

func addresses(t *rapid.T) {
	s := drawSpec(t)
	_, own := s.Task.(law)
	rate := s.Optimiser.(train.SGD).Rate
	right := !own && !math.IsNaN(rate-rate) && s.Model.(train.Disentangled).Heads[0] > 0
	var a string
	if !property.Decide(t, right, property.Refused(t, "runs", func() { a = Address(s) })) {
		return
	}
	if same := Address(s.Canonical()); len(a) != 16 || same != a {
		t.Fatalf("addresses %s and %s", a, same)
	}
	if s.Seed++; Address(s) == a {
		t.Fatalf("two seeds have the address %s", a)
	}
}

func loadedRuns(t *rapid.T, store *Store) {
	spec := testSpec
	spec.Batch, spec.Steps, spec.Test, spec.Every = 8, 3, 8, 1
	stored, err := store.Get(context.Background(), spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	address := stored.Address
	if rapid.Bool().Draw(t, "another") {
		address = rapid.StringMatching(`[0-9a-z/.]{0,17}`).Draw(t, "address")
	}
	run, err := store.Load(address)
	right := address == stored.Address || err == nil // another may have been stored by another property
	if property.Decide(t, right, property.Said(t, "runs", err)) && !strings.HasPrefix(run.Address, address) {
		t.Fatalf("asked for %q, got the run %s", address, run.Address)
	}
}

func storedRuns(t *rapid.T, store *Store) {
	spec := drawSpec(t)
	_, own := spec.Task.(law)
	right := spec.Validate() == nil && !own && spec.Memory(0) < 4<<30
	opt := Options{Workers: rapid.IntRange(-1, 3).Draw(t, "workers"), Fresh: rapid.Bool().Draw(t, "fresh")}
	opt.WithoutWeights = rapid.Bool().Draw(t, "light")
	run, err := store.Get(context.Background(), spec, opt)
	refused := property.Said(t, "runs", err)
	if right && strings.Contains(refused, "diverged") {
		return
	}
	if !property.Decide(t, right, refused) {
		return
	}
	if run.Final.Step != spec.Steps || run.Address != Address(spec) || !reflect.DeepEqual(run.Spec, spec.Canonical()) ||
		(run.Final.Weights == nil) != (run.WithoutWeights() && run.Origin == Loaded) ||
		run.WithoutWeights() && !opt.WithoutWeights {
		t.Fatalf("%+v", run)
	}
	if opt.WithoutWeights && rapid.Bool().Draw(t, "ask for weights") {
		opt.WithoutWeights = false
		if run, err = store.Get(context.Background(), spec, opt); err != nil || run.WithoutWeights() {
			t.Fatal(run, err)
		}
	}
	parts := append(run.Segments(), run.Stretches()...)
	if last := len(run.Segments()); parts[0].From != 0 || parts[last-1].To != spec.Steps {
		t.Fatalf("%d steps have the parts %v", spec.Steps, parts)
	}
	if err := run.Replay(context.Background(), opt.Workers, parts); err != nil {
		t.Fatal(err)
	}
	part := Segment{property.Int().Draw(t, "from"), property.Int().Draw(t, "to")}
	right = slices.ContainsFunc(parts, func(s Segment) bool { return s.From == part.From }) &&
		part.From < part.To && part.To <= spec.Steps
	if refused := property.Said(t, "runs", run.Replay(context.Background(), 1, []Segment{part})); refused == "" && !right {
		t.Fatalf("steps %v of %d were replayed", part, spec.Steps)
	}
}
