package figures

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/task"
)

// Number of test sequences on which losses are compared, and of draws of the Bayes
// predictor for each sequence at S = 10 and at S = 3.
const (
	lossSequences   = 1 << 13
	lossDraws       = 1000
	comparisonDraws = 300
)

// BayesSets returns the sets of the paper's experiments. A comparison on fewer
// sequences uses the first sequences of a set.
func BayesSets() []trial.BayesSet {
	var all []trial.BayesSet
	for _, s := range SingleParents() {
		all = append(all, trial.NewBayesSet(s.Spec(), lossSequences, lossDraws))
	}
	for _, g := range trial.ManyGraphs() {
		all = append(all, trial.NewBayesSet(ManyGraphsSpec(g.Graph, 0), lossSequences, comparisonDraws))
	}
	return all
}

// Losses are the mean log-losses, in nats, of a trained model and of reference
// predictors on the same test sequences.
type Losses struct {
	Sequences, Draws int
	Model            num.Estimate
	Edges            num.Estimate // posterior mean given the edges
	ModelLessEdges   num.Estimate // paired difference

	// For Task 1.
	Released       num.Estimate // the authors' released formula
	Bayes          num.Estimate // the Bayes predictor
	Entropy        num.Estimate // mean entropy of the row pi(.|s_T): the loss of the predictor that knows pi
	ModelLessBayes num.Estimate // paired difference

	// For Task 2, where the Bayes predictor is (a).
	OneParent []num.Estimate // posterior mean that compares parent l only
}

// BestOneParent returns the smallest of the losses with one parent.
func (l *Losses) BestOneParent() num.Estimate {
	return slices.MinFunc(l.OneParent, func(a, b num.Estimate) int { return cmp.Compare(a.Mean, b.Mean) })
}

// compareLosses evaluates runs of Task 1 with a Dirichlet prior and the same test sequences on
// the first n of these, at most lossSequences. Each Bayes prediction has the given number of
// draws, and is computed only if its loss is not stored, see [trial.BayesSet].
func compareLosses(ctx context.Context, n, draws int, rs ...*runs.Run) ([]*Losses, error) {
	spec := rs[0].Spec
	set := trial.NewBayesSet(spec, lossSequences, draws)
	tk, b, err := set.Draw()
	if err != nil {
		return nil, err
	}
	b.X, b.Y = b.X[:n*b.T], b.Y[:n*b.S]
	prior := tk.Prior.(*markov.Dirichlet)
	all, err := set.Losses(ctx)
	if err != nil {
		return nil, err
	}
	bayes := all.Loss[:n]
	entropy, edges, err := trial.KnownLosses(spec, b)
	if err != nil {
		return nil, err
	}
	released := task.Losses(b, func(f []float64, x []int) { task.ReleasedFormula(f, tk.Graph, prior.Alpha, x) })
	var losses []*Losses
	for _, r := range rs {
		trained, err := trial.ModelLosses(ctx, r, b)
		if err != nil {
			return nil, err
		}
		losses = append(losses, &Losses{
			Sequences: n, Draws: draws,
			Model: num.Average(trained), Edges: num.Average(edges), Released: num.Average(released),
			Bayes: num.Average(bayes), Entropy: num.Average(entropy),
			ModelLessEdges: task.PairedDifference(trained, edges),
			ModelLessBayes: task.PairedDifference(trained, bayes),
		})
	}
	return losses, nil
}

// A finalLoss is the loss on all test sequences of the runs in one setting.
type finalLoss struct {
	id, name string
	plotted  float64   // value in the authors' plots, or 0
	seeds    []float64 // loss by seed
	stdErr   float64   // over the sequences of one run, 0 for several runs
}

// uncertainty returns the range over several seeds, or the confidence interval over the
// test sequences of one run.
func (f finalLoss) uncertainty() string {
	if len(f.seeds) > 1 || f.stdErr == 0 {
		return overSeeds(f.seeds, 3)
	}
	return confidence(num.Estimate{Mean: f.seeds[0], StdErr: f.stdErr}, 3)
}

func finalLossRows(all []finalLoss) []Row {
	var rows []Row
	for _, f := range all {
		row := Row{
			ID: f.id, What: "final test loss: " + f.name, Ours: figure.Value(stat.Mean(f.seeds, nil), 3),
			Interval: f.uncertainty(), Verdict: notStated,
		}
		if f.plotted > 0 {
			row.Paper = fmt.Sprintf("authors' plot: %.3f", f.plotted)
			row.Verdict = againstPlot(f.plotted, trial.NewSample(f.seeds))
		}
		rows = append(rows, row)
	}
	return rows
}

// finals returns the last test loss of each run.
func finals(rs ...*runs.Run) []float64 {
	return mapped(rs, func(r *runs.Run) float64 { return r.Curve[len(r.Curve)-1].Loss })
}

func addresses(rs []*runs.Run) []string {
	return mapped(rs, func(r *runs.Run) string { return r.Address })
}

func lossAxes(title string) *figure.Panel {
	p := figure.New(title).Axes("Step", "Test loss")
	return p.Log(&p.X)
}

func trainedLoss(l *Losses) num.Estimate { return l.Model }

func lossLessEdges(l *Losses) num.Estimate { return l.ModelLessEdges }

func lossLessBayes(l *Losses) num.Estimate { return l.ModelLessBayes }

// lossKinds are the losses and differences of a comparison.
var lossKinds = []struct {
	id, title string
	of        func(*Losses) num.Estimate
}{
	{"trained", "trained model", trainedLoss},
	{"edges", "posterior mean given the edges", func(l *Losses) num.Estimate { return l.Edges }},
	{"released", "authors' released formula", func(l *Losses) num.Estimate { return l.Released }},
	{"bayes", "Bayes predictor", func(l *Losses) num.Estimate { return l.Bayes }},
	{"entropy", "entropy of the row, L*", func(l *Losses) num.Estimate { return l.Entropy }},
	{"trained-less-edges", "trained − edges", lossLessEdges},
	{"trained-less-bayes", "trained − Bayes", lossLessBayes},
}
