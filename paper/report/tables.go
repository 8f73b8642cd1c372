package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/figure"
	"learncausal/pkg/runs"
)

// BlocksTable turns what the paper says of the trained weights into numbers:
// how close the three blocks are to adjacency matrix and identity, and how
// small the rest is.
func BlocksTable(rs []*runs.Run) (*figure.Table, figure.Numbers) {
	t := &figure.Table{
		ID:      "tab-single-parent-blocks",
		Caption: `The three blocks of the trained weights against the matrices that the paper says they become: Pearson correlation of the entries, and the largest magnitude outside the block relative to the largest inside.`,
		Columns: []figure.Label{
			figure.Text("Graph"), figure.Text("Matrix"), figure.Text("Target"),
			figure.Text("Correlation"), figure.Text("Outside / inside"),
		},
	}
	target := map[string]figure.Label{
		"A1": figure.Text("adjacency"), "A2": {Text: "I", TeX: "$I_S$"}, "W": {Text: "I", TeX: "$I_S$"},
	}
	title := map[string]figure.Label{"A1": titleA1, "A2": titleA2, "W": titleW}
	var ns figure.Numbers
	for i, e := range SingleParents() {
		found, edges := Recovered(rs[i].Final.Disentangled(), e.Graph)
		ns = append(ns,
			figure.Number{ID: e.ID + "-edges", Value: float64(edges), Whole: true},
			figure.Number{ID: e.ID + "-edges-found", Value: float64(found), Whole: true, Runs: []string{rs[i].Address}},
			figure.Number{ID: e.ID + "-attention", Value: rs[i].Curve[len(rs[i].Curve)-1].Attention, Digits: 3, Runs: []string{rs[i].Address}})
		for _, b := range Blocks(rs[i].Final.Disentangled(), e.Graph) {
			t.Rows = append(t.Rows, []figure.Cell{
				figure.Words(figure.Text(e.Title)), figure.Words(title[b.Name]), figure.Words(target[b.Name]),
				figure.Value(b.Correlation, 4), figure.Value(b.Outside, 3),
			})
			id := fmt.Sprintf("%s-%s", e.ID, strings.ToLower(b.Name))
			hash := []string{rs[i].Address}
			ns = append(ns,
				figure.Number{ID: id + "-correlation", Value: b.Correlation, Digits: 4, Runs: hash},
				figure.Number{ID: id + "-outside", Value: b.Outside, Digits: 3, Runs: hash})
		}
	}
	return t, ns
}

