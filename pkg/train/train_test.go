package train

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

func testSpec() Spec {
	return Spec{
		Parents: []int{-1, 0, 0, 2, -1, 4, -1}, States: 3, Prior: "dirichlet(0.1)",
		Batch: 100, Steps: 40, Rate: 1, Schedule: "cosine", Seed: 7, Test: 1500, Every: 15,
	}
}

func run(t *testing.T, spec Spec, workers int) Snapshot {
	t.Helper()
	tr, err := New(spec, workers)
	if err != nil {
		t.Fatal(err)
	}
	tr.Advance(spec.Steps)
	return tr.Snapshot()
}

func TestBytesDoNotDependOnWorkers(t *testing.T) {
	want := run(t, testSpec(), 1)
	for _, workers := range []int{2, 7} {
		if got := run(t, testSpec(), workers); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers gave other bytes than one", workers)
		}
	}
	other := testSpec()
	other.Seed++
	if reflect.DeepEqual(run(t, other, 1).Weights, want.Weights) {
		t.Error("another seed gave the same weights")
	}
	if len(want.Curve) != 4 || want.Curve[3].Step != 40 {
		t.Errorf("evaluations at %v, want steps 0, 15, 30, 40", want.Curve)
	}
}

func TestResumeGivesTheSameBytes(t *testing.T) {
	want := run(t, testSpec(), 2)
	for _, stop := range []int{0, 1, 15, 39} {
		a, _ := New(testSpec(), 2)
		a.Advance(stop)
		b, _ := New(testSpec(), 1)
		b.Advance(3)
		if err := b.Restore(a.Snapshot()); err != nil {
			t.Fatal(err)
		}
		b.Advance(1000)
		if !reflect.DeepEqual(b.Snapshot(), want) {
			t.Errorf("stopped at step %d and resumed: other bytes", stop)
		}
	}
}

// TestTrajectoryAgainstGolden follows optimisers step by step from given weights
// on given batches.
func TestTrajectoryAgainstGolden(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		tol    float64
	}{
		"sgd-trajectory-h11-s3t6":                   {func(*Spec) {}, 1e-12},
		"sgd-trajectory-adamw-h21-s3t6":             {func(s *Spec) { s.Heads, s.Optimiser, s.Rate, s.Decay = 2, "adamw", 0.01, 1e-4 }, 1e-10},
		"sgd-trajectory-adamw-strongdecay-h21-s3t6": {func(s *Spec) { s.Heads, s.Optimiser, s.Rate, s.Decay = 2, "adamw", 0.01, 0.1 }, 1e-10},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			type params struct {
				A [][][][]float64
				W [][]float64
			}
			var g struct {
				S, T, B, Steps int
				Decay          float64 `json:"weight_decay"`
				X              [][][]int
				Y              [][][]float64
				Initial        params
				Expected       struct {
					Before []float64 `json:"loss_before_step"`
					Final  params
				}
			}
			if err := json.Unmarshal(data, &g); err != nil {
				t.Fatal(err)
			}
			spec := testSpec()
			spec.Parents, spec.Batch, spec.Steps = []int{-1, 0, 1, 2, 3, -1}, g.B, g.Steps
			c.change(&spec)
			if spec.Decay != g.Decay {
				t.Fatalf("decay %v, golden %v", spec.Decay, g.Decay)
			}
			tr, err := New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			each := func(p params, f func(name string, ours []float64, rows [][]float64)) {
				for l, layer := range p.A {
					for h, a := range layer {
						f(fmt.Sprintf("A%d-%d", l+1, h+1), tr.weights.A[l][h], a)
					}
				}
				f("W", tr.weights.W, p.W)
			}
			if g.Initial.A != nil {
				each(g.Initial, func(_ string, ours []float64, rows [][]float64) { copy(ours, slices.Concat(rows...)) })
				tr.engine.Load(tr.weights)
			}
			for i := range g.Steps {
				// The golden batch instead of a drawn one.
				k := 0
				for s := range tr.shard {
					b := tr.shard[s].batch
					for n := range b.Len() {
						x, y := b.Seq(n)
						copy(x, g.X[i][k])
						copy(y, g.Y[i][k])
						k++
					}
				}
				tr.drawn = i
				tr.Advance(1)
				if d := math.Abs(tr.Loss() - g.Expected.Before[i]); !(d < 1e-12) {
					t.Errorf("step %d: loss %v, want %v", i, tr.Loss(), g.Expected.Before[i])
				}
			}
			each(g.Expected.Final, func(name string, ours []float64, rows [][]float64) {
				for i, want := range slices.Concat(rows...) {
					if d := math.Abs(ours[i] - want); !(d < c.tol) {
						t.Errorf("%s: entry %d is %v, want %v", name, i, ours[i], want)
					}
				}
			})
		})
	}
}

