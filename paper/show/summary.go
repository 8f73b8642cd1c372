package show

import "learncausal/pkg/nb"

// Headline shows in a few sentences what became of the paper's results and of its
// statements (see report.Headline).
func Headline() { nb.Markdown("%s", nb.Must(Results().Headline(nb.Context())).Markdown()) }

// Summary shows what became of everything that the paper says of its figures and
// numbers, with links to the notebooks that tell of it; with ids, such as fig-mlp,
// of these.
func Summary(ids ...string) {
	s := nb.Must(Results().Summary(nb.Context(), ids...))
	nb.Markdown("%s", nb.Must(s.Board()))
}
