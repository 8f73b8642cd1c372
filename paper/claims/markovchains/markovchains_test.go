package markovchains

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/paper/claims/compare"
	"learncausal/paper/claims/instruments"
	"learncausal/paper/exact"
	"learncausal/paper/ledger"
	"learncausal/pkg/theory"
)

// The better bound of the notebook on Markov chains: lambda(pi)^2 is an
// eigenvalue of a reversible chain that contracts by alpha(pi) at least.
func TestSquareOfLambdaIsAtMostAlpha(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for s := 2; s <= 5; s++ {
		for k := range 300 {
			x := make([]float64, s*s)
			for i := range x {
				x[i] = r.NormFloat64() * float64(k) / 30
			}
			c := theory.MustChain(ledger.Kernel(x, s, 1e-3), s)
			if l, a := c.Lambda(), c.Alpha(); l*l > a*(1+1e-9) {
				t.Fatalf("lambda^2 = %v exceeds alpha = %v for %v", l*l, a, mat.Formatted(c.Pi))
			}
		}
	}
}

// Smaller constants do not save the printed bound on the norm: for three states
// it is off by a factor 3.6 even with gamma^2/(10 S).
func TestNormIsNotOfOrderGammaSquared(t *testing.T) {
	for _, smaller := range []string{`\gamma^2/(2S)`, `\gamma^2/(10S)`} {
		f := ledger.Check(normOfPriors).With(smaller).Finding(ledger.NewEnv(t.Context(), lemBoundG1, true))
		if f.Verdict != ledger.Refuted || f.Margin >= 0 {
			t.Errorf("with %s the check found it %s, margin %v", smaller, f.Verdict, f.Margin)
		}
	}
}

// Divergences of hockey sticks, a next law, and the row distances of three states, 2/5, 17/42 and
// 16/35.
func TestContractionsByHand(t *testing.T) {
	check := compare.With(t)
	x, y := exact.Rats("1/2 1/2")[0], exact.Rats("1/10 9/10")[0]
	for t, want := range map[string]float64{"1": 0.4, "2": 0.3, "2/3": 0.1, "1/4": 0} {
		check("the divergence of a hockey stick", exact.Float(hockeyStick(x, y, exact.Rat(t))), want)
	}
	check.Each("the next law", nextLaw([]float64{0.25, 0.75}, []float64{0.8, 0.2, 0.3, 0.7}), []float64{0.425, 0.575})
	u := compare.Asymmetrics()[1]
	for _, of := range []struct {
		distance rowDistance
		want     float64
	}{{alphaOfRows, 16. / 35}, {closestRows, 2. / 5}} {
		check("a distance of rows", of.distance.float(u.Chain()), of.want)
		check("a distance of rows", exact.Float(of.distance.rat(u.First)), of.want)
	}
	for _, u := range compare.Asymmetrics() {
		for _, g := range []instruments.Bullets{instruments.BothBullets, instruments.EntryBullet, instruments.RowBullet} {
			check("gamma^2", math.Pow(g.Float(u.Chain()), 2), exact.Float(g.Square(u.First)))
		}
	}
}
