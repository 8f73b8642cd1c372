package figures

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// A Block is one of the three blocks of the weights that training grows, compared with
// the matrix that it becomes according to the paper.
type Block struct {
	Name                       string  // A1, A2 or W
	Row, Column, Rows, Columns int     // its place in the matrix
	Correlation                float64 // Pearson's, of the block's entries with the target's
	Outside                    float64 // largest magnitude outside the block over the largest inside
}

// Sparsity is the sparsity pattern of trained weights.
type Sparsity struct {
	A1 Block // positions x positions of A1; target: the adjacency matrix
	A2 Block // query's token x tokens attended to in layer 1; target: the identity
	W  Block // output tokens x tokens attended to in layer 2 of W_O; target: the identity
}

// Blocks returns the three blocks.
func (s Sparsity) Blocks() []Block { return []Block{s.A1, s.A2, s.W} }

// Outside returns the largest Outside of the blocks.
func (s Sparsity) Outside() float64 { return max(s.A1.Outside, s.A2.Outside, s.W.Outside) }

// measureSparsity measures the sparsity pattern of a two-layer model with one head in
// each layer. Only the entries j <= i of A1 count; the others are masked.
func measureSparsity(w *model.Weights, g *graph.Forest) Sparsity {
	s, t := w.S, w.T
	d := s + t
	adjacent := func(i, j int) (target float64, used bool) {
		if g.Parent(i) == j {
			return 1, true
		}
		return 0, j <= i
	}
	identity := func(i, j int) (float64, bool) {
		if i == j {
			return 1, true
		}
		return 0, true
	}
	return Sparsity{
		A1: measure(Block{Name: "A1", Row: s, Column: s, Rows: t, Columns: t}, w.A[0][0], adjacent),
		A2: measure(Block{Name: "A2", Column: d, Rows: s, Columns: s}, w.A[1][0], identity),
		W:  measure(Block{Name: "W", Column: 2 * d, Rows: s, Columns: s}, w.W.T(), identity),
	}
}

// measure sets Correlation and Outside of the block b of the matrix m.
func measure(b Block, m mat.Matrix, target func(i, j int) (float64, bool)) Block {
	var have, want []float64
	inside, outside := 0.0, 0.0
	rows, columns := m.Dims()
	for i := range rows {
		for j := range columns {
			v := m.At(i, j)
			if i < b.Row || i >= b.Row+b.Rows || j < b.Column || j >= b.Column+b.Columns {
				outside = max(outside, math.Abs(v))
				continue
			}
			inside = max(inside, math.Abs(v))
			if x, used := target(i-b.Row, j-b.Column); used {
				have, want = append(have, v), append(want, x)
			}
		}
	}
	b.Correlation, b.Outside = stat.Correlation(have, want, nil), outside/inside
	return b
}
