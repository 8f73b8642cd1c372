package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// PrintedGraphNamed returns the graph of a name, graph-0 to graph-19.
func PrintedGraphNamed(name string) (trial.PrintedGraph, error) {
	return named("graph of Figure 9", trial.ManyGraphs(), func(p trial.PrintedGraph) string { return p.Name }, name)
}

// ManyGraphsSpec returns the authors' setting: S=3, T=20, rows Dirichlet(0.1), 2^14 steps on 1024 fresh
// sequences each, constant learning rate 1, zero initialisation, 2^16 test sequences.
func ManyGraphsSpec(g *graph.Forest, seed int) train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: g.Parents(), States: 3, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     1024, Steps: 1 << 14, Seed: uint64(seed), Test: 1 << 16, Every: 1 << 9,
	}
}

func manyGraphsSpecs() []train.Spec {
	return mapped(trial.ManyGraphs(), func(p trial.PrintedGraph) train.Spec { return ManyGraphsSpec(p.Graph, 0) })
}

// manyRuns loads or trains the run of seed 0 on each of the 20 graphs.
func manyRuns(ctx context.Context, r *Results) ([]*runs.Run, error) {
	return once(r, "many-graphs", func() ([]*runs.Run, error) { return trial.Each(ctx, manyGraphsSpecs(), r.Get) })
}

// Names of the sweeps over the 20 graphs. The second has a quarter of the batch.
const (
	Figure9             = "figure-9"
	Figure9QuarterBatch = "figure-9-batch"
)

// Comparison has the first-layer attention on the parents, S(MASK(A1))_{i,p(i)}, during and after training on
// each of the authors' 20 graphs from several seeds, and the authors' values (Figure 9).
type Comparison struct {
	Sweep   string // name of the sweep
	Graphs  []trial.PrintedGraph
	Edge    [][][]float64 // graph x seed x position: S(A1)_{i,p(i)}, NaN for a root
	Mean    [][]float64   // graph x seed: mean over the edges
	Steps   []int         // of the evaluations
	Along   [][][]float64 // graph x seed x evaluation: mean over the edges
	Printed []float64     // graph: mean over the edges in the authors' run
}

// Seeds returns the number of runs of each graph.
func (c *Comparison) Seeds() int { return len(c.Mean[0]) }

// LoadComparison reads the results of the sweep [Figure9] or [Figure9QuarterBatch].
func LoadComparison(sweep string) (*Comparison, error) {
	all, err := trial.Outcomes(sweep)
	if err != nil {
		return nil, err
	}
	return newComparison(sweep, all)
}

func comparison(_ context.Context, r *Results) (*Comparison, error) {
	return once(r, "comparison", func() (*Comparison, error) { return LoadComparison(Figure9) })
}

func newComparison(sweep string, all []*trial.Outcome) (*Comparison, error) {
	c := &Comparison{Sweep: sweep, Graphs: trial.ManyGraphs()}
	for _, g := range c.Graphs {
		var edges, along [][]float64
		var means []float64
		for _, o := range all {
			if of, ok := o.Spec.Task.(train.Task1); !ok || !slices.Equal(of.Parents, g.Graph.Parents()) {
				continue
			}
			if o.Diverged != "" {
				return nil, fmt.Errorf("figures: run %s on %s has diverged", o.Address, g.Name)
			}
			var steps []int
			var attention []float64
			for _, p := range o.Curve {
				steps, attention = append(steps, p.Step), append(attention, float64(p.Attention))
			}
			c.Steps = steps
			edges, along = append(edges, edgeAttention(o)), append(along, attention)
			means = append(means, float64(o.End().Attention))
		}
		c.Edge, c.Along, c.Mean = append(c.Edge, edges), append(c.Along, along), append(c.Mean, means)
		c.Printed = append(c.Printed, 1-g.Mean)
		if n := c.Seeds(); len(means) != n || n < 1 {
			return nil, fmt.Errorf("figures: %d runs on %s, want the same number on each graph, at least 1",
				len(means), g.Name)
		}
	}
	return c, nil
}

