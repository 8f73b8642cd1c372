package figures

import (
	"fmt"
	"slices"
	"strings"

	"learncausal/internal/figure"
	"learncausal/pkg/graph"
)

// workedCounts counts each token at the positions whose parent has the query's token.
func workedCounts(g *graph.Forest, x []int) (counts []int, kept int) {
	counts = make([]int, slices.Max(x)+1)
	for i, a := range x {
		if p := g.Parent(i); p != graph.Root && x[p] == x[len(x)-1] {
			counts[a], kept = counts[a]+1, kept+1
		}
	}
	return counts, kept
}

// shares lists each token with its share of the kept tokens.
func shares(counts []int, kept int) string {
	var parts []string
	for a, c := range counts {
		parts = append(parts, fmt.Sprintf("%s: %d/%d", letter(a), c, kept))
	}
	return strings.Join(parts, ", ")
}

// workedExample shows in three steps, on the sequence of Figure 3, how to continue a sequence with a known
// graph: look at the parents, keep the positions whose parent has the query's token, count.
func workedExample() *figure.Figure {
	g, x := graph.Figure1(), forwardPassTokens
	const left, column, w, h = 128.0, 40.0, 26.0, 15.0
	n, query := len(x), x[len(x)-1]
	counts, kept := workedCounts(g, x)
	draw := func(d figure.Pen) {
		at := func(i int) float64 { return left + (float64(i)+0.5)*column }
		letterBox := func(i int, y float64, a int) {
			d.Box(figure.Colors[a], at(i)-w/2, y, w, h)
			d.Text(figure.Black, 8, 0, letter(a), at(i), y+h/2)
		}
		step := func(number string, y float64, lines ...string) {
			d.Text(figure.Black, 9, -1, number, 0, y+h/2)
			for k, line := range lines {
				d.Text(figure.Black, 7, -1, line, 14, y+h/2+(float64(len(lines)-1)/2-float64(k))*9)
			}
		}
		const tokens, parents, keep, count = 132.0, 90.0, 52.0, 14.0
		step("", tokens, "the sequence,", "with its causal graph")
		step("1", parents, "look at the parent’s token")
		step("2", keep, "keep where it is the query’s, "+letter(query))
		step("3", count, "count what is kept")
		for i, a := range x {
			letterBox(i, tokens, a)
			if i == n-1 {
				d.Frame(figure.Black, 1.3, at(i)-w/2, tokens, w, h)
			}
			d.Text(figure.Black, 8, 0, figure.Node(i), at(i), tokens-7)
			p := g.Parent(i)
			if p == graph.Root {
				word := "root"
				if i == n-1 {
					word = "query"
				}
				d.Text(figure.Grey, 7, 0, word, at(i), parents+h/2)
				continue
			}
			span := at(i) - at(p)
			height := min(0.5*span, 48)
			d.Arrow(figure.Colors[0], 0.9, false, at(p)+2, tokens+h+1, 60, at(i)-2, tokens+h+1, 120, height/(0.75*0.87*span))
			letterBox(i, parents, x[p])
			if x[p] != query {
				d.Text(figure.Grey, 8, 0, "no", at(i), keep+h/2)
				continue
			}
			d.Frame(figure.Black, 1.3, at(i)-w/2, parents, w, h)
			d.Text(figure.Black, 8, 0, "yes", at(i), keep+h/2)
			letterBox(i, count, a)
			d.Arrow(figure.Black, 0.7, true, at(i), keep+2, 0, at(i), count+h+1, 0, 0)
		}
		d.Text(figure.Red, 7.5, 0, "f = ("+shares(counts, kept)+")", (at(0)+at(2))/2, count+h/2)
	}
	return figure.OneRow(figure.FullText,
		"Six letters with the arrows of their causal graph. Below, in three steps: the letter of each one’s "+
			"parent, a yes where it is the letter of the query, and the two letters kept, each counted 1/2.",
		fmt.Sprintf(`The prediction by hand, on the sequence of Figure 3. What follows the last token, the `+
			`query? The transition matrix is unknown, but the sequence shows it at work: each token was drawn given `+
			`its parent. Of the %d tokens with a parent, %d have one that equals the query; these %[2]d tokens are `+
			`the estimate.`, len(g.Edges()), kept), figure.Drawing("", left+column*float64(n)+8, 205, draw))
}
