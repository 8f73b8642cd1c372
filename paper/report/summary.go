package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/theory"
)

// A Row is one claim of the paper's on a figure or a number, and what became of
// it.
type Row struct {
	Figure int    // of the paper, 0 for a number that stands in no figure
	ID     string // of the figure, or of the number in numbers.json
	What   string
	Paper  string // what the paper says
	Ours   figure.Cell
	// Interval says how sure Ours is: the range over the seeds or an interval of
	// 95 % confidence, each named; "one run"; or "exact" where nothing is sampled.
	Interval string
	Verdict  string // starts with reproduced, "differs: " or notStated
}

// The forms of a verdict; the third is that of differs.
const (
	reproduced = "reproduced"
	notStated  = "not stated"
)

func differs(format string, args ...any) string {
	return "differs: " + fmt.Sprintf(format, args...)
}

// verdict returns reproduced if the claim holds, or how it differs.
func verdict(holds bool, why string) string {
	if holds {
		return reproduced
	}
	return differs("%s", why)
}

// overSeeds returns the Interval of a quantity with one value for each seed.
func overSeeds(v []float64, digits int) string {
	if len(v) == 1 {
		return "one run"
	}
	return fmt.Sprintf("%.*f to %.*f over %d seeds", digits, floats.Min(v), digits, floats.Max(v), len(v))
}

// confidence returns the Interval of an estimate on many sequences, 95 % of a
// normal distribution.
func confidence(e Estimate, digits int) string {
	half := distuv.UnitNormal.Quantile(0.975) * e.StdErr
	return fmt.Sprintf("%.*f to %.*f (95 %%)", digits, e.Mean-half, digits, e.Mean+half)
}

func words(format string, args ...any) figure.Cell {
	return figure.Words(figure.Text(fmt.Sprintf(format, args...)))
}

// Rows returns what the paper says of its figures, in their order, and then its
// numbers, with verdicts.
func (r *Results) Rows() []Row {
	rows := slices.Concat(
		exampleRows(), weightRows(r.Single), sketchRows(), MultiRows(r.Multi, r.Printed), MLPRows(r.MLP),
		comparisonRows(r.Comparison), r.lossRows(),
	)
	place := func(r Row) int {
		if r.Figure == 0 {
			return math.MaxInt
		}
		return r.Figure
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(place(a), place(b)) })
	return rows
}

func exampleRows() []Row {
	// The edges of the paper's drawing, counted from 1.
	printed := [][2]int{{1, 2}, {1, 3}, {2, 4}, {3, 5}}
	same := slices.EqualFunc(graph.Figure1().Edges(), printed, func(e, p [2]int) bool { return e[0]+1 == p[0] && e[1]+1 == p[1] })
	return []Row{{1, "fig-graph-example", "causal graph", "edges 1→2, 1→3, 2→4, 3→5", words("%d edges", len(graph.Figure1().Edges())), "exact", verdict(same, "other edges")}}
}

// sketchRows are Figures 3 and 4, which hold no number of the paper's.
func sketchRows() []Row {
	g, prior := SketchGraph(), SketchPrior()
	lead := LeastLead(theory.G(prior, g), g)
	return []Row{
		ForwardPassRow(),
		{4, "fig-proof-sketch", "gradient of a row by position", "largest at the parent", words("in each row, by at least %.3f", lead), "exact", verdict(lead > 0, "not in each row")},
	}
}

