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

func TestParametersAreThoseOfTheKernel(t *testing.T) {
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

// What is fitted, by how much, and what that refutes is said, and the margin is what is left.
func TestTrendSaysWhatItFitted(t *testing.T) {
	x := []float64{1, 2, 4, 8}
	for _, c := range []struct {
		y                  []float64
		claimed, competing float64
		margin             float64
		note               string
	}{
		{[]float64{3, 6, 12, 24}, 1.5, 0.5, 0.5, "Fitted exponent 1.000 with 95 % interval half-width 0.000, claimed at most 1.5; 0.5 is refuted."},
		{
			[]float64{3, 6, 12, 24},
			2, 1.25, 1,
			"Fitted exponent 1.000 with 95 % interval half-width 0.000: the data do not distinguish the claimed 2 from 1.25.",
		},
		{[]float64{1, 1, 1, 1.1}, 1, 0.5, 1, "The data hardly vary: no rate can be read from them."},
	} {
		f := Trend{X: x, Y: c.y, Claimed: c.claimed, Competing: c.competing}.Finding()
		if f.Note != c.note || math.Abs(f.Margin-c.margin) > 0.07 || f.RHS != c.claimed || f.Instances != 4 {
			t.Errorf("%+v, want the margin %v and the note %q", f, c.margin, c.note)
		}
	}
	// A range of a tenth in the logarithms is enough, of x and of y, and less is not.
	for spread, want := range map[float64]Verdict{0.101: Consistent, 0.099: Open} {
		near := []float64{1, math.Exp(spread / 2), math.Exp(spread)}
		far := []float64{1, 2, 4}
		if f := (Trend{X: near, Y: far, Claimed: 50, Competing: 1}).Finding(); f.Verdict != want {
			t.Errorf("x over %v: %s, want %s", spread, f.Verdict, want)
		}
		if f := (Trend{X: far, Y: near, Claimed: 1, Competing: -1}).Finding(); f.Verdict != want {
			t.Errorf("y over %v: %s, want %s", spread, f.Verdict, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a competing exponent equal to the claimed one")
		}
	}()
	Trend{X: x, Y: x, Claimed: 1, Competing: 1}.Finding()
}

// Where a bound holds, all that is decided counts: the worst point of the search, for two states
// the 1^2 + ... + (n-1)^2 matrices with denominators up to n, and a rounding by each denominator.
func TestKernelBoundCountsWhatItTries(t *testing.T) {
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
		f := bound.Attack(testEnv(quick)).Finding("")
		if want := 1 + small + len(denominators); f.Instances != want || sizes != 1 || f.Margin != 0.5 || f.Verdict != Holds {
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
	bound.Attack(testEnv(true))
	for _, s := range bound.Sizes {
		if n := calls[s]; n < 300 || n > 1200 {
			t.Errorf("%d points over %d states, want about a third of 3000", n, s)
		}
	}
}

// What is tried as a denominator grows, and gives fractions that one can work with: it
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

func TestTrendDecidesOnlyWhatTheDataTell(t *testing.T) {
	x := []float64{16, 64, 256, 1024}
	power := func(of float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = math.Pow(x[i], of)
		}
		return y
	}
	noisy := power(-0.5)
	noisy[0], noisy[1] = noisy[0]/8, noisy[1]*4
	for _, c := range []struct {
		what               string
		y                  []float64
		claimed, competing float64
		want               Verdict
	}{
		{"the claimed rate", power(-0.5), -0.5, -1, Consistent},
		{"a slower one", power(-0.49), -0.5, -1, Inconsistent},
		{"a growth where none is claimed", power(0.006), 0, -0.1, Inconsistent},
		{"faster than the competing rate", power(-1), -0.5, -1, Open},
		{"much scatter", noisy, -0.5, -1, Open},
		{"no change", power(0), 0.5, -0.5, Open},
		{"no change, none claimed", power(0), 0, -0.1, Consistent},
		{"no number", []float64{1, math.NaN(), 1, 1}, 0, -0.1, Open},
		{"no points", nil, 0, -0.1, Open},
	} {
		f := Trend{X: x[:len(c.y)], Y: c.y, Claimed: c.claimed, Competing: c.competing}.Finding()
		if f.Verdict != c.want {
			t.Errorf("%s: %s, want %s (%s)", c.what, f.Verdict, c.want, f.Note)
		}
	}
}
