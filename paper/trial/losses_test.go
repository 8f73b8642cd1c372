package trial

import (
	"testing"

	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// No prediction loses less than the entropy of what it predicts (Gibbs), on any
// sequence; with few tokens to count, that of the edges loses more on some.
func TestKnownLossesAreAtLeastTheEntropy(t *testing.T) {
	spec := liveSpec()
	spec.Test = 64
	for prior, counted := range map[string]bool{"dirichlet(0.5)": true, "orbit(0.7 0.3; 0.2 0.8)": false} {
		spec.Task = train.Task1{Parents: []int{-1, 0, 0, -1}, States: 2, Prior: prior}
		b, err := spec.TestSet()
		if err != nil {
			t.Fatal(err)
		}
		entropy, edges, err := KnownLosses(spec, b)
		if err != nil || len(entropy) != 64 || (edges != nil) != counted {
			t.Fatalf("%s: %d and %d losses, error %v", prior, len(entropy), len(edges), err)
		}
		more := 0
		for k, l := range edges {
			if l < entropy[k]-1e-12 {
				t.Errorf("sequence %d: loss %v below the entropy %v", k, l, entropy[k])
			}
			if l > entropy[k]+0.1 {
				more++
			}
		}
		if counted && more == 0 {
			t.Error("the edges alone lose no more than the matrix")
		}
	}
	spec.Task = train.Task1{Parents: []int{-1, 0, -1}, States: 2, Prior: "no prior"}
	if _, _, err := KnownLosses(spec, &task.Batch{T: 3, S: 2}); err == nil {
		t.Error("no error for a prior that is none")
	}
}
