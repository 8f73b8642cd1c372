package show

import "learncausal/pkg/nb"

// Headline shows the counts of reproduced results and of statements by verdict in a few
// sentences, see figures.Headline.
func Headline() { nb.Markdown("%s", nb.Must(Results().Headline(nb.Context())).Markdown()) }

// Summary shows the comparison of the paper's figures and numbers with ours, with links to
// the notebooks. With ids, such as fig-mlp, it shows the rows of these.
func Summary(ids ...string) {
	s := nb.Must(Results().Summary(nb.Context(), ids...))
	nb.Markdown("%s", nb.Must(s.Markdown()))
}
