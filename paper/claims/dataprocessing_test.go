package claims

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/compare"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

func TestLightStateInClosedForm(t *testing.T) {
	for s := 3; s <= 6; s++ {
		m, d := exact.Frac(1, 20), exact.Frac(3, 40)
		pi := exact.LightState(s, m, d)
		if pi.Trace().Cmp(exact.Int(1)) != 0 {
			t.Errorf("S = %d: trace %v, want 1", s, pi.Trace())
		}
		c := theory.MustChain(pi.Floats(), s)
		norm, entries, rows := lightNorm(s, exact.Float(m), exact.Float(d))
		gamma := ofBoth.among(entries, rows)
		if want := exact.Float(exact.FrobeniusSquared(pi)); math.Abs(norm-want) > 1e-15 || math.Abs(gamma-c.Gamma()) > 1e-14 {
			t.Errorf("S = %d: norm %v, gamma %v, want %v, %v", s, norm, gamma, want, c.Gamma())
		}
	}
}

func TestWithTraceInBothArithmetics(t *testing.T) {
	pi := exact.Rats("1/2 1/4 1/4; 1/3 1/3 1/3; 1/5 1/5 3/5")
	for _, want := range []string{"1", "1/2", "2"} {
		q := exact.WithTrace(pi, exact.Rat(want))
		if err := exact.CheckRows(q); err != nil || q.Trace().Cmp(exact.Rat(want)) != 0 {
			t.Errorf("trace %v, want %v (%v)", q.Trace(), want, err)
		}
		for k, v := range withTraceFloats(pi.Floats(), 3, exact.Float(exact.Rat(want))) {
			if math.Abs(v-q.Floats()[k]) > 1e-15 {
				t.Errorf("trace %s, entry %d: %v, want %v", want, k, v, q.Floats()[k])
			}
		}
	}
}

// The inequalities by which the printed gap is true for three and four
// states, see its proof among the errata.
func TestPrintedGapForFewStates(t *testing.T) {
	// least tells whether sum_t d_t^2/mu(t) >= x |d|^2 for all d of sum 0, with
	// x = 2/(1-(S-2)m') and m' = min(min mu, most).
	least := func(mu []float64, most float64) bool {
		x := 2 / (1 - float64(len(mu)-2)*min(slices.Min(mu), most))
		if slices.Max(mu)*x <= 1 {
			return true
		}
		sum := 0.0
		for _, m := range mu {
			sum += m / (1 - x*m)
		}
		return sum <= 1e-9
	}
	if mu := []float64{0.4, 0.3, 0.3}; least(mu, 1) {
		t.Errorf("the bound holds at %v without its cap on min mu", mu)
	}
	r := rand.New(rand.NewPCG(1, 4))
	for s := 3; s <= 4; s++ {
		n := float64(s)
		for range 5000 {
			x := make([]float64, s*s)
			for k := range x {
				x[k] = 2 * r.NormFloat64()
			}
			c := theory.MustChain(ledger.Kernel(x, s, 0.001), s)
			if !least(c.Mu, 1/(2*n-2)) {
				t.Fatalf("the bound on the quadratic form fails at mu = %v", c.Mu)
			}
			g := c.Gamma()
			if math.Pow(g, 3) > n*(n-1)*(1-g)*(1-g) {
				t.Fatalf("S = %d: gamma = %v is above its bound at %v", s, g, mat.Formatted(c.Pi))
			}
			gap, want := (1-c.Lambda())*c.FrobeniusSquared(), math.Pow(g, 3)/(2*n)
			if gap < want {
				t.Fatalf("S = %d: (1-lambda)|B|^2 = %v, below %v, at %v", s, gap, want, mat.Formatted(c.Pi))
			}
		}
	}
}

// The cover proves the best constant, and does not prove too much.
func TestThreeStatesCover(t *testing.T) {
	for times, want := range map[*big.Rat]ledger.Verdict{exact.Int(2): ledger.Holds, exact.Frac(5, 2): ledger.Open} {
		w := new(ledger.Worst)
		note := everyThreeStates(w, times)
		if got := w.Finding("").Verdict; got != want {
			t.Errorf("%v gamma^3/9: %s, want %s%s", times, got, want, note)
		}
	}
}

