package train

import (
	"fmt"
	"math"
	"math/rand/v2"

	"learncausal/pkg/graph"
	"learncausal/pkg/internal/jax"
	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/markov"
	"learncausal/pkg/model"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// A Task is the law of the sequences: [Task1], [Task2] or [Chain], which have JSON, a [task.Task], [task.Multi] or
// [task.Chain] with any prior, or a type of the reader's own. [Register] gives a type of one's own a JSON.
type Task interface {
	// Validate returns an error that names the wrong field. The other methods are called after it returned none.
	Validate() error
	// Tokens returns S, the size of the alphabet.
	Tokens() int
	// ParentSets returns the parents of each of the T positions, for [Spec.Attention]; none for a root.
	ParentSets() [][]int
	// NewSampler returns a sampler for one goroutine. All have the same law. A trainer divides the targets of a
	// sampler by their sum, which must be one to 1e-6.
	NewSampler() task.Sampler
}

// Task1 is the paper's Task 1 on a forest.
type Task1 struct {
	Parents []int  // Parents[i] is the parent of position i, -1 for a root; length T, the query last
	States  int    // S, the size of the alphabet
	Prior   string // over transition matrices, in the notation of [markov.ParsePrior]: "dirichlet(0.1)"

	UniformRoots bool `json:",omitempty"` // see [task.Task]

	// JAX selects the sequences that the paper's released code draws from jax.random.PRNGKey(Seed) under JAX 0.4.13
	// (package jax), if it is positive: those of training from key number JAX that is split off that key, from 0, and
	// those of the test set from the key before. The prior must be dirichlet(alpha), and Batch a power of 2. The
	// initial weights are the released code's as well: those of an [MLP] from the key before that of the test set, so
	// that JAX is at least 2, and random matrices A of [Disentangled] from the keys after that of training, by layer.
	JAX int `json:",omitempty"`
}

// A drawer writes sequences in one goroutine: those of a shard of a step, and those of a chunk of the test set.
type drawer interface {
	train(b *task.Batch, s Spec, step, shard int) error
	test(b *task.Batch, s Spec, chunk int) error
}

// streams draws from the streams of package num.
type streams struct {
	task.Sampler
	own bool // its sequences are checked
}

func (d streams) train(b *task.Batch, s Spec, step, shard int) error {
	return d.fill(b, num.Stream(s.Seed, "train", uint64(step), uint64(shard)))
}

func (d streams) test(b *task.Batch, s Spec, chunk int) error {
	return d.fill(b, num.Stream(s.Seed, "test", uint64(chunk)))
}

func (d streams) fill(b *task.Batch, src *rand.PCG) error {
	d.Fill(b, src)
	if !d.own {
		return nil
	}
	for k := range b.Len() {
		x, y := b.Seq(k)
		sum := 0.0
		for _, p := range y {
			sum += p
		}
		if off := math.Abs(sum - 1); off > 1e-9 && off <= 1e-6 {
			for a := range y {
				y[a] /= sum
			}
		}
		if err := model.Check(x, y, b.S, b.T); err != nil {
			return fmt.Errorf("sequence %d of the sampler: %w", k, err)
		}
	}
	return nil
}

// replay draws from the keys of JAX.
type replay struct {
	sampler interface {
		Draw(x []int, y []float64, key jax.Key)
	}
	number, epoch int
	keys          *jax.Batches // of training; nil before its first batch
}

// replayed returns JAX of a task and the number of sequences for a key, or zeros.
func replayed(k Task) (number, epoch int) {
	switch k := k.(type) {
	case Task1:
		return k.JAX, jax.Epoch
	case Task2:
		return k.JAX, jax.MultiEpoch
	}
	return 0, 0
}

func (d *replay) train(b *task.Batch, s Spec, step, shard int) error {
	if d.keys == nil {
		d.keys = jax.NewBatches(uint32(s.Seed), d.number, d.epoch)
	}
	lo, _ := part(s.Batch, shard)
	for k := range b.Len() {
		x, y := b.Seq(k)
		d.sampler.Draw(x, y, d.keys.Of(step*s.Batch+lo+k))
	}
	return nil
}

func (d *replay) test(b *task.Batch, s Spec, n int) error {
	key := jax.NewKey(uint32(s.Seed)).Next(d.number - 1)
	for k := range b.Len() {
		x, y := b.Seq(k)
		d.sampler.Draw(x, y, key.Of(s.Test, n*chunk+k))
	}
	return nil
}

// Task2 is the paper's Task 2 on a graph with several parents.
type Task2 struct {
	Parents      [][]int // of each of the T positions and of the label
	States       int     // S, the size of the alphabet
	Prior        string  // of each row of the transition tensors: "dirichlet(0.1)"
	UniformRoots bool    // see [task.Multi]
	JAX          int     `json:",omitempty"` // see [Task1]
}

// Chain is a Markov chain whose next token is the label, [task.Chain].
type Chain struct {
	Length int // T, at least 2
	States int
	Prior  string // over transition matrices, as in [Task1]
}

// New returns the task, or an error that names the wrong field.
func (k Chain) New() (task.Chain, error) {
	if k.Length < 2 || k.Length > graph.MaxT {
		return task.Chain{}, fmt.Errorf("spec: chain is %d, want 2 to %d tokens", k.Length, graph.MaxT)
	}
	p, err := parsePrior(k.Prior, k.States)
	return task.Chain{T: k.Length, Prior: p}, err
}

// New returns the task, or an error that names the wrong field.
func (k Task1) New() (task.Task, error) {
	g, err := graph.New(k.Parents)
	if err != nil {
		return task.Task{}, fmt.Errorf("spec: parents: %w", err)
	}
	p, err := parsePrior(k.Prior, k.States)
	return task.Task{Graph: g, Prior: p, UniformRoots: k.UniformRoots}, err
}

// New returns the task, or an error that names the wrong field.
func (k Task2) New() (task.Multi, error) {
	g, err := graph.NewDAG(k.Parents)
	if err != nil {
		return task.Multi{}, fmt.Errorf("spec: parents: %w", err)
	}
	p, err := parsePrior(k.Prior, k.States)
	if err != nil {
		return task.Multi{}, err
	}
	d, ok := p.(*markov.Dirichlet)
	if !ok {
		return task.Multi{}, fmt.Errorf("spec: prior is %q, want dirichlet(alpha) for Task 2", k.Prior)
	}
	return task.Multi{Graph: g, Prior: d, UniformRoots: k.UniformRoots}, nil
}

func parsePrior(text string, states int) (markov.Prior, error) {
	p, err := markov.ParsePrior(text, states)
	if err != nil {
		return nil, fmt.Errorf("spec: prior: %w", err)
	}
	return p, nil
}

// canonicalPrior returns the prior as its String method prints it, "dirichlet(0.1)" for
// "dirichlet(1e-1)", or text if it is not a prior.
func canonicalPrior(text string, states int) string {
	if p, err := markov.ParsePrior(text, states); err == nil {
		return p.String()
	}
	return text
}

func (k Task1) canonical() Task {
	k.Prior = canonicalPrior(k.Prior, k.States)
	return k
}

func (k Task2) canonical() Task {
	k.Prior = canonicalPrior(k.Prior, k.States)
	return k
}

func (k Chain) canonical() Task {
	k.Prior = canonicalPrior(k.Prior, k.States)
	return k
}

// Tokens returns S.
func (k Task1) Tokens() int { return k.States }

// Tokens returns S.
func (k Task2) Tokens() int { return k.States }

// Tokens returns S.
func (k Chain) Tokens() int { return k.States }

// ParentSets returns the parents of each of the T positions.
func (k Task1) ParentSets() [][]int {
	all := make([][]int, len(k.Parents))
	for i, p := range k.Parents {
		if p >= 0 {
			all[i] = []int{p}
		}
	}
	return all
}

// ParentSets returns the parents of each of the T positions.
func (k Task2) ParentSets() [][]int { return k.Parents[:max(len(k.Parents)-1, 0)] }

// ParentSets returns the parents of each of the T positions.
func (k Chain) ParentSets() [][]int { return task.Chain{T: max(k.Length, 0)}.ParentSets() }

// drawing counts a block of eight matrices with their running sums, and as much again for drawing it.
func (k Task1) drawing() float64 { return 4 * sampler.Lanes * float64(k.States) * float64(k.States) }

// drawing counts the table of visited rows of all tensors, for eight sequences.
func (k Task2) drawing() float64 {
	rows := map[int]float64{}
	for _, ps := range k.Parents {
		rows[len(ps)] = sampler.Lanes * math.Pow(float64(k.States), float64(len(ps)))
	}
	all := 0.0
	for _, n := range rows {
		all += n
	}
	return all
}

// drawing counts a matrix and its measure.
func (k Chain) drawing() float64 { return float64(k.States) * float64(k.States+1) }

func (k Task1) name() string { return "task 1" }
func (k Task2) name() string { return "task 2" }
func (k Chain) name() string { return "Markov chain" }

// Validate returns an error that names the wrong field.
func (k Task1) Validate() error {
	t, err := k.New()
	if err != nil || k.JAX == 0 {
		return err
	}
	if _, ok := t.Prior.(*markov.Dirichlet); !ok || k.JAX < 0 || k.UniformRoots {
		return noReplay(k.JAX, k.Prior)
	}
	return nil
}

// Validate returns an error that names the wrong field.
func (k Task2) Validate() error {
	t, err := k.New()
	if err == nil {
		err = t.Validate()
	}
	if err == nil && (k.JAX < 0 || k.JAX > 0 && k.UniformRoots) {
		err = noReplay(k.JAX, k.Prior)
	}
	return err
}

// Validate returns an error that names the wrong field.
func (k Chain) Validate() error {
	_, err := k.New()
	return err
}

func noReplay(number int, prior string) error {
	const want = "want 0, or a positive number with the prior dirichlet(alpha) and without uniform roots"
	return fmt.Errorf("spec: jax is %d with the prior %q, %s", number, prior, want)
}

// NewSampler returns a sampler of the law, whose sequences with JAX are others than those of a run. It panics where
// Validate has an error.
func (k Task1) NewSampler() task.Sampler { return must(k.New()).NewSampler() }

// NewSampler returns a sampler of the law, whose sequences with JAX are others than those of a run. It panics where
// Validate has an error.
func (k Task2) NewSampler() task.Sampler { return must(k.New()).NewSampler() }

// NewSampler returns a sampler of the law. It panics where Validate has an error.
func (k Chain) NewSampler() task.Sampler { return must(k.New()).NewSampler() }

func (k Task1) drawer() drawer {
	if k.JAX == 0 {
		return streams{Sampler: k.NewSampler()}
	}
	alpha := must(k.New()).Prior.(*markov.Dirichlet).Alpha
	return &replay{sampler: jax.NewSampler(k.Parents, k.States, alpha), number: k.JAX, epoch: jax.Epoch}
}

func (k Task2) drawer() drawer {
	if k.JAX == 0 {
		return streams{Sampler: k.NewSampler()}
	}
	alpha := must(k.New()).Prior.Alpha
	return &replay{sampler: jax.NewMultiSampler(k.Parents, k.States, alpha), number: k.JAX, epoch: jax.MultiEpoch}
}

func (k Chain) drawer() drawer { return streams{Sampler: k.NewSampler()} }

// A knownTask is a task of this package.
type knownTask interface {
	Task
	canonical() Task  // with the prior as its String method prints it
	drawing() float64 // estimate of the number of numbers in a sampler
	name() string
	drawer() drawer
}

// taskKind returns k, or a task of the reader's own behind the same methods.
func taskKind(k Task) knownTask {
	switch k := k.(type) {
	case Task1:
		return k
	case Task2:
		return k
	case Chain:
		return k
	}
	return ownTask{k}
}

// An ownTask is a task of another package. The memory of its sampler is not known.
type ownTask struct{ Task }

func (k ownTask) canonical() Task  { return k.Task }
func (k ownTask) drawing() float64 { return 0 }
func (k ownTask) name() string     { return "task " + nameOf(k.Task) }
func (k ownTask) drawer() drawer   { return streams{k.NewSampler(), true} }

// Validate returns the error of the task, or one about its sizes or its graph.
func (k ownTask) Validate() error {
	if err := k.Task.Validate(); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	parents := k.ParentSets()
	if t, s := len(parents), k.Tokens(); t < 2 || s < 1 {
		return fmt.Errorf("spec: %s over %d positions and %d states, want at least 2 and 1", k.name(), t, s)
	}
	for i, ps := range parents {
		for _, p := range ps {
			if p < 0 || p >= i {
				return fmt.Errorf("spec: parent %d of position %d, want a position before it", p, i)
			}
		}
	}
	return nil
}

// must returns v of a call that has no error after Validate.
func must[T any](v T, err error) T {
	if err != nil {
		panic("train: " + err.Error())
	}
	return v
}
