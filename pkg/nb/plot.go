package nb

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"learncausal/pkg/graph"
)

// Lengths of a picture in points.
const (
	onePlot  = 330 // width of a picture of one plot
	allPlots = 520 // width of a picture of several
	slope    = 0.62
	between  = 12 // from one plot to the next
	edge     = 5  // around all, for labels that reach beyond an axis
	textSize = 9
	dpi      = 144
)

// Plot shows plots of gonum side by side, at most four in a row, in the fonts and sizes of
// the course. The description is for readers who cannot see the picture. Plot sets the fonts
// of the plots, gives a matrix square cells, and panics without plots.
//
//	p := plot.New()
//	p.Add(plotter.NewFunction(math.Exp))
//	nb.Plot("The exponential function from 0 to 1.", p)
func Plot(description string, plots ...*plot.Plot) { NewPicture().Plot(description, plots...) }

// Plot shows plots as the function Plot does, and replaces the image of p.
func (p *Picture) Plot(description string, plots ...*plot.Plot) {
	if len(plots) == 0 {
		panic("nb: Plot without plots")
	}
	width := vg.Length(onePlot)
	if len(plots) > 1 {
		width = allPlots
	}
	p.PNG(Must(drawn(width, plots...)), description)
}

// Strip shows plots in a row, in a box that scrolls sideways. It needs no kernel: the
// box also scrolls in a stored notebook and in a page.
func Strip(description string, plots ...*plot.Plot) { HTML(strip(description, plots), description) }

func strip(description string, plots []*plot.Plot) string {
	const css = 1.5 // pixels of a page in a point
	page := fmt.Sprintf(`<div style="overflow-x: scroll; white-space: nowrap; width: %gpx">`, css*allPlots)
	for k, p := range plots {
		image := base64.StdEncoding.EncodeToString(Must(drawn(allPlots/2, p)))
		page += fmt.Sprintf(`<img src="data:image/png;base64,%s" width="%g" alt="%s, %d of %d" style="display: inline-block">`,
			image, css*(allPlots/2), html.EscapeString(description), k+1, len(plots))
	}
	return page + "</div>"
}

// drawn returns the plots in rows of at most four as a PNG image of a width in points.
func drawn(width vg.Length, plots ...*plot.Plot) ([]byte, error) {
	each := (width-2*edge+between)/vg.Length(min(len(plots), 4)) - between
	height := vg.Length(2 * edge)
	var rows []vg.Length // their heights
	for row := range slices.Chunk(plots, 4) {
		rows = append(rows, 0)
		for _, p := range row {
			setFonts(p)
			setTicks(&p.X)
			setTicks(&p.Y)
			rows[len(rows)-1] = max(rows[len(rows)-1], heightOf(p, each))
		}
		height += rows[len(rows)-1]
	}
	image := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	top := height - edge
	for k, p := range plots {
		left := edge + vg.Length(k%4)*(each+between)
		p.Draw(draw.Canvas{Canvas: image, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - heightOf(p, each)}, Max: vg.Point{X: left + each, Y: top},
		}})
		if k%4 == 3 {
			top -= rows[k/4]
		}
	}
	var out bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: image}.WriteTo(&out)
	return out.Bytes(), err
}

func setFonts(p *plot.Plot) {
	for _, style := range []*plottext.Style{
		&p.Title.TextStyle, &p.Legend.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label,
	} {
		style.Font.Variant, style.Font.Size = "Sans", textSize
	}
	p.Title.Padding, p.X.Label.Padding, p.Y.Label.Padding, p.Legend.Padding = 4, 2, 2, 2
}

// setTicks replaces the ticks of gonum, which may leave an axis with a single number. Ticks
// that a cell sets itself remain.
func setTicks(a *plot.Axis) {
	_, logarithmic := a.Scale.(plot.LogScale)
	switch a.Tick.Marker.(type) {
	case plot.DefaultTicks, plot.LogTicks:
		a.Tick.Marker = plot.TickerFunc(linearTicks)
		if logarithmic {
			a.Tick.Marker = plot.TickerFunc(logTicks)
		}
	}
}

// linearTicks returns the multiples of 1, 2 or 5 times a power of ten in a range, at most 8.
func linearTicks(lo, hi float64) (ticks []plot.Tick) {
	least := (hi - lo) / 7
	power := math.Floor(math.Log10(least))
	step := math.Pow(10, power)
	for _, by := range []float64{2, 2.5, 2} {
		if step < 0.999*least {
			step *= by
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(1.001*step))))
	for k := math.Ceil(lo/step - 1e-9); k <= hi/step+1e-9; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: unsigned(strconv.FormatFloat(k*step, 'f', digits, 64))})
	}
	return ticks
}

