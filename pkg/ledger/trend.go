package ledger

import (
	"fmt"

	"learncausal/pkg/theory"
)

// A Trend is a claimed bound y <~ x^Claimed with the values seen.
type Trend struct {
	X, Y    []float64
	Claimed float64
}

// Drift is the excess over a claimed exponent that finite sizes are granted.
const Drift = 0.05

// Add takes a value.
func (d *Trend) Add(x, y float64) { d.X, d.Y = append(d.X, x), append(d.Y, y) }

// Exponent returns that of the power law through the values, with the half-width
// of its 95 % interval ([theory.FitPowerLaw]).
func (d Trend) Exponent() (exponent, half float64) {
	law := theory.FitPowerLaw(d.X, d.Y)
	return law.Exponent, law.Half
}

// Finding is Consistent unless the whole interval of the exponent lies more than
// Drift above the claimed one; the margin is what it leaves.
func (d Trend) Finding() Finding {
	exponent, half := d.Exponent()
	f := Finding{
		Tier: ConsistentWith, Verdict: Consistent, LHS: exponent, RHS: d.Claimed,
		Margin: d.Claimed + Drift - (exponent - half), Instances: len(d.X),
		Note: fmt.Sprintf("Fitted exponent %.3f with 95 %% interval half-width %.3f, claimed at most %.3g.", exponent, half, d.Claimed),
	}
	if !(f.Margin >= 0) { // NaN too
		f.Verdict = Inconsistent
	}
	return f
}
