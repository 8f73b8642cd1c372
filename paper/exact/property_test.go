package exact

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"learncausal/internal/property"
	"learncausal/pkg/graph"
)

func TestProperties(t *testing.T) {
	property.Test(t, property.Table{
		"Add Sub Mul Quo Inv Ceil Abs Pow Frac Float": numbers,
		"Point Interval.Add Interval.Sub Interval.Mul Interval.Quo Interval.AtMost Interval.Contains " +
			"Interval.Float Interval.String Interval.Abs Spread Power Decision.String": intervals,
		"At Range.Add Range.Sub Range.Mul Range.Quo Range.Pow Range.Abs Range.Min Range.Max Range.Sqrt Range.Exp": ranges,
		"Cover": covers,
		"Interval.Exp Interval.Log Interval.Sqrt":                                          functions,
		"Dot TV ChiSquared Norm1 NormInf Jacobian Outer Diag Vector.Floats Vector.Strings": vectors,
		"Matrix.Mul Matrix.Sub Matrix.T Matrix.Scale Matrix.Floats Matrix.Strings":         products,
		"Matrix.Power Matrix.Trace Matrix.Solve Matrix.Semidefinite":                       squares,
		"FromFloats Zero Ones Grid Simplex Positive Round":                                 makers,
		"CheckRows Stationary MustStationary CheckGamma FloorGamma RowSpread FrobeniusSquared LambdaAtMost " +
			"Alpha": chainNumbers,
		"Marginal Joint G ChiSquaredInformation TEffLambda Sequences":                         pairs,
		"NewInContext InContext.Error InContext.GHat":                                         inContext,
		"NewStageOne StageOne.GStar StageOne.G StageOne.Drive StageOne.Distance StageOne.Gap": stageOne,
		"Population.GHat Population.G2":                                                       populations,
		"Relabelings Orbits":                                                                  relabelings,
		"SampleLaw.Moment SampleLaw.Absolute SampleLaw.Central SampleLaw.Tail":                sampleLaws,
		"GradientLaw SecondGradientLaw":                                                       gradientLaws,
		"MomentsOfSum Uniform WithTrace LightState":                                           forests,
		"NewDual Dual.Add Dual.Mul Dual.Quo Normalized Hadamard SubScaled ScoreGradient":      duals,
		"GHat":                  stageTwo,
		"PairMean Pairs.States": pairLaws,
		"NewBeta Beta.Exp Beta.E12Terms Beta.GHat":                                                     betas,
		"NewStageTwo StageTwo.Score StageTwo.Sums StageTwo.Errors StageTwo.E3 StageTwo.E12 StageTwo.F": sequences,
		"TimeBound LeaderTime": times,
	})
}

func refused(t *rapid.T, f func()) string { return property.Refused(t, "exact", f) }

// rational draws small numbers, zero and negative ones among them.
func rational() *rapid.Generator[*big.Rat] {
	return rapid.Custom(func(t *rapid.T) *big.Rat {
		return Frac(rapid.Int64Range(-6, 6).Draw(t, "above"), rapid.Int64Range(1, 5).Draw(t, "below"))
	})
}

// vector draws vectors of length n.
func vector(n int) *rapid.Generator[Vector] {
	return rapid.Map(rapid.SliceOfN(rational(), n, n), func(x []*big.Rat) Vector { return x })
}

// matrix draws m x n matrices.
func matrix(t *rapid.T, m, n int) Matrix {
	a := make(Matrix, m)
	for i := range a {
		a[i] = vector(n).Draw(t, "row")
	}
	return a
}

// kernel draws transition matrices over s states, at times with zeros.
func kernel(t *rapid.T, s int) Matrix {
	pi := make(Matrix, s)
	for a := range pi {
		total := int64(0)
		weights := rapid.SliceOfN(rapid.Int64Range(0, 4), s, s).Draw(t, "weights")
		weights[rapid.IntRange(0, s-1).Draw(t, "sure")]++
		for _, w := range weights {
			total += w
		}
		for _, w := range weights {
			pi[a] = append(pi[a], Frac(w, total))
		}
	}
	return pi
}

var one = Int(1)

// isPositive reports whether pi has one stationary measure, and a positive one over
// two states or more.
func isPositive(pi Matrix) bool {
	mu, err := Stationary(pi)
	return err == nil && len(mu) >= 2 && !slices.ContainsFunc(mu, func(p *big.Rat) bool { return p.Sign() <= 0 })
}

// equal fails unless two numbers are one.
func equal(t *rapid.T, what string, x, want *big.Rat) {
	t.Helper()
	if x.Cmp(want) != 0 {
		t.Fatalf("%s is %v, want %v", what, x.RatString(), want.RatString())
	}
}

