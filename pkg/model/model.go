// Package model defines the paper's transformers over S tokens and T positions, with their gradients.
//
// [Weights] is the disentangled transformer, the subject of the paper, and [MLP] the standard transformer with
// MLPs of its Appendix C. [Positional] has the simplified transformers of two later papers. Forward of each is the
// definition, dense and slow, with the gradient:
//
//	w := model.NewWeights(3, 6, 1, 1) // S = 3, T = 6, one head in each of two layers
//	f, loss := w.Forward(x, y, grad)  // y and grad may be nil
//
// A sequence x has T tokens in 0..S-1, the last one the query; y is the target, a distribution over the tokens
// to compare with the model's output f. [Check] has an error where Forward panics. Package train has the fast
// engine for two layers that gives the same loss and gradient; other depths have their gradient from Forward
// alone, whose products are gonum's and differ in the last bits between processors.
//
// [Run] is a forward pass in which every activation has a name, can be replaced, and has a gradient; [Block] finds
// a block of the weights by its name.
//
// [ConstructionOne] and [ConstructionTwo] write down weights from a causal graph. [Standard] is the
// attention-only transformer, with the maps from it to the disentangled transformer and back.
//
// Trained matrices are row-major and multiply rows from the right, so that the embeddings of an [MLP] are S x d
// and T x d and output matrices are d x S: transposes of the paper's, which Standard keeps.
//
// # Weights in other programs
//
// A file of weights is NumPy's, with the names of Matrices. TransformerLens has the form of a residual MLP, with
// normalization_type None, use_attn_scale False, W_K = W_O = I, no biases of attention and a last MLP of zeros:
//
//	weights      size           TransformerLens
//	E, P         S x d, T x d   embed.W_E, pos_embed.W_pos
//	A1, A2       d x d          blocks.0.attn.W_Q[0], blocks.1.attn.W_Q[0]
//	V1           d x d          blocks.0.attn.W_V[0]
//	In1, Out1    d x d          blocks.0.mlp.W_in, blocks.0.mlp.W_out
//	BIn1, BOut1  1 x d          blocks.0.mlp.b_in, blocks.0.mlp.b_out, divided by sqrt(d)
//	W            d x S          unembed.W_U
//
// The disentangled transformer takes this form by [Weights.Standard]. In Python, on a run with S = 3 and T = 20:
//
//	z = numpy.load("runs/173e6bddecc149ba/weights-16384.npz")
//	h = numpy.hstack([numpy.eye(3)[x], numpy.eye(20)])  # stream0, blocks.0.hook_resid_pre
//	scores = h @ z["A1"] @ h.T                          # layer1.head1.scores, blocks.0.attn.hook_attn_scores
package model

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A Model is the weights of a transformer that can be trained: [*Weights], [*MLP], [*Positional] or a [Forwarder].
type Model interface {
	// Matrices returns every parameter.
	Matrices() []Matrix
	// Zero returns zero weights of the same model.
	Zero() Model
	// Validate returns an error if a matrix has another size than the model.
	Validate() error
}

// A Forwarder is the weights of a model that another package defines, as package train takes them.
type Forwarder interface {
	Model
	// Size returns the number of tokens and of positions.
	Size() (s, t int)
	// Forward returns the distribution f over the S tokens after the sequence x, and the loss for the target y, and
	// adds the gradient of the loss to grad, which has the type of the weights. y or grad may be nil; without y the
	// loss is 0 and nothing is added. Goroutines call it at once, each with a grad of its own.
	Forward(x []int, y []float64, grad Model) (f []float64, loss float64)
}

// A Matrix is a parameter of a model.
type Matrix struct {
	Name  string // in files, such as "A1", "A2-1" or "W"
	Rows  int    // a bias has one
	Cols  int
	Data  []float64 // row-major, shared with the model
	Fixed bool      // not trained
}

// newMatrix returns m under a name, or an empty matrix if m is nil.
func newMatrix(name string, m *mat.Dense) Matrix {
	if m == nil {
		return Matrix{Name: name}
	}
	raw := m.RawMatrix()
	return Matrix{Name: name, Rows: raw.Rows, Cols: raw.Cols, Data: raw.Data}
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

// SameShape reports whether a and b have matrices of the same names and sizes.
func SameShape(a, b Model) bool {
	return slices.EqualFunc(a.Matrices(), b.Matrices(), sameSize)
}
