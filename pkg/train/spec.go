// Package train trains a transformer of package model on fresh sequences of one of the paper's
// tasks. A [Spec] determines a run. It has three parts, the task, the model and the optimiser:
//
//	spec := train.Spec{
//		Task:      train.Task1{Parents: []int{-1, 0, 0, 1, 2, -1}, States: 3, Prior: "dirichlet(0.1)"},
//		Model:     train.Disentangled{Heads: [2]int{1, 1}},
//		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
//		Batch:     1024, Steps: 1 << 10, Test: 1 << 12, Every: 1 << 7,
//	}
//
// A [Trainer] takes its steps:
//
//	t, err := train.New(spec, 0) // on every processor
//	err = t.Advance(spec.Steps)  // an error if the run diverges
//	run := t.Snapshot()          // weights, and the curve of test losses
//
// The bytes do not depend on the number of workers, on interruptions ([Trainer.Restore]) or, with the types of this
// package, on the platform. Run of package nb stores runs by a hash of the JSON of the spec.
//
// [Task], [Model] and [Optimiser] are interfaces: a type of your own with their methods trains in the same way, and has
// JSON once it is given a name by [Register]; the folder examples has one of each.
package train

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// Version names the numerics: builds of one Version give the same bytes for the same Spec. A
// test of the bytes of short runs fails where they change; then Version must change too.
const Version = "2"

// Spec determines a training run, byte for byte. The three parts are required, and Batch and
// Steps must be positive.
type Spec struct {
	Task      Task      // Task1, Task2, Chain, or one of your own
	Model     Model     // Disentangled, MLP, Positional, or one of your own
	Optimiser Optimiser // SGD, AdamW, or one of your own

	Batch int    // fresh sequences in each step
	Steps int    // number of optimiser steps
	Seed  uint64 // of all random numbers in the run
	Test  int    // sequences in the test set; 0 stands for 4096
	Every int    // steps between two evaluations on the test set; 0 stands for Steps/8, at least 1
	Norms bool   // an evaluation has the norms of the gradient, Point.Norms

	Freeze []string // blocks of the weights that keep their values, by their names in [model.Block]
}

// defaultTest is the number of test sequences for a Test of 0.
const defaultTest = 1 << 12

// Canonical returns the spec as it is stored and addressed: Test and Every are not 0, and the
// prior is as its String method prints it, "dirichlet(0.1)" for "dirichlet(1e-1)". Freeze is sorted. Specs
// with the same canonical form are one run. Wrong fields are left for [Spec.Validate].
func (s Spec) Canonical() Spec {
	if s.Task != nil {
		s.Task = taskKind(s.Task).canonical()
	}
	if s.Optimiser != nil {
		s.Optimiser = canonicalOptimiser(s.Optimiser)
	}
	if s.Test == 0 {
		s.Test = defaultTest
	}
	if s.Every == 0 {
		s.Every = max(1, s.Steps/8)
	}
	s.Freeze = slices.Compact(slices.Sorted(slices.Values(s.Freeze)))
	return s
}

// S returns the number of tokens. It panics if there is no task.
func (s Spec) S() int { return s.task().Tokens() }

// T returns the number of positions. It panics if there is no task.
func (s Spec) T() int { return len(s.task().ParentSets()) }

func (s Spec) task() Task {
	if s.Task == nil {
		panic("train: spec without a task")
	}
	return s.Task
}

// Description describes the run in words, as stored runs do: the task, the model, and the
// optimiser if it is SGD. It is empty if a part is missing.
func (s Spec) Description() string {
	if s.complete() != nil {
		return ""
	}
	m := modelKind(s.Model)
	depth := "two-layer "
	if _, own := m.(ownModel); own {
		depth = ""
	}
	return taskKind(s.Task).name() + ", " + depth + m.name() + optimiserName(s.Optimiser)
}

// Validate returns an error that names the first field that is wrong, or so large that a run
// takes more than 16 TiB of memory.
func (s Spec) Validate() error {
	if err := s.complete(); err != nil {
		return err
	}
	if err := taskKind(s.Task).Validate(); err != nil {
		return err
	}
	switch {
	case s.Batch < 1:
		return fmt.Errorf("spec: batch is %d, want at least 1", s.Batch)
	case s.Steps < 1:
		return fmt.Errorf("spec: steps is %d, want at least 1", s.Steps)
	case s.Test < 0:
		return fmt.Errorf("spec: test is %d, want at least 1, or 0 for %d", s.Test, defaultTest)
	case s.Every < 0:
		return fmt.Errorf("spec: every is %d, want at least 1, or 0 for an eighth of the steps", s.Every)
	}
	if number, epoch := replayed(s.Task); number > 0 {
		if epoch%s.Batch != 0 || s.Seed > math.MaxUint32 {
			return fmt.Errorf("spec: jax with batch %d and seed %d, want a power of 2 up to %d and a seed below 2^32",
				s.Batch, s.Seed, epoch)
		}
		if _, mlp := s.Model.(MLP); mlp && number < 2 {
			return fmt.Errorf("spec: jax is %d with MLPs, want at least 2: their weights have a key of their own", number)
		}
	}
	if err := s.Model.Validate(); err != nil {
		return err
	}
	if err := s.Optimiser.Validate(); err != nil {
		return err
	}
	if err := s.checkSize(); err != nil || len(s.Freeze) == 0 {
		return err
	}
	if err := CheckMemory(8*modelKind(s.Model).footprint(s.S(), s.T()).Weights, s.describe()); err != nil {
		return err
	}
	_, err := s.frozen(s.Model.New(s.S(), s.T()))
	return err
}

