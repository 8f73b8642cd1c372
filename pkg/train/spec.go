package train

import (
	"learncausal/pkg/model"
)

// Version names the numerics. Two builds with the same Version give the same
// bytes for the same Spec; a test that pins the bytes of a short run forces a
// new Version whenever they change.
const Version = "1"

// Spec is everything that determines a training run of the two-layer,
// one-head-per-layer disentangled transformer on Task 1, byte for byte.
type Spec struct {
	Parents  []int   `json:"parents"`  // causal graph: Parents[i] is the parent of position i, -1 for a root; length T, the query last
	States   int     `json:"states"`   // S, the size of the alphabet
	Prior    string  `json:"prior"`    // prior over transition matrices, as markov.ParsePrior reads it: "dirichlet(0.1)"
	Batch    int     `json:"batch"`    // fresh sequences in each step
	Steps    int     `json:"steps"`    // number of SGD steps
	Rate     float64 `json:"rate"`     // initial learning rate
	Schedule string  `json:"schedule"` // "constant" or "cosine" (to zero over Steps)
	Seed     uint64  `json:"seed"`     // of every random draw in the run
	Test     int     `json:"test"`     // sequences in the test set
	Every    int     `json:"every"`    // steps between two evaluations on the test set
}

// Point is one evaluation along a run.
type Point struct {
	Step      int     // number of SGD steps taken before the evaluation
	Loss      float64 // mean cross-entropy on the test set, in nats
	Attention float64 // mean over the edges p(i) -> i of S(MASK(A1))_{i,p(i)}, A1 the position-position block
}

// Snapshot is the whole state of a run after Step steps. Randomness is drawn
// from streams addressed by (seed, purpose, step, shard), so that no generator
// state needs to be kept.
type Snapshot struct {
	Step    int
	Weights *model.Weights
	Curve   []Point // the evaluations so far, at steps 0, Every, 2 Every, ... and at the last step
}