// edgeAttention returns the first-layer attention of each position on its parent, NaN for a root.
func edgeAttention(o *trial.Outcome) []float64 {
	on := slices.Repeat([]float64{math.NaN()}, o.Spec.T())
	for _, e := range o.Edges {
		if e.Given {
			on[e.Child] = e.Attention
		}
	}
	return on
}

// Variance is the one-way analysis of variance of the mean attention: graphs
// are the groups, seeds the replicates.
//
//	y_gk = mu + a_g + e_gk,  Var a = Graph^2,  Var e = Run^2
type Variance struct {
	Mean   float64 // grand mean
	StdErr float64 // of Mean for these 20 graphs: Run / sqrt(graphs x seeds)
	Graph  float64 // sd between graphs, without the run-to-run part
	Run    float64 // sd between runs of one graph, pooled
	OneRun float64 // sd over the graphs of one run each, mean over the seeds; 0.054 in the paper
	// OneRuns has the sd by seed; OneRunP is the p-value of the paper's 0.054 as the
	// value of one more run, see [Sample.PValue].
	OneRuns []float64
	OneRunP float64
}

// Variance returns the analysis of variance of the comparison.
func (c *Comparison) Variance() Variance {
	graphs, seeds := float64(len(c.Mean)), float64(c.Seeds())
	var groupMeans []float64
	within := 0.0
	for _, m := range c.Mean {
		mean, sd := stat.MeanStdDev(m, nil)
		groupMeans = append(groupMeans, mean)
		within += sd * sd / graphs
	}
	grand, between := stat.MeanVariance(groupMeans, nil)
	v := Variance{Mean: grand, Run: math.Sqrt(within), StdErr: math.Sqrt(within / (graphs * seeds))}
	v.Graph = math.Sqrt(max(0, between-within/seeds))
	for k := range c.Seeds() {
		v.OneRuns = append(v.OneRuns, stat.PopStdDev(column(c.Mean, k), nil))
	}
	one := trial.NewSample(v.OneRuns)
	v.OneRun, v.OneRunP = one.Mean, one.PValue(stat.PopStdDev(c.Printed, nil))
	return v
}

func column(rows [][]float64, k int) []float64 {
	return mapped(rows, func(row []float64) float64 { return row[k] })
}

// Replication compares the authors' printed values with the distribution of our runs on each graph.
type Replication struct {
	Difference      float64 // mean over the graphs of printed - ours
	DifferenceErr   float64 // its standard error under the hypothesis
	MeanP           float64 // two-sided p-value of Difference, Student's t
	Below, Above    []int   // graphs whose printed value is below all of our runs, above all
	OutsideP        float64 // p-value of Outside: Binomial(20, 2/(seeds+1)), exact for every continuous distribution
	Correlation     float64 // of printed and our mean, over the graphs
	EdgeCorrelation float64 // the same over all edges of all graphs
}

// Outside returns the number of graphs whose printed value is outside the range of our runs.
func (a Replication) Outside() int { return len(a.Below) + len(a.Above) }

// Replication returns the tests. They are conditional on the graphs and use the pooled variance of our runs.
// The mean over 20 graphs and the count are insensitive to differences of the variance between graphs.
func (c *Comparison) Replication() Replication {
	n, seeds := float64(len(c.Mean)), float64(c.Seeds())
	printed := &Comparison{Mean: mapped(c.Printed, func(v float64) []float64 { return []float64{v} })}
	d := printed.Less(c)
	a := Replication{Difference: d.Mean, DifferenceErr: d.StdErr}
	var ours []float64
	for g, m := range c.Mean {
		mean := stat.Mean(m, nil)
		ours = append(ours, mean)
		if c.Printed[g] < floats.Min(m) {
			a.Below = append(a.Below, g)
		}
		if c.Printed[g] > floats.Max(m) {
			a.Above = append(a.Above, g)
		}
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n * (seeds - 1)}
	a.MeanP = 2 * t.Survival(math.Abs(a.Difference/a.DifferenceErr))
	b := distuv.Binomial{N: n, P: 2 / (seeds + 1)}
	for k := a.Outside(); k <= len(c.Mean); k++ {
		a.OutsideP += b.Prob(float64(k))
	}
	a.Correlation = stat.Correlation(c.Printed, ours, nil)
	var edgesPrinted, edgesOurs []float64
	for _, e := range c.Edges() {
		edgesPrinted, edgesOurs = append(edgesPrinted, e.Printed), append(edgesOurs, stat.Mean(e.Ours, nil))
	}
	a.EdgeCorrelation = stat.Correlation(edgesPrinted, edgesOurs, nil)
	return a
}

