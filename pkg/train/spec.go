// Package train trains a transformer of package model on fresh sequences of one
// of the paper's tasks. A [Spec] is all that determines a run, in three parts, the
// task, the model and the optimiser:
//
//	spec := train.Spec{
//		Task:      train.Task1{Parents: []int{-1, 0, 0, 1, 2, -1}, States: 3, Prior: "dirichlet(0.1)"},
//		Model:     train.Disentangled{Heads: [2]int{1, 1}},
//		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
//		Batch:     1024, Steps: 1 << 10, Test: 1 << 12, Every: 1 << 7,
//	}
//
// and a [Trainer] takes its steps,
//
//	t, err := train.New(spec, 0) // on every processor
//	err = t.Advance(spec.Steps)  // says if the run diverges
//	run := t.Snapshot()          // weights, and the curve of test losses
//
// with the same bytes for any number of workers, after any number of
// interruptions ([Trainer.Restore]), and on every platform. Package runs keeps
// the result under an address that is a hash of the JSON of the spec.
//
// What no Spec can write down is trained too, but has no address: sequences of one's
// own law ([OwnTask]) or of one's own making ([Trainer.AdvanceOn]).
package train

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/engine"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// Version names the numerics. Two builds with the same Version give the same
// bytes for the same Spec; a test that pins the bytes of a short run forces a
// new Version whenever they change.
const Version = "2"

// Spec is everything that determines a training run, byte for byte. Its zero
// value is refused: the three parts have to be given, and Batch and Steps have to be
// positive.
type Spec struct {
	Task      Task      // what is learnt: Task1, Task2 or OwnTask
	Model     Model     // what learns it: Disentangled or MLP
	Optimiser Optimiser // how: SGD or AdamW

	Batch int    // fresh sequences in each step
	Steps int    // number of optimiser steps
	Seed  uint64 // of every random draw in the run
	Test  int    // sequences in the test set; 0 stands for 4096
	Every int    // steps between two evaluations on the test set; 0 stands for Steps/8, at least 1
}

// defaultTest is the number of test sequences where none is given.
const defaultTest = 1 << 12

// Canonical returns the spec as it is stored and addressed: with the numbers that
// stand for a Test or Every of 0, and the prior as it prints itself, "dirichlet(0.1)"
// for "dirichlet(1e-1)". Specs of one canonical form are one run. What is wrong is
// left as it is, for [Spec.Validate].
func (s Spec) Canonical() Spec {
	if s.Task != nil {
		s.Task = s.Task.canonical()
	}
	if s.Test == 0 {
		s.Test = defaultTest
	}
	if s.Every == 0 {
		s.Every = max(1, s.Steps/8)
	}
	return s
}

// S returns the number of tokens. It panics if there is no task.
func (s Spec) S() int { return s.task().tokens() }

// T returns the number of positions. It panics if there is no task.
func (s Spec) T() int { return len(s.task().parents()) }

func (s Spec) task() Task {
	if s.Task == nil {
		panic("train: spec without a task")
	}
	return s.Task
}

// Experiment says in words what is trained, as stored runs name it: the task, the
// model, and the optimiser if it is SGD. It is empty if a part is missing.
func (s Spec) Experiment() string {
	if s.complete() != nil {
		return ""
	}
	return s.Task.name() + ", two-layer " + s.Model.name() + s.Optimiser.name()
}

// Validate returns an error that names the first field that is wrong, or so large
// that no machine has the memory that it takes, 16 TiB.
func (s Spec) Validate() error {
	if err := s.complete(); err != nil {
		return err
	}
	if _, err := s.Task.source(); err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"batch", s.Batch}, {"steps", s.Steps}} {
		if f.value < 1 {
			return fmt.Errorf("spec: %s is %d, want at least 1", f.name, f.value)
		}
	}
	if s.Test < 0 {
		return fmt.Errorf("spec: test is %d, want at least 1, or 0 for %d", s.Test, defaultTest)
	}
	if s.Every < 0 {
		return fmt.Errorf("spec: every is %d, want at least 1, or 0 for an eighth of the steps", s.Every)
	}
	if err := s.Model.validate(); err != nil {
		return err
	}
	if err := s.Optimiser.validate(); err != nil {
		return err
	}
	return s.checkSize()
}

// complete returns an error if a part is missing.
func (s Spec) complete() error {
	if s.Task == nil || s.Model == nil || s.Optimiser == nil {
		return fmt.Errorf("spec: task %T, model %T and optimiser %T, want one of each", s.Task, s.Model, s.Optimiser)
	}
	return nil
}

// RateAt returns the learning rate of step i, counted from 0:
//
//	Constant: Rate
//	Cosine:   Rate (1 + cos(pi i/Steps)) / 2
//
// It panics if there is no optimiser, or i is not in 0..Steps.
func (s Spec) RateAt(i int) float64 {
	if s.Optimiser == nil {
		panic("train: spec without an optimiser")
	}
	if i < 0 || i > s.Steps || s.Steps == 0 {
		panic(fmt.Sprintf("train: rate of step %d of %d", i, s.Steps))
	}
	rate, schedule := s.Optimiser.rate()
	if schedule == Constant {
		return rate
	}
	return float64(rate * float64(0.5*(1+num.CosPi(float64(i)/float64(s.Steps)))))
}

