package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"learncausal/paper/exact"
	"learncausal/pkg/num"
	"learncausal/pkg/theory"
)

// With one entry above the others, h = (1, 0, ..., 0), the time to attention p
// is known: dS/dt = S^2 (1-S)^2 n/(n-1) for n positions.
func TestRowFlowOfOneLeader(t *testing.T) {
	const n, p = 50, 0.9
	h := make([]float64, n)
	h[0] = 1
	// The antiderivative of 1/(S^2 (1-S)^2) is 2 log(S/(1-S)) - 1/S + 1/(1-S).
	f := func(s float64) float64 { return 2*num.Log(s/(1-s)) - 1/s + 1/(1-s) }
	want := (f(p) - f(1.0/n)) * (n - 1) / n
	got, _ := theory.RowFlow(h, math.Inf(1), func(_ float64, s []float64) bool { return s[0] >= p })
	if math.Abs(got/want-1) > 0.05 {
		t.Errorf("time %v, want %v", got, want)
	}
}

// The weight of mu in the mixture, also where e^beta is large.
func TestWeightOfMuIsEnclosed(t *testing.T) {
	point := exact.Point
	for _, at := range [][3]string{
		{"2/3", "1/4", "1/2"},
		{"1/3", "9/10", "3"},
		{"1/3", "1/4", "600"},
		{"2/3", "9/10", "600"},
	} {
		mu, r, beta := exact.Rat(at[0]), exact.Rat(at[1]), exact.Rat(at[2])
		one := exact.Frac(1, 1)
		keep := exact.Sub(one, r)
		rest := point(keep).Add(point(r).Mul(point(exact.Mul(beta, mu)).Exp()))
		weight := rest.Quo(rest.Add(point(exact.Mul(keep, mu)).Mul(point(beta).Exp().Sub(point(one)))))
		got := theory.MixtureWeight(exact.Float(mu), exact.Float(r), exact.Float(beta))
		if math.Abs(got/weight.Float()-1) > 1e-12 {
			t.Errorf("the weight of mu is %v, want %v", got, weight)
		}
	}
}

// No step of RowFlow moves an entry of A, and so a log-ratio of attentions, by more than
// 1/20 on each side, also where the gradient is large.
func TestRowFlowTakesSmallSteps(t *testing.T) {
	ratio := 0.0
	theory.RowFlow([]float64{100, 0, -100}, 0.05, func(_ float64, s []float64) bool {
		now := num.Log(s[0] / s[2])
		if moved := now - ratio; !(moved > 0 && moved <= 0.1+1e-12) {
			t.Errorf("a step moves the log-ratio by %v, want at most 1/10", moved)
		}
		ratio = now
		return false
	})
	if ratio == 0 {
		t.Error("RowFlow takes no step")
	}
}

// The excess is the mean, over the query, of a divergence.
func TestExcessInTheLimitByDefinition(t *testing.T) {
	const r, eps, beta = 0.25, 0.1, 2.0
	c := theory.MustChain([]float64{0.5, 0.25, 0.25, 0.25, 0.5, 0.25, 0.125, 0.125, 0.75}, 3)
	want := 0.0
	for s := range c.S {
		w := theory.MixtureWeight(c.Mu[s], r, beta)
		p, f := c.Pi.RawRowView(s), make([]float64, c.S)
		for a := range f {
			f[a] = ((1-w)*p[a] + w*c.Mu[a] + eps) / (1 + float64(c.S)*eps)
		}
		want += stat.KullbackLeibler(p, f) / float64(c.S)
	}
	if got := c.ExcessInTheLimit(r, eps, beta); math.Abs(got-want) > 1e-14 {
		t.Errorf("excess %v, want %v", got, want)
	}
}

func TestPredictionByHand(t *testing.T) {
	z := []float64{1, 0, 0.5} // weights 1, e^-2, e^-1
	got := theory.Prediction([]int{0, 1, 1}, 3, 2, func(i int) float64 { return z[i] })
	total := 1 + math.Exp(-2) + math.Exp(-1)
	want := []float64{1 / total, (math.Exp(-2) + math.Exp(-1)) / total, 0}
	if !floats.EqualApprox(got, want, 1e-14) {
		t.Errorf("prediction %v, want %v", got, want)
	}
}
