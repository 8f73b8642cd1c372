package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// A Matrix is a heat map with row 0 on top and a colour bar on its right.
type Matrix struct {
	Title  Label
	Values [][]float64
	// Rows and Columns group consecutive rows and columns, level by level from
	// the matrix outwards. The sizes of a level add up to the matrix's. Lines
	// part the groups. Without groups the indices are shown, counted from 1.
	Rows, Columns  [][]Group
	XLabel, YLabel Label   // outside the groups
	Blocks         []Block // outlined
	Scale          Scale
	// Cell is the width of a cell in points, rounded to whole pixels; zero
	// fills the width of the panel.
	Cell float64
	// Stretch is the height of a cell over its width; zero means 1.
	Stretch float64
}

// A Group is a number of neighbouring rows or columns.
type Group struct {
	Label Label
	Size  int
}

// A Block is the submatrix of the given size whose upper left entry is at
// (Row, Column).
type Block struct{ Row, Column, Rows, Columns int }

// A Scale maps values to colours.
//
// With Min = Max = 0 the range is that of the data, min to max for Magnitude
// and ±max|v| for Signed; a constant matrix gets a range of 1 above it, or ±1.
// A value outside a given range is an error.
type Scale struct {
	Palette  Palette
	Min, Max float64
	Label    Label // beside the bar
	Hidden   bool  // leaves out the bar, if another panel shows it
}

// ShareScale gives the matrices one scale whose range is that of all their
// data, with the bar at the last of them.
func ShareScale(s Scale, ms ...*Matrix) {
	var all [][]float64
	for _, m := range ms {
		all = append(all, m.Values...)
	}
	// What cannot be resolved is reported when the figure is drawn.
	if r, err := s.resolve(all); err == nil {
		s.Min, s.Max = r.min, r.max
	}
	for i, m := range ms {
		m.Scale = s
		m.Scale.Hidden = i+1 < len(ms)
	}
}

// A scale is a Scale whose range is settled.
type scale struct {
	palette  Palette
	min, max float64
	label    Label
	hidden   bool
}

func (s scale) color(v float64) color.RGBA { return s.palette.at((v - s.min) / (s.max - s.min)) }

// resolve settles the range of s for the matrix m.
func (s Scale) resolve(m [][]float64) (scale, error) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, row := range m {
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return scale{}, fmt.Errorf("matrix entry (%d, %d) is %v, want a finite number", i, j, v)
			}
			if s.Min != s.Max && (v < s.Min || v > s.Max) {
				return scale{}, fmt.Errorf("matrix entry (%d, %d) = %v lies outside the scale [%v, %v]: widen it, colours are never clipped", i, j, v, s.Min, s.Max)
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	switch {
	case s.Min > s.Max:
		return scale{}, fmt.Errorf("scale [%v, %v] is empty", s.Min, s.Max)
	case s.Min != s.Max:
		lo, hi = s.Min, s.Max
		if s.Palette == Signed && lo != -hi {
			return scale{}, fmt.Errorf("signed scale [%v, %v] is not symmetric about 0", lo, hi)
		}
	case s.Palette == Signed:
		hi = max(math.Abs(lo), math.Abs(hi))
		lo = -hi
	}
	if lo == hi { // a constant matrix
		hi = lo + 1
		if s.Palette == Signed {
			lo = -1
		}
	}
	return scale{s.Palette, lo, hi, s.Label, s.Hidden}, nil
}