// The form of the spread, and the trace and the determinant in its coordinates,
// against those of chains.
func TestSpreadFormOverThreeStates(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 200 {
		x := make([]float64, 9)
		for k := range x {
			x[k] = r.NormFloat64()
		}
		c := theory.MustChain(ledger.Kernel(x, 3, 0.02), 3)
		mu, q := [3]exact.Range{}, c.Mu[0]+c.Mu[1]
		for s, m := range c.Mu {
			mu[s] = exact.At(m)
		}
		root := math.Sqrt
		f := [2][3]float64{
			{root(c.Mu[1] / q), -root(c.Mu[0] / q), 0},
			{root(c.Mu[0] * c.Mu[2] / q), root(c.Mu[1] * c.Mu[2] / q), -root(q)},
		}
		var v [4]float64 // C
		for i := range v {
			for s := range 3 {
				for k := range 3 {
					v[i] += f[i/2][s] * c.B().At(s, k) * f[i%2][k]
				}
			}
		}
		form, got, want, norm := spreadForm(mu), 0.0, 0.0, 0.0
		for i := range v {
			norm += v[i] * v[i]
			for j := range v {
				got += v[i] * v[j] * (form[i][j].Lo + form[i][j].Hi) / 2
			}
		}
		for k, p := range c.Pi.RawMatrix().Data {
			want += (p - c.Mu[k%3]) * (p - c.Mu[k%3])
		}
		// g for a = 2, b = 0, by Cayley and Hamilton
		square := (v[0] + v[3]) * (norm - (v[0]*v[3] - v[1]*v[2]))
		g := c.G(nearForest, 3, 0)
		if math.Abs(got-want) > 1e-12 || math.Abs(norm-c.FrobeniusSquared()) > 1e-12 || math.Abs(square-g) > 1e-12 {
			t.Fatalf("spread %v, norm %v, g %v, want %v, %v, %v", got, norm, square, want, c.FrobeniusSquared(), g)
		}
	}
}

