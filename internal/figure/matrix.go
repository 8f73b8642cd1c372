package figure

import (
	"errors"
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

// A Matrix is a panel that shows a matrix as a heat map, with row 0 on top and a
// colour bar on its right, or below a wide matrix.
type Matrix struct {
	Title  Label
	Values [][]float64
	// Rows and Columns group consecutive rows and columns, level by level from the matrix
	// outwards, with lines between the groups. The sizes of a level add up to the size of the
	// matrix. Without groups and names the indices are shown, counted from 1.
	Rows, Columns  [][]Group
	RowNames       []Label // on the left
	ColumnNames    []Label // above, upright
	Numbered       []int   // innermost groups of Columns with indices below, counted from 1 in each
	XLabel, YLabel Label   // outside the groups
	Blocks         []Block // outlined
	Scale          Scale
	// Format, such as "%.2f", prints each entry in its cell. The empty string prints none.
	Format string
	// Cell is the size of a cell in points, in whole pixels; zero fills the width of the panel.
	Cell float64

	fitted bool      // to a width, which may shorten labels of groups
	most   vg.Length // largest width of the frame, or 0
}

// A Group is a number of neighbouring rows or columns.
type Group struct {
	Label Label
	Size  int
}

// A Block is a submatrix whose upper left entry is at (Row, Column).
type Block struct{ Row, Column, Rows, Columns int }

func (m *Matrix) check() error {
	if len(m.Values) == 0 || len(m.Values[0]) == 0 {
		return errors.New("matrix has no entries")
	}
	rows, columns := len(m.Values), len(m.Values[0])
	for i, row := range m.Values {
		if len(row) != columns {
			return fmt.Errorf("matrix row %d has %d entries, row 0 has %d", i, len(row), columns)
		}
	}
	if _, err := m.Scale.resolve(m.Values); err != nil {
		return err
	}
	for _, side := range []struct {
		what   string
		n      int
		groups [][]Group
		names  []Label
	}{{"row", rows, m.Rows, m.RowNames}, {"column", columns, m.Columns, m.ColumnNames}} {
		for k, level := range side.groups {
			if err := checkGroups(level, side.n); err != nil {
				return fmt.Errorf("%s groups of level %d: %w", side.what, k, err)
			}
		}
		if n := len(side.names); n != 0 && n != side.n {
			return fmt.Errorf("%d names of %d %ss, want as many", n, side.n, side.what)
		}
	}
	if least := m.leastCell(); m.Cell > 0 && m.Cell < float64(least) {
		return fmt.Errorf("cells of %v pt are too small for the labels of the groups: want at least %v pt",
			m.Cell, least)
	}
	for _, b := range m.Blocks {
		if b.Row < 0 || b.Rows <= 0 || b.Row+b.Rows > rows ||
			b.Column < 0 || b.Columns <= 0 || b.Column+b.Columns > columns {
			return fmt.Errorf("block %+v does not fit into the %dx%d matrix", b, rows, columns)
		}
	}
	return checkAll(slices.Concat(m.RowNames, m.ColumnNames, []Label{m.XLabel, m.YLabel, m.Scale.Label}))
}

// checkGroups returns an error if the groups do not cover n rows or columns.
func checkGroups(groups []Group, n int) error {
	sum := 0
	for _, g := range groups {
		if err := g.Label.check(); err != nil {
			return err
		}
		if g.Size <= 0 {
			return fmt.Errorf("group %q has size %d, want at least 1", g.Label.Text, g.Size)
		}
		sum += g.Size
	}
	if sum != n {
		return fmt.Errorf("they cover %d of %d", sum, n)
	}
	return nil
}

func (m *Matrix) Heading() Label { return m.Title }

func (m *Matrix) Layout(w vg.Length) (Room, error) {
	if err := m.check(); err != nil {
		return Room{}, err
	}
	size := m.frame(w)
	return roomOf(m.plot(size), size), nil
}

// frame returns the size of the frame of a checked matrix, at most w wide if the labels of its groups fit.
func (m *Matrix) frame(w vg.Length) vg.Point {
	columns := vg.Length(len(m.Values[0]))
	cell := max(w/columns, m.leastCell())
	if m.most > 0 {
		cell = max(min(cell, m.most/columns), m.leastCell())
	}
	if m.Cell > 0 {
		cell = vg.Length(m.Cell)
	}
	cell = max(snap(cell), pixel)
	return vg.Point{X: columns * cell, Y: vg.Length(len(m.Values)) * cell}
}

// AddTo adds the matrix to an empty plot: entry (i, j) is the unit square about the point (j+1, i+1),
// with row 0 on top. In a [Chart] the cells of the plot are squares, and the frame is not higher than wide.
func (m *Matrix) AddTo(p *plot.Plot) error {
	if err := m.check(); err != nil {
		return err
	}
	m.dress(p)
	p.X.Padding, p.Y.Padding = 0, 2 // gonum leaves a space of the zero width of a label, see [setLabel]
	most := min(1, vg.Length(len(m.Values[0]))/vg.Length(len(m.Values)))
	p.Y.Scale = shaped{p.Y.Scale, func(w vg.Length) vg.Point { return m.frame(w * most) }}
	return nil
}

func (m *Matrix) Draw(c draw.Canvas) error {
	drawPlot(m.plot(c.Size()), c)
	return nil
}

// plot returns the plot of a checked matrix for a frame of the given size.
func (m *Matrix) plot(frame vg.Point) *plot.Plot {
	p := NewPlot()
	p.BackgroundColor = nil
	m.dress(p)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(nil), plot.ConstantTicks(nil)
	columns := len(m.Values[0])
	switch {
	case m.ColumnNames != nil:
	case len(m.Columns) == 0:
		p.X.Tick.Marker = indexTicks(columns, frame.X)
	default:
		p.X.Tick.Marker = m.groupTicks(frame.X / vg.Length(columns))
	}
	if len(m.Rows) == 0 && m.RowNames == nil {
		p.Y.Tick.Marker = indexTicks(len(m.Values), frame.Y)
	}
	setLabel(&p.X, m.XLabel)
	setLabel(&p.Y, m.YLabel)
	return p
}

// dress adds the cells and the colour bar of a checked matrix to a plot, and sets its axes.
func (m *Matrix) dress(p *plot.Plot) {
	scale, _ := m.Scale.resolve(m.Values)
	rows, columns := len(m.Values), len(m.Values[0])
	p.Add(heat{m, scale})
	switch {
	case scale.Hidden:
	case columns >= 4*rows && len(m.Columns) > 0 && len(m.Numbered) == 0 && m.XLabel.empty():
		p.Add(lyingBar{scale}) // a bar on the right would be short, and there is room below
	default:
		p.Add(bar{scale})
	}
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	p.X.Width, p.Y.Width, p.X.Tick.Width, p.Y.Tick.Width = 0, 0, 0, 0
	p.X.Tick.Marker, p.Y.Tick.Marker = indices(columns), indices(rows)
}

const levelSpace = smallSize + 6 // one level of group labels with its bracket

// longestName returns the length of the longest name with the space around it, or 0.
func longestName(names []Label) (w vg.Length) {
	for _, l := range names {
		w = max(w, vg.Length(l.Width(smallSize))+4)
	}
	return w
}

// leastCell returns the least size of a cell at which every label fits its group.
func (m *Matrix) leastCell() vg.Length {
	least := pixel
	if m.RowNames != nil || m.ColumnNames != nil {
		least = smallSize + 1
	}
	for _, level := range slices.Concat(m.Rows, m.Columns) {
		for _, g := range level {
			least = max(least, (m.shortest(g.Label).Width(smallSize)+2)/float64(g.Size))
		}
	}
	return vg.Length(math.Ceil(least/pixel) * pixel)
}

// shortest returns the short form of a group's label. In a matrix that is fitted to a
// width, plain text of more than four letters is cut to three.
func (m *Matrix) shortest(l Label) Label {
	if letters := []rune(l.Text); m.fitted && l.TeX == "" && len(letters) > 4 {
		return Text(string(letters[:3]))
	}
	return l
}

// heat is a plotter that shows the cells of a matrix, the lines between groups, the
// brackets with their labels, the blocks, and the frame.
type heat struct {
	*Matrix
	scale Scale
}

// DataRange returns the edges of the matrix. The first cell is the unit square about (1, 1).
func (m heat) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0.5, float64(len(m.Values[0])) + 0.5, 0.5, float64(len(m.Values)) + 0.5
}

