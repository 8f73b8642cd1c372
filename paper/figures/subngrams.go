package figures

import (
	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// SubNGram returns the setting of the public code of Varre, Yüce and Flammarion (arXiv 2508.12837) on an n-gram with
// k = n-1 parents: five tokens, 128 positions, rows of Dirichlet(1), k heads and 6,000 steps.
func SubNGram(k, seed int) train.Spec {
	return train.Spec{
		Task: train.Task2{
			Parents: graph.NGram(128, k).Parents(), States: 5, Prior: "dirichlet(1)", UniformRoots: true,
		},
		Model: train.Positional{Heads: k, Values: true, Init: 1},
		Optimiser: train.AdamW{
			Rate: 1e-3, Schedule: train.Cosine, Decay: 1e-4, Betas: [2]float64{0, 0.999},
		},
		Batch: 128, Steps: 6000, Seed: uint64(seed), Test: 2048, Every: 100, Norms: true,
	}
}

// ShortNGram is [SubNGram] with three tokens, 32 positions and a constant rate of 0.01, which takes a twentieth of
// the time and passes all orders within its steps.
func ShortNGram(k, seed int) train.Spec {
	spec := SubNGram(k, seed)
	task, optimiser := spec.Task.(train.Task2), spec.Optimiser.(train.AdamW)
	task.Parents, task.States = graph.NGram(32, k).Parents(), 3
	optimiser.Rate, optimiser.Schedule = 0.01, train.Constant
	spec.Task, spec.Optimiser, spec.Test, spec.Every = task, optimiser, 4096, 50
	return spec
}

// shortSeeds is the number of runs of [ShortNGram] on the 3-gram.
const shortSeeds = 5

// subNGramSpecs are a run of [SubNGram] on the 2-gram and on the 3-gram, and runs of [ShortNGram]: one on the 2-gram,
// the others on the 3-gram.
func subNGramSpecs() []train.Spec {
	specs := []train.Spec{SubNGram(1, 1), SubNGram(2, 1), ShortNGram(1, 1)}
	for seed := range shortSeeds {
		specs = append(specs, ShortNGram(2, seed+1))
	}
	return specs
}
