package figures

import (
	"testing"

	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// The chain of Lemma 34 (thm-finite-stage2), as corrected: |f - f_pop| <= max|A2 - A2_pop|/2.
// With 4096 sequences every parent is found; the seed is preset.
func TestSampledRunIsNearThePopulation(t *testing.T) {
	for _, g := range []*graph.Forest{graph.Chain(7), graph.InContext(8)} {
		s, err := theory.NewEmpiricalStage(g, trial.MustPrior(trial.DynamicsPrior))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(4096, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		if r.Apart > r.Noise/2 || r.Apart == 0 {
			t.Errorf("%v: predictions differ by %v, A2 by %v", g, r.Apart, r.Noise)
		}
		if !r.Found {
			t.Errorf("%v: stage 1 misses a parent", g)
		}
	}
}

func TestErrorFallsLikeTheRootOfTheSequences(t *testing.T) {
	curves, err := RunErrorCurves(t.Context(), graph.Chain, trial.MustPrior(trial.DynamicsPrior), []int{8, 12}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range curves {
		if c.Law.Exponent < -0.7 || c.Law.Exponent > -0.3 {
			t.Errorf("T = %d: error ~ N^%v, want about -1/2", c.T, c.Law.Exponent)
		}
	}
}
