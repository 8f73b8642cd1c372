package figures

import (
	"math"
	"testing"

	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

// Theorem 1 (thm-main) on each family; the star, whose T_eff is next to one, is the fault.
func TestStageOneFindsEveryParent(t *testing.T) {
	for _, f := range smallSweep(t) {
		for _, d := range f.Runs {
			missed := d.Missed()
			if star := f.Name == "star"; (len(missed) > 0) != star {
				t.Errorf("%s, T = %d: positions %v miss their parent", f.Title, d.Graph.T(), missed)
			}
			if x := d.Excess(d.Trained()); !(x > 0 && x < 0.3) {
				t.Errorf("%s, T = %d: excess loss %v", f.Title, d.Graph.T(), x)
			}
		}
	}
}

// The same error by the model's own prediction, on the same sequences.
func TestOutOfDistributionIsTheErrorOfTheModel(t *testing.T) {
	d, err := theory.RunDynamics(graph.InContext(16), trial.MustPrior(trial.DynamicsPrior), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	m := d.StageTwo(2, 1).Final
	got, err := d.OutOfDistribution(m, lazyChain(), 50, 3)
	if err != nil {
		t.Fatal(err)
	}
	c := theory.MustChain(lazyChain(), 3)
	one := &markov.Finite{Pi: [][]float64{c.Pi.RawMatrix().Data}, Mu: [][]float64{c.Mu}, Weight: []float64{1}}
	tk := task.Task{Graph: d.Graph, Prior: one}
	b := tk.NewBatch(50)
	tk.NewSampler().Fill(b, num.Stream(3, "paper/ood"))
	worst := 0.0
	for k := range 50 {
		x, y := b.Seq(k)
		f, _, _ := m.Predict(x, x[15])
		for a := range f {
			worst = max(worst, math.Abs(f[a]-y[a]))
		}
	}
	if d := math.Abs(worst - got[49]); d > 1e-12 {
		t.Errorf("largest error %v, by the model %v", got[49], worst)
	}
}

// smallSweep is a sweep up to T = 64.
func smallSweep(t *testing.T) Sweep {
	t.Helper()
	prior, err := trial.FinitePrior(trial.DynamicsPrior, 3)
	if err != nil {
		t.Fatal(err)
	}
	var s Sweep
	for _, f := range Families() {
		runs := FamilyRuns{Family: f}
		for _, n := range []int{16, 32, 64} {
			d, err := theory.RunDynamics(f.Graph(n), prior, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			runs.Runs = append(runs.Runs, d)
		}
		s = append(s, runs)
	}
	return s
}
