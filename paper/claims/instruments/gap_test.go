package instruments

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/paper/claims/compare"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

// The cover proves the best constant, and does not prove too much.
func TestThreeStatesCover(t *testing.T) {
	for times, want := range map[*big.Rat]ledger.Verdict{exact.Int(2): ledger.Tested, exact.Frac(5, 2): ledger.Open} {
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
		g := c.G(NearForest, 3, 0)
		if math.Abs(got-want) > 1e-12 || math.Abs(norm-c.FrobeniusSquared()) > 1e-12 || math.Abs(square-g) > 1e-12 {
			t.Fatalf("spread %v, norm %v, g %v, want %v, %v, %v", got, norm, square, want, c.FrobeniusSquared(), g)
		}
	}
}

// The form for three states at one measure and several C against its formula, and its pivots by hand.
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
	for _, c := range [][4]float64{
		{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 2, -3, 5}, {2, 1, 4, -1}, {1, 1, 2, 3},
	} {
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
		check("whether the form for three states is positive", Indicator(least > 0), Indicator(times < 5))
	}
}

// The measures that the form for three states admits, by their definition.
func TestMeasuresOfThreeStates(t *testing.T) {
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
		compare.With(t)("what a measure may be", Indicator(may), Indicator(ordered && room >= gamma*gamma*mu[0]/3))
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
	for _, place := range PlacesOfJ {
		most := math.Inf(-1)
		for _, at := range place.pairs {
			most = max(most, mean(func(pi exact.Matrix) *big.Rat { return EnumeratedGradient(pi, place.graph, at[0], at[1]) }))
		}
		check("the least gap, "+place.name, GapCheck{Places: []PlaceOfJ{place}}.least(bases), norm-most)
	}
	m, d := exact.Frac(1, 9), exact.Frac(1, 20)
	light := exact.LightState(4, m, d)
	got, entries, rows := lightNorm(4, exact.Float(m), exact.Float(d))
	check("|B|_F^2 with a light state", got, exact.Float(exact.FrobeniusSquared(light)))
	check("gamma^2 of the entries", entries*entries, exact.Float(exact.Pow(exact.FloorGamma(light), 2)))
	check("gamma^2 of the rows", rows*rows, exact.Float(RowBullet.Square(light)))
	uneven := exact.Rats("1/9 4/9 4/9; 1/2 1/4 1/4; 1/3 1/3 1/3")
	for _, pi := range []exact.Matrix{compare.Asymmetrics()[1].First, PullAway, uneven} {
		check.Each("a matrix of trace 1", withTraceFloats(pi.Floats(), 3, 1), exact.WithTrace(pi, exact.Int(1)).Floats())
		check("its trace", exact.Float(exact.WithTrace(pi, exact.Int(1)).Trace()), 1)
	}
}
