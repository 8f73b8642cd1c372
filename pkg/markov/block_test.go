package markov

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/internal/simd"
)

// lane returns lane l of x.
func lane(x []float64, l int) []float64 {
	var one []float64
	for k := l; k < len(x); k += Lanes {
		one = append(one, x[k])
	}
	return one
}

// A matrix of a block is a draw of the prior, in every lane: the law of an entry is
// Beta(alpha, (S-1) alpha), and the measure is stationary.
func TestBlocksAreDraws(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01, 0.03, 0.1, 0.3, 1, 2, 100, 1000} {
		for _, s := range []int{2, 3, 10} {
			d, err := NewDirichlet(s, alpha)
			if err != nil {
				t.Fatal(err)
			}
			src := rand.NewPCG(7, uint64(s))
			words, draw, b := simd.NewWords(src), NewDrawer(d), NewBlock(s)
			entries := make([][]float64, Lanes)
			for range 500 {
				draw(b, words, src)
				for l := range Lanes {
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
				if k := kolmogorov(x, law.CDF); k > ksBound {
					t.Errorf("alpha %v, S=%d, lane %d: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, s, l, k, ksBound)
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
		a, sums := make([]float64, Lanes*s*s), make([]float64, Lanes*s*s)
		for i := range a {
			a[i] = math.Pow(10, -span*rnd.Float64())
			if span == 100 && i%Lanes > 5 { // lanes whose states are left too slowly
				a[i] *= 1e-250
			}
		}
		for k := 0; k < len(a); k += Lanes * s {
			simd.Sums(sums[k:k+Lanes*s], a[k:k+Lanes*s])
		}
		mu, b := make([]float64, Lanes*s), slices.Clone(a)
		least, total := simd.Eliminate(mu, b, sums)
		for l := range Lanes {
			f := !(least[l] > leastRate && total[l] > 0 && total[l] < math.MaxFloat64)
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

// Where it fails, logarithms of the powers find the measure, also where powers
// underflow; rows that underflow are scaled.
func TestBlocksWhereEntriesUnderflow(t *testing.T) {
	d, err := NewDirichlet(2, 0.001)
	if err != nil {
		t.Fatal(err)
	}
	r := d.NewRows(1)
	y := make([]float64, 4*Lanes)
	logs := []float64{-900, -2000, -1700, -800} // of pi(0|0), pi(1|0), pi(0|1), pi(1|1)
	for k := range y {
		y[k] = math.Exp(logs[k/Lanes] / 1000)
	}
	x, sums, mu := make([]float64, 2*Lanes), make([]float64, 2*Lanes), make([]float64, 2*Lanes)
	r.rescale(3, y[:2*Lanes], x, sums)
	if x[3] != 1 || math.Abs(x[Lanes+3]/math.Exp(-1100)-1) > 1e-10 || sums[3] != 1 || sums[Lanes+3] != 1 || x[4] != 0 {
		t.Errorf("rescaled row %v with sums %v", x, sums)
	}
	r.measureByLogarithms(mu, y, 3)
	// mu(0) pi(1|0) = mu(1) pi(0|1) with rows normalised: log(mu(0)/mu(1)) = -900 + 1100
	if got := math.Log(mu[Lanes+3]); mu[3] != 1 || math.Abs(got+200) > 1e-9 || mu[4] != 0 {
		t.Errorf("measure %v", mu)
	}
}

// The drawer of any other prior interleaves its draws.
func TestBlocksOfAnyPrior(t *testing.T) {
	p, err := ParsePrior("finite(0.9 0.1; 0.2 0.8 | 0.3 0.7; 0.6 0.4)", 2)
	if err != nil {
		t.Fatal(err)
	}
	b, src, again := NewBlock(2), rand.NewPCG(1, 1), rand.NewPCG(1, 1)
	NewDrawer(p)(b, nil, src)
	pi, mu := make([]float64, 4), make([]float64, 2)
	for l := range Lanes {
		p.Draw(pi, mu, again)
		if !slices.Equal(lane(b.Pi, l), pi) || !slices.Equal(lane(b.Mu, l), mu) {
			t.Errorf("lane %d has %v with %v, want %v with %v", l, lane(b.Pi, l), lane(b.Mu, l), pi, mu)
		}
		checkSums(t, lane(b.Pi, l)[2:], lane(b.Sums, l)[2:])
	}
}
