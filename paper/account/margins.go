package account

import (
	"fmt"
	"math"
	"strings"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

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

// drawScale draws the lines of the scale at -1, ..., 1 of both columns, below a height.
func drawScale(d figure.Pen, top float64, at func(float64) float64) {
	for _, x := range []float64{0, secondColumn} {
		d.Text(figure.Black, 7, 0, "Margin, on a signed square root", x+at(0), top+15)
		for _, m := range []float64{-1, -0.1, -0.01, 0, 0.01, 0.1, 1} {
			k, w := figure.Faint, 0.4
			if m == 0 {
				k, w = figure.Grey, 0.6
			}
			d.Line(k, w, x+at(m), 0, x+at(m), top)
			if m == 0 || math.Abs(m) >= 0.1 {
				d.Text(figure.Black, 6, 0, fmt.Sprint(m), x+at(m), top+5)
			}
		}
	}
}

// Margins shows the margin of each statement on its worst instance, or on its
// witness, by section, with the margin of the corrected statement on the same line.
func Margins(l *ledger.Ledger) *figure.Figure {
	entries, deepest := marginEntries(l)
	at, owner := marginScale(l), owners(l)
	h := deepest + marginTop + 2
	drawing := func(d figure.Pen) {
		drawScale(d, h-marginTop, at)
		x := legend(d, l, 0, h-5)
		d.Line(verdictInk[ledger.Proved], 0.7, x, h-5, x+16, h-5)
		d.Text(figure.Black, 7, -1, "from printed to corrected", x+20, h-5)
		for _, e := range entries {
			y := h - marginTop - e.y
			if e.heading != "" {
				d.Text(figure.Grey, 7, -1, e.heading, e.x, y)
				continue
			}
			d.Text(figure.Black, 6.5, -1, e.row.Number, e.x, y)
			d.Text(figure.Black, 6.5, -1, shortID(e.row, owner[e.row.ID]), e.x+marginNumber, y)
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
	}
	return figure.OneRow(figure.TwoColumns,
		"A list of all statements by section with a mark at the margin of each: marks at the left of zero fail, "+
			"and a line leads from these to the mark of the corrected statement at zero or at the right.",
		`The ledger: margin of each statement on its worst instance (where one fails, `+
			`on its witness), on the scale of a signed square root. A statement fails where the margin is `+
			`negative; a line leads to the margin of its corrected form.`, figure.Drawing("", drawingWidth, h, drawing))
}

// shortID returns the id of a row. The id of a step, whose statement is above it, is
// shortened by the id of the statement.
func shortID(r ledger.Row, statement string) string {
	if statement != "" && statement != r.ID {
		return "…" + strings.TrimPrefix(r.ID, statement)
	}
	return r.ID
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
