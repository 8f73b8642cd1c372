package figures

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"learncausal/internal/figure"
)

// pageHeight is the height of a page of text, in points of 1/72 inch.
const pageHeight = 9.5 * 72

// At returns the entry with its figure laid out for a width, for a height unless that is 0, and for a size of type,
// see [figure.Figure.FitType]. Other entries stay as they are: a table fits the line that it stands in. Draw
// returns an error if a panel is wider than w or the figure is taller than h or, without h, a page.
func (e Entry) At(w, h figure.Width, size float64) Entry {
	draw := e.Draw
	e.Draw = func(ctx context.Context, r *Results) (Output, error) {
		out, err := draw(ctx, r)
		f, ok := out.(*figure.Figure)
		if err != nil || !ok {
			return out, err
		}
		fitted, err := f.FitType(w, h, size)
		if err != nil {
			return nil, err
		}
		fitted.ID = e.ID
		height, err := fitted.Height()
		if height *= figure.Width(cmp.Or(fitted.Scale, 1)); err == nil && h == 0 && height > pageHeight {
			const format = "figure %s: at %.4g in wide it is %.1f in tall, more than a page of %.1f in; " +
				"its own width is %.4g in"
			err = fmt.Errorf(format, e.ID, w/72, height/72, pageHeight/72., f.Width/72)
		}
		return fitted, err
	}
	return e
}

// Pick returns the entry with some panels of its figure, as in a,d.
func (e Entry) Pick(letters string) Entry {
	draw := e.Draw
	e.ID += "-" + strings.ReplaceAll(letters, ",", "")
	e.Draw = func(ctx context.Context, r *Results) (Output, error) {
		out, err := draw(ctx, r)
		f, ok := out.(*figure.Figure)
		if err == nil && !ok {
			err = fmt.Errorf("figures: %s is no figure: want no panels behind its id", e.ID)
		}
		if err != nil {
			return nil, err
		}
		if f, err = f.Pick(letters); err != nil {
			return nil, err
		}
		f.ID = e.ID
		return f, nil
	}
	return e
}
