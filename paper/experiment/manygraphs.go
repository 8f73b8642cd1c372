package experiment

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// PrintedGraph is one of the 20 graphs of the quantitative comparison, with the
// values that the authors' run printed for it.
type PrintedGraph struct {
	Name              string // graph-0 to graph-19, in the authors' order
	Graph             *graph.Forest
	OneMinusAttention []float64 // 1 - S(A1)_{i,p(i)} of positions i = 0..T-1, 0 for a root
	Mean              float64   // over the graph's edges
}

//go:embed many_graphs.json
var manyGraphs []byte

// ManyGraphs returns the authors' 20 graphs (Figure 9).
func ManyGraphs() []PrintedGraph {
	var file struct {
		Graphs []struct {
			Parents           []int
			OneMinusAttention []float64 `json:"one_minus_attention"`
			Mean              float64   `json:"mean_one_minus_attention"`
		}
	}
	if err := json.Unmarshal(manyGraphs, &file); err != nil {
		panic(fmt.Sprintf("experiment: many_graphs.json: %v", err))
	}
	var all []PrintedGraph
	for i, g := range file.Graphs {
		p := PrintedGraph{Name: fmt.Sprintf("graph-%d", i), Mean: g.Mean}
		p.Graph = graph.MustNew(append(g.Parents, graph.Root)...)
		// The file starts at position 1 and ends before the query.
		p.OneMinusAttention = append(append([]float64{0}, g.OneMinusAttention...), 0)
		all = append(all, p)
	}
	return all
}

// PrintedGraphNamed returns the graph of a name, graph-0 to graph-19.
func PrintedGraphNamed(name string) (PrintedGraph, error) {
	return named("graph of Figure 9", ManyGraphs(), func(p PrintedGraph) string { return p.Name }, name)
}

// Spec returns the authors' setting: S=3, T=20, rows Dirichlet(0.1), 2^14 steps on 1024 fresh
// sequences each, constant learning rate 1, zero initialisation, 2^16 test sequences.
func (p PrintedGraph) Spec(seed int) train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: p.Graph.Parents(), States: 3, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     1024, Steps: 1 << 14, Seed: uint64(seed), Test: 1 << 16, Every: 1 << 9,
	}
}

func manyGraphsSpecs() []train.Spec {
	return mapped(ManyGraphs(), func(p PrintedGraph) train.Spec { return p.Spec(0) })
}

// LoadManyGraphs loads or trains the run of seed 0 on each of the 20 graphs.
func LoadManyGraphs(ctx context.Context, get Getter) ([]*runs.Run, error) {
	return each(ctx, manyGraphsSpecs(), get)
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
	Graphs  []PrintedGraph
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
	all, err := Outcomes(sweep)
	if err != nil {
		return nil, err
	}
	return newComparison(sweep, all)
}

func newComparison(sweep string, all []*Outcome) (*Comparison, error) {
	c := &Comparison{Sweep: sweep, Graphs: ManyGraphs()}
	for _, g := range c.Graphs {
		var edges, along [][]float64
		var means []float64
		for _, o := range all {
			if of, ok := o.Spec.Task.(train.Task1); !ok || !slices.Equal(of.Parents, g.Graph.Parents()) {
				continue
			}
			if o.Diverged != "" {
				return nil, fmt.Errorf("experiment: run %s on %s has diverged", o.Address, g.Name)
			}
			var steps []int
			var attention []float64
			for _, p := range o.Curve {
				steps, attention = append(steps, p.Step), append(attention, float64(p.Attention))
			}
			c.Steps = steps
			edges, along = append(edges, o.onParents()), append(along, attention)
			means = append(means, float64(o.End().Attention))
		}
		c.Edge, c.Along, c.Mean = append(c.Edge, edges), append(c.Along, along), append(c.Mean, means)
		c.Printed = append(c.Printed, 1-g.Mean)
		if n := c.Seeds(); len(means) != n || n < 2 {
			return nil, fmt.Errorf("experiment: %d runs on %s, want the same number on each graph, at least 2",
				len(means), g.Name)
		}
	}
	return c, nil
}

// onParents returns the first-layer attention of each position on its parent, NaN for a root.
func (o *Outcome) onParents() []float64 {
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
	one := NewSample(v.OneRuns)
	v.OneRun, v.OneRunP = one.Mean, one.PValue(stat.PopStdDev(c.Printed, nil))
	return v
}

func column(rows [][]float64, k int) []float64 {
	return mapped(rows, func(row []float64) float64 { return row[k] })
}

// Replication tests whether the authors' printed values could come from one more of our runs on each graph.
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
	v := c.Variance()
	n, seeds := float64(len(c.Mean)), float64(c.Seeds())
	variance := v.Run * v.Run * (1 + 1/seeds) // of printed - mean of ours
	var a Replication
	var ours []float64
	for g, m := range c.Mean {
		mean := stat.Mean(m, nil)
		ours = append(ours, mean)
		a.Difference += (c.Printed[g] - mean) / n
		if c.Printed[g] < floats.Min(m) {
			a.Below = append(a.Below, g)
		}
		if c.Printed[g] > floats.Max(m) {
			a.Above = append(a.Above, g)
		}
	}
	a.DifferenceErr = math.Sqrt(variance / n)
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

// Position has mean and population standard deviation of the attention on the parent
// at one position, over the graphs in which the position has a parent.
type Position struct {
	I              int
	Ours, OursSD   float64   // over graphs and seeds
	Paper, PaperSD float64   // over graphs, the authors' run
	Seeds          []float64 // mean over graphs, by seed
	Graphs         int
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
		p.Ours, p.OursSD = stat.PopMeanStdDev(ours, nil)
		p.Paper, p.PaperSD = stat.PopMeanStdDev(paper, nil)
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
