package figures

import (
	"context"
	"sync"

	"learncausal/internal/runs"
	"learncausal/paper/trial"
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

// once returns the value and the error of load, which is called once for each name. It keeps
// errors too, also that the context of the first call was cancelled.
func once[T any](r *Results, name string, load func() (T, error)) (T, error) {
	r.mu.Lock()
	f, ok := r.values[name]
	if !ok {
		f = sync.OnceValues(func() (any, error) { return load() })
		r.values[name] = f
	}
	r.mu.Unlock()
	v, err := f()
	return v.(T), err
}

// then returns the source that applies f to the result of from.
func then[A, B any](from source[A], f func(A) B) source[B] {
	return func(ctx context.Context, r *Results) (none B, err error) {
		a, err := from(ctx, r)
		if err != nil {
			return none, err
		}
		return f(a), nil
	}
}

// tried is then for a function that may fail.
func tried[A, B any](from source[A], f func(A) (B, error)) source[B] {
	return func(ctx context.Context, r *Results) (none B, err error) {
		a, err := from(ctx, r)
		if err != nil {
			return none, err
		}
		return f(a)
	}
}

// alone returns the source of f, which needs no results.
func alone[T any](f func() T) source[T] {
	return func(context.Context, *Results) (T, error) { return f(), nil }
}

// joined returns the source of the concatenated lists of several sources.
func joined[S ~[]E, E any](parts ...source[S]) source[S] {
	return func(ctx context.Context, r *Results) (all S, err error) {
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
