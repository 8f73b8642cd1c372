package nb

import "learncausal/pkg/figure"

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
