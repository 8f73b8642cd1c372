package account

import (
	"fmt"
	"slices"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// Bars has a mark for each row of the ledger, by section and verdict: the statements as printed at the left, the
// displayed steps and remarks at the right.
func Bars(l *ledger.Ledger) *figure.Figure {
	const left, pitch, line, head = 126.0, 7.2, 11.0, 30.0
	var sections []string
	for _, r := range l.Rows {
		if r.Kind != ledger.Correction && !slices.Contains(sections, r.Section) {
			sections = append(sections, r.Section)
		}
	}
	d := &figure.Drawing{H: head + line*float64(len(sections))}
	legend(d, l, left, d.H-5)
	for i, s := range sections {
		d.Text(figure.Black, 7, 1, figure.Text(s), left-6, d.H-head-line*(float64(i)+0.5))
	}
	x := left
	for _, k := range []struct {
		kind ledger.Kind
		name string
	}{{ledger.Statement, "statements"}, {ledger.Step, "steps and remarks"}} {
		n, end := 0, x
		for i, s := range sections {
			at := x + 3
			for _, v := range ledger.Verdicts {
				for _, r := range l.Rows {
					if r.Kind == k.kind && r.Section == s && r.Verdict == v {
						d.Mark(verdictInk[v], verdictMark[v], at, d.H-head-line*(float64(i)+0.5))
						n, at = n+1, at+pitch
					}
				}
			}
			end = max(end, at)
		}
		title := figure.Text(fmt.Sprintf("%d %s", n, k.name))
		d.Text(figure.Black, 8, -1, title, x, d.H-head+6)
		d.W = max(end, x+title.Width(8))
		x = d.W + 20
	}
	return figure.OneRow(figure.FullText,
		"A mark for each statement, by section, in the colour and shape of its verdict: refuted statements stand in "+
			"most sections, beside proved and tested ones.",
		`The ledger by section: a mark for each statement of the paper, and for each displayed step or remark. `+
			l.Account(), d)
}

// Colour and mark of a verdict.
var verdictInk = map[ledger.Verdict]figure.Ink{
	ledger.Proved: 1, ledger.Tested: 3, ledger.Untested: figure.Faint, ledger.Refuted: 2, ledger.Open: figure.Grey,
}

var verdictMark = map[ledger.Verdict]int{
	ledger.Proved: 1, ledger.Tested: 3, ledger.Untested: 4, ledger.Refuted: 2, ledger.Open: 5,
}

func verdictsOf(l *ledger.Ledger) []ledger.Verdict {
	return slices.DeleteFunc(slices.Clone(ledger.Verdicts), func(v ledger.Verdict) bool {
		return !slices.ContainsFunc(l.Rows, func(r ledger.Row) bool { return r.Verdict == v })
	})
}

// legend explains the marks, from (x, y) to the right, and returns its end.
func legend(d *figure.Drawing, l *ledger.Ledger, x, y float64) float64 {
	for _, v := range verdictsOf(l) {
		name := figure.Text(string(v))
		d.Mark(verdictInk[v], verdictMark[v], x+2, y)
		d.Text(figure.Black, 7, -1, name, x+7, y)
		x += name.Width(7) + 19
	}
	return x
}
