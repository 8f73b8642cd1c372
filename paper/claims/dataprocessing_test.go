package claims

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

func TestLightStateInClosedForm(t *testing.T) {
	for s := 3; s <= 6; s++ {
		m, d := exact.Frac(1, 20), exact.Frac(3, 40)
		pi := lightState(s, m, d)
		if pi.Trace().Cmp(exact.Frac(1, 1)) != 0 {
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
		q := withTrace(pi, exact.Rat(want))
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
				t.Fatalf("S = %d: gamma = %v is above its bound at %v", s, g, c.Pi)
			}
			gap, want := (1-c.Lambda())*c.FrobeniusSquared(), math.Pow(g, 3)/(2*n)
			if gap < want {
				t.Fatalf("S = %d: (1-lambda)|B|^2 = %v, below %v, at %v", s, gap, want, c.Pi)
			}
		}
	}
}

// The cover proves the best constant, and does not prove too much.
func TestThreeStatesCover(t *testing.T) {
	for times, want := range map[*big.Rat]ledger.Verdict{exact.Frac(2, 1): ledger.Holds, exact.Frac(5, 2): ledger.Open} {
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
		for k, p := range c.Pi {
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
