package report

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
	"learncausal/pkg/theory"
)

func smallSweep(t *testing.T) *Sweep {
	s := &Sweep{Families: Families()}
	for _, f := range s.Families {
		var ds []*Dynamics
		for _, n := range []int{16, 32, 64} {
			d, err := RunDynamics(f.Graph(n), mustPrior(), 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			ds = append(ds, d)
		}
		s.Runs = append(s.Runs, ds)
	}
	return s
}

// thm-main on each family; the star, whose T_eff is next to one, is the fault.
func TestStageOneFindsEveryParent(t *testing.T) {
	for k, ds := range smallSweep(t).Runs {
		for _, d := range ds {
			missed := d.Missed()
			if star := Families()[k].Title == "Star"; (len(missed) > 0) != star {
				t.Errorf("%s, T = %d: positions %v miss their parent", Families()[k].Title, d.Graph.T(), missed)
			}
			if x := d.Excess(d.StageTwo(0, 1<<20)); !(x > 0 && x < 0.3) {
				t.Errorf("%s, T = %d: excess loss %v", Families()[k].Title, d.Graph.T(), x)
			}
		}
	}
}

func TestDynamicsFiguresAreDrawn(t *testing.T) {
	s := smallSweep(t)
	gap, ns := LossGapFigure(s)
	ood, ms, err := OODFigure(s)
	if err != nil {
		t.Fatal(err)
	}
	// Up to T = 64, T_eff doubles for three families.
	if len(ns) != 6 || len(ms) != 2 {
		t.Errorf("%d and %d exponents, want 6 and 2", len(ns), len(ms))
	}
	for _, f := range []interface{ PNG() ([]byte, error) }{StageOneFigure(s.Runs[3][0]), GHatBetaFigure(s), BetaGrowthFigure(s), gap, ood} {
		if _, err := f.PNG(); err != nil {
			t.Error(err)
		}
	}
}

// The same error by the model's own prediction, on the same sequences.
func TestOutOfDistributionIsTheErrorOfTheModel(t *testing.T) {
	d, err := RunDynamics(graph.InContext(16), mustPrior(), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	m := d.StageTwo(2, 1).Final
	got, err := d.OutOfDistribution(m, Sticky, 50, 3)
	if err != nil {
		t.Fatal(err)
	}
	c := theory.MustChain(Sticky, 3)
	tk := task.Task{Graph: d.Graph, Prior: onePrior(c)}
	b := tk.NewBatch(50)
	task.NewSampler(tk).Fill(b, num.Stream(3, "paper/ood"))
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
