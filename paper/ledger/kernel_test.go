package ledger

import (
	"math"
	"math/rand/v2"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/markov"
	"learncausal/pkg/theory"
)

func TestKernelHasStochasticRowsAboveItsFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for s := 2; s <= 4; s++ {
		for range 20 {
			x := make([]float64, s*s)
			for k := range x {
				x[k] = 10 * r.NormFloat64()
			}
			pi := Kernel(x, s, 0.1)
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

func TestParametersInvertTheMatrix(t *testing.T) {
	pi := []float64{0.5, 0.3, 0.2, 0.11, 0.59, 0.3, 0.2, 0.4, 0.4}
	for k, p := range Kernel(Parameters(pi, 0.1), 3, 0.1) {
		if math.Abs(p-pi[k]) > 1e-15 {
			t.Errorf("entry %d is %v, want %v", k, p, pi[k])
		}
	}
}

func TestSmallestKernelRunsThroughAll(t *testing.T) {
	n := 0
	if SmallestKernel(3, 4, func(pi exact.Matrix) bool { n++; return exact.CheckRows(pi) != nil }) != nil {
		t.Error("a row that is no probability vector")
	}
	if n != 1+27 { // one with thirds, 3^3 with quarters
		t.Errorf("%d positive matrices over 3 states with denominators 3 and 4, want 28", n)
	}
}

// Where a bound holds, all that is decided counts: the worst point of the search, for two states
// the 1^2 + ... + (n-1)^2 matrices with denominators up to n, and a rounding by each denominator.
func TestKernelBoundCountsItsInstances(t *testing.T) {
	for quick, small := range map[bool]int{true: 140, false: 506} { // up to 8, up to 12
		sizes := 0
		bound := KernelBound{
			Sizes:  []int{2},
			Sides:  func(*theory.Chain) (lhs, rhs float64) { return 1, 2 },
			Broken: func(exact.Matrix) *Witness { return nil },
			PerSize: func(s int, lhs, rhs float64) {
				if sizes++; s != 2 || lhs != 1 || rhs != 2 {
					t.Errorf("the worst sides for S = %d are %v and %v", s, lhs, rhs)
				}
			},
		}
		f := Check(bound.check).Finding(testEnv(quick))
		want := 1 + small + len(denominators)
		if f.Instances.N() != want || sizes != 1 || f.Margin != 0.5 || f.Verdict != Tested {
			t.Errorf("quick %v: %+v, want %d instances", quick, f, want)
		}
	}
}

// The sizes share the points of a search: of three each has a third, but for the round that is
// under way when they are used up.
func TestSizesShareTheSearch(t *testing.T) {
	calls := map[int]int{}
	bound := KernelBound{
		Sizes:  []int{3, 4, 5},
		Sides:  func(c *theory.Chain) (lhs, rhs float64) { calls[c.S]++; return c.Pi.At(0, 0), 1 },
		Broken: func(exact.Matrix) *Witness { return nil },
	}
	bound.Attack(testEnv(true), new(Worst))
	for _, s := range bound.Sizes {
		if n := calls[s]; n < 300 || n > 1200 {
			t.Errorf("%d points over %d states, want about a third of 3000", n, s)
		}
	}
}

// The denominators grow, and give short fractions: each
// divides 1200, or is 1, 2 or 5 times a power of ten.
func TestDenominatorsAreRound(t *testing.T) {
	for k, den := range denominators {
		round := 1200%den == 0
		for power := 10; power <= 1000000; power *= 10 {
			round = round || den == power || den == 2*power || den == 5*power
		}
		if !round || den < 2 || k > 0 && den <= denominators[k-1] {
			t.Errorf("denominator %d is %d", k, den)
		}
	}
}
