package paper

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"learncausal/pkg/claims"
	"learncausal/pkg/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/runs"
	"learncausal/pkg/theory"
)

// How many test sequences the losses are compared on, and how many draws the
// Bayes predictor takes for each, at S = 10 and at S = 3.
const (
	LossSequences   = 1 << 13
	LossDraws       = 1000
	ComparisonDraws = 300
)

// A Row is one figure or number of the paper and what became of it.
type Row struct {
	ID      string // as in the list of statements
	What    string
	Paper   string // the paper's value
	Ours    figure.Cell
	Verdict string
}

// A Report is all that the paper's experiments come to.
type Report struct {
	Figures []*figure.Figure
	Tables  []*figure.Table
	Numbers figure.Numbers
	Rows    []Row
	Ledger  *claims.Ledger
}

// LoadSingleParents loads or trains the runs of Figures 2 and 6.
func LoadSingleParents(ctx context.Context, get Getter) ([]*runs.Run, error) {
	var rs []*runs.Run
	for _, e := range SingleParents() {
		r, err := get(ctx, e.Spec())
		if err != nil {
			return nil, err
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// Results are the runs of every experiment, loaded or trained.
type Results struct {
	Single     []*runs.Run   // Figures 2 and 6
	Comparison *Comparison   // Figure 9
	Multi      [][]*MultiRun // Figures 5 and 7
	Printed    [][]*MultiRun // the same in the printed setting
	MLP        []*MLPResult  // Figure 8
}

// Load loads or trains every run.
func Load(ctx context.Context, get Getter) (r *Results, err error) {
	r = &Results{}
	if r.Single, err = LoadSingleParents(ctx, get); err != nil {
		return nil, err
	}
	if r.Comparison, err = LoadComparison(ctx, get); err != nil {
		return nil, err
	}
	if r.Multi, err = LoadMulti(ctx, get); err != nil {
		return nil, err
	}
	if r.Printed, err = LoadPrinted(ctx, get); err != nil {
		return nil, err
	}
	r.MLP, err = LoadMLP(ctx, get)
	return r, err
}

// Rows returns the paper's figures and numbers with their verdicts.
func (r *Results) Rows() []Row {
	rows := append(singleRows(r.Single), sketchRows()...)
	rows = append(rows, MultiRows(r.Multi, r.Printed)...)
	rows = append(rows, MLPRows(r.MLP)...)
	return append(rows, comparisonRows(r.Comparison)...)
}

// Build loads or trains every run and draws, tabulates and counts.
func Build(ctx context.Context, get Getter) (*Report, error) {
	r, err := Load(ctx, get)
	if err != nil {
		return nil, err
	}
	rep := &Report{}
	for _, add := range []func(*Results) error{rep.addSingle, rep.addMulti, rep.addMLP, rep.addConstructions, rep.addTheory, rep.addLedger} {
		if err := add(r); err != nil {
			return nil, err
		}
	}
	rep.Rows = r.Rows()
	rep.Tables = append(rep.Tables, Summary(rep.Rows))
	return rep, nil
}

func (rep *Report) add(figures []*figure.Figure, tables []*figure.Table, numbers ...figure.Numbers) {
	rep.Figures, rep.Tables = append(rep.Figures, figures...), append(rep.Tables, tables...)
	for _, n := range numbers {
		rep.Numbers = append(rep.Numbers, n...)
	}
}

func (rep *Report) addSingle(r *Results) error {
	var losses []*Losses
	for _, run := range r.Single {
		l, err := CompareLosses(run, LossSequences, LossDraws)
		if err != nil {
			return err
		}
		losses = append(losses, l)
	}
	comparisonLosses, err := ComparisonLosses(r.Comparison)
	if err != nil {
		return err
	}
	figures := []*figure.Figure{
		GraphExample(), InductionHead(r.Single[1]), SingleParentFigure(r.Single),
		ManyGraphsFigure(r.Comparison), ByGraphFigure(r.Comparison), LossFigure(r.Single, losses),
	}
	for i, e := range SingleParents() {
		if e.ID == "icl" {
			continue // Figure 2
		}
		f := WeightsFigure("fig-single-parent-"+e.ID, r.Single[i].Final.Weights, e.Graph)
		f.Caption = fmt.Sprintf(`All weights of the run on the graph of Figure 6 \textquotedblleft %s\textquotedblright.`, e.Title)
		figures = append(figures, f)
	}
	blocks, n1 := BlocksTable(r.Single)
	lossTable, n2 := LossTable(r.Single, losses)
	rep.add(
		figures,
		[]*figure.Table{blocks, lossTable, ManyGraphsTable(r.Comparison), ComparisonLossTable(comparisonLosses), UnlearnedTable(r.Comparison)},
		n1, n2, ComparisonNumbers(r.Comparison),
	)
	return nil
}

func (rep *Report) addMulti(r *Results) error {
	all := append(slices.Clone(r.Multi), r.Printed...)
	rep.add(
		[]*figure.Figure{
			MultiFigure(r.Multi), MultiWeightsFigure(r.Multi),
			MultiPositionsFigure(r.Multi), MultiLossFigure(r.Multi, r.Printed),
		},
		[]*figure.Table{MultiTable(all), MultiPositionsTable(r.Multi)},
		MultiNumbers(all),
	)
	return nil
}

func (rep *Report) addMLP(r *Results) error {
	if err := CompareMLPLosses(r.MLP); err != nil {
		return err
	}
	rep.add([]*figure.Figure{MLPFigure(r.MLP)}, []*figure.Table{MLPTable(r.MLP), MLPRootsTable(r.MLP), MLPLossTable(r.MLP)}, MLPNumbers(r.MLP))
	return nil
}

func (rep *Report) addConstructions(r *Results) error {
	ls, err := Likenesses(r.Single, r.Comparison, r.Multi)
	if err != nil {
		return err
	}
	table, numbers := LikenessTable(ls)
	rep.add([]*figure.Figure{ForwardPass(), ForwardPassRoots(), ConstructionErrorFigure()}, []*figure.Table{table}, numbers)
	return nil
}

// addTheory computes and adds the figures on the proof.
func (rep *Report) addTheory(*Results) error {
	dynamics, numbers, err := DynamicsFigures()
	if err != nil {
		return err
	}
	samples, err := FiniteSampleFigures()
	if err != nil {
		return err
	}
	rep.add(append(append([]*figure.Figure{ProofSketch(), GradientMap()}, dynamics...), samples...), nil, numbers)
	return nil
}

// addLedger adds what the ledger comes to. It is stored as the runs are:
// checking everything takes minutes.
func (rep *Report) addLedger(*Results) (err error) {
	if rep.Ledger, err = ReadLedger(Dir("figures")); err != nil {
		return err
	}
	table, err := LedgerTable(rep.Ledger)
	if err != nil {
		return err
	}
	rep.add([]*figure.Figure{LedgerFigure(rep.Ledger), DependencyFigure(rep.Ledger)}, []*figure.Table{table}, LedgerNumbers(rep.Ledger))
	return nil
}

// sketchRows are Figures 3 and 4, which hold no number of the paper's.
func sketchRows() []Row {
	g, prior := SketchGraph(), SketchPrior()
	lead := LeastLead(theory.G(prior, g), g)
	return []Row{
		ForwardPassRow(),
		{"fig-proof-sketch", "Figure 4: the gradient of a row by position", "largest at p(i)", figure.Words(figure.Text(fmt.Sprintf("in each row, by at least %.3f", lead))), verdict(lead > 0, "reproduced")},
	}
}

func singleRows(single []*runs.Run) []Row {
	var rs []Row
	// The edges of the paper's drawing, counted from 1.
	printed := [][2]int{{1, 2}, {1, 3}, {2, 4}, {3, 5}}
	same := slices.EqualFunc(graph.Example().Edges(), printed, func(e, p [2]int) bool { return e[0]+1 == p[0] && e[1]+1 == p[1] })
	rs = append(rs, Row{"fig-graph-example", "Figure 1: causal graph", "drawing", figure.Words(figure.Text("drawing")), verdict(same, "reproduced")})
	for i, e := range SingleParents() {
		id, what := "fig-single-parent", "Fig 6: "+e.Title
		if e.ID == "icl" {
			id, what = "fig-induction-head", "Figs 2, 6: "+e.Title
		}
		w := single[i].Final.Weights
		found, edges := Recovered(w, e.Graph)
		identity, outside := 1.0, 0.0
		for _, b := range Blocks(w, e.Graph) {
			if b.Name != "A1" {
				identity = min(identity, b.Correlation)
			}
			outside = max(outside, b.Outside)
		}
		ours := fmt.Sprintf("%d/%d edges; r ≥ %.3f; rest ≤ %.0f %%", found, edges, math.Floor(identity*1000)/1000, math.Ceil(outside*100))
		rs = append(rs, Row{id, what, "blocks → G, I, I; rest small", figure.Words(figure.Text(ours)), blockVerdict(found == edges && identity > 0.99, outside < 0.2)})
	}
	return rs
}

func comparisonRows(c *Comparison) []Row {
	v, a := c.Variance(), c.Agreement()
	return []Row{
		{"fig-many-graphs", "Figure 9: attention by position", "large at all positions", figure.Words(figure.Text(fmt.Sprintf("edge by edge r = %.2f", a.EdgeCorrelation))), verdict(a.EdgeCorrelation > 0.8, "shape reproduced")},
		{"num-avg-attn", "mean attention on the parents", "0.837", figure.PlusMinus(v.Mean, v.StdErr, 4), a.Verdict()},
		{"num-avg-attn-sd", "its sd over graphs, one run each", "0.054", figure.Value(v.OneRun, 4), fmt.Sprintf("%s: our seeds give %.3f to %.3f (rank p = %.2f)", verdict(v.OneRunP >= 0.01, "consistent"), v.OneRunMin, v.OneRunMax, v.OneRunP)},
	}
}

// blockVerdict judges the two halves of the paper's sentence on the weights:
// the blocks (every edge found, correlation with I above 0.99) and the rest
// (no entry above a fifth of the largest one in the block).
func blockVerdict(blocks, rest bool) string {
	switch {
	case blocks && rest:
		return "reproduced"
	case blocks:
		return "blocks reproduced, rest not small"
	case rest:
		return "differs in the blocks"
	}
	return "differs"
}

func verdict(holds bool, yes string) string {
	if holds {
		return yes
	}
	return "differs"
}

// Summary returns the table of the rows.
func Summary(rows []Row) *figure.Table {
	t := &figure.Table{
		ID:      "summary",
		Caption: `Every figure and number of the paper: the paper's value, ours, and the verdict.`,
		Shares:  []float64{0.13, 0.18, 0.15, 0.18, 0.24},
		Columns: []figure.Label{figure.Text("Id"), figure.Text("What"), figure.Text("Paper"), figure.Text("Ours"), figure.Text("Verdict")},
	}
	for _, row := range rows {
		t.Rows = append(t.Rows, []figure.Cell{
			figure.Words(figure.Text(row.ID)), figure.Words(figure.Text(row.What)), figure.Words(figure.Text(row.Paper)), row.Ours, figure.Words(figure.Text(row.Verdict)),
		})
	}
	return t
}

// Export writes every figure, table and number, the ledger, and one LaTeX
// document with all of them, into dir.
func (r *Report) Export(dir string) error {
	for _, f := range r.Figures {
		if _, err := f.Export(dir); err != nil {
			return err
		}
	}
	for _, t := range r.Tables {
		if _, err := t.Export(dir); err != nil {
			return err
		}
	}
	if _, err := r.Numbers.Export(dir); err != nil {
		return err
	}
	if err := WriteLedger(r.Ledger, dir); err != nil {
		return err
	}
	_, err := figure.ExportDocument(dir, r.Figures, r.Tables)
	return err
}

// Files returns the files of a row in dir, as a pattern.
func (row Row) Files(dir string) string {
	if strings.HasPrefix(row.ID, "fig-") {
		return filepath.Join(dir, row.ID+".*")
	}
	return filepath.Join(dir, "numbers.json")
}