// weightRows are Figures 2 and 6: the blocks of the trained weights against what
// they are said to become, and the entries outside, which are said to remain
// small. A block becomes the adjacency matrix if each row is largest at the parent,
// the identity if r > 0.99; entries are small below a fifth of the block's largest.
func weightRows(single []*runs.Run) []Row {
	var rows []Row
	least, lo, hi := 1.0, math.Inf(1), 0.0
	others := func(identity, hi float64) (Row, Row) {
		blocks := Row{
			What: "blocks of A2, W", Paper: "become the identity", Ours: words("r ≥ %.4f", math.Floor(identity*1e4)/1e4),
			Interval: "one run", Verdict: verdict(identity > 0.99, "r is below 0.99"),
		}
		rest := Row{
			What: "other entries", Paper: "remain small", Interval: "one run",
			Verdict: verdict(hi < 0.2, fmt.Sprintf("they reach %.0f %% of the block's largest", 100*hi)),
		}
		return blocks, rest
	}
	for i, e := range SingleParents() {
		w := single[i].Final.Disentangled()
		found, edges := Recovered(w, e.Graph)
		b := Blocks(w, e.Graph)
		identity := min(b[1].Correlation, b[2].Correlation)
		outside := max(b[0].Outside, b[1].Outside, b[2].Outside)
		least, lo, hi = min(least, identity), min(lo, outside), max(hi, outside)
		edge := Row{
			6, "fig-single-parent", e.Title + ", block of A1", "becomes the adjacency matrix",
			words("%d of %d rows largest at the parent; r = %.2f", found, edges, b[0].Correlation), "one run",
			verdict(found == edges, "not every parent is found"),
		}
		rows = append(rows, edge)
		if e.ID == "icl" { // Figure 2, which Figure 6 repeats
			edge.What = "block of A1"
			ones, rest := others(identity, outside)
			rest.Ours = words("up to %.0f, %.0f, %.0f %% of the block's largest in A1, A2, W", 100*b[0].Outside, 100*b[1].Outside, 100*b[2].Outside)
			for _, r := range []Row{edge, ones, rest} {
				r.Figure, r.ID = 2, "fig-induction-head"
				rows = append(rows, r)
			}
		}
	}
	ones, rest := others(least, hi)
	rest.Ours = words("largest %.0f to %.0f %% of the block's, by graph", 100*lo, 100*hi)
	for _, r := range []Row{ones, rest} {
		r.Figure, r.ID, r.Interval = 6, "fig-single-parent", "three runs"
		rows = append(rows, r)
	}
	return rows
}

// LargeAttention is the least mean attention on the parent that counts as large.
const LargeAttention = 0.75

// comparisonRows are Figure 9 and its two numbers. Attention is large at all
// positions if the smallest of their means is.
func comparisonRows(c *Comparison) []Row {
	v, a := c.Variance(), c.Agreement()
	positions := c.Positions()
	least := slices.MinFunc(positions, func(p, q Position) int { return cmp.Compare(p.Ours, q.Ours) })
	small := 0
	for _, p := range positions {
		if p.Ours < LargeAttention {
			small++
		}
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(c.Mean) * (Seeds - 1))}.Quantile(0.975) * v.StdErr
	return []Row{
		{
			9, "fig-many-graphs", "attention by position", "large at all positions, close to 1",
			words("least mean %.2f, at position %d; edge by edge r = %.2f with the paper's", least.Ours, least.I, a.EdgeCorrelation),
			overSeeds(least.Seeds, 2),
			verdict(small == 0, fmt.Sprintf("not at %d of %d positions; there the authors' run has %.2f", small, len(positions), least.Paper)),
		},
		{0, "num-avg-attn", "mean attention on the parents", "0.837", figure.Value(v.Mean, 4), fmt.Sprintf("%.4f to %.4f (95 %%)", v.Mean-half, v.Mean+half), a.Verdict()},
		{0, "num-avg-attn-sd", "its sd over the graphs, one run each", "0.054", figure.Value(v.OneRun, 4), overSeeds(v.OneRuns, 3), v.Verdict()},
	}
}

// A finalLoss is the loss of a kind of run on the whole of its test sequences.
type finalLoss struct {
	id, what string
	plotted  float64   // in the authors' plots, 0: not there
	seeds    []float64 // one for each
	stdErr   float64   // over the sequences of one run
}

