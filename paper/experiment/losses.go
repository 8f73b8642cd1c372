package experiment

import (
	"context"
	"fmt"
	"reflect"

	"learncausal/internal/engine"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
	"learncausal/pkg/task"
	"learncausal/pkg/train"
)

// How many test sequences the losses are compared on, and how many draws the
// Bayes predictor takes for each, at S = 10 and at S = 3.
const (
	LossSequences   = 1 << 13
	LossDraws       = 1000
	ComparisonDraws = 300
)

// Losses are the mean log-losses, in nats, of a trained model and of the
// predictors that it is measured against, on the same test sequences.
type Losses struct {
	Sequences, Draws int
	Model            num.Estimate
	Edges            num.Estimate // (a) posterior mean given the edges
	Released         num.Estimate // (b) the authors' released formula
	Bayes            num.Estimate // (c) the Bayes predictor
	Entropy          num.Estimate // mean entropy of the row pi(.|s_T): the loss of the predictor that knows pi
	ModelLessEdges   num.Estimate // paired differences
	ModelLessBayes   num.Estimate
	EffectiveDraws   float64 // mean effective sample size of the importance sampling in (c)
}

// compareLosses evaluates a run of a Dirichlet prior on the first n of its test
// sequences, at most LossSequences, with the given number of draws in each Bayes
// prediction.
func compareLosses(ctx context.Context, r *runs.Run, n, draws int) (*Losses, error) {
	all, err := compareAllLosses(ctx, []*runs.Run{r}, n, draws)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// compareAllLosses is compareLosses for runs with the same test sequences. The
// predictors, of which Bayes is slow, are evaluated once for all, and Bayes only where
// its losses are not stored, see [BayesSet].
func compareAllLosses(ctx context.Context, rs []*runs.Run, n, draws int) ([]*Losses, error) {
	spec := rs[0].Spec
	for _, r := range rs {
		if s := r.Spec; !reflect.DeepEqual(s.Task, spec.Task) || s.Seed != spec.Seed {
			return nil, fmt.Errorf("experiment: run %s has other test sequences than run %s", r.Address, rs[0].Address)
		}
	}
	set, err := newBayesSet(spec, LossSequences, draws)
	if err != nil {
		return nil, err
	}
	tk, b, err := set.sequences()
	if err != nil {
		return nil, err
	}
	b.X, b.Y = b.X[:n*b.T], b.Y[:n*b.S]
	prior, ok := tk.Prior.(*markov.Dirichlet)
	if !ok {
		return nil, fmt.Errorf("experiment: losses are compared for Dirichlet priors, not for %s", tk.Prior)
	}
	all, err := set.Losses(ctx)
	if err != nil {
		return nil, err
	}
	bayes := BayesLosses{all.Loss[:n], all.ESS[:n]}
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
			Sequences: n, Draws: draws, EffectiveDraws: num.Average(bayes.ESS).Mean,
			Model: num.Average(trained), Edges: num.Average(edges), Released: num.Average(released),
			Bayes: num.Average(bayes.Loss), Entropy: num.Average(entropy),
			ModelLessEdges: task.PairedDifference(trained, edges),
			ModelLessBayes: task.PairedDifference(trained, bayes.Loss),
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

// KnownLosses returns the log-losses, in nats, of predictors that are told something,
// on each test sequence: of the one that knows the transition matrix, see [Entropies],
// and, nil unless it is Task 1 with a Dirichlet prior, of the posterior mean given the
// edges.
func KnownLosses(spec train.Spec, b *task.Batch) (entropy, edges []float64, err error) {
	entropy = Entropies(b)
	of, ok := spec.Task.(train.Task1)
	if !ok {
		return entropy, nil, nil
	}
	tk, err := of.New()
	if p, ok := tk.Prior.(*markov.Dirichlet); ok {
		edges = task.Losses(b, func(f []float64, x []int) { task.PosteriorGivenEdges(f, tk.Graph, p.Alpha, x) })
	}
	return entropy, edges, err
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

// SingleParentLosses compares the losses of the runs of Figure 6.
func SingleParentLosses(ctx context.Context, rs []SingleRun) ([]*Losses, error) {
	return each(ctx, rs, func(ctx context.Context, r SingleRun) (*Losses, error) {
		return compareLosses(ctx, r.Run, LossSequences, LossDraws)
	})
}

// ManyGraphsLosses compares the losses of the runs on the 20 graphs.
func ManyGraphsLosses(ctx context.Context, rs []*runs.Run) ([]*Losses, error) {
	return each(ctx, rs, func(ctx context.Context, r *runs.Run) (*Losses, error) {
		return compareLosses(ctx, r, LossSequences, ComparisonDraws)
	})
}
