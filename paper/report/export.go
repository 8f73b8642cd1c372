package report

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"learncausal/pkg/figure"
)

// Draw draws the entry of an id.
func (r *Results) Draw(ctx context.Context, id string) (Output, error) {
	e, err := Find(id)
	if err != nil {
		return nil, err
	}
	return e.Draw(ctx, r)
}

// Figure draws the figure of an id.
func (r *Results) Figure(ctx context.Context, id string) (*figure.Figure, error) {
	return typed[*figure.Figure](ctx, r, id, "figure")
}

// Table makes the table of an id.
func (r *Results) Table(ctx context.Context, id string) (*figure.Table, error) {
	return typed[*figure.Table](ctx, r, id, "table")
}

func typed[O Output](ctx context.Context, r *Results, id, kind string) (O, error) {
	var none O
	out, err := r.Draw(ctx, id)
	if err != nil {
		return none, err
	}
	o, ok := out.(O)
	if !ok {
		return none, fmt.Errorf("report: %s is no %s", id, kind)
	}
	return o, nil
}

// Export draws the entries of the ids and writes their files, and no others, into
// dir. Without ids it writes every entry, and all.tex, a LaTeX document with all
// figures and tables. It returns the paths of the files.
func (r *Results) Export(ctx context.Context, dir string, ids ...string) ([]string, error) {
	entries := Entries()
	if len(ids) > 0 {
		entries = nil
		for _, id := range ids {
			e, err := Find(id)
			if err != nil {
				return nil, err
			}
			entries = append(entries, e)
		}
	}
	outputs, files := make([]Output, len(entries)), make([][]string, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // some wait for the results of others
	for i, e := range entries {
		group.Go(func() error {
			err := ctx.Err()
			if err == nil {
				outputs[i], err = e.Draw(ctx, r)
			}
			if err == nil {
				files[i], err = outputs[i].Export(dir)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f...)
	}
	if len(ids) > 0 {
		return paths, nil
	}
	path, err := document(dir, outputs)
	return append(paths, path), err
}

// document writes all.tex.
func document(dir string, outputs []Output) (string, error) {
	var figures []*figure.Figure
	var tables []*figure.Table
	for _, out := range outputs {
		switch o := out.(type) {
		case *figure.Figure:
			figures = append(figures, o)
		case *figure.Table:
			tables = append(tables, o)
		case interface{ Table() *figure.Table }:
			tables = append(tables, o.Table())
		}
	}
	return figure.ExportDocument(dir, figures, tables)
}
