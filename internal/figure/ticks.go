package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// about is a plot.Ticker with about n ticks, at multiples of 1, 2 or 5 times a power of ten.
func about(n int) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick { return labelled(niceTicks(lo, hi, n)) })
}

func labelled(values []float64) (ticks []plot.Tick) {
	for i, l := range distinct(values, 4, tickLabel) {
		ticks = append(ticks, plot.Tick{Value: values[i], Label: l})
	}
	return ticks
}

// distinct writes increasing values to the given number of digits, or to the least larger
// number at which no two neighbours have one label.
func distinct(values []float64, digits int, write func(v float64, digits int) string) []string {
	labels := make([]string, len(values))
	for i, v := range values {
		labels[i] = write(v, digits)
		if i > 0 && labels[i] == labels[i-1] && digits < 17 {
			return distinct(values, digits+1, write)
		}
	}
	return labels
}

// decades is a plot.Ticker for logarithmic axes, with the ticks of logTicks.
var decades = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
	major, minor := logTicks(lo, hi)
	labels := powerLabels(major)
	var ticks []plot.Tick
	for i, v := range major {
		ticks = append(ticks, plot.Tick{Value: v, Label: labels[i]})
	}
	for _, v := range minor {
		ticks = append(ticks, plot.Tick{Value: v})
	}
	return ticks
})

// niceTicks returns about n multiples of 1, 2 or 5 times a power of ten in [lo, hi].
func niceTicks(lo, hi float64, n int) []float64 {
	raw := (hi - lo) / float64(n)
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * p
	for _, s := range []float64{1, 2, 5} {
		if s*p >= raw*0.999 {
			step = s * p
			break
		}
	}
	return multiples(lo, hi, step)
}

// spread removes labels of a horizontal axis of a length that would overlap the one before.
func spread(a *plot.Axis, length vg.Length) {
	marker, sty := a.Tick.Marker, a.Tick.Label
	if sty.Rotation != 0 {
		return
	}
	at := func(lo, hi float64) []plot.Tick {
		ticks, last, before := slices.Clone(marker.Ticks(lo, hi)), math.Inf(-1), vg.Length(0)
		for i, t := range ticks {
			x, w := a.Scale.Normalize(lo, hi, t.Value)*float64(length), vg.Length(TextWidth(t.Label, float64(sty.Font.Size)))
			if t.Label == "" || math.Abs(x-last) < float64(w+before)/2+3 {
				ticks[i].Label = ""
				continue
			}
			last, before = x, w
		}
		return ticks
	}
	a.Tick.Marker = plot.TickerFunc(at)
}

// mostTicks is the largest number of ticks on an axis.
const mostTicks = 1000

// multiples returns the multiples of a step in [lo, hi]. It returns none if they are more than
// mostTicks, or if the range is flat.
func multiples(lo, hi, step float64) (t []float64) {
	eps := 1e-9 * (hi - lo)
	first := math.Ceil((lo - eps) / step)
	n := math.Floor((hi+eps)/step) - first + 1
	if !(n >= 1 && n <= mostTicks) || flat(lo, hi) {
		return nil
	}
	for k := range int(n) {
		v := (first + float64(k)) * step
		if r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64); err == nil {
			v = r // 3 * 0.1 becomes 0.3
		}
		if v > 0 || lo <= 0 { // a logarithmic axis has no zero
			t = append(t, v+0) // no negative zero
		}
	}
	return t
}

// logTicks returns the powers of ten in [lo, hi] as major ticks and their multiples as minor
// ones. If that gives fewer than three major ticks, 1, 2 and 5 times powers of ten are major, or 1 and 3
// times if these are more than seven, then also 3 and 7 times, then the values of niceTicks. Of more than
// seven powers of ten every second one is kept. A range that is not positive and finite has none.
func logTicks(lo, hi float64) (major, minor []float64) {
	const eps = 1e-9
	if !(0 < lo && lo <= hi && hi <= math.MaxFloat64) {
		return nil, nil
	}
	a, b := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	digits := 9
	if b-a > 8 { // more than seven powers of ten
		digits = 1
	}
	for _, want := range []string{"1", "125", "13", "12357"} {
		major, minor = nil, nil
		for k := a; k <= b; k++ {
			for d := 1; d <= digits; d++ {
				v, _ := strconv.ParseFloat(strconv.Itoa(d)+"e"+strconv.Itoa(k), 64)
				switch {
				case v < lo*(1-eps) || v > hi*(1+eps) || v > math.MaxFloat64:
				case strings.Contains(want, strconv.Itoa(d)):
					major = append(major, v)
				default:
					minor = append(minor, v)
				}
			}
		}
		if len(major) >= 3 && (want == "1" || len(major) <= 7) {
			break
		}
	}
	if len(major) < 3 { // the range is short
		major = niceTicks(lo, hi, 5)
		minor = slices.DeleteFunc(minor, func(v float64) bool { return slices.Contains(major, v) })
	}
	for len(major) > 7 {
		for i := range (len(major) + 1) / 2 {
			major[i] = major[2*i]
		}
		major, minor = major[:(len(major)+1)/2], nil
	}
	return major, minor
}

// tickLabel writes v in full, or to a number of digits if it is longer than seven characters.
func tickLabel(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if len(s) > 7 {
		s = strconv.FormatFloat(v, 'g', digits, 64)
	}
	return power(s)
}

// powerLabels writes numbers as powers of ten if all are, and one has more than four digits.
func powerLabels(ticks []float64) []string {
	powers, long := true, false
	var power []string
	for _, v := range ticks {
		e := int(math.Round(math.Log10(v)))
		powers = powers && math.Abs(v/math.Pow(10, float64(e))-1) < 1e-9
		long = long || e > 3 || e < -3
		power = append(power, fmt.Sprintf("$10^{%d}$", e))
	}
	if powers && long {
		return power
	}
	return distinct(ticks, 4, tickLabel)
}

// power returns the label of a number, with a power of ten for 2e-05.
func power(s string) string {
	m, exponent, ok := strings.Cut(s, "e")
	if e, err := strconv.Atoi(exponent); ok && err == nil {
		return fmt.Sprintf(`$%s\cdot 10^{%d}$`, m, e)
	}
	return s
}
