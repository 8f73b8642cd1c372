package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
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

// Task returns the Task 1 of the spec, or an error that names the field that is
// wrong.
func (s Spec) Task() (task.Task, error) {
	if s.Nodes != nil {
		return task.Task{}, fmt.Errorf("spec: nodes are given, and parents are wanted for Task 1")
	}
	g, err := graph.New(s.Parents)
	if err != nil {
		return task.Task{}, fmt.Errorf("spec: parents: %w", err)
	}
	p, err := s.prior()
	return task.Task{Graph: g, Prior: p}, err
}

// Multi returns the Task 2 of the spec, or an error that names the field that is
// wrong.
func (s Spec) Multi() (task.Multi, error) {
	if s.Parents != nil {
		return task.Multi{}, fmt.Errorf("spec: parents are given beside nodes, want one of them")
	}
	g, err := graph.NewDAG(s.Nodes)
	if err != nil {
		return task.Multi{}, fmt.Errorf("spec: nodes: %w", err)
	}
	p, err := s.prior()
	if err != nil {
		return task.Multi{}, err
	}
	d, ok := p.(*markov.Dirichlet)
	if !ok {
		return task.Multi{}, fmt.Errorf("spec: prior is %q, want dirichlet(alpha) for Task 2", s.Prior)
	}
	if s.Roots != "dirichlet" && s.Roots != "uniform" {
		return task.Multi{}, fmt.Errorf("spec: roots is %q, want dirichlet or uniform for Task 2", s.Roots)
	}
	return task.Multi{Graph: g, Prior: d, UniformRoots: s.Roots == "uniform"}, nil
}

func (s Spec) prior() (markov.Prior, error) {
	p, err := markov.ParsePrior(s.Prior, s.States)
	if err != nil {
		return nil, fmt.Errorf("spec: prior: %w", err)
	}
	if c := p.String(); c != s.Prior {
		return nil, fmt.Errorf("spec: prior %q is to be written %q", s.Prior, c)
	}
	return p, nil
}

// A source draws the sequences of either task.
type source struct {
	batch   func(n int) *task.Batch
	sampler func() sampler
}

type sampler interface {
	Fill(b *task.Batch, src *rand.PCG)
}

func (s Spec) source() (source, error) {
	if s.Nodes == nil {
		tk, err := s.Task()
		return source{tk.NewBatch, func() sampler { return task.NewSampler(tk) }}, err
	}
	tk, err := s.Multi()
	if err != nil {
		return source{}, err
	}
	_, err = task.NewMultiSampler(tk)
	return source{tk.NewBatch, func() sampler {
		m, err := task.NewMultiSampler(tk)
		if err != nil {
			panic(err) // the same call has succeeded above
		}
		return m
	}}, err
}