func numbers(t *rapid.T) {
	x, y := rational().Draw(t, "x"), rational().Draw(t, "y")
	equal(t, "x+y-y", Sub(Add(x, y), y), x)
	equal(t, "x y", Mul(x, y), new(big.Rat).Mul(y, x))
	var z *big.Rat
	if property.Decide(t, y.Sign() != 0, refused(t, func() { z = Quo(x, y) })) {
		equal(t, "x/y y", Mul(z, y), x)
	}
	if property.Decide(t, y.Sign() != 0, refused(t, func() { z = Inv(y) })) {
		equal(t, "1/y y", Mul(z, y), Int(1))
	}
	if z = Ceil(x); !z.IsInt() || z.Cmp(x) < 0 || Sub(z, Int(1)).Cmp(x) >= 0 {
		t.Fatalf("the least integer from %v on is %v", x, z)
	}
	equal(t, "|x|", Mul(Abs(x), Abs(x)), Mul(x, x))
	k := rapid.IntRange(-2, 4).Draw(t, "k")
	if property.Decide(t, k >= 0, refused(t, func() { z = Pow(x, k) })) {
		want := Int(1)
		for range k {
			want = Mul(want, x)
		}
		equal(t, "x^k", z, want)
	}
	a, b := rapid.Int64().Draw(t, "a"), rapid.Int64Range(-2, 2).Draw(t, "b")
	if property.Decide(t, b != 0, refused(t, func() { z = Frac(a, b) })) {
		equal(t, "a/b b", Mul(z, new(big.Rat).SetInt64(b)), new(big.Rat).SetInt64(a))
	}
	if v := Float(x); math.Abs(v) > 6 || (v > 0) != (x.Sign() > 0) {
		t.Fatalf("the float of %v is %v", x, v)
	}
}

// interval draws an interval with a number in it.
func interval(t *rapid.T) (Interval, *big.Rat) {
	lo, width := rational().Draw(t, "lo"), Abs(rational().Draw(t, "width"))
	part := Frac(rapid.Int64Range(0, 4).Draw(t, "part"), 4)
	return Interval{lo, Add(lo, width)}, Add(lo, Mul(part, width))
}

func intervals(t *rapid.T) {
	a, x := interval(t)
	b, y := interval(t)
	holds := func(what string, in Interval, z *big.Rat) {
		if !in.Contains(z) || in.String() == "" {
			t.Fatalf("%s is %v, without %v", what, in, z)
		}
	}
	holds("a", Point(x), x)
	holds("a+b", a.Add(b), Add(x, y))
	holds("a-b", a.Sub(b), Sub(x, y))
	holds("a b", a.Mul(b), Mul(x, y))
	holds("|a|", a.Abs(), Abs(x))
	holds("the spread", Spread(a, b), Abs(Sub(x, y)))
	property.Decide(t, false, refused(t, func() { Spread() }))
	k := rapid.Int64Range(-3, 3).Draw(t, "k")
	var power Interval
	if property.Decide(t, x.Sign() > 0, refused(t, func() { power = Power(x, Frac(k, 2)) })) {
		root := power.Mul(power)
		holds("x^(k/2)", root, Quo(Pow(x, int(max(k, 0))), Pow(x, int(max(-k, 0)))))
		if Float(Sub(root.Hi, root.Lo)) > 1e-30 {
			t.Fatalf("x^(k/2) is %v", power)
		}
	}
	var q Interval
	if property.Decide(t, !b.Contains(new(big.Rat)), refused(t, func() { q = a.Quo(b) })) {
		holds("a/b", q, Quo(x, y))
	}
	switch d := a.AtMost(b); {
	case d == Certainly && x.Cmp(y) > 0, d == CertainlyNot && x.Cmp(y) <= 0, d.String() == "":
		t.Fatalf("%v <= %v %v, and %v <= %v", a, b, d, x, y)
	}
	if v := a.Float(); !(v >= Float(a.Lo)-1e-12 && v <= Float(a.Hi)+1e-12) {
		t.Fatalf("the middle of %v is %v", a, v)
	}
	if s := Decision(property.Int().Draw(t, "decision")).String(); s == "" {
		t.Fatal("a decision has no name")
	}
}

