package main

import (
	"fmt"
	"math"

	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// A film has the weights of a run at some steps, for the start page.
type film struct {
	Parents []int // of the positions, -1 for a root
	States  int
	Steps   []int
	Weights [][]float64 // at each step: the arrays of model.Weights one after another
	X       []int       // the sequence of the first frames
	Frames  [][]frame   // of X, by ablation and step
	Losses  [][]float64 // on the test set, by ablation and step
}

// The film of the start page: the graph that graph.html begins with, and a sequence in which letter 1 follows letter 0.
var (
	filmParents = []int{-1, 0, 0, 1, 2, -1}
	filmX       = []int{0, 1, 1, 2, 2, 0}
	filmSteps   = []int{
		0, 16, 32, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192,
	}
)

// A frame is a forward pass on a sequence.
type frame struct {
	First  [][]float64 // attention of the first layer: T x T
	Second []float64   // attention of the query in the second layer
	F      []float64   // the predicted distribution
}

// ablations are the outputs that the page sets to zero: of no head, of the first, of the second, of both.
var ablations = []model.Edit{
	nil, model.Ablate("layer1.head1.out"), model.Ablate("layer2.head1.out"),
	model.Ablate("layer1.head1.out", "layer2.head1.out"),
}

// frames returns the forward passes on the sequence x, by ablation and step.
func (f *film) frames(x []int) ([][]frame, error) {
	if err := model.Check(x, nil, f.States, len(f.Parents)); err != nil {
		return nil, err
	}
	all := make([][]frame, len(ablations))
	for k := range f.Steps {
		w := f.weights(k)
		for a, off := range ablations {
			p, err := model.Run(w, x, off)
			if err != nil {
				return nil, err
			}
			first, second := p.Activations["layer1.head1.pattern"], p.Activations["layer2.head1.pattern"]
			shot := frame{Second: rounded(second.RawRowView(len(x) - 1)), F: rounded(p.F)}
			for i := range x {
				shot.First = append(shot.First, rounded(first.RawRowView(i)))
			}
			all[a] = append(all[a], shot)
		}
	}
	return all, nil
}

// weights returns the weights at the step with this index.
func (f *film) weights(k int) *model.Weights {
	w, rest := model.NewWeights(f.States, len(f.Parents), 1, 1), f.Weights[k]
	for _, a := range model.Trained(w) {
		rest = rest[copy(a, rest):]
	}
	return w
}

// shoot trains on a graph and returns the film.
func shoot(parents, x, steps []int) (*film, error) {
	s := trial.DefaultSettings()
	s.Steps = steps[len(steps)-1]
	spec, err := s.Spec(&trial.Graph{Forest: graph.MustNew(parents...)})
	if err != nil {
		return nil, err
	}
	t, err := train.New(spec, 1)
	if err != nil {
		return nil, err
	}
	f := &film{Parents: parents, States: s.States, Steps: steps, X: x}
	for _, step := range steps {
		if err := t.Advance(step - t.Step()); err != nil {
			return nil, err
		}
		var flat []float64
		for _, a := range model.Trained(t.Snapshot().Disentangled()) {
			flat = append(flat, rounded(a)...)
		}
		f.Weights = append(f.Weights, flat)
	}
	if f.Losses, err = f.losses(spec); err != nil {
		return nil, err
	}
	f.Frames, err = f.frames(x)
	return f, err
}

// losses returns the mean losses on the first 512 test sequences, by ablation and step.
func (f *film) losses(spec train.Spec) ([][]float64, error) {
	test, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	all := make([][]float64, len(ablations))
	for a, off := range ablations {
		for k := range f.Steps {
			w, each := f.weights(k), make([]float64, 512)
			for n := range each {
				x, y := test.Seq(n)
				p, err := model.Run(w, x, off)
				if err != nil {
					return nil, fmt.Errorf("step %d: %w", f.Steps[k], err)
				}
				each[n] = p.Loss(y)
			}
			all[a] = append(all[a], num.Average(each).Mean)
		}
		all[a] = rounded(all[a])
	}
	return all, nil
}

// rounded returns the values to three decimals, which keep the page small.
func rounded(v []float64) []float64 {
	r := make([]float64, len(v))
	for i, x := range v {
		r[i] = math.Round(1000*x) / 1000
	}
	return r
}
