package figures

import (
	"context"
	"sync"

	"learncausal/paper/trial"
	"learncausal/pkg/runs"
)

// Results are the runs and measurements that entries of the registry share, each loaded or
// computed at its first use. Several goroutines may use them.
type Results struct {
	Get   trial.Getter // loads a run, or trains it
	Meter runs.Meter   // shows the progress of Export; may be nil

	mu     sync.Mutex
	values map[string]func() (any, error)
}

// New returns empty results. They load or train their runs with get.
func New(get trial.Getter) *Results {
	return &Results{Get: get, values: map[string]func() (any, error){}}
}

// A source returns one of the results, or a figure or table drawn from them.
type source[T any] func(ctx context.Context, r *Results) (T, error)

// kept returns the value and the error of load, which is called once for each name. It keeps
// errors too, also that the context of the first call was cancelled.
func kept[T any](
	ctx context.Context, r *Results, name string, load func(context.Context) (T, error),
) (T, error) {
	r.mu.Lock()
	once, ok := r.values[name]
	if !ok {
		once = sync.OnceValues(func() (any, error) { return load(ctx) })
		r.values[name] = once
	}
	r.mu.Unlock()
	v, err := once()
	return v.(T), err
}

// measured returns the measurement of another result, which is made once for each name.
func measured[A, B any](
	ctx context.Context, r *Results, name string, from source[A], measure func(context.Context, A) (B, error),
) (B, error) {
	return kept(ctx, r, name, func(ctx context.Context) (B, error) {
		a, err := from(ctx, r)
		if err != nil {
			var none B
			return none, err
		}
		return measure(ctx, a)
	})
}

// thenTry returns the source that applies f to the result of from.
func thenTry[A, B any](from source[A], f func(A) (B, error)) source[B] {
	return func(ctx context.Context, r *Results) (B, error) {
		a, err := from(ctx, r)
		if err != nil {
			var none B
			return none, err
		}
		return f(a)
	}
}

// then is thenTry for an f that cannot fail.
func then[A, B any](from source[A], f func(A) B) source[B] {
	return thenTry(from, func(a A) (B, error) { return f(a), nil })
}

// alone returns the source of f, which needs no results.
func alone[T any](f func() T) source[T] {
	return func(context.Context, *Results) (T, error) { return f(), nil }
}

// joined returns the source of the concatenated lists of several sources.
func joined[S ~[]E, E any](parts ...source[S]) source[S] {
	return func(ctx context.Context, r *Results) (S, error) {
		var all S
		for _, part := range parts {
			s, err := part(ctx, r)
			if err != nil {
				return nil, err
			}
			all = append(all, s...)
		}
		return all, nil
	}
}

func singleRuns(ctx context.Context, r *Results) ([]SingleRun, error) {
	return kept(ctx, r, "single-parent", func(ctx context.Context) ([]SingleRun, error) {
		return LoadSingleParents(ctx, r.Get, SingleParents()...)
	})
}

func comparison(ctx context.Context, r *Results) (*Comparison, error) {
	return kept(ctx, r, "comparison", func(context.Context) (*Comparison, error) {
		return LoadComparison(Figure9)
	})
}

func manyRuns(ctx context.Context, r *Results) ([]*runs.Run, error) {
	return kept(ctx, r, "many-graphs", func(ctx context.Context) ([]*runs.Run, error) {
		return LoadManyGraphs(ctx, r.Get)
	})
}

func multiRuns(ctx context.Context, r *Results) ([]MultiResult, error) {
	return kept(ctx, r, "multi-parent", func(ctx context.Context) ([]MultiResult, error) {
		return LoadMulti(ctx, r.Get, MultiParents()...)
	})
}

func printedRuns(ctx context.Context, r *Results) ([]MultiResult, error) {
	return kept(ctx, r, "multi-parent-printed", func(ctx context.Context) ([]MultiResult, error) {
		return LoadMulti(ctx, r.Get, PrintedParents()...)
	})
}

func mlpRuns(ctx context.Context, r *Results) ([]*MLPResult, error) {
	return kept(ctx, r, "mlp", func(ctx context.Context) ([]*MLPResult, error) {
		return LoadMLP(ctx, r.Get, SingleParents()...)
	})
}

