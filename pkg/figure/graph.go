package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// A Graph draws a causal forest: the positions s_1, …, s_T in a row, and an
// arc from every parent to its child above them.
type Graph struct {
	Title Label
	// Parents holds the parent of each position, from 0, or -1 for a root.
	Parents []int
	// Query marks the last position as the query, which has no parent.
	Query bool
}

func (g *Graph) check() error {
	if len(g.Parents) == 0 {
		return fmt.Errorf("graph has no nodes")
	}
	for i, p := range g.Parents {
		switch {
		case p < -1 || p >= i:
			return fmt.Errorf("graph edge %d -> %d: want a parent before its child, or -1 for a root", p, i)
		case g.Query && i == len(g.Parents)-1 && p != -1:
			return fmt.Errorf("graph edge %d -> %d: the query has no parent", p, i)
		}
	}
	return nil
}

func (g *Graph) title() Label { return g.Title }

func (g *Graph) widths() (lo, hi float64) {
	n := float64(len(g.Parents))
	return minSpacing * n, maxSpacing * n
}

const (
	minSpacing  = 5.0
	maxSpacing  = 40.0
	maxRadius   = 9.5
	labelInside = 7.5 // radius from which a node holds its label
	minArc      = 60.0
	maxArc      = 90.0
	outAngle    = 60 * math.Pi / 180
)

func (g *Graph) margins(float64) margins {
	m := margins{left: 2, right: 2}
	if g.Query {
		m.bottom = smallSize + 4
	}
	return m
}

// graphShape holds the lengths of a drawing of width w.
type graphShape struct {
	spacing, radius float64
	pull            func(span float64) float64 // length of an arc's handles
	arc             float64                    // height of the highest one
	below           float64                    // space for labels below the nodes
}

func (g *Graph) shape(w float64) graphShape {
	n := float64(len(g.Parents))
	var s graphShape
	s.spacing = min(maxSpacing, w/n)
	s.radius = min(maxRadius, 0.38*s.spacing)
	longest := 0.0
	for i, p := range g.Parents {
		if p >= 0 {
			longest = max(longest, float64(i-p)*s.spacing)
		}
	}
	// A cubic arc is 3/4 of its handles' height. Long arcs are flattened
	// alike, so that no two of them cross more often than they must.
	const pull = 0.42
	limit := min(maxArc, max(minArc, w/4))
	flat := min(1, limit/(0.75*pull*math.Sin(outAngle)*max(longest, 1)))
	s.pull = func(span float64) float64 { return pull * span * flat }
	s.arc = s.radius + 0.75*math.Sin(outAngle)*s.pull(longest)
	if s.radius < labelInside {
		s.below = smallSize + 3
	}
	return s
}

func (g *Graph) frame(w float64) (fw, fh float64) {
	s := g.shape(w)
	return snap(s.spacing * float64(len(g.Parents))), snap(s.below+s.radius+max(s.arc, s.radius)+2) + pixel
}

func nodeLabel(i int) Label {
	n := strconv.Itoa(i + 1)
	text := "s"
	for _, c := range n {
		text += string('₀' + c - '0')
	}
	return Label{text, "$s_{" + n + "}$"}
}

var queryFill = color.RGBA{0xfd, 0xe3, 0xc4, 255}

func (g *Graph) draw(p pen, r rect) {
	s := g.shape(r.w)
	t, isTeX := p.(*tikz)
	x := func(i int) float64 { return r.x + (float64(i)+0.5)*s.spacing }
	y := r.y + s.below + s.radius + 1
	last := len(g.Parents) - 1
	line := stroke{color: black, width: 0.7}

	fits := func(l Label) bool { return textWidth(l.Text, smallSize, false) <= s.spacing-3 }
	index := func(i int) Label { return Text(strconv.Itoa(i + 1)) }
	for i := range g.Parents {
		fill, query := white, g.Query && i == last
		if query {
			fill = queryFill
		}
		label := Label{}
		if s.below == 0 {
			label = nodeLabel(i)
		}
		if isTeX {
			double := ""
			if query {
				double = ",double,double distance=1bp"
			}
			fmt.Fprintf(&t.b, "\\node[circle,draw,line width=0.7bp,fill=%s%s,inner sep=0bp,minimum size=%sbp,font=%s] (fignode%d) at %s {%s};\n",
				t.color(fill), double, num(2*s.radius), texFont(labelSize, false), i+1, xy(pt(x(i), y)), label.source())
		} else {
			p.fill(circle(x(i), y, s.radius), fill)
			p.stroke(circle(x(i), y, s.radius-line.width/2), line)
			if query {
				p.stroke(circle(x(i), y, s.radius-line.width/2-1.7), line)
			}
			if s.below == 0 {
				// The visual middle of a letter with a subscript is its x-height.
				p.text(label, x(i), y-xHeight/2*labelSize+0.6, textStyle{size: labelSize, h: middle, v: bottom, color: black})
			}
		}
		if s.below > 0 {
			l := nodeLabel(i)
			if !fits(nodeLabel(last)) {
				l = index(i)
			}
			if fits(index(last)) || i == 0 || (i+1)%5 == 0 {
				p.text(l, x(i), y-s.radius-3, textStyle{size: smallSize, h: middle, v: top, color: black})
			}
		}
	}
	if g.Query {
		p.text(Text("query"), x(last), r.y-2, textStyle{size: smallSize, h: middle, v: top, color: black})
	}

	arc := stroke{color: lineColors[0], width: 0.9}
	for i, q := range g.Parents {
		if q < 0 {
			continue
		}
		h := s.pull(x(i) - x(q))
		if isTeX {
			fmt.Fprintf(&t.b, "\\draw[%s,->,>=stealth] (fignode%d) .. controls +(60:%s) and +(120:%s) .. (fignode%d);\n",
				t.line(arc), q+1, num(h+s.radius), num(h+s.radius), i+1)
			continue
		}
		dx, dy := math.Cos(outAngle), math.Sin(outAngle)
		head := min(4, 0.28*s.spacing)
		x0, y0 := x(q)+s.radius*dx, y+s.radius*dy
		x1, y1 := x(i)-s.radius*dx, y+s.radius*dy // tip of the arrow
		xb, yb := x1-0.8*head*dx, y1+0.8*head*dy  // its base
		var c vg.Path
		c.Move(pt(x0, y0))
		c.CubeTo(pt(x0+h*dx, y0+h*dy), pt(xb-h*dx, yb+h*dy), pt(xb, yb))
		p.stroke(c, arc)
		wing := 0.38 * head
		xw, yw := x1-head*1.1*dx, y1+head*1.1*dy
		p.fill(polygon([]float64{x1, xw + wing*dy, xb, xw - wing*dy}, []float64{y1, yw + wing*dx, yb, yw - wing*dx}), arc.color)
	}
}
