package task

import (
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/internal/simd"
	"learncausal/pkg/num"
)

// For the matrices and random words of a sampler the definition has the same tokens, and the same targets to rounding.
func TestSamplerTakesTheTokensOfTheDefinition(t *testing.T) {
	for _, prior := range []string{"dirichlet(0.1)", "dirichlet(2)", "orbit(0.6 0.3 0.1; 0.2 0.1 0.7; 0.45 0.25 0.3)"} {
		for _, uniform := range []bool{false, true} {
			tk := newTask(t, prior, 3, graph.Chain(20).Parents()[:19]...)
			tk.UniformRoots = uniform
			b := tk.NewBatch(80)
			tk.NewSampler().Fill(b, num.Stream(1, "definition"))
			src := num.Stream(1, "definition")
			words, random := simd.NewWords(src), make([]uint64, sampler.Lanes*b.T)
			draw, block := drawer(tk.Prior), sampler.NewBlock(3)
			x, y := make([]int, b.T), make([]float64, 3)
			for k := range b.Len() {
				l := k % sampler.Lanes
				if l == 0 {
					draw(block, words, src)
					words.Fill(random)
				}
				pi, mu := laneOf(block.Pi, l), laneOf(block.Mu, l)
				for r := 0; r < 9; r += 3 {
					divide(pi[r : r+3])
				}
				divide(mu)
				i := -1
				tk.walk(x, y, pi, mu, func() float64 {
					i++
					return simd.Fraction(random[sampler.Lanes*i+l])
				})
				got, target := b.Seq(k)
				if !slices.Equal(got, x) || distance(target, y) > 1e-12 {
					t.Fatalf("%s, sequence %d: %v with %v, want %v with %v", prior, k, got, target, x, y)
				}
			}
		}
	}
}

func laneOf(x []float64, l int) (out []float64) {
	for k := l; k < len(x); k += sampler.Lanes {
		out = append(out, x[k])
	}
	return out
}

func divide(row []float64) {
	sum := 0.0
	for _, p := range row {
		sum += p
	}
	for i := range row {
		row[i] /= sum
	}
}

func distance(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, a[i]-b[i], b[i]-a[i])
	}
	return most
}

// drawn returns a function that fills a batch by the definition.
func drawn(draw func(x []int, y []float64, src *rand.PCG)) func(b *Batch, src *rand.PCG) {
	return func(b *Batch, src *rand.PCG) {
		for k := range b.Len() {
			x, y := b.Seq(k)
			draw(x, y, src)
		}
	}
}
