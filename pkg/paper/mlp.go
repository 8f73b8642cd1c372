package paper

import (
	"learncausal/pkg/train"
)

// MLPSeeds is the number of seeds for each graph and each kind of embeddings of
// the standard transformer.
const MLPSeeds = 3

// MLPSpec returns the released code's setting for the standard transformer with
// MLPs on the graph of e: width 30, 2^12 steps of AdamW on 1024 fresh sequences
// each, embeddings "trained" as the code has them, or "fixed" as the paper says.
func (e SingleParent) MLPSpec(embeddings string, seed int) train.Spec {
	s := e.Spec()
	s.Steps, s.Every, s.Rate, s.Seed = 1<<12, 1<<5, 0.01, uint64(seed)
	s.Optimiser, s.Decay, s.Width, s.Embeddings = "adamw", 2e-4, 30, embeddings
	return s
}

// MLPSpecs returns the specification of every run of Figure 8: those with
// trained embeddings first, seed by seed, in the order of SingleParents.
func MLPSpecs() []train.Spec {
	var specs []train.Spec
	for _, embeddings := range []string{"trained", "fixed"} {
		for seed := range MLPSeeds {
			for _, e := range SingleParents() {
				specs = append(specs, e.MLPSpec(embeddings, seed))
			}
		}
	}
	return specs
}
