package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/internal/property"
	"learncausal/pkg/model"
)

// denseMLP returns the losses and predictions on some sequences, and the sum of the
// gradients.
func denseMLP(w *model.MLP, xs [][]int, ys [][]float64) (losses []float64, fs [][]float64, grad *model.MLP) {
	grad = w.Zero().(*model.MLP)
	for k, x := range xs {
		f, l := w.Forward(x, ys[k], grad)
		losses, fs = append(losses, l), append(fs, f)
	}
	return losses, fs, grad
}

func engineMLP(w *model.MLP, xs [][]int, ys [][]float64) (losses []float64, fs [][]float64, grad *model.MLP) {
	e := New(w)
	p, g := e.NewPass(), e.NewGradient()
	for k, x := range xs {
		losses = append(losses, p.Loss(x, ys[k], g))
		fs = append(fs, append([]float64(nil), p.Predictions()...))
	}
	grad = w.Zero().(*model.MLP)
	g.AddTo(grad, 1)
	return losses, fs, grad
}

// random fills the weights with normal numbers of standard deviation sd.
func random(rnd *rand.Rand, sd float64, w *model.MLP) *model.MLP {
	all := model.Trained(w)
	property.Fill(rnd, sd, slices.Concat(all[:3], all[5:], all[3:5])...) // the embeddings at the end
	return w
}

func TestMLPEngineAgainstDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(17, 18))
	for k, size := range [][3]int{{3, 6, 9}, {2, 5, 4}, {10, 20, 30}, {4, 9, 6}, {3, 6, 9}, {2, 5, 4}, {10, 20, 12}} {
		for _, sd := range []float64{0, 0.1, 0.3, 1, 3} {
			w := model.NewMLP(size[0], size[1], size[2])
			if k > 3 {
				w = model.NewResidualMLP(size[0], size[1], size[2])
			}
			random(rnd, sd, w)
			if w.Residual && sd == 0.1 {
				w.Layers[1].V.Zero() // an input of zero has a gradient: there is no ReLU
			}
			var xs [][]int
			var ys [][]float64
			for range 20 {
				x, y := property.Sequence(rnd, w.S, w.T)
				xs, ys = append(xs, x), append(ys, y)
			}
			denseLoss, denseF, dense := denseMLP(w, xs, ys)
			loss, f, grad := engineMLP(w, xs, ys)
			largest := 1.0
			for _, p := range model.Trained(dense) {
				for _, v := range p {
					largest = max(largest, math.Abs(v))
				}
			}
			const tol = 1e-13 // of the largest entry of the gradient
			for k := range xs {
				if d := math.Abs(loss[k]-denseLoss[k]) / max(1, denseLoss[k]); !(d < tol) {
					t.Errorf("%v sd=%v: loss %v, dense %v", size, sd, loss[k], denseLoss[k])
				}
				if d := property.MaxDiff(f[k], denseF[k]); !(d < tol) {
					t.Errorf("%v sd=%v: f differs by %.2g", size, sd, d)
				}
			}
			if d := weightsDiff(grad, dense) / largest; !(d < tol) {
				t.Errorf("%v sd=%v: gradient differs by %.2g from the dense one, want below %.2g", size, sd, d, tol)
			}
		}
	}
}

// The engine and the dense definition have the same mean attention.
func TestMeanAttentionAgainstDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(19, 20))
	var xs []int
	for range 7 {
		x, _ := property.Sequence(rnd, 3, 6)
		xs = append(xs, x...)
	}
	for _, w := range []interface {
		model.Model
		Attention(x []int) [][]*mat.Dense
	}{
		random(rnd, 0.7, model.NewMLP(3, 6, 5)), random(rnd, 0.7, model.NewResidualMLP(3, 6, 5)),
		randomWeights(rnd, 2, 3, 6, 2, 1),
	} {
		for h, got := range New(w).MeanAttention(xs) {
			var want mat.Dense
			want.Scale(0, got)
			for k := range 7 {
				p := w.Attention(xs[6*k : 6*k+6])[0][h]
				p.Scale(1./7, p)
				want.Add(&want, p)
			}
			if !mat.EqualApprox(got, &want, 1e-14) {
				t.Errorf("head %d: mean attention %v, want %v", h, mat.Formatted(got), mat.Formatted(&want))
			}
		}
	}
}

func TestFixedEmbeddingsGetNoGradient(t *testing.T) {
	rnd := rand.New(rand.NewPCG(19, 20))
	w := random(rnd, 0.7, model.NewMLP(3, 6, 5))
	e := New(w)
	p, sum := e.NewPass(), e.NewGradient()
	x, y := property.Sequence(rnd, 3, 6)
	p.Loss(x, y, sum)
	fixed := model.NewMLP(3, 6, 5)
	fixed.Fixed = true
	sum.AddTo(fixed, 1)
	if slices.ContainsFunc(slices.Concat(fixed.E.RawMatrix().Data, fixed.P.RawMatrix().Data),
		func(v float64) bool { return v != 0 }) {
		t.Error("fixed embeddings have moved")
	}
}