// Validate returns an error that names the first field that is wrong.
func (s Spec) Validate() error {
	if _, err := s.source(); err != nil {
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
	if s.Nodes == nil && s.Roots != "" {
		return fmt.Errorf("spec: roots is %q, want it empty for Task 1", s.Roots)
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"heads", s.Heads}, {"second", s.Second}} {
		if f.value < 0 || f.value == 1 {
			return fmt.Errorf("spec: %s is %d, want 0 for one head, or at least 2", f.name, f.value)
		}
	}
	if s.Optimiser != "" && s.Optimiser != "adamw" {
		return fmt.Errorf("spec: optimiser is %q, want adamw, or nothing for SGD", s.Optimiser)
	}
	if !(s.Decay >= 0 && s.Decay <= math.MaxFloat64) || s.Decay > 0 && s.Optimiser != "adamw" {
		return fmt.Errorf("spec: decay is %v, want a number that is not negative, and 0 without adamw", s.Decay)
	}
	if s.Width < 0 || s.Width > 0 && (s.Heads != 0 || s.Second != 0 || s.Init != 0) {
		return fmt.Errorf("spec: width is %d beside heads %d, second %d and init %v, want it positive without them, or 0", s.Width, s.Heads, s.Second, s.Init)
	}
	if s.Width > 0 && s.Embeddings != "trained" && s.Embeddings != "fixed" || s.Width == 0 && s.Embeddings != "" {
		return fmt.Errorf("spec: embeddings is %q beside width %d, want trained or fixed, or nothing without a width", s.Embeddings, s.Width)
	}
	if !(s.Init >= 0 && s.Init <= math.MaxFloat64) {
		return fmt.Errorf("spec: init is %v, want a number that is not negative", s.Init)
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
// or AdamW in its place. The result does not depend on the number of workers.
type Trainer struct {
	spec    Spec
	source  source
	step    int
	weights *model.Weights
	adam    *adamW // nil for SGD
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
	sampler sampler
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
	src, err := spec.source()
	if err != nil {
		return nil, err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	t := &Trainer{
		spec: spec, source: src, weights: initial(spec),
		engine: spec.NewEngine(), drawn: -1,
	}
	if spec.Optimiser == "adamw" {
		t.adam = newAdamW(spec)
	}
	for range workers {
		t.workers = append(t.workers, worker{t.engine.NewPass(), src.sampler()})
	}
	for k := range t.shard {
		n := spec.Batch*(k+1)/shards - spec.Batch*k/shards
		t.shard[k] = shard{batch: src.batch(n), next: src.batch(n), grad: t.engine.NewGradient()}
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
	if rate := t.spec.RateAt(t.step); t.adam == nil {
		t.total.AddTo(t.weights, -rate/float64(t.spec.Batch))
	} else {
		t.adam.step(t.weights, t.total, 1/float64(t.spec.Batch), rate, t.step)
	}
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
		t.test = testSet(t.source, t.spec)
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
	t.curve = append(t.curve, Point{t.step, loss / float64(t.test.Len()), t.spec.Attention(t.weights)})
}

// TestSet draws the test sequences of a run; they are disjoint from its
// training streams. There is an error if the spec is wrong.
func (s Spec) TestSet() (*task.Batch, error) {
	src, err := s.source()
	if err != nil {
		return nil, err
	}
	return testSet(src, s), nil
}

func testSet(src source, spec Spec) *task.Batch {
	b, sampler := src.batch(spec.Test), src.sampler()
	for c := 0; c*chunk < spec.Test; c++ {
		lo, hi := c*chunk, min((c+1)*chunk, spec.Test)
		part := &task.Batch{T: b.T, S: b.S, X: b.X[lo*b.T : hi*b.T], Y: b.Y[lo*b.S : hi*b.S]}
		sampler.Fill(part, num.Stream(spec.Seed, "test", uint64(c)))
	}
	return b
}

// MeanAttention returns the attention of each head of the first layer, averaged
// over the first 1024 sequences of the test set: T x T, row-stochastic, lower
// triangular.
func (s Spec) MeanAttention(w *model.Weights) [][][]float64 {
	src, err := s.source()
	if err != nil {
		panic(err) // Validate has succeeded
	}
	s.Test = min(s.Test, chunk)
	e := s.NewEngine()
	e.Load(w)
	return e.MeanAttention(testSet(src, s).X)
}

// Attention returns, with A1 the position-position block of a head of the first
// layer, the mean over the edges p -> i of the graph of
//
//	max over heads of S(MASK(A1))_ip
//
// the quantity of fig-many-graphs where there is one head; NaN for a graph
// without edges between positions. For the standard transformer with MLPs it is
// the mean of MeanAttention over the edges.
func (s Spec) Attention(w *model.Weights) float64 {
	a := s.attentions(w)
	sum, edges := 0.0, 0
	edge := func(i, p int) {
		best := 0.0
		for _, head := range a {
			best = max(best, head[i][p])
		}
		sum += best
		edges++
	}
	for i, p := range s.Parents {
		if p >= 0 {
			edge(i, p)
		}
	}
	for i, ps := range s.Nodes[:max(len(s.Nodes)-1, 0)] {
		for _, p := range ps {
			edge(i, p)
		}
	}
	return sum / float64(edges)
}

func (s Spec) attentions(w *model.Weights) [][][]float64 {
	if s.Width > 0 {
		return s.MeanAttention(w)
	}
	return w.PositionAttentions()
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
	s := Snapshot{Step: t.step, Weights: t.weights.Clone(), Curve: append([]Point(nil), t.curve...)}
	if t.adam != nil {
		s.Moments = []*model.Weights{t.adam.first.Clone(), t.adam.second.Clone()}
	}
	return s
}

// Restore puts the trainer into the state s, a Snapshot of the same spec. It
// returns an error where s cannot be one.
func (t *Trainer) Restore(s Snapshot) error {
	if !sameShape(s.Weights, t.weights) {
		return fmt.Errorf("train: snapshot at step %d is not of a two-layer model with S=%d, T=%d, heads [%d %d] and width %d", s.Step, t.spec.States, t.spec.T(), max(t.spec.Heads, 1), max(t.spec.Second, 1), t.spec.Width)
	}
	if s.Step < 0 || s.Step > t.spec.Steps {
		return fmt.Errorf("train: snapshot at step %d of a run of %d steps", s.Step, t.spec.Steps)
	}
	if t.adam != nil {
		if len(s.Moments) != 2 || !sameShape(s.Moments[0], t.weights) || !sameShape(s.Moments[1], t.weights) {
			return fmt.Errorf("train: snapshot at step %d is without the moments of AdamW, from which alone it can go on", s.Step)
		}
		t.adam.first, t.adam.second = s.Moments[0].Clone(), s.Moments[1].Clone()
	}
	t.step, t.weights, t.curve = s.Step, s.Weights.Clone(), append([]Point(nil), s.Curve...)
	t.engine.Load(t.weights)
	return nil
}

func sameShape(a, b *model.Weights) bool {
	return a != nil && a.S == b.S && a.T == b.T && slices.Equal(a.Heads, b.Heads) &&
		slices.EqualFunc(a.Arrays(), b.Arrays(), func(x, y []float64) bool { return len(x) == len(y) })
}