// ranges compares the ends with the rational results at points of the ranges.
func ranges(t *rapid.T) {
	draw := func() (Range, *big.Rat) {
		x := rapid.Float64Range(-9, 9).Draw(t, "x")
		r := Range{x - rapid.Float64Range(0, 2).Draw(t, "below"), x + rapid.Float64Range(0, 2).Draw(t, "above")}
		return r, FromFloats([]float64{x}, 1)[0][0]
	}
	a, x := draw()
	b, y := draw()
	holds := func(what string, in Range, z *big.Rat) {
		lo, hi := new(big.Rat).SetFloat64(in.Lo), new(big.Rat).SetFloat64(in.Hi)
		if !math.IsInf(in.Lo, 0) && lo.Cmp(z) > 0 || !math.IsInf(in.Hi, 0) && hi.Cmp(z) < 0 {
			t.Fatalf("%s of %v and %v is %v, without %v", what, a, b, in, z)
		}
	}
	if v := At(Float(x)); v.Lo != v.Hi {
		t.Fatalf("the range of one float is %v", v)
	}
	holds("a+b", a.Add(b), Add(x, y))
	holds("a-b", a.Sub(b), Sub(x, y))
	holds("a b", a.Mul(b), Mul(x, y))
	holds("|a|", a.Abs(), Abs(x))
	low, high := x, y
	if x.Cmp(y) > 0 {
		low, high = y, x
	}
	holds("min", a.Min(b), low)
	holds("max", a.Max(b), high)
	if y.Sign() != 0 {
		holds("a/b", a.Quo(b), Quo(x, y))
	}
	e := Point(x).Exp()
	holds("e^a", a.Exp(), e.Lo)
	holds("e^a", a.Exp(), e.Hi)
	k := rapid.IntRange(-1, 5).Draw(t, "exponent")
	var p Range
	if property.Decide(t, k >= 0, refused(t, func() { p = a.Pow(k) })) {
		holds("a^k", p, Pow(x, k))
	}
	var r Range
	if property.Decide(t, a.Hi >= 0, refused(t, func() { r = a.Sqrt() })) && x.Sign() >= 0 {
		holds("root", Range{r.Lo * r.Lo * (1 - 1e-15), r.Hi * r.Hi * (1 + 1e-15)}, x)
	}
}

// covers decides x^2 + y^2 <= most over a box by its corners.
func covers(t *rapid.T) {
	side := func(name string) Range {
		x := rapid.Float64Range(-2, 2).Draw(t, name)
		return Range{x, x + rapid.Float64Range(0, 2).Draw(t, name+" more")}
	}
	box := []Range{side("x"), side("y")}
	farthest := 0.0
	for _, r := range box {
		farthest += max(r.Lo*r.Lo, r.Hi*r.Hi)
	}
	most := At(farthest * rapid.SampledFrom([]float64{0.9, 1.1}).Draw(t, "times"))
	boxes, left := Cover(box, 1<<16, func(b []Range) Decision {
		switch sum := b[0].Mul(b[0]).Add(b[1].Pow(2)); {
		case sum.Hi <= most.Lo:
			return Certainly
		case sum.Lo > most.Hi:
			return CertainlyNot
		}
		return Undecided
	})
	if boxes < 1 || (left == nil) != (most.Lo >= farthest*(1-1e-12)) && farthest > 0 {
		t.Fatalf("%d boxes leave %v of x^2 + y^2 <= %v on %v", boxes, left, most, box)
	}
}

func functions(t *rapid.T) {
	a, _ := interval(t)
	big := rapid.SampledFrom([]int{0, 0, 0, 10, 40, 400}).Draw(t, "power of two")
	a = Interval{Mul(a.Lo, power2(big)), Mul(a.Hi, power2(big))}
	for name, c := range map[string]struct {
		right bool
		of    func(Interval) Interval
		float func(float64) float64
	}{
		"exp":  {big <= 10, Interval.Exp, math.Exp},
		"log":  {a.Lo.Sign() > 0, Interval.Log, math.Log},
		"sqrt": {a.Lo.Sign() >= 0, Interval.Sqrt, math.Sqrt},
	} {
		var got Interval
		refusal := refused(t, func() { got = c.of(a) })
		if name == "exp" && a.Lo.Sign() == 0 && a.Hi.Sign() == 0 {
			continue // e^0, whatever the power
		}
		if !property.Decide(t, c.right, refusal) {
			continue
		}
		lo, hi := c.float(Float(a.Lo)), c.float(Float(a.Hi))
		if !property.Near(Float(got.Lo), lo, 1e-11) || !property.Near(Float(got.Hi), hi, 1e-11) || got.Lo.Cmp(got.Hi) > 0 {
			t.Fatalf("%s of %v is %v", name, a, got)
		}
	}
}

