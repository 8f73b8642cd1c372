package report

import (
	"context"
	"slices"
	"sync"

	"learncausal/paper/answers"
	"learncausal/paper/experiment"
	"learncausal/pkg/num"
	"learncausal/pkg/runs"
)

// Results are what the entries of the registry share: runs and measurements,
// each loaded or computed once, when first an entry needs it. They may be used
// from several goroutines at a time.
type Results struct {
	Get   experiment.Getter // loads a run, or trains it
	Meter runs.Meter        // told of the progress of Export; may be nil

	mu   sync.Mutex
	kept map[string]func() (any, error)
	now  *progress // of Export
}

// New returns empty results, whose runs get will load or train.
func New(get experiment.Getter) *Results {
	return &Results{Get: get, kept: map[string]func() (any, error){}}
}

// A source makes a T from the results. Its needs are the names of what it shares
// with other sources.
type source[T any] struct {
	needs []string
	of    func(ctx context.Context, r *Results) (T, error)
}

// kept returns a source that makes its value once and keeps it in the results
// under the last name of its needs.
func kept[T any](needs []string, make func(context.Context, *Results) (T, error)) source[T] {
	name := needs[len(needs)-1]
	return source[T]{needs, func(ctx context.Context, r *Results) (T, error) {
		r.mu.Lock()
		once, ok := r.kept[name]
		if !ok {
			once = sync.OnceValues(func() (any, error) { return make(r.watched(ctx, name), r) })
			r.kept[name] = once
		}
		r.mu.Unlock()
		v, err := once()
		return v.(T), err
	}}
}

// loaded keeps the runs of an experiment.
func loaded[T any](name string, load func(context.Context, experiment.Getter) (T, error)) source[T] {
	return kept([]string{name}, func(ctx context.Context, r *Results) (T, error) { return load(ctx, r.Get) })
}

// measured keeps what is measured on another source.
func measured[A, B any](name string, from source[A], measure func(context.Context, A) (B, error)) source[B] {
	return kept(append(slices.Clone(from.needs), name), computed(from, measure).of)
}

// computed returns what f makes of another source. Nothing is kept.
func computed[A, B any](from source[A], f func(context.Context, A) (B, error)) source[B] {
	return source[B]{from.needs, func(ctx context.Context, r *Results) (B, error) {
		a, err := from.of(ctx, r)
		if err != nil {
			var none B
			return none, err
		}
		return f(ctx, a)
	}}
}

// attempt is computed for an f that is soon done and needs no context.
func attempt[A, B any](from source[A], f func(A) (B, error)) source[B] {
	return computed(from, func(_ context.Context, a A) (B, error) { return f(a) })
}

// drawn is attempt for an f that cannot fail.
func drawn[A, B any](from source[A], f func(A) B) source[B] {
	return attempt(from, func(a A) (B, error) { return f(a), nil })
}

// alone returns the source of what f makes from nothing.
func alone[T any](f func() T) source[T] {
	return source[T]{of: func(context.Context, *Results) (T, error) { return f(), nil }}
}

type pair[A, B any] struct {
	first  A
	second B
}

// both returns the values of two sources.
func both[A, B any](a source[A], b source[B]) source[pair[A, B]] {
	return source[pair[A, B]]{union(a.needs, b.needs), func(ctx context.Context, r *Results) (pair[A, B], error) {
		first, err := a.of(ctx, r)
		if err != nil {
			return pair[A, B]{}, err
		}
		second, err := b.of(ctx, r)
		return pair[A, B]{first, second}, err
	}}
}

// joined returns the lists of several sources as one.
func joined[S ~[]E, E any](parts ...source[S]) source[S] {
	var needs []string
	for _, p := range parts {
		needs = union(needs, p.needs)
	}
	return source[S]{needs, func(ctx context.Context, r *Results) (S, error) {
		var all S
		for _, p := range parts {
			s, err := p.of(ctx, r)
			if err != nil {
				return nil, err
			}
			all = append(all, s...)
		}
		return all, nil
	}}
}

// union returns the names of a, and those of b that are not among them.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

type getter = experiment.Getter

// What several entries share. Each is a function: a list of variables would bring all
// of it into every program that draws one figure.

func singleRuns() source[[]experiment.SingleRun] {
	return loaded("single-parent", func(ctx context.Context, get getter) ([]experiment.SingleRun, error) {
		return experiment.LoadSingleParents(ctx, get, experiment.SingleParents()...)
	})
}

