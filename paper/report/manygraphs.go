package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/figure"
	"learncausal/paper/experiment"
)

// manyGraphsFigure is Figure 9: attention on the parent by position, ours over
// graphs and seeds, the authors' run over graphs.
func manyGraphsFigure(c *experiment.Comparison) *figure.Figure {
	var x, shifted, ours, oursSD, paper, paperSD []float64
	for _, p := range c.Positions() {
		x, shifted = append(x, float64(p.I+1)), append(shifted, float64(p.I)+1.25)
		ours, oursSD = append(ours, p.Ours), append(oursSD, p.OursSD)
		paper, paperSD = append(paper, p.Paper), append(paperSD, p.PaperSD)
	}
	return oneRow(
		figure.OneColumn,
		fmt.Sprintf(`First-layer attention on the parent by position, mean $\pm$ one standard deviation: `+
			`ours over 20 graphs and %d seeds, the paper's over the same graphs, one run each. Positions are `+
			`counted from 1; the paper's marks are shifted a little to the right. An interval `+
			`may exceed 1, which no attention does: if a few graphs lie far below the others, the standard `+
			`deviation is large on both sides.`, c.Seeds()),
		&figure.Axes{
			X: figure.Axis{Label: positionI, Min: 1, Max: 20, Every: 2},
			Y: figure.Axis{Min: 0, Max: 1.1, Every: 0.2, Label: figure.Label{
				Text: "Attention from i to p(i)", TeX: `Attention from $i$ to $p(i)$`,
			}},
			Series: []figure.Series{
				{Label: figure.Text("ours"), X: x, Y: ours, Err: oursSD},
				{Label: figure.Text("paper"), X: shifted, Y: paper, Err: paperSD, Points: true},
			},
			Height: 110,
		})
}

// byGraphFigure shows our runs on each graph and the authors' value, by the number of the graph in the tables.
func byGraphFigure(c *experiment.Comparison) *figure.Figure {
	ours := figure.Series{Label: figure.Text("ours"), Points: true, Mark: 5}
	paper := figure.Series{Label: figure.Text("paper"), Points: true}
	for g, mean := range c.Mean {
		for k, v := range mean {
			ours.X = append(ours.X, float64(g)-0.4+0.6*float64(k)/float64(len(mean)))
			ours.Y = append(ours.Y, v)
		}
		paper.X, paper.Y = append(paper.X, float64(g)+0.35), append(paper.Y, c.Printed[g])
	}
	lo := min(floats.Min(ours.Y), floats.Min(paper.Y))
	return oneRow(
		figure.FullText,
		fmt.Sprintf(`Mean attention on the parents for each of the 20 graphs: our %d runs, one mark a seed, `+
			`and the value that the authors printed. Graphs have the numbers of the tables, in the authors' order `+
			`from 0.`, c.Seeds()),
		&figure.Axes{
			X:      figure.Axis{Label: figure.Text("Graph"), Min: -0.75, Max: 19.75, Every: 1},
			Y:      figure.Axis{Label: figure.Text("Mean attention on parents"), Min: math.Floor(lo*20) / 20, Max: 1},
			Series: []figure.Series{ours, paper}, Height: 170,
		})
}

// oneDraws is the number of drawn means over the twenty graphs.
const oneDraws = 100_000

// oneDrawFigure is the distribution of the mean over the graphs for one run of each, with
// every draw of the largest percent, and the printed mean.
func oneDrawFigure(c *experiment.Comparison) *figure.Figure {
	d := c.OneDraw(oneDraws)
	share := figure.Series{Label: figure.Text("one run of each graph, ours")}
	for i := 0; i < oneDraws; i++ {
		share.X, share.Y = append(share.X, d.Draws[i]), append(share.Y, float64(oneDraws-i)/oneDraws)
		if i < oneDraws*99/100 {
			i += oneDraws/200 - 1
		}
	}
	printed := figure.Series{
		Label: figure.Text("paper"), X: []float64{d.Printed, d.Printed}, Y: []float64{1. / oneDraws, 1}, Color: 2, Mark: 2,
	}
	return oneRow(
		figure.OneColumn,
		fmt.Sprintf(`Mean attention over the 20 graphs if one of our %d runs is chosen at random for each graph: `+
			`the share of $10^5$ draws that reach each value, and the printed mean.`, c.Seeds()),
		&figure.Axes{
			X: figure.Axis{
				Label: figure.Text("Mean over the graphs"),
				Min:   math.Floor(200*d.Draws[0]) / 200, Max: math.Ceil(200*max(d.Printed, d.Draws[oneDraws-1])) / 200,
			},
			Y:      figure.Axis{Label: figure.Text("Share of draws that reach it"), Log: true},
			Series: []figure.Series{share, printed},
		})
}

