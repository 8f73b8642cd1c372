package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
)

// random returns a transition matrix with denominators of about n.
func random(r *rand.Rand, states, n int) Matrix {
	m := Zero(states, states)
	for _, row := range m {
		left := int64(n)
		for t := range row[1:] {
			v := 1 + r.Int64N(left-int64(states-t-1))
			row[t].SetFrac64(v, int64(n))
			left -= v
		}
		row[states-1].SetFrac64(left, int64(n))
	}
	return m
}

func TestSolveMovesRowsWithAZeroPivot(t *testing.T) {
	x, ok := Rats("0 2; 3 0").Solve(Vector{Int(1), Int(1)})
	if !ok || x[0].Cmp(Frac(1, 3)) != 0 || x[1].Cmp(Frac(1, 2)) != 0 {
		t.Errorf("2y = 1, 3x = 1 has the solution %v, %v", x, ok)
	}
	if x, ok := Rats("0 2; 0 3").Solve(Vector{Int(1), Int(1)}); ok {
		t.Errorf("2y = 1, 3y = 1 has the solution %v", x)
	}
}

func TestSemidefinite(t *testing.T) {
	if Rats("1 2; 2 3").Semidefinite() || !Rats("1 2; 2 4").Semidefinite() || !Rats("0 0; 0 1").Semidefinite() ||
		Rats("0 1; 1 0").Semidefinite() {
		t.Error("Semidefinite is wrong on a 2 x 2 matrix")
	}
}

func TestLambdaAtMostIsTheNorm(t *testing.T) {
	// Two states: lambda = |1 - a - b|.
	pi := Rats("7/10 3/10; 1/5 4/5")
	for _, c := range []struct {
		c    string
		want bool
	}{{"1/2", true}, {"51/100", true}, {"499/1000", false}} {
		if got := LambdaAtMost(pi, Rat(c.c)); got != c.want {
			t.Errorf("lambda <= %s is %v, want %v", c.c, got, c.want)
		}
	}
	if f := FrobeniusSquared(pi); f.Cmp(Frac(1, 4)) != 0 {
		t.Errorf("|B|_F^2 = %v, want 1/4", f)
	}
	if a := Alpha(pi); a.Cmp(Frac(1, 2)) != 0 {
		t.Errorf("alpha = %v, want 1/2", a)
	}
}

func TestIdealizedGradientAtTheParentIsTheInformation(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	g := graph.MustNew(-1, 0, 1, 0, -1, -1)
	for range 10 {
		pi := random(r, 3, 24)
		f := FrobeniusSquared(pi)
		for _, i := range []int{1, 2, 3} {
			if got := G(pi, g, i, g.Parent(i)); got.Cmp(f) != 0 {
				t.Errorf("g_{%d,p} = %v, want %v", i, got, f)
			}
		}
		if got := ChiSquaredInformation(Joint(pi, g, 2, 1)); got.Cmp(f) != 0 {
			t.Errorf("chi-squared information %v, want %v", got, f)
		}
		if got := G(pi, g, 4, 1); got.Sign() != 0 {
			t.Errorf("g between trees is %v", got)
		}
		if got := G(pi, g, 5, 2); got.Sign() != 0 {
			t.Errorf("g of the query is %v", got)
		}
		if got := G(pi, g, 4, 4); got.Cmp(Sub(pi.Trace(), Int(1))) != 0 {
			t.Errorf("g_ii = %v, want trace - 1 = %v", got, pi.Trace())
		}
	}
}

func TestGammaIsDecidedExactly(t *testing.T) {
	// min pi = 1/5, S = 2, spread = 2 (1/5)^2 + ... = 1/4 + ...: the first bullet decides.
	pi := Rats("7/10 3/10; 1/5 4/5")
	if err := CheckGamma(pi, Rat("2/5")); err == nil {
		t.Error("gamma/S = 1/5 is strictly below an entry 1/5")
	}
	if err := CheckGamma(pi, Rat("399/1000")); err != nil {
		t.Error(err)
	}
	// pi near 1 mu^T: the second decides.
	pi = Rats("51/100 49/100; 49/100 51/100")
	if err := CheckGamma(pi, Rat("3/100")); err == nil {
		t.Error("a chain that nearly mixes in one step passes")
	}
	if err := CheckGamma(pi, Rat("1/50")); err != nil {
		t.Errorf("gamma^2/S = 2e-4 is below sum |pi - mu|^2 = 4e-4: %v", err)
	}
}

func TestEnclosuresHoldTheFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	width := Rat("1e-55")
	for range 60 {
		x := Frac(r.Int64N(2_000_000)-1_000_000, 1+r.Int64N(100_000))
		if new(big.Rat).Abs(x).Cmp(Int(100)) > 0 {
			continue
		}
		e := Point(x).Exp()
		if e.Lo.Cmp(e.Hi) > 0 || Sub(e.Hi, e.Lo).Cmp(Mul(width, e.Hi)) > 0 {
			t.Fatalf("exp %v is %v", x, e)
		}
		if f := math.Exp(Float(x)); math.Abs(f/e.Float()-1) > 1e-12 {
			t.Fatalf("exp %v is %v, floats say %v", x, e, f)
		}
		// The two functions are each other's inverse.
		if l := e.Log(); !l.Contains(x) || Sub(l.Hi, l.Lo).Cmp(width) > 0 {
			t.Fatalf("log exp %v is %v", x, l)
		}
		// exp(x/2)^2 = exp(x), by another reduction of the argument.
		h := Point(Quo(x, Int(2))).Exp()
		if sq := h.Mul(h); sq.AtMost(e) == CertainlyNot || e.AtMost(sq) == CertainlyNot {
			t.Fatalf("exp(%v/2)^2 = %v does not meet %v", x, sq, e)
		}
		root := Point(e.Hi).Sqrt()
		if !root.Mul(root).Contains(e.Hi) {
			t.Fatalf("sqrt %v = %v", e.Hi, root)
		}
	}
	// log 2 and e to 60 digits, from tables.
	if l := Point(Int(2)).Log(); !near(l, "0.693147180559945309417232121458176568075500134360255254120680") {
		t.Errorf("log 2 = %v", l)
	}
	if e := Point(Int(1)).Exp(); !near(e, "2.71828182845904523536028747135266249775724709369995957496697") {
		t.Errorf("e = %v", e)
	}
}

// The bounds of a logarithm and of an exponential lie on their sides before they are rounded
// outward to what is kept: in that of log 2^k is k times that of log 2, for a negative k with
// the sides exchanged, and that of e^-x is one by the other of e^x.
func TestBoundsLieOnTheirSides(t *testing.T) {
	for k := -400; k <= 400; k++ {
		if lo, hi := down.log(power2(k)), up.log(power2(k)); lo.Cmp(hi) >= 0 {
			t.Errorf("log 2^%d is from %v to %v", k, lo, hi)
		}
		x := Frac(int64(k), 130)
		if lo, hi := down.exp(x), up.exp(x); k != 0 && lo.Cmp(hi) >= 0 {
			t.Errorf("e^(%d/130) is from %v to %v", k, lo, hi)
		}
		rational := func(x *big.Float) *big.Rat { r, _ := x.Rat(nil); return r }
		exact := func(x *big.Rat) *big.Float { return new(big.Float).SetPrec(400).SetRat(x) }
		term, sum := exact(one), exact(one) // the series of e^x, within 1e-100
		for n := int64(1); n < 140; n++ {
			term.Mul(term, exact(Quo(x, Int(n))))
			sum.Add(sum, term)
		}
		for s, want := range map[side]int{down: -1, up: 1} {
			if gap := Sub(rational(s.exp(x)), rational(sum)); k != 0 && gap.Sign() != want || Abs(gap).Cmp(Rat("1e-70")) > 0 {
				t.Errorf("e^(%d/130) on side %d is beyond it, or off, by %v", k, s, gap.FloatString(90))
			}
			y := Frac(int64(k), 1200)
			if minus := new(big.Float).Neg(s.other().artanh(y)); s.artanh(Sub(Int(0), y)).Cmp(minus) != 0 {
				t.Errorf("2 artanh(-%v) on side %d is not %v", y, s, minus)
			}
			for name, f := range map[string]func(side, *big.Rat) *big.Float{"exp": side.exp, "log": side.log} {
				z := Add(Mul(x, x), one)
				if gap := s.end(f, z).Cmp(rational(f(s, z))); gap == -want {
					t.Errorf("%s %v is rounded to the wrong side of %d", name, z, s)
				}
			}
		}
	}
}