// A quotient times its divisor is the dividend, values and derivatives.
func duals(t *rapid.T) {
	number := func() Dual { return NewDual(rational().Draw(t, "x"), rational().Draw(t, "d")) }
	a, b := number(), number()
	var q Dual
	if property.Decide(t, b.X.Sign() != 0, refused(t, func() { q = a.Quo(b) })) {
		back := q.Mul(b).Add(NewDual(one, one))
		equal(t, "a value", Sub(back.X, one), a.X)
		equal(t, "a derivative", Sub(back.D, one), a.D)
	}
	n := rapid.IntRange(1, 3).Draw(t, "n")
	u, v := vector(n).Draw(t, "u"), vector(rapid.IntRange(n, n+1).Draw(t, "n'")).Draw(t, "v")
	var w Vector
	if property.Decide(t, Dot(v).Sign() != 0, refused(t, func() { w = Normalized(v) })) {
		equal(t, "a sum of weights", Dot(w), one)
	}
	right := len(u) == len(v)
	if property.Decide(t, right, refused(t, func() { w = Hadamard(u, v) })) {
		equal(t, "the sum of products", Dot(w), Dot(u, v))
	}
	if property.Decide(t, right, refused(t, func() { w = SubScaled(u, a.X, v) })) {
		equal(t, "a sum", Dot(w), Sub(Dot(u), Mul(a.X, Dot(v))))
	}
	hit := rapid.SliceOfN(rapid.Bool(), n, n+1).Draw(t, "hit")
	m := new(big.Rat) // the weight of the hits
	for k := range min(len(u), len(hit)) {
		if hit[k] {
			m.Add(m, u[k])
		}
	}
	var norm *big.Rat
	right = right && len(hit) == n && Add(m, one).Sign() != 0
	if !property.Decide(t, right, refused(t, func() { norm = ScoreGradient(new(big.Rat), one, u, v, hit) })) {
		return
	}
	want := new(big.Rat) // at beta = 0 q is linear in the scores
	for k, p := range u {
		own := Mul(Int(-1), m)
		if hit[k] {
			own.Add(own, one)
		}
		want.Add(want, Abs(Quo(Mul(p, own), Add(m, one))))
	}
	equal(t, "|grad q|_1 at beta = 0", norm, want)
}

func vectors(t *rapid.T) {
	n := rapid.IntRange(1, 4).Draw(t, "n")
	u, v := vector(n).Draw(t, "u"), vector(rapid.IntRange(n, n+1).Draw(t, "n'")).Draw(t, "v")
	right := len(u) == len(v)
	var z *big.Rat
	property.Decide(t, false, refused(t, func() { Dot() }))
	if property.Decide(t, right, refused(t, func() { z = Dot(u, v) })) {
		equal(t, "u.v", z, Outer(u, v).Trace())
	}
	if property.Decide(t, right, refused(t, func() { z = TV(u, v) })) {
		d := make(Vector, n)
		for i := range d {
			d[i] = Sub(u[i], v[i])
		}
		equal(t, "TV", Mul(z, Int(2)), Norm1(d))
		p, mean := Jacobian(u, v), Dot(u, v)
		for i := range p {
			equal(t, "the Jacobian", p[i], Sub(Mul(u[i], v[i]), Mul(u[i], mean)))
		}
	} else {
		property.Decide(t, false, refused(t, func() { Jacobian(u, v) }))
	}
	equal(t, "|u|_inf", NormInf(u), Abs(slices.MaxFunc(u, func(x, y *big.Rat) int { return Abs(x).Cmp(Abs(y)) })))
	positive := !slices.ContainsFunc(v, func(x *big.Rat) bool { return x.Sign() <= 0 })
	if property.Decide(t, right && positive, refused(t, func() { z = ChiSquared(u, v) })) && z.Sign() < 0 {
		t.Fatalf("chi-squared is %v", z)
	}
	if m := Diag(u); Dot(u).Cmp(m.Trace()) != 0 {
		t.Fatalf("the diagonal of %v is %v", u, m)
	}
	if f, s := u.Floats(), u.Strings(); len(f) != n || len(s) != n || f[0] != Float(u[0]) || Rat(s[0]).Cmp(u[0]) != 0 {
		t.Fatalf("%v is written %v and %v", u, f, s)
	}
}

func products(t *rapid.T) {
	size := rapid.IntRange(1, 3)
	m, k, n, l := size.Draw(t, "m"), size.Draw(t, "k"), size.Draw(t, "n"), size.Draw(t, "l")
	a, b, c := matrix(t, m, k), matrix(t, l, n), matrix(t, m, n)
	ragged := rapid.IntRange(0, 5).Draw(t, "ragged") == 0 && m > 1
	if ragged {
		a[1] = a[1][1:]
	}
	var p Matrix
	if property.Decide(t, !ragged && k == l, refused(t, func() { p = a.Mul(b) })) {
		for i := range m {
			for j := range n {
				equal(t, "a product", p[i][j], Dot(a[i], b.T()[j]))
			}
		}
	}
	if property.Decide(t, !ragged && k == n, refused(t, func() { p = a.Sub(c) })) {
		equal(t, "a difference", p[m-1][n-1], Sub(a[m-1][n-1], c[m-1][n-1]))
	}
	property.Decide(t, !ragged, refused(t, func() { p = a.T() }))
	property.Decide(t, !ragged, refused(t, func() { p = a.Scale(Int(2)) }))
	if !ragged {
		equal(t, "a multiple", p[m-1][k-1], Mul(Int(2), a[m-1][k-1]))
		if f, s := a.Floats(), a.Strings(); len(f) != m*k || s[m-1][k-1] != a[m-1][k-1].RatString() {
			t.Fatalf("%v is written %v and %v", a, f, s)
		}
	}
	property.Decide(t, false, refused(t, func() { Matrix{}.T() }))
}

