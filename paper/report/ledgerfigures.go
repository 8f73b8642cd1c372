package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"learncausal/pkg/figure"
	"learncausal/pkg/ledger"
)

// Colour and mark of a verdict.
var verdictInk = map[ledger.Verdict]figure.Ink{
	ledger.Holds: 1, ledger.Consistent: 3, ledger.Fails: 2, ledger.Inconsistent: 5, ledger.Open: figure.Grey,
}

var verdictMark = map[ledger.Verdict]int{
	ledger.Holds: 1, ledger.Consistent: 3, ledger.Fails: 2, ledger.Inconsistent: 2, ledger.Open: 4,
}

var verdictOrder = []ledger.Verdict{ledger.Holds, ledger.Consistent, ledger.Fails, ledger.Inconsistent, ledger.Open}

// legend writes what the colours mean, from (x, y) to the right.
func legend(d *figure.Drawing, x, y float64) {
	for _, v := range verdictOrder {
		l := figure.Text(string(v))
		d.Mark(verdictInk[v], verdictMark[v], x+2, y)
		d.Text(figure.Black, 7, -1, l, x+7, y)
		x += l.Width(7) + 19
	}
}

// LedgerFigure is the ledger as one picture: the margin of each statement on its
// worst instance, or on its witness, by section, with that of the corrected statement on the same
// line. The scale is the signed square root, so that small margins show.
func LedgerFigure(l *ledger.Ledger) *figure.Figure {
	const (
		line, head = 8.6, 11.5 // heights
		label      = 112.0
		width      = float64(figure.TwoColumns) - 4
		gap        = 12.0
		column     = (width - gap) / 2
		top        = 24.0 // legend and scale
	)
	type entry struct {
		heading string
		row     ledger.Row
	}
	var entries []entry
	total := 0.0
	section := ""
	for _, r := range l.Rows {
		if r.Kind == ledger.Correction {
			continue
		}
		if r.Section != section {
			section = r.Section
			entries = append(entries, entry{heading: section})
			total += head
		}
		entries = append(entries, entry{row: r})
		total += line
	}
	end := 1.0
	for _, r := range l.Rows {
		end = max(end, math.Abs(r.Margin))
	}
	half := (column - label - 8) / 2
	at := func(m float64) float64 {
		return label + 4 + half + math.Copysign(math.Sqrt(math.Abs(m)/end), m)*half
	}

	d := &figure.Drawing{W: width}
	type spot struct {
		x, y float64
		entry
	}
	var spots []spot
	deepest := 0.0
	for x, y := 0.0, 0.0; len(entries) > 0; entries = entries[1:] {
		e := entries[0]
		if x == 0 && y >= total/2 && (e.heading != "" || y >= total/2+3*line) {
			x, y = column+gap, 0
			if e.heading == "" {
				spots = append(spots, spot{x, head - line/2, entry{heading: e.row.Section + ", continued"}})
				y = head
			}
		}
		h := line
		if e.heading != "" {
			h = head
		}
		spots = append(spots, spot{x, y + h - line/2, e})
		y += h
		deepest = max(deepest, y)
	}
	d.H = deepest + top + 2
	for _, x := range []float64{0, column + gap} {
		for _, m := range []float64{-1, -0.1, -0.01, 0, 0.01, 0.1, 1} {
			k, w := figure.Faint, 0.4
			if m == 0 {
				k, w = figure.Grey, 0.6
			}
			d.Line(k, w, x+at(m), 0, x+at(m), d.H-top)
			if m == 0 || math.Abs(m) >= 0.1 {
				d.Text(figure.Black, 6, 0, figure.Text(strings.Replace(fmt.Sprint(m), "-", "−", 1)), x+at(m), d.H-top+5)
			}
		}
	}
	legend(d, 0, d.H-5)
	for _, s := range spots {
		y := d.H - top - s.y
		if s.heading != "" {
			d.Text(figure.Grey, 7, -1, figure.Text(s.heading), s.x, y)
			continue
		}
		d.Text(figure.Black, 6.5, -1, figure.Text(s.row.ID), s.x, y)
		d.Line(figure.Faint, 0.4, s.x+label, y, s.x+column, y)
		rows := []ledger.Row{s.row}
		if c := l.Find(string(s.row.Corrected)); c != nil {
			rows = append(rows, *c)
			d.Line(verdictInk[c.Verdict], 0.7, s.x+at(s.row.Margin), y, s.x+at(c.Margin), y)
		}
		for _, r := range rows {
			d.Mark(verdictInk[r.Verdict], verdictMark[r.Verdict], s.x+at(r.Margin), y)
		}
	}
	return &figure.Figure{
		ID: "fig-ledger", Width: figure.TwoColumns, Rows: [][]figure.Panel{{d}},
		Caption: `The ledger: margin of each statement on its worst instance (where one of the exact tier fails, on its witness), on the scale of a signed square root. A statement fails where the margin is negative; a line leads to the margin of its corrected form.`,
	}
}

