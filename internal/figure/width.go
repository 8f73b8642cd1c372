package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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

// Limits of a fitted layout.
const (
	legibleAxes   = 75  // least width of the frame of axes, unless their legend needs more
	legibleMatrix = 36  // least width of the frame of a matrix
	loneMatrix    = 0.5 // part of the figure's width that a matrix alone in its row fills
)

// Fit returns the figure laid out for a width, with type of the same size. It breaks rows whose
// panels do not fit or would be too small to read, and scales wide drawings down to type of
// 6 pt. A single panel that does not fit is an error.
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
			// A flat matrix may fill the width.
			m, ok := r[0].(*Matrix)
			if ok && len(r) == 1 && m.Cell == 0 && len(m.Values) > 0 && len(m.Values[0]) <= 2*len(m.Values) {
				m.most = loneMatrix * w
			}
		}
		fitted.Rows = append(fitted.Rows, broken...)
		n += len(row)
	}
	return &fitted, nil
}

// fitted returns the panels of a row in the forms that they have in a figure of width w.
func (f *Figure) fitted(row []Panel, w Width) []Panel {
	room := max(0, float64(w)-2*border)
	row = slices.Clone(row)
	for j, p := range row {
		switch p := p.(type) {
		case *Drawing:
			if p.For != nil {
				p = p.For(room)
			}
			if p.W > room {
				p = p.scaled(room / p.W)
			}
			row[j] = p
		case *Matrix:
			m := *p
			m.fitted = true
			if w < cmp.Or(f.Width, OneColumn) {
				m.Cell = 0
			}
			row[j] = &m
		}
	}
	return row
}

// leastFit returns the least width for Fit: the width of the widest panel alone.
func (f *Figure) leastFit() (Width, error) {
	alone := Figure{ID: f.ID}
	for _, p := range f.fitted(slices.Concat(f.Rows...), 0) {
		alone.Rows = append(alone.Rows, []Panel{p})
	}
	return alone.LeastWidth()
}

// FitWithin returns the figure laid out for at most a width and a height. If the height does
// not suffice, it joins rows of one panel, or else narrows the figure, or scales its drawings
// down to type of 6 pt.
func (f *Figure) FitWithin(w, h Width) (*Figure, error) {
	several := func(row []Panel) bool { return len(row) > 1 }
	if len(f.Rows) > 1 && !slices.ContainsFunc(f.Rows, several) {
		joined := *f
		joined.Rows = [][]Panel{slices.Concat(f.Rows...)}
		for _, f := range []*Figure{f, &joined} {
			if fitted, err := f.Fit(w); err == nil {
				if high, err := fitted.Height(); err == nil && high <= h {
					return fitted, nil
				}
			}
		}
	}
	return f.within(w, h)
}

// within narrows the figure, or scales its drawings.
func (f *Figure) within(w, h Width) (*Figure, error) {
	lowest := vg.Length(math.Inf(1))
	for try := w; try > 0; try -= 6 {
		fitted, err := f.Fit(try)
		if err != nil && try == w {
			return nil, err
		}
		if err != nil {
			break
		}
		for i, row := range fitted.Rows {
			if d, ok := row[0].(*Drawing); ok && len(fitted.Rows) == 1 && len(row) == 1 {
				fitted.Rows[i][0] = d.scaled(min(1, float64(h-4*border)/(d.H*cmp.Or(d.scale, 1))))
			}
		}
		high, err := fitted.Height()
		if err != nil {
			return nil, err
		}
		if high <= h {
			return fitted, nil
		}
		lowest = min(lowest, high)
	}
	const format = "figure %s is at least %.0f pt (%.0f mm) high at widths up to %.0f mm, " +
		"want at most %.0f pt (%.0f mm)"
	err := fmt.Errorf(format, f.ID, lowest,
		math.Ceil(float64(lowest/vg.Millimeter)), w/vg.Millimeter, h, h/vg.Millimeter)
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

// ParseType reads a size of type, from 6pt to 72pt, as in "10pt".
func ParseType(s string) (float64, error) {
	size, err := vg.ParseLength(s)
	if err != nil || !(size >= 6 && size <= 72) {
		return 0, fmt.Errorf("figure: size of type %q: want 6pt to 72pt, as in 10pt", s)
	}
	return float64(size), nil
}

// breakRow returns the panels in the least number of rows that fit into the width
// w. In the figure, n panels precede them.
func breakRow(row []Panel, w vg.Length, n int) (rows [][]Panel, err error) {
	_, axes := row[0].(*Axes)
	for parts := 1; parts <= len(row); parts++ {
		if axes && len(row)%parts != 0 {
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
// enough frames and with titles that do not overlap the next panel.
func legible(row []Panel, w vg.Length, n int) bool {
	rooms, err := share(row, w-2*border)
	if err != nil {
		return false
	}
	for j, r := range rooms {
		var least vg.Length
		switch p := row[j].(type) {
		case *Axes:
			least = max(legibleAxes, p.widestEntry())
		case *Chart:
			if least = legibleAxes; p.shaped() {
				least = legibleMatrix
			}
		case *Matrix:
			least = legibleMatrix
		}
		if r.Width < least {
			return false
		}
		for _, l := range breakTitle(row[j].Heading(), 0) {
			if headingWidth(l, n+j) > titleRoom(row, rooms, j) {
				return false
			}
		}
	}
	return true
}

// headingWidth returns the width of the letter and the title of the n-th panel.
func headingWidth(title Label, n int) (w vg.Length) {
	if n >= 0 {
		w = textWidth(letterOf(n), letterStyle().Font) + letterGap
	}
	return w + vg.Length(title.Width(labelSize))
}

// titleRoom returns the width that panel j of a row has for its letter and title.
func titleRoom(row []Panel, rooms []Room, j int) vg.Length {
	w := rooms[j].Width + rooms[j].Right
	if j+1 < len(row) {
		w += panelGap + rooms[j+1].Left - letterGap
	}
	return w
}

// titleLines returns the lines of the title of panel j of a row, the n-th of the figure.
func titleLines(row []Panel, rooms []Room, j, n int) []Label {
	return breakTitle(row[j].Heading(), titleRoom(row, rooms, j)-headingWidth(Label{}, n))
}

// breakTitle breaks a title at spaces into lines of at most the given width. A longer
// word is a line, and so is a title with formulas.
func breakTitle(t Label, w vg.Length) (lines []Label) {
	if t.TeX != "" {
		return []Label{t}
	}
	for _, word := range strings.Fields(t.Text) {
		if k := len(lines) - 1; k >= 0 {
			if longer := Text(lines[k].Text + " " + word); longer.Width(labelSize) <= float64(w) {
				lines[k] = longer
				continue
			}
		}
		lines = append(lines, Text(word))
	}
	return lines
}
