package report

import (
	"testing"

	"learncausal/paper/figure"
)

// All points and the diagonal lie inside the axes, which are the same in both directions.
func TestIdentityFigureHoldsAllPointsAndTheDiagonal(t *testing.T) {
	s := figure.Series{Label: figure.Text("a"), X: []float64{-1, 2}, Y: []float64{0, 5}}
	f := IdentityFigure("a", figure.Text("x"), figure.Text("y"), s)
	a := f.Rows[0][0].(*figure.Axes)
	if a.X.Min != a.Y.Min || a.X.Max != a.Y.Max || !(a.X.Min < -1 && a.X.Max > 5) {
		t.Errorf("axes %v and %v, want the same, around -1 to 5", a.X, a.Y)
	}
	if !a.Series[0].Points || a.Series[1].Points || s.Points {
		t.Error("want marks for the points, a curve for the diagonal, and the argument as it was")
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
}
