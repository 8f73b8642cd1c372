package train

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// shards is the number of parts of a batch, each with a random stream and a
// gradient of its own; they are added in order. It bounds the useful number of
// workers, and nothing but speed depends on theirs.
const shards = 8

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
	Weights model.Model
	Moments []model.Model // AdamW's first and second moments; nil for SGD
	Curve   []Point       // the evaluations so far, at steps 0, Every, 2 Every, ... and at the last step
}

// Disentangled returns the weights of a disentangled transformer. It panics if
// they are of another model.
func (s Snapshot) Disentangled() *model.Weights {
	w, ok := s.Weights.(*model.Weights)
	if !ok {
		panic(fmt.Sprintf("train: the weights are a %T, want those of a disentangled transformer", s.Weights))
	}
	return w
}

// A Trainer takes the steps of a Spec, each on fresh sequences. The result does
// not depend on the number of workers.
type Trainer struct {
	spec      Spec
	step      int
	weights   model.Model
	optimiser state
	curve     []Point
	loss      float64

	engine  model.Engine
	workers []worker
	shard   [shards]shard
	total   model.Gradient
	drawn   int // the step that the shards' batches are for, -1 for none
	test    *task.Batch
}

// A worker is what one goroutine needs for itself.
type worker struct {
	pass    model.Pass
	sampler sampler
}

type shard struct {
	batch, next *task.Batch
	grad        model.Gradient
	loss        float64
}

// New returns a trainer at step 0. With workers <= 0 it uses every processor.
func New(spec Spec, workers int) (*Trainer, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	src, err := spec.Task.source()
	if err != nil {
		return nil, err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := &Trainer{spec: spec, weights: spec.NewWeights(), drawn: -1}
	spec.Model.initialise(t.weights, spec.Seed)
	t.engine, t.optimiser = t.weights.NewEngine(), spec.Optimiser.start(t.weights)
	if t.test, err = spec.TestSet(); err != nil {
		return nil, err
	}
	for range workers {
		t.workers = append(t.workers, worker{t.engine.NewPass(), src.sampler()})
	}
	for k := range t.shard {
		n := spec.Batch*(k+1)/shards - spec.Batch*k/shards
		t.shard[k] = shard{batch: src.batch(n), next: src.batch(n), grad: t.engine.NewGradient()}
	}
	t.total = t.engine.NewGradient()
	t.evaluate()
	return t, nil
}

// Step returns the number of steps taken.
func (t *Trainer) Step() int { return t.step }

// Loss returns the mean cross-entropy of the latest batch, in nats.
func (t *Trainer) Loss() float64 { return t.loss }

// Advance takes n steps, or as many as are left, and evaluates on the way.
func (t *Trainer) Advance(n int) {
	for ; n > 0 && t.step < t.spec.Steps; n-- {
		t.advance()
		if t.step%t.spec.Every == 0 || t.step == t.spec.Steps {
			t.evaluate()
		}
	}
}

func (t *Trainer) advance() {
	if t.drawn != t.step {
		t.parallel(shards, func(w *worker, k int) { t.draw(w, t.shard[k].batch, t.step, k) })
	}
	// While some workers are at the last gradients, the others draw the next batch.
	t.parallel(2*shards, func(w *worker, k int) {
		if k < shards {
			t.gradient(w, &t.shard[k])
		} else {
			t.draw(w, t.shard[k-shards].next, t.step+1, k-shards)
		}
	})
	n := len(t.total.Sum())
	t.parallel(shards, func(_ *worker, part int) { t.reduce(n*part/shards, n*(part+1)/shards) })
	t.loss = 0
	for k := range t.shard {
		s := &t.shard[k]
		t.loss += s.loss
		s.batch, s.next = s.next, s.batch
	}
	t.loss /= float64(t.spec.Batch)
	t.optimiser.step(t.weights, t.total, t.spec.Batch, t.spec.RateAt(t.step), t.step)
	t.engine.Load(t.weights)
	t.step++
	t.drawn = t.step
}

func (t *Trainer) draw(w *worker, b *task.Batch, step, k int) {
	w.sampler.Fill(b, num.Stream(t.spec.Seed, "train", uint64(step), uint64(k)))
}

func (t *Trainer) gradient(w *worker, s *shard) {
	s.loss = 0
	for i := range s.batch.Len() {
		x, y := s.batch.Seq(i)
		s.loss += w.pass.Loss(x, y, s.grad)
	}
}

// reduce adds entries lo to hi-1 of the shards' gradients, in order, and clears them.
func (t *Trainer) reduce(lo, hi int) {
	sum := t.total.Sum()[lo:hi]
	clear(sum)
	for k := range t.shard {
		part := t.shard[k].grad.Sum()[lo:hi]
		part = part[:len(sum)]
		for i := range sum {
			sum[i] += part[i]
			part[i] = 0
		}
	}
}

// evaluate appends a point to the curve.
func (t *Trainer) evaluate() {
	chunks := (t.test.Len() + chunk - 1) / chunk
	sums := make([]float64, chunks)
	t.parallel(chunks, func(w *worker, c int) {
		for i := c * chunk; i < min((c+1)*chunk, t.test.Len()); i++ {
			x, y := t.test.Seq(i)
			sums[c] += w.pass.Loss(x, y, nil)
		}
	})
	loss := 0.0
	for _, s := range sums {
		loss += s
	}
	t.curve = append(t.curve, Point{t.step, loss / float64(t.test.Len()), t.spec.Attention(t.weights)})
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
	for _, m := range t.optimiser.moments() {
		s.Moments = append(s.Moments, model.Clone(m))
	}
	return s
}

// Restore puts the trainer into the state s, a Snapshot of the same spec. It
// returns an error where s cannot be one.
func (t *Trainer) Restore(s Snapshot) error {
	other := func(w model.Model) bool { return w == nil || !model.SameShape(w, t.weights) }
	if other(s.Weights) {
		return fmt.Errorf("train: snapshot at step %d is not of the model of the spec, a %s of %+v with S=%d, T=%d",
			s.Step, t.spec.Model.name(), t.spec.Model, t.spec.S(), t.spec.T())
	}
	if s.Step < 0 || s.Step > t.spec.Steps {
		return fmt.Errorf("train: snapshot at step %d of a run of %d steps", s.Step, t.spec.Steps)
	}
	moments := t.optimiser.moments()
	if len(moments) > 0 && (len(s.Moments) != len(moments) || slices.ContainsFunc(s.Moments, other)) {
		return fmt.Errorf("train: snapshot at step %d is without the moments of AdamW, from which alone it can go on",
			s.Step)
	}
	for k, m := range moments {
		model.Copy(m, s.Moments[k])
	}
	t.step, t.weights, t.curve = s.Step, model.Clone(s.Weights), slices.Clone(s.Curve)
	t.engine.Load(t.weights)
	return nil
}