func singleLosses(ctx context.Context, r *Results) ([]SingleRun, error) {
	return measured(ctx, r, "single-parent-losses", singleRuns, SingleParentLosses)
}

func manyGraphsLosses(ctx context.Context, r *Results) ([]*Losses, error) {
	return measured(ctx, r, "many-graphs-losses", manyRuns, ManyGraphsLosses)
}

func multiLosses(ctx context.Context, r *Results) ([]MultiResult, error) {
	return measured(ctx, r, "multi-parent-losses", multiRuns, MultiLosses)
}

// allMultiLosses returns the runs in the setting of the released code, and then the
// runs in the printed setting.
func allMultiLosses(ctx context.Context, r *Results) ([]MultiResult, error) {
	printed := func(ctx context.Context, r *Results) ([]MultiResult, error) {
		return measured(ctx, r, "multi-parent-printed-losses", printedRuns, MultiLosses)
	}
	return joined(multiLosses, printed)(ctx, r)
}

func mlpLosses(ctx context.Context, r *Results) ([]*MLPResult, error) {
	return measured(ctx, r, "mlp-losses", mlpRuns, MLPLosses)
}

func agreements(ctx context.Context, r *Results) ([]*Agreement, error) {
	return measured(ctx, r, "agreements", singleRuns, func(
		ctx context.Context, singles []SingleRun,
	) ([]*Agreement, error) {
		many, err := manyRuns(ctx, r)
		if err != nil {
			return nil, err
		}
		multis, err := multiRuns(ctx, r)
		if err != nil {
			return nil, err
		}
		return Agreements(ctx, singles, many, multis)
	})
}

func splits(ctx context.Context, r *Results) ([]Splits, error) {
	return kept(ctx, r, "splits", func(context.Context) ([]Splits, error) { return LoadSplits() })
}

func stages(ctx context.Context, r *Results) ([]Stages, error) {
	return kept(ctx, r, "stages", func(context.Context) ([]Stages, error) { return LoadStages() })
}

func joint(ctx context.Context, r *Results) ([]*Joint, error) {
	return kept(ctx, r, "joint", func(context.Context) ([]*Joint, error) { return LoadJoint() })
}

func sweep(ctx context.Context, r *Results) (Sweep, error) {
	return kept(ctx, r, "sweep", RunSweep)
}

func lossGap(ctx context.Context, r *Results) (LossGap, error) {
	return kept(ctx, r, "loss-gap", func(ctx context.Context) (LossGap, error) {
		return then(sweep, Sweep.LossGap)(ctx, r)
	})
}

func ood(ctx context.Context, r *Results) ([]OOD, error) {
	return measured(ctx, r, "out-of-distribution", sweep, func(
		ctx context.Context, s Sweep,
	) ([]OOD, error) {
		return s.Only(theoryFamilies...).OutOfDistribution(ctx)
	})
}

// SingleParentLosses returns the runs of tab-single-parent-losses.
func (r *Results) SingleParentLosses(ctx context.Context) ([]SingleRun, error) {
	return singleLosses(ctx, r)
}

// ManyGraphsLosses returns the losses of tab-many-graphs-losses.
func (r *Results) ManyGraphsLosses(ctx context.Context) ([]*Losses, error) {
	return manyGraphsLosses(ctx, r)
}

// MLPLosses returns the results of tab-mlp-losses.
func (r *Results) MLPLosses(ctx context.Context) ([]*MLPResult, error) {
	return mlpLosses(ctx, r)
}

// LossGap returns the curves of fig-loss-gap.
func (r *Results) LossGap(ctx context.Context) (LossGap, error) { return lossGap(ctx, r) }

// OutOfDistribution returns the curves of fig-ood.
func (r *Results) OutOfDistribution(ctx context.Context) ([]OOD, error) {
	return ood(ctx, r)
}

// Sweep returns the runs of fig-ghat-beta, fig-beta-growth, fig-loss-gap and fig-ood.
func (r *Results) Sweep(ctx context.Context) (Sweep, error) { return sweep(ctx, r) }