// Less returns the mean over the graphs of our mean attention less that of another comparison, with the standard error
// from the pooled variance of a run of the other one.
func (c *Comparison) Less(other *Comparison) num.Estimate {
	var d []float64
	for g, m := range c.Mean {
		d = append(d, stat.Mean(m, nil)-stat.Mean(other.Mean[g], nil))
	}
	run := other.Variance().Run
	variance := run * run * (1/float64(c.Seeds()) + 1/float64(other.Seeds()))
	return num.Estimate{Mean: stat.Mean(d, nil), StdErr: math.Sqrt(variance / float64(len(d)))}
}

// An Edge is one edge of one of the graphs with the attention on it.
type Edge struct {
	Graph, Parent, Child int
	Printed              float64
	Ours                 []float64 // one for each seed
	Sibling              bool      // an earlier position has the same parent
}

// Edges returns all edges of all graphs.
func (c *Comparison) Edges() []Edge {
	var all []Edge
	for g, p := range c.Graphs {
		for _, pc := range p.Graph.Edges() {
			e := Edge{Graph: g, Parent: pc[0], Child: pc[1], Printed: 1 - p.OneMinusAttention[pc[1]]}
			e.Sibling = slices.Contains(p.Graph.Parents()[:e.Child], e.Parent)
			for k := range c.Seeds() {
				e.Ours = append(e.Ours, c.Edge[g][k][e.Child])
			}
			all = append(all, e)
		}
	}
	return all
}

// Unlearned reports whether less than half of the attention lies on the edge in
// the authors' run or in one of ours.
func (e Edge) Unlearned() bool { return e.Printed < 0.5 || floats.Min(e.Ours) < 0.5 }

// Fails returns the number of our runs with less than half of the attention on the edge.
func (e Edge) Fails() int { return count(e.Ours, func(v float64) bool { return v < 0.5 }) }

// Begun returns the seeds with more than twice the median attention on the edge. If
// hardly any run learns the edge, these runs have begun to learn it.
func (e Edge) Begun() (seeds []int) {
	sorted := slices.Sorted(slices.Values(e.Ours))
	median := stat.Quantile(0.5, stat.Empirical, sorted, nil)
	for k, v := range e.Ours {
		if v > 2*median {
			seeds = append(seeds, k)
		}
	}
	return seeds
}

// Unlearned returns the edges with [Edge.Unlearned].
func (c *Comparison) Unlearned() []Edge {
	return slices.DeleteFunc(c.Edges(), func(e Edge) bool { return !e.Unlearned() })
}

// Rarest returns the edge that the fewest of our runs learn, among the edges that some
// run learns, ours or the authors'; the first of several.
func (c *Comparison) Rarest() Edge {
	learnt := slices.DeleteFunc(c.Edges(), func(e Edge) bool {
		return e.Printed < 0.5 && e.Fails() == len(e.Ours)
	})
	return slices.MaxFunc(learnt, func(a, b Edge) int { return cmp.Compare(a.Fails(), b.Fails()) })
}

// Position has the mean attention on the parent at one position, over the graphs in which the position has a parent.
type Position struct {
	I      int
	Ours   float64   // over graphs and seeds
	Paper  float64   // over graphs, the authors' run
	Seeds  []float64 // mean over graphs, by seed
	Graphs int
}

