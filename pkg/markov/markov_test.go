package markov

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestZigguratMoments(t *testing.T) {
	src := rand.NewPCG(1, 1)
	for _, alpha := range []float64{0.1, 0.125, 0.25, 0.5, 1, 0.7, 3.3, 0.05} {
		d, err := NewDirichlet(2, alpha)
		if err != nil {
			t.Fatal(err)
		}
		draw := func() float64 { return math.Exp(logGamma(alpha, src)) }
		if d.zig != nil {
			draw = func() float64 { return d.zig.gamma(src) }
		}
		// Kolmogorov-Smirnov at false-alarm probability 1e-6: sqrt(n) D < 2.69.
		const n = 200000
		x := make([]float64, n)
		for i := range x {
			x[i] = draw()
		}
		slices.Sort(x)
		g := distuv.Gamma{Alpha: alpha, Beta: 1}
		dist := 0.0
		for i, v := range x {
			c := g.CDF(v)
			dist = max(dist, math.Abs(c-float64(i)/n), math.Abs(c-float64(i+1)/n))
		}
		if k := dist * math.Sqrt(n); k > 2.69 {
			t.Errorf("alpha %v: Kolmogorov-Smirnov statistic %.2f, want below 2.69", alpha, k)
		}
	}
}
