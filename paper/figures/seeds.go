package figures

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/num"
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

// span formats the range.
func span(s Sample, digits int) string {
	if s.N == 1 {
		return number("%.*f", digits, s.Mean)
	}
	return number("%.*f", digits, s.Least) + " to " + number("%.*f", digits, s.Most)
}

// number formats a number with a minus sign in place of a hyphen. The format is %.*f, or %+.*f with a sign.
func number(format string, digits int, v float64) string {
	return strings.ReplaceAll(fmt.Sprintf(format, digits, v), "-", "−")
}

// rangeOverSeeds formats the range with the number of seeds, for a Row.
func rangeOverSeeds(s Sample, digits int) string {
	if s.N == 1 {
		return "one run"
	}
	return fmt.Sprintf("%s over %d seeds", span(s, digits), s.N)
}

// BinomialInterval returns the Clopper-Pearson interval of 95 % confidence for
// the probability of k successes among n.
func BinomialInterval(k, n int) *[2]float64 {
	bound := binomialInterval(k, n, 0.95)
	return &bound
}

func binomialInterval(k, n int, confidence float64) [2]float64 {
	bound, tail := [2]float64{0, 1}, (1-confidence)/2
	if k > 0 {
		bound[0] = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		bound[1] = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return bound
}

// shareOfRuns formats the interval that decides [overRuns].
func shareOfRuns(k, n int) string {
	b := binomialInterval(k, n, confident)
	return fmt.Sprintf("%.2f to %.2f (%.4g %%)", b[0], b[1], 100*confident)
}

// againstPlot compares a value of the authors' plots with the seeds.
func againstPlot(plotted float64, ours Sample) string {
	p := ours.PValue(plotted)
	v := fmt.Sprintf("%s: p = %.1g", oneOfOurs, p)
	if p < 1-confident {
		v = differs("their run is %s ± %.3f from our mean (p = %.1g)",
			number("%+.*f", 3, plotted-ours.Mean), ours.StdDev*math.Sqrt(1+1/float64(ours.N)), p)
	}
	switch {
	case plotted < ours.Least:
		v += ", below all of them"
	case plotted > ours.Most:
		v += ", above all of them"
	}
	return v
}

// overSeeds returns the Interval of a quantity with one value for each seed.
func overSeeds(v []float64, digits int) string {
	return rangeOverSeeds(NewSample(v), digits)
}

// confidence returns the Interval of an estimate on many sequences, 95 % of a normal distribution.
func confidence(e num.Estimate, digits int) string {
	half := distuv.UnitNormal.Quantile(0.975) * e.StdErr
	return fmt.Sprintf("%.*f to %.*f (95 %%)", digits, e.Mean-half, digits, e.Mean+half)
}
