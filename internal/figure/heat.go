package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Heat is a plotter of a matrix, with row 0 on top: entry (i, j) is the unit square about (j+1, i+1).
type Heat struct {
	Z        [][]float64
	Min, Max float64 // of the colours
	Palette  Palette
	// Rows and Columns are groups of neighbouring rows and columns, level by level from the matrix outwards, with lines
	// between the groups.
	Rows, Columns         [][]Group
	RowNames, ColumnNames []string // on the left, and upright above
	Numbered              bool     // the second of the innermost groups of columns has indices below
	Blocks                [][4]int // outlined: row, column, rows, columns
	Bar                   bool     // shows the colours at the right, or below a flat matrix
	Format                string   // prints each entry in its cell, as "%.2f"
}

// A Group is a number of neighbouring rows or columns with a name, and a short one where that does not fit.
type Group struct {
	Name, Short string
	Size        int
}

// NewHeat returns the plotter of a matrix with a bar: on a symmetric scale if an entry is negative, and otherwise from
// 0 to the largest entry.
func NewHeat(z [][]float64) *Heat {
	h := &Heat{Z: z, Palette: Shares, Bar: true}
	low := 0.0
	for _, row := range z {
		for _, v := range row {
			low, h.Max = min(low, v), max(h.Max, v)
		}
	}
	if low < 0 {
		return h.Symmetric()
	}
	if h.Max == 0 {
		h.Max = 1
	}
	return h
}

// Symmetric gives the matrix the symmetric scale of its largest magnitude.
func (h *Heat) Symmetric() *Heat {
	h.Palette, h.Max = Signed, 0
	for _, row := range h.Z {
		for _, v := range row {
			h.Max = max(h.Max, math.Abs(v))
		}
	}
	if h.Max == 0 {
		h.Max = 1
	}
	h.Min = -h.Max
	return h
}

// Matrix returns a panel with a heat map of shares, on the scale from 0 to 1, or of signed entries, on the symmetric
// scale of the largest magnitude.
func Matrix(title string, z [][]float64, signed bool) (*Panel, *Heat) {
	h := &Heat{Z: z, Max: 1, Palette: Shares, Bar: true}
	p := New(title)
	p.names.hidden = true
	if p.heat = h; signed {
		h.Symmetric()
	}
	if h.check() == nil {
		p.err = h.AddTo(p.Plot)
		p.shape, p.cells = p.Y.Scale.(shaped).frame, len(z[0])
		for i, row := range z {
			for j, v := range row {
				p.data = append(p.data, []string{"", strconv.Itoa(j + 1), strconv.Itoa(i + 1), "", digits(v)})
			}
		}
	}
	return p, h
}

// AddTo adds the matrix to an empty plot. The cells are squares.
func (h *Heat) AddTo(p *plot.Plot) error {
	if err := h.check(); err != nil {
		return err
	}
	rows, columns := len(h.Z), len(h.Z[0])
	p.Add(h)
	p.X.Width, p.Y.Width, p.X.Tick.Width, p.Y.Tick.Width, p.X.Padding, p.Y.Padding = 0, 0, 0, 0, 0, 2
	p.X.Tick.Marker, p.Y.Tick.Marker = indices{h, columns, 0}, indices{h, rows, 1}
	p.Y.Scale = shaped{plot.InvertedScale{Normalizer: plot.LinearScale{}}, func(w vg.Length) vg.Point {
		w *= min(1, vg.Length(columns)/vg.Length(rows)) // the frame is not higher than wide
		cell := max(1, vg.Length(math.Floor(float64(w)/pixel/float64(columns)))) * pixel
		return vg.Point{X: cell * vg.Length(columns), Y: cell * vg.Length(rows)}
	}}
	return nil
}

