package ledger

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"learncausal/paper/exact"
	"learncausal/pkg/theory"
)

func testEnv(quick bool) *Env { return NewEnv(context.Background(), Claim{ID: "lem-test"}, quick) }

// A bowl with its least value 2 at (1, -3), no number left of zero.
func bowl(x []float64) float64 {
	if x[0] < 0 {
		return math.NaN()
	}
	return 2 + math.Pow(x[0]-1, 2) + 3*math.Pow(x[1]+3, 2)
}

func TestAttackFindsTheLeastValue(t *testing.T) {
	e := testEnv(false)
	calls := 0
	counted := func(x []float64) float64 { calls++; return bowl(x) }
	starts := [][]float64{{4, 4}, {-5, 0}}
	best, value := e.Attack(counted, starts, 4000)
	if calls < 100 || calls > 4600 {
		t.Errorf("%d evaluations, want about 4000 at most", calls)
	}
	if value != bowl(best) || !(value >= 2 && value < 2+1e-9) {
		t.Errorf("the least value is %v at %v, want 2 at (1, -3)", value, best)
	}
	again, _ := e.Attack(bowl, starts, 4000)
	if !slices.Equal(again, best) {
		t.Errorf("a second search ends at %v, not %v", again, best)
	}
	if !slices.Equal(starts[0], []float64{4, 4}) {
		t.Error("a start was moved")
	}
	// A value that falls for ever takes the whole budget, and little more.
	calls = 0
	e.Attack(func([]float64) float64 { calls++; return -float64(calls) }, starts, 4000)
	if calls < 3000 || calls > 4600 {
		t.Errorf("%d evaluations, want about 4000", calls)
	}
	calls = 0
	e.Attack(counted, starts, 0)
	if calls < 40 || calls > 200 {
		t.Errorf("%d evaluations without a budget, want 20 for each search", calls)
	}
}

// A search goes on to the bottom where values are small, and beside points without one.
func TestAttackGoesOn(t *testing.T) {
	small := func(x []float64) float64 { return 1e-4 * (bowl(x) - 2) }
	if best, value := testEnv(false).Attack(small, [][]float64{{4, 4}}, 4000); !(value < 1e-12) {
		t.Errorf("the least value is %v at %v, want nearly none", value, best)
	}
	edge := func(x []float64) float64 {
		if x[0] > 1 || x[1] < -3 {
			return math.NaN()
		}
		return bowl(x)
	}
	if best, value := testEnv(false).Attack(edge, [][]float64{{0, 0}}, 4000); !(value >= 2 && value < 2+1e-3) {
		t.Errorf("beside what has no value the least one is %v at %v, want nearly 2", value, best)
	}
}

// The search returns the first of several equally good points.
func TestAttackKeepsTheFirstOfEquals(t *testing.T) {
	flat := func([]float64) float64 { return 3 }
	best, value := testEnv(true).Attack(flat, [][]float64{{1, 2}, {3, 4}}, 100)
	if !slices.Equal(best, []float64{1, 2}) || value != 3 {
		t.Errorf("the least value is %v at %v, want 3 at the first start, (1, 2)", value, best)
	}
}

