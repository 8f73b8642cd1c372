package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// shards is the number of parts of a batch, each with its random stream and its gradient. The
// gradients are added in order, so the result does not depend on the number of workers.
const shards = 8

// Point is one evaluation along a run.
type Point struct {
	Step      int     // number of optimiser steps before the evaluation
	Loss      float64 // mean cross-entropy on the test set, in nats
	Attention float64 // see Spec.Attention

	// Norms are the Euclidean norms of the gradient of Loss, with the names of Spec.NormNames. They are nil
	// without Spec.Norms.
	Norms []float64
}

// Snapshot is the state of a run after Step steps. Random numbers come from streams addressed
// by (seed, purpose, step, shard), so the state of a generator is not part of it.
type Snapshot struct {
	Step    int
	Weights model.Model
	Moments []model.Model // of the optimiser: AdamW's first and second moments; nil for SGD
	Curve   []Point       // the evaluations so far, at steps 0, Every, 2 Every, ... and at the last step
}

// Disentangled returns the weights of a disentangled transformer. It panics for those of another model.
func (s Snapshot) Disentangled() *model.Weights {
	w, ok := s.Weights.(*model.Weights)
	if !ok {
		panic(fmt.Sprintf("train: the weights are a %T, want those of a disentangled transformer", s.Weights))
	}
	return w
}

// A Trainer takes the steps of a Spec, each on fresh sequences, and evaluates on the test set every Spec.Every
// steps. [Trainer.Snapshot] returns its state and [Trainer.Restore] sets it. The result does not depend on the
// number of workers. A trainer is for one goroutine; its workers run within its methods.
//
// A run diverges when a loss is NaN. Advance then returns an error.
//
// A step costs Spec.Batch forward and backward passes and a few passes over the tables. [Spec.Memory]
// estimates the memory.
type Trainer struct {
	spec      Spec
	step      int
	weights   model.Model
	optimiser Steps
	frozen    []*mat.Dense // blocks of weights
	curve     []Point
	loss      float64

	engine  engine.Engine
	workers []worker
	shard   [shards]shard
	total   engine.Gradient
	drawn   int // step of the batches in shard, -1 for none
	test    *task.Batch
}

// A worker is the memory of one goroutine.
type worker struct {
	pass    engine.Pass
	sampler drawer
}

type shard struct {
	batch, next  *task.Batch
	fault, later error // of drawing batch, and next
	grad         engine.Gradient
	loss         float64
}

// New returns a trainer at step 0. It uses the given number of workers, at most 16, and one for each processor
// if workers is not positive. It returns an error if the spec is wrong, or if training takes more memory than
// allowed: the environment variable GOMEMLIMIT, by default 4 GiB or the installed memory if that is less.
func New(spec Spec, workers int) (*Trainer, error) {
	t, err := begin(spec, workers)
	if err != nil {
		return nil, err
	}
	t.evaluate()
	return t, nil
}