func (h *Heat) check() error {
	if len(h.Z) == 0 || len(h.Z[0]) == 0 {
		return fmt.Errorf("a matrix without entries")
	}
	for i, row := range h.Z {
		if len(row) != len(h.Z[0]) {
			return fmt.Errorf("matrix row %d has %d entries, row 0 has %d", i, len(row), len(h.Z[0]))
		}
		for j, v := range row {
			switch eps := 1e-9 * (h.Max - h.Min); {
			case math.IsNaN(v) || math.IsInf(v, 0):
				return fmt.Errorf("matrix entry (%d, %d) is %v, want a finite number", i, j, v)
			case v < h.Min-eps || v > h.Max+eps:
				return fmt.Errorf("matrix entry (%d, %d) = %v lies outside the scale [%v, %v]: widen it, colours are never clipped",
					i, j, v, h.Min, h.Max)
			}
		}
	}
	for k, levels := range [][][]Group{h.Rows, h.Columns} {
		for _, level := range levels {
			sum := 0
			for _, g := range level {
				if err := check(g.Name, g.Short); err != nil {
					return err
				}
				if g.Size < 1 {
					return fmt.Errorf("group %q has size %d, want at least 1", g.Name, g.Size)
				}
				sum += g.Size
			}
			if n := []int{len(h.Z), len(h.Z[0])}[k]; sum != n {
				return fmt.Errorf("groups cover %d of %d rows or columns", sum, n)
			}
		}
	}
	if r, c := len(h.RowNames), len(h.ColumnNames); r > 0 && r != len(h.Z) || c > 0 && c != len(h.Z[0]) {
		return fmt.Errorf("%d names of %d rows, %d of %d columns, want as many", r, len(h.Z), c, len(h.Z[0]))
	}
	for _, b := range h.Blocks {
		if slices.Min(b[:]) < 0 || b[0]+b[2] > len(h.Z) || b[1]+b[3] > len(h.Z[0]) {
			return fmt.Errorf("block %v does not fit into the %d x %d matrix", b, len(h.Z), len(h.Z[0]))
		}
	}
	return check(slices.Concat(h.RowNames, h.ColumnNames)...)
}

// indices is a ticker of the rows (side 1) or columns (side 0) of a matrix without groups and names on the side, or of
// the numbered group of columns.
type indices struct {
	*Heat
	n, side int
}

func (t indices) Ticks(float64, float64) []plot.Tick {
	groups, named := [][][]Group{t.Columns, t.Rows}[t.side], []int{len(t.ColumnNames), len(t.RowNames)}[t.side]
	switch {
	case named > 0, len(groups) > 0 && (t.side == 1 || !t.Numbered):
		return plot.ConstantTicks(nil)
	case len(groups) > 0:
		return indexTicks(groups[0][1].Size, groups[0][0].Size)
	}
	return indexTicks(t.n, 0)
}

// indexTicks returns ticks at 1 and at the multiples of a round step up to n, behind others.
func indexTicks(n, others int) (t plot.ConstantTicks) {
	step := 1
	for _, s := range []int{5, 10, 20, 50, 100, 200, 500} {
		if n/step > 8 {
			step = s
		}
	}
	for i := 1; i <= n; i++ {
		if i == 1 || i%step == 0 {
			t = append(t, plot.Tick{Value: float64(i + others), Label: strconv.Itoa(i)})
		}
	}
	return t
}

func (h *Heat) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0.5, float64(len(h.Z[0])) + 0.5, 0.5, float64(len(h.Z)) + 0.5
}

const (
	levelHeight = smallSize + 6
	barGap      = 6
	barWidth    = 6
)

// lying reports whether the bar is below: one on the right would be short, and there is room below.
func (h *Heat) lying() bool { return len(h.Z[0]) >= 4*len(h.Z) && len(h.Columns) > 0 && !h.Numbered }

// GlyphBoxes reserves the space of the names of groups and of the bar.
func (h *Heat) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	left, top := levelHeight*vg.Length(len(h.Rows)), levelHeight*vg.Length(len(h.Columns))
	right, low := vg.Length(0), vg.Length(0)
	switch {
	case !h.Bar:
	case h.lying():
		low = barGap + barWidth + 3 + smallSize
	default:
		for _, v := range h.marks(60) {
			right = max(right, barGap+barWidth+3+vg.Length(TextWidth(short(v), smallSize)))
		}
	}
	return []plot.GlyphBox{
		{X: 0, Y: 0.5, Rectangle: vg.Rectangle{Min: vg.Point{X: -left - longest(h.RowNames)}}},
		{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: right}}},
		{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: top + longest(h.ColumnNames)}}},
		{X: 0.5, Y: 0, Rectangle: vg.Rectangle{Min: vg.Point{Y: -low}}},
	}
}

