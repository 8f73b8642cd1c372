// Package figure turns one description of a figure, a table or a number into
// the files of a paper: PNG and SVG for the screen, PDF, and LaTeX source that
// takes the fonts of the document it is \input into. The same description
// always gives the same bytes.
//
// A figure is a grid of panels. Its LaTeX twin needs \usepackage{pgfplots},
// and tables need booktabs (and longtable when they are long).
package figure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/google/renameio/v2/maybe"
)

// A Width is the width of a figure in points.
type Width float64

const (
	OneColumn  Width = 3.25 * 72
	TwoColumns Width = 6.75 * 72
	FullText   Width = 5.5 * 72 // the text of a page with one column
)

// A Figure is a grid of panels, drawn row by row from the top. More than one
// panel are lettered (a), (b), …
type Figure struct {
	ID      string // base name of its files: lower-case letters, digits, hyphens
	Caption string // LaTeX: plain text, and formulas between dollar signs
	Width   Width  // zero means OneColumn
	Rows    [][]Panel
}

// A Panel is an *Axes, a *Matrix, a *Graph or a *Drawing.
type Panel interface {
	check() error
	title() Label
	// margins are the spaces for labels around a frame of width w, without the
	// title. Those on the left and right do not depend on w.
	margins(w float64) margins
	// widths are the limits of the width of the frame.
	widths() (lo, hi float64)
	// frame returns the size of the frame if w within these limits is free.
	frame(w float64) (fw, fh float64)
	draw(p pen, r rect)
}

type margins struct{ left, right, top, bottom float64 }

const (
	panelGap   = 14.0
	rowGap     = 12.0
	titleSpace = labelSize + 6.0
	border     = 1.5 // keeps strokes and accents at the edge of the figure whole
)

type placed struct {
	panel  Panel
	frame  rect
	letter Label
	titleY float64 // baseline
	titleX float64
}

type layout struct {
	w, h   float64
	panels []placed
}

var validID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func checkID(id string) error {
	if !validID.MatchString(id) {
		return fmt.Errorf("figure: id %q: want lower-case letters and digits, joined by single hyphens", id)
	}
	return nil
}

// layout checks the figure and places its panels.
func (f *Figure) layout() (*layout, error) {
	if err := checkID(f.ID); err != nil {
		return nil, err
	}
	w := float64(f.Width)
	if w == 0 {
		w = float64(OneColumn)
	}
	count := 0
	for i, row := range f.Rows {
		if len(row) == 0 {
			return nil, fmt.Errorf("figure %s: row %d has no panel", f.ID, i)
		}
		for j, p := range row {
			if err := errors.Join(p.check(), p.title().check()); err != nil {
				return nil, fmt.Errorf("figure %s: row %d, panel %d: %w", f.ID, i, j, err)
			}
			count++
		}
	}
	if count == 0 {
		return nil, fmt.Errorf("figure %s: no panels", f.ID)
	}

	l := &layout{w: w}
	y := -border // top of the row; shifted up by the height at the end
	for i, row := range f.Rows {
		free := w - 2*border - panelGap*float64(len(row)-1)
		least, head := 0.0, 0.0
		for _, p := range row {
			m := p.margins(w)
			free -= m.left + m.right
			lo, _ := p.widths()
			least += lo
			if count > 1 || !p.title().empty() {
				head = titleSpace
			}
		}
		if least > free+pixel {
			return nil, fmt.Errorf("figure %s: the frames of row %d need %.0f pt, but its width of %.0f pt leaves %.0f pt: take a wider figure or fewer panels in a row", f.ID, i, least, w, free)
		}
		shares := share(row, free)
		// Frames may be smaller than their share: centre the row.
		used, above := 0.0, 0.0
		for j, p := range row {
			fw, _ := p.frame(shares[j])
			m := p.margins(fw)
			above = max(above, m.top)
			used += m.left + fw + m.right
		}
		x := (w - used - panelGap*float64(len(row)-1)) / 2
		frameTop := y - head - above
		low := frameTop
		for j, p := range row {
			fw, fh := p.frame(shares[j])
			m := p.margins(fw)
			q := placed{panel: p, titleX: x + m.left, titleY: y - labelSize}
			q.frame = rect{snap(x + m.left), snap(frameTop - fh), fw, fh}
			q.titleX = q.frame.x
			if count > 1 {
				q.letter = Text(fmt.Sprintf("(%c)", 'a'+len(l.panels)))
			}
			l.panels = append(l.panels, q)
			low = min(low, frameTop-fh-m.bottom)
			x += m.left + fw + m.right + panelGap
		}
		y = low - rowGap
	}
	l.h = snap(-y-rowGap+border) + 2*pixel
	for i := range l.panels {
		l.panels[i].frame.y += l.h
		l.panels[i].titleY += l.h
	}
	return l, nil
}

// share divides the free width among the panels of a row, equally within
// their limits.
func share(row []Panel, free float64) []float64 {
	w := make([]float64, len(row))
	lo, hi := 0.0, free
	for range 50 {
		mid := (lo + hi) / 2
		sum := 0.0
		for j, p := range row {
			a, b := p.widths()
			w[j] = min(max(mid, a), b)
			sum += w[j]
		}
		if sum > free {
			hi = mid
		} else {
			lo = mid
		}
	}
	return w
}

func (l *layout) draw(p pen) {
	for _, q := range l.panels {
		x := q.titleX
		if !q.letter.empty() {
			p.text(q.letter, x, q.titleY, textStyle{size: labelSize, h: left, v: bottom, bold: true, color: black})
			x += textWidth(q.letter.Text, labelSize, true) + 5
		}
		if t := q.panel.title(); !t.empty() {
			p.text(t, x, q.titleY, textStyle{size: labelSize, h: left, v: bottom, color: black})
		}
		q.panel.draw(p, q.frame)
	}
}

// Export writes <id>.png, .svg, .pdf and .tex into dir and returns their
// paths. Each file is replaced as a whole, and only if its bytes differ.
func (f *Figure) Export(dir string) ([]string, error) {
	var paths []string
	for _, k := range []struct {
		ext string
		get func() ([]byte, error)
	}{{".png", f.PNG}, {".svg", f.SVG}, {".pdf", f.PDF}, {".tex", f.TeX}} {
		b, err := k.get()
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, f.ID+k.ext)
		if err := WriteFile(path, b); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// WriteFile replaces the file as a whole, unless it already holds data.
func WriteFile(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return maybe.WriteFile(path, data, 0o644)
}
