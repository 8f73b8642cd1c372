package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

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
	grad = w.Zero().(*MLP)
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

func TestMLPGradientAgainstCentralDifferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 16))
	for _, w := range []*MLP{NewMLP(3, 4, 5), NewResidualMLP(3, 4, 5)} {
		property.Fill(rnd, 0.5, Trained(w)...)
		x, y := property.Sequence(rnd, 3, 4)
		_, _, grad := denseMLP(w, [][]int{x}, [][]float64{y})
		centralDifferences(t, func() (loss float64) { _, loss = w.Forward(x, y, nil); return loss }, Trained(w),
			Trained(grad))
	}
}

// By hand, with uniform attention in both layers.
func TestResidualByHand(t *testing.T) {
	w := NewResidualMLP(2, 2, 2)
	w.E.SetRow(0, []float64{1, 0})
	w.E.SetRow(1, []float64{0, 1})
	w.Layers[0].V.Set(0, 0, 1)   // z_0 = 2, 0 and z_1 = 1/2, 1 for the sequence 0 1
	w.Layers[0].In.Set(0, 1, 1)  // u_0 = 0, 2 and u_1 = 0, 1/2
	w.Layers[0].Out.Set(1, 1, 1) // h_0 = 2, 2 and h_1 = 1/2, 3/2
	w.Layers[1].V.Set(1, 0, 2)   // 1/2 + 2 (2 + 3/2)/2, 3/2
	w.W.Set(0, 0, 1)
	f, _ := w.Forward([]int{0, 1}, nil, nil)
	if d := property.MaxDiff(f, []float64{1 / (1 + math.Exp(-4)), 1 / (1 + math.Exp(4))}); !(d < 1e-15) {
		t.Errorf("f = %v, want the softmax of 4, 0", f)
	}
}
