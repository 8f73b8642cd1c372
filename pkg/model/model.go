// Package model has the paper's transformers, over S tokens and T positions.
//
// [Weights] are those of the disentangled transformer, the subject of the
// paper, and [MLP] those of the standard one with MLPs of its Appendix C. Both
// say twice what they compute: as the paper defines it, dense and slow, and by
// exact tables that are many times faster, for training:
//
//	w := model.NewWeights(3, 6, 1, 1)     // S = 3, T = 6, one head in each of two layers
//	f, loss := w.Forward(x, y, grad)      // the definition; y and grad may be nil
//
//	e := w.NewEngine()                    // the tables of w
//	p, g := e.NewPass(), e.NewGradient()  // one of each for a goroutine
//	loss = p.Loss(x, y, g)                // the same loss, and its gradient added to g
//	g.AddTo(w, -rate)                     // a step of gradient descent
//	e.Load(w)                             // and the tables of what w is after it
//	clear(g.Sum())
//
// [Pass] takes several sequences at once too, which is faster still.
//
// A sequence x has T tokens in 0..S-1, the last one the query; y is the
// distribution that the model's output f, a distribution too, is held against.
// Both ways refuse other sequences and targets with the same panic, whose words
// [Check] has as an error.
//
// Weights are to be finite. Where one is NaN or infinite the two ways differ: dense
// matrices multiply every entry, so that the output is NaN, and the tables of the
// disentangled transformer have only what some sequence can read, so that NaN above
// the diagonal of the position-position block of A1 is ignored there, and -Inf
// below it is a hard mask.
//
// Tables are for two layers, and so is training. A model of another depth has
// its gradient from Forward, whose products are gonum's: right to rounding, but not
// the same bytes on every processor, which a stored run has to be.
//
// [ConstructionOne] and [ConstructionTwo] write down weights from a causal
// graph, and [Standard] is the attention-only transformer with the maps from it
// to the disentangled one and back.
//
// Trained matrices are flat and row-major and multiply rows from the right, so
// that the embeddings of an [MLP] are S x d and T x d and output matrices are
// d x S: transposes of what the paper prints, which Standard keeps.
package model

import "slices"

// A Model is the weights of a transformer that can be trained: [*Weights] or
// [*MLP].
type Model interface {
	// Matrices returns every parameter. The data are those of the model.
	Matrices() []Matrix
	// Zero returns zero weights of the same model.
	Zero() Model
	// NewEngine returns an engine for this model, loaded with these weights.
	NewEngine() Engine
}

// An Engine evaluates the loss and gradient of a model of two layers by tables
// that are built once for its weights. NewEngine has loaded them; whenever the
// weights have changed, Load is to be called before the next sequence. Between
// calls of Load an engine is read-only and may be shared by goroutines.
//
// An engine of the disentangled transformer and each of its gradients hold of the
// order of (S+T)^2 numbers for each pair of heads, and a pass T^2 for each head of the
// first layer and each sequence of a block of 8 or 16; [Footprint] says how many. A sequence costs
// a time of the order of (S+T)^2, as do Load and AddTo.
type Engine interface {
	// Load builds the tables for the weights w. It panics if w is another model
	// than the one that the engine was made for, in kind or in size.
	Load(w Model)
	// NewPass returns a pass. Each goroutine needs its own.
	NewPass() Pass
	// NewGradient returns a zero gradient.
	NewGradient() Gradient
	// MeanAttention returns the attention of each head of the first layer,
	// averaged over the sequences in x, one after the other: T x T,
	// row-stochastic, lower triangular. It panics if x is empty, not a multiple
	// of T tokens, or has a token outside 0..S-1.
	MeanAttention(x []int) [][][]float64
}

// A Pass evaluates sequences with the tables of an engine.
type Pass interface {
	// Loss returns -sum_s y_s log f_s for the sequence x, in nats, and adds its
	// gradient to g, which may be nil. With a nil y, for the predictions alone,
	// it returns 0 and adds nothing. It panics where Check has an error, and if
	// g is of another engine.
	Loss(x []int, y []float64, g Gradient) float64
	// Losses returns the sum of the losses of the sequences that stand one after the
	// other in x, at least one, with their targets in y, and adds its gradient to g.
	// It takes less time than Loss for each of them, to which loss and gradient are
	// equal to the last bit, and panics where Loss does for one of them.
	Losses(x []int, y []float64, g Gradient) float64
	// Predictions returns f of the last sequence, S probabilities. The next call of
	// Loss or Losses overwrites it.
	Predictions() []float64
	// QueryAttention returns the attention of the query, the last position, in
	// each head of the second layer for the last sequence: T weights that sum to one.
	// The next call of Loss or Losses overwrites it.
	QueryAttention() [][]float64
}

// A Gradient accumulates gradients in the shape of the tables of an engine.
type Gradient interface {
	// Sum returns the whole of it: gradients are added by adding their sums, and
	// clear(g.Sum()) makes g zero again.
	Sum() []float64
	// AddTo adds c times the gradient to w. It leaves the fixed matrices of w
	// alone, and panics if w is another model than that of the engine.
	AddTo(w Model, c float64)
}

// A Matrix is a parameter of a model.
type Matrix struct {
	Name  string    // in files, such as "A1", "A2-1" or "W"
	Rows  int       // a bias has one
	Data  []float64 // row-major
	Fixed bool      // not trained
}

// Clone returns a deep copy of w.
func Clone(w Model) Model {
	c := w.Zero()
	Copy(c, w)
	return c
}

// Copy copies the weights of src to dst. It panics if they differ in shape.
func Copy(dst, src Model) {
	checkSame("copy", src, dst)
	from := src.Matrices()
	for i, m := range dst.Matrices() {
		copy(m.Data, from[i].Data)
	}
}

// Trained returns the data of the matrices that are trained.
func Trained(w Model) [][]float64 {
	var all [][]float64
	for _, m := range w.Matrices() {
		if !m.Fixed {
			all = append(all, m.Data)
		}
	}
	return all
}

// SameShape tells whether a and b have matrices of the same names and sizes.
func SameShape(a, b Model) bool {
	return slices.EqualFunc(a.Matrices(), b.Matrices(), sameSize)
}
