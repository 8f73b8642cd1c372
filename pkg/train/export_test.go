package train

import (
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// NewWeights returns zero weights of the model.
func (s Spec) NewWeights() model.Model { return s.Model.New(s.S(), s.T()) }

// holds reports whether w has the shape of the model of s.
func (s Spec) holds(w model.Model) bool {
	return w != nil && model.SameShape(w, s.NewWeights())
}

// advanceOn takes a step on the given sequences, Spec.Batch of them, instead of fresh ones.
// It overwrites them.
func (t *Trainer) advanceOn(b *task.Batch) error {
	for k := range t.shard {
		lo, hi := part(b.Len(), k)
		t.shard[k].batch = between(b, lo, hi)
	}
	t.drawn = t.step
	return t.Advance(1)
}
