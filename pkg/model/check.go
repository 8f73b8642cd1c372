package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// targetTolerance is how far a target may be from a sum of one.
const targetTolerance = 1e-9

// Check returns an error that says what is wrong with the sequence x or its
// target y, which may be nil, for a model over s tokens and t positions. x is to
// have t tokens in 0..s-1, and y to be s probabilities that sum to one to 1e-9:
// gradients are taken for such targets only.
func Check(x []int, y []float64, s, t int) error {
	if err := sizeError(s, t); err != nil {
		return err
	}
	if len(x) != t {
		return fmt.Errorf("model: sequence of length %d, want %d", len(x), t)
	}
	for i, k := range x {
		if uint(k) >= uint(s) {
			return fmt.Errorf("model: token %d at position %d, want 0..%d", k, i, s-1)
		}
	}
	if y == nil {
		return nil
	}
	if len(y) != s {
		return fmt.Errorf("model: target of length %d, want %d", len(y), s)
	}
	sum := 0.0
	for k, p := range y {
		if !(p >= 0) {
			return fmt.Errorf("model: target of token %d is %v, want a probability", k, p)
		}
		sum += p
	}
	if !(math.Abs(sum-1) <= targetTolerance) {
		return fmt.Errorf("model: target sums to %v, want 1", sum)
	}
	return nil
}

// check panics where Check has an error.
func check(x []int, y []float64, s, t int) {
	if err := Check(x, y, s, t); err != nil {
		panic(err.Error())
	}
}

// checkAll panics where Check has an error about one of the sequences that stand one
// after the other in x, or its target.
func checkAll(x []int, y []float64, s, t int) {
	if len(x) == 0 || len(x)%t != 0 {
		panic(fmt.Sprintf("model: %d tokens, want sequences of length %d, at least one", len(x), t))
	}
	n := len(x) / t
	if len(y) != n*s {
		panic(fmt.Sprintf("model: targets of length %d for %d sequences, want %d", len(y), n, n*s))
	}
	for k := range n {
		if err := Check(x[k*t:(k+1)*t], y[k*s:(k+1)*s], s, t); err != nil {
			panic(fmt.Sprintf("%v in sequence %d", err, k))
		}
	}
}

// sequences returns the number of sequences in x, and panics if there are none, or one
// that is wrong.
func sequences(x []int, s, t int) int {
	if len(x) == 0 || len(x)%t != 0 {
		panic(fmt.Sprintf("model: %d tokens, want sequences of length %d, at least one", len(x), t))
	}
	for k := range len(x) / t {
		if err := Check(x[k*t:(k+1)*t], nil, s, t); err != nil {
			panic(fmt.Sprintf("%v in sequence %d", err, k))
		}
	}
	return len(x) / t
}

// checkSize panics if there are no tokens or no positions.
func checkSize(s, t int) {
	if err := sizeError(s, t); err != nil {
		panic(err.Error())
	}
}

func sizeError(s, t int) error {
	if s < 1 || t < 1 {
		return fmt.Errorf("model: S=%d tokens and T=%d positions, want at least one of each", s, t)
	}
	return nil
}

// checkFinite panics if v is no number or infinite.
func checkFinite(name string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		panic(fmt.Sprintf("model: %s is %v, want a finite number", name, v))
	}
}

// checkArray panics if a has not rows x cols entries.
func checkArray(name string, a []float64, rows, cols int) {
	if len(a) != rows*cols {
		panic(fmt.Sprintf("model: %s has %d entries, want %d x %d", name, len(a), rows, cols))
	}
}

// checkDims panics if a is not rows x cols.
func checkDims(name string, a *mat.Dense, rows, cols int) {
	if a == nil {
		panic(fmt.Sprintf("model: no %s, want %d x %d", name, rows, cols))
	}
	if r, c := a.Dims(); r != rows || c != cols {
		panic(fmt.Sprintf("model: %s is %d x %d, want %d x %d", name, r, c, rows, cols))
	}
}

// checkSame panics if a has not the matrices of b.
func checkSame(what string, a, b Model) {
	got, want := a.Matrices(), b.Matrices()
	if len(got) != len(want) {
		panic(fmt.Sprintf("model: %s of %d matrices, want %d", what, len(got), len(want)))
	}
	for i, m := range got {
		if w := want[i]; !sameSize(m, w) {
			panic(fmt.Sprintf("model: %s with %s of %d rows and %d entries, want %s of %d and %d",
				what, m.Name, m.Rows, len(m.Data), w.Name, w.Rows, len(w.Data)))
		}
	}
}

func sameSize(m, n Matrix) bool {
	return m.Name == n.Name && m.Rows == n.Rows && len(m.Data) == len(n.Data)
}

// checkLayers panics if an attention matrix has not the size that S, T and the
// heads give it, and returns the width d_L of the last stream.
func (w *Weights) checkLayers() int {
	checkSize(w.S, w.T)
	d := w.S + w.T
	for l, layer := range w.A {
		checkHeads(l, len(layer))
		for h, a := range layer {
			checkArray(fmt.Sprintf("head %d of layer %d", h+1, l+1), a, d, d)
		}
		d *= 1 + len(layer)
	}
	return d
}

func checkHeads(layer, heads int) {
	if heads < 1 {
		panic(fmt.Sprintf("model: layer %d has %d heads, want at least one", layer+1, heads))
	}
}

// check panics if a matrix has not the size that S, T and the heads give it.
func (w *Weights) check() { checkArray("W", w.W, w.checkLayers(), w.S) }

// check panics if a matrix has not the size that S, T and the width give it.
func (w *MLP) check() {
	checkSize(w.S, w.T)
	d := w.Width
	checkWidth(d)
	checkArray("E", w.E, w.S, d)
	checkArray("P", w.P, w.T, d)
	checkArray("W", w.W, d, w.S)
	for i, l := range w.Layers {
		n := fmt.Sprint(i + 1)
		checkArray("A"+n, l.A, d, d)
		checkArray("V"+n, l.V, d, d)
		checkArray("In"+n, l.In, d, d)
		checkArray("Out"+n, l.Out, d, d)
		checkArray("BIn"+n, l.BIn, 1, d)
		checkArray("BOut"+n, l.BOut, 1, d)
	}
}

func checkWidth(d int) {
	if d < 1 {
		panic(fmt.Sprintf("model: width %d, want at least 1", d))
	}
}

// check panics if a matrix has not the size that E, P and W give it.
func (m *Standard) check() {
	if m.E == nil || m.P == nil || m.W == nil {
		panic("model: a standard transformer without E, P or W")
	}
	d, _ := m.E.Dims()
	_, t := m.P.Dims()
	out, _ := m.W.Dims()
	checkDims("P", m.P, d, t)
	checkDims("W", m.W, out, d)
	for l, heads := range m.Layers {
		for h, head := range heads {
			at := fmt.Sprintf(" of head %d of layer %d", h+1, l+1)
			checkDims("Q"+at, head.Q, d, d)
			checkDims("K"+at, head.K, d, d)
			checkDims("V"+at, head.V, d, d)
		}
	}
}
