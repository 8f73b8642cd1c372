package figures

import (
	"testing"

	"learncausal/paper/trial"
	"learncausal/pkg/graph"
)

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
