package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// Colour and mark of a verdict.
var verdictInk = map[ledger.Verdict]figure.Ink{
	ledger.Holds: 1, ledger.Fails: 2, ledger.Open: figure.Grey,
}

var verdictMark = map[ledger.Verdict]int{
	ledger.Holds: 1, ledger.Fails: 2, ledger.Open: 5,
}

var verdictOrder = []ledger.Verdict{ledger.Holds, ledger.Fails, ledger.Open}

func verdictsOf(l *ledger.Ledger) []ledger.Verdict {
	return slices.DeleteFunc(slices.Clone(verdictOrder), func(v ledger.Verdict) bool {
		return !slices.ContainsFunc(l.Rows, func(r ledger.Row) bool { return r.Verdict == v })
	})
}

// legend explains the marks, from (x, y) to the right.
func legend(d *figure.Drawing, l *ledger.Ledger, x, y float64) {
	for _, v := range verdictsOf(l) {
		name := figure.Text(string(v))
		d.Mark(verdictInk[v], verdictMark[v], x+2, y)
		d.Text(figure.Black, 7, -1, name, x+7, y)
		x += name.Width(7) + 19
	}
}

// Sizes of the figure of margins.
const (
	marginLine   = 8.6  // height of a row
	marginHead   = 11.5 // height of a section's heading
	marginNumber = 46.0 // room of the paper's number
	marginLabel  = 118.0
	marginGap    = 12.0
	marginTop    = 34.0 // legend and scale
	drawingWidth = float64(figure.TwoColumns) - 4
	marginColumn = (drawingWidth - marginGap) / 2
	secondColumn = marginColumn + marginGap
)

// A marginEntry is a row of the figure of margins, or a heading, with its place: y downwards from the top.
type marginEntry struct {
	heading string
	row     ledger.Row
	x, y    float64
}

func (e marginEntry) height() float64 {
	if e.heading != "" {
		return marginHead
	}
	return marginLine
}

// marginEntries returns all rows except corrections, each section under its heading, in
// two columns, and the depth of the longer column.
func marginEntries(l *ledger.Ledger) (all []marginEntry, deepest float64) {
	var entries []marginEntry
	total, section := 0.0, ""
	for _, r := range l.Rows {
		if r.Kind == ledger.Correction {
			continue
		}
		if r.Section != section {
			section = r.Section
			entries = append(entries, marginEntry{heading: section})
			total += marginHead
		}
		entries = append(entries, marginEntry{row: r})
		total += marginLine
	}
	x, y := 0.0, 0.0
	for _, e := range entries {
		if x == 0 && y >= total/2 && (e.heading != "" || y >= total/2+3*marginLine) {
			x, y = secondColumn, 0
			if e.heading == "" {
				again := e.row.Section + ", continued"
				all = append(all, marginEntry{heading: again, x: x, y: marginHead - marginLine/2})
				y = marginHead
			}
		}
		y += e.height()
		e.x, e.y = x, y-marginLine/2
		all = append(all, e)
		deepest = max(deepest, y)
	}
	return all, deepest
}

// marginScale returns the place of a margin in a column, on a signed square root that separates small margins.
func marginScale(l *ledger.Ledger) func(margin float64) float64 {
	end := 1.0
	for _, r := range l.Rows {
		end = max(end, math.Abs(r.Margin))
	}
	half := (marginColumn - marginLabel - 8) / 2
	return func(m float64) float64 {
		return marginLabel + 4 + half + math.Copysign(math.Sqrt(math.Abs(m)/end), m)*half
	}
}

// drawScale draws the lines of the scale at -1, ..., 1 of both columns.
func drawScale(d *figure.Drawing, at func(float64) float64) {
	for _, x := range []float64{0, secondColumn} {
		d.Text(figure.Black, 7, 0, figure.Text("Margin, on a signed square root"), x+at(0), d.H-marginTop+15)
		for _, m := range []float64{-1, -0.1, -0.01, 0, 0.01, 0.1, 1} {
			k, w := figure.Faint, 0.4
			if m == 0 {
				k, w = figure.Grey, 0.6
			}
			d.Line(k, w, x+at(m), 0, x+at(m), d.H-marginTop)
			if m == 0 || math.Abs(m) >= 0.1 {
				text := strings.Replace(fmt.Sprint(m), "-", "−", 1)
				d.Text(figure.Black, 6, 0, figure.Text(text), x+at(m), d.H-marginTop+5)
			}
		}
	}
}

