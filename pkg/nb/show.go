package nb

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"learncausal/pkg/figure"
)

// Figure shows a figure as an image, and its caption below. It panics where the
// figure cannot be drawn, or the caption cannot be shown.
func Figure(f *figure.Figure) {
	PNG(must(f.PNG()))
	if f.Caption != "" {
		Markdown("%s", caption(f.Caption))
	}
}

// Table shows a table, and its caption below. It panics where the table is
// malformed, or the caption cannot be shown.
func Table(t *figure.Table) {
	s := must(t.Markdown())
	if t.Caption != "" {
		s += "\n" + caption(t.Caption)
	}
	Markdown("%s", s)
}

var captionText = strings.NewReplacer(
	`\textquotedblleft `, "“", `\textquotedblright{}`, "”", `\textquotedblright`, "”",
	`~`, "\u00a0", `\,`, "\u202f", `\%`, "%",
)

// caption returns a LaTeX caption as Markdown in small type. Formulas between
// dollar signs are the same in both.
func caption(tex string) string {
	parts := strings.Split(tex, "$")
	for i := 0; i < len(parts); i += 2 { // the others are formulas
		parts[i] = captionText.Replace(parts[i])
		if k := strings.IndexAny(parts[i], "\\{}<>*_`"); k >= 0 {
			panic(fmt.Sprintf("nb: caption %q: %q outside of a formula, want plain text there", tex, parts[i][k:]))
		}
	}
	return "<small>" + strings.Join(parts, "$") + "</small>"
}

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