// NewWeights returns zero weights of the model that the spec trains. It panics if
// [Spec.Validate] has an error, or if they take more memory than New takes.
func (s Spec) NewWeights() model.Model {
	s.mustBeValid()
	bytes := 8 * s.Model.footprint(s.S(), s.T()).Weights
	if err := CheckMemory(bytes, "the weights of "+s.describe()); err != nil {
		panic(err.Error())
	}
	return s.Model.weights(s.S(), s.T())
}

// NewMoments returns zero moments as the optimiser keeps them, nil for SGD. It
// panics as NewWeights does.
func (s Spec) NewMoments() []model.Model { return s.Optimiser.start(s.NewWeights()).moments() }

// NewSnapshot returns the state after so many steps in its form alone: the weights,
// the moments, and the losses and attentions of the curve are zero. There is an error
// if the spec is wrong, if the step is not in 0..Steps, or if that takes more memory
// than New takes.
func (s Spec) NewSnapshot(step int) (Snapshot, error) {
	if err := s.Validate(); err != nil {
		return Snapshot{}, err
	}
	s = s.Canonical()
	if step < 0 || step > s.Steps {
		return Snapshot{}, fmt.Errorf("train: snapshot at step %d of a run of %d steps", step, s.Steps)
	}
	if err := CheckMemory(s.snapshotMemory(), "a snapshot of "+s.describe()); err != nil {
		return Snapshot{}, err
	}
	all := Snapshot{Step: step, Weights: s.NewWeights(), Moments: s.NewMoments()}
	for n := range step/s.Every + 1 {
		all.Curve = append(all.Curve, Point{Step: n * s.Every})
	}
	if step == s.Steps && step%s.Every != 0 {
		all.Curve = append(all.Curve, Point{Step: step})
	}
	return all, nil
}

func (s Spec) mustBeValid() {
	if err := s.Validate(); err != nil {
		panic("train: " + err.Error())
	}
}

// chunk is the number of test sequences that are drawn and summed at a time.
const chunk = 1024

// TestSet draws the test sequences of a run; they are disjoint from its
// training streams. There is an error if the spec is wrong, or if they take more
// memory than New takes.
func (s Spec) TestSet() (*task.Batch, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s = s.Canonical()
	src, err := s.Task.source()
	if err != nil {
		return nil, err
	}
	bytes := 8 * float64(s.Test) * float64(s.S()+s.T())
	if err := CheckMemory(bytes, fmt.Sprintf("%d test sequences", s.Test)); err != nil {
		return nil, err
	}
	b, sampler := src.batch(s.Test), src.sampler()
	for c := 0; c*chunk < s.Test; c++ {
		lo, hi := c*chunk, min((c+1)*chunk, s.Test)
		part := &task.Batch{T: b.T, S: b.S, X: b.X[lo*b.T : hi*b.T], Y: b.Y[lo*b.S : hi*b.S]}
		sampler.Fill(part, num.Stream(s.Seed, "test", uint64(c)))
	}
	return b, nil
}

// HeadAttentions returns the attention of each head of the first layer: T x T,
// row-stochastic, lower triangular. It is S(MASK(A1)) for the disentangled transformer,
// with A1 the position-position block, and MeanAttention for the one with MLPs. It
// panics if the spec is wrong, or w is not of its model.
func (s Spec) HeadAttentions(w model.Model) []*mat.Dense {
	s.check(w)
	return s.Model.attention(s, w)
}

// MeanAttention returns the attention of each head of the first layer, averaged
// over the first 1024 sequences of the test set: T x T, row-stochastic, lower
// triangular. It panics if the spec is wrong, or w is not of its model.
func (s Spec) MeanAttention(w model.Model) []*mat.Dense {
	s = s.Canonical()
	s.check(w)
	s.Test = min(s.Test, chunk)
	b, err := s.TestSet()
	if err != nil {
		panic("train: " + err.Error())
	}
	return engine.New(w).MeanAttention(b.X)
}

// Attention returns the mean over the edges p -> i of the graph of the largest of the
// HeadAttentions P_ip, NaN for a graph without edges between positions. With one head
// it is the quantity of Figure 9. It panics as HeadAttentions does.
func (s Spec) Attention(w model.Model) float64 { return s.onParents(s.HeadAttentions(w)) }

// onParents is Attention for the heads with the attentions a.
func (s Spec) onParents(a []*mat.Dense) float64 {
	sum, edges := 0.0, 0
	for i, ps := range s.Task.parents() {
		for _, p := range ps {
			best := 0.0
			for _, head := range a {
				best = max(best, head.At(i, p))
			}
			sum += best
			edges++
		}
	}
	if edges == 0 {
		return math.NaN() // with the bits that its name in a CSV file is read as
	}
	return sum / float64(edges)
}

// check panics if the spec is wrong, or w is not of its model.
func (s Spec) check(w model.Model) {
	s.mustBeValid()
	if !s.Model.holds(s, w) {
		panic(fmt.Sprintf("train: weights of another model than that of the spec, %s", s.describe()))
	}
}

// describe tells the model of a complete spec.
func (s Spec) describe() string {
	return fmt.Sprintf("a %s of %s with S=%d, T=%d", s.Model.name(), s.Model.size(), s.S(), s.T())
}

// positive tells whether x is a number above zero that is finite.
func positive(x float64) bool { return x > 0 && x <= math.MaxFloat64 }