func squares(t *rapid.T) {
	n := rapid.IntRange(1, 3).Draw(t, "n")
	m := matrix(t, rapid.IntRange(n, n+1).Draw(t, "rows"), n)
	right, k := len(m) == n, rapid.IntRange(-1, 3).Draw(t, "k")
	b := vector(rapid.IntRange(n, n+1).Draw(t, "n'")).Draw(t, "b")
	var p Matrix
	if property.Decide(t, right && k >= 0, refused(t, func() { p = m.Power(k) })) {
		want := Diag(Ones(n))
		for range k {
			want = want.Mul(m)
		}
		equal(t, "a power", p[n-1][0], want[n-1][0])
	}
	property.Decide(t, right, refused(t, func() { m.Trace() }))
	var x Vector
	var ok bool
	if property.Decide(t, right && len(b) == n, refused(t, func() { x, ok = m.Solve(b) })) && ok {
		for i := range n {
			equal(t, "m x", Dot(m[i], x), b[i])
		}
	}
	symmetric := right
	for i := range n {
		for j := range i {
			symmetric = symmetric && right && m[i][j].Cmp(m[j][i]) == 0
		}
	}
	property.Decide(t, symmetric, refused(t, func() { m.Semidefinite() }))
	if right {
		if gram := m.T().Mul(m); !gram.Semidefinite() || gram.Sub(Diag(Ones(n)).Scale(Add(gram.Trace(),
			Int(1)))).Semidefinite() {
			t.Fatalf("%v has no negative eigenvalue, or all of them", gram)
		}
	}
}

func makers(t *rapid.T) {
	n, k := rapid.IntRange(-1, 3).Draw(t, "n"), rapid.IntRange(-2, 4).Draw(t, "k")
	x := rapid.SliceOfN(property.Float(), 0, 6).Draw(t, "x")
	finite := !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	var m Matrix
	if property.Decide(t, n >= 1 && finite && len(x)%max(n, 1) == 0, refused(t, func() { m = FromFloats(x, n) })) &&
		!slices.Equal(m.Floats(), x) && len(x) > 0 {
		t.Fatalf("%v becomes %v", x, m)
	}
	property.Decide(t, n >= 0 && k >= 0, refused(t, func() { Zero(n, k) }))
	property.Decide(t, n >= 0, refused(t, func() { Ones(n) }))
	count := 0
	if property.Decide(t, n >= 0 && k >= 0, refused(t, func() {
		for range Grid(n, k) {
			count++
		}
	})) && count != int(math.Pow(float64(k+1), float64(n))) {
		t.Fatalf("a grid of %d vectors of length %d up to %d", count, n, k)
	}
	if property.Decide(t, n >= 1, refused(t, func() {
		for p := range Simplex(n, k) {
			equal(t, "the sum of a law", Dot(p), Int(1))
		}
	})) {
		for pi := range Positive(n, k) {
			if err := CheckRows(pi); err != nil {
				t.Fatal(err)
			}
		}
	} else {
		property.Decide(t, false, refused(t, func() { Positive(n, k) }))
	}
	s, den := rapid.IntRange(1, 4).Draw(t, "S"), property.Int().Draw(t, "den")
	pi := property.Kernel(s).Draw(t, "pi")
	right := den >= 1 && den <= 1e9
	if rapid.IntRange(0, 3).Draw(t, "wrong") == 0 {
		pi[0], right = rapid.SampledFrom([]float64{-1, 2, math.NaN()}).Draw(t, "entry"), false
	}
	if property.Decide(t, right, refused(t, func() { m = Round(pi, s, den) })) {
		if err := CheckRows(m); err != nil {
			t.Fatal(err)
		}
		for i, v := range m.Floats() {
			if math.Abs(v-pi[i]) > 1/float64(den)+1e-12 {
				t.Fatalf("%v is rounded to %v", pi, m)
			}
		}
	}
}