// longest returns the length of the longest name with the space around it, or 0.
func longest(names []string) (w vg.Length) {
	for _, s := range names {
		w = max(w, vg.Length(TextWidth(s, smallSize))+4)
	}
	return w
}

func short(v float64) string { return power(strconv.FormatFloat(v, 'g', 3, 64)) }

// marks returns the ends of the scale, and its middle if a bar has room for it.
func (h *Heat) marks(length vg.Length) []float64 {
	if length > 30 {
		return []float64{h.Min, (h.Min + h.Max) / 2, h.Max}
	}
	return []float64{h.Min, h.Max}
}

func (h *Heat) color(v float64) color.RGBA { return h.Palette.at((v - h.Min) / (h.Max - h.Min)) }

// cells fills a rectangle with cells at whole pixels of a PNG. A run of one colour is one rectangle, which
// reaches under its neighbours, so that viewers that smooth edges show no seams.
func cells(c draw.Canvas, rows, columns int, at func(i, j int) color.RGBA) {
	x := func(j int) vg.Length { return snap(c.X(float64(j)/float64(columns)) + pixel/2) }
	y := func(i int) vg.Length { return snap(c.Y(1-float64(i)/float64(rows)) + pixel/2) }
	for i := range rows {
		for j, k := 0, 0; j < columns; j = k {
			for k = j + 1; k < columns && at(i, k) == at(i, j); k++ {
			}
			r := vg.Rectangle{Min: vg.Point{X: x(j), Y: y(i + 1)}, Max: vg.Point{X: x(k), Y: y(i)}}
			if k < columns {
				r.Max.X += 0.5
			}
			if i+1 < rows {
				r.Min.Y -= 0.5
			}
			c.SetColor(at(i, j))
			c.Fill(r.Path())
		}
	}
}

// Plot draws the cells, groups, names, entries, blocks and the bar.
func (h *Heat) Plot(c draw.Canvas, _ *plot.Plot) {
	if err := h.check(); err != nil {
		gateOf(c).fail(err)
		return
	}
	rows, columns, size := len(h.Z), len(h.Z[0]), c.Size()
	cells(c, rows, columns, func(i, j int) color.RGBA { return h.color(h.Z[i][j]) })
	x := func(j float64) vg.Length { return c.Min.X + size.X*vg.Length(j)/vg.Length(columns) }
	y := func(i float64) vg.Length { return c.Max.Y - size.Y*vg.Length(i)/vg.Length(rows) }
	h.groups(c, h.Columns, size.Y, 0, func(k int, out vg.Length) vg.Point {
		return vg.Point{X: x(float64(k)), Y: c.Max.Y + out}
	})
	h.groups(c, h.Rows, size.X, math.Pi/2, func(k int, out vg.Length) vg.Point {
		return vg.Point{X: c.Min.X - out, Y: y(float64(k))}
	})
	for i, s := range h.RowNames {
		c.FillText(Style(smallSize, text.XRight, text.YCenter), vg.Point{X: c.Min.X - 3, Y: y(float64(i) + 0.5)}, s)
	}
	upright := Style(smallSize, text.XLeft, text.YCenter)
	upright.Rotation = math.Pi / 2
	for j, s := range h.ColumnNames {
		c.FillText(upright, vg.Point{X: x(float64(j) + 0.5), Y: c.Max.Y + 3}, s)
	}
	for i, row := range h.Z {
		for j, v := range row {
			sty := Style(smallSize, text.XCenter, text.YCenter)
			if k := h.color(v); int(k.R)+int(k.G)+int(k.B) < 3*128 {
				sty.Color = White
			}
			if h.Format != "" {
				c.FillText(sty, vg.Point{X: x(float64(j) + 0.5), Y: y(float64(i) + 0.5)}, entry(h.Format, v))
			}
		}
	}
	outline(c, thin, c.Rectangle)
	for _, b := range h.Blocks {
		outline(c, draw.LineStyle{Color: Red, Width: 1.25}, vg.Rectangle{
			Min: vg.Point{X: x(float64(b[1])), Y: y(float64(b[0] + b[2]))},
			Max: vg.Point{X: x(float64(b[1] + b[3])), Y: y(float64(b[0]))},
		})
	}
	if h.Bar {
		h.bar(c)
	}
}

