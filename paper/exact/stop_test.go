package exact

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"learncausal/pkg/graph"
)

// A loop over any of the sequences may end early.
func TestSequencesMayBeLeft(t *testing.T) {
	pi, start := Rats("7/10 3/10; 1/5 4/5"), Rats("2/5 3/5")[0]
	left := func(name string, n int) {
		if n != 3 {
			t.Errorf("%s: left after %d, want 3", name, n)
		}
	}
	left("Simplex", first3(Simplex(3, 6)))
	left("Grid", first3(Grid(2, 2)))
	left("Positive", first3(Positive(2, 5)))
	left("runCounts", first3(runCounts(5)))
	left("PairCounts", first3(keys(PairCounts(pi, start, 5))))
	left("PairCountsFloat", first3(keys(PairCountsFloat(pi, start, 5))))
	left("Sequences", first3(keys(Sequences(graph.Chain(4), pi))))
}

func first3[V any](all iter.Seq[V]) (n int) {
	for range all {
		if n++; n == 3 {
			break
		}
	}
	return n
}

func keys[K, V any](all iter.Seq2[K, V]) iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range all {
			if !yield(k) {
				return
			}
		}
	}
}

// Boxes are cut along their widest side, the first one of several, and the upper half comes
// first.
func TestCoverCutsTheWidestSide(t *testing.T) {
	var seen []string
	undecided := 4
	boxes, left := Cover([]Range{{0, 1}, {0, 4}}, 100, func(box []Range) Decision {
		seen = append(seen, fmt.Sprint(box))
		if len(seen) <= undecided {
			return Undecided
		}
		return Certainly
	})
	want := []string{
		"[{0 1} {0 4}]", "[{0 1} {2 4}]", "[{0 1} {3 4}]", "[{0.5 1} {3 4}]", "[{0.5 1} {3.5 4}]", "[{0.5 1} {3 3.5}]",
		"[{0 0.5} {3 4}]", "[{0 1} {2 3}]", "[{0 1} {0 2}]",
	}
	if boxes != 9 || left != nil || !slices.Equal(seen, want) {
		t.Errorf("%d boxes, left %v: %v, want %v", boxes, left, seen, want)
	}
	// As many as there may be, and the one that is then open; or the one that fails.
	for _, c := range []struct {
		most  int
		third Decision
	}{{3, Undecided}, {100, CertainlyNot}} {
		n := 0
		boxes, left := Cover([]Range{{0, 1}, {0, 4}}, c.most, func([]Range) Decision {
			if n++; n == 3 {
				return c.third
			}
			return Undecided
		})
		if boxes != 3 || fmt.Sprint(left) != want[2] {
			t.Errorf("%d boxes, left %v, want 3 and %s", boxes, left, want[2])
		}
	}
}

// What is no chain over two states is refused in words.
func TestPairsOfWhatIsNoChainAreRefused(t *testing.T) {
	pi, start := Rats("7/10 3/10; 1/5 4/5"), Rats("2/5 3/5")[0]
	mean := func(h float64) func() {
		return func() { PairMean(pi, start, 2, func(Pairs) float64 { return h }, 0) }
	}
	within := func(e float64) func() {
		return func() { PairMean(pi, start, 2, func(Pairs) float64 { return 1 }, e) }
	}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { PairCounts(Rats("7/10 1/10; 1/5 4/5"), start, 3) }, "row 0"},
		{func() { PairCounts(Rats("1"), start, 3) }, "a chain over 1 states"},
		{func() { PairCounts(pi, Rats("1")[0], 3) }, "begun at [1], want two and a law"},
		{func() { PairCounts(pi, Rats("1/2 1/3")[0], 3) }, "begun at [1/2 1/3], want two and a law"},
		{func() { PairCounts(pi, Rats("-1/2 3/2")[0], 3) }, "begun at [-1/2 3/2], want two and a law"},
		{func() { PairCountsFloat(pi, Rats("3/2 -1/2")[0], 3) }, "begun at [3/2 -1/2], want two and a law"},
		{func() { PairCountsFloat(pi, start, 0) }, "the length of a chain = 0, want at least 1"},
		{mean(math.Inf(1)), "the mean of +Inf"},
		{mean(math.Inf(-1)), "the mean of -Inf"},
		{mean(math.NaN()), "the mean of NaN"},
		{within(-1), "values off by at most -1"},
		{within(math.NaN()), "values off by at most NaN"},
		{within(math.Inf(1)), "values off by at most +Inf"},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, c.want) {
					t.Errorf("panic %q, want %s", said, c.want)
				}
			}()
			c.f()
		}()
	}
}

