package markov

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// ksBound is exceeded by sqrt(n) D with probability 2 exp(-2 x^2) = 1e-6.
const ksBound = 2.69

// kolmogorov returns sqrt(n) times the Kolmogorov-Smirnov distance of x, which
// it sorts, from the law with distribution function cdf. A float64 stands for
// all numbers that round to it: 0 and 1 for much of a Beta law with small alpha.
func kolmogorov(x []float64, cdf func(float64) float64) float64 {
	slices.Sort(x)
	n, dist := float64(len(x)), 0.0
	for i, v := range x {
		if i == len(x)-1 || x[i+1] > v {
			dist = max(dist, float64(i+1)/n-cdf(math.Nextafter(v, math.Inf(1))))
		}
		if i == 0 || x[i-1] < v {
			dist = max(dist, cdf(math.Nextafter(v, math.Inf(-1)))-float64(i)/n)
		}
	}
	return dist * math.Sqrt(n)
}

func TestGammaHasItsLaw(t *testing.T) {
	src := rand.NewPCG(1, 1)
	for _, alpha := range []float64{0.1, 0.125, 0.25, 0.5, 1, 0.7, 1.001, 3.3, 40, 0.05} {
		d, err := NewDirichlet(2, alpha)
		if err != nil {
			t.Fatal(err)
		}
		direct := func() float64 { return d.gamma(0, src) }
		logarithmic := func() float64 { return math.Exp(logGamma(alpha, src)) }
		for k, draw := range []func() float64{direct, logarithmic} {
			name := []string{"direct", "by logarithms"}[k]
			x := make([]float64, 40000)
			for i := range x {
				x[i] = draw()
			}
			if k := kolmogorov(x, distuv.Gamma{Alpha: alpha, Beta: 1}.CDF); k > ksBound {
				t.Errorf("alpha %v, %s: Kolmogorov-Smirnov statistic %.2f, want below %v", alpha, name, k, ksBound)
			}
			if kolmogorov(x, distuv.Gamma{Alpha: 1.06 * alpha, Beta: 1}.CDF) < ksBound {
				t.Errorf("alpha %v, %s: a shape larger by 6%% is accepted", alpha, name)
			}
		}
	}
}