func comparison() source[*experiment.Comparison] {
	return loaded("comparison", func(context.Context, getter) (*experiment.Comparison, error) {
		return experiment.LoadComparison(experiment.Figure9)
	})
}

func manyRuns() source[[]*runs.Run] { return loaded("many-graphs", experiment.LoadManyGraphs) }

func multiRuns() source[[]experiment.MultiResult] {
	return loaded("multi-parent", func(ctx context.Context, get getter) ([]experiment.MultiResult, error) {
		return experiment.LoadMulti(ctx, get, experiment.MultiParents()...)
	})
}

func printedRuns() source[[]experiment.MultiResult] {
	return loaded("multi-parent-printed", func(ctx context.Context, get getter) ([]experiment.MultiResult, error) {
		return experiment.LoadMulti(ctx, get, experiment.PrintedParents()...)
	})
}

func mlpRuns() source[[]*experiment.MLPResult] {
	return loaded("mlp", func(ctx context.Context, get getter) ([]*experiment.MLPResult, error) {
		return experiment.LoadMLP(ctx, get, experiment.SingleParents()...)
	})
}

func singleTestLosses() source[[]num.Estimate] {
	return measured("single-parent-test-losses", singleRuns(), testLosses)
}

func singleLosses() source[[]*experiment.Losses] {
	return measured("single-parent-losses", singleRuns(), experiment.SingleParentLosses)
}

func manyGraphsLosses() source[[]*experiment.Losses] {
	return measured("many-graphs-losses", manyRuns(), experiment.ManyGraphsLosses)
}

func multiLosses() source[[]experiment.MultiResult] {
	return measured("multi-parent-losses", multiRuns(), experiment.MultiLosses)
}

func printedLosses() source[[]experiment.MultiResult] {
	return measured("multi-parent-printed-losses", printedRuns(), experiment.MultiLosses)
}

func mlpLosses() source[[]*experiment.MLPResult] {
	return measured("mlp-losses", mlpRuns(), experiment.MLPLosses)
}

func agreements() source[[]*experiment.Agreement] {
	return joined(
		measured("single-parent-agreements", singleRuns(), experiment.SingleParentAgreements),
		measured("many-graphs-agreement", manyRuns(), experiment.ManyGraphsAgreement),
		measured("multi-parent-agreements", multiRuns(), experiment.MultiParentAgreements),
	)
}

func splits() source[[]answers.Splits] {
	return loaded("splits", func(context.Context, getter) ([]answers.Splits, error) { return answers.LoadSplits() })
}

func joint() source[[]*answers.Joint] {
	return loaded("joint", func(context.Context, getter) ([]*answers.Joint, error) { return answers.LoadJoint() })
}

func sweep() source[experiment.Sweep] {
	return loaded("sweep", func(ctx context.Context, _ getter) (experiment.Sweep, error) {
		return experiment.RunSweep(ctx)
	})
}

func lossGap() source[experiment.LossGap] {
	return kept([]string{"sweep", "loss-gap"}, drawn(sweep(), experiment.Sweep.LossGap).of)
}

func ood() source[[]experiment.OOD] {
	return measured("out-of-distribution", sweep(), func(
		ctx context.Context, s experiment.Sweep,
	) ([]experiment.OOD, error) {
		return s.Only(theoryFamilies...).OutOfDistribution(ctx)
	})
}

// SingleParentLosses returns the losses of tab-single-parent-losses.
func (r *Results) SingleParentLosses(ctx context.Context) ([]*experiment.Losses, error) {
	return singleLosses().of(ctx, r)
}

// ManyGraphsLosses returns the losses of tab-many-graphs-losses.
func (r *Results) ManyGraphsLosses(ctx context.Context) ([]*experiment.Losses, error) {
	return manyGraphsLosses().of(ctx, r)
}

// MLPLosses returns the results of tab-mlp-losses.
func (r *Results) MLPLosses(ctx context.Context) ([]*experiment.MLPResult, error) {
	return mlpLosses().of(ctx, r)
}

// LossGap returns the curves of fig-loss-gap.
func (r *Results) LossGap(ctx context.Context) (experiment.LossGap, error) {
	return lossGap().of(ctx, r)
}

// OutOfDistribution returns the curves of fig-ood.
func (r *Results) OutOfDistribution(ctx context.Context) ([]experiment.OOD, error) {
	return ood().of(ctx, r)
}

// Sweep returns the runs behind fig-ghat-beta, fig-beta-growth, fig-loss-gap and
// fig-ood.
func (r *Results) Sweep(ctx context.Context) (experiment.Sweep, error) { return sweep().of(ctx, r) }