func multiSpec() Spec {
	return Spec{
		Nodes: graph.Halves(9).Parents(), States: 3, Prior: "dirichlet(0.1)", Roots: "dirichlet", Heads: 2,
		Optimiser: "adamw", Decay: 1e-4, Init: 1e-2,
		Batch: 64, Steps: 40, Rate: 0.01, Schedule: "cosine", Seed: 7, Test: 1500, Every: 15,
	}
}

func twoHeadsSpec() Spec {
	s := multiSpec()
	s.Second, s.Roots = 2, "uniform"
	return s
}

func mlpSpec(embeddings string) Spec {
	s := testSpec()
	s.Width, s.Embeddings, s.Optimiser, s.Decay, s.Rate = 8, embeddings, "adamw", 2e-4, 0.01
	return s
}

func TestAdamWBytes(t *testing.T) {
	for name, spec := range map[string]Spec{"task 2": multiSpec(), "mlp": mlpSpec("trained"), "mlp, fixed": mlpSpec("fixed")} {
		t.Run(name, func(t *testing.T) { testAdamWBytes(t, spec) })
	}
}

func testAdamWBytes(t *testing.T, spec Spec) {
	want := run(t, spec, 1)
	for _, workers := range []int{2, 7} {
		if got := run(t, spec, workers); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers gave other bytes than one", workers)
		}
	}
	for _, stop := range []int{0, 1, 39} {
		a, _ := New(spec, 2)
		a.Advance(stop)
		b, _ := New(spec, 1)
		b.Advance(3)
		if err := b.Restore(a.Snapshot()); err != nil {
			t.Fatal(err)
		}
		b.Advance(1000)
		if !reflect.DeepEqual(b.Snapshot(), want) {
			t.Errorf("stopped at step %d and resumed: other bytes", stop)
		}
	}
	b, _ := New(spec, 1)
	if err := b.Restore(Snapshot{Step: 5, Weights: want.Weights}); err == nil {
		t.Error("AdamW went on from a snapshot without moments")
	}
	if want.Curve[3].Loss >= want.Curve[0].Loss {
		t.Errorf("the loss went from %v to %v", want.Curve[0].Loss, want.Curve[3].Loss)
	}
}

// Fixed embeddings stay what they were drawn as, and all else moves.
func TestFixedEmbeddingsStay(t *testing.T) {
	for _, embeddings := range []string{"trained", "fixed"} {
		tr, err := New(mlpSpec(embeddings), 1)
		if err != nil {
			t.Fatal(err)
		}
		before := tr.Snapshot().Weights
		tr.Advance(3)
		after := tr.Snapshot().Weights
		if moved := !slices.Equal(before.MLP.E, after.MLP.E) || !slices.Equal(before.MLP.P, after.MLP.P); moved != (embeddings == "trained") {
			t.Errorf("%s embeddings: moved is %v", embeddings, moved)
		}
		for k, a := range after.Trained() {
			if slices.Equal(a, before.Trained()[k]) {
				t.Errorf("%s embeddings: array %d has not moved", embeddings, k)
			}
		}
	}
}

