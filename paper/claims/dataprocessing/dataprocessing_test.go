package dataprocessing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

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
		for _, at := range instruments.AncestorPairs {
			i, j := at[0], at[1]
			k, toI, toJ := instruments.NearForest.Meet(i, j)
			g, info := inBoth(c, c.Joint(instruments.NearForest, i, j).RawMatrix().Data)
			_, up := inBoth(c, c.Joint(instruments.NearForest, k, i).RawMatrix().Data)
			printed := ancestorLines{means: exact.Frac(1, 2), gap: ledger.MustBound(`\frac{1-\alpha}2`)}
			var inFloats, want []float64
			for _, line := range printed.inFloats(c, i, j) {
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
			for _, line := range printed.inRationals(u.First, i, j) {
				inRationals = append(inRationals, exact.Float(line.LHS), exact.Float(line.RHS))
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
	want := exact.Float(exact.Add(instruments.HalfGap(pis[0]), instruments.HalfGap(pis[1]))) / 2
	compare.With(t)("half of the gap", halfGapOf(bases), want)
}
