package figure

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// about is a plot.Ticker with about so many ticks, at multiples of 1, 2 or 5 times a
// power of ten.
func about(n int) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick { return labelled(niceTicks(lo, hi, n)) })
}

// multiplesOf is a plot.Ticker with ticks at the multiples of a distance.
func multiplesOf(step float64) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick { return labelled(within(lo, hi, step)) })
}

func labelled(values []float64) (ticks []plot.Tick) {
	for _, v := range values {
		ticks = append(ticks, plot.Tick{Value: v, Label: tickLabel(v).Text})
	}
	return ticks
}

// powersOfTen is a plot.Ticker for logarithmic axes, with ticks at the powers of ten and
// minor ticks at their multiples. If fewer than two powers are in the range, some of
// the multiples have labels.
var powersOfTen = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
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

// niceTicks returns the multiples of 1, 2 or 5 times a power of ten in
// [lo, hi], about n of them.
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
	return within(lo, hi, step)
}

// within returns the multiples of a step in [lo, hi].
func within(lo, hi, step float64) []float64 {
	var t []float64
	eps := 1e-9 * (hi - lo)
	for k := math.Ceil((lo - eps) / step); k*step <= hi+eps; k++ {
		v := k * step
		if r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64); err == nil {
			v = r // 3 * 0.1 becomes 0.3
		}
		t = append(t, v+0) // no negative zero
	}
	return t
}

// logTicks returns the powers of ten in [lo, hi] as major ticks and their
// multiples as minor ones. If that gives fewer than two major ticks, 1, 2 and
// 5 times powers of ten are major, then also 3 and 7 times. If it gives more than
// seven, every second one is kept.
func logTicks(lo, hi float64) (major, minor []float64) {
	const eps = 1e-9
	a, b := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	for _, want := range []string{"1", "125", "12357"} {
		major, minor = nil, nil
		for k := a; k <= b; k++ {
			for d := 1; d <= 9; d++ {
				v, _ := strconv.ParseFloat(strconv.Itoa(d)+"e"+strconv.Itoa(k), 64)
				switch {
				case v < lo*(1-eps) || v > hi*(1+eps):
				case strings.Contains(want, strconv.Itoa(d)):
					major = append(major, v)
				default:
					minor = append(minor, v)
				}
			}
		}
		if len(major) >= 2 {
			break
		}
	}
	for len(major) > 7 {
		for i := range (len(major) + 1) / 2 {
			major[i] = major[2*i]
		}
		major, minor = major[:(len(major)+1)/2], nil
	}
	return major, minor
}

// tickLabel writes v in full, or to four digits if it is longer than seven characters.
func tickLabel(v float64) Label {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if len(s) > 7 {
		s = strconv.FormatFloat(v, 'g', 4, 64)
	}
	return signedLabel(s)
}

// powerLabels writes numbers as powers of ten if they are all powers and one of
// them has more than four digits.
func powerLabels(ticks []float64) []string {
	powers, long := true, false
	var full, power []string
	for _, v := range ticks {
		e := int(math.Round(math.Log10(v)))
		powers = powers && math.Abs(v/math.Pow(10, float64(e))-1) < 1e-9
		long = long || e > 3 || e < -3
		full, power = append(full, tickLabel(v).Text), append(power, "10"+Superscript(e))
	}
	if powers && long {
		return power
	}
	return full
}

// mathematics returns the LaTeX of a tick's label.
func mathematics(label string) string {
	tex := ""
	for _, r := range runs(label) {
		if r.level > 0 {
			r.text = "^{" + r.text + "}"
		}
		tex += r.text
	}
	return "$" + strings.ReplaceAll(tex, "−", "-") + "$"
}

// signedLabel returns the label of a decimal number, with a true minus sign.
func signedLabel(s string) Label {
	return Label{strings.ReplaceAll(s, "-", "−"), "$" + s + "$"}
}
