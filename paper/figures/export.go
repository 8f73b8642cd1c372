package figures

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/trial"
)

// Figure draws the figure of an id.
func (r *Results) Figure(ctx context.Context, id string) (*figure.Figure, error) {
	return draw[*figure.Figure](ctx, r, "no figure", figures(), id)
}

// Table returns the table of an id.
func (r *Results) Table(ctx context.Context, id string) (*figure.Table, error) {
	return draw[*figure.Table](ctx, r, "no table", tables(), id)
}

// draw draws the entry of an id. All entries are of type O; none begins the error for an unknown id.
func draw[O Output](ctx context.Context, r *Results, none string, entries []Entry, id string) (out O, err error) {
	e, err := find(none, entries, id)
	if err != nil {
		return out, err
	}
	drawn, err := e.Draw(ctx, r)
	if err != nil {
		return out, err
	}
	return drawn.(O), nil
}

// Export draws entries and writes their files into dir, and their captions into captions.tex there,
// beside the captions of others. Without entries it exports all of them, and all.tex, a LaTeX document
// with all figures and tables. It returns the paths of the files. An error in one entry does not keep
// the others from being written.
//
// When ctx is cancelled, Export returns within about a second on an idle machine. Each
// file then has its old content or its new content.
func (r *Results) Export(ctx context.Context, dir string, entries ...Entry) ([]string, error) {
	all := len(entries) == 0
	if all {
		entries = Entries()
	}
	outputs, files, err := r.write(ctx, dir, entries, all)
	if err != nil && (all || ctx.Err() != nil) {
		return nil, err
	}
	more, err1 := document(dir, outputs, all)
	return append(slices.Concat(files...), more...), errors.Join(err, err1)
}

// write draws the entries, several at a time, and writes their files, those of all without SVG. The output of an
// entry that fails is nil.
func (r *Results) write(ctx context.Context, dir string, entries []Entry, all bool) ([]Output, [][]string, error) {
	now := &trial.Sum{Meter: r.Meter, Work: slices.Repeat([]float64{1}, len(entries)), What: "written"}
	outputs, files := make([]Output, len(entries)), make([][]string, len(entries))
	failed := make([]error, len(entries))
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // some entries wait for results
	for i, e := range entries {
		group.Go(func() error {
			if err := each.Err(); err != nil {
				return err
			}
			// A result that several entries need counts for the entry that needs it first.
			share := func(s float64) { now.Set(i, 0.99*s) }
			out, err := e.Draw(trial.WithProgress(each, share), r)
			if err == nil {
				err = each.Err()
			}
			if err == nil {
				export := out.Export
				if f, ok := out.(*figure.Figure); ok && all {
					export = f.ExportForPaper
				}
				files[i], err = export(dir)
			}
			if failed[i] = err; err == nil {
				outputs[i] = out
				now.Finish(i)
			}
			return each.Err()
		})
	}
	err := errors.Join(group.Wait(), errors.Join(failed...))
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // not the error of an entry
	}
	text := now.Finished()
	if err != nil {
		text = "stopped after " + text
	}
	runs.Quiet(r.Meter).Done(text)
	return outputs, files, err
}