func chainNumbers(t *rapid.T) {
	s := rapid.IntRange(1, 3).Draw(t, "S")
	pi, law := kernel(t, s), true
	switch rapid.SampledFrom([]string{"right", "right", "right", "sum", "ragged", "empty", "negative"}).Draw(t, "kind") {
	case "sum":
		pi[0][0], law = Add(pi[0][0], Frac(1, 7)), false
	case "ragged":
		pi[0], law = pi[0][1:], false
	case "empty":
		pi, law = nil, false
	case "negative":
		pi[0][0], law = Int(-1), false
	}
	property.Decide(t, law, property.Said(t, "exact", CheckRows(pi)))
	mu, err := Stationary(pi)
	if refusal := property.Said(t, "exact", err); !law && refusal == "" {
		t.Fatal("what is no chain has a stationary measure")
	}
	property.Decide(t, err == nil, refused(t, func() { MustStationary(pi) }))
	if err == nil {
		equal(t, "the sum of mu", Dot(mu), Int(1))
		for b := range mu {
			equal(t, "mu pi", Dot(mu, pi.T()[b]), mu[b])
		}
	}
	var z *big.Rat
	if property.Decide(t, law, refused(t, func() { z = Alpha(pi) })) && (z.Sign() < 0 || z.Cmp(one) > 0) {
		t.Fatalf("alpha is %v", z)
	}
	if law {
		gamma := FloorGamma(pi)
		if property.Decide(t, err == nil, refused(t, func() { z = RowSpread(pi) })) && gamma.Sign() > 0 && z.Sign() > 0 {
			below := Mul(gamma, Frac(9, 10))
			enough := Mul(Int(s), z).Cmp(Mul(below, below)) >= 0
			property.Decide(t, enough, property.Said(t, "exact", CheckGamma(pi, below)))
		}
	}
	right := law && isPositive(pi)
	if property.Decide(t, right, refused(t, func() { z = FrobeniusSquared(pi) })) &&
		(z.Sign() < 0 || z.Cmp(Int(s-1)) > 0) {
		t.Fatalf("|B|^2 is %v", z)
	}
	c, atMost := rational().Draw(t, "c"), false
	if property.Decide(t, right && c.Sign() >= 0, refused(t, func() { atMost = LambdaAtMost(pi, c) })) &&
		(c.Cmp(one) >= 0 && !atMost || atMost && Mul(Mul(c, c), Int(s)).Cmp(z) < 0) {
		t.Fatalf("lambda <= %v is %v, with |B|^2 = %v", c, atMost, z)
	}
	if err := CheckGamma(pi, c); property.Said(t, "exact", err) == "" && !(right && c.Sign() > 0) {
		t.Fatalf("%v is right for %v", c, pi)
	}
}

// The moments of a sum are sums over all sequences; WithTrace and LightState keep rows of
// total 1.
func forests(t *rapid.T) {
	g := graph.Grow(rapid.IntRange(2, 4).Draw(t, "T"), func(i int) int {
		return rapid.IntRange(graph.Root, i-1).Draw(t, "parent")
	})
	pi := kernel(t, 2)
	term := func(i, parent, own int) int { return i*own - 2*parent }
	_, err := Stationary(pi)
	var mean, variance *big.Rat
	if property.Decide(t, err == nil, refused(t, func() { mean, variance = MomentsOfSum(pi, g, term) })) {
		first, second := new(big.Rat), new(big.Rat)
		for x, p := range Sequences(g, pi) {
			n := 0
			for i, own := range x {
				parent := -1
				if g.Parent(i) != graph.Root {
					parent = x[g.Parent(i)]
				}
				n += term(i, parent, own)
			}
			first.Add(first, Mul(p, Int(n)))
			second.Add(second, Mul(p, Int(n*n)))
		}
		equal(t, "a mean", mean, first)
		equal(t, "a variance", variance, Sub(second, Mul(first, first)))
	}
	equal(t, "a uniform law", Dot(Uniform(3)), one)
	to := rational().Draw(t, "trace")
	if property.Decide(t, to.Sign() >= 0 && to.Cmp(Int(2)) <= 0, refused(t, func() { pi = WithTrace(pi, to) })) {
		equal(t, "a trace", pi.Trace(), to)
	}
	s, m, d := rapid.IntRange(2, 5).Draw(t, "S"), rational().Draw(t, "m"), rational().Draw(t, "d")
	h := Quo(Sub(one, Mul(m, Int(s-2))), Int(2))
	right := s >= 3 && m.Sign() > 0 && Abs(d).Cmp(h) < 0
	if property.Decide(t, right, refused(t, func() { pi = LightState(s, m, d) })) {
		equal(t, "a trace", pi.Trace(), one)
	}
}

