package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
)

// golden holds vectors computed by an independent implementation.
type golden struct {
	S, T    int
	Heads   []int
	X       [][]int
	Y       [][]float64
	Weights params
	Expect  struct {
		Loss float64
		F    [][]float64
		Grad params
	} `json:"expected"`
}

type params struct {
	A [][][][]float64
	W [][]float64
}

// weights returns p as weights.
func (p params) weights(s, t int, heads []int) *Weights {
	w := NewWeights(s, t, heads...)
	for l := range p.A {
		for h := range p.A[l] {
			w.A[l][h] = dense(p.A[l][h])
		}
	}
	w.W = dense(p.W)
	return w
}

func dense(rows [][]float64) *mat.Dense {
	return mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
}

func readGolden(t *testing.T) map[string]golden {
	files, err := filepath.Glob("testdata/catformer-*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden vectors", err)
	}
	all := map[string]golden{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var g golden
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatal(name, err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".json")] = g
	}
	return all
}

// weightsDiff is the largest difference of two entries.
func weightsDiff(a, b Model) float64 {
	d := 0.0
	for i, m := range a.Matrices() {
		d = max(d, property.MaxDiff(m.Data, b.Matrices()[i].Data))
	}
	return d
}

func TestDenseAgainstGolden(t *testing.T) {
	for name, g := range readGolden(t) {
		gradTol := 1e-12
		if strings.Contains(name, "saturated") {
			gradTol = 1e-11
		}
		w := g.Weights.weights(g.S, g.T, g.Heads)
		grad := NewWeights(g.S, g.T, g.Heads...)
		loss := 0.0
		for k, x := range g.X {
			f, l := w.Forward(x, g.Y[k], grad)
			loss += l / float64(len(g.X))
			for s := range f {
				if r := math.Abs(f[s]/g.Expect.F[k][s] - 1); !(r < 1e-11) {
					t.Errorf("%s: f[%d][%d] = %v, want %v", name, k, s, f[s], g.Expect.F[k][s])
				}
			}
		}
		if d := math.Abs(loss - g.Expect.Loss); !(d < 1e-12*max(1, loss)) {
			t.Errorf("%s: loss %v, want %v", name, loss, g.Expect.Loss)
		}
		want := g.Expect.Grad.weights(g.S, g.T, g.Heads)
		scale(want, float64(len(g.X)))
		if d := weightsDiff(grad, want) / float64(len(g.X)); !(d < gradTol) {
			t.Errorf("%s: gradient differs by %.2g, want below %.2g", name, d, gradTol)
		}
	}
}

func scale(w Model, c float64) {
	for _, m := range w.Matrices() {
		for i := range m.Data {
			m.Data[i] *= c
		}
	}
}

func randomWeights(rnd *rand.Rand, sd float64, s, t int, heads ...int) *Weights {
	w := NewWeights(s, t, heads...)
	property.Fill(rnd, sd, Trained(w)...)
	return w
}

func TestDenseGradientAgainstCentralDifferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, heads := range [][]int{{1, 1}, {2, 1}, {2, 2}, {1}, {1, 1, 1}} {
		w := randomWeights(rnd, 0.7, 3, 4, heads...)
		grad := w.Zero().(*Weights)
		x, y := property.Sequence(rnd, 3, 4)
		w.Forward(x, y, grad)
		centralDifferences(t, func() (loss float64) { _, loss = w.Forward(x, y, nil); return loss }, Trained(w),
			Trained(grad))
	}
}

// The matrices have the names and sizes that files of weights have.
func TestMatricesHaveTheirNames(t *testing.T) {
	for want, w := range map[string]Model{
		"[A1 5 x 5 A2-1 10 x 10 A2-2 10 x 10 A3 30 x 30 W 60 x 2]": NewWeights(2, 3, 1, 2, 1),
		"[A1 4 x 4 A2 4 x 4 W 4 x 2 E 2 x 4 P 3 x 4 V1 4 x 4 In1 4 x 4 BIn1 1 x 4 Out1 4 x 4 BOut1 1 x 4 " +
			"V2 4 x 4 In2 4 x 4 BIn2 1 x 4 Out2 4 x 4 BOut2 1 x 4]": NewMLP(2, 3, 4),
	} {
		var got []string
		for _, m := range w.Matrices() {
			got = append(got, fmt.Sprintf("%s %d x %d", m.Name, m.Rows, len(m.Data)/m.Rows))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("matrices %v, want %s", got, want)
		}
	}
}

// One matrix of as many entries has another shape, and is not copied.
func TestShapesAreRowsAndColumns(t *testing.T) {
	if a, b := NewWeights(2, 3), NewWeights(1, 9); SameShape(a, b) {
		t.Error("5 x 2 and 10 x 1 are the same shape")
	}
}

func TestTrainedLeavesOutFixedEmbeddings(t *testing.T) {
	w := NewMLP(2, 3, 4)
	all := len(Trained(w))
	w.Fixed = true
	if n := len(Trained(w)); all != 15 || n != 13 {
		t.Errorf("%d arrays of %d are trained, %d with fixed embeddings", all, len(w.Matrices()), n)
	}
}

// Weights without sizes are refused by these, and a head by its place.
func TestWeightsWithoutSizesAreRefused(t *testing.T) {
	w := NewWeights(2, 3, 1, 2)
	w.A[1][1] = nil
	for want, f := range map[string]func(){
		"S=0 tokens and T=0":           func() { new(Weights).Forward(nil, nil, nil) },
		"S=0 tokens and T=0 positions": func() { new(MLP).Forward(nil, nil, nil) },
		"head 2 of layer 2 is 0 x 0":   func() { w.Forward(make([]int, 3), nil, nil) },
	} {
		property.Mentions(t, errors.New(property.Refused(t, "model", f)), want)
	}
}

// centralDifferences compares the gradient of a loss in arrays of parameters with its central differences.
func centralDifferences(t *testing.T, loss func() float64, parameters, gradient [][]float64) {
	t.Helper()
	for k, p := range parameters {
		at := slices.Clone(p)
		num := fd.Gradient(nil, func(v []float64) float64 { copy(p, v); return loss() }, at,
			&fd.Settings{Formula: fd.Central})
		copy(p, at)
		if d := property.MaxDiff(num, gradient[k]); !(d < 3e-9) {
			t.Errorf("array %d of %d differs from central differences by %.2g", k, len(parameters), d)
		}
	}
}