func (m *Matrix) check() error {
	if len(m.Values) == 0 || len(m.Values[0]) == 0 {
		return fmt.Errorf("matrix has no entries")
	}
	cols := len(m.Values[0])
	for i, row := range m.Values {
		if len(row) != cols {
			return fmt.Errorf("matrix row %d has %d entries, row 0 has %d", i, len(row), cols)
		}
	}
	s, err := m.Scale.resolve(m.Values)
	if err != nil {
		return err
	}
	for _, side := range []struct {
		name   string
		levels [][]Group
		n      int
	}{{"row", m.Rows, len(m.Values)}, {"column", m.Columns, cols}} {
		for k, level := range side.levels {
			sum := 0
			for _, g := range level {
				if err := g.Label.check(); err != nil {
					return err
				}
				if g.Size <= 0 {
					return fmt.Errorf("%s group %q has size %d", side.name, g.Label.Text, g.Size)
				}
				sum += g.Size
			}
			if sum != side.n {
				return fmt.Errorf("%s groups of level %d cover %d of %d %ss", side.name, k, sum, side.n, side.name)
			}
		}
	}
	if least := m.leastCell(); m.Cell > 0 && m.Cell < least {
		return fmt.Errorf("cells of %v pt are too small for the labels of the groups: want at least %v pt", m.Cell, least)
	}
	for _, b := range m.Blocks {
		if b.Row < 0 || b.Column < 0 || b.Rows <= 0 || b.Columns <= 0 || b.Row+b.Rows > len(m.Values) || b.Column+b.Columns > cols {
			return fmt.Errorf("block %+v does not fit into the %dx%d matrix", b, len(m.Values), cols)
		}
	}
	for _, l := range []Label{m.XLabel, m.YLabel, s.label} {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Matrix) title() Label { return m.Title }

func (m *Matrix) scale() scale {
	s, err := m.Scale.resolve(m.Values)
	if err != nil {
		panic("figure: unchecked matrix: " + err.Error())
	}
	return s
}

const (
	levelSpace = smallSize + 4.5 // one level of group labels with its bracket
	barGap     = 6.0
	barWidth   = 6.0
	tickGap    = 3.0
)

func (m *Matrix) margins(float64) margins {
	var g margins
	g.top = levelSpace * float64(len(m.Columns))
	g.left = levelSpace * float64(len(m.Rows))
	if len(m.Columns) == 0 {
		g.bottom += tickGap + smallSize
	}
	if len(m.Rows) == 0 {
		g.left += tickGap + textWidth(strconv.Itoa(len(m.Values)), smallSize, false)
	}
	if !m.XLabel.empty() {
		g.bottom += labelSize + 4
	}
	if !m.YLabel.empty() {
		g.left += labelSize + 3
	}
	if s := m.scale(); !s.hidden {
		w := 0.0
		for _, t := range s.ticks(100) {
			w = max(w, textWidth(barLabel(t).Text, smallSize, false))
		}
		g.right = barGap + barWidth + tickGap + w
		if !s.label.empty() {
			g.right += smallSize + 4
		}
	}
	return g
}

// leastCell is the width of a cell at which every label fits its group.
func (m *Matrix) leastCell() float64 {
	least := pixel
	need := func(levels [][]Group, stretch float64) {
		for _, level := range levels {
			for _, g := range level {
				w := textWidth(g.Label.Text, smallSize, false) + 2
				least = max(least, w/(float64(g.Size)*stretch))
			}
		}
	}
	need(m.Columns, 1)
	need(m.Rows, m.stretch())
	return math.Ceil(least/pixel) * pixel
}

func (m *Matrix) stretch() float64 {
	if m.Stretch > 0 {
		return m.Stretch
	}
	return 1
}

func (m *Matrix) widths() (lo, hi float64) {
	cols := float64(len(m.Values[0]))
	if m.Cell > 0 {
		return cols * m.Cell, cols * m.Cell
	}
	return cols * m.leastCell(), math.Inf(1)
}

func (m *Matrix) frame(w float64) (fw, fh float64) {
	rows, cols := float64(len(m.Values)), float64(len(m.Values[0]))
	cell := max(snap(w/cols), pixel)
	return cols * cell, rows * max(snap(cell*m.stretch()), pixel)
}

// ticks returns the ends of the scale and round values in between, as many as
// fit into a bar of height h.
func (s scale) ticks(h float64) []float64 {
	t := []float64{s.min}
	room := 1.5 * smallSize / h * (s.max - s.min)
	n := min(4, int(h/(2.2*smallSize)))
	if s.palette == Signed && n < 2 {
		n = 2
	}
	for _, v := range niceTicks(s.min, s.max, max(n, 1)) {
		if v-s.min > room && s.max-v > room {
			t = append(t, v)
		}
	}
	return append(t, s.max)
}

// barLabel shows three digits.
func barLabel(v float64) Label {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	if a := math.Abs(v); a >= 1e-4 && a < 1e6 || a == 0 {
		x, _ := strconv.ParseFloat(s, 64)
		s = strconv.FormatFloat(x, 'f', -1, 64)
	}
	return signedLabel(s)
}

func (m *Matrix) draw(p pen, r rect) {
	s := m.scale()
	p.cells(r, m.Values, s)
	m.lines(p, r, s)
	thin := stroke{color: grey, width: 0.5}
	p.stroke(r.path(), thin)

	cw, ch := r.w/float64(len(m.Values[0])), r.h/float64(len(m.Values))
	for _, b := range m.Blocks {
		q := rect{r.x + float64(b.Column)*cw, r.top() - float64(b.Row+b.Rows)*ch, float64(b.Columns) * cw, float64(b.Rows) * ch}
		p.stroke(q.path(), stroke{color: highlight, width: 1.25})
	}

	small := textStyle{size: smallSize, color: black}
	for k, level := range m.Columns {
		y := r.top() + levelSpace*float64(k) + 2
		at := 0
		for _, g := range level {
			x0, x1 := r.x+float64(at)*cw, r.x+float64(at+g.Size)*cw
			p.stroke(bracket(x0+0.8, y, x1-0.8, y, 0, -1), thin)
			p.text(g.Label, (x0+x1)/2, y+2.4, with(small, middle, bottom))
			at += g.Size
		}
	}
	for k, level := range m.Rows {
		x := r.x - levelSpace*float64(k) - 2
		at := 0
		for _, g := range level {
			y1, y0 := r.top()-float64(at)*ch, r.top()-float64(at+g.Size)*ch
			p.stroke(bracket(x, y0+0.8, x, y1-0.8, 1, 0), thin)
			st := with(small, middle, bottom)
			st.turned = true
			p.text(g.Label, x-2.4, (y0+y1)/2, st)
			at += g.Size
		}
	}

	g := m.margins(r.w)
	if len(m.Columns) == 0 {
		for _, i := range indexTicks(len(m.Values[0]), r.w) {
			x := r.x + (float64(i)-0.5)*cw
			p.text(tickLabel(float64(i)), x, r.y-tickGap, with(small, middle, top))
		}
	}
	if len(m.Rows) == 0 {
		for _, i := range indexTicks(len(m.Values), r.h) {
			y := r.top() - (float64(i)-0.5)*ch
			p.text(tickLabel(float64(i)), r.x-tickGap, y, with(small, right, middle))
		}
	}
	label := textStyle{size: labelSize, color: black}
	if !m.XLabel.empty() {
		p.text(m.XLabel, r.x+r.w/2, r.y-g.bottom+1.5, with(label, middle, bottom))
	}
	if !m.YLabel.empty() {
		st := with(label, middle, top)
		st.turned = true
		p.text(m.YLabel, r.x-g.left+0.5, r.y+r.h/2, st)
	}
	if !s.hidden {
		s.bar(p, r)
	}
}

func with(s textStyle, h, v anchor) textStyle {
	s.h, s.v = h, v
	return s
}

// lines parts the groups: the outer the level, the stronger.
func (m *Matrix) lines(p pen, r rect, s scale) {
	c := white
	if s.palette == Signed {
		c = color.RGBA{0x99, 0x99, 0x99, 255}
	}
	cw, ch := r.w/float64(len(m.Values[0])), r.h/float64(len(m.Values))
	for k, level := range m.Columns {
		at := 0
		for _, g := range level[:len(level)-1] {
			at += g.Size
			x := r.x + float64(at)*cw
			p.stroke(segment(x, r.y, x, r.top()), stroke{color: c, width: 0.4 + 0.5*float64(k)})
		}
	}
	for k, level := range m.Rows {
		at := 0
		for _, g := range level[:len(level)-1] {
			at += g.Size
			y := r.top() - float64(at)*ch
			p.stroke(segment(r.x, y, r.right(), y), stroke{color: c, width: 0.4 + 0.5*float64(k)})
		}
	}
}

// bracket is the line from one point to the other with short ends in the
// direction (dx, dy), towards the matrix.
func bracket(x0, y0, x1, y1, dx, dy float64) vg.Path {
	const end = 1.3
	return polyline([]float64{x0 + end*dx, x0, x1, x1 + end*dx}, []float64{y0 + end*dy, y0, y1, y1 + end*dy})
}

// indexTicks returns 1 and round indices up to n that fit into the length.
func indexTicks(n int, length float64) []int {
	step := n
	for _, s := range []int{1, 5, 10, 20, 50, 100} {
		if float64(n)/float64(s)*1.6*smallSize <= length {
			step = s
			break
		}
	}
	t := []int{1}
	for i := max(step, 2); i <= n; i += step {
		t = append(t, i)
	}
	return t
}

const barSteps = 64

// bar draws the colour bar on the right of the frame r.
func (s scale) bar(p pen, r rect) {
	b := rect{r.right() + barGap, r.y, barWidth, r.h}
	ramp := make([][]float64, barSteps)
	for i := range ramp {
		ramp[i] = []float64{s.max + (s.min-s.max)*float64(i)/(barSteps-1)}
	}
	p.cells(b, ramp, s)
	thin := stroke{color: grey, width: 0.5}
	p.stroke(b.path(), thin)
	wide := 0.0
	for _, t := range s.ticks(b.h) {
		f := (t - s.min) / (s.max - s.min)
		y := b.y + f*b.h
		p.stroke(segment(b.right(), y, b.right()+1.8, y), thin)
		l := barLabel(t)
		// The ends stay within the height of the frame.
		y = min(max(y, b.y+capHeight/2*smallSize), b.top()-capHeight/2*smallSize)
		p.text(l, b.right()+tickGap, y, textStyle{size: smallSize, h: left, v: middle, color: black})
		wide = max(wide, textWidth(l.Text, smallSize, false))
	}
	if !s.label.empty() {
		p.text(s.label, b.right()+tickGap+wide+3, b.y+b.h/2, textStyle{size: smallSize, h: middle, v: top, turned: true, color: black})
	}
}

// overlap is a dot of a screen with 96 dots per inch.
const overlap = 0.75

// eachRun calls paint for each run of equal colour in a row of the matrix,
// with its first cell and its size, if cells are cw wide and ch high. The runs
// are to be painted in this order: each reaches a little over its neighbours
// to the right and below, so that viewers that smooth edges show no seam, while
// cells of whole pixels stay whole.
func eachRun(m [][]float64, s scale, cw, ch float64, paint func(i, j int, w, h float64, c color.RGBA)) {
	for i, row := range m {
		h := ch
		if i+1 < len(m) {
			h += min(ch/2, overlap)
		}
		for j := 0; j < len(row); {
			c := s.color(row[j])
			k := j + 1
			for k < len(row) && s.color(row[k]) == c {
				k++
			}
			w := float64(k-j) * cw
			if k < len(row) {
				w += min(cw/2, overlap)
			}
			paint(i, j, w, h, c)
			j = k
		}
	}
}