// logTicks returns the multiples of powers of ten in a range of positive numbers. It labels
// the powers, and if they are fewer than two also their multiples by 2 and 5, or by all digits.
func logTicks(lo, hi float64) (ticks []plot.Tick) {
	for _, digits := range []string{"1", "125", "123456789"} {
		ticks = nil
		labels := 0
		for e := int(math.Floor(math.Log10(lo))); float64(e) <= math.Log10(hi); e++ {
			for _, digit := range "123456789" {
				v, _ := strconv.ParseFloat(fmt.Sprintf("%ce%d", digit, e), 64)
				tick := plot.Tick{Value: v}
				if strings.ContainsRune(digits, digit) && v > lo*(1-1e-9) && v < hi*(1+1e-9) {
					tick.Label = fmt.Sprintf("%g", v)
					labels++
				}
				ticks = append(ticks, tick)
			}
		}
		if labels > 1 {
			break
		}
	}
	return ticks
}

// shaped is the vertical scale of a plot whose frame has a ratio of height to width.
type shaped struct {
	plot.Normalizer
	ratio float64
}

// heightOf returns the height of a plot of a width: 0.62 of the width, or the height at
// which the frame has its ratio.
func heightOf(p *plot.Plot, width vg.Length) vg.Length {
	height := slope * width
	if s, ok := p.Y.Scale.(shaped); ok {
		for range 5 { // the margins depend a little on the height
			inner := p.DataCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: height}}}).Size()
			height += vg.Length(s.ratio)*inner.X - inner.Y
		}
	}
	return height
}

// A Matrix is a plotter of a heat map with a colour bar. Entry (i, j) is the unit square
// about the point (j+1, i+1).
type Matrix struct {
	Values mat.Matrix
	// Colors maps values to colours. AddMatrix takes purple for negative values, white
	// for 0 and orange for positive values, with one scale for both signs.
	Colors palette.ColorMap
	// Format, such as "%.2f", prints each entry in its cell. The empty string prints none.
	Format string
}

// AddMatrix adds a heat map of m to p, with row 1 on top, and sets the axes to indices
// from 1. The entries are finite.
func AddMatrix(p *plot.Plot, m mat.Matrix) *Matrix {
	h := &Matrix{Values: m, Colors: moreland.SmoothPurpleOrange()}
	most := math.Max(mat.Max(m), -mat.Min(m))
	if most == 0 {
		most = 1
	}
	h.Colors.SetMin(-most)
	h.Colors.SetMax(most)
	p.Add(h)
	rows, columns := m.Dims()
	p.Y.Scale = shaped{plot.InvertedScale{Normalizer: plot.LinearScale{}}, float64(rows) / float64(columns)}
	p.X.Tick.Marker, p.Y.Tick.Marker = indices(columns), indices(rows)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Width, a.Tick.Width, a.Tick.Length, a.Padding = 0, 0, 0, 3
	}
	return h
}

// indices returns ticks at 1 to n for n up to 8, and else at 1 and at the multiples of a round number up to n.
// The latter are at most 6, because the labels of one of four matrices side by side would overlap.
func indices(n int) plot.ConstantTicks {
	step := 1
	for _, s := range []int{2, 5, 10, 20, 50, 100, 200, 500} {
		if n > 8 && n > 6*step {
			step = s
		}
	}
	ticks := plot.ConstantTicks{{Value: 1, Label: "1"}}
	for i := max(step, 2); i <= n; i += step {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(i)})
	}
	return ticks
}

// DataRange returns the edges of the matrix.
func (h *Matrix) DataRange() (xmin, xmax, ymin, ymax float64) {
	rows, columns := h.Values.Dims()
	return 0.5, float64(columns) + 0.5, 0.5, float64(rows) + 0.5
}

// Lengths of a colour bar in points.
const (
	barWidth = 6
	barSpace = 47 // of the bar with its numbers
)

// GlyphBoxes keeps space for the colour bar on the right, with half of a number above it.
func (h *Matrix) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: barSpace, Y: textSize / 2}}}}
}

// Plot draws the matrix and the colour bar. It panics if Colors does not cover an entry.
func (h *Matrix) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rows, columns := h.Values.Dims()
	number := p.X.Tick.Label
	number.XAlign, number.YAlign = plottext.XCenter, plottext.YCenter
	for i := range rows {
		for j := range columns {
			v, at := h.Values.At(i, j), vg.Point{X: x(float64(j + 1)), Y: y(float64(i + 1))}
			fill(c, h.Colors, v, x(float64(j)+0.5), x(float64(j)+1.5), y(float64(i)+1.5), y(float64(i)+0.5))
			if h.Format != "" {
				c.FillText(number, at, unsigned(fmt.Sprintf(h.Format, v)))
			}
		}
	}
	frame := draw.LineStyle{Color: color.Gray{0x99}, Width: 0.5}
	c.StrokeLines(frame, closed(c.Rectangle))

	lo, hi := min(mat.Min(h.Values), 0), max(mat.Max(h.Values), 0)
	if lo == hi {
		hi = h.Colors.Max()
	}
	bar := vg.Rectangle{
		Min: vg.Point{X: c.Max.X + 8, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X + 8 + barWidth, Y: c.Max.Y},
	}
	const steps = 64
	at := func(k int) (float64, vg.Length) {
		part := float64(k) / steps
		return lo + part*(hi-lo), bar.Min.Y + vg.Length(part)*bar.Size().Y
	}
	for k := range steps {
		v, low := at(k)
		_, high := at(k + 1)
		fill(c, h.Colors, v, bar.Min.X, bar.Max.X, low, high)
	}
	c.StrokeLines(frame, closed(bar))
	number.XAlign = plottext.XLeft
	for _, v := range []float64{lo, 0, hi} {
		height := vg.Length((v - lo) / (hi - lo))
		c.FillText(number, vg.Point{X: bar.Max.X + 3, Y: bar.Min.Y + height*bar.Size().Y}, fmt.Sprintf("%.3g", v))
	}
}

