package model

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"learncausal/internal/property"
)

// goldenMLP holds vectors computed by the authors' implementation.
type goldenMLP struct {
	S, T, D int
	X       [][]int
	Y       [][]float64
	Weights mlpParams
	Expect  struct {
		Loss float64
		Each []float64 `json:"loss_per_sequence"`
		F    [][]float64
		Grad mlpParams
	} `json:"expected"`
}

type mlpParams struct {
	E   [][]float64 `json:"wte"`
	P   [][]float64 `json:"wpe"`
	A   [][][][]float64
	V   [][][]float64
	MLP [][]struct {
		W [][]float64
		B []float64
	}
	W [][]float64
}

func (p mlpParams) weights(g goldenMLP) *MLP {
	w := NewMLP(g.S, g.T, g.D)
	w.E, w.P, w.W = dense(p.E), dense(p.P), dense(p.W)
	for l := range w.Layers {
		w.Layers[l] = MLPLayer{
			A: dense(p.A[l][0]), V: dense(p.V[l]),
			In: dense(p.MLP[l][0].W), BIn: p.MLP[l][0].B, Out: dense(p.MLP[l][1].W), BOut: p.MLP[l][1].B,
		}
	}
	return w
}

func readGoldenMLP(t *testing.T) goldenMLP {
	data, err := os.ReadFile("testdata/transformer-mlp-s3t5.json")
	if err != nil {
		t.Fatal(err)
	}
	var g goldenMLP
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// denseMLP returns the losses and predictions on some sequences, and the sum of the
// gradients.
func denseMLP(w *MLP, xs [][]int, ys [][]float64) (losses []float64, fs [][]float64, grad *MLP) {
	grad = NewMLP(w.S, w.T, w.Width)
	for k, x := range xs {
		f, l := w.Forward(x, ys[k], grad)
		losses, fs = append(losses, l), append(fs, f)
	}
	return losses, fs, grad
}

func TestMLPAgainstGolden(t *testing.T) {
	g := readGoldenMLP(t)
	losses, fs, grad := denseMLP(g.Weights.weights(g), g.X, g.Y)
	if d := property.MaxDiff(losses, g.Expect.Each); !(d < 1e-12) {
		t.Errorf("a loss differs by %.2g", d)
	}
	for k := range fs {
		if d := property.MaxDiff(fs[k], g.Expect.F[k]); !(d < 1e-12) {
			t.Errorf("f of sequence %d differs by %.2g", k, d)
		}
	}
	scale(grad, 1/float64(len(g.X)))
	if d := weightsDiff(grad, g.Expect.Grad.weights(g)); !(d < 1e-12) {
		t.Errorf("gradient differs by %.2g, want below 1e-12", d)
	}
}

func randomMLP(rnd *rand.Rand, sd float64, s, t, d int) *MLP {
	w := NewMLP(s, t, d)
	property.Fill(rnd, sd, w.Arrays()...)
	return w
}

func TestMLPGradientAgainstCentralDifferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 16))
	w := randomMLP(rnd, 0.5, 3, 4, 5)
	x, y := property.Sequence(rnd, 3, 4)
	_, _, grad := denseMLP(w, [][]int{x}, [][]float64{y})
	for k, p := range w.Arrays() {
		at := append([]float64(nil), p...)
		num := fd.Gradient(nil, func(v []float64) float64 {
			copy(p, v)
			_, loss := w.Forward(x, y, nil)
			return loss
		}, at, &fd.Settings{Formula: fd.Central})
		copy(p, at)
		if d := property.MaxDiff(num, grad.Arrays()[k]); !(d < 3e-9) {
			t.Errorf("parameter array %d differs from central differences by %.2g", k, d)
		}
	}
}
