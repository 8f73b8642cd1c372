package train

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"testing"

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

func TestTrajectoryAgainstGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/sgd-trajectory-h11-s3t6.json")
	if err != nil {
		t.Fatal(err)
	}
	type params struct {
		A [][][][]float64
		W [][]float64
	}
	var g struct {
		S, T, B, Steps int
		X              [][][]int
		Y              [][][]float64
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
	tr, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
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
	w := tr.Snapshot().Weights
	check := func(name string, got []float64, rows [][]float64) {
		for i, row := range rows {
			for j, want := range row {
				if d := math.Abs(got[i*len(row)+j] - want); !(d < 1e-12) {
					t.Errorf("%s[%d][%d] = %v, want %v", name, i, j, got[i*len(row)+j], want)
				}
			}
		}
	}
	check("A1", w.A[0][0], g.Expected.Final.A[0][0])
	check("A2", w.A[1][0], g.Expected.Final.A[1][0])
	check("W", w.W, g.Expected.Final.W)
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
	tr, _ := New(testSpec(), 1)
	if err := tr.Restore(Snapshot{Weights: model.NewWeights(2, 5, 1, 1)}); err == nil {
		t.Error("a snapshot of another size was accepted")
	}
}

func BenchmarkStep(b *testing.B) {
	for _, s := range []int{10, 3} {
		spec := Spec{Parents: make([]int, 20), States: s, Prior: "dirichlet(0.1)", Batch: 1024, Steps: 1 << 30, Rate: 1, Schedule: "constant", Test: 16, Every: 1 << 30}
		for i := range spec.Parents {
			spec.Parents[i] = i - 1
		}
		spec.Parents[19] = -1
		tr, err := New(spec, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(map[int]string{10: "S=10", 3: "S=3"}[s], func(b *testing.B) { tr.Advance(b.N) })
	}
}
