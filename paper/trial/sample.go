package trial

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Sample summarises a quantity over the seeds.
type Sample struct {
	N           int
	Mean        float64
	StdDev      float64 // of one run, 0 for N = 1
	Least, Most float64
}

// NewSample summarises the values of the seeds.
func NewSample(v []float64) Sample {
	s := Sample{N: len(v), Mean: v[0], Least: floats.Min(v), Most: floats.Max(v)}
	if s.N > 1 {
		s.Mean, s.StdDev = stat.MeanStdDev(v, nil)
	}
	return s
}

// StdErr returns the standard error of the mean.
func (s Sample) StdErr() float64 { return s.StdDev / math.Sqrt(float64(s.N)) }

// PValue returns the two-sided p-value of v as the value of one more run,
// Student's t with N-1 degrees of freedom, and 1 for N = 1:
//
//	t = (v - Mean) / (StdDev sqrt(1 + 1/N))
func (s Sample) PValue(v float64) float64 {
	if s.N == 1 {
		return 1
	}
	t := math.Abs(v-s.Mean) / (s.StdDev * math.Sqrt(1+1/float64(s.N)))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}.Survival(t)
}

// BinomialInterval returns the Clopper-Pearson interval of 95 % confidence for
// the probability of k successes among n.
func BinomialInterval(k, n int) *[2]float64 {
	bound := ClopperPearson(k, n, 0.95)
	return &bound
}

// ClopperPearson is BinomialInterval with another confidence.
func ClopperPearson(k, n int, confidence float64) [2]float64 {
	bound, tail := [2]float64{0, 1}, (1-confidence)/2
	if k > 0 {
		bound[0] = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		bound[1] = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return bound
}
