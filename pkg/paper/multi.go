package paper

import (
	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// A MultiParent is one of the runs of Figures 5 and 7.
type MultiParent struct {
	ID, Title string
	Graph     *graph.DAG
}

// MultiSeeds is the number of seeds for each graph with several parents.
const MultiSeeds = 5

// MultiParents returns the experiments of Figure 7, in its order.
func MultiParents() []MultiParent {
	return []MultiParent{
		{"trigram", "3-gram", graph.NGram(32, 2)},
		{"halves", "(i − 1, ⌊(i − 1)/2⌋)", graph.Halves(32)},
		{"fourgram", "4-gram", graph.NGram(32, 3)},
	}
}

// Spec returns the setting of the released code with one head for each parent:
// S = 5, alpha = 0.1, 2^16 steps of AdamW from attention matrices of standard
// deviation 1e-4. The paper states alpha = 1 and a standard deviation of 0.01,
// and no weight decay.
func (m MultiParent) Spec(seed int) train.Spec {
	k, err := m.Graph.Uniform()
	if err != nil {
		panic(err)
	}
	return train.Spec{
		Nodes: m.Graph.Parents(), States: 5, Prior: "dirichlet(0.1)", Roots: "dirichlet", Heads: k,
		Batch: 1024, Steps: 1 << 16, Rate: 0.01, Schedule: "cosine", Optimiser: "adamw", Decay: 1e-4, Init: 1e-4,
		Seed: uint64(seed), Test: 1 << 16, Every: 1 << 9,
	}
}
