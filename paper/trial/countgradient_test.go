package trial

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// The gradient by the unused blocks B from its definition: a sum over all sequences of 7 tokens and central
// differences of the loss in each entry of B, where the unused heads spread their attention evenly.
func TestCountGradientIsThatOfAllSequences(t *testing.T) {
	const T, h = 7, 1e-6
	prior, err := markov.NewDirichlet(2, 1) // says that there are two tokens
	if err != nil {
		t.Fatal(err)
	}
	multi := task.Multi{Graph: graph.NGram(T, 2), Prior: prior, UniformRoots: true}
	loss := func(pairs bool, b []float64) (sum float64) {
		for x := range task.Sequences(2, T) {
			y := make([]float64, 2)
			for n := range 16 {
				var rows []float64
				for c := range 4 {
					p := 0.25 + 0.5*float64(n>>c&1)
					rows = append(rows, 1-p, p)
				}
				p, law := multi.Probability(task.Tensors{2: rows}, x)
				floats.AddScaled(y, p/16, law)
			}
			f := countingOutput(x, pairs, b)
			for s := range y {
				sum -= y[s] * math.Log(f[s]+1.0/T)
			}
		}
		return sum
	}
	for _, pairs := range []bool{false, true} {
		square := 0.0
		for k := range 4 {
			up, down := make([]float64, 4), make([]float64, 4)
			up[k], down[k] = h, -h
			d := (loss(pairs, up) - loss(pairs, down)) / (2 * h)
			square += d * d
		}
		if !pairs {
			square *= 2 // two heads are not in use
		}
		if got, want := CountGradient(T, pairs), math.Sqrt(square); math.Abs(got-want) > 1e-9 {
			t.Errorf("pairs %t: %v, want %v", pairs, got, want)
		}
	}
}

// countingOutput is the prediction where one unused head has the block b.
func countingOutput(x []int, pairs bool, b []float64) []float64 {
	T, ones := len(x), 0
	share := make([]float64, T)
	for i, a := range x {
		ones += a
		share[i] = float64(ones) / float64(i+1)
	}
	score, f := make([]float64, T), make([]float64, 2)
	for i := range x {
		v, w := [2]float64{1 - share[i], share[i]}, [2]float64{1 - share[T-1], share[T-1]}
		for k, beta := range b {
			score[i] += beta * v[k/2] * w[k%2]
		}
		if before := x[max(i-1, 0)]; pairs && i < T-1 && before != x[T-1] || pairs && i == 0 && x[0] != x[T-1] {
			score[i] = math.Inf(-1)
		}
	}
	p := make([]float64, T)
	num.LogSumExp(p, score)
	for i, a := range x {
		f[a] += p[i]
	}
	return f
}
