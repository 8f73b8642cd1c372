package nb

import (
	"context"
	"os"
	"os/signal"

	"learncausal/pkg/figure"
)

// Figure shows a figure as an image. It panics where the figure cannot be drawn.
func Figure(f *figure.Figure) { PNG(must(f.PNG())) }

// Table shows a table. It panics where the table is malformed.
func Table(t *figure.Table) { Markdown("%s", must(t.Markdown())) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Context returns a context that is cancelled when the cell is interrupted, so
// that training keeps a checkpoint before it stops.
func Context() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	return ctx
}
