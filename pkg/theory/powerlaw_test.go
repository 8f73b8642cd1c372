package theory

import (
	"math"
	"testing"
)

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
