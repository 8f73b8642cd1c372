package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// pgfplots writes the panel as an axis of pgfplots with its data, for readers to change.
func (a *Axes) pgfplots(t *tikz, p *plot.Plot, frame vg.Rectangle) {
	size := frame.Size()
	t.printf("\\begin{axis}[at={(%sbp,%sbp)},anchor=south west,scale only axis,width=%sbp,height=%sbp,\n",
		num(frame.Min.X), num(frame.Min.Y), num(size.X), num(size.Y))
	t.printf("  xmin=%s,xmax=%s,ymin=%s,ymax=%s,enlargelimits=false,clip=false,\n",
		short(p.X.Min), short(p.X.Max), short(p.Y.Min), short(p.Y.Max))
	t.axis("x", a.X, p.X)
	wide := t.axis("y", a.Y, p.Y)
	// Without scaled ticks the labels are the values, without a factor over the axis.
	t.printf("  scaled ticks=false,axis lines*=left,axis line style={line width=%gbp},", axisWidth)
	t.printf("ymajorgrids,grid style={%s},\n", t.line(gridLine))
	t.printf("  tick align=outside,tick style={black,line width=%gbp},major tick length=%gbp,minor tick length=%gbp,\n",
		axisWidth, tickLength, tickLength/2)
	t.printf("  tick label style={font=%s,inner sep=0bp},ticklabel shift=1.5bp,label style={font=%s,inner sep=0bp},\n",
		texFont(smallSize, false), texFont(labelSize, false))
	// The emptied styles also turn the label of y.
	t.printf("  xlabel style={at={(axis description cs:0.5,0)},yshift=-%sbp,anchor=north},"+
		"ylabel style={at={(axis description cs:0,0.5)},rotate=90,yshift=%sbp,anchor=south}]\n",
		num(tickLength+smallSize+4), num(tickLength+5.5+float64(wide)))
	for i, s := range a.Series {
		if s.Err != nil && !s.Points {
			fill := a.band(i).Color
			t.table("draw=none,fill="+t.color(fill)+",fill opacity="+opacity(nrgba(fill)), s.outline(), nil)
			t.printf(" -- cycle;\n")
		}
	}
	for _, l := range a.Levels {
		t.table(t.line(levelLine), plotter.XYs{{X: p.X.Min, Y: l.Y}, {X: p.X.Max, Y: l.Y}}, nil)
		t.printf(";\n")
	}
	at := func(v plotter.XY) r2.Vec {
		return r2.Vec{X: p.X.Norm(v.X) * float64(size.X), Y: p.Y.Norm(v.Y) * float64(size.Y)}
	}
	for i, s := range a.Series {
		if !s.Points {
			t.table(t.line(a.curve(i).LineStyle), thin(s.points(), at), nil)
			t.printf(";\n")
			continue
		}
		mark := marks[a.mark(i)%len(marks)]
		options := fmt.Sprintf("only marks,%s,mark=%s,mark size=%sbp,mark options={line width=%sbp}",
			t.color(a.color(i)), mark.name, num(float64(markRadius)), num(mark.width))
		if s.Err != nil {
			options += ",error bars/.cd,y dir=both,y explicit,error bar style={line width=0.7bp}," +
				"error mark options={rotate=90,mark size=1.5bp,line width=0.7bp}"
		}
		t.table(options, s.points(), s.Err)
		t.printf(";\n")
	}
	t.printf("\\end{axis}\n")
}

// inTeX reports whether numbers of TeX, which have six digits, can hold the range of an axis.
func inTeX(p plot.Axis) bool {
	most := max(math.Abs(p.Min), math.Abs(p.Max))
	return most > 1e-30 && most < 1e30 && p.Max-p.Min > 1e-3*most && (p.Min > 1e-30 || !isLog(p.Scale))
}

// thin removes points of a curve that are less than 1/50 pt from the lines between the others
// (the algorithm of Ramer, Douglas and Peucker): LaTeX is slow. at is the place on the page.
func thin(curve plotter.XYs, at func(plotter.XY) r2.Vec) plotter.XYs {
	last := len(curve) - 1
	if last < 2 {
		return curve
	}
	a, b := at(curve[0]), at(curve[last])
	far, most := 0, 0.02
	for i, v := range curve[1:last] {
		if d := distance(at(v), a, b); d > most {
			far, most = i+1, d
		}
	}
	if far == 0 {
		return plotter.XYs{curve[0], curve[last]}
	}
	return slices.Concat(thin(curve[:far+1], at), thin(curve[far:], at)[1:])
}

// distance returns the distance of p from the segment between a and b.
func distance(p, a, b r2.Vec) float64 {
	p, b = r2.Sub(p, a), r2.Sub(b, a)
	along := r2.Dot(p, b) / max(r2.Norm2(b), math.SmallestNonzeroFloat64)
	return r2.Norm(r2.Sub(p, r2.Scale(min(max(along, 0), 1), b)))
}

// axis writes the ticks and the label of an axis. It returns the width of the widest number.
func (t *tikz) axis(name string, x Axis, p plot.Axis) (wide vg.Length) {
	var at, labels, minor []string
	for _, tick := range p.Tick.Marker.Ticks(p.Min, p.Max) {
		if tick.IsMinor() {
			minor = append(minor, short(tick.Value))
			continue
		}
		at, labels = append(at, short(tick.Value)), append(labels, mathematics(tick.Label))
		wide = max(wide, vg.Length(Text(tick.Label).Width(smallSize)))
	}
	t.printf("  ")
	if x.Log {
		t.printf("%smode=log,", name)
	}
	list := func(s []string) string { return "{" + strings.Join(s, ",") + "}" }
	t.printf("%stick=%s,%sticklabels=%s,minor %stick=%s,\n", name, list(at), name, list(labels), name, list(minor))
	if !x.Label.empty() {
		t.printf("  %slabel={%s},\n", name, x.Label.source())
	}
	return wide
}

// table writes the start of a plot of the points, with the half-lengths of
// error bars in a third column unless they are nil.
func (t *tikz) table(options string, xys plotter.XYs, bars []float64) {
	columns := "x index=0,y index=1"
	if bars != nil {
		columns += ",y error index=2"
	}
	t.printf("\\addplot[%s] table[%s] {\n", options, columns)
	for i, p := range xys {
		t.printf("%s %s", short(p.X), short(p.Y))
		if bars != nil {
			t.printf(" %s", short(bars[i]))
		}
		t.printf("\n")
	}
	t.printf("}")
}