func pairs(t *rapid.T) {
	g := graph.Grow(rapid.IntRange(2, 4).Draw(t, "T"), func(i int) int {
		return rapid.IntRange(graph.Root, i-1).Draw(t, "parent")
	})
	pi := kernel(t, 2)
	right, i, j := isPositive(pi), rapid.IntRange(-1, 4).Draw(t, "i"), rapid.IntRange(-1, 4).Draw(t, "j")
	_, err := Stationary(pi)
	inside := func(i int) bool { return i >= 0 && i < g.T() }
	both := func(f func()) string { return property.Refused(t, "graph", f) }
	if err != nil {
		property.Decide(t, false, refused(t, func() { Sequences(g, pi) }))
		return
	}
	var law Vector
	if property.Decide(t, inside(i), both(func() { law = Marginal(pi, g, i) })) {
		equal(t, "the sum of a law", Dot(law), Int(1))
	}
	var joint Matrix
	if !property.Decide(t, inside(i) && inside(j), both(func() { joint = Joint(pi, g, i, j) })) {
		if right {
			property.Decide(t, false, both(func() { G(pi, g, i, j) }))
		}
		return
	}
	want, total := Zero(2, 2), new(big.Rat)
	for x, p := range Sequences(g, pi) {
		want[x[i]][x[j]].Add(want[x[i]][x[j]], p)
		total.Add(total, p)
	}
	equal(t, "the probability of all sequences", total, Int(1))
	for k := range 4 {
		equal(t, "a joint law", joint[k/2][k%2], want[k/2][k%2])
	}
	var z *big.Rat
	property.Decide(t, right, refused(t, func() { G(pi, g, i, j) }))
	if property.Decide(t, right || i == j && i == g.T()-1, refused(t, func() { z = ChiSquaredInformation(joint) })) &&
		z.Sign() < 0 {
		t.Fatalf("the information is %v", z)
	}
	lambda := rational().Draw(t, "lambda")
	if property.Decide(t, lambda.Sign() >= 0 && lambda.Cmp(one) <= 0, refused(t, func() { z = TEffLambda(g, lambda) })) &&
		!property.Near(Float(z), g.TEffLambda(Float(lambda)), 1e-12) {
		t.Fatalf("T_eff(%v) is %v", lambda, z)
	}
}

func stageTwo(t *rapid.T) {
	mu, r, z := rational().Draw(t, "mu"), rational().Draw(t, "r"), rational().Draw(t, "z")
	beta := Mul(rational().Draw(t, "beta"), power2(rapid.SampledFrom([]int{0, 0, 0, 100}).Draw(t, "power of two")))
	within := func(x *big.Rat) bool { return x.Sign() >= 0 && x.Cmp(one) <= 0 }
	pi := kernel(t, rapid.IntRange(1, 2).Draw(t, "S"))
	right := within(r) && beta.Sign() >= 0 && beta.Cmp(Int(100)) < 0
	var h Interval
	if right && within(mu) && z.Sign() >= 0 {
		if h = H(mu, r, beta, z); h.Lo.Cmp(h.Hi) > 0 {
			t.Fatalf("h is in %v", h)
		}
	}
	if refusal := refused(t, func() { h = GHat(pi, r, beta) }); refusal != "" || !right || !isPositive(pi) {
		property.Decide(t, right && isPositive(pi), refusal)
		return
	}
	if h.Hi.Sign() < 0 {
		t.Fatalf("ghat(beta) is in %v, want a convex function's", h)
	}
}

func times(t *rapid.T) {
	alpha, n, delta, eta := rational().Draw(t, "alpha"), rational().Draw(t, "n"), rational().Draw(t, "delta"),
		rational().Draw(t, "eta")
	var bound, leader Interval
	right := alpha.Sign() > 0 && n.Sign() > 0 && delta.Sign() > 0 && eta.Sign() > 0
	bounded := property.Decide(t, right, refused(t, func() { bound = TimeBound(alpha, n, delta, eta) }))
	right = n.Cmp(one) > 0 && alpha.Sign() > 0 && alpha.Cmp(one) < 0
	if !property.Decide(t, right, refused(t, func() { leader = LeaderTime(n, alpha) })) || !bounded {
		return
	}
	if small := Point(Quo(Sub(n, one), Mul(n, Mul(eta, delta)))); small.Mul(leader).AtMost(bound) == CertainlyNot {
		t.Fatalf("the time of a leader is %v, and at most %v", leader, bound)
	}
}

