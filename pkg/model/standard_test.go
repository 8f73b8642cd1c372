package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/num"
)

// TestEquivalentModelsAgree maps random transformers there and back
// (Theorem 3, thm-equivalence-to and thm-equivalence-from). Swapping Q and K in Disentangle, or the
// row offset i d_l for (i+1) d_l in Standard, makes it fail.
func TestEquivalentModelsAgree(t *testing.T) {
	r := rand.New(num.Stream(1, "model/equivalence"))
	fill := func(rows, cols int) *mat.Dense {
		m := mat.NewDense(rows, cols, nil)
		for i := range m.RawMatrix().Data {
			m.RawMatrix().Data[i] = r.NormFloat64() / math.Sqrt(float64(cols))
		}
		return m
	}
	for range 20 {
		s, n, d := 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(5)
		m := &Standard{E: fill(d, s), P: fill(d, n), W: fill(s, d)}
		for range r.IntN(4) {
			var heads []Head
			for range 1 + r.IntN(2) {
				heads = append(heads, Head{fill(d, d), fill(d, d), fill(d, d)})
			}
			m.Layers = append(m.Layers, heads)
		}
		x := make([]int, n)
		for i := range x {
			x[i] = r.IntN(s)
		}
		want := m.Forward(x)
		w := m.Disentangle()
		if got := w.Linear(x); !mat.EqualApprox(got, want, 1e-10) {
			t.Errorf("disentangled, depth %d: %v, want %v", len(m.Layers), mat.Formatted(got), mat.Formatted(want))
		}
		if got := w.Standard().Forward(x); !mat.EqualApprox(got, want, 1e-10) {
			t.Errorf("and back, depth %d: %v, want %v", len(m.Layers), mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// TestLinearIsForwardBeforeTheSoftmax compares the two at the last position.
func TestLinearIsForwardBeforeTheSoftmax(t *testing.T) {
	r := rand.New(num.Stream(2, "model/linear"))
	w := NewWeights(3, 4, 2, 1)
	for _, a := range w.Arrays() {
		for i := range a {
			a[i] = r.NormFloat64()
		}
	}
	x := []int{2, 0, 1, 2}
	f, _ := w.Forward(x, nil, nil)
	p := make([]float64, w.S)
	num.LogSumExp(p, w.Linear(x).RawRowView(w.T-1))
	for s := range f {
		if math.Abs(p[s]-f[s]) > 1e-14 {
			t.Errorf("softmax of Linear %v, Forward %v", p, f)
		}
	}
}
