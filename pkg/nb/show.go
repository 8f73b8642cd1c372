package nb

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// A Drawing is an image with a caption, such as a *figure.Figure.
type Drawing interface {
	PNG() ([]byte, error)
	Description() string // the image in words, for a reader who does not see it
	TeXCaption() string  // plain text and formulas between dollar signs, or ""
}

// A Sheet is a table with a caption, such as a *figure.Table.
type Sheet interface {
	Markdown() (string, error)
	TeXCaption() string // plain text and formulas between dollar signs, or ""
}

// Figure shows an image, and its caption below. It ends the cell with an error
// if the image cannot be drawn, and panics if the caption cannot be shown.
func Figure(d Drawing) {
	NewPicture().Figure(d)
	if c := d.TeXCaption(); c != "" {
		Markdown("%s", Caption(c))
	}
}

// Figure replaces the image shown before by d, without a caption.
func (p *Picture) Figure(d Drawing) { p.PNG(Must(d.PNG()), d.Description()) }

// Table shows a table, and its caption below. It ends the cell with an error if
// the table is malformed, and panics if the caption cannot be shown.
func Table(t Sheet) {
	s := Must(t.Markdown())
	if c := t.TeXCaption(); c != "" {
		s += "\n" + Caption(c)
	}
	Markdown("%s", s)
}

var captionText = strings.NewReplacer(
	`\textquotedblleft `, "“", `\textquotedblright{}`, "”", `\textquotedblright`, "”",
	`~`, "\u00a0", `\,`, "\u202f", `\%`, "%",
)

// Caption returns a LaTeX caption as Markdown in small type. Formulas between
// dollar signs are the same in both.
func Caption(tex string) string {
	parts := strings.Split(tex, "$")
	for i := 0; i < len(parts); i += 2 { // the others are formulas
		parts[i] = captionText.Replace(parts[i])
		if k := strings.IndexAny(parts[i], "\\{}<>*_`"); k >= 0 {
			panic(fmt.Sprintf("nb: caption %q: %q outside of a formula, want plain text there", tex, parts[i][k:]))
		}
	}
	return "<small>" + strings.Join(parts, "$") + "</small>"
}

// Must returns v, the result of a call that may fail, and stops the cell where
// it has failed:
//
//	g := nb.Must(graph.ReadDOT(file))
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Must2 is Must for a call with two results beside its error.
func Must2[T, U any](v T, u U, err error) (T, U) {
	Check(err)
	return v, u
}

// Check stops the cell unless err is nil. What the reader sees is the error,
// in one line.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(stderr, "error:", err)
		exit(1)
	}
}

var exit = os.Exit

// Context returns a context that is cancelled when the cell is interrupted, so
// that training keeps a checkpoint before it stops.
func Context() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	return ctx
}