func TestAttackOfNothing(t *testing.T) {
	e := testEnv(false)
	if best, value := e.Attack(bowl, nil, 100); best != nil || !math.IsInf(value, 1) {
		t.Errorf("without starts: %v, %v", best, value)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if best, _ := NewEnv(ctx, Claim{}, false).Attack(bowl, [][]float64{{1, 1}}, 100); best != nil {
		t.Errorf("a point %v after an interrupt", best)
	}
}

// The first start is zero, the others are the same each time and reach further and
// further, and none is another claim's.
func TestStartsReachOut(t *testing.T) {
	const n, dim = 6, 400
	starts := testEnv(false).Starts(n, dim)
	if !reflect.DeepEqual(starts, testEnv(true).Starts(n, dim)) {
		t.Error("the same starts differ")
	}
	if other := NewEnv(context.Background(), Claim{ID: "other"}, false).Starts(n, dim); reflect.DeepEqual(starts, other) {
		t.Error("two claims have the same starts")
	}
	for i, x := range starts {
		sum := 0.0
		for _, v := range x {
			sum += v * v
		}
		// The standard deviation of 400 normal variables is off by a fifth with probability below 1e-6.
		if sd := math.Sqrt(sum / dim); len(x) != dim || math.Abs(sd-float64(i)) > 0.2*float64(i) {
			t.Errorf("start %d has %d coordinates of standard deviation %v", i, len(x), sd)
		}
	}
	if len(starts) != n {
		t.Errorf("%d starts, want %d", len(starts), n)
	}
}

// cornerEntries returns the least and the largest pi(j|i) of each corner over s = 4 states.
func cornerEntries(s int) []func(i, j int) (lo, hi float64) {
	sure := func(to func(i int) int) func(i, j int) (lo, hi float64) {
		return func(i, j int) (lo, hi float64) {
			if j == to(i) {
				return 0.95, 1
			}
			return 0, 0.01
		}
	}
	return []func(i, j int) (lo, hi float64){
		func(i, j int) (lo, hi float64) { return 0.25, 0.25 },
		sure(func(i int) int { return i }),
		sure(func(i int) int { return (i + 1) % s }),
		sure(func(i int) int { return s - 1 - i }),
		func(i, j int) (lo, hi float64) { // state 0 is light
			if j == 0 {
				return 0, 0.003
			}
			return 0.33, 0.34
		},
		sure(func(i int) int { return 0 }),
		sure(func(i int) int { return i }),
		func(i, j int) (lo, hi float64) { // two blocks
			if (i < 2) == (j < 2) {
				return 0.49, 0.5
			}
			return 0, 0.01
		},
		func(i, j int) (lo, hi float64) { // state 0 alone stays
			switch {
			case i > 0:
				return 0.25, 0.25
			case j == 0:
				return 0.95, 1
			}
			return 0, 0.01
		},
		func(i, j int) (lo, hi float64) { // nearly independent rows
			if i == j {
				return 0.26, 0.31
			}
			return 0.22, 0.25
		},
		func(i, j int) (lo, hi float64) { // states 0 and 2 are light, and 0 is remembered
			switch {
			case j == 0 || j == 2:
				return 0.01, 0.04
			case i == 0 && j == 1:
				return 0.49, 0.55
			case i == 0:
				return 0.42, 0.46
			}
			return 0.46, 0.49
		},
	}
}

// The corners over four states: the next states of rows that are nearly sure, or the states
// that they avoid.
func TestCornersHaveTheirShapes(t *testing.T) {
	const s, extra = 4, 3
	want := cornerEntries(s)
	all := testEnv(false).KernelStarts(2, s, extra)
	if len(all) != len(want)+2 {
		t.Fatalf("%d starts, want %d corners and 2 more", len(all), len(want))
	}
	for k, x := range all {
		if len(x) != s*s+extra || !slices.Equal(x[s*s:], make([]float64, extra)) {
			t.Fatalf("start %d is %v, want %d coordinates and %d zeros", k, x, s*s, extra)
		}
		if k >= len(want) {
			continue
		}
		for i, row := range Grid(Kernel(x[:s*s], s, 0), s) {
			for j, p := range row {
				if lo, hi := want[k](i, j); p < lo-1e-12 || p > hi+1e-12 {
					t.Errorf("corner %d: pi(%d|%d) = %v, want %v to %v", k, j, i, p, lo, hi)
				}
			}
		}
	}
	// Beside the second corner, the seventh leaves state 0 out of the other rows.
	if light, plain := Kernel(all[6][:s*s], s, 0), Kernel(all[1][:s*s], s, 0); !(light[s] < plain[s]/100) {
		t.Errorf("the light state has %v, the others' %v", light[s], plain[s])
	}
}

func TestSimplestRoundsNoMoreThanNeeded(t *testing.T) {
	pi := []float64{0.3334, 0.6666, 0.7501, 0.2499}
	var tried []string
	q := Simplest(pi, 2, func(q exact.Matrix) bool {
		tried = append(tried, fmt.Sprint(q.Strings()))
		return q[0][0].Cmp(exact.Frac(1, 3)) == 0 && q[1][0].Cmp(exact.Frac(3, 4)) == 0
	})
	if q == nil || fmt.Sprint(q.Strings()) != "[[1/3 2/3] [3/4 1/4]]" || len(tried) != 8 {
		t.Errorf("%v after %v, want thirds and quarters, of twelfths", q, tried)
	}
	if q := Simplest(pi, 2, func(exact.Matrix) bool { return false }); q != nil {
		t.Errorf("%v, which was refused", q)
	}
}

// atMost is pi(0|0) <= most, for chains that stay with at least a given probability.
func atMost(most float64, hypothesis float64, sizes ...int) KernelBound {
	return KernelBound{
		Sizes: sizes, Floor: 0.01,
		Sides: func(c *theory.Chain) (lhs, rhs float64) {
			if c.Pi.At(0, 0) < hypothesis {
				return 0, math.Inf(1)
			}
			return c.Pi.At(0, 0), most
		},
		Broken: func(pi exact.Matrix) *Witness {
			bound := new(big.Rat).SetFloat64(most)
			if exact.Float(pi[0][0]) < hypothesis || pi[0][0].Cmp(bound) <= 0 {
				return nil
			}
			return &Witness{Instance: Instance{"S": len(pi), "pi": pi}, LHS: pi[0][0], RHS: bound}
		},
	}
}

// check is the search alone.
func (q KernelBound) check(e *Env, w *Worst) string {
	q.Attack(e, w)
	return ""
}

func TestKernelBoundIsAttacked(t *testing.T) {
	for name, c := range map[string]struct {
		bound KernelBound
		want  Verdict
		pi    string
	}{
		// Of the matrices over two states with halves, thirds, ..., in that order.
		"false, two states":   {atMost(0.5, 0, 2), Refuted, "[[2/3 1/3] [1/3 2/3]]"},
		"false, three states": {atMost(0.9, 0, 3), Refuted, ""},
		"true":                {atMost(1, 0, 2, 3), Tested, ""},
		"of nothing":          {atMost(0.5, 2, 2), Open, ""},
	} {
		sizes := map[int]float64{}
		c.bound.PerSize = func(s int, lhs, rhs float64) { sizes[s] = lhs }
		f := Check(c.bound.check).Finding(testEnv(true))
		if f.Verdict != c.want || (f.Instances.N() == 0) != (c.want == Open) {
			t.Errorf("%s: %s on %d instances, want %s", name, f.Verdict, f.Instances, c.want)
		}
		if f.Witness != nil && c.pi != "" && fmt.Sprint(f.Witness.Instance["pi"].(exact.Matrix).Strings()) != c.pi {
			t.Errorf("%s: the witness is %v, want %s", name, f.Witness.Instance, c.pi)
		}
		if name == "of nothing" {
			continue
		}
		for _, s := range c.bound.Sizes {
			if most := 1 - 0.01*float64(s-1); !(sizes[s] > most-0.02 && sizes[s] <= most+1e-12) {
				t.Errorf("%s: over %d states the worst pi(0|0) is %v, want nearly %v", name, s, sizes[s], most)
			}
		}
		if c.want == Tested && (f.Instance["S"] != 2 || f.LHS < 0.97) {
			t.Errorf("%s: the worst instance is %v with %v", name, f.Instance, f.LHS)
		}
	}
}

// Over two states every matrix with small denominators is decided exactly: 1 + 4 + ...
// with halves, thirds, ..., up to eighths in the quick search, and twelfths in the other;
// then roundings of the worst one.
func TestKernelBoundDecidesSmallMatrices(t *testing.T) {
	for quick, want := range map[bool]int{true: 140, false: 506} {
		q, n := atMost(1, 0, 2), 0
		broken := q.Broken
		q.Broken = func(pi exact.Matrix) *Witness { n++; return broken(pi) }
		q.Attack(testEnv(quick), new(Worst))
		if n < want || n > want+len(denominators) {
			t.Errorf("%d matrices, want %d and the roundings", n, want)
		}
	}
}

// A matrix without a positive stationary measure decides nothing.
func TestKernelBoundNeedsAPositiveMeasure(t *testing.T) {
	q := atMost(1, 0, 2)
	asked, still := 0, false
	q.Broken = func(pi exact.Matrix) *Witness {
		asked++
		still = still || !positiveMeasure(pi)
		return nil
	}
	q.Floor = 0
	q.Sides = func(c *theory.Chain) (lhs, rhs float64) { return c.Pi.At(0, 0), 1 }
	w := new(Worst)
	q.Attack(testEnv(true), w)
	if still || asked == 0 {
		t.Errorf("%d matrices of %d are decided, one without a positive measure: %v", asked, w.Instances, still)
	}
}

// After a failure other sizes are not searched further, and of two states nothing beyond the
// simplest matrix, which the worst one is not.
func TestKernelBoundEndsWithAFailure(t *testing.T) {
	decided := func(sizes ...int) (n int, w *Worst) {
		q := atMost(0.5, 0, sizes...)
		q.Floor = 0.3
		broken := q.Broken
		q.Broken = func(pi exact.Matrix) *Witness { n++; return broken(pi) }
		w = new(Worst)
		q.Attack(testEnv(true), w)
		return n, w
	}
	once, w := decided(2)
	if f := w.Finding(""); f.Verdict != Refuted ||
		fmt.Sprint(f.Witness.Instance["pi"].(exact.Matrix).Strings()) != "[[2/3 1/3] [1/3 2/3]]" {
		t.Errorf("%+v", f)
	}
	if twice, _ := decided(2, 2); twice != once {
		t.Errorf("%d matrices of two sizes are decided, want %d, those of the first", twice, once)
	}
}

// A search that begins at a matrix of one's own has that among its instances.
func TestKernelBoundStartsAtTheGivenMatrices(t *testing.T) {
	given := []float64{0.217, 0.783, 0.461, 0.539}
	seen := false
	q := atMost(1, 0, 2)
	sides := q.Sides
	q.Sides = func(c *theory.Chain) (lhs, rhs float64) {
		seen = seen || math.Abs(c.Pi.At(0, 0)-0.217) < 1e-12 && math.Abs(c.Pi.At(1, 1)-0.539) < 1e-12
		return sides(c)
	}
	if q.Attack(testEnv(true), new(Worst)); seen {
		t.Error("the matrix is found without a start: the test tests nothing")
	}
	q.From = func(int) [][]float64 { return [][]float64{given} }
	if q.Attack(testEnv(true), new(Worst)); !seen {
		t.Error("a start is left out")
	}
	q.Floor, q.From = 0, func(int) [][]float64 { return [][]float64{{1, 1e-300, 0.5, 0.5}} } // a state of no weight
	w := new(Worst)
	if q.Attack(testEnv(true), w); w.Failed() || w.Instances.N() == 0 {
		t.Errorf("a start that is no chain: %+v", w)
	}
}

// With a measure that has a zero, or that is not the only one, nothing is decided.
func TestPositiveMeasure(t *testing.T) {
	for pi, want := range map[string]bool{
		"1/2 1/2; 1/3 2/3": true, "0 1; 1 0": true, "1 0; 1/2 1/2": false, "1 0; 0 1": false,
	} {
		if got := positiveMeasure(exact.Rats(pi)); got != want {
			t.Errorf("%s has one positive stationary measure: %v", pi, got)
		}
	}
}

func TestAnEnvHasTheBudgetOfItsKind(t *testing.T) {
	if full, quick := testEnv(false).Budget(7, 3), testEnv(true).Budget(7, 3); full != 7 || quick != 3 {
		t.Errorf("budgets %d and %d, want 7 and 3", full, quick)
	}
}
