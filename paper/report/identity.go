package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"learncausal/paper/figure"
)

// IdentityFigure draws points whose coordinates should be equal, and the diagonal. Both
// axes cover the range of all values.
func IdentityFigure(id string, x, y figure.Label, points ...figure.Series) *figure.Figure {
	low, high := extent(points)
	marks := slices.Clone(points)
	for i := range marks {
		marks[i].Points = true
	}
	margin := 0.04 * (high - low)
	low, high = low-margin, high+margin
	equal := figure.Series{Label: figure.Text("equal"), X: []float64{low, high}, Y: []float64{low, high}}
	return &figure.Figure{ID: id, Rows: [][]figure.Panel{{&figure.Axes{
		X:      figure.Axis{Label: x, Min: low, Max: high},
		Y:      figure.Axis{Label: y, Min: low, Max: high},
		Series: append(marks, equal),
		Height: 160,
	}}}}
}

// extent returns the least and the largest coordinate of the points, in either
// direction.
func extent(points []figure.Series) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range points {
		low = min(low, floats.Min(s.X), floats.Min(s.Y))
		high = max(high, floats.Max(s.X), floats.Max(s.Y))
	}
	return low, high
}
