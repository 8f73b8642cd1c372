package figure

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// cells is a plotter that shows a matrix as a heat map. The cell of row i and
// column j, both counted from 1, is the unit square about (j, i). An inverted Y axis
// puts row 1 on top. Edges of cells are at whole pixels of a PNG, and there are no
// seams between cells.
type cells struct {
	values [][]float64
	scale  Scale
}

// newCells returns the plotter of a matrix. It returns an error if rows differ in
// length, or a value is not finite or outside the range of the scale.
func newCells(values [][]float64, s Scale) (*cells, error) {
	if len(values) == 0 || len(values[0]) == 0 {
		return nil, fmt.Errorf("matrix has no entries")
	}
	for i, row := range values {
		if len(row) != len(values[0]) {
			return nil, fmt.Errorf("matrix row %d has %d entries, row 0 has %d", i, len(row), len(values[0]))
		}
	}
	s, err := s.resolve(values)
	return &cells{values, s}, err
}

func (m *cells) rows() int    { return len(m.values) }
func (m *cells) columns() int { return len(m.values[0]) }

// DataRange returns the edges of the matrix.
func (m *cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	return 0.5, float64(m.columns()) + 0.5, 0.5, float64(m.rows()) + 0.5
}

func (m *cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	x0, x1, y0, y1 := m.DataRange()
	left, right, first, last := x(x0), x(x1), y(y0), y(y1)
	r := vg.Rectangle{Min: vg.Point{X: left, Y: min(first, last)}, Max: vg.Point{X: right, Y: max(first, last)}}
	paintCells(c, r, m.rows(), m.columns(), func(i, j int) color.NRGBA {
		if first < last {
			i = m.rows() - 1 - i
		}
		return m.scale.color(m.values[i][j])
	})
}

// overlap is a dot of a screen with 96 dots per inch. Each run of cells extends by
// this length under its neighbours to the right and below, so that viewers that
// smooth edges show no seam.
const overlap = 0.75

// paintCells fills a rectangle with cells, row 0 on top.
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

// eachRun calls paint for each run of cells of one colour in a row: columns j to k-1
// of row i.
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
