package nb

import (
	"learncausal/internal/runs"
	"learncausal/pkg/train"
)

// Run loads the run of spec from the store in a folder, or trains and stores it, and returns the state after the last
// step with the curve. An interrupt of the cell keeps a checkpoint, from which the next call goes on. It returns an
// error if the spec is wrong or has no JSON, see [train.Register], if the run takes too much memory or diverges, or if
// a stored file was altered.
func Run(dir string, spec train.Spec) (train.Snapshot, error) {
	r, err := runs.Open(dir).Get(Context(), spec, runs.Options{Meter: NewMeter("Training")})
	if err != nil {
		return train.Snapshot{}, err
	}
	return r.Final, nil
}
