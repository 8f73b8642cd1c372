package figure

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Graph is a panel that shows a causal forest: the positions s_1, …, s_T in a row,
// and above them an arc from every parent to its child.
type Graph struct {
	Title Label
	// Parents holds the parent of each position, from 0, or -1 for a root.
	Parents []int
	// Query marks the last position as the query, which has no parent.
	Query bool
	Names []Label // of the positions, below them; without names they are s_1, …, s_T
}

func (g *Graph) check() error {
	if len(g.Parents) == 0 {
		return fmt.Errorf("graph has no nodes")
	}
	if n := len(g.Names); n > 0 && n != len(g.Parents) {
		return fmt.Errorf("graph has %d names of %d nodes, want as many", n, len(g.Parents))
	}
	for i, p := range g.Parents {
		switch {
		case p < -1 || p >= i:
			return fmt.Errorf("graph edge %d -> %d: want a parent before its child, or -1 for a root", p, i)
		case g.Query && i == len(g.Parents)-1 && p != -1:
			return fmt.Errorf("graph edge %d -> %d: the query has no parent", p, i)
		}
	}
	return checkAll(g.Names)
}

func (g *Graph) Heading() Label { return g.Title }

func (g *Graph) Layout(w vg.Length) (Room, error) {
	if err := g.check(); err != nil {
		return Room{}, err
	}
	n := vg.Length(len(g.Parents))
	least := vg.Length(minSpacing)
	if g.Names != nil {
		least = smallSize + 1
	}
	w = min(max(w, least*n), max(maxSpacing, longestName(g.Names))*n)
	s := g.shape(w)
	height := snap(s.below+s.radius+max(s.arc, s.radius)+2) + pixel
	r := Room{Width: snap(s.spacing * n), Height: height, Left: 2, Right: 2}
	if g.queryBelow(s) {
		r.Bottom = smallSize + 4
	}
	return r, nil
}

// AddTo adds the graph to an empty plot, whose axes it hides.
func (g *Graph) AddTo(p *plot.Plot) error {
	r, err := g.Layout(0)
	if err != nil {
		return err
	}
	p.Add(arcs{g, r})
	p.HideAxes()
	p.Y.Scale = shaped{plot.LinearScale{}, func(w vg.Length) vg.Point {
		r, _ := g.Layout(w)
		return vg.Point{X: r.Width, Y: r.Height}
	}}
	return nil
}

// arcs is a plotter of a checked graph, with its margins.
type arcs struct {
	*Graph
	Room
}

func (a arcs) Plot(c draw.Canvas, _ *plot.Plot) { _ = a.Draw(c) }

// GlyphBoxes reserves the space for the word query.
func (a arcs) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	half := textWidth("query", textStyle(smallSize, 0, 0).Font) / 2
	return []plot.GlyphBox{
		{Rectangle: vg.Rectangle{Min: vg.Point{Y: -a.Bottom}}},
		{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: min(half, a.Bottom)}}},
	}
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

// graphShape holds the lengths of a graph's picture.
type graphShape struct {
	spacing, radius vg.Length
	pull            vg.Length // length of an arc's handles, in parts of its span
	arc             vg.Length // height of the highest arc
	below           vg.Length // space for labels below the nodes
	upright         bool      // labels are upright, as they are wider than the spacing
}

func (g *Graph) shape(w vg.Length) graphShape {
	var s graphShape
	s.spacing = w / vg.Length(len(g.Parents))
	if g.Names == nil {
		s.spacing = min(maxSpacing, s.spacing)
	}
	s.radius = min(maxRadius, 0.38*s.spacing)
	longest := vg.Length(0)
	for i, p := range g.Parents {
		if p >= 0 {
			longest = max(longest, vg.Length(i-p)*s.spacing)
		}
	}
	// A cubic arc has 3/4 of the height of its handles. Flattening all alike avoids crossings.
	rise := vg.Length(0.75 * math.Sin(outAngle))
	limit := min(maxArc, max(minArc, w/4))
	s.pull = min(0.42, limit/(rise*max(longest, 1)))
	s.arc = s.radius + rise*s.pull*longest
	switch s.upright = longestName(g.Names) > s.spacing; {
	case s.upright:
		s.below = longestName(g.Names)
	case s.radius < labelInside || g.Names != nil:
		s.below = smallSize + 3
	}
	return s
}

// Node returns the label s_{i+1} of the position i, counted from 0.
func Node(i int) Label {
	return Label{"s" + Subscript(i+1), "$s_{" + strconv.Itoa(i+1) + "}$"}
}

func (g *Graph) Draw(c draw.Canvas) error {
	s := g.shape(c.Size().X)
	at := func(i int) vg.Point {
		return vg.Point{X: c.Min.X + (vg.Length(i)+0.5)*s.spacing, Y: c.Min.Y + s.below + s.radius + 1}
	}
	for i := range g.Parents {
		g.node(c, i, at(i), s)
	}
	arc := draw.LineStyle{Color: lineColors[0], Width: 0.9}
	out := vg.Point{X: vg.Length(math.Cos(outAngle)), Y: vg.Length(math.Sin(outAngle))}
	back := vg.Point{X: -out.X, Y: out.Y}
	for i, p := range g.Parents {
		if p < 0 {
			continue
		}
		pull := s.pull * (at(i).X - at(p).X)
		arrow{
			from: at(p).Add(out.Scale(s.radius)), out: out, to: at(i).Add(back.Scale(s.radius)), in: back,
			pull: pull, head: min(4, 0.28*s.spacing),
		}.draw(c, arc)
	}
	return nil
}

// queryBelow reports whether the word query stands below the last node and its label.
func (g *Graph) queryBelow(s graphShape) bool {
	n := len(g.Names)
	return g.Query && (n == 0 || g.Names[n-1].Text != "query" && !s.upright)
}

// node draws node i about p. Its label stands inside, or below a small node.
func (g *Graph) node(c draw.Canvas, i int, p vg.Point, s graphShape) {
	line := draw.LineStyle{Color: black, Width: 0.7}
	last := len(g.Parents) - 1
	query := g.Query && i == last
	c.SetColor(white)
	if query {
		c.SetColor(queryFill)
	}
	c.Fill(circle(p, s.radius))
	c.SetLineStyle(line)
	c.Stroke(circle(p, s.radius-line.Width/2))
	below := textStyle(smallSize, text.XCenter, text.YTop)
	if query {
		c.Stroke(circle(p, s.radius-line.Width/2-1.7))
	}
	if query && g.queryBelow(s) {
		Text("query").Draw(c, below, vg.Point{X: p.X, Y: c.Min.Y - 2})
	}
	if s.below == 0 {
		// A letter with a subscript looks centred by its x-height.
		p.Y += 0.6 - xHeight/2*labelSize
		Node(i).Draw(c, textStyle(labelSize, text.XCenter, text.YBottom), p)
		return
	}
	if g.Names != nil {
		if s.upright {
			below = textStyle(smallSize, text.XRight, text.YCenter)
			below.Rotation = math.Pi / 2
		}
		g.Names[i].Draw(c, below, vg.Point{X: p.X, Y: p.Y - s.radius - 3})
		return
	}
	fits := func(l Label) bool { return l.Width(smallSize) <= float64(s.spacing)-3 }
	index := func(i int) Label { return Text(strconv.Itoa(i + 1)) }
	l := Node(i)
	if !fits(Node(last)) {
		l = index(i)
	}
	if fits(index(last)) || i == 0 || (i+1)%5 == 0 {
		l.Draw(c, below, vg.Point{X: p.X, Y: p.Y - s.radius - 3})
	}
}
