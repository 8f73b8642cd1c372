package model

import (
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Check":                                      checked,
		"NewWeights NewMLP":                          sizes,
		"Weights.Forward Weights.Validate":           forwardOfWeights,
		"MLP.Forward MLP.Validate":                   forwardOfMLP,
		"Weights.Attention Weights.Stream":           streamsOfWeights,
		"MLP.Attention":                              attentionOfMLP,
		"Weights.Linear Weights.Standard":            linear,
		"Weights.PositionAttention":                  positionAttention,
		"Weights.PositionAttentions":                 positionAttention,
		"Clone Copy SameShape Weights.Zero MLP.Zero": copies,
		"NewPositional Positional.Forward Positional.Predictions Positional.Validate": positional,
		"Standard.Forward Standard.Disentangle":                                       standard,
		"ConstructionOne ConstructionTwo":                                             constructed,
		"Construction.Weights":                                                        finiteScales,
		"Construction.Attended Construction.Matches":                                  positionsOfConstruction,
		"Construction.Limit Construction.Empirical":                                   lawsOfConstruction,
	})
}

// size draws a number of tokens or positions.
func size(t *rapid.T, name string) int { return rapid.IntRange(1, 5).Draw(t, name) }

func checked(t *rapid.T) {
	s, n := size(t, "S"), size(t, "T")
	e := property.DrawExample(t, s, n)
	property.Decide(t, e.Right, property.Said(t, "model", Check(e.X, e.Y, s, n)))
	bad := [][2]int{{0, n}, {s, 0}, {-s, n}, {s, -n}}
	size := rapid.SampledFrom(bad).Draw(t, "size")
	property.Decide(t, false, property.Said(t, "model", Check(make([]int, max(0, size[1])), nil, size[0], size[1])))
}

func sizes(t *rapid.T) {
	small := rapid.IntRange(-2, 4)
	s, n, m := small.Draw(t, "S"), small.Draw(t, "T"), small.Draw(t, "heads or width")
	right := s > 0 && n > 0 && m > 0
	var w *Weights
	if property.Decide(t, right, property.Refused(t, "model", func() { w = NewWeights(s, n, 1, m) })) {
		property.Decide(t, true, property.Said(t, "model", w.Validate()))
	}
	var v *MLP
	kind := rapid.SampledFrom([]func(s, t, width int) *MLP{NewMLP, NewResidualMLP}).Draw(t, "kind")
	if property.Decide(t, right, property.Refused(t, "model", func() { v = kind(s, n, m) })) {
		property.Decide(t, true, property.Said(t, "model", v.Validate()))
	}
}

// fill draws the weights of a model, up to one of the scales.
func fill(t *rapid.T, w Model, scales ...float64) {
	scale := rapid.SampledFrom(scales).Draw(t, "scale")
	for _, m := range w.Matrices() {
		copy(m.Data, rapid.SliceOfN(rapid.Float64Range(-scale, scale), len(m.Data), len(m.Data)).Draw(t, m.Name))
	}
}

func drawWeights(t *rapid.T, heads ...int) *Weights {
	w := NewWeights(rapid.IntRange(1, 3).Draw(t, "S"), rapid.IntRange(1, 3).Draw(t, "T"), heads...)
	fill(t, w, 0, 0.3, 1, 3, 20)
	return w
}

func drawTwoLayers(t *rapid.T) *Weights {
	return drawWeights(t, rapid.IntRange(1, 2).Draw(t, "heads"), rapid.IntRange(1, 2).Draw(t, "second"))
}

func drawMLP(t *rapid.T) *MLP {
	kind := rapid.SampledFrom([]func(s, t, width int) *MLP{NewMLP, NewResidualMLP}).Draw(t, "kind")
	w := kind(rapid.IntRange(1, 3).Draw(t, "S"), rapid.IntRange(1, 3).Draw(t, "T"), rapid.IntRange(1, 3).Draw(t, "width"))
	w.Fixed = rapid.Bool().Draw(t, "fixed")
	fill(t, w, 0, 0.3, 1, 2)
	return w
}

