// Package train trains a transformer of package model on fresh sequences of
// Task 1 or 2. A Spec is all that determines a run; a Trainer takes its steps,
// by SGD or AdamW, with the same bytes for any number of workers and after any
// number of interruptions.
package train

import (
	"learncausal/pkg/model"
)

// Version names the numerics. Two builds with the same Version give the same
// bytes for the same Spec; a test that pins the bytes of a short run forces a
// new Version whenever they change.
const Version = "1"

// Spec is everything that determines a training run, byte for byte: of the
// two-layer disentangled transformer, or of the two-layer standard transformer
// with MLPs.
//
// The first fields are those of SGD on Task 1 with one head per layer and zero
// initial weights. The others have zero values for that case, and are then left
// out of the JSON by which a run is addressed.
type Spec struct {
	Parents  []int   `json:"parents"`  // causal graph of Task 1: Parents[i] is the parent of position i, -1 for a root; length T, the query last
	States   int     `json:"states"`   // S, the size of the alphabet
	Prior    string  `json:"prior"`    // prior over transition matrices, as markov.ParsePrior reads it: "dirichlet(0.1)"
	Batch    int     `json:"batch"`    // fresh sequences in each step
	Steps    int     `json:"steps"`    // number of optimiser steps
	Rate     float64 `json:"rate"`     // initial learning rate
	Schedule string  `json:"schedule"` // "constant" or "cosine" (to zero over Steps)
	Seed     uint64  `json:"seed"`     // of every random draw in the run
	Test     int     `json:"test"`     // sequences in the test set
	Every    int     `json:"every"`    // steps between two evaluations on the test set

	Nodes     [][]int `json:"nodes,omitempty"`     // causal graph of Task 2, in place of Parents: the parents of each of the T positions and of the label
	Roots     string  `json:"roots,omitempty"`     // Task 2: "dirichlet" (one draw for each sequence) or "uniform"
	Heads     int     `json:"heads,omitempty"`     // in the first layer; 0 is one
	Second    int     `json:"second,omitempty"`    // heads in the second layer; 0 is one
	Optimiser string  `json:"optimiser,omitempty"` // "adamw"; "" is SGD
	Decay     float64 `json:"decay,omitempty"`     // AdamW's weight decay
	Init      float64 `json:"init,omitempty"`      // standard deviation of the initial attention matrices, which are normal; W starts at zero

	Width      int    `json:"width,omitempty"`      // of the standard transformer with MLPs; 0 is the disentangled transformer
	Embeddings string `json:"embeddings,omitempty"` // of the standard transformer: "trained" or "fixed"
}

// T returns the number of positions.
func (s Spec) T() int {
	if s.Nodes != nil {
		return len(s.Nodes) - 1
	}
	return len(s.Parents)
}

// NewWeights returns zero weights of the model that the spec trains.
func (s Spec) NewWeights() *model.Weights {
	if s.Width > 0 {
		return model.NewMLPWeights(s.States, s.T(), s.Width, s.Embeddings == "fixed")
	}
	return model.NewWeights(s.States, s.T(), max(s.Heads, 1), max(s.Second, 1))
}

// NewEngine returns an engine for the model that the spec trains.
func (s Spec) NewEngine() *model.Engine {
	if s.Width > 0 {
		return model.NewMLPEngine(s.States, s.T(), s.Width)
	}
	return model.NewEngine(s.States, s.T(), max(s.Heads, 1), max(s.Second, 1))
}

// Point is one evaluation along a run.
type Point struct {
	Step      int     // number of optimiser steps taken before the evaluation
	Loss      float64 // mean cross-entropy on the test set, in nats
	Attention float64 // see Spec.Attention
}

// Snapshot is the whole state of a run after Step steps. Randomness is drawn
// from streams addressed by (seed, purpose, step, shard), so that no generator
// state needs to be kept.
type Snapshot struct {
	Step    int
	Weights *model.Weights
	Moments []*model.Weights // AdamW's first and second moments; nil for SGD
	Curve   []Point          // the evaluations so far, at steps 0, Every, 2 Every, ... and at the last step
}
