package report

import (
	"math"
	"testing"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
	"learncausal/pkg/theory"
)

// The cells that stand out beside the graph are its edges: none is darker, and the
// row of the query, whose shift says nothing, does not set the scale.
func TestEdgesStandOutInTheGradient(t *testing.T) {
	prior, err := experiment.FinitePrior(experiment.DynamicsPrior, 3)
	if err != nil {
		t.Fatal(err)
	}
	g := experiment.RandomGraph()
	ghat, err := theory.GHat(g, prior, 1/math.Sqrt(g.TEff()), theory.QueryApart)
	if err != nil {
		t.Fatal(err)
	}
	f := LimitGradientFigure("x", g, theory.G(prior, g), ghat)
	for k, panel := range f.Rows[0][1:] {
		m := panel.(*figure.Matrix)
		edge, other := 0.0, 0.0
		for i, row := range m.Values {
			for j, v := range row {
				if g.Parent(i) == j {
					edge = max(edge, v)
				} else {
					other = max(other, math.Abs(v))
				}
			}
		}
		if edge <= other {
			t.Errorf("panel %d: the darkest edge has %v, another cell %v", k, edge, other)
		}
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
}

// smallSweep is a sweep up to T = 64.
func smallSweep(t *testing.T) experiment.Sweep {
	t.Helper()
	prior, err := experiment.FinitePrior(experiment.DynamicsPrior, 3)
	if err != nil {
		t.Fatal(err)
	}
	var s experiment.Sweep
	for _, f := range experiment.Families() {
		runs := experiment.FamilyRuns{Family: f}
		for _, n := range []int{16, 32, 64} {
			d, err := experiment.RunDynamics(f.Graph(n), prior, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			runs.Runs = append(runs.Runs, d)
		}
		s = append(s, runs)
	}
	return s
}

func TestDynamicsFiguresAreDrawn(t *testing.T) {
	s := smallSweep(t)
	gap := s.LossGap()
	ood, err := s.Only("markov-chain", "in-context-learning").OutOfDistribution(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Up to T = 64, T_eff doubles for three families.
	if a, b := len(lossGapNumbers(gap)), len(oodNumbers(ood)); a != 6 || b != 2 {
		t.Errorf("%d and %d exponents, want 6 and 2", a, b)
	}
	for i, f := range []*figure.Figure{
		StageOneFigure(s.Only("random-forest")[0].Runs[0]), StageOneFigure(s.Only("star")[0].Runs[0]),
		gHatBetaFigure(s), betaGrowthFigure(s), whyItStopsFigure(s), lossGapFigure(gap), oodFigure(ood),
	} {
		f.ID = "x"
		if _, err := f.PNG(); err != nil {
			t.Errorf("figure %d: %v", i, err)
		}
	}
}

func TestFiniteSampleFiguresAreDrawn(t *testing.T) {
	prior, err := experiment.FinitePrior(experiment.DynamicsPrior, 3)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := experiment.FamilyNamed("markov-chain")
	if err != nil {
		t.Fatal(err)
	}
	curves, err := experiment.RunErrorCurves(t.Context(), chain.Graph, prior, []int{8, 12}, 2)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := experiment.RunSampleSizes(t.Context(), prior, []int{8, 16}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*figure.Figure{ErrorCurvesFigure("a", curves), SampleSizesFigure("b", sizes)} {
		if _, err := f.PNG(); err != nil {
			t.Error(err)
		}
	}
}
