package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"learncausal/internal/files"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

// A Getter loads the run of a spec, or trains it.
type Getter func(ctx context.Context, spec train.Spec) (*runs.Run, error)

// Stored returns the Getter of the run store of the checkout that contains the working
// directory. It shows the progress of training on meter.
func Stored(meter runs.Meter) Getter {
	return func(ctx context.Context, spec train.Spec) (*runs.Run, error) {
		dir, err := Dir("runs")
		if err != nil {
			return nil, err
		}
		return runs.Open(dir).Get(ctx, spec, runs.Options{Meter: meter})
	}
}

// Module is the path of this module.
const Module = "learncausal"

// Dir returns the path of a file or folder at the top of the checkout of this module
// that contains the working directory.
func Dir(name string) (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("trial: %w", err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		mod, err := files.Read(filepath.Join(dir, "go.mod"), 1<<20)
		if err == nil && modfile.ModulePath(mod) == Module {
			return filepath.Join(dir, name), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("trial: %s is in no checkout of %s: "+
				"change to one, or name the folder (--store, -o)", wd, Module)
		}
	}
}
