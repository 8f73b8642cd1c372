package show

import (
	"learncausal/pkg/figure"
	"learncausal/pkg/nb"
)

// Curves shows series in one pair of axes, the width of the text, above a
// caption in LaTeX. The id names the picture for those who do not see it.
func Curves(id, caption string, x, y figure.Axis, series ...figure.Series) {
	axes := &figure.Axes{X: x, Y: y, Series: series}
	nb.Figure(&figure.Figure{
		ID: id, Caption: caption, Width: figure.FullText, Rows: [][]figure.Panel{{axes}},
	})
}

// Axis returns an axis with a name, for [Curves].
func Axis(name string) figure.Axis { return figure.Axis{Label: figure.Text(name)} }

// LogAxis returns a logarithmic axis with a name, for [Curves].
func LogAxis(name string) figure.Axis { return figure.Axis{Label: figure.Text(name), Log: true} }
