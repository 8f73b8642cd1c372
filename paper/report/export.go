package report

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"learncausal/paper/experiment"
	"learncausal/paper/figure"
	"learncausal/pkg/runs"
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

// Export draws entries and writes their files into dir. Without entries it exports all
// of them, and all.tex, a LaTeX document with all figures and tables. It returns the
// paths of the files. An error in one entry does not keep the others from being written.
//
// When ctx is cancelled, Export returns within about a second on an idle machine. Each
// file then has its old content or its new content.
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
	return append(slices.Concat(files...), more...), nil
}

// write draws the entries, several at a time, and writes their files.
func (r *Results) write(ctx context.Context, dir string, entries []Entry) ([]Output, [][]string, error) {
	now := &progress{meter: r.Meter, entries: len(entries), share: map[string]float64{}}
	outputs, files := make([]Output, len(entries)), make([][]string, len(entries))
	failed := make([]error, len(entries))
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // some entries wait for results
	for i, e := range entries {
		group.Go(func() error {
			if err := each.Err(); err != nil {
				return err
			}
			share := func(s float64) { now.set(e.ID, s*(written-1)) }
			if outputs[i], failed[i] = e.Draw(experiment.WithProgress(each, share), r); failed[i] != nil {
				return nil
			}
			if err := each.Err(); err != nil {
				return err
			}
			if files[i], failed[i] = outputs[i].Export(dir); failed[i] == nil {
				now.set(e.ID, written)
			}
			return nil
		})
	}
	err := errors.Join(group.Wait(), errors.Join(failed...))
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // not the error of an entry
	}
	now.end(err)
	return outputs, files, err
}

// A progress shows how many entries of an export are written. Several goroutines may use it.
type progress struct {
	mu      sync.Mutex
	meter   runs.Meter // or nil
	entries int
	written int
	share   map[string]float64 // of each entry that is done, in units of written
	done    float64            // their sum
}

// written is the share of an entry whose files are written. A result that several entries
// need counts for the entry that needs it first.
const written = 100

// set records the share of an entry that is done, unless a larger one is recorded.
func (p *progress) set(id string, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if share <= p.share[id] {
		return
	}
	p.done += share - p.share[id]
	p.share[id] = share
	if share == written {
		p.written++
	}
	if p.meter != nil {
		p.meter.Update(int(p.done), written*p.entries, fmt.Sprintf("%d of %d written", p.written, p.entries))
	}
}

func (p *progress) end(err error) {
	text := fmt.Sprintf("%d of %d written", p.written, p.entries)
	if err != nil {
		text = fmt.Sprintf("stopped after %d of %d", p.written, p.entries)
	}
	if p.meter != nil {
		p.meter.Done(text)
	}
}
