package claims

import (
	"math"
	"testing"
)

// At beta = 0 the norm of the gradient is 2 kappa (1-m) for the weight m of the
// tokens s', and for all beta it is that of the differences of q.
func TestScoreGradientIsThatOfTheQuotient(t *testing.T) {
	g := tokenGroups{0, 0.01, []float64{0.1, 0.2, 0.3, 0.4}, []float64{1, 0.25, 0.75, 0}, []bool{true, true, false, false}}
	if got, want := g.scoreGradient(), 2*(0.3/0.31)*0.7; math.Abs(got-want) > 1e-14 {
		t.Errorf("norm %v at beta = 0, want %v", got, want)
	}
	g.beta = 8
	a := make([]float64, len(g.weights)) // weight of a group but for exp(beta z)
	for k, p := range g.weights {
		a[k] = p * math.Exp(-g.beta*g.scores[k])
	}
	quotient := func(z []float64) float64 {
		total, hits, mean, hitMean := 0.0, 0.0, 0.0, 0.0
		for k := range z {
			w := a[k] * math.Exp(g.beta*z[k])
			total, mean = total+w, mean+w*z[k]
			if g.hit[k] {
				hits, hitMean = hits+w, hitMean+w*z[k]
			}
		}
		m := hits / total
		return (hitMean/total - m*mean/total) / (m + g.epsilon)
	}
	want := 0.0
	for k := range g.scores {
		up, down := append([]float64(nil), g.scores...), append([]float64(nil), g.scores...)
		up[k] += 1e-5
		down[k] -= 1e-5
		want += math.Abs(quotient(up)-quotient(down)) / 2e-5
	}
	if got := g.scoreGradient(); math.Abs(got-want) > 1e-6*want {
		t.Errorf("norm %v at beta = 8, want %v by differences", got, want)
	}
}
