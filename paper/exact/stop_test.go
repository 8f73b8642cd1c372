package exact

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
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
	left("pairCounts", first3(keys(pairCounts(pi, start, 5))))
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

// By hand: five roundings for each state and twenty more.
func TestErrorOfPairCounts(t *testing.T) {
	if got := pairCountsError(16); got != 100*0x1p-53 {
		t.Errorf("%v, want 100 roundings", got)
	}
}

// A mean of zeros is off by 1e-290 for each of the counts, which may have underflowed.
// Ranges are tight to rounding, and nonnegative values keep their sign.
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
	for range pairCounts(pi, start, 5) {
		n++
	}
	got := PairMean(pi, start, 5, func(Pairs) float64 { return 0 }, 0)
	for _, end := range []*big.Rat{got.Hi, new(big.Rat).Neg(got.Lo)} {
		if half := Float(end); math.Abs(half/(float64(n)*1e-290)-1) > 1e-9 {
			t.Errorf("the half-width is %v, want 1e-290 for each of %d counts", half, n)
		}
	}
}

// Sums, products and quotients of ranges are the extremes over the ends, rounded outward by one float, and
// exponentials by two.
func TestRangesAreTight(t *testing.T) {
	down := func(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
	up := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	all := []Range{{-0.7, 1.1}, {0.3, 1.3}, {-2.3, -0.1}, {-0.4, 0.2}, {0, 1}, {-1, 0}}
	for _, a := range all {
		if e := a.Exp(); e != (Range{down(down(num.Exp(a.Lo))), up(up(num.Exp(a.Hi)))}) {
			t.Errorf("e^%v is %v", a, e)
		}
		for _, b := range all {
			check := func(name string, got Range, op func(x, y float64) float64) {
				t.Helper()
				x := []float64{op(a.Lo, b.Lo), op(a.Lo, b.Hi), op(a.Hi, b.Lo), op(a.Hi, b.Hi)}
				if want := (Range{down(slices.Min(x)), up(slices.Max(x))}); got != want {
					t.Errorf("%v %s %v is %v, want %v", a, name, b, got, want)
				}
			}
			check("+", a.Add(b), func(x, y float64) float64 { return x + y })
			check("-", a.Sub(b), func(x, y float64) float64 { return x - y })
			check("*", a.Mul(b), func(x, y float64) float64 { return x * y })
			if b.Lo*b.Hi > 0 {
				check("/", a.Quo(b), func(x, y float64) float64 { return x / y })
			} else if q := a.Quo(b); !math.IsInf(q.Lo, -1) || !math.IsInf(q.Hi, 1) {
				t.Errorf("%v / %v is %v, want all numbers", a, b, q)
			}
		}
	}
}

// Sums, products and quotients of enclosures are the extremes over the ends, and the functions lose
// less than 190 bits.
func TestEnclosuresAreTight(t *testing.T) {
	all := []Interval{{Rat("-2"), Rat("3")}, {Rat("1/3"), Rat("5")}, {Rat("-4"), Rat("-1/7")}}
	for _, a := range all {
		for _, b := range all {
			check := func(name string, got Interval, op func(x, y *big.Rat) *big.Rat) {
				t.Helper()
				lo, hi := math.Inf(1), math.Inf(-1)
				for _, x := range []*big.Rat{a.Lo, a.Hi} {
					for _, y := range []*big.Rat{b.Lo, b.Hi} {
						lo, hi = min(lo, Float(op(x, y))), max(hi, Float(op(x, y)))
					}
				}
				if math.Abs(Float(got.Lo)-lo) > 1e-15*math.Abs(lo) || math.Abs(Float(got.Hi)-hi) > 1e-15*math.Abs(hi) {
					t.Errorf("%v %s %v is %v, want [%v, %v]", a, name, b, got, lo, hi)
				}
			}
			check("+", a.Add(b), Add)
			check("-", a.Sub(b), Sub)
			check("*", a.Mul(b), Mul)
			if b.Lo.Sign() == b.Hi.Sign() {
				check("/", a.Quo(b), Quo)
			}
		}
	}
	one, two, small := Point(Int(1)), Point(Int(2)), Pow(Frac(2, 3), 300)
	for _, c := range []struct {
		in   Interval
		want *big.Rat
	}{
		{one.Exp().Mul(one.Sub(two).Exp()), Int(1)},
		{two.Log().Exp(), Int(2)},
		{Point(Frac(1, 3)).Exp().Log(), Frac(1, 3)},
		{one.Add(two.Log()).Add(one.Quo(two).Log()), Int(1)},
		{two.Sqrt().Mul(two.Sqrt()), Int(2)},
		{Point(small).Mul(Point(small)), Mul(small, small)},
		{Point(small).Mul(one.Sub(two)).Mul(Point(small)), Sub(new(big.Rat), Mul(small, small))},
	} {
		if width := Sub(c.in.Hi, c.in.Lo); !c.in.Contains(c.want) || width.Cmp(Mul(Pow(Frac(1, 2), 190), Abs(c.want))) >= 0 {
			t.Errorf("%v encloses %v, with the width %v", c.in, c.want.RatString(), Float(width))
		}
	}
}

func TestArgumentsOfPairMeansAreRefused(t *testing.T) {
	pi, start := Rats("7/10 3/10; 1/5 4/5"), Rats("2/5 3/5")[0]
	for _, f := range []func(){
		func() { PairCounts(Rats("7/10 1/10; 1/5 4/5"), start, 3) }, func() { Rat("x") },
		func() { PairMean(pi, start, 2, func(Pairs) float64 { return math.NaN() }, 0) },
		func() { PairMean(pi, start, 2, func(Pairs) float64 { return math.Inf(1) }, 0) },
	} {
		if property.Refused(t, "exact", f) == "" {
			t.Error("no panic")
		}
	}
}