// By hand: five roundings for each state and twenty more.
func TestErrorOfPairCounts(t *testing.T) {
	if got := PairCountsError(16); got != 100*0x1p-53 {
		t.Errorf("%v, want 100 roundings", got)
	}
}

func TestSmallerAndLargerRanges(t *testing.T) {
	a, b := Range{1, 4}, Range{2, 3}
	for _, pair := range [][2]Range{{a, b}, {b, a}} {
		if lo, hi := pair[0].Min(pair[1]), pair[0].Max(pair[1]); lo != (Range{1, 3}) || hi != (Range{2, 4}) {
			t.Errorf("of %v and %v the smaller is %v and the larger %v", pair[0], pair[1], lo, hi)
		}
	}
}

// A mean of zeros is off by what may have underflowed, 1e-290 for each of the counts.
// Ranges are tight but for a rounding: what is not negative stays so.
func TestRangesThatAreNotNegative(t *testing.T) {
	near := func(name string, got Range, lo, hi float64) {
		t.Helper()
		if !(got.Lo <= lo && got.Hi >= hi) || lo-got.Lo > 1e-13 || got.Hi-hi > 1e-13 || lo == 0 && got.Lo != 0 {
			t.Errorf("%s is %v, want [%v, %v]", name, got, lo, hi)
		}
	}
	a := Range{-2, 1}
	near("[-2, 1]^2", a.Pow(2), 0, 4)
	near("[-2, 1]^3", a.Pow(3), -8, 4)
	near("[0, 1]^2", Range{0, 1}.Pow(2), 0, 1)
	near("|[-2, 1]|", a.Abs(), 0, 2)
	near("|[1, 2]|", Range{1, 2}.Abs(), 1, 2)
	near("|[-2, -1]|", Range{-2, -1}.Abs(), 1, 2)
	near("root of [-2, 1]", a.Sqrt(), 0, 1)
	near("root of [-1, 0]", Range{-1, 0}.Sqrt(), 0, 0)
	near("root of [4, 9]", Range{4, 9}.Sqrt(), 2, 3)
	inf := math.Inf(1)
	for _, r := range []Range{{0, inf}, {-inf, 0}} { // 0 times infinity is no number
		if p := r.Mul(Range{0, 1}); !math.IsInf(p.Lo, -1) || !math.IsInf(p.Hi, 1) {
			t.Errorf("%v times [0, 1] is %v", r, p)
		}
	}
	for _, r := range []Range{spread(math.NaN(), 1), spread(1, math.NaN())} {
		if !math.IsInf(r.Lo, -1) || !math.IsInf(r.Hi, 1) {
			t.Errorf("an end that is no number gives %v", r)
		}
	}
}

func TestPairMeanOfZeros(t *testing.T) {
	pi, start := Rats("7/10 3/10; 1/5 4/5"), Rats("2/5 3/5")[0]
	n := 0
	for range PairCountsFloat(pi, start, 5) {
		n++
	}
	got := PairMean(pi, start, 5, func(Pairs) float64 { return 0 }, 0)
	for _, end := range []*big.Rat{got.Hi, new(big.Rat).Neg(got.Lo)} {
		if half := Float(end); math.Abs(half/(float64(n)*1e-290)-1) > 1e-9 {
			t.Errorf("the half-width is %v, want 1e-290 for each of %d counts", half, n)
		}
	}
}
