package figure

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend is a plotter that explains curves and marks in lines above the frame,
// where it hides nothing; that of gonum stands inside, one entry below another.
type legend struct{ rows [][]entry }

type entry struct {
	label  Label
	thumbs []plot.Thumbnailer
	sample vg.Length // width of the thumbnails
}

const (
	sampleSize  = 16
	legendLine  = labelSize + 4
	legendGap   = 10 // between entries
	legendFloor = 2  // above the frame
)

// legend returns the entries of the axes in rows of width w.
func (a *Axes) legend(w vg.Length) *legend {
	var all []entry
	for i, s := range a.Series {
		switch {
		case s.Points:
			all = append(all, entry{s.Label, []plot.Thumbnailer{a.points(i)}, sampleSize / 2})
		case s.Err != nil:
			all = append(all, entry{s.Label, []plot.Thumbnailer{a.band(i), a.curve(i)}, sampleSize})
		default:
			all = append(all, entry{s.Label, []plot.Thumbnailer{a.curve(i)}, sampleSize})
		}
	}
	for _, l := range a.Levels {
		all = append(all, entry{l.Label, []plot.Thumbnailer{l.line()}, sampleSize})
	}
	g := &legend{}
	used := w
	for _, e := range all {
		if e.label.empty() {
			continue
		}
		if used+e.width() > w || len(g.rows) == 0 {
			g.rows, used = append(g.rows, nil), 0
		}
		k := len(g.rows) - 1
		g.rows[k] = append(g.rows[k], e)
		used += e.width() + legendGap
	}
	return g
}

func (e entry) width() vg.Length { return e.sample + 4 + vg.Length(e.label.Width(smallSize)) }

// GlyphBoxes keeps the space above the frame free.
func (g *legend) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	h := vg.Length(3)
	if n := len(g.rows); n > 0 {
		h = legendLine*vg.Length(n) + legendFloor
	}
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: h}}}}
}

func (g *legend) Plot(c draw.Canvas, _ *plot.Plot) {
	t, page := latex(c)
	for k, row := range g.rows {
		p := vg.Point{X: c.Min.X, Y: c.Max.Y + legendFloor + legendLine*(vg.Length(len(g.rows)-1-k)+0.5)}
		for i, e := range row {
			if t != nil {
				t.entry(e, i, mapped(page, p))
				continue
			}
			e.draw(c, p)
			p.X += e.width() + legendGap
		}
	}
}

// draw draws the entry to the right of p.
func (e entry) draw(c draw.Canvas, p vg.Point) {
	c.Rectangle = vg.Rectangle{Min: p.Sub(vg.Point{Y: 2.5}), Max: p.Add(vg.Point{X: e.sample, Y: 2.5})}
	for _, t := range e.thumbs {
		t.Thumbnail(&c)
	}
	e.label.Draw(c, TextStyle(smallSize, text.XLeft, text.YCenter), p.Add(vg.Point{X: e.sample + 4}))
}

// entry writes the i-th entry of a row that starts at p. Each follows the one
// before, whose label LaTeX makes wider or narrower than on the screen.
func (t *tikz) entry(e entry, i int, p vg.Point) {
	at := xy(p)
	if i > 0 {
		at = fmt.Sprintf("([xshift=%dbp]figlast.east |- 0,%s)", legendGap, num(p.Y))
	}
	t.printf("\\begin{scope}[shift={%s}]\n", at)
	e.draw(draw.Canvas{Canvas: newCanvas(t)}, vg.Point{})
	t.printf("\\end{scope}\n")
}