// frozen returns the blocks of w that keep their values.
func (s Spec) frozen(w model.Model) (blocks []*mat.Dense, err error) {
	for _, name := range s.Freeze {
		b, err := model.Block(w, name)
		if err != nil {
			return nil, fmt.Errorf("spec: freeze: %w", err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// complete returns an error if a part is missing.
func (s Spec) complete() error {
	if s.Task == nil || s.Model == nil || s.Optimiser == nil {
		return fmt.Errorf("spec: task %T, model %T and optimiser %T, want one of each", s.Task, s.Model, s.Optimiser)
	}
	return nil
}

// valid returns the canonical spec, or the error of [Spec.Validate].
func (s Spec) valid() (Spec, error) {
	if err := s.Validate(); err != nil {
		return s, err
	}
	return s.Canonical(), nil
}

// mustValid is valid with a panic in place of an error.
func (s Spec) mustValid() Spec {
	s, err := s.valid()
	if err != nil {
		panic("train: " + err.Error())
	}
	return s
}

// NewSnapshot returns a state at a step whose weights, moments, losses and attentions are zero. It returns an
// error if the spec is wrong, if step is not in 0..Steps, or if the state takes more memory than [New] allows.
func (s Spec) NewSnapshot(step int) (Snapshot, error) {
	s, err := s.valid()
	if err != nil {
		return Snapshot{}, err
	}
	if step < 0 || step > s.Steps {
		return Snapshot{}, fmt.Errorf("train: snapshot at step %d of a run of %d steps", step, s.Steps)
	}
	bytes := 8 * (float64(copies(s.Optimiser)*modelKind(s.Model).footprint(s.S(), s.T()).Weights) + float64(s.points()))
	if err := CheckMemory(bytes, "a snapshot of "+s.describe()); err != nil {
		return Snapshot{}, err
	}
	w := s.Model.New(s.S(), s.T())
	all := Snapshot{Step: step, Weights: w, Moments: s.Optimiser.Start(w).Moments()}
	for n := range step/s.Every + 1 {
		all.Curve = append(all.Curve, s.newPoint(n*s.Every))
	}
	if step == s.Steps && step%s.Every != 0 {
		all.Curve = append(all.Curve, s.newPoint(step))
	}
	return all, nil
}

func (s Spec) newPoint(step int) Point {
	p := Point{Step: step}
	if n := len(s.NormNames()); n > 0 {
		p.Norms = make([]float64, n)
	}
	return p
}

// NormNames returns the names of the entries of Point.Norms: "gradient" for all trained matrices, and the name of each
// one, as in [model.Matrix]. It is empty without Norms. It panics if there is no model.
func (s Spec) NormNames() []string {
	if !s.Norms {
		return nil
	}
	names := []string{"gradient"}
	for _, m := range s.Model.New(1, 1).Matrices() {
		if !m.Fixed {
			names = append(names, m.Name)
		}
	}
	return names
}

// chunk is the number of test sequences that are drawn and summed at a time.
const chunk = 1024

// TestSet draws the test sequences of a run, independent of its training sequences. It
// returns an error if the spec is wrong, or if they take more memory than [New] allows.
func (s Spec) TestSet() (*task.Batch, error) {
	s, err := s.valid()
	if err != nil {
		return nil, err
	}
	bytes := 8 * float64(s.Test) * float64(s.S()+s.T())
	if err := CheckMemory(bytes, fmt.Sprintf("%d test sequences", s.Test)); err != nil {
		return nil, err
	}
	b, draws := s.newBatch(s.Test), taskKind(s.Task).drawer()
	for c := 0; c*chunk < s.Test; c++ {
		if err := draws.test(between(b, c*chunk, min((c+1)*chunk, s.Test)), s, c); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (s Spec) newBatch(n int) *task.Batch {
	return &task.Batch{T: s.T(), S: s.S(), X: make([]int, n*s.T()), Y: make([]float64, n*s.S())}
}

// between returns sequences lo to hi-1 of b, sharing its memory.
func between(b *task.Batch, lo, hi int) *task.Batch {
	return &task.Batch{T: b.T, S: b.S, X: b.X[lo*b.T : hi*b.T], Y: b.Y[lo*b.S : hi*b.S]}
}

// describe names the model of a complete spec and its sizes.
func (s Spec) describe() string {
	return fmt.Sprintf("a %s of %s with S=%d, T=%d", modelKind(s.Model).name(), modelKind(s.Model).size(), s.S(), s.T())
}

// positive reports whether x is positive and finite.
func positive(x float64) bool { return x > 0 && x <= math.MaxFloat64 }