// spoil gives one matrix of w another size, or takes it from a larger one, and returns
// its name.
func spoil(t *rapid.T, w Model) string {
	matrices, biases := map[string]**mat.Dense{}, map[string]*[]float64{}
	switch w := w.(type) {
	case *Weights:
		for l := range w.A {
			for h := range w.A[l] {
				matrices["A"] = &w.A[l][h]
			}
		}
		matrices["W"] = &w.W
	case *MLP:
		l := &w.Layers[rapid.IntRange(0, 1).Draw(t, "layer")]
		matrices = map[string]**mat.Dense{
			"E": &w.E, "P": &w.P, "W": &w.W, "A": &l.A, "V": &l.V, "In": &l.In, "Out": &l.Out,
		}
		biases = map[string]*[]float64{"BIn": &l.BIn, "BOut": &l.BOut}
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(matrices))).Draw(t, "spoilt")
	if rapid.Bool().Draw(t, "a bias") && len(biases) > 0 {
		name = rapid.SampledFrom(slices.Sorted(maps.Keys(biases))).Draw(t, "bias")
		*biases[name] = append(*biases[name], 1)
		return name
	}
	m := *matrices[name]
	if m == nil {
		*matrices[name] = mat.NewDense(1, 1, nil)
		return name
	}
	rows, cols := m.Dims()
	*matrices[name] = rapid.SampledFrom([]*mat.Dense{
		nil, mat.NewDense(rows+1, cols, nil), mat.NewDense(rows, cols+1, nil),
		mat.NewDense(rows+1, cols+1, nil).Slice(0, rows+1, 0, cols).(*mat.Dense),
	}).Draw(t, "matrix")
	return name
}

func forwardOfWeights(t *rapid.T) {
	w := drawTwoLayers(t)
	grad := NewWeights(w.S, w.T, w.Heads()...)
	forward(t, w.S, w.T, func(x []int, y []float64) ([]float64, float64) { return w.Forward(x, y, grad) })
	other := NewWeights(w.S, w.T+1, w.Heads()...)
	property.Decide(t, false, property.Refused(t, "model", func() { w.Forward(make([]int, w.T), nil, other) }))
	property.Decide(t, true, property.Said(t, "model", w.Validate()))
	spoil(t, w)
	property.Decide(t, false, property.Said(t, "model", w.Validate()))
	property.Decide(t, false, property.Refused(t, "model", func() { w.Forward(make([]int, w.T), nil, nil) }))
}

func forwardOfMLP(t *rapid.T) {
	w := drawMLP(t)
	grad := w.Zero().(*MLP)
	grad.Fixed = rapid.Bool().Draw(t, "fixed gradient")
	forward(t, w.S, w.T, func(x []int, y []float64) ([]float64, float64) { return w.Forward(x, y, grad) })
	other := NewMLP(w.S, w.T, w.Width+1)
	property.Decide(t, false, property.Refused(t, "model", func() { w.Forward(make([]int, w.T), nil, other) }))
	property.Decide(t, true, property.Said(t, "model", w.Validate()))
	spoil(t, w)
	property.Decide(t, false, property.Said(t, "model", w.Validate()))
	property.Decide(t, false, property.Refused(t, "model", func() { w.Forward(make([]int, w.T), nil, nil) }))
}