// manyGraphsTable lists the 20 graphs: the authors' value, our mean over the
// seeds, and the difference in standard deviations of a single run.
func manyGraphsTable(c *experiment.Comparison) *figure.Table {
	t := newTable(
		fmt.Sprintf(`Mean attention on the parents for each of the 20 graphs: the value that the authors' `+
			`run printed, ours over %d seeds (mean, standard deviation, smallest and largest).`, c.Seeds()),
		"Graph", "Edges", "Paper", "Ours", "sd", "Min", "Max", "Paper − ours")
	for g, m := range c.Mean {
		mean, sd := stat.MeanStdDev(m, nil)
		row := []any{g, len(c.Graphs[g].Graph.Edges())}
		for _, v := range []float64{c.Printed[g], mean, sd, floats.Min(m), floats.Max(m), c.Printed[g] - mean} {
			row = append(row, figure.Value(v, 4))
		}
		addRow(t, row...)
	}
	return t
}

// manyGraphsLossTable has the final losses on each of the 20 graphs of the model and the reference predictors.
func manyGraphsLossTable(losses []*experiment.Losses) *figure.Table {
	t := newTable(
		fmt.Sprintf(`Log-loss in nats on %d test sequences for each of the 20 graphs, seed 0: the trained `+
			`model, (a) the posterior mean given the edges, (b) the authors' released formula, (c) the Bayes `+
			`predictor with %d draws for each sequence, and two paired differences with standard errors.`,
			losses[0].Sequences, losses[0].Draws),
		"Graph", "Trained", "(a)", "(b)", "(c)", "trained − (a)", "trained − (c)")
	for g, l := range losses {
		addRow(t, g, figure.Value(l.Model.Mean, 4), figure.Value(l.Edges.Mean, 4),
			figure.Value(l.Released.Mean, 4), figure.Value(l.Bayes.Mean, 4), l.ModelLessEdges, l.ModelLessBayes)
	}
	return t
}

func unlearnedTable(c *experiment.Comparison) *figure.Table {
	t := newTable(
		fmt.Sprintf(`The edges on which less than half of the attention lies in the authors' run or in `+
			`one of our %d on the graph: in how many of ours, with the interval of 95 \%% for the probability, and `+
			`the least, median and largest attention in ours. Positions are counted from 1.`, c.Seeds()),
		"Graph", "Edge", "Paper", "Ours: fail, interval, least, median, largest")
	for _, e := range c.Unlearned() {
		interval := BinomialInterval(e.Fails(), len(e.Ours))
		all := slices.Sorted(slices.Values(e.Ours))
		addRow(t, e.Graph, edgeLabel(e.Parent, e.Child), figure.Value(e.Printed, 2),
			words("%d of %d", e.Fails(), len(all)), words("%.2f to %.2f", interval[0], interval[1]),
			figure.Value(all[0], 2), figure.Value(stat.Quantile(0.5, stat.Empirical, all, nil), 2),
			figure.Value(all[len(all)-1], 2))
	}
	return t
}

