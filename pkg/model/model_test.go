package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
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

// weights flattens p: layer, head, row, column.
func (p params) weights(s, t int, heads []int) *Weights {
	w := NewWeights(s, t, heads...)
	for l := range p.A {
		for h := range p.A[l] {
			w.A[l][h] = flatten(p.A[l][h])
		}
	}
	w.W = flatten(p.W)
	return w
}

func flatten(rows [][]float64) (flat []float64) {
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return flat
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

func maxDiff(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		if diff := math.Abs(a[i] - b[i]); !(diff <= d) {
			d = diff
		}
	}
	return d
}

// weightsDiff is the largest difference of two entries.
func weightsDiff(a, b Model) float64 {
	d := 0.0
	for i, m := range a.Matrices() {
		d = max(d, maxDiff(m.Data, b.Matrices()[i].Data))
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
	for _, p := range w.Arrays() {
		for i := range p {
			p[i] = sd * rnd.NormFloat64()
		}
	}
	return w
}

func randomSequence(rnd *rand.Rand, s, t int) (x []int, y []float64) {
	x, y = make([]int, t), make([]float64, s)
	for i := range x {
		x[i] = rnd.IntN(s)
	}
	sum := 0.0
	for i := range y {
		y[i] = rnd.ExpFloat64()
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return x, y
}

func TestDenseGradientAgainstCentralDifferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, heads := range [][]int{{1, 1}, {2, 1}, {2, 2}, {1}, {1, 1, 1}} {
		w := randomWeights(rnd, 0.7, 3, 4, heads...)
		x, y := randomSequence(rnd, 3, 4)
		grad := NewWeights(3, 4, heads...)
		w.Forward(x, y, grad)
		for k, p := range w.Arrays() {
			at := append([]float64(nil), p...)
			num := fd.Gradient(nil, func(v []float64) float64 {
				copy(p, v)
				_, loss := w.Forward(x, y, nil)
				return loss
			}, at, &fd.Settings{Formula: fd.Central})
			copy(p, at)
			if d := maxDiff(num, grad.Arrays()[k]); !(d < 3e-9) {
				t.Errorf("heads %v: parameter array %d differs from central differences by %.2g", heads, k, d)
			}
		}
	}
}
