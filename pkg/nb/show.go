package nb

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
)

var captionText = strings.NewReplacer(
	`\textquotedblleft `, "“", `\textquotedblright{}`, "”", `\textquotedblright`, "”",
	`~`, "\u00a0", `\,`, "\u202f", `\%`, "%",
)

// Caption returns a LaTeX caption as Markdown in small type. Formulas between dollar signs are the same in
// both. Caption panics if the text outside of formulas contains LaTeX or characters of Markdown's syntax.
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

// Must returns v, the result of a call that may fail. If it failed, Must stops the cell as Check does:
//
//	g := nb.Must(graph.ReadForest(file))
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check stops the cell unless err is nil. It prints the error in one line.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(stderr, "error:", err)
		exit(1)
	}
}

var exit = os.Exit

// Context returns the context of the cell. An interrupt cancels it, so that training stores a
// checkpoint before it stops; a second interrupt ends the program.
func Context() context.Context { return cell() }

var cell = sync.OnceValue(func() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx
})
