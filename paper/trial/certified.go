package trial

import (
	"fmt"

	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// CertifiedPseudo is the parameter of the Dirichlet prior of the certified runs.
const CertifiedPseudo = 0.5

// CertifiedSpecs are runs of the simplified transformer on chains whose sequences can be enumerated, and one of the
// disentangled transformer, of which there is no CertifiedModel.
func CertifiedSpecs() (specs []train.Spec) {
	for _, size := range [][2]int{{2, 12}, {3, 9}} {
		specs = append(specs, train.Spec{
			Task: train.Task1{
				Parents: graph.Chain(size[1]).Parents(), States: size[0], Prior: fmt.Sprintf("dirichlet(%g)", CertifiedPseudo),
			},
			Model:     train.Positional{Heads: 1, Init: 1},
			Optimiser: train.AdamW{Rate: 0.01, Schedule: train.Cosine},
			Batch:     256, Steps: 24000,
		})
	}
	other := specs[0]
	other.Model, other.Steps = train.Disentangled{Heads: [2]int{1, 1}}, 16000
	other.Optimiser = train.SGD{Rate: 1, Schedule: train.Cosine}
	return append(specs, other)
}
