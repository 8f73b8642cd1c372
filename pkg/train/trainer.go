package train

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// shards is the number of parts of a batch, each with a random stream and a
// gradient of its own; they are added in order. It bounds the useful number of
// workers, and nothing but speed depends on theirs.
const shards = 8

// chunk is the number of test sequences that are summed at a time.
const chunk = 1024

// Task returns the task of the spec, or an error that names the field that is wrong.
func (s Spec) Task() (task.Task, error) {
	g, err := graph.New(s.Parents)
	if err != nil {
		return task.Task{}, fmt.Errorf("spec: parents: %w", err)
	}
	p, err := markov.ParsePrior(s.Prior, s.States)
	if err != nil {
		return task.Task{}, fmt.Errorf("spec: prior: %w", err)
	}
	if c := p.String(); c != s.Prior {
		return task.Task{}, fmt.Errorf("spec: prior %q is to be written %q", s.Prior, c)
	}
	return task.Task{Graph: g, Prior: p}, nil
}

// Validate returns an error that names the first field that is wrong.
func (s Spec) Validate() error {
	if _, err := s.Task(); err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"batch", s.Batch}, {"steps", s.Steps}, {"test", s.Test}, {"every", s.Every}} {
		if f.value < 1 {
			return fmt.Errorf("spec: %s is %d, want at least 1", f.name, f.value)
		}
	}
	if !(s.Rate > 0 && s.Rate <= math.MaxFloat64) {
		return fmt.Errorf("spec: rate is %v, want a positive number", s.Rate)
	}
	if s.Schedule != "constant" && s.Schedule != "cosine" {
		return fmt.Errorf("spec: schedule is %q, want constant or cosine", s.Schedule)
	}
	return nil
}

// RateAt returns the learning rate of step i, counted from 0:
//
//	constant: Rate
//	cosine:   Rate (1 + cos(pi i/Steps)) / 2
func (s Spec) RateAt(i int) float64 {
	if s.Schedule == "constant" {
		return s.Rate
	}
	return float64(s.Rate * float64(0.5*(1+num.CosPi(float64(i)/float64(s.Steps)))))
}

// A Trainer runs SGD on fresh sequences,
//
//	theta <- theta - rate(i) grad of the mean cross-entropy of batch i,
//
// from zero weights. The result does not depend on the number of workers.
type Trainer struct {
	spec    Spec
	task    task.Task
	step    int
	weights *model.Weights
	curve   []Point
	loss    float64

	engine  *model.Engine
	workers []worker
	shard   [shards]shard
	total   *model.Gradient
	drawn   int // the step that the shards' batches are for, -1 for none
	test    *task.Batch
}

// A worker is what one goroutine needs for itself.
type worker struct {
	pass    *model.Pass
	sampler *task.Sampler
}

type shard struct {
	batch, next *task.Batch
	grad        *model.Gradient
	loss        float64
}

// New returns a trainer at step 0. With workers <= 0 it uses every processor.
func New(spec Spec, workers int) (*Trainer, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	tk, err := spec.Task()
	if err != nil {
		return nil, err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	s, length := spec.States, len(spec.Parents)
	t := &Trainer{
		spec: spec, task: tk, weights: model.NewWeights(s, length, 1, 1),
		engine: model.NewEngine(s, length, 1), drawn: -1,
	}
	for range workers {
		t.workers = append(t.workers, worker{t.engine.NewPass(), task.NewSampler(tk)})
	}
	for k := range t.shard {
		n := spec.Batch*(k+1)/shards - spec.Batch*k/shards
		t.shard[k] = shard{batch: tk.NewBatch(n), next: tk.NewBatch(n), grad: t.engine.NewGradient()}
	}
	t.total = t.engine.NewGradient()
	t.engine.Load(t.weights)
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
	n := len(t.total.Sum)
	t.parallel(shards, func(_ *worker, part int) { t.reduce(n*part/shards, n*(part+1)/shards) })
	t.loss = 0
	for k := range t.shard {
		s := &t.shard[k]
		t.loss += s.loss
		s.batch, s.next = s.next, s.batch
	}
	t.loss /= float64(t.spec.Batch)
	t.total.AddTo(t.weights, -t.spec.RateAt(t.step)/float64(t.spec.Batch))
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
	sum := t.total.Sum[lo:hi]
	clear(sum)
	for k := range t.shard {
		part := t.shard[k].grad.Sum[lo:hi]
		part = part[:len(sum)]
		for i := range sum {
			sum[i] += part[i]
			part[i] = 0
		}
	}
}

// evaluate appends a point to the curve.
func (t *Trainer) evaluate() {
	if t.test == nil {
		t.test = TestSet(t.task, t.spec)
	}
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
	t.curve = append(t.curve, Point{t.step, loss / float64(t.test.Len()), Attention(t.weights, t.spec.Parents)})
}

// TestSet draws the test sequences of a run; they are disjoint from its
// training streams.
func TestSet(tk task.Task, spec Spec) *task.Batch {
	b, sampler := tk.NewBatch(spec.Test), task.NewSampler(tk)
	for c := 0; c*chunk < spec.Test; c++ {
		lo, hi := c*chunk, min((c+1)*chunk, spec.Test)
		part := &task.Batch{T: b.T, S: b.S, X: b.X[lo*b.T : hi*b.T], Y: b.Y[lo*b.S : hi*b.S]}
		sampler.Fill(part, num.Stream(spec.Seed, "test", uint64(c)))
	}
	return b
}

// Attention returns the mean over the edges p(i) -> i of S(MASK(A1))_{i,p(i)},
// where A1 is the position-position block of the first layer (the quantity of
// fig-many-graphs); NaN for a graph without edges.
func Attention(w *model.Weights, parents []int) float64 {
	a := w.PositionAttention()
	sum, edges := 0.0, 0
	for i, p := range parents {
		if p >= 0 {
			sum += a[i][p]
			edges++
		}
	}
	return sum / float64(edges)
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
	return Snapshot{Step: t.step, Weights: t.weights.Clone(), Curve: append([]Point(nil), t.curve...)}
}

// Restore puts the trainer into the state s, a Snapshot of the same spec. It
// returns an error where s cannot be one.
func (t *Trainer) Restore(s Snapshot) error {
	w := s.Weights
	if w == nil || w.S != t.spec.States || w.T != len(t.spec.Parents) || len(w.A) != 2 {
		return fmt.Errorf("train: snapshot at step %d is not of a two-layer model with S=%d, T=%d", s.Step, t.spec.States, len(t.spec.Parents))
	}
	if s.Step < 0 || s.Step > t.spec.Steps {
		return fmt.Errorf("train: snapshot at step %d of a run of %d steps", s.Step, t.spec.Steps)
	}
	t.step, t.weights, t.curve = s.Step, w.Clone(), append([]Point(nil), s.Curve...)
	t.engine.Load(t.weights)
	return nil
}
