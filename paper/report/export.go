package report

import (
	"context"
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

// Table makes the table of an id.
func (r *Results) Table(ctx context.Context, id string) (*figure.Table, error) {
	return draw[*figure.Table](ctx, r, "no table", tables(), id)
}

// draw draws one of the entries, which are all of one type; none says that there is
// no such one.
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

// Export draws entries and writes their files, and no others, into dir. Without
// entries it writes those of every one, and all.tex, a LaTeX document with all
// figures and tables. It returns the paths of the files.
//
// When ctx is cancelled it returns within a second or so on an idle machine. Each
// file is then whole, the old one or the new one.
func (r *Results) Export(ctx context.Context, dir string, entries ...Entry) ([]string, error) {
	if len(entries) > 0 {
		_, files, err := r.write(ctx, dir, entries)
		return slices.Concat(files...), err
	}
	outputs, files, err := r.write(ctx, dir, Entries())
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

// removeHalves removes what an export that was killed while it wrote one of the files
// has left beside it: .NAME and digits. One that is younger than a minute may be what
// another process is writing.
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
func (r *Results) write(ctx context.Context, dir string, entries []Entry) ([]Output, [][]string, error) {
	now := newProgress(r.Meter, entries)
	r.mu.Lock()
	r.now = now
	r.mu.Unlock()
	outputs, files := make([]Output, len(entries)), make([][]string, len(entries))
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // some wait for the results of others
	for i, e := range entries {
		group.Go(func() error {
			if err := each.Err(); err != nil {
				return err
			}
			var err error
			share := func(s float64) { now.tell(e.ID, s) }
			if outputs[i], err = e.Draw(experiment.WithProgress(each, share), r); err != nil {
				return err
			}
			if err := each.Err(); err != nil {
				return err
			}
			if files[i], err = outputs[i].Export(dir); err == nil {
				now.wrote(e.ID)
			}
			return err
		})
	}
	err := group.Wait()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // and not what was under way
	}
	if r.Meter != nil {
		r.Meter.Done(now.end(err))
	}
	return outputs, files, err
}
