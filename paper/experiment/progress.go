package experiment

import (
	"context"
	"sync/atomic"
)

type shareKey struct{}

// WithProgress returns a context in which a measurement tells what share of it is
// done, between 0 and 1. It may do so from several goroutines.
func WithProgress(ctx context.Context, tell func(share float64)) context.Context {
	return context.WithValue(ctx, shareKey{}, tell)
}

// tell passes the share that is done to what the context was made for.
func tell(ctx context.Context, share float64) {
	if f, ok := ctx.Value(shareKey{}).(func(float64)); ok {
		f(share)
	}
}

// part returns the context of part i of n equal ones.
func part(ctx context.Context, i, n int) context.Context {
	return WithProgress(ctx, func(share float64) { tell(ctx, (float64(i)+share)/float64(n)) })
}

// counter returns a function that tells of one more of n equal steps.
func counter(ctx context.Context, n int) func() {
	var done atomic.Int64
	return func() { tell(ctx, float64(done.Add(1))/float64(n)) }
}

// each returns what f makes of each of all, up to its first error or until ctx is
// cancelled.
func each[A, B any](ctx context.Context, all []A, f func(context.Context, A) (B, error)) ([]B, error) {
	var out []B
	for i, a := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := f(part(ctx, i, len(all)), a)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
		tell(ctx, float64(i+1)/float64(len(all)))
	}
	return out, nil
}