// Positions returns the curve of Figure 9 at the positions that have a parent in some graph.
func (c *Comparison) Positions() []Position {
	var all []Position
	for i := range c.Graphs[0].Graph.T() {
		var ours, paper []float64
		for g, p := range c.Graphs {
			if p.Graph.Parent(i) < 0 {
				continue
			}
			paper = append(paper, 1-p.OneMinusAttention[i])
			for k := range c.Seeds() {
				ours = append(ours, c.Edge[g][k][i])
			}
		}
		if len(paper) == 0 {
			continue
		}
		p := Position{I: i, Graphs: len(paper), Seeds: make([]float64, c.Seeds())}
		for k, v := range ours {
			p.Seeds[k%c.Seeds()] += v / float64(len(paper))
		}
		p.Ours, p.Paper = stat.Mean(ours, nil), stat.Mean(paper, nil)
		all = append(all, p)
	}
	return all
}

// A OneDraw tests whether the printed mean over the twenty graphs is one draw of ours: a
// run of each graph, chosen at random among our runs.
type OneDraw struct {
	Printed float64   // mean of the authors' run over the graphs
	Draws   []float64 // means of our draws, in increasing order
	Above   float64   // share of the draws that are at least Printed
}

// OneDraw draws n times.
func (c *Comparison) OneDraw(n int) OneDraw {
	d := OneDraw{Printed: stat.Mean(c.Printed, nil), Draws: make([]float64, n)}
	rng := rand.New(num.Stream(1, "answers/one draw"))
	for k := range d.Draws {
		for _, of := range c.Mean {
			d.Draws[k] += of[rng.IntN(len(of))] / float64(len(c.Mean))
		}
		if d.Draws[k] >= d.Printed {
			d.Above += 1 / float64(n)
		}
	}
	slices.Sort(d.Draws)
	return d
}

// WithEnd returns, for each evaluation, the correlation over the seeds of the mean attention on
// the parents of graph g with its value at the end. It is NaN where all runs are equal.
func (c *Comparison) WithEnd(g int) []float64 {
	out := make([]float64, len(c.Steps))
	for e := range out {
		out[e] = stat.Correlation(column(c.Along[g], e), c.Mean[g], nil)
	}
	return out
}

// manyGraphsFigure is Figure 9: attention on the parent by position, ours over
// graphs and seeds, the authors' run over graphs.
func manyGraphsFigure(c *Comparison) *figure.Figure {
	var x, ours, paper, xEach, each, xPrinted, printed []float64
	for _, p := range c.Positions() {
		at := float64(p.I + 1)
		x, ours, paper = append(x, at), append(ours, p.Ours), append(paper, p.Paper)
		for g, of := range c.Graphs {
			if of.Graph.Parent(p.I) < 0 {
				continue
			}
			xEach, each = append(xEach, at-0.2), append(each, stat.Mean(column(c.Edge[g], p.I), nil))
			xPrinted, printed = append(xPrinted, at+0.2), append(printed, 1-of.OneMinusAttention[p.I])
		}
	}
	p := figure.New("").Axes(positionI, "Attention from $i$ to $p(i)$").XRange(1, 20).YRange(0, 1)
	p.Every(&p.X, 1).Every(&p.Y, 0.2).Height = 130
	p.Points(4, "ours, by graph", xEach, each).Color = figure.Colors[0]
	p.Curve(0, "ours, mean", x, ours)
	p.Points(5, "paper, by graph", xPrinted, printed).Color = figure.Colors[1]
	p.Curve(1, "paper, mean", x, paper)
	return figure.OneRow(figure.FullText,
		"Marks of 20 graphs over the positions, most between 0.8 and 0.95, with a few far below. The means of the paper and "+
			"ours run together near 0.85 and fall to about 0.55 at the last position with a parent.",
		fmt.Sprintf(`First-layer attention on the parent by position, on each of %d graphs and in the mean over the graphs: `+
			`ours, the mean of %d seeds, and the paper's, one run each. Positions are counted from 1; our marks are `+
			`shifted a little to the left and the paper's to the right.`, len(c.Graphs), c.Seeds()),
		p)
}