// entry prints an entry without the sign of a zero, as in -0.00.
func entry(format string, v float64) string {
	s := fmt.Sprintf(format, v)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return power(s)
}

// bar draws the colours at the right of the frame, or below its right half.
func (h *Heat) bar(c draw.Canvas) {
	const steps = 64
	sty := Style(smallSize, text.XLeft, text.YCenter)
	if h.lying() {
		r := vg.Rectangle{
			Min: vg.Point{X: c.Min.X + snap(c.Size().X/2), Y: c.Min.Y - barGap - barWidth},
			Max: vg.Point{X: c.Max.X, Y: c.Min.Y - barGap},
		}
		bar := draw.Canvas{Canvas: c.Canvas, Rectangle: r}
		cells(bar, 1, steps, func(_, j int) color.RGBA { return h.color(h.Min + (h.Max-h.Min)*float64(j)/(steps-1)) })
		outline(c, thin, r)
		sty.YAlign = text.YTop
		for _, v := range h.marks(r.Size().X) {
			t := (v - h.Min) / (h.Max - h.Min)
			sty.XAlign = text.XAlignment(-t)
			c.FillText(sty, vg.Point{X: r.Min.X + r.Size().X*vg.Length(t), Y: r.Min.Y - 3}, short(v))
		}
		return
	}
	r := vg.Rectangle{
		Min: vg.Point{X: c.Max.X + barGap, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X + barGap + barWidth, Y: c.Max.Y},
	}
	bar := draw.Canvas{Canvas: c.Canvas, Rectangle: r}
	cells(bar, steps, 1, func(i, _ int) color.RGBA { return h.color(h.Max + (h.Min-h.Max)*float64(i)/(steps-1)) })
	outline(c, thin, r)
	for _, v := range h.marks(r.Size().Y) {
		if r.Size().Y < 1.5*smallSize && v != h.Max {
			continue
		}
		t := (v - h.Min) / (h.Max - h.Min)
		sty.YAlign = text.YAlignment(-t)
		c.FillText(sty, vg.Point{X: r.Max.X + 3, Y: r.Min.Y + r.Size().Y*vg.Length(t)}, short(v))
	}
}

func outline(c draw.Canvas, sty draw.LineStyle, r vg.Rectangle) {
	c.SetLineStyle(sty)
	c.Stroke(r.Path())
}

// groups draws lines between groups, and names over brackets outside. at returns the point at a row or column, out of
// the matrix.
func (h *Heat) groups(
	c draw.Canvas, levels [][]Group, deep vg.Length, turn float64, at func(k int, out vg.Length) vg.Point,
) {
	sty := Style(smallSize, text.XCenter, text.YBottom)
	sty.Rotation = turn
	line := draw.LineStyle{Color: color.RGBA{0x99, 0x99, 0x99, 255}}
	for l, level := range levels {
		line.Width = 0.4 + 0.5*vg.Length(l) // outer levels have wider lines
		from, out := 0, levelHeight*vg.Length(l)+2
		for i, g := range level {
			to := from + g.Size
			if i+1 < len(level) {
				c.StrokeLines(line, []vg.Point{at(to, 0), at(to, -deep)})
			}
			a, b := at(from, out), at(to, out)
			room := math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y))
			d := b.Sub(a).Scale(vg.Length(0.8 / room))
			c.StrokeLines(thin, []vg.Point{at(from, out-1.3).Add(d), a.Add(d), b.Sub(d), at(to, out-1.3).Sub(d)})
			c.FillText(sty, a.Add(b).Scale(0.5).Add(at(0, 2.4).Sub(at(0, 0))), g.fitting(room))
			from = to
		}
	}
}

// fitting returns the name, the short name, or nothing, as fits.
func (g Group) fitting(room float64) string {
	for _, s := range []string{g.Name, g.Short} {
		if TextWidth(s, smallSize)+1 <= room {
			return s
		}
	}
	return ""
}

// OneScale gives heat maps one scale for the entries of all, and the last one a bar.
func OneScale(all ...*Heat) {
	most := 0.0
	for _, h := range all {
		most = max(most, h.Max)
	}
	for i, h := range all {
		h.Max, h.Bar = most, i == len(all)-1
		if h.Min < 0 {
			h.Min = -most
		}
	}
}