// GlyphBoxes reserves the space for the brackets.
func (m heat) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	left, top := levelSpace*vg.Length(len(m.Rows)), levelSpace*vg.Length(len(m.Columns))
	left, top = left+longestName(m.RowNames), top+longestName(m.ColumnNames)
	return []plot.GlyphBox{
		{X: 0, Rectangle: vg.Rectangle{Min: vg.Point{X: -left}}},
		{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: top}}},
	}
}

func (m heat) Plot(c draw.Canvas, _ *plot.Plot) {
	size, rows, columns := c.Size(), len(m.Values), len(m.Values[0])
	paintCells(c, c.Rectangle, rows, columns, func(i, j int) color.NRGBA { return m.scale.color(m.Values[i][j]) })
	cw, ch := size.X/vg.Length(columns), size.Y/vg.Length(rows)
	x := func(j int) vg.Length { return c.Min.X + cw*vg.Length(j) }
	y := func(i int) vg.Length { return c.Max.Y - ch*vg.Length(i) }
	m.side(c, m.Columns, cw, func(along, out vg.Length) vg.Point {
		return vg.Point{X: c.Min.X + along, Y: c.Max.Y + out}
	})
	m.side(c, m.Rows, ch, func(along, out vg.Length) vg.Point {
		return vg.Point{X: c.Min.X - out, Y: c.Max.Y - along}
	})
	if m.Format != "" {
		m.print(c, func(i, j int) vg.Point { return vg.Point{X: x(j) + cw/2, Y: y(i) - ch/2} })
	}
	for i, l := range m.RowNames {
		at := vg.Point{X: c.Min.X - 3, Y: y(i) - ch/2}
		l.Draw(c, textStyle(smallSize, text.XRight, text.YCenter), at)
	}
	upright := textStyle(smallSize, text.XLeft, text.YCenter)
	upright.Rotation = math.Pi / 2
	for j, l := range m.ColumnNames {
		l.Draw(c, upright, vg.Point{X: x(j) + cw/2, Y: c.Max.Y + 3})
	}
	c.SetLineStyle(thinLine)
	c.Stroke(c.Rectangle.Path())
	c.SetLineStyle(draw.LineStyle{Color: highlight, Width: 1.25})
	for _, b := range m.Blocks {
		c.Stroke(vg.Rectangle{
			Min: vg.Point{X: x(b.Column), Y: y(b.Row + b.Rows)}, Max: vg.Point{X: x(b.Column + b.Columns), Y: y(b.Row)},
		}.Path())
	}
}