// The form for three states at one measure and several C against its formula, its pivots by hand,
// and the measures that it admits.
func TestFormOfThreeStates(t *testing.T) {
	check := compare.With(t)
	mu := [3]float64{0.2, 0.3, 0.5}
	spread := spreadForm([3]exact.Range{exact.At(0.2), exact.At(0.3), exact.At(0.5)})
	const slope, root, r, s, scale = 0.3, 0.4, 1.7, 0.6, 1.3
	form := threeForm(spread, exact.At(slope), exact.At(root), exact.At(r), exact.At(s), exact.At(scale))
	two := mu[0] + mu[1]
	f := [2][3]float64{
		{math.Sqrt(mu[1] / two), -math.Sqrt(mu[0] / two), 0},
		{math.Sqrt(mu[0] * mu[2] / two), math.Sqrt(mu[1] * mu[2] / two), -math.Sqrt(two)},
	}
	for _, c := range [][4]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 2, -3, 5}, {2, 1, 4, -1}, {1, 1, 2, 3}} {
		sum, size := 0.0, c[0]*c[0]+c[1]*c[1]+c[2]*c[2]+c[3]*c[3]
		for i := range mu {
			for k := range mu {
				p := 0.0
				for ab := range c {
					p += c[ab] * f[ab/2][i] * f[ab%2][k]
				}
				sum += mu[k] / mu[i] * p * p
			}
		}
		trace, det := c[0]+c[3], c[0]*c[3]-c[1]*c[2]
		want := size - slope*sum - root/2*(scale*trace*trace+(1.25*size-2*det)/scale) - s*(sum-r*size)
		check("spread(C)", formAt(spread, c), sum)
		check("the form for three states", formAt(form, c), want)
	}
	for i := range form {
		for j := range form {
			check("the form is symmetric", form[i][j].Lo, form[j][i].Lo)
		}
	}
	check("a least pivot", pivotOf(ranges([4][4]float64{{2, 1, 0, 1}, {1, 3, 1, 0}, {0, 1, 4, 1}, {1, 0, 1, 5}})), 2)
	check("a least pivot", pivotOf(ranges([4][4]float64{{5, 1, 2, 1}, {1, 4, 1, 3}, {2, 1, 3, 1}, {1, 3, 1, 4}})), 69./40)
	check("a least pivot", pivotOf(ranges([4][4]float64{{1, 0, 0, 0}, {0, -3, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}})), -3)
	even := [3]exact.Range{exact.At(0.3), exact.At(0.3), exact.At(0.4)}
	for _, times := range []float64{1, 2, 9} {
		least := leastPivot(exact.At(0.6), even, exact.At(times)).Lo
		check("whether the form for three states is positive", unit(least > 0), unit(times < 5))
	}
	for _, at := range [][4]float64{
		{0.5, 0.2, 0.3, 0.5},
		{0.65, 0.2, 0.3, 0.5},
		{0.5, 0.3, 0.2, 0.5},
		{0.5, 0.2, 0.45, 0.35},
		{0.7, 0.3, 0.33, 0.37},
		{0.5, 0.17, 0.18, 0.65},
		{0.7, 0.2, 0.3, 0.5},
		{0.6, 0.3, 0.3, 0.4},
		{0.6, 0.33, 0.33, 0.34},
		{0.6, 0.22, 0.22, 0.56},
		{0.7, 0.24, 0.32, 0.44},
		{0.7, 0.26, 0.3, 0.44},
	} {
		gamma, mu := at[0], []float64{at[1], at[2], at[3]}
		room := (1 - gamma) * (1 - gamma)
		for _, m := range mu {
			room -= (m - gamma/3) * (m - gamma/3)
		}
		may := mayBe(exact.At(gamma), [3]exact.Range{exact.At(mu[0]), exact.At(mu[1]), exact.At(mu[2])})
		ordered := gamma/3 <= mu[0] && slices.IsSorted(mu)
		check("what a measure may be", unit(may), unit(ordered && room >= gamma*gamma*mu[0]/3))
	}
}

// formAt returns the value of a form, whose entries are known to rounding.
func formAt(form [4][4]exact.Range, c [4]float64) float64 {
	sum := 0.0
	for i := range form {
		for j := range form {
			sum += form[i][j].Lo * c[i] * c[j]
		}
	}
	return sum
}

func ranges(a [4][4]float64) (out [4][4]exact.Range) {
	for i, row := range a {
		for j, v := range row {
			out[i][j] = exact.At(v)
		}
	}
	return out
}

func TestGapsInFloatsEqualGapsInRationals(t *testing.T) {
	check := compare.With(t)
	pis := []exact.Matrix{exact.Rats("9/10 1/10; 2/5 3/5"), exact.Rats("1/5 4/5; 3/10 7/10")}
	bases := []*theory.Chain{theory.MustChain(pis[0].Floats(), 2), theory.MustChain(pis[1].Floats(), 2)}
	mean := func(of func(pi exact.Matrix) *big.Rat) float64 {
		return exact.Float(exact.Add(of(pis[0]), of(pis[1]))) / 2
	}
	norm := mean(exact.FrobeniusSquared)
	for _, place := range placesOfJ {
		most := math.Inf(-1)
		for _, at := range place.pairs {
			most = max(most, mean(func(pi exact.Matrix) *big.Rat { return enumeratedGradient(pi, place.graph, at[0], at[1]) }))
		}
		check("the least gap, "+place.name, gapCheck{places: []placeOfJ{place}}.least(bases), norm-most)
	}
	m, d := exact.Frac(1, 9), exact.Frac(1, 20)
	light := exact.LightState(4, m, d)
	got, entries, rows := lightNorm(4, exact.Float(m), exact.Float(d))
	check("|B|_F^2 with a light state", got, exact.Float(exact.FrobeniusSquared(light)))
	check("gamma^2 of the entries", entries*entries, exact.Float(exact.Pow(exact.FloorGamma(light), 2)))
	check("gamma^2 of the rows", rows*rows, exact.Float(ofSpread.square(light)))
	for _, pi := range []exact.Matrix{compare.Asymmetrics()[1].First, pullAway, exact.Rats("1/9 4/9 4/9; 1/2 1/4 1/4; 1/3 1/3 1/3")} {
		check.Each("a matrix of trace 1", withTraceFloats(pi.Floats(), 3, 1), exact.WithTrace(pi, exact.Int(1)).Floats())
		check("its trace", exact.Float(exact.WithTrace(pi, exact.Int(1)).Trace()), 1)
	}
}