// byGraphFigure shows our runs on each graph and the authors' value, by the number of the graph in the tables.
func byGraphFigure(c *Comparison) *figure.Figure {
	var x, ours, xPaper []float64
	for g, mean := range c.Mean {
		for k, v := range mean {
			x, ours = append(x, float64(g)-0.4+0.6*float64(k)/float64(len(mean))), append(ours, v)
		}
		xPaper = append(xPaper, float64(g)+0.35)
	}
	p := figure.New("").Axes("Graph", "Mean attention on parents").XRange(-0.75, 19.75)
	p.YRange(math.Floor(min(floats.Min(ours), floats.Min(c.Printed))*20)/20, 1).Every(&p.X, 1).Height = 170
	p.Points(4, "ours", x, ours).Color = figure.Colors[0]
	p.Points(1, "paper", xPaper, c.Printed)
	return figure.OneRow(figure.FullText,
		"Marks over 20 graphs, many of ours and one of the paper’s each, most between 0.75 and 0.9. On most "+
			"graphs the paper’s lies among ours, on a few above all of them.",
		fmt.Sprintf(`Mean attention on the parents for each of the %d graphs: our %d runs, one mark a seed, `+
			`and the value that the authors printed. Graphs have the numbers of the tables, in the authors' order `+
			`from 0.`, len(c.Graphs), c.Seeds()),
		p)
}

// oneDraws is the number of drawn means over the twenty graphs.
const oneDraws = 100_000

// oneDrawFigure is the distribution of the mean over the graphs for one run of each, with
// every draw of the largest percent, the means of other seeds of the released sampler, and the printed mean.
func oneDrawFigure(both ensembles) *figure.Figure {
	c := both.ours
	d := c.OneDraw(oneDraws)
	var x, share, xReleased, released []float64
	for i := 0; i < oneDraws; i++ {
		x, share = append(x, d.Draws[i]), append(share, float64(oneDraws-i)/oneDraws)
		if i < oneDraws*99/100 {
			i += oneDraws/200 - 1
		}
	}
	for k := range both.released.Seeds() {
		mean := stat.Mean(column(both.released.Mean, k), nil)
		i, _ := slices.BinarySearch(d.Draws, mean)
		xReleased, released = append(xReleased, mean), append(released, float64(max(oneDraws-i, 1))/oneDraws)
	}
	p := figure.New("").Axes("Mean over the graphs", "Share of draws that reach it")
	p.XRange(math.Floor(200*d.Draws[0])/200, math.Ceil(200*max(d.Printed, d.Draws[oneDraws-1]))/200).Log(&p.Y)
	p.Curve(0, "one run of each graph, ours", x, share)
	p.Curve(1, "paper", []float64{d.Printed, d.Printed}, []float64{1. / oneDraws, 1})
	p.Points(2, "released sampler, other seeds", xReleased, released)
	return figure.OneRow(figure.OneColumn,
		"On a logarithmic axis a curve that falls from 1 to one draw in a hundred thousand, and crosses an "+
			"upright line at the paper’s mean a little below one in a thousand; marks on the curve near its middle.",
		fmt.Sprintf(`Mean attention over the %d graphs if one of our %d runs is chosen at random for each graph: `+
			`the share of $10^%d$ draws that reach each value, the means of %d other seeds of the released sampler, and `+
			`the printed mean.`,
			len(c.Graphs), c.Seeds(), len(strconv.Itoa(oneDraws))-1, both.released.Seeds()),
		p)
}

// manyGraphsTable lists the 20 graphs: the authors' value, our mean over the
// seeds, and the difference in standard deviations of a single run.
func manyGraphsTable(c *Comparison) *figure.Table {
	t := figure.NewTable(
		fmt.Sprintf(`Mean attention on the parents for each of the %d graphs: the value that the authors' `+
			`run printed, ours over %d seeds (mean, standard deviation, smallest and largest).`, len(c.Graphs), c.Seeds()),
		"Graph", "Edges", "Paper", "Ours", "sd", "Min", "Max", "Paper − ours")
	for g, m := range c.Mean {
		mean, sd := stat.MeanStdDev(m, nil)
		row := []any{g, len(c.Graphs[g].Graph.Edges())}
		for _, v := range []float64{c.Printed[g], mean, sd, floats.Min(m), floats.Max(m), c.Printed[g] - mean} {
			row = append(row, figure.Value(v, 4))
		}
		t.Add(row...)
	}
	return t
}

