package trial

import (
	"math"
	"testing"
)

// By hand, in logarithms over log 2: 0, 2, 2 over 0, 1, 2 has the slope 1, residuals -1/3, 2/3, -1/3
// and 1/sqrt(3) for its standard error, and 12.706 is the quantile for one degree of freedom.
func TestPowerLawByHand(t *testing.T) {
	p := FitPowerLaw([]float64{1, 2, 4}, []float64{1, 4, 4})
	for _, c := range []struct{ got, want float64 }{
		{p.Exponent, 1}, {p.Log, math.Ln2 / 3}, {p.Half, 12.706204736432095 / math.Sqrt(3)}, {p.At(8), 8 * math.Cbrt(2)},
	} {
		if !(math.Abs(c.got-c.want) < 1e-9*c.want) {
			t.Errorf("%+v, want %v where it has %v", p, c.want, c.got)
		}
	}
}
