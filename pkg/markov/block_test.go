package markov

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/property"
	"learncausal/pkg/internal/sampler"
	"learncausal/pkg/internal/simd"
)

// lane returns lane l of x.
func lane(x []float64, l int) []float64 {
	var one []float64
	for k := l; k < len(x); k += sampler.Lanes {
		one = append(one, x[k])
	}
	return one
}

// A matrix of a block is a draw of the prior, in every lane: the law of an entry is
// Beta(alpha, (S-1) alpha), and the measure is stationary.
func TestBlocksAreDraws(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01, 0.03, 0.1, 0.3, 1, 2, 100, 1000} {
		for _, s := range []int{2, 3, 10} {
			src := rand.NewPCG(7, uint64(s))
			words, draw, b := simd.NewWords(src), sampler.NewDirichlet(s, alpha), sampler.NewBlock(s)
			entries := make([][]float64, sampler.Lanes)
			for range 500 {
				draw(b, words, src)
				for l := range sampler.Lanes {
					pi, mu := lane(b.Pi, l), lane(b.Mu, l)
					for r := 0; r < s*s; r += s {
						checkSums(t, pi[r:r+s], lane(b.Sums, l)[r:r+s])
					}
					if err := checkDraw(pi, mu, 1e-14*float64(s)+4e-15/alpha); err != nil {
						t.Fatalf("alpha %v, S=%d, lane %d: %v", alpha, s, l, err)
					}
					entries[l] = append(entries[l], pi[1], pi[s*s-2])
				}
			}
			law := distuv.Beta{Alpha: alpha, Beta: float64(s-1) * alpha}
			for l, x := range entries {
				if k := property.Kolmogorov(x, law.CDF); k > property.KSBound {
					t.Errorf("alpha %v, S=%d, lane %d: Kolmogorov-Smirnov statistic %.2f, want below %v",
						alpha, s, l, k, property.KSBound)
				}
			}
		}
	}
}

// checkSums compares running sums, divided by the last, with the sums of row.
func checkSums(t *testing.T, row, sums []float64) {
	t.Helper()
	total := 0.0
	for j, p := range row {
		if total += p; sums[j] != total {
			t.Fatalf("sum %d of %v is %v, want %v", j, row, sums[j], total)
		}
	}
	for j := range row {
		row[j] /= total
	}
}

// The interleaved elimination has the bytes of the elimination of one matrix, and fails where
// it does.
func TestInterleavedEliminationEqualsElimination(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	gaveUp := 0
	for range 200 {
		s := 1 + rnd.IntN(12)
		span := []float64{1, 100, 290}[rnd.IntN(3)]
		a, sums := make([]float64, sampler.Lanes*s*s), make([]float64, sampler.Lanes*s*s)
		for i := range a {
			a[i] = math.Pow(10, -span*rnd.Float64())
			if span == 100 && i%sampler.Lanes > 5 { // lanes whose states are left too slowly
				a[i] *= 1e-250
			}
		}
		for k := 0; k < len(a); k += sampler.Lanes * s {
			simd.Sums(sums[k:k+sampler.Lanes*s], a[k:k+sampler.Lanes*s])
		}
		mu, b := make([]float64, sampler.Lanes*s), slices.Clone(a)
		least, total := simd.Eliminate(mu, b, sums)
		for l := range sampler.Lanes {
			f := !(least[l] > sampler.LeastRate && total[l] > 0 && total[l] < math.MaxFloat64)
			want := make([]float64, s)
			if ok := eliminate(want, lane(a, l)); ok == f || ok && !slices.Equal(lane(mu, l), want) {
				t.Fatalf("S=%d, lane %d: failed %v with %v, alone %v with %v", s, l, f, lane(mu, l), !ok, want)
			}
			if f {
				gaveUp++
			}
		}
	}
	if gaveUp < 20 {
		t.Errorf("the elimination fails %d times, want some", gaveUp)
	}
}

// The drawer of any other prior interleaves its draws.
func TestBlocksOfAnyPrior(t *testing.T) {
	p, err := ParsePrior("finite(0.9 0.1; 0.2 0.8 | 0.3 0.7; 0.6 0.4)", 2)
	if err != nil {
		t.Fatal(err)
	}
	b, src, again := sampler.NewBlock(2), rand.NewPCG(1, 1), rand.NewPCG(1, 1)
	sampler.NewDrawer(p)(b, nil, src)
	pi, mu := make([]float64, 4), make([]float64, 2)
	for l := range sampler.Lanes {
		p.Draw(pi, mu, again)
		if !slices.Equal(lane(b.Pi, l), pi) || !slices.Equal(lane(b.Mu, l), mu) {
			t.Errorf("lane %d has %v with %v, want %v with %v", l, lane(b.Pi, l), lane(b.Mu, l), pi, mu)
		}
		checkSums(t, lane(b.Pi, l)[2:], lane(b.Sums, l)[2:])
	}
}