// DependencyFigure draws which statement's proof uses which, from the top down,
// coloured by verdict. A strip at the right end of a box is the corrected
// statement, one at the left end says that a displayed step of the proof is
// false. An arrow that follows from others is left out, and so are statements
// without arrows.
func DependencyFigure(l *ledger.Ledger) *figure.Figure {
	rows, slips := statements(l)
	number := make(map[string]int)
	for i, r := range rows {
		number[r.ID] = i
	}
	edges := reduced(rows, number)
	joined := make([]int, len(rows)) // number among those drawn, from 1
	n := 0
	for i := range rows {
		if slices.ContainsFunc(edges, func(e [2]int) bool { return e[0] == i || e[1] == i }) {
			rows[n] = rows[i]
			n++
			joined[i] = n
		}
	}
	for k, e := range edges {
		edges[k] = [2]int{joined[e[0]] - 1, joined[e[1]] - 1}
	}

	const (
		size   = 6.0
		line   = size + 1
		width  = float64(figure.TwoColumns) - 4
		strip  = 3.0
		top    = 18.0
		apart  = 15.0 // between layers
		widest = 52.0
		least  = 30.0
	)
	box := widest
	var p *layered
	for ; ; box-- {
		p = layOut(n, edges, func(i int) float64 {
			if i >= n {
				return 5
			}
			return box + 4
		})
		if slices.Max(p.y)+box/2 <= width || box < least {
			break
		}
	}
	lines := make([][]string, n)
	deep := make([]float64, len(p.order)) // height of a layer's boxes
	for i := range n {
		lines[i] = wrap(rows[i].ID, box-2*strip-1, size)
		deep[p.layer[i]] = max(deep[p.layer[i]], line*float64(len(lines[i]))+2)
	}
	at := make([]float64, len(deep)) // its top, downwards
	for k := 1; k < len(at); k++ {
		at[k] = at[k-1] + deep[k-1] + apart
	}
	d := &figure.Drawing{W: max(width, slices.Max(p.y)+box/2+1)}
	d.H = at[len(at)-1] + deep[len(deep)-1] + top + 1
	x := func(i int) float64 { return p.y[i] }
	upper := func(i int) float64 { return d.H - top - at[p.layer[i]] }
	lower := func(i int) float64 { return upper(i) - deep[p.layer[i]] }
	height := func(i int) float64 { return line*float64(len(lines[i])) + 2 }
	for _, path := range p.paths {
		ink, weight := figure.Grey, 0.5
		if f := rows[path[0]]; f.Failed() {
			ink, weight = verdictInk[f.Verdict], 0.7
		}
		for k := 1; k < len(path); k++ {
			a, b := path[k-1], path[k]
			from := lower(a)
			if a < n {
				from = upper(a) - height(a)
			}
			d.Fall(ink, weight, x(a), from, x(b), upper(b))
			if b >= n { // through the layer of other statements
				d.Line(ink, weight, x(b), upper(b), x(b), lower(b))
			}
		}
	}
	for i := range n {
		h, left := height(i), x(i)-box/2
		d.Box(verdictInk[rows[i].Verdict], left, upper(i)-h, box, h)
		if slips[rows[i].ID] {
			d.Box(verdictInk[ledger.Fails], left, upper(i)-h, strip, h)
		}
		if c := l.Find(string(rows[i].Corrected)); c != nil {
			d.Box(verdictInk[c.Verdict], left+box-strip, upper(i)-h, strip, h)
		}
		for k, s := range lines[i] {
			d.Text(figure.Black, size, 0, figure.Text(s), x(i), upper(i)-1-line*(float64(k)+0.5))
		}
	}
	legend(d, 0, d.H-5)
	return &figure.Figure{
		ID: "fig-claims-graph", Width: figure.TwoColumns, Rows: [][]figure.Panel{{d}},
		Caption: `Which statement's proof uses which, from the top down, coloured by verdict. A strip at the right end of a box is the corrected statement; a strip at the left end says that a displayed step of the proof is false. Arrows that follow from others are left out, as are statements without arrows; arrows from a statement that is false as printed are in its colour.`,
	}
}

// statements returns the rows of the paper's statements, each with the uses of
// its steps, and which of them have a step that is false.
func statements(l *ledger.Ledger) (rows []ledger.Row, slips map[string]bool) {
	owner := make(map[string]string) // statement of a row
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
	uses := make(map[string][]string)
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

// reduced returns the edges from used to user among the rows, without those
// that a longer path replaces.
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

// wrap breaks an id after hyphens into lines no wider than w.
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
