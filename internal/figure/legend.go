package figure

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend is a plotter that explains curves and marks in lines above the frame. The
// legend of gonum stands inside the frame, with one entry a line.
type legend struct{ rows [][]entry }

// An entry of a legend has a label and samples of its curve or marks.
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
		case a.Ends && !s.Points:
		case s.Points:
			all = append(all, entry{s.Label, []plot.Thumbnailer{a.points(i)}, sampleSize / 2})
		case s.Err != nil:
			all = append(all, entry{s.Label, []plot.Thumbnailer{a.band(i), a.curve(i)}, sampleSize})
		default:
			all = append(all, entry{s.Label, []plot.Thumbnailer{a.curve(i)}, sampleSize})
		}
	}
	g := &legend{}
	used := w
	for _, e := range all {
		if e.label.empty() || a.unexplained {
			continue
		}
		if used+e.room() > w { // also for the first entry
			g.rows, used = append(g.rows, nil), 0
		}
		k := len(g.rows) - 1
		g.rows[k] = append(g.rows[k], e)
		used += e.room() + legendGap
	}
	return g
}

func (e entry) width() vg.Length { return e.sample + 4 + vg.Length(e.label.Width(smallSize)) }

// room returns the width of an entry for filling rows. Formulas in the fonts of documents are
// up to 20 % wider than on the screen; the gaps can shrink by half of this.
func (e entry) room() vg.Length {
	if strings.Contains(e.label.TeX, "$") {
		return e.width() + 0.1*vg.Length(e.label.Width(smallSize))
	}
	return e.width()
}

// widestEntry returns the least width of a legend.
func (a *Axes) widestEntry() (w vg.Length) {
	for _, row := range a.legend(0).rows {
		for _, e := range row {
			w = max(w, e.room())
		}
	}
	return w
}

// GlyphBoxes reserves the space above the frame.
func (g *legend) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: g.height()}}}}
}

func (g *legend) height() vg.Length {
	if len(g.rows) == 0 {
		return 3
	}
	return legendLine*vg.Length(len(g.rows)) + legendFloor
}

func (g *legend) Plot(c draw.Canvas, _ *plot.Plot) {
	if t, page := latex(c); t != nil {
		t.legend(slices.Concat(g.rows...), mappedRectangle(page, c.Rectangle))
		return
	}
	for k, row := range g.rows {
		p := vg.Point{X: c.Min.X, Y: c.Max.Y + legendFloor + legendLine*(vg.Length(len(g.rows)-1-k)+0.5)}
		for _, e := range row {
			e.draw(c, p)
			p.X += e.width() + legendGap
		}
	}
}

func (e entry) draw(c draw.Canvas, p vg.Point) {
	e.drawSample(c, p)
	e.label.Draw(c, textStyle(smallSize, text.XLeft, text.YCenter), p.Add(vg.Point{X: e.sample + 4}))
}

func (e entry) drawSample(c draw.Canvas, p vg.Point) {
	c.Rectangle = vg.Rectangle{Min: p.Sub(vg.Point{Y: 2.5}), Max: p.Add(vg.Point{X: e.sample, Y: 2.5})}
	for _, t := range e.thumbs {
		t.Thumbnail(&c)
	}
}

// ends is a plotter of names at the right of the frame, on lines from the ends of curves and levels. Lines
// of names that would overlap are bent.
type ends []end

type end struct {
	label Label
	line  draw.LineStyle
	x, y  float64
}

// endLine is the width of the line from the frame to a name.
const endLine = 7

func (a *Axes) ends() (all ends) {
	for i, s := range a.Series {
		if last := len(s.X) - 1; a.Ends && !s.Points && !s.Label.empty() {
			line := draw.LineStyle{Color: a.color(i), Width: thinLine.Width}
			all = append(all, end{s.Label, line, s.X[last], s.Y[last]})
		}
	}
	for _, l := range a.Levels {
		if !l.Label.empty() {
			all = append(all, end{l.Label, thinLine, math.NaN(), l.Y})
		}
	}
	slices.SortStableFunc(all, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	return all
}

// GlyphBoxes reserves the space at the right of the frame.
func (all ends) GlyphBoxes(*plot.Plot) (boxes []plot.GlyphBox) {
	for _, e := range all {
		w := endLine + 2 + vg.Length(e.label.Width(smallSize))
		boxes = append(boxes, plot.GlyphBox{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: w}}})
	}
	return boxes
}

func (all ends) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := make([]vg.Length, len(all)) // of the names
	for k, e := range all {
		at[k] = y(e.y)
	}
	for range 50 * len(all) { // move names apart until none overlap
		for k := range at {
			at[k] = min(max(at[k], c.Min.Y), c.Max.Y)
			if k > 0 {
				d := max(0, smallSize+0.5-(at[k]-at[k-1])) / 2
				at[k-1], at[k] = at[k-1]-d, at[k]+d
			}
		}
	}
	for k, e := range all {
		from := vg.Point{X: c.Max.X, Y: y(e.y)}
		path := []vg.Point{from, {X: c.Max.X + endLine, Y: at[k]}}
		if !math.IsNaN(e.x) {
			path = append([]vg.Point{{X: x(e.x), Y: from.Y}}, path...)
		}
		c.StrokeLines(e.line, path)
		sty := textStyle(smallSize, text.XLeft, text.YCenter)
		e.label.drawWithin(c, sty, path[len(path)-1].Add(vg.Point{X: 2}), vg.Length(e.label.Width(smallSize)))
	}
}

// legend writes the entries as a paragraph above the frame, which LaTeX breaks
// into lines. Each entry is a box with a small picture and a label.
func (t *tikz) legend(all []entry, frame vg.Rectangle) {
	if len(all) == 0 {
		return
	}
	const baseline = capHeight / 2 * smallSize // below the middle of a line
	const strut = 0.3 * legendLine             // depth of LaTeX's \strut
	y := frame.Max.Y + legendFloor + legendLine/2 - baseline - strut
	t.printf("\\node[anchor=south west,figtext,align=flush left,text width=%sbp,"+
		"font=\\fontsize{%d}{%dbp}\\selectfont] at %s {%%\n",
		num(frame.Size().X), smallSize, legendLine, xy(vg.Point{X: frame.Min.X, Y: y}))
	t.printf("\\linepenalty=1000 ") // prefer narrow gaps to another line
	for i, e := range all {
		if i > 0 {
			t.printf("\\hspace{%dbp minus %dbp}%%\n", legendGap, legendGap/2)
		}
		sample := &tikz{colors: t.colors}
		e.drawSample(draw.Canvas{Canvas: newCanvas(sample)}, vg.Point{})
		t.printf("\\mbox{\\strut\\tikz[x=1bp,y=1bp,baseline=-%sbp]{"+
			"\\useasboundingbox (0,-2.5) rectangle (%s,2.5);\n%s}%%\n",
			num(baseline), num(e.sample), sample.b.String())
		t.printf("\\hspace{4bp}%s}%%\n", e.label.source())
	}
	t.printf("};\n")
}
