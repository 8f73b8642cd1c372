package report

import (
	"testing"

	"learncausal/internal/figure"
	"learncausal/paper/experiment"
	"learncausal/pkg/graph"
)

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
		stageOneFigure(s.Only("random-forest")[0].Runs[0]), stageOneFigure(s.Only("star")[0].Runs[0]),
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
	curves, err := experiment.RunErrorCurves(t.Context(), graph.Chain, prior, []int{8, 12}, 2)
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
