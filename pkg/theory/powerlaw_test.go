package theory

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

// Of a coordinate that is not positive and finite nothing is a number, nor where all x are equal.
func TestNoPowerLawThroughNoNumbers(t *testing.T) {
	for _, bad := range []float64{0, -1, math.Inf(1), math.Inf(-1), math.NaN()} {
		for k := range 6 {
			points := []float64{1, 2, 4, 3, 5, 8}
			points[k] = bad
			if p := FitPowerLaw(points[:3], points[3:]); !math.IsNaN(p.Log) || !math.IsNaN(p.Exponent) || !math.IsNaN(p.Half) {
				t.Errorf("a law through %v and %v: %+v", points[:3], points[3:], p)
			}
		}
	}
	if p := FitPowerLaw([]float64{2, 2, 2}, []float64{1, 2, 3}); !math.IsNaN(p.Log) || !math.IsNaN(p.Exponent) || !math.IsNaN(p.Half) {
		t.Errorf("a law of one x: %+v", p)
	}
}

func TestFitPowerLaw(t *testing.T) {
	x, y := []float64{1, 2, 4, 8}, []float64{3, 1.5, 0.75, 0.375}
	if p := FitPowerLaw(x, y); math.Abs(p.Exponent+1) > 1e-12 || p.Half > 1e-7 || math.Abs(p.At(2)-1.5) > 1e-12 {
		t.Errorf("3/x gives %+v", p)
	}
	y[3] *= 2
	if p := FitPowerLaw(x, y); !(p.Half > 0.1) {
		t.Errorf("an outlier leaves the interval %+v", p)
	}
}
