// Package show shows the figures, tables, checks and runs of the paper in a notebook cell, each with one call
// and under the id or number that it has in the report, in the ledger and in the paper:
//
//	show.Figure("fig-induction-head")
//	show.Table("tab-many-graphs")
//	show.Check(claims.All(), "Lemma 13")
//
// An error stops the cell with a message in one line. Runs come from the store of the checkout; missing runs
// are trained, with a progress bar. An interrupt of the cell stops every function.
package show

import (
	"runtime"
	"sync"

	"learncausal/internal/figure"
	"learncausal/internal/runs"
	"learncausal/paper/figures"
	"learncausal/paper/trial"
	"learncausal/pkg/nb"
)

var (
	once    sync.Once
	results *figures.Results
)

// Results returns the results behind the figures and tables, the same at each call.
func Results() *figures.Results {
	once.Do(func() { results = figures.New(trial.Stored(nb.NewMeter("Training"))) })
	return results
}

// Get loads a run of the store, or trains it.
func Get() trial.Getter { return Results().Get }

// Figure shows the figure with an id (see figures.Entries), and its caption.
func Figure(id string) { Draw(nb.Must(Results().Figure(nb.Context(), id))) }

// Draw shows a figure with its caption.
func Draw(f *figure.Figure) {
	nb.PNG(nb.Must(f.PNG()), f.Description())
	if f.Caption != "" {
		nb.Markdown("%s", nb.Caption(f.Caption))
	}
}

// Table shows the table with an id, and its caption.
func Table(id string) {
	t := nb.Must(Results().Table(nb.Context(), id))
	text := nb.Must(t.Markdown())
	if t.Caption != "" {
		text += "\n" + nb.Caption(t.Caption)
	}
	nb.Markdown("%s", text)
}

// Runs returns the runs of the experiments with the given names.
func Runs(names ...string) (rs []*runs.Run) {
	for _, name := range names {
		e := nb.Must(figures.Named(name))
		rs = append(rs, nb.Must(e.Load(nb.Context(), Get()))...)
	}
	return rs
}

// Replay trains stretches of the stored runs of experiments again and compares them with
// the stored bytes. A page, which has one processor and no vectors, replays at most six runs.
func Replay(names ...string) {
	rs := Runs(names...)
	if some := thinned(rs, 6); runtime.GOOS == "js" && len(some) < len(rs) {
		nb.Printf("A page replays %d of the %d runs: it has one processor, and no vectors.\n", len(some), len(rs))
		rs = some
	}
	nb.Must(figures.Replay(nb.Context(), nb.NewMeter("Replay"), rs...))
}

// thinned returns every k-th run from the first, with the least k that leaves at most n.
func thinned(rs []*runs.Run, n int) (some []*runs.Run) {
	by := max(1, (len(rs)+n-1)/n)
	for i := 0; i < len(rs); i += by {
		some = append(some, rs[i])
	}
	return some
}

// Provenance shows version, seeds and addresses of the runs of experiments, folded.
func Provenance(names ...string) {
	nb.Details("What determines these runs", figures.Provenance(Runs(names...)...))
}