func comparisonNumbers(c *experiment.Comparison) figure.Numbers {
	v, a := c.Variance(), c.Replication()
	number := func(id string, value float64, n figure.Number) figure.Number {
		n.ID, n.Value, n.Runs = id, value, []string{"sweeps/" + c.Sweep}
		return n
	}
	return figure.Numbers{
		number("num-avg-attn", v.Mean, figure.Number{StdErr: v.StdErr, Digits: 4, Paper: "0.837"}),
		number("num-avg-attn-sd", v.OneRun, figure.Number{Digits: 4, Paper: "0.054"}),
		number("num-avg-attn-sd-graph", v.Graph, figure.Number{Digits: 4}),
		number("num-avg-attn-sd-run", v.Run, figure.Number{Digits: 4}),
		number("num-avg-attn-difference", a.Difference, figure.Number{StdErr: a.DifferenceErr, Digits: 4}),
		number("num-avg-attn-mean-p", a.MeanP, figure.Number{}),
		number("num-avg-attn-outside", float64(a.Outside()), figure.Number{Whole: true}),
		number("num-avg-attn-outside-p", a.OutsideP, figure.Number{}),
		number("num-avg-attn-correlation", a.Correlation, figure.Number{Digits: 3}),
		number("num-avg-attn-edge-correlation", a.EdgeCorrelation, figure.Number{Digits: 3}),
		number("num-avg-attn-unlearned", float64(len(c.Unlearned())), figure.Number{Whole: true}),
	}
}

// largeAttention is the least mean attention on the parent that counts as large.
const largeAttention = 0.75

// comparisonRows are the rows on Figure 9 and its two numbers. Attention is large at all
// positions if the smallest of their means is at least largeAttention.
func comparisonRows(c *experiment.Comparison) []Row {
	v, a := c.Variance(), c.Replication()
	positions := c.Positions()
	least := slices.MinFunc(positions, func(p, q experiment.Position) int { return cmp.Compare(p.Ours, q.Ours) })
	small := 0
	for _, p := range positions {
		if p.Ours < largeAttention {
			small++
		}
	}
	freedom := float64(len(c.Mean) * (c.Seeds() - 1))
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(0.975) * v.StdErr
	return []Row{
		{
			Figure: 9, ID: "fig-many-graphs",
			What: "attention by position", Paper: "large at all positions, close to 1",
			Ours: words("least mean %.2f, at position %d; edge by edge r = %.2f with the paper's",
				least.Ours, least.I+1, a.EdgeCorrelation),
			Interval: overSeeds(least.Seeds, 2),
			Verdict: verdict(small == 0, fmt.Sprintf("not at %d of %d positions; there the authors' run has %.2f",
				small, len(positions), least.Paper)),
		},
		{
			ID: "num-avg-attn", What: "mean attention on the parents", Paper: "0.837", Ours: figure.Value(v.Mean, 4),
			Interval: fmt.Sprintf("%.4f to %.4f (95 %%)", v.Mean-half, v.Mean+half), Verdict: replicationVerdict(a),
		},
		{
			ID: "num-avg-attn-sd", What: "its sd over the graphs, one run each", Paper: "0.054",
			Ours: figure.Value(v.OneRun, 4), Interval: overSeeds(v.OneRuns, 3), Verdict: spreadVerdict(v),
		},
	}
}

// spreadVerdict tests at level 1 % whether the authors' standard deviation could come
// from one more of our runs.
func spreadVerdict(v experiment.Variance) string {
	if v.OneRunP < 0.01 {
		return differs("it is not that of one more of our runs (p = %.1g)", v.OneRunP)
	}
	return fmt.Sprintf("%s: it could be that of one more of our runs (p = %.2f)", reproduced, v.OneRunP)
}

// replicationVerdict tests whether the authors' values could come from one more of our
// runs, with two tests at level 1 % each.
func replicationVerdict(a experiment.Replication) string {
	if a.MeanP < 0.01 {
		return differs("printed values are higher by %.3f ± %.3f (p = %.1g)", a.Difference, a.DifferenceErr, a.MeanP)
	}
	if a.OutsideP < 0.01 {
		return differs("printed values outside our range on %d of 20 graphs (p = %.1g)", a.Outside(), a.OutsideP)
	}
	return reproduced + ": the printed values could be one more run of ours"
}
