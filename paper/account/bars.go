package account

import (
	"fmt"
	"slices"

	"learncausal/internal/figure"
	"learncausal/paper/ledger"
)

// Bars counts the rows of the ledger by verdict in three bars: the statements
// as printed, the steps and remarks, and the corrections.
func Bars(l *ledger.Ledger) *figure.Figure {
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
		for _, v := range ledger.Verdicts {
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
	return figure.OneRow(figure.FullText,
		"Three bars of coloured pieces with their counts: about a third of the statements is proved, a third tested "+
			"and a third refuted; most of the steps listed are refuted; the corrections are proved.",
		fmt.Sprintf(`The ledger in numbers: the %d rows of statements of the paper, the displayed steps and remarks, `+
			`and the corrections. %s`, count(ledger.Statement, ""), l.Account()), d)
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

// legend explains the marks, from (x, y) to the right.
func legend(d *figure.Drawing, l *ledger.Ledger, x, y float64) {
	for _, v := range verdictsOf(l) {
		name := figure.Text(string(v))
		d.Mark(verdictInk[v], verdictMark[v], x+2, y)
		d.Text(figure.Black, 7, -1, name, x+7, y)
		x += name.Width(7) + 19
	}
}
