package report

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/runs"
)

// Comparison is the quantitative comparison of Figure 9: the first-layer
// attention on the parents, S(MASK(A1))_{i,p(i)}, after training on each of the
// authors' 20 graphs from several seeds, beside what the authors' run printed.
type Comparison struct {
	Graphs  []PrintedGraph
	Runs    [][]*runs.Run // graph x seed
	Edge    [][][]float64 // graph x seed x position: S(A1)_{i,p(i)}, NaN for a root
	Mean    [][]float64   // graph x seed: mean over the edges
	Printed []float64     // the same of the authors' run
}

// LoadComparison loads or trains the runs of the comparison.
func LoadComparison(ctx context.Context, get Getter) (*Comparison, error) {
	c := &Comparison{Graphs: ManyGraphs()}
	for _, g := range c.Graphs {
		var rs []*runs.Run
		var edges [][]float64
		var means []float64
		for seed := range Seeds {
			r, err := get(ctx, g.Spec(seed))
			if err != nil {
				return nil, err
			}
			att := r.Final.Disentangled().PositionAttention()
			edge := make([]float64, g.Graph.T())
			for i := range edge {
				edge[i] = math.NaN()
				if p := g.Graph.Parent(i); p >= 0 {
					edge[i] = att[i][p]
				}
			}
			rs, edges = append(rs, r), append(edges, edge)
			means = append(means, r.Curve[len(r.Curve)-1].Attention)
		}
		c.Runs, c.Edge, c.Mean = append(c.Runs, rs), append(c.Edge, edges), append(c.Mean, means)
		c.Printed = append(c.Printed, 1-g.Mean)
	}
	return c, nil
}

// Variance is the one-way analysis of variance of the mean attention: graphs
// are the groups, seeds the replicates.
//
//	y_gk = mu + a_g + e_gk,  Var a = Graph^2,  Var e = Run^2
type Variance struct {
	Mean   float64 // grand mean
	StdErr float64 // of Mean for these 20 graphs: Run / sqrt(graphs x seeds)
	Graph  float64 // sd between graphs, the run-to-run part taken out
	Run    float64 // sd between runs of one graph, pooled
	OneRun float64 // sd over the graphs for one run each, mean over the seeds; what the paper calls 0.054
	// OneRuns are these by seed; OneRunP is the two-sided p-value of the paper's
	// 0.054 as that of one more run, Student's t with one degree of freedom less
	// than seeds.
	OneRuns []float64
	OneRunP float64
}

// Variance returns the analysis of variance of the comparison.
func (c *Comparison) Variance() Variance {
	graphs, seeds := float64(len(c.Mean)), float64(Seeds)
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
	for k := range Seeds {
		v.OneRuns = append(v.OneRuns, stat.PopStdDev(column(c.Mean, k), nil))
	}
	mean, sd := stat.MeanStdDev(v.OneRuns, nil)
	v.OneRun = mean
	t := (stat.PopStdDev(c.Printed, nil) - mean) / (sd * math.Sqrt(1+1/seeds))
	v.OneRunP = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: seeds - 1}.Survival(math.Abs(t))
	return v
}

func column(rows [][]float64, k int) []float64 {
	col := make([]float64, len(rows))
	for i, r := range rows {
		col[i] = r[k]
	}
	return col
}

// Agreement tests whether the authors' printed values could be one more run of
// ours for each graph.
type Agreement struct {
	Difference, DifferenceErr float64 // mean over the graphs of printed - ours, with its standard error under the hypothesis
	MeanP                     float64 // two-sided p-value of Difference, Student's t
	Outside                   int     // graphs whose printed value is outside the range of our runs
	OutsideP                  float64 // p-value of so many: Binomial(20, 2/(seeds+1)), exact whatever the distribution
	Correlation               float64 // of printed and our mean, over the graphs
	EdgeCorrelation           float64 // the same over all edges of all graphs
}

// Agreement returns the tests. They are conditional on the graphs and take the
// run-to-run variance from our runs; it differs between graphs, which the mean
// of many and the count do not mind.
func (c *Comparison) Agreement() Agreement {
	v := c.Variance()
	n, seeds := float64(len(c.Mean)), float64(Seeds)
	variance := v.Run * v.Run * (1 + 1/seeds) // of printed - mean of ours
	var a Agreement
	var ours []float64
	for g, m := range c.Mean {
		mean := stat.Mean(m, nil)
		ours = append(ours, mean)
		a.Difference += (c.Printed[g] - mean) / n
		if p := c.Printed[g]; p < floats.Min(m) || p > floats.Max(m) {
			a.Outside++
		}
	}
	a.DifferenceErr = math.Sqrt(variance / n)
	a.MeanP = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n * (seeds - 1)}.Survival(math.Abs(a.Difference/a.DifferenceErr))
	b := distuv.Binomial{N: n, P: 2 / (seeds + 1)}
	for k := a.Outside; k <= len(c.Mean); k++ {
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
			for k := range Seeds {
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

// Unlearned returns the edges that are not learnt in some run.
func (c *Comparison) Unlearned() []Edge {
	return slices.DeleteFunc(c.Edges(), func(e Edge) bool { return !e.Unlearned() })
}

// Position is the attention on the parent at one position: over the graphs in
// which it has one, mean and population standard deviation.
type Position struct {
	I              int
	Ours, OursSD   float64   // over graphs and seeds
	Paper, PaperSD float64   // over graphs, the authors' run
	Seeds          []float64 // mean over graphs, by seed
	Graphs         int
}

// Positions returns the curve of Figure 9 at the positions where some graph
// has an edge.
func (c *Comparison) Positions() []Position {
	var all []Position
	for i := range c.Graphs[0].Graph.T() {
		var ours, paper []float64
		for g, p := range c.Graphs {
			if p.Graph.Parent(i) < 0 {
				continue
			}
			paper = append(paper, 1-p.OneMinusAttention[i])
			for k := range Seeds {
				ours = append(ours, c.Edge[g][k][i])
			}
		}
		if len(paper) == 0 {
			continue
		}
		p := Position{I: i, Graphs: len(paper), Seeds: make([]float64, Seeds)}
		for k, v := range ours {
			p.Seeds[k%Seeds] += v / float64(len(paper))
		}
		p.Ours, p.OursSD = stat.PopMeanStdDev(ours, nil)
		p.Paper, p.PaperSD = stat.PopMeanStdDev(paper, nil)
		all = append(all, p)
	}
	return all
}

// Verdict says whether the authors' standard deviation could be that of one more
// run of ours, at level 1 %.
func (v Variance) Verdict() string {
	if v.OneRunP < 0.01 {
		return differs("it is not that of one more of our runs (p = %.1g)", v.OneRunP)
	}
	return fmt.Sprintf("%s: it could be that of one more of our runs (p = %.2f)", reproduced, v.OneRunP)
}

// Verdict says whether the authors' values could be one more run of ours, at
// level 1 % for each of the two tests.
func (a Agreement) Verdict() string {
	if a.MeanP < 0.01 {
		return differs("printed values are higher by %.3f ± %.3f (p = %.1g)", a.Difference, a.DifferenceErr, a.MeanP)
	}
	if a.OutsideP < 0.01 {
		return differs("printed values outside our range on %d of 20 graphs (p = %.1g)", a.Outside, a.OutsideP)
	}
	return reproduced + ": the printed values could be one more run of ours"
}