// Resume returns a trainer in the state s, a [Snapshot] of the same spec. It saves the
// evaluation at step 0 of New. It returns the errors of New and [Trainer.Restore].
func Resume(spec Spec, workers int, s Snapshot) (*Trainer, error) {
	t, err := begin(spec, workers)
	if err == nil {
		err = t.Restore(s)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// begin returns a trainer at step 0 without an evaluation.
func begin(spec Spec, workers int) (*Trainer, error) {
	spec, err := spec.valid()
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("training %s, batch %d and test set %d", spec.describe(), spec.Batch, spec.Test)
	if err := CheckMemory(spec.Memory(workers), what); err != nil {
		return nil, err
	}
	t := &Trainer{spec: spec, weights: spec.Model.New(spec.S(), spec.T()), drawn: -1}
	spec.Model.Initialise(t.weights, spec)
	if t.engine, err = engine.Of(t.weights); err != nil {
		return nil, fmt.Errorf("train: %s: %w", modelKind(spec.Model).name(), err)
	}
	t.optimiser = spec.Optimiser.Start(t.weights)
	if t.frozen, err = spec.frozen(t.weights); err != nil {
		return nil, err
	}
	if t.test, err = spec.TestSet(); err != nil {
		return nil, err
	}
	for range workerCount(workers) {
		t.workers = append(t.workers, worker{t.engine.NewPass(), taskKind(spec.Task).drawer()})
	}
	for k := range t.shard {
		lo, hi := part(spec.Batch, k)
		t.shard[k] = shard{batch: spec.newBatch(hi - lo), next: spec.newBatch(hi - lo), grad: t.engine.NewGradient()}
	}
	t.total = t.engine.NewGradient()
	return t, nil
}

// part returns the range of shard k of n sequences.
func part(n, k int) (lo, hi int) { return n * k / shards, n * (k + 1) / shards }

// Step returns the number of steps taken.
func (t *Trainer) Step() int { return t.step }

// Loss returns the mean cross-entropy of the latest batch before its step, in nats, and 0 if
// there was no step since New or Restore.
func (t *Trainer) Loss() float64 { return t.loss }

// Advance takes n steps, or all remaining ones if there are fewer, and evaluates on the test
// set. If the loss of a step, on its batch or on the test set, is NaN, it stops with an error
// that names the step and wraps [ErrDiverged]; so do all later calls until a Restore. It stops
// before a step with wrong sequences of a task of the reader's own.
func (t *Trainer) Advance(n int) error {
	for ; n > 0 && t.step < t.spec.Steps; n-- {
		if err := t.diverged(); err != nil {
			return err
		}
		if err := t.advance(); err != nil {
			return err
		}
	}
	return t.diverged()
}

// ErrDiverged is wrapped by the error of a run whose loss is NaN.
var ErrDiverged = errors.New("train: diverged")

// diverged returns an error if the latest loss, on a batch or on the test set, is NaN.
func (t *Trainer) diverged() error {
	loss := t.loss
	if n := len(t.curve); n > 0 && t.curve[n-1].Step == t.step {
		loss += t.curve[n-1].Loss
	}
	if !math.IsNaN(loss) {
		return nil
	}
	init, decay := 0.0, 0.0
	switch m := t.spec.Model.(type) {
	case Disentangled:
		init = m.Init
	case Positional:
		init = m.Init
	}
	switch o := t.spec.Optimiser.(type) {
	case SGD:
		decay = o.Decay
	case AdamW:
		decay = o.Decay
	}
	cause, value := "a rate", t.spec.Optimiser.RateAt(0, t.spec.Steps)
	switch {
	case init > 0 && (t.step == 0 || t.step == 1 && math.IsNaN(t.loss)): // the loss of the initial weights
		cause, value = "an init", init
	case value*decay > 2: // the decay alone makes weights larger
		cause, value = "a decay", decay
	}
	return fmt.Errorf("%w: the loss of step %d is not a number; want %s below %v", ErrDiverged, t.step, cause, value)
}

// advance takes a step and evaluates if it is time.
func (t *Trainer) advance() error {
	if t.drawn != t.step {
		t.parallel(shards, func(w *worker, k int) {
			t.shard[k].fault = w.sampler.train(t.shard[k].batch, t.spec, t.step, k)
		})
		t.drawn = t.step
	}
	for k := range t.shard {
		if err := t.shard[k].fault; err != nil {
			return fmt.Errorf("train: step %d, part %d of %d: %w", t.step, k, shards, err)
		}
	}
	// Workers without a gradient left draw the next batch.
	t.parallel(2*shards, func(w *worker, k int) {
		if k >= shards {
			s := &t.shard[k-shards]
			s.later = w.sampler.train(s.next, t.spec, t.step+1, k-shards)
		} else if s := &t.shard[k]; s.batch.Len() > 0 {
			s.loss = w.pass.Losses(s.batch.X, s.batch.Y, s.grad)
		}
	})
	size := len(t.total.Sum())
	t.parallel(shards, func(_ *worker, k int) { t.reduce(part(size, k)) })
	t.loss = 0
	for k := range t.shard {
		s := &t.shard[k]
		s.batch, s.next, s.fault = s.next, s.batch, s.later
		t.loss += s.loss
	}
	t.loss /= float64(t.spec.Batch)
	kept := make([]*mat.Dense, len(t.frozen))
	for i, b := range t.frozen {
		kept[i] = mat.DenseCopyOf(b)
	}
	rate := t.spec.Optimiser.RateAt(t.step, t.spec.Steps)
	t.optimiser.Step(t.weights, Gradient{t.total, t.spec.Batch}, rate, t.step)
	for i, b := range t.frozen {
		b.Copy(kept[i])
	}
	t.engine.Load(t.weights)
	t.step++
	t.drawn = t.step
	if t.step%t.spec.Every == 0 || t.step == t.spec.Steps {
		t.evaluate()
	}
	return nil
}

// reduce adds entries lo to hi-1 of the shards' gradients, in order, and clears them. It
// adds 1,024 entries at a time, so that the sums stay in the L1 cache.
func (t *Trainer) reduce(lo, hi int) {
	const together = 1024
	for ; lo < hi; lo += together {
		end := min(lo+together, hi)
		sum := t.total.Sum()[lo:end]
		clear(sum)
		for k := range t.shard {
			simd.Drain(sum, t.shard[k].grad.Sum()[lo:end])
		}
	}
}

// evaluate appends a point to the curve.
func (t *Trainer) evaluate() {
	chunks := (t.test.Len() + chunk - 1) / chunk
	sums := make([]float64, chunks)
	t.parallel(chunks, func(w *worker, c int) {
		b := between(t.test, c*chunk, min((c+1)*chunk, t.test.Len()))
		sums[c] = w.pass.Losses(b.X, b.Y, nil)
	})
	loss := 0.0
	for _, s := range sums {
		loss += s
	}
	a := t.spec.attention(t.weights)
	t.curve = append(t.curve, Point{t.step, loss / float64(t.test.Len()), t.spec.onParents(a), t.norms()})
}

// norms returns the norms of the gradient on the test set, whole and by matrix.
func (t *Trainer) norms() []float64 {
	if !t.spec.Norms {
		return nil
	}
	n := t.test.Len()
	t.parallel(shards, func(w *worker, k int) {
		if lo, hi := part(n, k); lo < hi {
			b := between(t.test, lo, hi)
			w.pass.Losses(b.X, b.Y, t.shard[k].grad)
		}
	})
	size := len(t.total.Sum())
	t.parallel(shards, func(_ *worker, k int) { t.reduce(part(size, k)) })
	grad := t.weights.Zero()
	t.total.AddTo(grad, 1/float64(n))
	all, sum := []float64{0}, 0.0
	for _, g := range model.Trained(grad) {
		square := 0.0
		for _, v := range g {
			square += float64(v * v)
		}
		all, sum = append(all, math.Sqrt(square)), sum+square
	}
	all[0] = math.Sqrt(sum)
	return all
}

// parallel calls f for i = 0..n-1, each on one of the workers.
func (t *Trainer) parallel(n int, f func(w *worker, i int)) {
	if len(t.workers) == 1 {
		for i := range n {
			f(&t.workers[0], i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for k := range min(len(t.workers), n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(&t.workers[k], i)
			}
		})
	}
	wg.Wait()
}

// Snapshot returns a copy of the trainer's state.
func (t *Trainer) Snapshot() Snapshot {
	s := Snapshot{Step: t.step, Weights: model.Clone(t.weights), Curve: slices.Clone(t.curve)}
	for _, m := range t.optimiser.Moments() {
		s.Moments = append(s.Moments, model.Clone(m))
	}
	return s
}

// Restore sets the state of the trainer to s, a Snapshot of the same spec, or returns an
// error. A run from other initial weights w begins with Restore of
// Snapshot{Weights: w, Moments: m}, where m is nil for SGD and two w.Zero() for AdamW.
func (t *Trainer) Restore(s Snapshot) error {
	other := func(w model.Model) bool { return w == nil || !model.SameShape(w, t.weights) }
	moments := t.optimiser.Moments()
	switch {
	case other(s.Weights):
		return fmt.Errorf("train: snapshot at step %d is of another model than that of the spec, %s",
			s.Step, t.spec.describe())
	case s.Step < 0 || s.Step > t.spec.Steps:
		return fmt.Errorf("train: snapshot at step %d of a run of %d steps", s.Step, t.spec.Steps)
	case len(moments) > 0 && (len(s.Moments) != len(moments) || slices.ContainsFunc(s.Moments, other)):
		return fmt.Errorf("train: snapshot at step %d is without the moments of its optimiser, which it needs", s.Step)
	}
	for k, m := range moments {
		model.Copy(m, s.Moments[k])
	}
	model.Copy(t.weights, s.Weights)
	t.step, t.curve, t.loss = s.Step, slices.Clone(s.Curve), 0
	t.engine.Load(t.weights)
	return nil
}
