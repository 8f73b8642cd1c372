package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// A Getter loads the run of a spec, or trains it.
type Getter func(ctx context.Context, spec train.Spec) (*runs.Run, error)

// Stored returns the Getter of the repository's run store, which shows the
// progress of training on meter.
func Stored(meter runs.Meter) Getter {
	store := runs.Open(Dir("runs"))
	return func(ctx context.Context, spec train.Spec) (*runs.Run, error) {
		return store.Get(ctx, spec, runs.Options{Meter: meter})
	}
}

// Dir returns the path of a folder at the top of the repository that the
// working directory is in. It panics outside of a repository.
func Dir(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		panic(fmt.Sprintf("report: %v", err))
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, name)
		}
		if dir == filepath.Dir(dir) {
			panic(fmt.Sprintf("report: no go.mod in %s or a folder above it; run inside the repository", wd))
		}
	}
}