// T_eff(lambda) in one pass over the forest, and as a sum over all pairs.
func TestTEffLambdaIsASumOverPairs(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for g := range graph.All(n) {
			for _, lambda := range Rats("0 2/3 1")[0] {
				sum := new(big.Rat)
				for k := range n * n {
					if d := g.Distance(k/n, k%n); d >= 0 {
						sum.Add(sum, Pow(lambda, d))
					}
				}
				if got, want := TEffLambda(g, lambda), Quo(Int(n*n), sum); got.Cmp(want) != 0 {
					t.Errorf("%v: T_eff(%v) is %v, want %v", g, lambda, got, want)
				}
			}
		}
	}
}

// The squares of the ends of a root enclose the number, exactly, and closely: an end
// that is rounded outward afterwards may hide one that is not where it should be.
func TestSquaresOfTheEndsOfARootEncloseTheNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for k := range 200 {
		x := Frac(r.Int64N(1_000_000), 1+r.Int64N(1000))
		if k%4 == 0 {
			x = Mul(x, x)
		}
		lo, hi := sqrt(x)
		a := Point(x).Sqrt()
		if Mul(lo, lo).Cmp(x) > 0 || Mul(hi, hi).Cmp(x) < 0 || Mul(a.Lo, a.Lo).Cmp(x) > 0 || Mul(a.Hi, a.Hi).Cmp(x) < 0 {
			t.Fatalf("the root of %v is in [%v, %v] and in %v", x, lo, hi, a)
		}
		if k%4 == 0 && lo.Cmp(hi) != 0 {
			t.Fatalf("the root of the square %v is in [%v, %v]", x, lo, hi)
		}
		if Sub(a.Hi, a.Lo).Cmp(Mul(power2(3-Bits), a.Hi)) > 0 {
			t.Fatalf("the root of %v is in %v, which is too wide", x, a)
		}
	}
}

// Ends are rounded outward, by less than one part in 2^199, and not at all where they
// are short.
func TestEndsAreRoundedOutward(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	one := Point(Int(1))
	for range 300 {
		num, den := new(big.Int), new(big.Int).SetUint64(1+r.Uint64())
		for range 1 + r.IntN(8) {
			num.Lsh(num, 64).Or(num, new(big.Int).SetUint64(r.Uint64()))
		}
		for range r.IntN(8) {
			den.Lsh(den, 64).Or(den, new(big.Int).SetUint64(r.Uint64()))
		}
		if r.IntN(2) == 0 {
			num.Neg(num)
		}
		x := new(big.Rat).SetFrac(num, den)
		a := Point(x).Mul(one)
		if a.Lo.Cmp(x) > 0 || a.Hi.Cmp(x) < 0 {
			t.Fatalf("%v is rounded to %v", x, a)
		}
		if Sub(a.Hi, a.Lo).Cmp(Mul(power2(2-Bits), Abs(x))) > 0 {
			t.Fatalf("%v is rounded to %v, which is too wide", x, a)
		}
		if short := x.Num().BitLen() <= Bits && x.Denom().BitLen() <= Bits; short && a.Lo.Cmp(a.Hi) != 0 {
			t.Fatalf("%v is short and is rounded to %v", x, a)
		}
		for _, end := range []*big.Rat{a.Lo, a.Hi} {
			significant := new(big.Int).Rsh(end.Num(), end.Num().TrailingZeroBits()).BitLen()
			if a.Lo.Cmp(a.Hi) != 0 && significant > Bits+1 {
				t.Fatalf("an end of %v has %d bits", a, significant)
			}
		}
	}
}

