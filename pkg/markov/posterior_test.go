package markov

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/property"
)

// Row s of next is the stationary measure of the matrix with e at entry (q, s).
func TestNextIsStationaryOfEachContinuation(t *testing.T) {
	src := rand.NewPCG(1, 1)
	for _, s := range []int{2, 3, 10, 16, 17} {
		d, err := NewDirichlet(s, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		a, mu, want, logs := make([]float64, s*s), make([]float64, s*s), make([]float64, s), make([]float64, s*s)
		for q := range s {
			for i := range a {
				_, x := d.zig().Draw(src)
				a[i] = plusExponential(x, i%3, src)
				logs[i] = math.Log(a[i])
			}
			e := 0.7
			for name, f := range map[string]func(){
				"next":    func() { next(mu, a, q, e) },
				"nextLog": func() { nextLog(mu, logs, q, math.Log(e)) },
			} {
				clear(mu)
				f()
				for k := range s {
					a[q*s+k] += e
					if err := Stationary(want, a); err != nil {
						t.Fatal(err)
					}
					a[q*s+k] -= e
					for i, w := range want {
						if r := math.Abs(mu[k*s+i]/w - 1); !(r < 1e-11) {
							t.Errorf("S=%d, q=%d: %s(%d, %d) = %v, want %v", s, q, name, k, i, mu[k*s+i], w)
						}
					}
				}
			}
		}
	}
}

func TestGammaWithCountsHasItsLaw(t *testing.T) {
	src := rand.NewPCG(2, 2)
	for _, alpha := range []float64{0.1, 0.5, 0.7, 3} {
		d, err := NewDirichlet(2, alpha)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 16, 40} {
			x := make([]float64, 10000)
			for i := range x {
				_, x[i] = d.zig().Draw(src)
				x[i] = plusExponential(x[i], n, src)
			}
			law := distuv.Gamma{Alpha: alpha + float64(n), Beta: 1}
			if k := property.Kolmogorov(x, law.CDF); k > property.KSBound {
				t.Errorf("alpha %v, count %d: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, n, k, property.KSBound)
			}
		}
	}
}

// With many counts a draw is near the stationary measure of their frequencies.
func TestDrawNextFollowsTheCounts(t *testing.T) {
	src := rand.NewPCG(3, 3)
	for _, alpha := range []float64{0.01, 0.1, 2} {
		d, err := NewDirichlet(3, alpha)
		if err != nil {
			t.Fatal(err)
		}
		counts := []int{40000, 20000, 40000, 10000, 80000, 10000, 60000, 20000, 20000}
		pi := make([]float64, 9)
		for i, n := range counts {
			pi[i] = float64(n)
		}
		want, mu := make([]float64, 3), make([]float64, 9)
		if err := Stationary(want, pi); err != nil {
			t.Fatal(err)
		}
		d.DrawNext(mu, counts, 1, src)
		for i, m := range mu {
			// The standard deviation is near 0.002.
			if math.Abs(m-want[i%3]) > 0.02 {
				t.Errorf("alpha %v: stationary measure %v, want near %v", alpha, mu, want)
			}
		}
	}
}

// At a small alpha one count determines a row: 0 -> 1 and 1 -> 0
// once each, and the chain alternates. Of 400 draws fewer than 350 do with probability
// below 1e-20, and about half would without the counts.
func TestDrawNextFollowsOneCount(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01} {
		d, err := NewDirichlet(2, alpha)
		if err != nil {
			t.Fatal(err)
		}
		src, mu := rand.NewPCG(4, 4), make([]float64, 4)
		alternating := 0
		for range 400 {
			d.DrawNext(mu, []int{0, 1, 1, 0}, 0, src)
			if math.Abs(mu[2]-0.5) < 0.05 { // the continuation 0 -> 1
				alternating++
			}
		}
		if alternating < 350 {
			t.Errorf("alpha %v: %d of 400 chains alternate", alpha, alternating)
		}
	}
}
