package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// ParseWidth reads a width or height from 100pt to 24in, as in "5.5in" or "84mm".
func ParseWidth(s string) (Width, error) {
	w, err := vg.ParseLength(s)
	if err != nil || !(w >= 100 && w <= 24*vg.Inch) {
		return 0, fmt.Errorf("figure: length %q: want 100pt to 24in, as in 5.5in, 14cm, 84mm or 240pt (1/72 in)", s)
	}
	return w, nil
}

// ParseType reads a size of type, from 6pt to 72pt, as in "10pt".
func ParseType(s string) (float64, error) {
	size, err := vg.ParseLength(s)
	if err != nil || !(size >= leastType && size <= 72) {
		return 0, fmt.Errorf("figure: size of type %q: want 6pt to 72pt, as in 10pt", s)
	}
	return float64(size), nil
}

// LeastWidth returns the least width at which every row of panels fits, in whole points.
func (f *Figure) LeastWidth() (Width, error) {
	least := Width(0)
	for i, row := range f.Rows {
		rooms, err := roomsOf(row, 0)
		if err != nil {
			return 0, fmt.Errorf("figure %s: row %d%w", f.ID, i, err)
		}
		least = max(least, 2*border+span(rooms))
	}
	return Width(math.Ceil(float64(least))), nil
}

// Limits of a fitted layout.
const (
	legibleAxes   = 75  // least width of the frame of axes
	legibleMatrix = 36  // least width of the frame of a matrix
	loneMatrix    = 0.5 // part of the figure's width that a matrix alone in its row fills
)

// Fit returns the figure laid out for a width, with type of the same size. It breaks rows whose panels do not fit or
// would be too small to read, and draws wide drawings again, or smaller with type of at least 6 pt. A single panel
// that does not fit is an error.
func (f *Figure) Fit(w Width) (*Figure, error) {
	fitted := *f
	fitted.Width, fitted.Rows = w, nil
	n := f.first()
	for i, row := range f.Rows {
		broken, err := breakRow(f.fitted(row, w), w, n)
		if least, e := f.leastFit(); err != nil && e == nil && w < least {
			return nil, fmt.Errorf("figure %s is at least %.0f pt (%.0f mm) wide, which is more than %.0f pt (%.0f mm)",
				f.ID, least, math.Ceil(float64(least/vg.Millimeter)), w, w/vg.Millimeter)
		}
		if err != nil {
			return nil, fmt.Errorf("figure %s: row %d%w", f.ID, i, err)
		}
		for _, r := range broken {
			if p := r[0]; len(r) == 1 && p.heat != nil && p.Cell == 0 && p.cells <= 2*len(p.heat.Z) {
				p.Most = loneMatrix * w // a flat matrix may fill the width
			}
		}
		fitted.Rows = append(fitted.Rows, broken...)
		n += len(row)
	}
	return &fitted, nil
}

// fitted returns the panels of a row in the forms that they have in a figure of width w.
func (f *Figure) fitted(row []*Panel, w Width) []*Panel {
	row = slices.Clone(row)
	for j, p := range row {
		q := *p
		if row[j] = &q; p.redraw != nil {
			row[j] = p.redraw(max(0, float64(w)-2*border))
		} else if w < cmp.Or(f.Width, OneColumn) {
			q.Cell = 0
		}
	}
	return row
}

// leastFit returns the least width for Fit: the width of the widest panel alone.
func (f *Figure) leastFit() (Width, error) {
	alone := Figure{ID: f.ID}
	for _, p := range f.fitted(slices.Concat(f.Rows...), 0) {
		alone.Rows = append(alone.Rows, []*Panel{p})
	}
	return alone.LeastWidth()
}