func TestBadSpecIsNamed(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Steps = 0 }, "spec: steps is 0, want at least 1"},
		{func(s *Spec) { s.Rate = math.NaN() }, "spec: rate is NaN, want a positive number"},
		{func(s *Spec) { s.Schedule = "linear" }, `spec: schedule is "linear", want constant or cosine`},
		{func(s *Spec) { s.Prior = "dirichlet(0.10)" }, `spec: prior "dirichlet(0.10)" is to be written "dirichlet(0.1)"`},
	} {
		s := testSpec()
		c.change(&s)
		if _, err := New(s, 1); err == nil || err.Error() != c.want {
			t.Errorf("got error %v, want %s", err, c.want)
		}
	}
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Nodes[3] = []int{4} }, "spec: nodes: graph: node 3 has the parent 4, want one of the nodes before it (0..2), or no parents at all"},
		{func(s *Spec) { s.Parents = []int{-1, -1} }, "spec: parents are given beside nodes, want one of them"},
		{func(s *Spec) { s.Roots = "" }, `spec: roots is "", want dirichlet or uniform for Task 2`},
		{func(s *Spec) { s.Prior = "orbit(0.5 0.5; 0.5 0.5)"; s.States = 2 }, `spec: prior is "orbit(0.5 0.5; 0.5 0.5)", want dirichlet(alpha) for Task 2`},
		{func(s *Spec) { s.Heads = 1 }, "spec: heads is 1, want 0 for one head, or at least 2"},
		{func(s *Spec) { s.Second = -1 }, "spec: second is -1, want 0 for one head, or at least 2"},
		{func(s *Spec) { s.Optimiser = "adam" }, `spec: optimiser is "adam", want adamw, or nothing for SGD`},
		{func(s *Spec) { s.Optimiser = "" }, "spec: decay is 0.0001, want a number that is not negative, and 0 without adamw"},
		{func(s *Spec) { s.Width = 8 }, "spec: width is 8 beside heads 2, second 0 and init 0.01, want it positive without them, or 0"},
		{func(s *Spec) { s.Embeddings = "fixed" }, `spec: embeddings is "fixed" beside width 0, want trained or fixed, or nothing without a width`},
		{func(s *Spec) { s.Init = math.Inf(1) }, "spec: init is +Inf, want a number that is not negative"},
	} {
		s := multiSpec()
		c.change(&s)
		if _, err := New(s, 1); err == nil || err.Error() != c.want {
			t.Errorf("got error %v, want %s", err, c.want)
		}
	}
	tr, _ := New(testSpec(), 1)
	if err := tr.Restore(Snapshot{Weights: model.NewWeights(2, 5, 1, 1)}); err == nil {
		t.Error("a snapshot of another size was accepted")
	}
}

func BenchmarkStep(b *testing.B) {
	chain := make([]int, 20)
	for i := range chain {
		chain[i] = i - 1
	}
	chain[19] = -1
	base := Spec{Prior: "dirichlet(0.1)", Batch: 1024, Steps: 1 << 30, Rate: 1, Schedule: "constant", Test: 16, Every: 1 << 30}
	for name, change := range map[string]func(*Spec){
		"S=10": func(s *Spec) { s.Parents, s.States = chain, 10 },
		"S=3":  func(s *Spec) { s.Parents, s.States = chain, 3 },
		"mlp":  func(s *Spec) { s.Parents, s.States, s.Width = chain, 10, 30 },
		"k=2":  func(s *Spec) { s.Nodes, s.Heads = graph.NGram(32, 2).Parents(), 2 },
		"k=3":  func(s *Spec) { s.Nodes, s.Heads = graph.NGram(32, 3).Parents(), 3 },
	} {
		spec := base
		change(&spec)
		if spec.Width > 0 {
			spec.Optimiser, spec.Embeddings, spec.Rate = "adamw", "trained", 0.01
		}
		if spec.Nodes != nil {
			spec.States, spec.Roots, spec.Optimiser, spec.Init, spec.Rate = 5, "dirichlet", "adamw", 1e-4, 0.01
		}
		tr, err := New(spec, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) { tr.Advance(b.N) })
	}
}
