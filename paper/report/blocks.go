package report

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// A Block is one of the three blocks that training grows, out of one weight
// matrix, beside what the paper says that it becomes.
type Block struct {
	Name        string       // A1, A2 or W
	Place       figure.Block // in the matrix as it is drawn
	Correlation float64      // Pearson's, of the block's entries with the target's
	Outside     float64      // largest magnitude outside the block over the largest inside
}

// Blocks measures the sparsity pattern (eq:sparsity_pattern) of trained
// weights: the position-position block of A1 against the adjacency matrix
// (entries j <= i, the others are masked), the block of A2 that compares the
// query's token with the tokens attended to in layer 1, and the block of W_O
// that reads the tokens attended to in layer 2, both against the identity.
func Blocks(w *model.Weights, g *graph.Forest) []Block {
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
	return []Block{
		measure("A1", matrixRows(w.A[0][0], d), figure.Block{Row: s, Column: s, Rows: t, Columns: t}, adjacent),
		measure("A2", matrixRows(w.A[1][0], 2*d), figure.Block{Row: 0, Column: d, Rows: s, Columns: s}, identity),
		measure("W", outputRows(w), figure.Block{Row: 0, Column: 2 * d, Rows: s, Columns: s}, identity),
	}
}

// Recovered returns for how many edges p(i) -> i the first layer attends most
// to the parent, argmax_j S(A1)_ij = p(i), and the number of edges.
func Recovered(w *model.Weights, g *graph.Forest) (found, edges int) {
	for i, row := range w.PositionAttention() {
		if p := g.Parent(i); p >= 0 {
			edges++
			if floats.MaxIdx(row) == p {
				found++
			}
		}
	}
	return found, edges
}

func measure(name string, m [][]float64, b figure.Block, target func(i, j int) (float64, bool)) Block {
	var have, want []float64
	inside, outside := 0.0, 0.0
	for i, row := range m {
		for j, v := range row {
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
	return Block{Name: name, Place: b, Correlation: stat.Correlation(have, want, nil), Outside: outside / inside}
}

// matrixRows returns a row-major matrix as its rows, of n entries each.
func matrixRows(a []float64, n int) [][]float64 {
	var rows [][]float64
	for ; len(a) > 0; a = a[n:] {
		rows = append(rows, a[:n:n])
	}
	return rows
}

// outputRows returns the paper's W_O, S x d_L: the transpose of w.W.
func outputRows(w *model.Weights) [][]float64 {
	out := make([][]float64, w.S)
	for i := range out {
		for k := i; k < len(w.W); k += w.S {
			out[i] = append(out[i], w.W[k])
		}
	}
	return out
}