// losses returns the final losses of Figures 6, 5 and 8, in this order. The paper
// states none of them.
func (r *Results) losses() []finalLoss {
	var all []finalLoss
	add := func(f finalLoss, rs ...*runs.Run) {
		for _, run := range rs {
			f.seeds = append(f.seeds, run.Curve[len(run.Curve)-1].Loss)
		}
		all = append(all, f)
	}
	for i, e := range SingleParents() {
		add(finalLoss{id: e.ID + "-loss-final", what: e.Title, stdErr: r.SingleLoss[i].StdErr}, r.Single[i])
	}
	for _, ms := range slices.Concat(r.Multi, r.Printed) {
		if len(ms) == 0 {
			continue
		}
		of, e := ms[0].Of, ms[0].Losses.Model
		f := finalLoss{id: "multi-" + of.ID + "-loss-final", what: of.Short, stdErr: e.StdErr * math.Sqrt(float64(MultiSequences)/float64(ms[0].Run.Spec.Test))}
		if of.ID == "halves" {
			f.plotted = 0.891
		}
		var rs []*runs.Run
		for _, m := range ms {
			rs = append(rs, m.Run)
		}
		add(f, rs...)
	}
	for _, m := range r.MLP {
		if m.ID == "chain" && m.Embeddings == "trained" {
			continue // in MLPRows, beside the authors' value
		}
		add(finalLoss{id: m.id() + "-loss-final", what: fmt.Sprintf("MLP, %s, %s embeddings", m.Title, m.Embeddings)}, m.Runs...)
	}
	return all
}

// interval returns the range over the seeds where there are several, or that over
// the test sequences.
func (f finalLoss) interval() string {
	if len(f.seeds) > 1 || f.stdErr == 0 {
		return overSeeds(f.seeds, 3)
	}
	return confidence(Estimate{Mean: f.seeds[0], StdErr: f.stdErr}, 3)
}

func (r *Results) lossRows() []Row {
	var rows []Row
	for _, f := range r.losses() {
		row := Row{0, f.id, "final test loss: " + f.what, "", figure.Value(stat.Mean(f.seeds, nil), 3), f.interval(), notStated}
		if f.plotted > 0 {
			row.Paper = fmt.Sprintf("authors' plot: %.3f", f.plotted)
			d, side := stat.Mean(f.seeds, nil)-f.plotted, "higher"
			if d < 0 {
				side = "lower"
			}
			row.Verdict += fmt.Sprintf("; ours is %s by %.3f", side, math.Abs(d))
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *Results) lossNumbers() figure.Numbers {
	var ns figure.Numbers
	for _, f := range r.losses() {
		n := figure.Number{ID: f.id, Value: stat.Mean(f.seeds, nil), Digits: 3}
		if len(f.seeds) > 1 {
			n.Interval = &[2]float64{floats.Min(f.seeds), floats.Max(f.seeds)}
		} else {
			n.StdErr = f.stdErr
		}
		ns = append(ns, n)
	}
	return ns
}

// testLoss returns the loss of the final model with its standard error on the
// whole of the test sequences.
func testLoss(r *runs.Run) (Estimate, error) {
	b, err := r.Spec.TestSet()
	if err != nil {
		return Estimate{}, err
	}
	return num.Average(modelLosses(r, b)), nil
}

// Summary returns the table of the rows.
func Summary(rows []Row) *figure.Table {
	t := &figure.Table{
		ID: "summary", Long: true,
		Caption: `What the paper says of its figures, in their order, and every number that it states: the paper, ours, an interval, and the verdict. The interval is the range over the seeds where several runs were made, or one of 95\,\% confidence over test sequences or runs, as it says; \textquotedblleft exact\textquotedblright{} means that nothing is sampled.`,
		Shares:  []float64{0.13, 0.16, 0.15, 0.18, 0.12, 0.15},
		Columns: []figure.Label{figure.Text("Id"), figure.Text("What"), figure.Text("Paper"), figure.Text("Ours"), figure.Text("Interval"), figure.Text("Verdict")},
	}
	for _, row := range rows {
		what := row.What
		if row.Figure > 0 {
			what = fmt.Sprintf("Figure %d: %s", row.Figure, what)
		}
		t.Rows = append(t.Rows, []figure.Cell{words("%s", row.ID), words("%s", what), words("%s", row.Paper), row.Ours, words("%s", row.Interval), words("%s", row.Verdict)})
	}
	return t
}

// Files returns the files of a row in dir, as a pattern.
func (row Row) Files(dir string) string {
	if strings.HasPrefix(row.ID, "fig-") {
		return filepath.Join(dir, row.ID+".*")
	}
	return filepath.Join(dir, "numbers.json")
}