// print writes the entries into their cells, in white on dark colours.
func (m heat) print(c draw.Canvas, at func(i, j int) vg.Point) {
	sty := textStyle(smallSize, text.XCenter, text.YCenter)
	for i, row := range m.Values {
		for j, v := range row {
			sty.Color = black
			if k := m.scale.color(v); int(k.R)+int(k.G)+int(k.B) < 3*128 {
				sty.Color = white
			}
			signedLabel(unsigned(fmt.Sprintf(m.Format, v))).Draw(c, sty, at(i, j))
		}
	}
}

// unsigned returns a number in print without the sign of a zero, as in -0.00.
func unsigned(number string) string {
	if strings.Trim(number, "-0.") == "" {
		return strings.TrimPrefix(number, "-")
	}
	return number
}

// side draws the groups of one side: lines between them, and outside a label over a bracket.
// at returns the point at a length along the side and a distance out of the matrix.
func (m heat) side(c draw.Canvas, levels [][]Group, cell vg.Length, at func(along, out vg.Length) vg.Point) {
	const end, inset = 1.3, 0.8
	sty := textStyle(smallSize, text.XCenter, text.YBottom)
	deep := c.Size().Y
	if at(1, 0).X == at(0, 0).X { // upwards
		sty.Rotation, deep = math.Pi/2, c.Size().X
	}
	separator := draw.LineStyle{Color: white}
	if m.Scale.Palette == Signed {
		separator.Color = color.RGBA{0x99, 0x99, 0x99, 255}
	}
	for k, level := range levels {
		separator.Width = 0.4 + 0.5*vg.Length(k) // outer levels have wider lines
		from, out := vg.Length(0), levelSpace*vg.Length(k)+2
		for i, g := range level {
			to := from + cell*vg.Length(g.Size)
			if i+1 < len(level) {
				c.StrokeLines(separator, []vg.Point{at(to, 0), at(to, -deep)})
			}
			a, b := from+inset, to-inset
			c.StrokeLines(thinLine, []vg.Point{at(a, out-end), at(a, out), at(b, out), at(b, out-end)})
			l := g.Label
			if l.Width(smallSize)+2 > float64(to-from) {
				l = m.shortest(l)
			}
			l.drawWithin(c, sty, at((from+to)/2, out+2.4), to-from)
			from = to
		}
	}
}

