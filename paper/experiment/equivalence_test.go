package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// A standard transformer and the disentangled one that it is mapped to compute
// the same, and so do the two on the way back.
func TestRandomTransformersKeepTheirFunctionsWhenMapped(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		s, length, d, depth := 1+r.IntN(4), 1+r.IntN(6), 1+r.IntN(7), 1+r.IntN(3)
		m := RandomStandard(r, s, length, d, depth)
		if len(m.Layers) != depth {
			t.Fatalf("%d layers, want %d", len(m.Layers), depth)
		}
		x := RandomTokens(r, s, length)
		if got, want := m.Disentangle().Linear(x), m.Forward(x); !mat.EqualApprox(got, want, 1e-11) {
			t.Errorf("disentangled: %v, want %v", mat.Formatted(got), mat.Formatted(want))
		}
		w := RandomDisentangled(r, s, length, depth)
		if got, want := w.Standard().Forward(x), w.Linear(x); !mat.EqualApprox(got, want, 1e-11) {
			t.Errorf("as a standard transformer: %v, want %v", mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// The sample is within four standard errors of the enumeration; a false alarm has
// a probability of 1e-4 for each construction, and the seed is preset.
func TestSampledLimitErrorAgreesWithEnumeration(t *testing.T) {
	for _, c := range []*model.Construction{
		model.ConstructionOne(graph.Chain(8), 2), model.ConstructionTwo(graph.NGram(8, 2), 2),
	} {
		got := SampledLimitError(c, 8, 1<<13, rand.New(rand.NewPCG(7, 8)))
		want := ConstructionErrors(c, 1).Limit
		if math.Abs(got.Mean-want) > 4*got.StdErr || got.StdErr > 0.01 {
			t.Errorf("%+v by sampling, %v by enumeration", got, want)
		}
	}
}
