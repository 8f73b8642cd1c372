package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Scale maps values to colours. With Min = Max = 0 the range follows from the data: from min
// to max, or ±max|v| if Signed. For data that are equal up to rounding errors it begins at the
// least value v and is max(1, |v|/1000) wide, or it is ±1 if Signed and v is 0.
type Scale struct {
	Palette  Palette
	Min, Max float64
	Label    Label // along the bar
	Hidden   bool  // leaves out the bar, if another panel shows it
}

// ShareScale gives the matrices one scale for the data of all, and only the last one a bar.
func ShareScale(s Scale, ms ...*Matrix) {
	var all [][]float64
	for _, m := range ms {
		all = append(all, m.Values...)
	}
	// An error is reported when the figure is drawn.
	if r, err := s.resolve(all); err == nil {
		s.Min, s.Max = r.Min, r.Max
	}
	for i, m := range ms {
		m.Scale = s
		m.Scale.Hidden = i+1 < len(ms)
	}
}

// resolve returns s with its range for the matrix m. It returns an error for a value that is
// not finite or outside a given range, and for a signed range that is not symmetric.
func (s Scale) resolve(m [][]float64) (Scale, error) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, row := range m {
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return s, fmt.Errorf("matrix entry (%d, %d) is %v, want a finite number", i, j, v)
			}
			if s.Min != s.Max && (v < s.Min || v > s.Max) {
				return s, fmt.Errorf("matrix entry (%d, %d) = %v lies outside the scale [%v, %v]: "+
					"widen it, colours are never clipped", i, j, v, s.Min, s.Max)
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	switch {
	case s.Min != s.Max:
		lo, hi = s.Min, s.Max
		if s.Palette == Signed && lo != -hi {
			return s, fmt.Errorf("signed scale [%v, %v] is not symmetric about 0", lo, hi)
		}
	case s.Palette == Signed:
		hi = max(math.Abs(lo), math.Abs(hi))
		lo = -hi
	}
	switch {
	case !flat(lo, hi):
	case s.Palette == Signed:
		lo, hi = -1, 1
	default:
		hi = lo + max(1, math.Abs(lo)/1000)
	}
	if hi-lo > widest {
		return s, fmt.Errorf("matrix has colours for the range [%v, %v], want a width of at most %v", lo, hi, widest)
	}
	s.Min, s.Max = lo, hi
	return s, nil
}

// color returns the colour of a value in the range of s.
func (s Scale) color(v float64) color.NRGBA {
	return nrgba(s.Palette.at((v - s.Min) / (s.Max - s.Min)))
}

// ticks returns the ends of the scale, and the round values that fit into a bar of height h. A
// bar lower than two numbers has the upper end only.
func (s Scale) ticks(h float64) []float64 {
	if h < 1.5*smallSize {
		return []float64{s.Max}
	}
	t := []float64{s.Min}
	room := 1.5 * smallSize / h * (s.Max - s.Min)
	n := min(4, max(1, int(h/(2.2*smallSize))))
	for _, v := range niceTicks(s.Min, s.Max, n) {
		if v-s.Min > room && s.Max-v > room {
			t = append(t, v)
		}
	}
	return append(t, s.Max)
}

// barLabel writes a value to a number of digits.
func barLabel(v float64, digits int) Label {
	s := strconv.FormatFloat(v, 'g', digits, 64)
	if a := math.Abs(v); a >= 1e-4 && a < 1e6 {
		x, _ := strconv.ParseFloat(s, 64)
		s = strconv.FormatFloat(x, 'f', -1, 64)
	}
	return signedLabel(s)
}

// lyingBar is a plotter that shows a scale below the right half of the frame.
type lyingBar struct{ Scale }

// GlyphBoxes reserves the space for the bar.
func (b lyingBar) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	const deep = barGap + barWidth + tickGap + smallSize
	return []plot.GlyphBox{{Y: 0, Rectangle: vg.Rectangle{Min: vg.Point{Y: -deep}}}}
}

func (b lyingBar) Plot(c draw.Canvas, _ *plot.Plot) {
	r := vg.Rectangle{Max: vg.Point{X: c.Max.X, Y: c.Min.Y - barGap}}
	r.Min = vg.Point{X: c.Min.X + snap(c.Size().X/2), Y: r.Max.Y - barWidth}
	paintCells(c, r, 1, barSteps, func(_, j int) color.NRGBA {
		return b.color(b.Min + (b.Max-b.Min)*float64(j)/(barSteps-1))
	})
	c.SetLineStyle(thinLine)
	c.Stroke(r.Path())
	w := r.Size().X
	ticks := b.ticks(float64(w) / 2) // numbers are wider than high
	for i, l := range distinct(ticks, 3, barLabel) {
		t := ticks[i]
		x := r.Min.X + w*vg.Length((t-b.Min)/(b.Max-b.Min))
		c.StrokeLine2(thinLine, x, r.Min.Y, x, r.Min.Y-1.8)
		half := vg.Length(l.Width(smallSize)) / 2 // the last stays within the width of the frame
		at := vg.Point{X: min(x, r.Max.X-half), Y: r.Min.Y - tickGap}
		l.Draw(c, textStyle(smallSize, text.XCenter, text.YTop), at)
	}
	b.Label.Draw(c, textStyle(smallSize, text.XRight, text.YCenter), vg.Point{X: r.Min.X - 8, Y: r.Min.Y + barWidth/2})
}

// bar is a plotter that shows a scale on the right of the frame.
type bar struct{ Scale }

const (
	barGap   = 6
	barWidth = 6
	barSteps = 64
)

// GlyphBoxes reserves the space for the bar.
func (b bar) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	w := barGap + barWidth + tickGap + b.wide(100)
	if !b.Label.empty() {
		w += smallSize + 4
	}
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: w}}}}
}

// wide returns the width of the widest number at a bar of height h.
func (b bar) wide(h vg.Length) (w vg.Length) {
	for _, l := range distinct(b.ticks(float64(h)), 3, barLabel) {
		w = max(w, vg.Length(l.Width(smallSize)))
	}
	return w
}

func (b bar) Plot(c draw.Canvas, _ *plot.Plot) {
	r := vg.Rectangle{
		Min: vg.Point{X: c.Max.X + barGap, Y: c.Min.Y}, Max: vg.Point{X: c.Max.X + barGap + barWidth, Y: c.Max.Y},
	}
	paintCells(c, r, barSteps, 1, func(i, _ int) color.NRGBA {
		return b.color(b.Max + (b.Min-b.Max)*float64(i)/(barSteps-1))
	})
	c.SetLineStyle(thinLine)
	c.Stroke(r.Path())
	h := r.Size().Y
	ticks := b.ticks(float64(h))
	for i, l := range distinct(ticks, 3, barLabel) {
		t := ticks[i]
		y := r.Min.Y + h*vg.Length((t-b.Min)/(b.Max-b.Min))
		c.StrokeLine2(thinLine, r.Max.X, y, r.Max.X+1.8, y)
		const half = capHeight / 2 * smallSize // the ends stay within the height of the frame
		y = min(max(y, r.Min.Y+half), r.Max.Y-half)
		l.Draw(c, textStyle(smallSize, text.XLeft, text.YCenter), vg.Point{X: r.Max.X + tickGap, Y: y})
	}
	sty := textStyle(smallSize, text.XCenter, text.YTop)
	sty.Rotation = math.Pi / 2
	b.Label.Draw(c, sty, vg.Point{X: r.Max.X + tickGap + b.wide(h) + 3, Y: r.Min.Y + h/2})
}
