package claims

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/theory"
)

// The runaway of Lemma 7 (lem-no-parents) is not one of the limit: gradient descent on the
// exact population loss, at beta0 = 1/1000 and in both readings, gives a root's
// attention to itself while its neighbour finds its parent.
func TestRootRunsAwayOnTheExactPopulation(t *testing.T) {
	g := graph.InContext(8)
	for _, reading := range []theory.Reading{theory.QueryInSequence, theory.QueryApart} {
		pop, err := theory.NewPopulation(g, stageOnePriors()[0], 1/math.Sqrt(8), reading)
		if err != nil {
			t.Fatal(err)
		}
		m := theory.NewReduced(3, 8, 0.001)
		const rate = 2 * 3 * 8 / 0.001
		for range 100 {
			for k, v := range pop.Gradient(m).G1 {
				m.A1[k] -= rate * v
			}
		}
		a := m.Attention()
		if root, child := a[6*8+6], a[5*8+4]; root < 0.9 || child < 0.9 {
			t.Errorf("%v: attention %.3f of the root to itself, %.3f of the child to its parent", reading, root, child)
		}
	}
}