// inBoth returns g_ij and the chi-squared information of s_i and s_j under their law.
func inBoth(c *theory.Chain, law []float64) (g, info float64) {
	g = -1
	for k, p := range law {
		to, from := c.Mu[k/c.S], c.Mu[k%c.S]
		g += c.Pi.At(k%c.S, k/c.S) / to * p
		info += (p - to*from) * (p - to*from) / (to * from)
	}
	return g, info
}

// twoNorms returns |B|_F^2 and alpha.
func twoNorms(c *theory.Chain) (norm, alpha float64) {
	norm = -1
	for a := range c.S {
		for b, p := range c.Pi.RawRowView(a) {
			norm += c.Mu[a] * p * p / c.Mu[b]
		}
		for other := range c.S {
			far := 0.0
			for b := range c.S {
				far += math.Abs(c.Pi.At(a, b)-c.Pi.At(other, b)) / 2
			}
			alpha = max(alpha, far)
		}
	}
	return norm, alpha
}

// The inequalities on g_ij and two informations, in floats and in rationals, against the laws of two
// positions.
func TestInequalitiesFromTheAncestor(t *testing.T) {
	check := compare.With(t)
	for _, u := range compare.Asymmetrics() {
		c := u.Chain()
		norm, alpha := twoNorms(c)
		for _, at := range ancestorPairs {
			i, j := at[0], at[1]
			k, toI, toJ := nearForest.Meet(i, j)
			g, info := inBoth(c, c.Joint(nearForest, i, j).RawMatrix().Data)
			_, up := inBoth(c, c.Joint(nearForest, k, i).RawMatrix().Data)
			var inFloats, want []float64
			for _, line := range printedLines.inFloats(c, i, j) {
				inFloats = append(inFloats, line[0], line[1])
			}
			for n, power := range []int{toJ, toI - 1, toI + toJ - 1} {
				if power > 0 {
					want = append(want, []float64{info, up, info}[n], math.Pow(alpha, float64(power))*[]float64{up, norm, norm}[n])
				}
			}
			gap := []float64{(1 - alpha) / 2 * norm, norm - g}
			check.Each("the lines from the ancestor", inFloats, slices.Concat([]float64{g, (norm + info) / 2}, want, gap))
			var inRationals []float64
			for _, line := range printedLines.inRationals(u.First, i, j) {
				inRationals = append(inRationals, exact.Float(line.lhs), exact.Float(line.rhs))
			}
			check.Each("the lines from the ancestor in rationals", inRationals, slices.Concat(
				[]float64{g, (norm + info) / 2, info, info, info, info},
				[]float64{info, math.Pow(alpha, float64(toJ)) * up, up, math.Pow(alpha, float64(toI-1)) * norm},
				[]float64{info, math.Pow(alpha, float64(toI+toJ-1)) * norm}, gap))
		}
	}
}

// Half of the gap of two chains in floats, against rationals.
func TestHalfOfTheGapByHand(t *testing.T) {
	pis := []exact.Matrix{exact.Rats("9/10 1/10; 2/5 3/5"), exact.Rats("1/5 4/5; 3/10 7/10")}
	bases := []*theory.Chain{theory.MustChain(pis[0].Floats(), 2), theory.MustChain(pis[1].Floats(), 2)}
	want := exact.Float(exact.Add(halfGap(pis[0]), halfGap(pis[1]))) / 2
	compare.With(t)("half of the gap", halfGapOf(bases), want)
}
