package engine

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/model"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"New":                           tables,
		"WeightsFootprint MLPFootprint": footprints,
	})
}

func tables(t *rapid.T) {
	if rapid.Bool().Draw(t, "MLPs") {
		tablesOfMLP(t)
	} else {
		tablesOfWeights(t)
	}
}

func tablesOfWeights(t *rapid.T) {
	w := drawTwoLayers(t)
	grad := model.NewWeights(w.S, w.T, w.Heads()...)
	agree(t, w, grad, w.Attention, func(x []int, y []float64) ([]float64, float64) { return w.Forward(x, y, grad) })
	property.Decide(t, false, property.Refused(t, "engine", func() { New(model.NewWeights(w.S, w.T, 1, 1, 1)) }))
	bad := model.Clone(w).(*model.Weights)
	bad.A[1][0] = mat.NewDense(1, 1, nil)
	refuse(t, w, bad, model.NewWeights(w.S, w.T+1, w.Heads()...))
}

func tablesOfMLP(t *rapid.T) {
	w := drawMLP(t)
	grad := w.Zero().(*model.MLP)
	grad.Fixed = rapid.Bool().Draw(t, "fixed gradient")
	agree(t, w, grad, w.Attention, func(x []int, y []float64) ([]float64, float64) { return w.Forward(x, y, grad) })
	bad := model.Clone(w).(*model.MLP)
	bad.Layers[0].BIn = append(bad.Layers[0].BIn, 1)
	refuse(t, w, bad, model.NewMLP(w.S, w.T, w.Width+1))
}

// refuse requires the engine of w to refuse bad, a copy of w with an array of another
// length, and weights of another size and kind.
func refuse(t *rapid.T, w, bad, other model.Model) {
	e := New(w)
	g := e.NewGradient()
	var kind model.Model = model.NewMLP(1, 1, 1)
	if _, same := w.(*model.MLP); same {
		kind = model.NewWeights(1, 1, 1, 1)
	}
	for _, v := range []model.Model{bad, other, kind} {
		property.Decide(t, false, property.Refused(t, "engine", func() { e.Load(v) }))
		property.Decide(t, false, property.Refused(t, "engine", func() { g.AddTo(v, 1) }))
	}
	property.Decide(t, false, property.Refused(t, "engine", func() { New(bad) }))
}

// agree compares the engine of w with the dense model: both refuse the same sequences
// and targets with the same words, and return the same results.
func agree(t *rapid.T, w, dense model.Model, attention func(x []int) [][]*mat.Dense,
	forward func(x []int, y []float64) ([]float64, float64),
) {
	s, n := tokensAndPositions(w)
	e := New(w)
	p, g := e.NewPass(), e.NewGradient()
	property.Decide(t, false, property.Refused(t, "engine", func() {
		p.Loss(make([]int, n), property.Law(s).Draw(t, "y"), New(w).NewGradient())
	}))
	tables := dense.Zero()
	for range 3 {
		c := property.DrawExample(t, s, n)
		if rapid.IntRange(0, 3).Draw(t, "target") == 0 {
			c.Y, c.Right = nil, len(c.X) == n && model.Check(c.X, nil, s, n) == nil
		}
		var f []float64
		var want, loss float64
		said := property.Refused(t, "model", func() { f, want = forward(c.X, c.Y) })
		saidToo := property.Refused(t, "engine", func() { loss = p.Loss(c.X, c.Y, g) })
		if said != strings.TrimPrefix(saidToo, "engine: ") {
			t.Fatalf("the dense model says %q, the engine %q", said, saidToo)
		}
		if !property.Decide(t, c.Right, said) {
			continue
		}
		near(t, "loss", []float64{loss}, []float64{want})
		near(t, "f", p.Predictions(), f)
	}
	g.AddTo(tables, 1)
	var got, want []float64
	for i, m := range tables.Matrices() {
		got, want = append(got, m.Data...), append(want, dense.Matrices()[i].Data...)
	}
	near(t, "gradient", got, want)
	meanAttentions(t, w, attention)
}

