package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// near fails unless two arrays agree to 1e-11 of their largest entry, or of one.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	largest := 1.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	if d := property.MaxDiff(got, want); !(d <= 1e-11*largest) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// random returns normal weights and a sequence with a target.
func random(w Model, s, n int, seed uint64) (x []int, y []float64) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, m := range w.Matrices() {
		property.Fill(rnd, 1, m.Data)
	}
	return property.Sequence(rnd, s, n)
}

// Every attention is lower triangular with rows that are distributions, f is one, and the loss is its log-loss.
// Linear has the logits, which Standard computes by E, P, Q, K and V (Section 2.2).
func TestForwardIsADistributionWithItsLoss(t *testing.T) {
	for _, heads := range [][]int{nil, {1}, {2}, {1, 1}, {2, 1}, {1, 2, 1}} {
		w := NewWeights(3, 4, heads...)
		x, y := random(w, 3, 4, uint64(len(heads)))
		f, loss := w.Forward(x, y, nil)
		want, p := 0.0, make([]float64, 3)
		for k, q := range y {
			want -= q * math.Log(f[k])
		}
		near(t, "the loss", []float64{loss}, []float64{want})
		num.LogSumExp(p, w.Linear(x).RawRowView(3))
		near(t, "the softmax of the logits", p, f)
		near(t, "the standard form", w.Standard().Forward(x).RawMatrix().Data, w.Linear(x).RawMatrix().Data)
		for _, layer := range w.Attention(x) {
			for _, a := range layer {
				attended(t, a)
			}
		}
		if len(heads) > 0 {
			near(t, "the first head", w.PositionAttention().RawMatrix().Data, w.PositionAttentions()[0].RawMatrix().Data)
			attended(t, w.PositionAttention())
		}
	}
	for _, w := range []*MLP{NewMLP(3, 4, 2), NewResidualMLP(3, 4, 2)} {
		x, y := random(w, 3, 4, 1)
		f, loss := w.Forward(x, y, nil)
		want := 0.0
		for k, q := range y {
			want -= q * math.Log(f[k])
		}
		near(t, "the loss", []float64{loss}, []float64{want})
		for _, layer := range w.Attention(x) {
			attended(t, layer[0])
		}
	}
}

// attended fails unless p is lower triangular and row-stochastic.
func attended(t *testing.T, p *mat.Dense) {
	t.Helper()
	n, _ := p.Dims()
	for i := range n {
		row := p.RawRowView(i)
		if CheckTarget(row, n) != nil || slices.ContainsFunc(row[i+1:], func(v float64) bool { return v != 0 }) {
			t.Errorf("attention %v", mat.Formatted(p))
		}
	}
}

// A standard transformer of any depth is a disentangled one.
func TestStandardIsDisentangled(t *testing.T) {
	for layers := range 3 {
		rnd := rand.New(rand.NewPCG(1, uint64(layers)))
		dense := func(rows, cols int) *mat.Dense {
			m := mat.NewDense(rows, cols, nil)
			property.Fill(rnd, 0.5, m.RawMatrix().Data)
			return m
		}
		m := &Standard{E: dense(2, 3), P: dense(2, 4), W: dense(3, 2)}
		for range layers {
			m.Layers = append(m.Layers, []Head{{dense(2, 2), dense(2, 2), dense(2, 2)}})
		}
		x, _ := property.Sequence(rnd, 3, 4)
		near(t, fmt.Sprint(layers, " layers"), m.Disentangle().Linear(x).RawMatrix().Data, m.Forward(x).RawMatrix().Data)
		for _, wrong := range []func(){
			func() { m.P = nil }, func() { m.W = dense(5, 3) },
			func() {
				if layers > 0 {
					m.Layers[0][0].K = nil
				}
			},
		} {
			was, head := *m, slices.Clone(m.Layers)
			for l := range head {
				m.Layers[l] = slices.Clone(m.Layers[l])
			}
			if wrong(); m.P != was.P || m.W != was.W || layers > 0 {
				property.Refuses(t, "model", map[string]func(){
					"Forward of a wrong matrix": func() { m.Forward(x) }, "Disentangle of it": func() { m.Disentangle() },
				})
			}
			*m = was
			copy(m.Layers, head)
		}
	}
}

func TestClonesAreCopies(t *testing.T) {
	for _, w := range []Model{NewWeights(2, 3, 1, 2), NewMLP(2, 3, 2)} {
		random(w, 2, 3, 7)
		c := Clone(w)
		for i, m := range w.Matrices() {
			n := c.Matrices()[i]
			if !SameShape(c, w) || !slices.Equal(m.Data, n.Data) || &m.Data[0] == &n.Data[0] {
				t.Errorf("the clone of %s is %v, want %v", m.Name, n.Data, m.Data)
			}
			if z := w.Zero().Matrices()[i].Data; !slices.Equal(z, make([]float64, len(m.Data))) {
				t.Errorf("zero weights %s: %v", m.Name, z)
			}
		}
	}
	if SameShape(NewMLP(2, 3, 2), NewMLP(2, 3, 1)) || SameShape(NewMLP(2, 3, 2), NewResidualMLP(2, 3, 2)) {
		t.Error("MLPs of other widths, or with and without a residual stream, have one shape")
	}
}