// breakRow returns the panels in the least number of rows that fit into the width w. In the figure, n panels precede.
func breakRow(row []*Panel, w vg.Length, n int) (rows [][]*Panel, err error) {
	for parts := 1; parts <= len(row); parts++ {
		if row[0].heat == nil && row[0].size.X == 0 && len(row)%parts != 0 {
			continue // a shorter row of axes would have larger frames
		}
		rows = slices.Collect(slices.Chunk(row, (len(row)+parts-1)/parts))
		fit, before := true, n
		for _, r := range rows {
			fit = fit && legible(r, w, before)
			before += len(r)
		}
		if fit {
			return rows, nil
		}
	}
	// A panel alone in its row must fit; it may be small or have a long title.
	for _, r := range rows {
		if _, err := share(r, w-2*border); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// legible reports whether the panels of a row, after n others, fit into the width w with large
// enough frames and with titles and names of groups that do not overlap the next.
func legible(row []*Panel, w vg.Length, n int) bool {
	rooms, err := share(row, w-2*border)
	if err != nil {
		return false
	}
	for j, r := range rooms {
		p, least := row[j], vg.Length(legibleAxes)
		switch {
		case p.heat != nil:
			least = legibleMatrix
			for _, level := range slices.Concat(p.heat.Rows, p.heat.Columns) {
				for _, g := range level {
					fits := TextWidth(cmp.Or(g.Short, g.Name), smallSize)+1 <= float64(r.width)*float64(g.Size)/float64(p.cells)
					if !fits && len(row) > 1 {
						return false
					}
				}
			}
		case p.size.X > 0 || p.shape != nil:
			least = 0
		default:
			for _, e := range p.names.all {
				least = max(least, e.wide+4+vg.Length(TextWidth(e.name, smallSize)))
			}
		}
		if r.width < least {
			return false
		}
		for _, l := range broken(p.Title, 0, Style(labelSize, 0, 0)) {
			if headingWidth(l, n+j) > titleRoom(row, rooms, j) {
				return false
			}
		}
	}
	return true
}

// FitWithin returns the figure laid out for at most a width and a height. If the height does
// not suffice, it joins rows of one panel, or else narrows the figure.
func (f *Figure) FitWithin(w, h Width) (*Figure, error) {
	tries := []*Figure{f}
	if len(f.Rows) > 1 && !slices.ContainsFunc(f.Rows, func(row []*Panel) bool { return len(row) > 1 }) {
		joined := *f
		joined.Rows = [][]*Panel{slices.Concat(f.Rows...)}
		tries = append(tries, &joined)
	}
	lowest, first := vg.Length(math.Inf(1)), error(nil)
	for try := w; try > 0; try -= 6 {
		fits := false
		for _, f := range tries {
			fitted, err := f.Fit(try)
			if first = cmp.Or(first, err); err != nil {
				continue
			}
			if p := fitted.Rows[0][0]; p.size.X > 0 && len(fitted.Rows) == 1 && len(fitted.Rows[0]) == 1 {
				p.Most = p.size.X * (h - 4*border) / p.size.Y
			}
			high, err := fitted.Height()
			if first = cmp.Or(first, err); err != nil {
				continue
			}
			if fits, lowest = true, min(lowest, high); high <= h {
				return fitted, nil
			}
		}
		if !fits {
			break
		}
	}
	if math.IsInf(float64(lowest), 1) {
		return nil, first
	}
	const format = "figure %s is at least %.0f pt (%.0f mm) high at widths up to %.0f mm, want at most %.0f pt (%.0f mm)"
	err := fmt.Errorf(format, f.ID, lowest, math.Ceil(float64(lowest/vg.Millimeter)), w/vg.Millimeter, h, h/vg.Millimeter)
	if len(slices.Concat(f.Rows...)) > 1 && f.letters == nil {
		err = fmt.Errorf("%w; a pick of its panels is lower, as %s:a", err, f.ID)
	}
	return nil, err
}

// FitType is [Figure.Fit] or, with a height, [Figure.FitWithin] with labels of a size in points. A size of 0 stands
// for 8, or for the largest size from 8 down to 48/7, with numbers of 6 pt, at which the height suffices.
func (f *Figure) FitType(w, h Width, size float64) (fitted *Figure, err error) {
	sizes := []float64{size}
	if size == 0 {
		sizes = []float64{labelSize, 7.6, 7.2, 48. / 7}
	}
	var first error
	for _, s := range sizes {
		k := Width(s / labelSize)
		if h > 0 {
			fitted, err = f.FitWithin(w/k, h/k)
		} else {
			fitted, err = f.Fit(w / k)
		}
		if err == nil {
			fitted.Scale = float64(k)
			return fitted, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}
