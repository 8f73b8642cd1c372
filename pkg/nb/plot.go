package nb

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"image/png"
	"math"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"learncausal/internal/figure"
	"learncausal/pkg/graph"
)

// init sets the colours of plotutil, of which gonum's red and green look alike to one man in twelve.
func init() {
	plotutil.DefaultColors = nil
	for _, c := range figure.Colors {
		plotutil.DefaultColors = append(plotutil.DefaultColors, c)
	}
}

// Plot shows plots of gonum side by side, at most four in a row, in the style of the paper's figures where a plot
// has gonum's defaults. The description is for readers who cannot see the picture. A plot that cannot be drawn, such
// as a 0 on a logarithmic axis, stops the cell with an error. Plot panics without plots.
//
//	p := plot.New()
//	p.Add(plotter.NewFunction(math.Exp))
//	nb.Plot("The exponential function from 0 to 1.", p)
func Plot(description string, plots ...*plot.Plot) { newPicture().Plot(description, plots...) }

// Plot shows plots as the function Plot does, and replaces the image of p.
func (p *picture) Plot(description string, plots ...*plot.Plot) {
	p.PNG(Must(drawn(plots...)), description)
}

func drawn(plots ...*plot.Plot) ([]byte, error) {
	f, err := figureOf(plots...)
	if err != nil {
		return nil, err
	}
	return f.PNG()
}

// figureOf returns the plots as the panels of a figure, with their titles as headings.
func figureOf(plots ...*plot.Plot) (*figure.Figure, error) {
	if len(plots) == 0 {
		panic("nb: Plot without plots")
	}
	f, width := &figure.Figure{ID: "plot", Plain: true}, figure.OneColumn
	if len(plots) > 1 {
		width = figure.FullText
	}
	for k, p := range plots {
		if p == nil {
			return nil, fmt.Errorf("nb: plot %d of %d is nil", k+1, len(plots))
		}
		if err := inked(p); err != nil {
			return nil, fmt.Errorf("nb: plot %d of %d: %w", k+1, len(plots), err)
		}
	}
	for row := range slices.Chunk(plots, 4) {
		f.Rows = append(f.Rows, nil)
		for _, p := range row {
			k := len(f.Rows) - 1
			f.Rows[k] = append(f.Rows[k], figure.FromPlot(p))
		}
	}
	fitted, err := f.Fit(width)
	if err == nil {
		_, err = fitted.Height()
	}
	if err != nil { // long names need more
		return f.Fit(figure.FullText)
	}
	return fitted, err
}

// inked returns an error if a plotter with data draws nothing within the axes of its plot, or if the plot is empty.
func inked(p *plot.Plot) (err error) {
	defer func() {
		if recover() != nil { // such as a 0 on a logarithmic axis, which drawing reports
			err = nil
		}
	}()
	q := *figure.FromPlot(p).Plot
	q.BackgroundColor = nil
	for _, a := range []plot.Axis{q.X, q.Y} {
		if math.IsNaN(a.Min) || math.IsNaN(a.Max) || a.Min <= a.Max && math.IsInf(a.Max-a.Min, 0) {
			return nil // drawing reports it
		}
	}
	if !marks(q.Draw) { // sets axes without a range
		return errors.New("the picture is empty: want a plotter, or axes that are not hidden")
	}
	// The field has no name for other packages.
	all := *(*[]plot.Plotter)(reflect.ValueOf(&q).Elem().FieldByName("plotters").Addr().UnsafePointer())
	for k, f := range all {
		_, data := f.(plot.DataRanger)
		if _, function := f.(*plotter.Function); !data && !function {
			continue
		}
		if !marks(func(c draw.Canvas) { f.Plot(c, &q) }) {
			return fmt.Errorf("plotter %d of %d, %T, draws nothing within the axes, "+
				"x from %.4g to %.4g and y from %.4g to %.4g: set X.Min, X.Max, Y.Min and Y.Max",
				k+1, len(all), f, q.X.Min, q.X.Max, q.Y.Min, q.Y.Max)
		}
	}
	return nil
}

// marks reports whether something is drawn, at places that are finite.
func marks(plot func(c draw.Canvas)) bool {
	page := new(recorder.Canvas)
	plot(draw.Canvas{Canvas: page, Rectangle: vg.Rectangle{Max: vg.Point{X: 3000, Y: 2000}}})
	finite := func(c vg.PathComp) bool {
		return math.Abs(float64(c.Pos.X))+math.Abs(float64(c.Pos.Y)) <= math.MaxFloat64
	}
	width := vg.Length(1)
	return slices.ContainsFunc(page.Actions, func(a recorder.Action) bool {
		switch a := a.(type) {
		case *recorder.SetLineWidth:
			width = a.Width
		case *recorder.Stroke:
			return width > 0 && slices.ContainsFunc(a.Path, finite)
		case *recorder.Fill:
			return slices.ContainsFunc(a.Path, finite)
		case *recorder.FillString:
			return strings.TrimSpace(a.String) != ""
		case *recorder.DrawImage:
			return true
		}
		return false
	})
}

// Points returns the points (x, f(x)), for a line or for marks of a plot.
func Points(xs []float64, f func(x float64) float64) plotter.XYs {
	points := make(plotter.XYs, len(xs))
	for k, x := range xs {
		points[k] = plotter.XY{X: x, Y: f(x)}
	}
	return points
}

// Strip shows plots in a row, in a box that scrolls sideways. It needs no kernel: the
// box also scrolls in a stored notebook and in a page.
func Strip(description string, plots ...*plot.Plot) { markup(strip(description, plots), description) }

func strip(description string, plots []*plot.Plot) string {
	page := `<div style="overflow-x: scroll; white-space: nowrap; width: 792px">`
	for k, p := range plots {
		b := Must(drawn(p))
		c := Must(png.DecodeConfig(bytes.NewReader(b)))
		page += fmt.Sprintf(`<img src="data:image/png;base64,%s" width="%d" alt="%s, %d of %d" style="display: inline-block">`,
			base64.StdEncoding.EncodeToString(b), 5*c.Width/8, html.EscapeString(description), k+1, len(plots))
	}
	return page + "</div>"
}

// AddMatrix adds a heat map of m with a colour bar to an empty plot: entry (i, j) is the unit square about the point
// (j+1, i+1), with row 1 on top. Zero is white. If an entry is negative, positive entries are purple and negative ones
// orange, with one scale for both; otherwise entries are blue. A format, such as "%.2f", prints each entry in its cell.
// An entry that is not finite stops the cell with an error.
func AddMatrix(p *plot.Plot, m mat.Matrix, format ...string) {
	rows, _ := m.Dims()
	z := make([][]float64, rows)
	for i := range z {
		z[i] = mat.Row(nil, i, m)
	}
	h := figure.NewHeat(z)
	h.Format = strings.Join(format, "")
	Check(h.AddTo(p))
}

// AddGraph adds g to an empty plot: the positions s_1, …, s_T in a row, with an arc over
// them from each parent to its child. The query is marked.
func AddGraph(p *plot.Plot, g *graph.Forest) {
	Check((&figure.Forest{Parents: g.Parents(), Query: true}).AddTo(p))
}
