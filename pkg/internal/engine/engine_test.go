package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/model"
)

// engineGradient runs the engine over sequences and returns the sum of losses.
func engineGradient(w *model.Weights, xs [][]int, ys [][]float64) (loss float64, fs [][]float64, grad *model.Weights) {
	e := New(w)
	g, p := e.NewGradient(), e.NewPass()
	for k := range xs {
		loss += p.Loss(xs[k], ys[k], g)
		fs = append(fs, append([]float64(nil), p.Predictions()...))
	}
	grad = model.NewWeights(w.S, w.T, w.Heads()...)
	g.AddTo(grad, 1)
	return loss, fs, grad
}

func TestEngineAgainstDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, size := range [][4]int{
		{3, 6, 1, 1},
		{2, 5, 1, 1},
		{10, 20, 1, 1},
		{4, 9, 1, 1},
		{3, 6, 2, 1},
		{2, 7, 3, 1},
		{5, 32, 2, 1},
		{3, 6, 1, 2},
		{3, 5, 2, 2},
		{2, 6, 2, 3},
		{5, 16, 2, 2},
		{8, 8, 1, 1}, // as many as there are padded
	} {
		for _, sd := range []float64{0, 0.7, 8, 60} {
			s, n, heads := size[0], size[1], size[2:]
			w := randomWeights(rnd, sd, s, n, heads...)
			var xs [][]int
			var ys [][]float64
			dense := model.NewWeights(s, n, heads...)
			denseLoss := 0.0
			for range 20 {
				x, y := property.Sequence(rnd, s, n)
				xs, ys = append(xs, x), append(ys, y)
				_, l := w.Forward(x, y, dense)
				denseLoss += l
			}
			loss, _, grad := engineGradient(w, xs, ys)
			// Logits of size sd carry a rounding error of sd ulps into every exponential.
			tol := 1e-13 * max(1, sd/8)
			if d := math.Abs(loss-denseLoss) / max(1, denseLoss); !(d < tol) {
				t.Errorf("S=%d T=%d heads=%v sd=%v: loss %v, dense %v", s, n, heads, sd, loss, denseLoss)
			}
			if d := weightsDiff(grad, dense) / 20; !(d < tol) {
				t.Errorf("S=%d T=%d heads=%v sd=%v: gradient differs by %.2g from the dense one", s, n, heads, sd, d)
			}
		}
	}
}

// A block gives the same bytes in one and in parts, of any size: the bytes of losses, of
// gradients, and of the attention of the query.
func TestPartsGiveTheBytesOfTheBlock(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, size := range [][4]int{
		{3, 1, 1, 1},
		{3, 6, 1, 1},
		{10, 20, 1, 1},
		{5, 32, 2, 1},
		{2, 9, 3, 2},
		{9, 130, 1, 2},
	} {
		for _, sd := range []float64{0, 0.7, 8, 300} { // at the last one sums underflow
			s, n := size[0], size[1]
			e := newEngine(randomWeights(rnd, sd, s, n, size[2:]...))
			var x []int
			var y []float64
			for range 11 {
				x1, y1 := property.Sequence(rnd, s, n)
				x, y = append(x, x1...), append(y, y1...)
			}
			bytesOf := func(p *pass) (all []uint64) {
				g := e.NewGradient()
				all = append(all, math.Float64bits(p.Losses(x, y, g)), math.Float64bits(p.Losses(x, y, nil)))
				for _, v := range [][]float64{p.Predictions(), g.Sum()} {
					for _, w := range v {
						all = append(all, math.Float64bits(w))
					}
				}
				return all
			}
			want := bytesOf(e.newPass(16, 16))
			for _, block := range []int{2, 5, 16} {
				if !slices.Equal(bytesOf(e.newPass(block, 1)), want) {
					t.Errorf("S=%d T=%d heads=%v sd=%v: other bytes in parts of a block of %d", s, n, size[2:], sd, block)
				}
			}
		}
	}
}

// Where weights are not finite, the dense model and the engine differ as the
// package comment says: NaN that no position reads, and -Inf as a mask.
func TestWeightsThatAreNotFinite(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 22))
	x, y := property.Sequence(rnd, 3, 4)
	w := randomWeights(rnd, 1, 3, 4, 1, 1)
	want := New(w).NewPass().Loss(x, y, nil)
	d := w.S + w.T
	above, below := (w.S+1)*d+w.S+2, (w.S+2)*d+w.S+1
	a := w.A[0][0].RawMatrix().Data
	a[above] = math.NaN()
	_, dense := w.Forward(x, y, nil)
	if got := New(w).NewPass().Loss(x, y, nil); got != want || !math.IsNaN(dense) {
		t.Errorf("NaN above the diagonal: engine %v, want %v, dense %v, want NaN", got, want, dense)
	}
	a[above], a[below] = 0, math.Inf(-1)
	_, dense = w.Forward(x, y, nil)
	e := New(w)
	if p := e.MeanAttention(x)[0].RawRowView(2); p[1] != 0 || !(math.Abs(p[0]+p[2]-1) < 1e-15) || !math.IsNaN(dense) {
		t.Errorf("-Inf below the diagonal: the engine attends with %v, dense loss %v", p, dense)
	}
}

