package ledger

import (
	"fmt"
	"math"
	"slices"

	"learncausal/pkg/theory"
)

// A Trend is a claimed bound y <~ x^Claimed with the values seen. Where the bound
// has a factor that is no power of x, such as a logarithm, y is what is left
// after dividing by it.
type Trend struct {
	X, Y    []float64
	Claimed float64
	// Rival is the next plausible exponent below Claimed that is wrong. If the
	// data do not refute y <~ x^Rival, they could not have refuted a claim that
	// is false by as much, and the finding is Open.
	Rival float64
}

// leastSpread is the least range of ln y, or of ln x, on which a rate is fitted.
const leastSpread = 0.1

// Add takes a value.
func (d *Trend) Add(x, y float64) { d.X, d.Y = append(d.X, x), append(d.Y, y) }

// Exponent returns that of the power law through the values, with the half-width
// of its 95 % interval ([theory.FitPowerLaw]).
func (d Trend) Exponent() (exponent, half float64) {
	law := theory.FitPowerLaw(d.X, d.Y)
	return law.Exponent, law.Half
}

// Finding is Inconsistent if the whole interval of the exponent lies above
// Claimed; Consistent if the whole interval lies above Rival, and not above
// Claimed; else Open. Data that hardly vary are refused (Open), unless it is
// claimed that they do not grow. The margin is what the interval leaves to
// Claimed.
func (d Trend) Finding() Finding {
	if !(d.Rival < d.Claimed) {
		const want = "ledger: a trend with the rival exponent %v, want one below the claimed %v"
		panic(fmt.Sprintf(want, d.Rival, d.Claimed))
	}
	exponent, half := d.Exponent()
	f := Finding{
		Tier: ConsistentWith, Verdict: Consistent, LHS: exponent, RHS: d.Claimed,
		Margin: d.Claimed - (exponent - half), Instances: len(d.X),
		Note: fmt.Sprintf("Fitted exponent %.3f with 95 %% interval half-width %.3f, "+
			"claimed at most %.3g; %.3g is refuted.",
			exponent, half, d.Claimed, d.Rival),
	}
	switch {
	case !(f.Margin >= 0): // NaN too
		f.Verdict = Inconsistent
	case spread(d.X) < leastSpread || d.Claimed != 0 && spread(d.Y) < leastSpread:
		f.Verdict, f.Note = Open, "The data hardly vary: no rate can be read from them."
	case exponent-half <= d.Rival:
		f.Verdict = Open
		f.Note = fmt.Sprintf("Fitted exponent %.3f with 95 %% interval half-width %.3f: "+
			"the data tell the claimed %.3g not from %.3g.",
			exponent, half, d.Claimed, d.Rival)
	}
	return f
}

// spread returns the range of the logarithms of positive numbers.
func spread(x []float64) float64 { return math.Log(slices.Max(x) / slices.Min(x)) }
