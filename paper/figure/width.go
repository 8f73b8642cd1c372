package figure

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// lengthUnits holds the units of a width in points of 1/72 inch.
var lengthUnits = map[string]float64{"in": 72, "cm": 72 / 2.54, "mm": 72 / 25.4, "pt": 72 / 72.27, "bp": 1}

// The least width for which a figure is laid out, and the largest.
const (
	leastWidth Width = 100
	mostWidth  Width = 24 * 72
)

// ParseWidth reads a width with its unit, which is in, cm, mm, pt (of TeX) or bp
// (1/72 in), as in "5.5in" or "84mm".
func ParseWidth(s string) (Width, error) {
	if len(s) > 2 {
		v, err := strconv.ParseFloat(strings.TrimSpace(s[:len(s)-2]), 64)
		name := s[len(s)-2:]
		if unit, ok := lengthUnits[name]; ok && err == nil {
			if w := Width(v * unit); w >= leastWidth && w <= mostWidth {
				return w, nil
			}
			const want = "figure: width %q: want %.4g%s to %.4g%[3]s"
			return 0, fmt.Errorf(want, s, float64(leastWidth)/unit, name, float64(mostWidth)/unit)
		}
	}
	return 0, fmt.Errorf("figure: width %q: want a number and in, cm, mm, pt or bp, as in 5.5in or 84mm", s)
}

// Frames at least as wide are legible, unless their legend needs more, and a matrix
// that stands alone in its row needs no more than the last, a part of the width.
const (
	legibleAxes   = 75
	legibleMatrix = 36
	loneMatrix    = 0.5
)

// Fit returns the figure laid out for a width, with type of the same size. A row of
// panels that do not fit, or would be too small to read, is broken into several
// rows. There is an error if a single panel does not fit.
func (f *Figure) Fit(w Width) (*Figure, error) {
	fitted := *f
	fitted.Width, fitted.Rows, fitted.fitted = w, nil, true
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
		broken, err := breakRow(row, vg.Length(w), n)
		if err != nil {
			return nil, fmt.Errorf("figure %s: row %d%w", f.ID, i, err)
		}
		for _, r := range broken {
			if len(r) == 1 {
				r[0] = reduced(r[0], vg.Length(loneMatrix*w))
			}
		}
		fitted.Rows = append(fitted.Rows, broken...)
		n += len(row)
	}
	return &fitted, nil
}

// reduced returns the panel, a matrix no wider than most unless its labels need more or
// it is flat.
func reduced(p Panel, most vg.Length) Panel {
	m, ok := p.(*Matrix)
	if !ok || m.Cell > 0 || len(m.Values) == 0 || len(m.Values[0]) > 2*len(m.Values) {
		return p
	}
	limited := *m
	limited.most = most
	return &limited
}

// breakRow returns the panels in the least number of rows that fit into the width
// w. Before them are n panels.
func breakRow(row []Panel, w vg.Length, n int) (rows [][]Panel, err error) {
	for parts := 1; parts <= len(row); parts++ {
		if !even(row, parts) {
			continue
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
	// What is alone in its row and does not fit stays an error; what is small or has
	// a long title does not.
	for _, r := range rows {
		if _, err := share(r, w-2*border); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// even reports whether a row in so many parts looks well: of axes, which fill the
// width, none is larger than the others.
func even(row []Panel, parts int) bool {
	_, axes := row[0].(*Axes)
	return !axes || len(row)%parts == 0
}

// legible reports panels of a row that do not fit into the width w, have smaller
// frames than one can read, or titles that run into the next panel. Before them are
// n panels.
func legible(row []Panel, w vg.Length, n int) error {
	rooms, err := share(row, w-2*border-panelGap*vg.Length(len(row)-1))
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

// title returns the lines of the title of panel j of a row, the n-th of the figure:
// one, unless the figure is fitted to a width.
func (f *Figure) title(row []Panel, rooms []Room, j, n int) []Label {
	t := row[j].Heading()
	if t.empty() {
		return nil
	}
	if !f.fitted {
		return []Label{t}
	}
	return breakTitle(t, titleRoom(row, rooms, j)-headingWidth(Label{}, n))
}

// breakTitle breaks a title into lines of the width, or one word; formulas not.
func breakTitle(t Label, w vg.Length) (lines []Label) {
	if t.TeX != "" {
		return []Label{t}
	}
	for _, line := range breakWords(t.Text, float64(w), labelSize) {
		lines = append(lines, Text(line))
	}
	return lines
}

// breakWords breaks s at spaces into lines of the given width in type of a size. A
// longer word is a line.
func breakWords(s string, w, size float64) (lines []string) {
	for _, word := range strings.Fields(s) {
		if k := len(lines) - 1; k >= 0 && Text(lines[k]+" "+word).Width(size) <= w {
			lines[k] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
