package property

import (
	"math"
	"slices"
)

// KSBound is exceeded by sqrt(n) D with probability 2 exp(-2 x^2) = 1e-6.
const KSBound = 2.69

// Kolmogorov returns sqrt(n) times the Kolmogorov-Smirnov distance of x, which
// it sorts, from the law with distribution function cdf. A float64 stands for
// all numbers that round to it: 0 and 1 for much of a Beta law with small alpha.
func Kolmogorov(x []float64, cdf func(float64) float64) float64 {
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