// ledgerFigure shows the margin of each statement on its worst instance, or on its
// witness, by section, with the margin of the corrected statement on the same line.
func ledgerFigure(l *ledger.Ledger) *figure.Figure {
	entries, deepest := marginEntries(l)
	at, owner := marginScale(l), owners(l)
	d := &figure.Drawing{W: drawingWidth, H: deepest + marginTop + 2}
	drawScale(d, at)
	legend(d, l, 0, d.H-5)
	for _, e := range entries {
		y := d.H - marginTop - e.y
		if e.heading != "" {
			d.Text(figure.Grey, 7, -1, figure.Text(e.heading), e.x, y)
			continue
		}
		d.Text(figure.Black, 6.5, -1, figure.Text(e.row.Number), e.x, y)
		d.Text(figure.Black, 6.5, -1, figure.Text(shortID(e.row, owner[e.row.ID])), e.x+marginNumber, y)
		d.Line(figure.Faint, 0.4, e.x+marginLabel, y, e.x+marginColumn, y)
		rows := []ledger.Row{e.row}
		if c := l.Find(e.row.Corrected); c != nil {
			rows = append(rows, *c)
			d.Line(verdictInk[c.Verdict], 0.7, e.x+at(e.row.Margin), y, e.x+at(c.Margin), y)
		}
		for _, r := range rows {
			d.Mark(verdictInk[r.Verdict], verdictMark[r.Verdict], e.x+at(r.Margin), y)
		}
	}
	return oneRow(figure.TwoColumns,
		"A list of all statements by section with a mark at the margin of each: marks at the left of zero fail, "+
			"and a line leads from these to the mark of the corrected statement at zero or at the right.",
		`The ledger: margin of each statement on its worst instance (where one fails, `+
			`on its witness), on the scale of a signed square root. A statement fails where the margin is `+
			`negative; a line leads to the margin of its corrected form.`, d)
}

// shortID returns the id of a row. The id of a step, whose statement is above it, is
// shortened by the id of the statement.
func shortID(r ledger.Row, statement string) string {
	if statement != "" && statement != r.ID {
		return "…" + strings.TrimPrefix(r.ID, statement)
	}
	return r.ID
}

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

