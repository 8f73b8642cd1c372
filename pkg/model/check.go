package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// targetTolerance bounds the distance of a target's sum from one.
const targetTolerance = 1e-9

// Check returns an error unless x is a sequence, and y a target or nil, for a model over s
// tokens and t positions: x must have t tokens in 0..s-1, and y must pass [CheckTarget], as the gradients presume.
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
	return CheckTarget(y, s)
}

// CheckTarget returns an error unless y is a target over s tokens: s probabilities that sum to one to 1e-9.
func CheckTarget(y []float64, s int) error {
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

func sizeError(s, t int) error {
	if s < 1 || t < 1 {
		return fmt.Errorf("model: S=%d tokens and T=%d positions, want at least one of each", s, t)
	}
	return nil
}

// checkFinite panics if v is NaN or infinite.
func checkFinite(name string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		panic(fmt.Sprintf("model: %s is %v, want a finite number", name, v))
	}
}

// checkLength panics if v has not n entries.
func checkLength(name string, v []float64, n int) {
	if len(v) != n {
		panic(fmt.Sprintf("model: %s has %d entries, want %d", name, len(v), n))
	}
}

// check returns an error if m has another size than rows x cols, or is part of a larger matrix.
func (m Matrix) check(rows, cols int) error {
	if m.Rows != rows || m.Cols != cols || len(m.Data) != rows*cols {
		return fmt.Errorf("model: %s is %d x %d with %d entries, want %d x %d",
			m.Name, m.Rows, m.Cols, len(m.Data), rows, cols)
	}
	return nil
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

// checkSame panics unless a has matrices of the names and sizes of b.
func checkSame(what string, a, b Model) {
	got, want := a.Matrices(), b.Matrices()
	if len(got) != len(want) {
		panic(fmt.Sprintf("model: %s of %d matrices, want %d", what, len(got), len(want)))
	}
	for i, m := range got {
		if w := want[i]; !sameSize(m, w) {
			panic(fmt.Sprintf("model: %s with %s of %d x %d and %d entries, want %s of %d x %d",
				what, m.Name, m.Rows, m.Cols, len(m.Data), w.Name, w.Rows, w.Cols))
		}
	}
}

func sameSize(m, n Matrix) bool {
	return m.Name == n.Name && m.Rows == n.Rows && m.Cols == n.Cols && len(m.Data) == len(n.Data)
}

// width returns the width d_L of the last stream, or an error if an attention matrix has
// another size than S, T and the heads give it.
func (w *Weights) width() (int, error) {
	if err := sizeError(w.S, w.T); err != nil {
		return 0, err
	}
	d := w.S + w.T
	for l, layer := range w.A {
		if err := headsError(l, len(layer)); err != nil {
			return 0, err
		}
		for h, a := range layer {
			if err := newMatrix(fmt.Sprintf("head %d of layer %d", h+1, l+1), a).check(d, d); err != nil {
				return 0, err
			}
		}
		d *= 1 + len(layer)
	}
	return d, nil
}

// mustWidth is width, and panics where that has an error.
func (w *Weights) mustWidth() int {
	d, err := w.width()
	must(err)
	return d
}

func headsError(layer, heads int) error {
	if heads < 1 {
		return fmt.Errorf("model: layer %d has %d heads, want at least one", layer+1, heads)
	}
	return nil
}

// Validate returns an error if a matrix has another size than S, T and the heads give it.
func (w *Weights) Validate() error {
	d, err := w.width()
	if err != nil {
		return err
	}
	return newMatrix("W", w.W).check(d, w.S)
}

// Validate returns an error if a matrix has another size than S, T and the width give it.
func (w *MLP) Validate() error {
	if err := mlpError(w.S, w.T, w.Width); err != nil {
		return err
	}
	if n := len(w.Layers); w.Residual && n > 0 {
		if l := w.Layers[n-1]; l.In != nil || l.BIn != nil || l.Out != nil || l.BOut != nil {
			return fmt.Errorf("model: layer %d of a residual transformer has an MLP, want none in the last layer", n)
		}
	}
	for _, m := range w.Matrices() {
		rows, cols := w.Width, w.Width
		switch {
		case m.Name == "W":
			cols = w.S
		case m.Name == "E":
			rows = w.S
		case m.Name == "P":
			rows = w.T
		case m.Name[0] == 'B':
			rows = 1
		}
		if err := m.check(rows, cols); err != nil {
			return err
		}
	}
	return nil
}

func mlpError(s, t, d int) error {
	if err := sizeError(s, t); err != nil {
		return err
	}
	if d < 1 {
		return fmt.Errorf("model: width %d, want at least 1", d)
	}
	return nil
}

// must panics with the message of an error.
func must(err error) {
	if err != nil {
		panic(err.Error())
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
