package figures

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/paper/trial"
	"learncausal/pkg/num"
)

// span formats the range.
func span(s trial.Sample, digits int) string {
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
func rangeOverSeeds(s trial.Sample, digits int) string {
	if s.N == 1 {
		return "one run"
	}
	return fmt.Sprintf("%s over %d seeds", span(s, digits), s.N)
}

// shareOfRuns formats the interval that decides [overRuns].
func shareOfRuns(k, n int) string {
	b := trial.ClopperPearson(k, n, confident)
	return fmt.Sprintf("%.2f to %.2f (%.4g %%)", b[0], b[1], 100*confident)
}

// againstPlot compares a value of the authors' plots with the seeds.
func againstPlot(plotted float64, ours trial.Sample) string {
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
	return rangeOverSeeds(trial.NewSample(v), digits)
}

// confidence returns the Interval of an estimate on many sequences, 95 % of a normal distribution.
func confidence(e num.Estimate, digits int) string {
	half := distuv.UnitNormal.Quantile(0.975) * e.StdErr
	return fmt.Sprintf("%.*f to %.*f (95 %%)", digits, e.Mean-half, digits, e.Mean+half)
}