func betas(t *rapid.T) {
	root, z, r := rational().Draw(t, "root"), rational().Draw(t, "z"), rational().Draw(t, "r")
	var b Beta
	if !property.Decide(t, root.Sign() > 0, refused(t, func() { b = NewBeta(root, z, Frac(1, 2)) })) {
		return
	}
	var e, ghat *big.Rat
	zero := root.Cmp(one) == 0
	if property.Decide(t, z.Sign() >= 0 || zero, refused(t, func() { e = b.Exp(z) })) {
		equal(t, "e^(beta z)", Pow(e, int(b.Denominator)), Pow(b.Exp(one),
			int(Mul(Abs(z), Int(b.Denominator)).Num().Int64())))
	}
	if !zero {
		property.Decide(t, false, refused(t, func() { b.E12Terms(one, Frac(1, 97), one, r) }))
	}
	pi := kernel(t, rapid.IntRange(1, 3).Draw(t, "S"))
	right := r.Sign() >= 0 && r.Cmp(one) <= 0 && isPositive(pi)
	if mu, err := Stationary(pi); err == nil {
		b = NewBeta(root, mu...)
	}
	if !property.Decide(t, right, refused(t, func() { ghat = b.GHat(pi, r) })) {
		return
	}
	if root.Cmp(one) < 0 {
		return
	}
	beta := Mul(Point(root).Log().Hi, Int(b.Denominator))
	if want := GHat(pi, r, beta).Float(); !property.Near(Float(ghat), want, 1e-12) {
		t.Fatalf("ghat is %v by its definition, and %v by the lemma", Float(ghat), want)
	}
}

// sequences checks the displayed uses of Lemma 28 (lem-compute-diffs), that numerator and
// denominator of each quotient differ from their limits by the errors.
func sequences(t *rapid.T) {
	g := graph.MustNew(-1, 0, -1, 2, -1)
	pi := kernel(t, rapid.IntRange(1, 2).Draw(t, "S"))
	root, attend := rational().Draw(t, "root"), rapid.SliceOfN(rapid.IntRange(-1, 2), 5, 6).Draw(t, "attend")
	attend[0], attend[1], attend[3] = min(attend[0], 0), 0, 2
	var c StageTwo
	refusal := refused(t, func() { c = NewStageTwo(g, pi, attend, root, Frac(1, 3)) })
	if !property.Decide(t, isPositive(pi) && root.Sign() > 0 && len(attend) == 5, refusal) {
		return
	}
	token := rapid.IntRange(0, 1)
	c.X, c.S, c.A = rapid.SliceOfN(token, 5, 5).Draw(t, "X"), token.Draw(t, "s"), token.Draw(t, "s'")
	v, vz, hit, hitZ := c.Sums()
	e, m := c.Errors(), c.Beta.Exp(one)
	above, below := c.limits(one, one)
	equal(t, "the sum of e^(beta z)", v, Add(below, Add(Mul(Sub(m, one), e[1]), e[3])))
	equal(t, "the sum of e^(beta z) z", vz, Add(above, Add(Mul(m, e[1]), e[2])))
	above, below = c.limits(pi[c.S][c.A], c.Mu[c.A])
	equal(t, "the sum at s'", hit, Add(below, Add(Mul(Sub(m, one), e[4]), Add(e[5], e[7]))))
	equal(t, "the sum of z at s'", hitZ, Add(above, Add(Mul(m, e[4]), e[6])))
	equal(t, "E3", Mul(c.E3().Value, v), vz)
	equal(t, "E1", Mul(c.E12().Value, Add(hit, Mul(e[0], v))), hitZ)
	equal(t, "f", Mul(c.F().Value, v), hit)
	for i := range attend {
		if z := c.Score(i); z.Sign() < 0 || z.Cmp(one) > 0 {
			t.Fatalf("the score of position %d is %v", i, z)
		}
	}
}

func pairLaws(t *rapid.T) {
	s, n := rapid.IntRange(1, 3).Draw(t, "S"), rapid.IntRange(-1, 6).Draw(t, "t")
	pi, start := kernel(t, s), kernel(t, 2)[0]
	if rapid.Bool().Draw(t, "wrong start") {
		start[0] = Int(2)
	}
	right := s == 2 && n >= 1 && Dot(start).Cmp(one) == 0
	property.Decide(t, right, refused(t, func() { PairCounts(pi, start, n) }))
	property.Decide(t, right, refused(t, func() { pairCounts(pi, start, n) }))
	within := rapid.SampledFrom([]float64{0, 1, -1, math.NaN(), math.Inf(1)}).Draw(t, "within")
	var mean Interval
	refusal := refused(t, func() {
		mean = PairMean(pi, start, n, func(p Pairs) float64 { return float64(p.States()[0]) }, within)
	})
	if !property.Decide(t, right && (within == 0 || within == 1), refusal) {
		return
	}
	want := new(big.Rat)
	for in, p := range PairCounts(pi, start, n) {
		want.Add(want, Mul(p, Int(in.States()[0])))
	}
	if !mean.Contains(want) {
		t.Fatalf("the mean number of states 0 is %v, want %v", mean, want)
	}
}
