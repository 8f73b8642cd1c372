package model

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gonum.org/v1/gonum/diff/fd"
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
	w.E, w.P, w.W = flatten(p.E), flatten(p.P), flatten(p.W)
	for l := range w.Layers {
		w.Layers[l] = MLPLayer{
			A: flatten(p.A[l][0]), V: flatten(p.V[l]),
			In: flatten(p.MLP[l][0].W), BIn: p.MLP[l][0].B, Out: flatten(p.MLP[l][1].W), BOut: p.MLP[l][1].B,
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

// gradients returns the losses and predictions on some sequences, and the sum
// of the gradients.
type gradients func(w *MLP, xs [][]int, ys [][]float64) (losses []float64, fs [][]float64, grad *MLP)

func denseMLP(w *MLP, xs [][]int, ys [][]float64) (losses []float64, fs [][]float64, grad *MLP) {
	grad = NewMLP(w.S, w.T, w.Width)
	for k, x := range xs {
		f, l := w.Forward(x, ys[k], grad)
		losses, fs = append(losses, l), append(fs, f)
	}
	return losses, fs, grad
}

func engineMLP(w *MLP, xs [][]int, ys [][]float64) (losses []float64, fs [][]float64, grad *MLP) {
	e := w.NewEngine()
	p, g := e.NewPass(), e.NewGradient()
	for k, x := range xs {
		losses = append(losses, p.Loss(x, ys[k], g))
		fs = append(fs, append([]float64(nil), p.Predictions()...))
	}
	grad = NewMLP(w.S, w.T, w.Width)
	g.AddTo(grad, 1)
	return losses, fs, grad
}

func TestMLPAgainstGolden(t *testing.T) {
	g := readGoldenMLP(t)
	for name, f := range map[string]gradients{"dense": denseMLP, "engine": engineMLP} {
		losses, fs, grad := f(g.Weights.weights(g), g.X, g.Y)
		if d := maxDiff(losses, g.Expect.Each); !(d < 1e-12) {
			t.Errorf("%s: a loss differs by %.2g", name, d)
		}
		for k := range fs {
			if d := maxDiff(fs[k], g.Expect.F[k]); !(d < 1e-12) {
				t.Errorf("%s: f of sequence %d differs by %.2g", name, k, d)
			}
		}
		scale(grad, 1/float64(len(g.X)))
		if d := weightsDiff(grad, g.Expect.Grad.weights(g)); !(d < 1e-12) {
			t.Errorf("%s: gradient differs by %.2g, want below 1e-12", name, d)
		}
	}
}

func randomMLP(rnd *rand.Rand, sd float64, s, t, d int) *MLP {
	w := NewMLP(s, t, d)
	for _, p := range w.Arrays() {
		for i := range p {
			p[i] = sd * rnd.NormFloat64()
		}
	}
	return w
}

func TestMLPGradientAgainstCentralDifferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 16))
	w := randomMLP(rnd, 0.5, 3, 4, 5)
	x, y := randomSequence(rnd, 3, 4)
	_, _, grad := denseMLP(w, [][]int{x}, [][]float64{y})
	for k, p := range w.Arrays() {
		at := append([]float64(nil), p...)
		num := fd.Gradient(nil, func(v []float64) float64 {
			copy(p, v)
			_, loss := w.Forward(x, y, nil)
			return loss
		}, at, &fd.Settings{Formula: fd.Central})
		copy(p, at)
		if d := maxDiff(num, grad.Arrays()[k]); !(d < 3e-9) {
			t.Errorf("parameter array %d differs from central differences by %.2g", k, d)
		}
	}
}

func TestMLPEngineAgainstDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(17, 18))
	for _, size := range [][3]int{{3, 6, 9}, {2, 5, 4}, {10, 20, 30}, {4, 9, 6}} {
		for _, sd := range []float64{0, 0.1, 0.3, 1, 3} {
			w := randomMLP(rnd, sd, size[0], size[1], size[2])
			var xs [][]int
			var ys [][]float64
			for range 20 {
				x, y := randomSequence(rnd, w.S, w.T)
				xs, ys = append(xs, x), append(ys, y)
			}
			denseLoss, denseF, dense := denseMLP(w, xs, ys)
			loss, f, grad := engineMLP(w, xs, ys)
			largest := 1.0
			for _, p := range dense.Arrays() {
				for _, v := range p {
					largest = max(largest, math.Abs(v))
				}
			}
			const tol = 1e-13 // of the largest entry of the gradient
			for k := range xs {
				if d := math.Abs(loss[k]-denseLoss[k]) / max(1, denseLoss[k]); !(d < tol) {
					t.Errorf("%v sd=%v: loss %v, dense %v", size, sd, loss[k], denseLoss[k])
				}
				if d := maxDiff(f[k], denseF[k]); !(d < tol) {
					t.Errorf("%v sd=%v: f differs by %.2g", size, sd, d)
				}
			}
			if d := weightsDiff(grad, dense) / largest; !(d < tol) {
				t.Errorf("%v sd=%v: gradient differs by %.2g from the dense one, want below %.2g", size, sd, d, tol)
			}
		}
	}
}

// The average of the engine's attention is that of the dense definition.
func TestMeanAttentionAgainstDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(19, 20))
	var xs []int
	for range 7 {
		x, _ := randomSequence(rnd, 3, 6)
		xs = append(xs, x...)
	}
	mlp, plain := randomMLP(rnd, 0.7, 3, 6, 5), randomWeights(rnd, 2, 3, 6, 2, 1)
	for _, c := range []struct {
		w     Model
		a     [][]float64
		embed func(x []int) *mat.Dense
	}{
		{mlp, [][]float64{mlp.Layers[0].A}, mlp.embed},
		{plain, plain.A[0], plain.embed},
	} {
		for h, got := range c.w.NewEngine().MeanAttention(xs) {
			want := make([]float64, 36)
			for k := range 7 {
				_, p := attention(c.embed(xs[6*k:6*k+6]), square(c.a[h]))
				for i := range want {
					want[i] += p.RawMatrix().Data[i] / 7
				}
			}
			if d := maxDiff(flatten(got), want); !(d < 1e-14) {
				t.Errorf("head %d: mean attention differs by %.2g", h, d)
			}
		}
	}
}

func TestFixedEmbeddingsGetNoGradient(t *testing.T) {
	g := readGoldenMLP(t)
	w := g.Weights.weights(g)
	e := w.NewEngine()
	p, sum := e.NewPass(), e.NewGradient()
	p.Loss(g.X[0], g.Y[0], sum)
	fixed := NewMLP(g.S, g.T, g.D)
	fixed.Fixed = true
	sum.AddTo(fixed, 1)
	if maxDiff(fixed.E, make([]float64, g.S*g.D)) != 0 || maxDiff(fixed.P, make([]float64, g.T*g.D)) != 0 {
		t.Error("fixed embeddings have moved")
	}
	if n := len(Trained(fixed)); n != len(fixed.Arrays())-2 || len(Trained(w)) != len(w.Arrays()) {
		t.Errorf("%d arrays of %d are trained", n, len(fixed.Arrays()))
	}
}

func BenchmarkMLPPass(b *testing.B) {
	rnd := rand.New(rand.NewPCG(9, 10))
	w := randomMLP(rnd, 0.2, 10, 20, 30)
	e := w.NewEngine()
	g, p := e.NewGradient(), e.NewPass()
	var xs [128][]int
	var ys [128][]float64
	for k := range xs {
		xs[k], ys[k] = randomSequence(rnd, 10, 20)
	}
	for name, g := range map[string]Gradient{"forward": nil, "gradient": g} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				p.Loss(xs[i%128], ys[i%128], g)
			}
		})
	}
	b.Run("load", func(b *testing.B) {
		for range b.N {
			e.Load(w)
		}
	})
	b.Run("fold", func(b *testing.B) {
		for range b.N {
			g.AddTo(w, 0)
		}
	})
}