// unsigned returns a number in print without the sign of a zero, as in -0.00.
func unsigned(number string) string {
	if strings.Trim(number, "-0.") == "" {
		return strings.TrimPrefix(number, "-")
	}
	return number
}

// fill paints a rectangle in the colour of v, from edge to edge in whole pixels.
func fill(c draw.Canvas, colors palette.ColorMap, v float64, left, right, low, high vg.Length) {
	col, err := colors.At(v)
	if err != nil {
		panic(fmt.Sprintf("nb: matrix entry %v: %v", v, err))
	}
	const pixel = 72.0 / dpi
	whole := func(x vg.Length) vg.Length { return vg.Length(math.Round(float64(x)/pixel) * pixel) }
	c.SetColor(col)
	c.Fill(vg.Rectangle{
		Min: vg.Point{X: whole(left), Y: whole(low)}, Max: vg.Point{X: whole(right), Y: whole(high)},
	}.Path())
}

// closed returns the outline of a rectangle.
func closed(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Min.X, Y: r.Max.Y}, r.Max, {X: r.Max.X, Y: r.Min.Y}, r.Min}
}

// A Graph is a plotter of the positions 1 to T in a row, with an arc over them from each
// parent to its child. The query is filled.
type Graph struct{ Forest *graph.Forest }

// AddGraph adds g to p and hides the axes.
func AddGraph(p *plot.Plot, g *graph.Forest) *Graph {
	d := &Graph{g}
	p.Add(d)
	p.HideAxes()
	p.Y.Scale = shaped{plot.LinearScale{}, (float64(d.longest())/2 + 1.5) / float64(g.T())}
	return d
}

// longest returns the number of positions from the parent to the child of the longest edge.
func (d *Graph) longest() int {
	longest := 1
	for _, e := range d.Forest.Edges() {
		longest = max(longest, e[1]-e[0])
	}
	return longest
}

// DataRange returns a range with a unit for each position.
func (d *Graph) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0.5, float64(d.Forest.T()) + 0.5, 0, 1
}

// Plot draws the arcs, and the positions at the bottom of the canvas.
func (d *Graph) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	spacing := x(2) - x(1)
	radius := min(8, 0.4*spacing)
	at := func(i int) vg.Point { return vg.Point{X: x(float64(i + 1)), Y: c.Min.Y + radius + 1} }
	rise := (c.Max.Y - at(0).Y - radius - 1) / vg.Length(d.longest()) // for each position under an arc
	line := draw.LineStyle{Color: color.RGBA{0x00, 0x72, 0xb2, 0xff}, Width: 1}
	for _, e := range d.Forest.Edges() {
		from, to := at(e[0]), at(e[1])
		var arc []vg.Point
		for k := 0; k <= 40; k++ {
			angle := math.Pi * float64(k) / 40
			part := vg.Length(1-math.Cos(angle)) / 2
			arc = append(arc, vg.Point{
				X: from.X + part*(to.X-from.X), Y: from.Y + radius + vg.Length(math.Sin(angle)*float64(e[1]-e[0]))*rise,
			})
		}
		c.StrokeLines(line, arc)
		tip := arc[len(arc)-1]
		c.SetColor(line.Color)
		c.FillPolygon(line.Color, []vg.Point{tip, {X: tip.X - 2.5, Y: tip.Y + 5}, {X: tip.X + 2.5, Y: tip.Y + 5}})
	}
	number := p.X.Tick.Label
	number.XAlign, number.YAlign = plottext.XCenter, plottext.YCenter
	outline := draw.LineStyle{Color: color.Black, Width: 0.7}
	for i := range d.Forest.T() {
		var circle vg.Path
		circle.Move(at(i).Add(vg.Point{X: radius}))
		circle.Arc(at(i), radius, 0, 2*math.Pi)
		circle.Close()
		c.SetColor(color.White)
		if i == d.Forest.T()-1 {
			c.SetColor(color.RGBA{0xfd, 0xe3, 0xc4, 0xff})
		}
		c.Fill(circle)
		c.SetLineStyle(outline)
		c.Stroke(circle)
		if number.Width(strconv.Itoa(i+1)) < 2*radius {
			c.FillText(number, at(i), strconv.Itoa(i+1))
		}
	}
}
