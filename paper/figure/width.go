package figure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// The least and the largest width of a figure that ParseWidth accepts.
const (
	leastWidth Width = 100
	mostWidth  Width = 24 * vg.Inch
)

// ParseWidth reads a width as [vg.ParseLength] does, with the unit in, cm, mm or pt
// (1/72 inch), as in "5.5in" or "84mm". It returns an error for a width below 100pt
// or above 24in.
func ParseWidth(s string) (Width, error) {
	w, err := vg.ParseLength(s)
	if err != nil || !(w >= leastWidth && w <= mostWidth) {
		return 0, fmt.Errorf("figure: width %q: want 100pt to 24in, as in 5.5in, 14cm, 84mm or 240pt (1/72 in)", s)
	}
	return w, nil
}

// Limits of a fitted layout.
const (
	legibleAxes   = 75  // least width of the frame of axes, unless their legend needs more
	legibleMatrix = 36  // least width of the frame of a matrix
	loneMatrix    = 0.5 // part of the figure's width that a matrix alone in its row fills
)

// Fit returns the figure laid out for a width, with type of the same size. A row of
// panels that do not fit, or would be too small to read, is broken into several
// rows. Fit returns an error if a single panel does not fit.
func (f *Figure) Fit(w Width) (*Figure, error) {
	fitted := *f
	fitted.Width, fitted.Rows = w, nil
	n := 0
	for i, row := range f.Rows {
		row = slices.Clone(row)
		for j, p := range row {
			switch p := p.(type) {
			case *Drawing:
				if p.For != nil {
					row[j] = p.For(float64(w) - 2*border)
				}
			case *Matrix:
				m := *p
				m.fitted = true
				if w < f.Width {
					m.Cell = 0
				}
				row[j] = &m
			}
		}
		broken, err := breakRow(row, w, n)
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

// breakRow returns the panels in the least number of rows that fit into the width
// w. In the figure, n panels precede them.
func breakRow(row []Panel, w vg.Length, n int) (rows [][]Panel, err error) {
	_, axes := row[0].(*Axes)
	for parts := 1; parts <= len(row); parts++ {
		if axes && len(row)%parts != 0 {
			continue // a shorter row of axes would have larger frames
		}
		size := (len(row) + parts - 1) / parts
		rows, err = slices.Collect(slices.Chunk(row, size)), nil
		at := n
		for _, r := range rows {
			err = errors.Join(err, legible(r, w, at))
			at += len(r)
		}
		if err == nil {
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

// legible returns an error if the panels of a row do not fit into the width w, have
// too small frames, or have titles that overlap the next panel. In the figure, n
// panels precede them.
func legible(row []Panel, w vg.Length, n int) error {
	rooms, err := share(row, w-2*border)
	if err != nil {
		return err
	}
	for j, r := range rooms {
		var least vg.Length
		switch p := row[j].(type) {
		case *Axes:
			least = max(legibleAxes, p.widestEntry())
		case *Chart:
			least = legibleAxes
		case *Matrix:
			least = legibleMatrix
		}
		if r.Width < least {
			return fmt.Errorf(", panel %d: a frame of %.0f pt, want %.0f pt", j, r.Width, least)
		}
		for _, l := range breakTitle(row[j].Heading(), 0) {
			if title, room := headingWidth(l, n+j), titleRoom(row, rooms, j); title > room {
				return fmt.Errorf(", panel %d: %q in the title takes %.0f pt, of %.0f pt", j, l.Text, title, room)
			}
		}
	}
	return nil
}

// headingWidth returns the width of the letter and the title of the n-th panel.
func headingWidth(title Label, n int) vg.Length {
	return textWidth(letterOf(n), letterStyle().Font) + letterGap + vg.Length(title.Width(labelSize))
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
