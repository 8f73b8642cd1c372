package figures

import (
	"slices"

	"learncausal/internal/figure"
	"learncausal/pkg/graph"
)

// graphExample is Figure 1: the paper's example of a causal graph.
func graphExample() *figure.Figure {
	const caption = `The causal graph of the running example: $s_1$ and the query $s_6$ are roots, every other token ` +
		`is drawn given its parent.`
	return figure.OneRow(figure.OneColumn,
		"Six positions in a row with arrows from parent to child: from 1 to 2 and 3, from 2 to 4, from 3 to 5. "+
			"Position 6, the query, stands alone.",
		caption, figure.Causal("", &figure.Forest{Parents: graph.Figure1().Parents(), Query: true}))
}

func exampleRows() []Row {
	// The edges of the paper's drawing, counted from 1.
	printed := [][2]int{{1, 2}, {1, 3}, {2, 4}, {3, 5}}
	edges := graph.Figure1().Edges()
	same := slices.EqualFunc(edges, printed, func(e, p [2]int) bool { return e[0]+1 == p[0] && e[1]+1 == p[1] })
	return []Row{{
		Figure: 1, ID: "fig-graph-example", What: "causal graph", Setting: "text", Paper: "edges 1→2, 1→3, 2→4, 3→5",
		Ours: words("%d edges", len(edges)), Interval: "exact", Verdict: verdict(same, "other edges"),
	}}
}