// manyGraphsLossTable has the final losses on each of the 20 graphs of the model and the reference predictors.
func manyGraphsLossTable(losses []*Losses) *figure.Table {
	t := figure.NewTable(
		fmt.Sprintf(`Log-loss in nats on %d test sequences for each of the %d graphs, seed 0: the trained `+
			`model, the posterior mean given the edges, the authors' released formula, the Bayes `+
			`predictor with %d draws for each sequence, and two paired differences with standard errors.`,
			losses[0].Sequences, len(losses), losses[0].Draws),
		"Graph", "Trained", "edges", "released", "Bayes", "trained − edges", "trained − Bayes")
	for g, l := range losses {
		t.Add(g, figure.Value(l.Model.Mean, 4), figure.Value(l.Edges.Mean, 4),
			figure.Value(l.Released.Mean, 4), figure.Value(l.Bayes.Mean, 4), l.ModelLessEdges, l.ModelLessBayes)
	}
	return t
}

func unlearnedTable(c *Comparison) *figure.Table {
	t := figure.NewTable(
		fmt.Sprintf(`The edges on which less than half of the attention lies in the authors' run or in `+
			`one of our %d on the graph: in how many of ours, with the interval of 95 \%% for the probability, and `+
			`the least, median and largest attention in ours. Positions are counted from 1.`, c.Seeds()),
		"Graph", "Edge", "Paper", "Ours: fail, interval, least, median, largest")
	for _, e := range c.Unlearned() {
		interval := trial.BinomialInterval(e.Fails(), len(e.Ours))
		all := slices.Sorted(slices.Values(e.Ours))
		t.Add(e.Graph, edgeLabel(e.Parent, e.Child), figure.Value(e.Printed, 2),
			words("%d of %d", e.Fails(), len(all)), words("%.2f to %.2f", interval[0], interval[1]),
			figure.Value(all[0], 2), figure.Value(stat.Quantile(0.5, stat.Empirical, all, nil), 2),
			figure.Value(all[len(all)-1], 2))
	}
	return t
}

// largeAttention is the least mean attention on the parent that counts as large.
const largeAttention = 0.75

// comparisonRows are the rows on Figure 9 and its two numbers. Attention is large at all
// positions if the smallest of their means is at least largeAttention.
func comparisonRows(c *Comparison) []Row {
	v, a := c.Variance(), c.Replication()
	positions := c.Positions()
	least := slices.MinFunc(positions, func(p, q Position) int { return cmp.Compare(p.Ours, q.Ours) })
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

// spreadVerdict reports whether the authors' standard deviation lies in the 99 % prediction
// interval of our runs.
func spreadVerdict(v Variance) string {
	if v.OneRunP < 0.01 {
		return differs("it is not that of one more of our runs (p = %.1g)", v.OneRunP)
	}
	return fmt.Sprintf("%s: it could be that of one more of our runs (p = %.2f)", reproduced, v.OneRunP)
}

// replicationVerdict reports whether the authors' values lie in the 99 % prediction intervals of our
// runs: the mean over the graphs, and the number of graphs outside of our range.
func replicationVerdict(a Replication) string {
	if a.MeanP < 0.01 {
		return differs("printed values are higher by %.3f ± %.3f (p = %.1g)", a.Difference, a.DifferenceErr, a.MeanP)
	}
	if a.OutsideP < 0.01 {
		return differs("printed values outside our range on %d of 20 graphs (p = %.1g)", a.Outside(), a.OutsideP)
	}
	return reproduced + ": the printed values could be one more run of ours"
}

// ManyGraphsLosses returns the losses of the run of seed 0 on each of the 20 graphs.
func ManyGraphsLosses(ctx context.Context, r *Results) ([]*Losses, error) {
	return once(r, "many-graphs-losses", func() ([]*Losses, error) {
		rs, err := manyRuns(ctx, r)
		if err != nil {
			return nil, err
		}
		all, err := trial.Each(ctx, rs, func(ctx context.Context, r *runs.Run) ([]*Losses, error) {
			return compareLosses(ctx, lossSequences, comparisonDraws, r)
		})
		return slices.Concat(all...), err
	})
}