// groupTicks returns the ticks of numbered groups of columns.
func (m *Matrix) groupTicks(cell vg.Length) (all plot.ConstantTicks) {
	from := 0
	for k, g := range m.Columns[0] {
		if slices.Contains(m.Numbered, k) {
			for _, t := range indexTicks(g.Size, cell*vg.Length(g.Size)) {
				all = append(all, plot.Tick{Value: t.Value + float64(from), Label: t.Label})
			}
		}
		from += g.Size
	}
	return all
}

// indices is a plot.Ticker for the rows or columns of a matrix, without knowledge of the frame.
type indices int

func (n indices) Ticks(float64, float64) []plot.Tick { return indexTicks(int(n), legibleMatrix) }

// indexTicks returns ticks at 1 and at the round indices up to n that fit into the
// length. It returns none if not even one fits.
func indexTicks(n int, length vg.Length) plot.ConstantTicks {
	if length < smallSize {
		return nil
	}
	step := n
	for _, s := range []int{1, 5, 10, 20, 50, 100} {
		if vg.Length(n)/vg.Length(s)*1.6*smallSize <= length {
			step = s
			break
		}
	}
	t := plot.ConstantTicks{{Value: 1, Label: "1"}}
	for i := max(step, 2); i <= n; i += step {
		t = append(t, plot.Tick{Value: float64(i), Label: strconv.Itoa(i)})
	}
	return t
}

// overlap is the length by which each run of cells extends under its neighbours to the right
// and below, so that viewers that smooth edges show no seam: a dot of 96 dots per inch.
const overlap = 0.75

// paintCells fills a rectangle with cells, row 0 on top. Edges of cells are at whole
// pixels of a PNG, and there are no seams between cells.
func paintCells(c vg.Canvas, r vg.Rectangle, rows, columns int, at func(i, j int) color.NRGBA) {
	if t, page := latex(c); t != nil {
		t.cells(mappedRectangle(page, r), rows, columns, at)
		return
	}
	nearest := func(x vg.Length) vg.Length { return vg.Length(math.Round(float64(x)/pixel) * pixel) }
	cw, ch := r.Size().X/vg.Length(columns), r.Size().Y/vg.Length(rows)
	x := func(j int) vg.Length { return r.Min.X + cw*vg.Length(j) }
	y := func(i int) vg.Length { return r.Max.Y - ch*vg.Length(i) }
	eachRun(rows, columns, at, func(i, j, k int, col color.NRGBA) {
		run := vg.Rectangle{
			Min: vg.Point{X: nearest(x(j)), Y: nearest(y(i + 1))}, Max: vg.Point{X: nearest(x(k)), Y: nearest(y(i))},
		}
		if k < columns {
			run.Max.X += min(cw/2, overlap)
		}
		if i+1 < rows {
			run.Min.Y -= min(ch/2, overlap)
		}
		c.SetColor(col)
		c.Fill(run.Path())
	})
}

// eachRun calls paint for each run of cells of one colour: columns j to k-1 of row i.
func eachRun(rows, columns int, at func(i, j int) color.NRGBA, paint func(i, j, k int, c color.NRGBA)) {
	for i := range rows {
		for j := 0; j < columns; {
			c := at(i, j)
			k := j + 1
			for k < columns && at(i, k) == c {
				k++
			}
			paint(i, j, k, c)
			j = k
		}
	}
}
