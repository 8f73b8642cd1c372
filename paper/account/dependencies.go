package account

import (
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// Sizes of the drawing of dependencies.
const (
	boxNumber = 6.4 // font of the paper's number
	boxText   = 6.0 // font of the id
	boxLine   = boxText + 1
	boxStrip  = 3.0
	boxWidest = 60.0 // room for text
	boxLeast  = 10.0
	layerTop  = 20.0 // legend
	layerGap  = 14.0
)

// A dependencyDrawing has the statements as boxes, layer by layer from the top.
type dependencyDrawing struct {
	*layered
	ledger *ledger.Ledger
	rows   []ledger.Row // of the boxes
	width  []float64    // of each box
	lines  [][]string   // the text in each
	deep   []float64    // height of a layer's boxes
	top    []float64    // of a layer, downwards
	d      *figure.Drawing
}

// Dependencies draws the statements that each proof uses, from the top down, coloured by
// verdict, without arrows that follow from others and statements without arrows.
func Dependencies(l *ledger.Ledger) *figure.Figure {
	rows, slips := statements(l)
	rows, edges := joinedStatements(rows)
	p := newDependencyDrawing(l, rows, edges)
	for i, r := range p.rows {
		p.statement(i, r, slips[r.ID])
	}
	p.legend()
	return figure.OneRow(figure.TwoColumns,
		"Boxes of statements, joined by lines from the lemmas at the top to the two theorems at the bottom, in "+
			"the colour of their verdicts. False statements stand near the top and in the middle.",
		`Which statement's proof uses which, from the top down, coloured by verdict, each with its number `+
			`and its id without the kind (lem-, thm-, eq- and so on). A strip at the right end of a box is the `+
			`corrected statement; a strip at the left end says that a displayed step of the proof is false. Arrows `+
			`that follow from others are left out, as are statements without arrows; arrows from a statement `+
			`that is false as printed are in its colour.`, p.d)
}

// joinedStatements returns the rows that have an arrow, and the arrows between them.
func joinedStatements(rows []ledger.Row) (joined []ledger.Row, edges [][2]int) {
	number := make(map[string]int)
	for i, r := range rows {
		number[r.ID] = i
	}
	edges = reduced(rows, number)
	place := make([]int, len(rows)) // among the joined
	for i, r := range rows {
		if slices.ContainsFunc(edges, func(e [2]int) bool { return e[0] == i || e[1] == i }) {
			place[i] = len(joined)
			joined = append(joined, r)
		}
	}
	for k, e := range edges {
		edges[k] = [2]int{place[e[0]], place[e[1]]}
	}
	return joined, edges
}

// newDependencyDrawing lays out boxes with the short number of a row and its id without the kind,
// broken into the longest lines that fit the page, and draws the arrows.
func newDependencyDrawing(l *ledger.Ledger, rows []ledger.Row, edges [][2]int) *dependencyDrawing {
	p, n := &dependencyDrawing{ledger: l, rows: rows}, len(rows)
	p.lines, p.width = make([][]string, n), make([]float64, n)
	right := 0.0
	for room := boxWidest; room >= boxLeast && (room == boxWidest || right > drawingWidth); room-- {
		for i, r := range rows {
			_, name, _ := strings.Cut(r.ID, "-")
			p.lines[i] = wrap(name, room, boxText)
			w := figure.Text(shorter.Replace(r.Number)).Width(boxNumber)
			for _, s := range p.lines[i] {
				w = max(w, figure.Text(s).Width(boxText))
			}
			p.width[i] = w + 2*boxStrip + 2.4
		}
		p.layered = layOut(n, edges, func(i int) float64 {
			if i >= n {
				return 5
			}
			return p.width[i] + 3
		})
		right = 0
		for i, w := range p.width {
			right = max(right, p.y[i]+w/2+1)
		}
	}
	p.deep, p.top = make([]float64, len(p.order)), make([]float64, len(p.order))
	for i := range n {
		p.deep[p.layer[i]] = max(p.deep[p.layer[i]], p.height(i))
	}
	for k := 1; k < len(p.top); k++ {
		p.top[k] = p.top[k-1] + p.deep[k-1] + layerGap
	}
	last := len(p.top) - 1
	p.d = &figure.Drawing{
		W: max(drawingWidth, right),
		H: p.top[last] + p.deep[last] + layerTop + 1,
	}
	for _, path := range p.paths {
		p.arrow(path)
	}
	return p
}

// legend explains the colours of the boxes and the strips.
func (p *dependencyDrawing) legend() {
	const w, h = 16.0, 8.0
	x, y := 3.0, p.d.H-h-3
	entry := func(name string, draw func()) {
		draw()
		l := figure.Text(name)
		p.d.Text(figure.Black, 7, -1, l, x+w+4, y+h/2)
		x += w + l.Width(7) + 16
	}
	box := func(v ledger.Verdict, x, w float64) func() {
		return func() { p.d.Box(verdictInk[v], x, y, w, h) }
	}
	for _, v := range verdictsOf(p.ledger) {
		entry(string(v), func() {
			box(v, x, w)()
			p.d.Mark(verdictInk[v], verdictMark[v], x, y+h)
		})
	}
	entry("a step refuted", func() {
		p.d.Frame(figure.Grey, 0.6, x, y, w, h)
		box(ledger.Refuted, x, boxStrip)()
	})
	entry("corrected", func() {
		p.d.Frame(figure.Grey, 0.6, x, y, w, h)
		box(ledger.Proved, x+w-boxStrip, boxStrip)()
	})
}

func (p *dependencyDrawing) height(i int) float64 {
	return boxNumber + 1 + boxLine*float64(len(p.lines[i])) + 3
}

// upper and lower return the edges of the layer of a statement or point.
func (p *dependencyDrawing) upper(i int) float64 { return p.d.H - layerTop - p.top[p.layer[i]] }

func (p *dependencyDrawing) lower(i int) float64 { return p.upper(i) - p.deep[p.layer[i]] }

func (p *dependencyDrawing) arrow(path []int) {
	ink, weight := figure.Grey, 0.5
	if f := p.rows[path[0]]; f.Failed() {
		ink, weight = verdictInk[f.Verdict], 0.7
	}
	for k := 1; k < len(path); k++ {
		a, b := path[k-1], path[k]
		from := p.lower(a)
		if a < len(p.rows) {
			from = p.upper(a) - p.height(a)
		}
		p.d.Fall(ink, weight, p.y[a], from, p.y[b], p.upper(b))
		if b >= len(p.rows) { // through the layer of other statements
			p.d.Line(ink, weight, p.y[b], p.upper(b), p.y[b], p.lower(b))
		}
	}
}

// statement draws a box in the colour of the verdict of row i, with a strip for a false step, and one
// in the colour of the verdict of the corrected statement.
func (p *dependencyDrawing) statement(i int, r ledger.Row, slip bool) {
	v, h, left := r.Verdict, p.height(i), p.y[i]-p.width[i]/2
	p.d.Box(verdictInk[v], left, p.upper(i)-h, p.width[i], h)
	if slip {
		p.d.Box(verdictInk[ledger.Refuted], left, p.upper(i)-h, boxStrip, h)
	}
	if c := p.ledger.Find(r.Corrected); c != nil {
		p.d.Box(verdictInk[c.Verdict], left+p.width[i]-boxStrip, p.upper(i)-h, boxStrip, h)
	}
	p.d.Mark(verdictInk[v], verdictMark[v], left, p.upper(i)) // readable without colours
	top := p.upper(i) - 2 - boxNumber
	p.d.Text(figure.Black, boxNumber, 0, figure.Text(shorter.Replace(r.Number)), p.y[i], top+boxNumber/2)
	for k, s := range p.lines[i] {
		p.d.Text(figure.Black, boxText, 0, figure.Text(s), p.y[i], top-boxLine*(float64(k)+0.5))
	}
}

// statements returns the rows of the paper's statements, each with the uses of its steps,
// and the ids of the statements with a false step.
func statements(l *ledger.Ledger) (rows []ledger.Row, slips map[string]bool) {
	owner, uses := owners(l), make(map[string][]string)
	slips = make(map[string]bool)
	for _, r := range l.Rows {
		o := owner[r.ID]
		if r.Kind == ledger.Correction {
			continue
		}
		slips[o] = slips[o] || r.ID != o && r.Failed()
		for _, u := range r.Uses {
			if owner[u] != o {
				uses[o] = append(uses[o], owner[u])
			}
		}
	}
	for _, r := range l.Rows {
		if r.Kind == ledger.Statement {
			slices.Sort(uses[r.ID])
			r.Uses = slices.Compact(uses[r.ID])
			rows = append(rows, r)
		}
	}
	return rows, slips
}

// reduced returns the edges from used to user among the rows, without the edges that follow from a longer path.
func reduced(rows []ledger.Row, number map[string]int) [][2]int {
	users := make([][]int, len(rows))
	for i, r := range rows {
		for _, u := range r.Uses {
			if k, ok := number[u]; ok {
				users[k] = append(users[k], i)
			}
		}
	}
	reach := make([]map[int]bool, len(rows))
	var visit func(i int) map[int]bool
	visit = func(i int) map[int]bool {
		if reach[i] == nil {
			reach[i] = map[int]bool{}
			for _, u := range users[i] {
				reach[i][u] = true
				for v := range visit(u) {
					reach[i][v] = true
				}
			}
		}
		return reach[i]
	}
	var edges [][2]int
	for i := range rows {
		for _, u := range users[i] {
			if !slices.ContainsFunc(users[i], func(v int) bool { return v != u && visit(v)[u] }) {
				edges = append(edges, [2]int{i, u})
			}
		}
	}
	return edges
}

// shorter numbers fit into narrow boxes.
var shorter = strings.NewReplacer("Appendix", "App.", "Algorithm", "Alg.", "Theorem", "Thm.", "Corollary", "Cor.",
	"Section", "Sect.", "Construction", "Constr.")

// wrap breaks an id after hyphens into lines no wider than w, but for longer parts.
func wrap(id string, w, size float64) []string {
	var lines []string
	for _, part := range strings.SplitAfter(id, "-") {
		k := len(lines) - 1
		if k >= 0 && figure.Text(lines[k]+part).Width(size) <= w {
			lines[k] += part
			continue
		}
		lines = append(lines, part)
	}
	return lines
}
