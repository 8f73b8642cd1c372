package trial

import (
	"context"
	"sync/atomic"
)

type shareKey struct{}

// WithProgress returns a context in which a measurement reports the share of it that is
// done, between 0 and 1. It may call report from several goroutines.
func WithProgress(ctx context.Context, report func(share float64)) context.Context {
	return context.WithValue(ctx, shareKey{}, report)
}

// report passes the share that is done to the function of [WithProgress], if any.
func report(ctx context.Context, share float64) {
	if f, ok := ctx.Value(shareKey{}).(func(float64)); ok {
		f(share)
	}
}

// part returns the context of part i of n equal parts.
func part(ctx context.Context, i, n int) context.Context {
	return WithProgress(ctx, func(share float64) { report(ctx, (float64(i)+share)/float64(n)) })
}

// counter returns a function that reports one more of n equal steps.
func Counter(ctx context.Context, n int) func() {
	var done atomic.Int64
	return func() { report(ctx, float64(done.Add(1))/float64(n)) }
}

// each returns f of each element of all. It stops at the first error and if ctx is cancelled.
func Each[A, B any](ctx context.Context, all []A, f func(context.Context, A) (B, error)) ([]B, error) {
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
		report(ctx, float64(i+1)/float64(len(all)))
	}
	return out, nil
}
