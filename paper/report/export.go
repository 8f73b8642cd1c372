package report

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
)

// Figure draws the figure of an id.
func (r *Results) Figure(ctx context.Context, id string) (*figure.Figure, error) {
	return draw[*figure.Figure](ctx, r, "no figure", figures(), id)
}

// Table returns the table of an id.
func (r *Results) Table(ctx context.Context, id string) (*figure.Table, error) {
	return draw[*figure.Table](ctx, r, "no table", tables(), id)
}

// draw draws the entry of an id. All entries are of type O; none begins the error for an
// unknown id.
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

// Export draws entries and writes their files into dir. Without entries it exports all
// of them, and all.tex, a LaTeX document with all figures and tables. It returns the
// paths of the files. An error in one entry does not keep the others from being written.
//
// When ctx is cancelled, Export returns within about a second on an idle machine. Each
// file then has its old content or its new content.
func (r *Results) Export(ctx context.Context, dir string, entries ...Entry) ([]string, error) {
	if len(entries) > 0 {
		_, files, err := r.write(ctx, dir, entries, newProgress(r.Meter, entries, false))
		return slices.Concat(files...), err
	}
	entries = Entries()
	outputs, files, err := r.write(ctx, dir, entries, newProgress(r.Meter, entries, true))
	if err != nil {
		return nil, err
	}
	more, err := document(dir, outputs)
	if err != nil {
		return nil, err
	}
	all := append(slices.Concat(files...), more...)
	return all, removeHalves(all)
}

// removeHalves removes the temporary files, .NAME and digits, of exports that were killed
// while they wrote one of the files. Another process may still write a file that is
// younger than a minute.
func removeHalves(files []string) error {
	for _, f := range files {
		halves, err := filepath.Glob(filepath.Join(filepath.Dir(f), "."+filepath.Base(f)+"[0-9]*"))
		if err != nil {
			return err
		}
		for _, half := range halves {
			info, err := os.Stat(half)
			if err != nil || time.Since(info.ModTime()) < time.Minute {
				continue
			}
			if err := os.Remove(half); err != nil {
				return err
			}
		}
	}
	return nil
}

// write draws the entries, several at a time, and writes their files.
func (r *Results) write(
	ctx context.Context, dir string, entries []Entry, now *progress,
) ([]Output, [][]string, error) {
	r.mu.Lock()
	r.export = now
	r.mu.Unlock()
	outputs, files := make([]Output, len(entries)), make([][]string, len(entries))
	failed := make([]error, len(entries))
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // some entries wait for results
	for i, e := range entries {
		group.Go(func() error {
			if err := each.Err(); err != nil {
				return err
			}
			share := func(s float64) { now.set(e.ID, s) }
			if outputs[i], failed[i] = e.Draw(experiment.WithProgress(each, share), r); failed[i] != nil {
				return nil
			}
			if err := each.Err(); err != nil {
				return err
			}
			if files[i], failed[i] = outputs[i].Export(dir); failed[i] == nil {
				now.wrote(e.ID)
			}
			return nil
		})
	}
	err := errors.Join(group.Wait(), errors.Join(failed...))
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // not the error of an entry
	}
	if r.Meter != nil {
		r.Meter.Done(now.end(err))
	}
	return outputs, files, err
}
