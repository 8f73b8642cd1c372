// A task of your own: random tokens, and the label is the token at position 1. The last position should attend there.
package main

import (
	"fmt"
	"math/rand/v2"

	"learncausal/pkg/nb"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

type copying struct{}

func (copying) Validate() error          { return nil }
func (copying) Tokens() int              { return 3 }
func (copying) ParentSets() [][]int      { return [][]int{{}, {}, {}, {1}} }
func (copying) NewSampler() task.Sampler { return copying{} }

func (copying) Fill(b *task.Batch, src *rand.PCG) {
	rng := rand.New(src)
	for i := range b.X {
		b.X[i] = rng.IntN(b.S)
	}
	clear(b.Y)
	for k := range b.Len() {
		x, y := b.Seq(k)
		y[x[1]] = 1
	}
}

func main() {
	spec := train.Spec{
		Task: copying{}, Model: train.Disentangled{Heads: [2]int{1, 1}, Init: 0.01},
		Optimiser: train.AdamW{Rate: 0.02, Schedule: train.Constant}, Batch: 64, Steps: 192, Test: 512,
	}
	t := nb.Must(train.New(spec, 0))
	nb.Check(t.Advance(spec.Steps))
	end := t.Snapshot()
	fmt.Printf("test loss %.3f, ", end.Curve[len(end.Curve)-1].Loss)
	fmt.Printf("attention of position 3 on position 1: %.2f\n", spec.Attention(end.Weights))
	// Output:
	// test loss 0.005, attention of position 3 on position 1: 0.74
}
