package report

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEachCallsAllUntilCancelled(t *testing.T) {
	var calls atomic.Int64
	if err := Each(t.Context(), 50, 3, func(i int) { calls.Add(int64(i)) }); err != nil || calls.Load() != 49*50/2 {
		t.Errorf("calls sum to %d, error %v, want %d and none", calls.Load(), err, 49*50/2)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls.Store(0)
	err := Each(ctx, 50, 1, func(int) { calls.Add(1); cancel() })
	if !errors.Is(err, context.Canceled) || calls.Load() > 2 {
		t.Errorf("%d calls after cancelling in the first, error %v", calls.Load(), err)
	}
}