// Losses gives the same bytes as Loss for one sequence after the other, whatever the
// blocks, and refuses an error in one of them.
func TestLossesEqualTheLossesOfEachSequence(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for name, w := range map[string]model.Model{
		"heads [2 2]": randomWeights(rnd, 1, 3, 6, 2, 2), "one head": randomWeights(rnd, 1, 10, 20, 1, 1),
		"MLPs": random(rnd, 0.3, model.NewMLP(3, 6, 5)), "residual": random(rnd, 0.3, model.NewResidualMLP(3, 6, 5)),
	} {
		s, n := 3, 6
		if name == "one head" {
			s, n = 10, 20
		}
		var xs []int
		var ys []float64
		e := New(w)
		p, alone, together := e.NewPass(), e.NewGradient(), e.NewGradient()
		loss := 0.0
		for range 67 { // two blocks and some more
			x, y := property.Sequence(rnd, s, n)
			xs, ys = append(xs, x...), append(ys, y...)
			loss += p.Loss(x, y, alone)
		}
		last := append([]float64(nil), p.Predictions()...)
		if got := p.Losses(xs, ys, together); got != loss || !slices.Equal(together.Sum(), alone.Sum()) {
			t.Errorf("%s: the losses are %v together, %v alone, or another gradient", name, got, loss)
		}
		if !slices.Equal(p.Predictions(), last) {
			t.Errorf("%s: predictions %v, want %v of the last sequence", name, p.Predictions(), last)
		}
		xs[n] = s
		for want, f := range map[string]func(){
			fmt.Sprintf("token %d at position 0, want 0..%d in sequence 1", s, s-1):   func() { p.Losses(xs, ys, nil) },
			fmt.Sprintf("targets of length %d for 67 sequences", 67*s-1):              func() { p.Losses(xs, ys[1:], nil) },
			fmt.Sprintf("%d tokens, want sequences of length %d", 67*n-1, n):          func() { p.Losses(xs[1:], ys, nil) },
			fmt.Sprintf("engine: 0 tokens, want sequences of length %d, at least", n): func() { p.Losses(nil, nil, nil) },
		} {
			property.Mentions(t, errors.New(property.Refused(t, "engine", f)), want)
		}
	}
}

// Where large logits of a query's position and of its token cancel, all products of
// the factors underflow, and the attention is the softmax of the logits.
func TestAttentionWhereFactorsUnderflow(t *testing.T) {
	const s, n, large = 3, 9, 1000.0
	rnd := rand.New(rand.NewPCG(13, 14))
	w := randomWeights(rnd, 1, s, n, 1, 1)
	a, d := w.A[0][0].RawMatrix().Data, s+n
	for q := range d {
		if q < s {
			a[q*d] -= large
		} else {
			a[q*d] += large
		}
	}
	x, y := property.Sequence(rnd, s, n)
	x[0], x[1] = 0, 1
	want := w.Attention(x)[0][0]
	got := New(w).MeanAttention(x)[0]
	for i := range n {
		for j := range i + 1 {
			if e := math.Abs(got.At(i, j) - want.At(i, j)); !(e < 1e-12) {
				t.Errorf("position %d attends to %d with %v, want %v", i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
	dense := model.NewWeights(s, n, 1, 1)
	_, denseLoss := w.Forward(x, y, dense)
	loss, _, grad := engineGradient(w, [][]int{x}, [][]float64{y})
	if e := math.Abs(loss - denseLoss); !(e < 1e-12) || !(weightsDiff(grad, dense) < 1e-12) {
		t.Errorf("loss %v, dense %v; gradients differ by %.2g", loss, denseLoss, weightsDiff(grad, dense))
	}
}

// Sixteen sequences go together while their attention has up to 2^12 numbers, eight up to 2^15,
// and sixteen one by one beyond.
func TestSizesOfBlocks(t *testing.T) {
	for _, c := range []struct{ m, t, want float64 }{
		{1, 64, 16}, {1, 65, 8}, {2, 45, 16}, {2, 46, 8}, {1, 181, 8}, {1, 182, 16}, {8, 64, 8}, {9, 64, 16},
	} {
		if got := blockSize(c.m, c.t); got != c.want {
			t.Errorf("%v heads, %v positions: blocks of %v, want %v", c.m, c.t, got, c.want)
		}
	}
}