// dependencyFigure draws the statements that each proof uses, from the top down, coloured by
// verdict, without arrows that follow from others and statements without arrows.
func dependencyFigure(l *ledger.Ledger) *figure.Figure {
	rows, slips := statements(l)
	rows, edges := joinedStatements(rows)
	p := newDependencyDrawing(l, rows, edges, func(r ledger.Row) string {
		_, name, _ := strings.Cut(r.ID, "-")
		return name
	})
	for i, r := range p.rows {
		corrected := ledger.Verdict("")
		if c := l.Find(r.Corrected); c != nil {
			corrected = c.Verdict
		}
		p.statement(i, r.Verdict, slips[r.ID], corrected)
	}
	p.legend()
	return oneRow(figure.TwoColumns,
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

// newDependencyDrawing lays out boxes with the short number of a row and the text name(row),
// broken into the longest lines that fit the page, and draws the arrows.
func newDependencyDrawing(
	l *ledger.Ledger, rows []ledger.Row, edges [][2]int, name func(ledger.Row) string,
) *dependencyDrawing {
	p, n := &dependencyDrawing{ledger: l, rows: rows}, len(rows)
	p.lines, p.width = make([][]string, n), make([]float64, n)
	right := 0.0
	for room := boxWidest; room >= boxLeast && (room == boxWidest || right > drawingWidth); room-- {
		for i, r := range rows {
			p.lines[i] = wrap(name(r), room, boxText)
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
	entry("a step fails", func() {
		p.d.Frame(figure.Grey, 0.6, x, y, w, h)
		box(ledger.Fails, x, boxStrip)()
	})
	entry("corrected", func() {
		p.d.Frame(figure.Grey, 0.6, x, y, w, h)
		box(ledger.Holds, x+w-boxStrip, boxStrip)()
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

// statement draws a box in the colour of a verdict, with a strip for a false step, and one
// in the colour of the verdict of the corrected statement unless that is "".
func (p *dependencyDrawing) statement(i int, v ledger.Verdict, slip bool, corrected ledger.Verdict) {
	h, left := p.height(i), p.y[i]-p.width[i]/2
	p.d.Box(verdictInk[v], left, p.upper(i)-h, p.width[i], h)
	if slip {
		p.d.Box(verdictInk[ledger.Fails], left, p.upper(i)-h, boxStrip, h)
	}
	if corrected != "" {
		p.d.Box(verdictInk[corrected], left+p.width[i]-boxStrip, p.upper(i)-h, boxStrip, h)
	}
	p.d.Mark(verdictInk[v], verdictMark[v], left, p.upper(i)) // readable without colours
	top := p.upper(i) - 2 - boxNumber
	p.d.Text(figure.Black, boxNumber, 0, figure.Text(shorter.Replace(p.rows[i].Number)), p.y[i], top+boxNumber/2)
	for k, s := range p.lines[i] {
		p.d.Text(figure.Black, boxText, 0, figure.Text(s), p.y[i], top-boxLine*(float64(k)+0.5))
	}
}

// owners returns the statement of each row, by the id of the row, which begins with the id of the statement.
func owners(l *ledger.Ledger) map[string]string {
	owner := make(map[string]string)
	for _, s := range l.Rows {
		if s.Kind != ledger.Statement {
			continue
		}
		for _, r := range l.Rows {
			if (r.ID == s.ID || strings.HasPrefix(r.ID, s.ID+"-")) && len(s.ID) > len(owner[r.ID]) {
				owner[r.ID] = s.ID
			}
		}
	}
	return owner
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

// headlineFigure counts the rows of the ledger by verdict in three bars: the statements
// as printed, the steps and remarks, and the corrections.
func headlineFigure(l *ledger.Ledger) *figure.Figure {
	const left, bar, gap, top = 96.0, 17.0, 7.0, 16.0
	kinds := []struct {
		kind ledger.Kind
		name string
	}{
		{ledger.Statement, "statements"}, {ledger.Step, "steps, remarks"}, {ledger.Correction, "corrected"},
	}
	count := func(k ledger.Kind, v ledger.Verdict) (n int) {
		for _, r := range l.Rows {
			if r.Kind == k && (v == "" || r.Verdict == v) {
				n++
			}
		}
		return n
	}
	most := 0
	for _, k := range kinds {
		most = max(most, count(k.kind, ""))
	}
	d := &figure.Drawing{W: float64(figure.FullText) - 6, H: top + float64(len(kinds))*(bar+gap)}
	unit := (d.W - left - 1) / float64(most)
	legend(d, l, left, d.H-5)
	for row, k := range kinds {
		y := d.H - top - float64(row+1)*(bar+gap) + gap
		total := figure.Text(fmt.Sprintf("%d %s", count(k.kind, ""), k.name))
		d.Text(figure.Black, 8, 1, total, left-6, y+bar/2)
		x := left
		for _, v := range verdictOrder {
			n := count(k.kind, v)
			if n == 0 {
				continue
			}
			w := unit * float64(n)
			d.Box(verdictInk[v], x, y, w, bar)
			number := figure.Text(fmt.Sprint(n))
			from := x + (w-number.Width(8)-7)/2 // of the mark and the number
			d.Mark(verdictInk[v], verdictMark[v], from+2, y+bar/2)
			d.Text(figure.Black, 8, -1, number, from+7, y+bar/2)
			x += w
		}
	}
	return oneRow(figure.FullText,
		"Three bars of coloured pieces with their counts: two thirds of the statements hold and a third fail; "+
			"most of the steps listed fail; every correction holds.",
		fmt.Sprintf(`The ledger in numbers: the %d rows of statements of the paper, the displayed steps and remarks, `+
			`and the corrections. %s`, count(ledger.Statement, ""), l.Account()), d)
}