// forward requires a distribution and its loss, or a refusal.
func forward(t *rapid.T, s, n int, of func(x []int, y []float64) ([]float64, float64)) {
	c := property.DrawExample(t, s, n)
	if rapid.IntRange(0, 3).Draw(t, "target") == 0 {
		c.Y, c.Right = nil, Check(c.X, nil, s, n) == nil
	}
	var f []float64
	var loss float64
	if !property.Decide(t, c.Right, property.Refused(t, "model", func() { f, loss = of(c.X, c.Y) })) {
		return
	}
	distribution(t, f)
	want := 0.0
	for k, p := range c.Y {
		if p > 0 {
			want -= p * math.Log(f[k])
		}
	}
	if !math.IsInf(want, 0) { // f underflows before its logarithm
		near(t, "loss", []float64{loss}, []float64{want})
	}
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

// distribution holds that p is one.
func distribution(t *rapid.T, p []float64) {
	t.Helper()
	if Check([]int{0}, p, len(p), 1) != nil {
		t.Fatalf("%v is no distribution", p)
	}
}

// attended holds that p is T x T, lower triangular and row-stochastic.
func attended(t *rapid.T, p *mat.Dense) {
	t.Helper()
	n, _ := p.Dims()
	for i := range n {
		row := p.RawRowView(i)
		if len(row) != n || slices.ContainsFunc(row[i+1:], func(v float64) bool { return v != 0 }) {
			t.Fatalf("attention %v", p)
		}
		distribution(t, row)
	}
}

func drawAnyDepth(t *rapid.T) *Weights {
	return drawWeights(t, rapid.SliceOfN(rapid.IntRange(1, 2), 0, 3).Draw(t, "heads")...)
}

func streamsOfWeights(t *rapid.T) {
	w := drawAnyDepth(t)
	e := property.DrawExample(t, w.S, w.T)
	right := Check(e.X, nil, w.S, w.T) == nil
	if property.Decide(t, right, property.Refused(t, "model", func() { w.Stream(e.X) })) {
		h := w.Stream(e.X)
		if n, d := h.Dims(); n != w.T || d != w.mustWidth() {
			t.Fatalf("stream of %d x %d", n, d)
		}
		near(t, "h0", h.RawRowView(0)[:w.S+w.T], w.embed(e.X).RawRowView(0))
	}
	if property.Decide(t, right, property.Refused(t, "model", func() { w.Attention(e.X) })) {
		for _, layer := range w.Attention(e.X) {
			for _, p := range layer {
				attended(t, p)
			}
		}
	}
	if len(w.A) > 0 && spoil(t, w) == "A" {
		property.Decide(t, false, property.Refused(t, "model", func() { w.Stream(make([]int, w.T)) }))
		property.Decide(t, false, property.Refused(t, "model", func() { w.Attention(make([]int, w.T)) }))
	}
}

func attentionOfMLP(t *rapid.T) {
	w := drawMLP(t)
	e := property.DrawExample(t, w.S, w.T)
	var all [][]*mat.Dense
	if property.Decide(t, Check(e.X, nil, w.S, w.T) == nil,
		property.Refused(t, "model", func() { all = w.Attention(e.X) })) {
		for _, layer := range all {
			attended(t, layer[0])
		}
	}
	spoil(t, w)
	property.Decide(t, false, property.Refused(t, "model", func() { w.Attention(make([]int, w.T)) }))
}

func linear(t *rapid.T) {
	w := drawAnyDepth(t)
	e := property.DrawExample(t, w.S, w.T)
	var out *mat.Dense
	if property.Decide(t, Check(e.X, nil, w.S, w.T) == nil,
		property.Refused(t, "model", func() { out = w.Linear(e.X) })) {
		f, _ := w.Forward(e.X, nil, nil)
		p := make([]float64, w.S)
		num.LogSumExp(p, out.RawRowView(w.T-1))
		near(t, "f", p, f)
		near(t, "standard", w.Standard().Forward(e.X).RawMatrix().Data, out.RawMatrix().Data)
	}
	spoil(t, w)
	property.Decide(t, false, property.Refused(t, "model", func() { w.Linear(make([]int, w.T)) }))
	property.Decide(t, false, property.Refused(t, "model", func() { w.Standard() }))
}

func positionAttention(t *rapid.T) {
	w := drawAnyDepth(t)
	var all []*mat.Dense
	if property.Decide(t, len(w.A) > 0, property.Refused(t, "model", func() { all = w.PositionAttentions() })) {
		for _, p := range all {
			attended(t, p)
		}
		near(t, "first head", w.PositionAttention().RawMatrix().Data, all[0].RawMatrix().Data)
		if spoil(t, w) == "A" {
			property.Decide(t, false, property.Refused(t, "model", func() { w.PositionAttention() }))
		}
	}
}

func copies(t *rapid.T) {
	for _, w := range []Model{drawAnyDepth(t), drawMLP(t)} {
		c := Clone(w)
		if !SameShape(c, w) || weightsDiff(c, w) != 0 {
			t.Fatalf("the clone of %+v is %+v", w, c)
		}
		if first := w.Matrices()[0].Data; &c.Matrices()[0].Data[0] == &first[0] {
			t.Fatal("a clone shares an array")
		}
		z := w.Zero()
		if !SameShape(z, w) ||
			slices.ContainsFunc(z.Matrices(), func(m Matrix) bool {
				return mat.Norm(mat.NewVecDense(len(m.Data), m.Data),
					1) != 0
			}) {
			t.Fatalf("zero weights %+v", z)
		}
	}
	a, b := drawMLP(t), drawMLP(t)
	same := a.S == b.S && a.T == b.T && a.Width == b.Width && a.Residual == b.Residual
	if SameShape(a, b) != same {
		t.Fatalf("SameShape is %v", !same)
	}
	property.Decide(t, same, property.Refused(t, "model", func() { Copy(a, b) }))
}

func standard(t *rapid.T) {
	s, n, d := size(t, "S"), size(t, "T"), size(t, "d")
	dense := func(rows, cols int) *mat.Dense {
		return mat.NewDense(rows, cols, rapid.SliceOfN(rapid.Float64Range(-1, 1), rows*cols, rows*cols).Draw(t, "matrix"))
	}
	m := &Standard{E: dense(d, s), P: dense(d, n), W: dense(s, d)}
	for range rapid.IntRange(0, 2).Draw(t, "layers") {
		m.Layers = append(m.Layers, []Head{{dense(d, d), dense(d, d), dense(d, d)}})
	}
	e := property.DrawExample(t, s, n)
	var out *mat.Dense
	if property.Decide(t, Check(e.X, nil, s, n) == nil, property.Refused(t, "model", func() { out = m.Forward(e.X) })) {
		near(t, "disentangled", m.Disentangle().Linear(e.X).RawMatrix().Data, out.RawMatrix().Data)
	}
	wrong := dense(d+1, d+2)
	switch k := rapid.IntRange(0, 3+len(m.Layers)).Draw(t, "wrong"); k {
	case 0:
		m.E = wrong
	case 1:
		m.P = nil
	case 2:
		m.W = wrong
	case 3:
		m.W = nil
	default:
		head := &m.Layers[k-4][0]
		*rapid.SampledFrom([]**mat.Dense{&head.Q, &head.K, &head.V}).Draw(t,
			"matrix of a head") = rapid.SampledFrom([]*mat.Dense{nil, wrong}).Draw(t, "value")
	}
	property.Decide(t, false, property.Refused(t, "model", func() { m.Forward(make([]int, n)) }))
	property.Decide(t, false, property.Refused(t, "model", func() { m.Disentangle() }))
}

// forest draws a graph, whose last position has no parent.
func forest(t *rapid.T) *graph.Forest {
	parents := make([]int, rapid.IntRange(2, 6).Draw(t, "T"))
	for i := range parents {
		parents[i] = rapid.IntRange(-1, i-1).Draw(t, "parent")
	}
	parents[len(parents)-1] = -1
	return graph.MustNew(parents...)
}

func constructed(t *rapid.T) {
	s := rapid.IntRange(-1, 3).Draw(t, "S")
	g := forest(t)
	property.Decide(t, s > 0, property.Refused(t, "model", func() { ConstructionOne(g, s) }))
	dag := graph.NGram(6, rapid.IntRange(1, 3).Draw(t, "k"))
	property.Decide(t, s > 0, property.Refused(t, "model", func() { ConstructionTwo(dag, s) }))
}

func construction(t *rapid.T) *Construction {
	s := size(t, "S")
	if rapid.Bool().Draw(t, "two") {
		return ConstructionTwo(graph.NGram(6, rapid.IntRange(1, 3).Draw(t, "k")), s)
	}
	return ConstructionOne(forest(t), s)
}

func finiteScales(t *rapid.T) {
	c := construction(t)
	a, b := property.Float().Draw(t, "beta1"), property.Float().Draw(t, "beta2")
	var w *Weights
	if property.Decide(t, !math.IsNaN(a-a) && !math.IsNaN(b-b),
		property.Refused(t, "model", func() { w = c.Weights(a, b) })) {
		property.Decide(t, true, property.Said(t, "model", w.Validate()))
	}
}

func positionsOfConstruction(t *rapid.T) {
	c := construction(t)
	e := property.DrawExample(t, c.S, len(c.parents))
	right := Check(e.X, nil, c.S, len(c.parents)) == nil
	var attended, matches []int
	if property.Decide(t, right, property.Refused(t, "model", func() { attended = c.Attended(e.X) })) &&
		len(attended) == 0 {
		t.Fatal("the query attends to nothing")
	}
	property.Decide(t, right, property.Refused(t, "model", func() { matches = c.Matches(e.X) }))
	for _, at := range [][]int{attended, matches} {
		if !slices.IsSorted(at) || len(at) > 0 && (at[0] < 0 || at[len(at)-1] >= len(e.X)) {
			t.Fatalf("positions %v", at)
		}
	}
}

func lawsOfConstruction(t *rapid.T) {
	c := construction(t)
	e := property.DrawExample(t, c.S, len(c.parents))
	f := make([]float64, c.S+rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(t, "more"))
	right := Check(e.X, nil, c.S, len(c.parents)) == nil && len(f) == c.S
	if property.Decide(t, right, property.Refused(t, "model", func() { c.Limit(f, e.X) })) {
		distribution(t, f)
	}
	found := false
	if property.Decide(t, right, property.Refused(t, "model", func() { found = c.Empirical(f, e.X) })) && found {
		distribution(t, f)
	}
}
