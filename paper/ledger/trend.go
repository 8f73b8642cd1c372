package ledger

import (
	"fmt"
	"math"
	"slices"

	"learncausal/pkg/theory"
)

// A Trend has data for a claimed bound y <~ x^Claimed. If the bound has another
// factor, such as a logarithm, y is divided by this factor.
type Trend struct {
	X, Y    []float64
	Claimed float64
	// Competing is the next plausible exponent below Claimed that is wrong. Data that are compatible with y <~
	// x^Competing could not refute a claim with an equally large error, and the finding is Open.
	Competing float64
}

// leastSpread is the least range of ln y, or of ln x, for which an exponent is fitted.
const leastSpread = 0.1

// Add appends a point.
func (d *Trend) Add(x, y float64) { d.X, d.Y = append(d.X, x), append(d.Y, y) }

// Finding compares the 95 % interval of the fitted exponent ([theory.FitPowerLaw]) with the claimed exponent.
// It is Inconsistent if the interval lies above Claimed, Consistent if it lies above Competing and not above
// Claimed, else Open. It is Open too without a fit, and if the data hardly vary, unless Claimed is zero. The
// margin is Claimed minus the lower end of the interval.
func (d Trend) Finding() Finding {
	if !(d.Competing < d.Claimed) {
		const want = "ledger: a trend with the competing exponent %v, want one below the claimed %v"
		panic(fmt.Sprintf(want, d.Competing, d.Claimed))
	}
	if len(d.X) < 3 {
		return Finding{Tier: ConsistentWith, Verdict: Open, Instances: len(d.X), Note: "Too few points for a fit."}
	}
	law := theory.FitPowerLaw(d.X, d.Y)
	low := law.Exponent - law.Half
	fitted := fmt.Sprintf("Fitted exponent %.3f with 95 %% interval half-width %.3f", law.Exponent, law.Half)
	f := Finding{
		Tier: ConsistentWith, Verdict: Consistent, LHS: law.Exponent, RHS: d.Claimed,
		Margin: d.Claimed - low, Instances: len(d.X),
		Note: fmt.Sprintf("%s, claimed at most %.3g; %.3g is refuted.", fitted, d.Claimed, d.Competing),
	}
	switch {
	case math.IsNaN(f.Margin):
		f.Verdict, f.Note = Open, "A point of the data is not a number."
	case f.Margin < 0:
		f.Verdict = Inconsistent
	case spread(d.X) < leastSpread || d.Claimed != 0 && spread(d.Y) < leastSpread:
		f.Verdict, f.Note = Open, "The data hardly vary: no rate can be read from them."
	case low <= d.Competing:
		const note = "%s: the data do not distinguish the claimed %.3g from %.3g."
		f.Verdict, f.Note = Open, fmt.Sprintf(note, fitted, d.Claimed, d.Competing)
	}
	return f
}

// spread returns the range of the logarithms of x, all positive.
func spread(x []float64) float64 { return math.Log(slices.Max(x) / slices.Min(x)) }