// A model with a matrix or a bias of another size is refused by Validate and by every pass.
func TestWrongMatricesAreRefused(t *testing.T) {
	for name, set := range map[string]func(w *MLP){
		"no E": func(w *MLP) { w.E = nil }, "P": func(w *MLP) { w.P = mat.NewDense(4, 4, nil) },
		"W": func(w *MLP) { w.W = w.W.Grow(1, 0).(*mat.Dense) }, "no A": func(w *MLP) { w.Layers[0].A = nil },
		"V": func(w *MLP) { w.Layers[1].V = mat.NewDense(1, 1, nil) }, "BIn": func(w *MLP) { w.Layers[0].BIn = nil },
		"a stride": func(w *MLP) { w.Layers[0].A = w.Layers[0].A.Grow(1, 1).(*mat.Dense).Slice(0, 2, 0, 2).(*mat.Dense) },
	} {
		w := NewMLP(2, 3, 2)
		x, _ := random(w, 2, 3, 1)
		if set(w); w.Validate() == nil {
			t.Errorf("an MLP with a wrong matrix, %s, is valid", name)
		}
		property.Refuses(t, "model", map[string]func(){
			name + ": Forward": func() { w.Forward(x, nil, nil) }, name + ": Attention": func() { w.Attention(x) },
		})
	}
	w, x := NewWeights(2, 3, 1, 1), []int{0, 1, 0}
	w.A[0][0] = mat.NewDense(6, 6, nil)
	if w.Validate() == nil {
		t.Error("weights with an A of another size are valid")
	}
	property.Refuses(t, "model", map[string]func(){
		"Forward": func() { w.Forward(x, nil, nil) }, "Linear": func() { w.Linear(x) }, "Stream": func() { w.Stream(x) },
		"Standard": func() { w.Standard() }, "PositionAttention": func() { w.PositionAttention() },
	})
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	w, c := NewWeights(2, 3, 1, 1), ConstructionOne(graph.Chain(4), 2)
	calls := map[string]func(){
		"no tokens":                  func() { NewWeights(0, 3, 1) },
		"no heads":                   func() { NewWeights(2, 3, 1, 0) },
		"no width":                   func() { NewMLP(2, 3, 0) },
		"a gradient of another size": func() { w.Forward([]int{0, 0, 0}, nil, NewWeights(2, 4, 1, 1)) },
		"a copy of another size":     func() { Copy(w, NewWeights(2, 4, 1, 1)) },
		"no layers":                  func() { NewWeights(2, 3).PositionAttentions() },
		"a graph over no tokens":     func() { ConstructionOne(graph.Chain(4), 0) },
		"beta infinite":              func() { c.Weights(math.Inf(1), 1) },
		"beta NaN":                   func() { c.Weights(1, math.NaN()) },
		"a limit of 3 of 2":          func() { c.Limit(make([]float64, 3), make([]int, 4)) },
		"an estimate of 1 of 2":      func() { c.Empirical(make([]float64, 1), make([]int, 4)) },
	}
	for _, x := range [][]int{{0, 2, 0}, {0, -1, 0}, {0, 0}, {0, 0, 0, 0}} {
		calls[fmt.Sprint("Forward of ", x)] = func() { w.Forward(x, nil, nil) }
		calls[fmt.Sprint("Attended of ", x)] = func() { c.Attended(append(x, 2)) }
	}
	for _, y := range [][]float64{{1}, {1, 0, 0}, {0.5, 0.6}, {-1, 2}, {math.NaN(), 1}, {0, 0}, {math.Inf(1), 0}} {
		calls[fmt.Sprint("a target ", y)] = func() { w.Forward([]int{0, 0, 0}, y, nil) }
	}
	property.Refuses(t, "model", calls)
	for _, size := range [][2]int{{0, 1}, {1, 0}, {-2, 1}, {1, -2}} {
		if Check(make([]int, max(size[1], 0)), nil, size[0], size[1]) == nil {
			t.Errorf("%d tokens at %d positions are accepted", size[0], size[1])
		}
	}
}

// On every sequence: the query attends to something, and both laws are distributions.
func TestConstructionsHaveLaws(t *testing.T) {
	for _, c := range []*Construction{
		ConstructionOne(graph.Chain(4), 2), ConstructionOne(graph.MustNew(-1, -1, 0, 0, -1), 2),
		ConstructionTwo(graph.NGram(4, 2), 2),
	} {
		n := len(c.parents)
		for k := range 1 << n {
			x, f := make([]int, n), make([]float64, 2)
			for i := range x {
				x[i] = k >> i & 1
			}
			if at := c.Attended(x); len(at) == 0 || !slices.IsSorted(at) || at[0] < 0 || at[len(at)-1] >= n {
				t.Fatalf("%v: the query attends to %v", x, at)
			}
			if c.Limit(f, x); CheckTarget(f, 2) != nil {
				t.Fatalf("%v: the limit is %v", x, f)
			}
			if c.Empirical(f, x) && CheckTarget(f, 2) != nil {
				t.Fatalf("%v: the empirical transition is %v", x, f)
			}
		}
	}
}
