package account

import (
	"fmt"
	"image/color"
	"slices"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// Bars has a mark for each row of the ledger, by section and verdict: the statements as printed at the left, the
// displayed steps and remarks at the right.
func Bars(l *ledger.Ledger) *figure.Figure {
	kinds := []struct {
		kind ledger.Kind
		name string
	}{{ledger.Statement, "statements"}, {ledger.Step, "steps and remarks"}}
	const left, pitch, line, head = 126.0, 7.2, 11.0, 30.0
	var sections []string
	for _, r := range l.Rows {
		if r.Kind != ledger.Correction && !slices.Contains(sections, r.Section) {
			sections = append(sections, r.Section)
		}
	}
	h, end := head+line*float64(len(sections)), left
	// The first drawing, on no page, finds the width.
	drawing := func(d figure.Pen) {
		legend(d, l, left, h-5)
		for i, s := range sections {
			d.Text(figure.Black, 7, 1, s, left-6, h-head-line*(float64(i)+0.5))
		}
		x := left
		for _, k := range kinds {
			n, right := 0, x
			for i, s := range sections {
				at := x + 3
				for _, v := range ledger.Verdicts {
					for _, r := range l.Rows {
						if r.Kind == k.kind && r.Section == s && r.Verdict == v {
							d.Mark(verdictInk[v], verdictMark[v], at, h-head-line*(float64(i)+0.5))
							n, at = n+1, at+pitch
						}
					}
				}
				right = max(right, at)
			}
			title := fmt.Sprintf("%d %s", n, k.name)
			d.Text(figure.Black, 8, -1, title, x, h-head+6)
			end = max(right, x+figure.TextWidth(title, 8))
			x = end + 20
		}
	}
	figure.Drawing("", 1, 1, drawing)
	return figure.OneRow(figure.FullText,
		"A mark for each statement, by section, in the colour and shape of its verdict: refuted statements stand in "+
			"most sections, beside proved and tested ones.",
		`The ledger by section: a mark for each statement of the paper, and for each displayed step or remark. `+
			l.Account(), figure.Drawing("", end, h, drawing))
}

// Colour and mark of a verdict.
var (
	verdictInk = map[ledger.Verdict]color.RGBA{
		ledger.Proved: figure.Colors[0], ledger.Tested: figure.Colors[2], ledger.Untested: figure.Faint,
		ledger.Refuted: figure.Colors[1], ledger.Open: figure.Grey,
	}
	verdictMark = map[ledger.Verdict]int{
		ledger.Proved: 0, ledger.Tested: 2, ledger.Untested: 3, ledger.Refuted: 1, ledger.Open: 4,
	}
)

func verdictsOf(l *ledger.Ledger) []ledger.Verdict {
	return slices.DeleteFunc(slices.Clone(ledger.Verdicts), func(v ledger.Verdict) bool {
		return !slices.ContainsFunc(l.Rows, func(r ledger.Row) bool { return r.Verdict == v })
	})
}

// legend explains the marks, from (x, y) to the right, and returns its end.
func legend(d figure.Pen, l *ledger.Ledger, x, y float64) float64 {
	for _, v := range verdictsOf(l) {
		d.Mark(verdictInk[v], verdictMark[v], x+2, y)
		d.Text(figure.Black, 7, -1, string(v), x+7, y)
		x += figure.TextWidth(string(v), 7) + 19
	}
	return x
}