// meanAttentions holds MeanAttention to the dense model.
func meanAttentions(t *rapid.T, w model.Model, attention func(x []int) [][]*mat.Dense) {
	s, n := tokensAndPositions(w)
	x := rapid.SliceOfN(rapid.IntRange(0, s), 0, 2*n+1).Draw(t, "sequences")
	right := len(x) > 0 && len(x)%n == 0 && !slices.Contains(x, s)
	var got []*mat.Dense
	if !property.Decide(t, right, property.Refused(t, "engine", func() { got = New(w).MeanAttention(x) })) {
		return
	}
	for h := range got {
		want := make([]float64, n*n)
		for k := 0; k < len(x); k += n {
			for i, v := range attention(x[k : k+n])[0][h].RawMatrix().Data {
				want[i] += v * float64(n) / float64(len(x))
			}
		}
		near(t, "mean attention", got[h].RawMatrix().Data, want)
	}
}

func tokensAndPositions(w model.Model) (s, t int) {
	switch w := w.(type) {
	case *model.Weights:
		return w.S, w.T
	case *model.MLP:
		return w.S, w.T
	}
	panic("no model")
}

func footprints(t *rapid.T) {
	s, n := property.Int().Draw(t, "S"), property.Int().Draw(t, "T")
	m, k := property.Int().Draw(t, "m"), property.Int().Draw(t, "n")
	var f Footprint
	if property.Decide(t, s > 0 && n > 0 && m > 0 && k > 0,
		property.Refused(t, "engine", func() { f = WeightsFootprint(s, n, m, k) })) {
		positive(t, f)
	}
	if property.Decide(t, s > 0 && n > 0 && m > 0,
		property.Refused(t, "engine", func() { f = MLPFootprint(s, n, m, rapid.Bool().Draw(t, "residual")) })) {
		positive(t, f)
	}
}

func positive(t *rapid.T, f Footprint) {
	for _, v := range []float64{f.Weights, f.Engine, f.Gradient, f.Pass} {
		if !(v >= 1 && v <= math.MaxFloat64) {
			t.Fatalf("%+v", f)
		}
	}
}

// fill draws the weights of a model, up to one of the scales.
func fill(t *rapid.T, w model.Model, scales ...float64) {
	scale := rapid.SampledFrom(scales).Draw(t, "scale")
	for _, m := range w.Matrices() {
		copy(m.Data, rapid.SliceOfN(rapid.Float64Range(-scale, scale), len(m.Data), len(m.Data)).Draw(t, m.Name))
	}
}

func drawWeights(t *rapid.T, heads ...int) *model.Weights {
	w := model.NewWeights(rapid.IntRange(1, 3).Draw(t, "S"), rapid.IntRange(1, 3).Draw(t, "T"), heads...)
	fill(t, w, 0, 0.3, 1, 3, 20)
	return w
}

func drawTwoLayers(t *rapid.T) *model.Weights {
	return drawWeights(t, rapid.IntRange(1, 2).Draw(t, "heads"), rapid.IntRange(1, 2).Draw(t, "second"))
}

func drawMLP(t *rapid.T) *model.MLP {
	kind := rapid.SampledFrom([]func(s, t, width int) *model.MLP{model.NewMLP, model.NewResidualMLP}).Draw(t, "kind")
	w := kind(rapid.IntRange(1, 3).Draw(t, "S"), rapid.IntRange(1, 3).Draw(t, "T"), rapid.IntRange(1, 3).Draw(t, "width"))
	w.Fixed = rapid.Bool().Draw(t, "fixed")
	fill(t, w, 0, 0.3, 1, 2)
	return w
}

// near holds that two arrays agree to 1e-11 of their largest entry, or of one.
func near(t *rapid.T, what string, got, want []float64) {
	t.Helper()
	largest := 1.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	if d := property.MaxDiff(got, want); !(d <= 1e-11*largest) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}
