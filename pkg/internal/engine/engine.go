// Package engine evaluates the loss of a transformer of two layers, and its gradient,
// by exact tables that are many times faster than the dense definition in package model.
//
//	e := engine.New(w)                    // the tables of w
//	p, g := e.NewPass(), e.NewGradient()  // one of each for a goroutine
//	loss := p.Loss(x, y, g)               // the loss; its gradient is added to g
//	g.AddTo(w, -rate)                     // a step of gradient descent
//	e.Load(w)                             // the tables of w after the step
//	clear(g.Sum())
//
// [Pass.Losses] takes several sequences at once, which is faster still.
//
// All sums have a fixed order and every product is rounded, so that the bytes are the
// same on every machine. The kernels stand in package simd.
//
// Weights must be finite. A NaN or infinite weight separates the engine from the definition: dense
// matrices multiply every entry, so that the output is NaN, and the tables of the disentangled
// transformer hold only the entries that some sequence can read. A NaN above the diagonal of the
// position-position block of A1 has no effect there, and -Inf below the diagonal is a hard mask.
package engine

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/model"
)

// An Engine holds tables for the weights of one model. New has loaded them; after a change of the weights, Load
// must precede the next sequence. Between calls of Load an engine is read-only and goroutines may share it.
//
// The engine of the disentangled transformer and each of its gradients hold of the order of (S+T)^2 numbers for
// each pair of heads. A pass holds T^2 numbers for each head of the first layer and each sequence of a block of
// 8 or 16; [Footprint] has the counts. A sequence, Load and AddTo each take time of the order of (S+T)^2.
type Engine interface {
	// Load builds the tables for the weights w. It panics if w differs from the
	// engine's model in kind or in size.
	Load(w model.Model)
	// NewPass returns a pass. Each goroutine needs its own.
	NewPass() Pass
	// NewGradient returns a zero gradient.
	NewGradient() Gradient
	// MeanAttention returns the attention of each head of the first layer, averaged over the
	// sequences in x, one after the other: T x T, row-stochastic, lower triangular. It panics if x
	// is empty, not a multiple of T tokens, or has a token outside 0..S-1.
	MeanAttention(x []int) []*mat.Dense
}

// A Pass evaluates sequences with the tables of an engine.
type Pass interface {
	// Loss returns -sum_s y_s log f_s for the sequence x, in nats, and adds its gradient to g,
	// which may be nil. Without a target y it computes the predictions alone, returns 0 and adds
	// nothing. It panics where [model.Check] has an error, and if g belongs to another engine.
	Loss(x []int, y []float64, g Gradient) float64
	// Losses returns the sum of the losses of the sequences in x, one after the other and at least
	// one, with their targets in y, and adds its gradient to g. It is faster than Loss for each
	// sequence, equals it to the last bit, and panics where Loss does for one of them.
	Losses(x []int, y []float64, g Gradient) float64
	// Predictions returns f of the last sequence, S probabilities. The next call of
	// Loss or Losses overwrites it.
	Predictions() []float64
}

// A Gradient accumulates gradients in the shape of the tables of an engine.
type Gradient interface {
	// Sum returns all entries: adding the sums adds the gradients, and clear(g.Sum()) resets g to zero.
	Sum() []float64
	// AddTo adds c times the gradient to w. It leaves the fixed matrices of w
	// alone, and panics if w differs from the engine's model in kind or in size.
	AddTo(w model.Model, c float64)
}

// New is [Of] with a panic in place of an error.
func New(w model.Model) Engine {
	e, err := Of(w)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return e
}

// Of returns an engine loaded with w, a [*model.Weights], a [*model.MLP], a [*model.Positional] or a
// [model.Forwarder]. It returns an error for another type, and if w has not two layers, or a matrix has another size
// than w.
func Of(w model.Model) (Engine, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	switch w := w.(type) {
	case *model.Weights:
		if len(w.A) != 2 {
			return nil, fmt.Errorf("tables for %d layers, want 2", len(w.A))
		}
		return newEngine(w), nil
	case *model.MLP:
		return newMLPEngine(w), nil
	case *model.Positional:
		return newPositional(w), nil
	case model.Forwarder:
		return newDense(w)
	}
	return nil, fmt.Errorf("no tables for a %T, want weights of package model or a model.Forwarder", w)
}

// A shape lists the matrices of a model, without their data.
type shape []model.Matrix

func shapeOf(w model.Model) shape {
	s := w.Matrices()
	for i := range s {
		s[i].Data = nil
	}
	return s
}

// check panics if w has other matrices.
func (s shape) check(w model.Model) {
	all := w.Matrices()
	for i, want := range s {
		if len(all) != len(s) || all[i].Name != want.Name || all[i].Rows != want.Rows || all[i].Cols != want.Cols ||
			len(all[i].Data) != want.Rows*want.Cols {
			panic(fmt.Sprintf("engine: given a %T of other matrices than its tables, which want %s of %d x %d",
				w, want.Name, want.Rows, want.Cols))
		}
	}
}

const otherGradient = "engine: the gradient belongs to another engine than the pass"

// check panics where [model.Check] has an error.
func check(x []int, y []float64, s, t int) {
	if err := model.Check(x, y, s, t); err != nil {
		panic("engine: " + err.Error())
	}
}

// sequences returns the number of sequences of length t in x, and panics if there are none.
func sequences(x []int, t int) int {
	if len(x) == 0 || len(x)%t != 0 {
		panic(fmt.Sprintf("engine: %d tokens, want sequences of length %d, at least one", len(x), t))
	}
	return len(x) / t
}

// checkAll panics where [model.Check] has an error about one of the sequences in x or its target in y.
func checkAll(x []int, y []float64, s, t int) {
	n := sequences(x, t)
	if len(y) != n*s {
		panic(fmt.Sprintf("engine: targets of length %d for %d sequences, want %d", len(y), n, n*s))
	}
	for k := range n {
		if err := model.Check(x[k*t:(k+1)*t], y[k*s:(k+1)*s], s, t); err != nil {
			panic(fmt.Sprintf("engine: %v in sequence %d", err, k))
		}
	}
}
