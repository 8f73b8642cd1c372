package train

import (
	"fmt"
	"math/rand/v2"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/task"
)

// A Task is what the sequences are drawn from: [Task1] or [Task2].
type Task interface {
	tokens() int
	parents() [][]int // of each position
	source() (source, error)
	name() string
}

// Task1 is the paper's Task 1 on a forest. Its zero value has no positions and is
// refused.
type Task1 struct {
	Parents []int  // Parents[i] is the parent of position i, -1 for a root; length T, the query last
	States  int    // S, the size of the alphabet
	Prior   string // over transition matrices, as [markov.ParsePrior] reads it: "dirichlet(0.1)"
}

// Task2 is the paper's Task 2 on a graph with several parents. Its zero value has
// no positions and is refused.
type Task2 struct {
	Parents      [][]int // of each of the T positions and of the label
	States       int     // S, the size of the alphabet
	Prior        string  // of each row of the transition tensors: "dirichlet(0.1)"
	UniformRoots bool    // or one draw of their law from the prior for each sequence
}

// New returns the task, or an error that names the field that is wrong.
func (k Task1) New() (task.Task, error) {
	g, err := graph.New(k.Parents)
	if err != nil {
		return task.Task{}, fmt.Errorf("spec: parents: %w", err)
	}
	p, err := parsePrior(k.Prior, k.States)
	return task.Task{Graph: g, Prior: p}, err
}

// New returns the task, or an error that names the field that is wrong.
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
	if c := p.String(); c != text {
		return nil, fmt.Errorf("spec: prior %q is to be written %q", text, c)
	}
	return p, nil
}

func (k Task1) tokens() int { return k.States }
func (k Task2) tokens() int { return k.States }

func (k Task1) parents() [][]int {
	all := make([][]int, len(k.Parents))
	for i, p := range k.Parents {
		if p >= 0 {
			all[i] = []int{p}
		}
	}
	return all
}

func (k Task2) parents() [][]int { return k.Parents[:max(len(k.Parents)-1, 0)] }

func (k Task1) name() string { return "task 1" }
func (k Task2) name() string { return "task 2" }

// A source draws the sequences of either task.
type source struct {
	batch   func(n int) *task.Batch
	sampler func() sampler
}

// A sampler is for one goroutine.
type sampler interface {
	Fill(b *task.Batch, src *rand.PCG)
}

func (k Task1) source() (source, error) {
	tk, err := k.New()
	return source{tk.NewBatch, func() sampler { return task.NewSampler(tk) }}, err
}

func (k Task2) source() (source, error) {
	tk, err := k.New()
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