// GHat is the mean of h over pairs of states, S (S-1) of them, as its lemma defines it.
func TestGHatIsTheMeanOfH(t *testing.T) {
	r, beta := Frac(1, 5), Frac(3, 2)
	for _, pi := range []Matrix{Rats("1/3 2/3; 1/2 1/2"), Rats("1/2 1/4 1/4; 1/3 1/3 1/3; 1/5 1/5 3/5")} {
		mu, sum, n := MustStationary(pi), Point(new(big.Rat)), int64(len(pi))
		for s := range pi {
			for u := range pi {
				weight := Point(Quo(Mul(mu[s], mu[u]), Int(n*n-n)))
				sum = sum.Add(weight.Mul(H(mu[s], r, beta, Quo(pi[s][u], mu[u]))))
			}
		}
		if got := GHat(pi, r, beta); got.AtMost(sum) == CertainlyNot || sum.AtMost(got) == CertainlyNot ||
			got.Lo.Sign() <= 0 {
			t.Errorf("ghat of %d states is in %v, the mean of h in %v", n, got, sum)
		}
	}
}

// A range with zero at an end or inside divides into the whole line, one beside it not.
func TestIntervalsByHand(t *testing.T) {
	x, y, z := Interval{Int(-2), Frac(3, 2)}, Interval{Int(-5), Int(-4)}, Interval{Int(7), Int(8)}
	for _, c := range []struct {
		name   string
		got    Interval
		lo, hi float64
	}{
		{"|x|", x.Abs(), 0, 2},
		{"|y|", y.Abs(), 4, 5},
		{"|z|", z.Abs(), 7, 8},
		{"the spread of three", Spread(x, y, z), 11, 13},
		{"the spread of x and x", Spread(x, x), 0, 3.5},
		{"3^-2", Power(Int(3), Int(-2)), 1. / 9, 1. / 9},
		{"3^2", Power(Int(3), Int(2)), 9, 9},
		{"3^0", Power(Int(3), new(big.Rat)), 1, 1},
		{"4^(-3/2)", Power(Int(4), Frac(-3, 2)), 1. / 8, 1. / 8},
	} {
		if Float(c.got.Lo) != c.lo || Float(c.got.Hi) != c.hi {
			t.Errorf("%s is %v, want [%v, %v]", c.name, c.got, c.lo, c.hi)
		}
	}
	if g := FloorGamma(Rats("7/10 3/10; 1/5 4/5")); g.Cmp(Frac(2, 5)) != 0 {
		t.Errorf("S times the least entry is %v, want 2/5", g)
	}
}

// near reports whether a is within 1e-55 of the number.
func near(a Interval, text string) bool {
	d := Sub(a.Lo, Rat(text))
	return d.Abs(d).Cmp(Rat("1e-55")) < 0
}

func TestDecisionsNeedDisjointEnclosures(t *testing.T) {
	a := Interval{Frac(1, 3), Frac(1, 2)}
	for _, c := range []struct {
		b    Interval
		want Decision
	}{
		{Interval{Frac(1, 2), Int(1)}, Certainly},
		{Interval{Int(0), Frac(1, 4)}, CertainlyNot},
		{Interval{Int(0), Frac(1, 3)}, Undecided},
		{a, Undecided},
	} {
		if got := a.AtMost(c.b); got != c.want {
			t.Errorf("%v <= %v: %v, want %v", a, c.b, got, c.want)
		}
	}
}

// Exponents end below 2^17.
func TestExponentsHaveABound(t *testing.T) {
	checkExponent(Int(1<<17 - 1))
	if property.Refused(t, "exact", func() { checkExponent(Int(1 << 17)) }) == "" {
		t.Error("e^(2^17) is not refused")
	}
}
