package experiment

import (
	"cmp"
	"context"
	"slices"

	"learncausal/internal/engine"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// Number of test sequences on which losses are compared, and of draws of the Bayes
// predictor for each sequence at S = 10 and at S = 3.
const (
	lossSequences   = 1 << 13
	lossDraws       = 1000
	comparisonDraws = 300
)

// Losses are the mean log-losses, in nats, of a trained model and of reference
// predictors on the same test sequences.
type Losses struct {
	Sequences, Draws int
	Model            num.Estimate
	Edges            num.Estimate // (a) posterior mean given the edges
	ModelLessEdges   num.Estimate // paired difference

	// For Task 1.
	Released       num.Estimate // (b) the authors' released formula
	Bayes          num.Estimate // (c) the Bayes predictor
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
// draws, and is computed only if its loss is not stored, see [BayesSet].
func compareLosses(ctx context.Context, n, draws int, rs ...*runs.Run) ([]*Losses, error) {
	spec := rs[0].Spec
	set := newBayesSet(spec, draws)
	tk, b, err := set.sequences()
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
	entropy, edges, err := KnownLosses(spec, b)
	if err != nil {
		return nil, err
	}
	released := task.Losses(b, func(f []float64, x []int) { task.ReleasedFormula(f, tk.Graph, prior.Alpha, x) })
	var losses []*Losses
	for _, r := range rs {
		trained, err := modelLosses(ctx, r, b)
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

// Entropies returns the entropy of the target of each test sequence, in nats: the
// log-loss of the predictor that knows the transition matrix.
func Entropies(b *task.Batch) []float64 {
	entropy := make([]float64, b.Len())
	for k := range entropy {
		_, y := b.Seq(k)
		entropy[k] = task.LogLoss(y, y)
	}
	return entropy
}

// KnownLosses returns the log-losses, in nats, on each test sequence, of the predictor that
// knows the transition matrix and of the posterior mean given the edges. The second is nil
// except for Task 1 with a Dirichlet prior.
func KnownLosses(spec train.Spec, b *task.Batch) (entropy, edges []float64, err error) {
	entropy = Entropies(b)
	if _, ok := spec.Task.(train.Task1); !ok {
		return entropy, nil, nil
	}
	predict, err := EdgesPredictor(spec)
	if predict != nil {
		edges = task.Losses(b, predict)
	}
	return entropy, edges, err
}

// testSequences draws the first n test sequences of a run.
func testSequences(spec train.Spec, n int) (*task.Batch, error) {
	spec.Test = n
	return spec.TestSet()
}

// modelLosses returns the log-loss of a run's final model on each sequence.
func modelLosses(ctx context.Context, r *runs.Run, b *task.Batch) ([]float64, error) {
	pass, loss := engine.New(r.Final.Weights).NewPass(), make([]float64, b.Len())
	for i := range loss {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.Seq(i)
		loss[i] = pass.Loss(x, y, nil)
	}
	return loss, nil
}

// SingleParentLosses returns the runs of Figure 6 with their losses.
func SingleParentLosses(ctx context.Context, rs []SingleRun) ([]SingleRun, error) {
	return each(ctx, rs, func(ctx context.Context, r SingleRun) (SingleRun, error) {
		losses, err := compareLosses(ctx, lossSequences, lossDraws, r.Run)
		if err == nil {
			r.Losses = losses[0]
		}
		return r, err
	})
}

// ManyGraphsLosses returns the losses of the runs on the 20 graphs.
func ManyGraphsLosses(ctx context.Context, rs []*runs.Run) ([]*Losses, error) {
	all, err := each(ctx, rs, func(ctx context.Context, r *runs.Run) ([]*Losses, error) {
		return compareLosses(ctx, lossSequences, comparisonDraws, r)
	})
	return slices.Concat(all...), err
}
