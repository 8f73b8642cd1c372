package show

import (
	"fmt"
	"strings"

	"learncausal/pkg/figure"
	"learncausal/pkg/nb"
)

// Curves shows series in one pair of axes, the width of the text, above a
// caption in LaTeX. For those who do not see it the picture is told by the names
// of its axes and series.
func Curves(id, caption string, x, y figure.Axis, series ...figure.Series) {
	axes := &figure.Axes{X: x, Y: y, Series: series}
	nb.Figure(&figure.Figure{
		ID: id, Caption: caption, Alt: told(axes), Width: figure.FullText, Rows: [][]figure.Panel{{axes}},
	})
}

// told says in words what a picture of curves and points has.
func told(a *figure.Axes) string {
	var names []string
	for _, s := range a.Series {
		names = append(names, s.Label.Text)
	}
	return fmt.Sprintf("%s against %s: %s.", a.Y.Label.Text, a.X.Label.Text, strings.Join(names, ", "))
}

// Axis returns an axis with a name, for [Curves].
func Axis(name string) figure.Axis { return figure.Axis{Label: figure.Text(name)} }

// LogAxis returns a logarithmic axis with a name, for [Curves].
func LogAxis(name string) figure.Axis { return figure.Axis{Label: figure.Text(name), Log: true} }
