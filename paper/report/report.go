package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"learncausal/pkg/figure"
	"learncausal/pkg/ledger"
	"learncausal/pkg/runs"
)

// How many test sequences the losses are compared on, and how many draws the
// Bayes predictor takes for each, at S = 10 and at S = 3.
const (
	LossSequences   = 1 << 13
	LossDraws       = 1000
	ComparisonDraws = 300
)

// A Report is all that the paper's experiments come to.
type Report struct {
	Figures []*figure.Figure
	Tables  []*figure.Table
	Numbers figure.Numbers
	Rows    []Row
	Ledger  *ledger.Ledger
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
	SingleLoss []Estimate    // test losses of these
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
	for _, run := range r.Single {
		loss, err := testLoss(run)
		if err != nil {
			return nil, err
		}
		r.SingleLoss = append(r.SingleLoss, loss)
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

// Build loads or trains every run and draws, tabulates and counts.
func Build(ctx context.Context, get Getter) (*Report, error) {
	r, err := Load(ctx, get)
	if err != nil {
		return nil, err
	}
	adds := []func(*Report, *Results) error{
		(*Report).addSingle, (*Report).addMulti, (*Report).addMLP, (*Report).addConstructions, (*Report).addTheory, (*Report).addLedger,
	}
	// At once, for some of them use one processor only.
	parts, errs := make([]Report, len(adds)), make([]error, len(adds))
	stopped := Each(ctx, len(adds), len(adds), func(i int) { errs[i] = adds[i](&parts[i], r) })
	if err := errors.Join(append(errs, stopped)...); err != nil {
		return nil, err
	}
	rep := &Report{Rows: r.Rows()}
	for _, p := range parts {
		rep.add(p.Figures, p.Tables, p.Numbers)
		if p.Ledger != nil {
			rep.Ledger = p.Ledger
		}
	}
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
		f := WeightsFigure("fig-single-parent-"+e.ID, r.Single[i].Final.Disentangled(), e.Graph)
		f.Caption = fmt.Sprintf(`All weights of the run on the graph of Figure 6 \textquotedblleft %s\textquotedblright.`, e.Title)
		figures = append(figures, f)
	}
	blocks, n1 := BlocksTable(r.Single)
	lossTable, n2 := LossTable(r.Single, losses)
	rep.add(
		figures,
		[]*figure.Table{blocks, lossTable, ManyGraphsTable(r.Comparison), ComparisonLossTable(comparisonLosses), UnlearnedTable(r.Comparison)},
		n1, n2, ComparisonNumbers(r.Comparison), r.lossNumbers(),
	)
	return nil
}

func (rep *Report) addMulti(r *Results) error {
	all := append(slices.Clone(r.Multi), r.Printed...)
	rep.add(
		[]*figure.Figure{
			MultiFigure(r.Multi), MultiWeightsFigure(r.Multi), PrintedFigure(r.Printed), MultiSeedsFigure(r.Multi[1]),
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
	rep.add(
		[]*figure.Figure{MLPFigure(r.MLP), MLPSeedsFigure(r.MLP[2], r.MLP[5])},
		[]*figure.Table{MLPTable(r.MLP), MLPMissedTable(r.MLP), MLPRootsTable(r.MLP), MLPLossTable(r.MLP)},
		MLPNumbers(r.MLP),
	)
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
