package trial

import (
	"context"

	"learncausal/internal/files"
	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// A Getter loads the run of a spec, or trains it.
type Getter func(ctx context.Context, spec train.Spec) (*runs.Run, error)

// Stored returns the Getter of the run store of the checkout that contains the working
// directory. It shows the progress of training on meter.
func Stored(meter runs.Meter) Getter {
	return func(ctx context.Context, spec train.Spec) (*runs.Run, error) {
		dir, err := files.Checkout("runs")
		if err != nil {
			return nil, err
		}
		return runs.Open(dir).Get(ctx, spec, runs.Options{Meter: meter})
	}
}
