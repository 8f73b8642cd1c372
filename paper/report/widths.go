package report

import (
	"context"
	"fmt"
	"math"

	"learncausal/paper/figure"
)

// narrowSuffix ends the id of what is laid out for one column of two.
const narrowSuffix = "-1col"

// narrowed are the figures and tables that are wider than a column of two and that
// are exported for such a column as well. Of the others, Figures 5, 6 and 7 and the
// losses with several parents would be taller than a page there.
var narrowed = map[string]bool{
	"fig-induction-head": true, "fig-forward-pass": true, "fig-proof-sketch": true,
	"fig-mlp": true, "fig-single-parent-loss": true,
	"fig-ghat-beta": true, "fig-loss-gap": true, "fig-ood": true,

	"tab-single-parent-blocks": true, "tab-single-parent-losses": true, "tab-many-graphs": true,
	"tab-many-graphs-losses": true, "tab-unlearned-edges": true, "tab-multi-parent": true,
	"tab-multi-parent-positions": true, "tab-mlp": true, "tab-mlp-missed": true, "tab-mlp-roots": true,
	"tab-mlp-losses": true, "tab-constructions": true,
}

// withNarrow returns the entries, each that is narrowed followed by its form for one
// column of two.
func withNarrow(entries []Entry) []Entry {
	var all []Entry
	for _, e := range entries {
		all = append(all, e)
		if narrowed[e.ID] {
			narrow := e.At(figure.OneColumn)
			narrow.ID += narrowSuffix
			narrow.Title += ", for one column of two"
			narrow.Draw = named(narrow.ID, narrow.Draw)
			all = append(all, narrow)
		}
	}
	return all
}

// At returns the entry with its figure, or its table, laid out for a width. Numbers,
// the ledger and the summary have none and stay as they are. Drawing fails if the
// figure would be taller than a page there, and is not at some other width.
func (e Entry) At(w figure.Width) Entry {
	draw := e.Draw
	e.Draw = func(ctx context.Context, r *Results) (Output, error) {
		out, err := draw(ctx, r)
		if err != nil {
			return nil, err
		}
		switch o := out.(type) {
		case *figure.Figure:
			return onPage(o, w)
		case *figure.Table:
			return o.Fit(w), nil
		}
		return out, nil
	}
	return e
}

// pageHeight is the height of a page of text, in points of 1/72 inch.
const pageHeight = 9.5 * 72

// onPage returns the figure laid out for a width at which it fits a page.
func onPage(f *figure.Figure, w figure.Width) (*figure.Figure, error) {
	fitted, err := f.Fit(w)
	if err != nil {
		return nil, err
	}
	height, err := fitted.Height()
	if err != nil || height <= pageHeight {
		return fitted, err
	}
	const step = 9 // an eighth of an inch
	most := max(figure.TwoColumns, f.Width)
	for wider := figure.Width(step * (math.Floor(float64(w)/step) + 1)); wider <= most; wider += step {
		other, err := f.Fit(wider)
		if err != nil {
			continue
		}
		if h, err := other.Height(); err == nil && h <= pageHeight {
			const want = "figure %s: %.4g in wide it is %.1f in tall, " +
				"more than a page of %.1f in: want at least %.4g in"
			return nil, fmt.Errorf(want, f.ID, w/72, height/72, pageHeight/72., wider/72)
		}
	}
	return fitted, nil
}

type drawer = func(context.Context, *Results) (Output, error)

// named draws under another id.
func named(id string, draw drawer) drawer {
	return func(ctx context.Context, r *Results) (Output, error) {
		out, err := draw(ctx, r)
		switch o := out.(type) {
		case *figure.Figure:
			o.ID = id
		case *figure.Table:
			o.ID = id
		}
		return out, err
	}
}