// LossTable puts the final loss of each run beside the reference predictors.
func LossTable(rs []*runs.Run, losses []*Losses) (*figure.Table, figure.Numbers) {
	t := &figure.Table{
		ID:      "tab-single-parent-losses",
		Caption: fmt.Sprintf(`Log-loss in nats on %d test sequences, with standard errors; the last two rows are paired differences. The Bayes predictor averages %d draws for each sequence.`, losses[0].Sequences, losses[0].Draws),
		Columns: []figure.Label{figure.Text("Predictor")},
	}
	for _, e := range SingleParents() {
		t.Columns = append(t.Columns, figure.Text(e.Title))
	}
	var ns figure.Numbers
	for _, row := range []struct {
		id, label string
		digits    int
		of        func(*Losses) Estimate
	}{
		{"trained", "trained model", 4, func(l *Losses) Estimate { return l.Model }},
		{"edges", "(a) posterior mean given the edges", 4, func(l *Losses) Estimate { return l.Edges }},
		{"released", "(b) authors' released formula", 4, func(l *Losses) Estimate { return l.Released }},
		{"bayes", "(c) Bayes predictor", 4, func(l *Losses) Estimate { return l.Bayes }},
		{"entropy", "entropy of the row, L*", 4, func(l *Losses) Estimate { return l.Entropy }},
		{"trained-less-edges", "trained − (a)", 4, func(l *Losses) Estimate { return l.ModelLessEdges }},
		{"trained-less-bayes", "trained − (c)", 4, func(l *Losses) Estimate { return l.ModelLessBayes }},
	} {
		cells := []figure.Cell{figure.Words(figure.Text(row.label))}
		for i, e := range SingleParents() {
			v := row.of(losses[i])
			cells = append(cells, figure.PlusMinus(v.Mean, v.StdErr, row.digits))
			ns = append(ns, figure.Number{ID: e.ID + "-loss-" + row.id, Value: v.Mean, StdErr: v.StdErr, Runs: []string{rs[i].Address}})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, ns
}

// ManyGraphsTable lists the 20 graphs: the authors' value, our mean over the
// seeds, and the difference in standard deviations of a single run.
func ManyGraphsTable(c *Comparison) *figure.Table {
	t := &figure.Table{
		ID:      "tab-many-graphs",
		Caption: fmt.Sprintf(`Mean attention on the parents for each of the 20 graphs: the value that the authors' run printed, ours over %d seeds (mean, standard deviation, smallest and largest).`, Seeds),
		Columns: []figure.Label{
			figure.Text("Graph"), figure.Text("Edges"), figure.Text("Paper"), figure.Text("Ours"), figure.Text("sd"),
			figure.Text("Min"), figure.Text("Max"), figure.Text("Paper − ours"),
		},
	}
	for g, m := range c.Mean {
		mean, sd := stat.MeanStdDev(m, nil)
		t.Rows = append(t.Rows, []figure.Cell{
			figure.Value(float64(g), 0), figure.Value(float64(len(c.Graphs[g].Graph.Edges())), 0),
			figure.Value(c.Printed[g], 4), figure.Value(mean, 4), figure.Value(sd, 4),
			figure.Value(floats.Min(m), 4), figure.Value(floats.Max(m), 4), figure.Value(c.Printed[g]-mean, 4),
		})
	}
	return t
}

// ComparisonLosses evaluates one run of each of the 20 graphs, that of seed 0.
func ComparisonLosses(c *Comparison) ([]*Losses, error) {
	var all []*Losses
	for _, rs := range c.Runs {
		l, err := CompareLosses(rs[0], LossSequences, ComparisonDraws)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// ComparisonLossTable puts the final loss on each of the 20 graphs beside the
// reference predictors.
func ComparisonLossTable(losses []*Losses) *figure.Table {
	t := &figure.Table{
		ID:      "tab-many-graphs-losses",
		Caption: fmt.Sprintf(`Log-loss in nats on %d test sequences for each of the 20 graphs, seed 0: the trained model, (a) the posterior mean given the edges, (b) the authors' released formula, (c) the Bayes predictor with %d draws for each sequence, and two paired differences with standard errors.`, LossSequences, ComparisonDraws),
		Columns: []figure.Label{
			figure.Text("Graph"), figure.Text("Trained"), figure.Text("(a)"), figure.Text("(b)"), figure.Text("(c)"),
			figure.Text("trained − (a)"), figure.Text("trained − (c)"),
		},
	}
	for g, l := range losses {
		t.Rows = append(t.Rows, []figure.Cell{
			figure.Value(float64(g), 0), figure.Value(l.Model.Mean, 4), figure.Value(l.Edges.Mean, 4), figure.Value(l.Released.Mean, 4), figure.Value(l.Bayes.Mean, 4),
			figure.PlusMinus(l.ModelLessEdges.Mean, l.ModelLessEdges.StdErr, 4), figure.PlusMinus(l.ModelLessBayes.Mean, l.ModelLessBayes.StdErr, 4),
		})
	}
	return t
}

// UnlearnedTable lists the edges that some run did not learn.
func UnlearnedTable(c *Comparison) *figure.Table {
	t := &figure.Table{
		ID:      "tab-unlearned-edges",
		Caption: fmt.Sprintf(`The edges on which less than half of the attention lies in the authors' run or in one of our %d: attention as printed and in each of our runs. Positions are counted from 1.`, Seeds),
		Columns: []figure.Label{figure.Text("Graph"), figure.Text("Edge"), figure.Text("Paper")},
	}
	for k := range Seeds {
		t.Columns = append(t.Columns, figure.Text(fmt.Sprintf("seed %d", k)))
	}
	for _, e := range c.Unlearned() {
		edge := figure.Label{Text: fmt.Sprintf("%d → %d", e.Parent+1, e.Child+1), TeX: fmt.Sprintf(`$%d \to %d$`, e.Parent+1, e.Child+1)}
		row := []figure.Cell{figure.Value(float64(e.Graph), 0), figure.Words(edge), figure.Value(e.Printed, 2)}
		for _, v := range e.Ours {
			row = append(row, figure.Value(v, 2))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ComparisonNumbers returns the numbers of the quantitative comparison.
func ComparisonNumbers(c *Comparison) figure.Numbers {
	v, a := c.Variance(), c.Agreement()
	var all []string
	for _, rs := range c.Runs {
		for _, r := range rs {
			all = append(all, r.Address)
		}
	}
	number := func(id string, value float64, n figure.Number) figure.Number {
		n.ID, n.Value, n.Runs = id, value, all
		return n
	}
	return figure.Numbers{
		number("num-avg-attn", v.Mean, figure.Number{StdErr: v.StdErr, Digits: 4, Paper: "0.837"}),
		number("num-avg-attn-sd", v.OneRun, figure.Number{Digits: 4, Paper: "0.054"}),
		number("num-avg-attn-sd-graph", v.Graph, figure.Number{Digits: 4}),
		number("num-avg-attn-sd-run", v.Run, figure.Number{Digits: 4}),
		number("num-avg-attn-difference", a.Difference, figure.Number{StdErr: a.DifferenceErr, Digits: 4}),
		number("num-avg-attn-mean-p", a.MeanP, figure.Number{}),
		number("num-avg-attn-outside", float64(a.Outside), figure.Number{Whole: true}),
		number("num-avg-attn-outside-p", a.OutsideP, figure.Number{}),
		number("num-avg-attn-correlation", a.Correlation, figure.Number{Digits: 3}),
		number("num-avg-attn-edge-correlation", a.EdgeCorrelation, figure.Number{Digits: 3}),
		number("num-avg-attn-unlearned", float64(len(c.Unlearned())), figure.Number{Whole: true}),
	}
}
