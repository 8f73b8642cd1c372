package claims

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"learncausal/pkg/exact"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
)

func TestKernelHasStochasticRowsAboveItsFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for s := 2; s <= 4; s++ {
		for range 20 {
			x := make([]float64, s*s)
			for k := range x {
				x[k] = 10 * r.NormFloat64()
			}
			pi := kernel(x, s, 0.1)
			if err := markov.CheckRows(pi, s); err != nil {
				t.Fatal(err)
			}
			for k, p := range pi {
				if p < 0.1 {
					t.Fatalf("S = %d: entry %d is %v, below the floor", s, k, p)
				}
			}
		}
	}
}

func TestRationaliseKeepsRowsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	one := big.NewRat(1, 1)
	for _, den := range denominators {
		x := make([]float64, 9)
		for k := range x {
			x[k] = 3 * r.NormFloat64()
		}
		pi := kernel(x, 3, 0)
		for i, row := range rationalise(pi, 3, den) {
			sum := new(big.Rat)
			for j, q := range row {
				sum.Add(sum, q)
				if d := math.Abs(ratFloat(q) - pi[3*i+j]); q.Sign() < 0 || d > 1/float64(den) {
					t.Errorf("den = %d: entry %v for %v", den, q, pi[3*i+j])
				}
			}
			if sum.Cmp(one) != 0 {
				t.Errorf("den = %d: row %d sums to %v", den, i, sum)
			}
		}
	}
}

func TestSmallestKernelRunsThroughAll(t *testing.T) {
	n := 0
	if smallestKernel(3, 4, func(pi exact.Matrix) bool { n++; return exact.CheckRows(pi) != nil }) != nil {
		t.Error("a row that is no probability vector")
	}
	if n != 1+27 { // one with thirds, 3^3 with quarters
		t.Errorf("%d positive matrices over 3 states with denominators 3 and 4, want 28", n)
	}
}

func TestAllForestsCountsFactorial(t *testing.T) {
	seen := map[string]bool{}
	allForests(5, func(f *graph.Forest) { seen[f.String()] = true })
	if len(seen) != 24 {
		t.Errorf("%d forests on 5 positions, want 4!", len(seen))
	}
}

func TestTrendFindsThePower(t *testing.T) {
	x := []float64{16, 32, 64, 128}
	y := []float64{8, 4, 2, 1} // 128 / x
	slope, half := trend(x, y)
	if math.Abs(slope+1) > 1e-12 || half > 1e-12 {
		t.Errorf("slope %v ± %v, want -1 exactly", slope, half)
	}
	y[1] = 5
	if _, half = trend(x, y); half < 0.01 {
		t.Errorf("an interval of ±%v for points off the line", half)
	}
}
