// Package show shows the figures, tables, checks and runs of the paper in a
// notebook cell, each with one call and under the id or number that it has in
// the report, in the ledger and in the paper:
//
//	show.Figure("fig-induction-head")
//	show.Table("tab-many-graphs")
//	show.Check(claims.All(), "Lemma 13")
//	show.Live(spec, 0, 256, 1024)
//
// What cannot be shown stops the cell with an error in one line. Runs come from
// the store of the checkout; one that is not there is trained, with a progress
// bar. An interrupt of the cell stops whatever goes on.
package show

import (
	"runtime"
	"slices"
	"sync"

	"learncausal/paper/experiment"
	"learncausal/paper/report"
	"learncausal/pkg/nb"
	"learncausal/pkg/runs"
	"learncausal/pkg/train"
)

var (
	once    sync.Once
	results *report.Results
)

// Results are what the figures and tables are made of, the same at each call.
func Results() *report.Results {
	once.Do(func() { results = report.New(experiment.Stored(nb.NewMeter("Training"))) })
	return results
}

// Get loads a run of the store, or trains it.
func Get() experiment.Getter { return Results().Get }

// Figure shows the figure with an id (see report.Entries), and its caption.
func Figure(id string) { nb.Figure(nb.Must(Results().Figure(nb.Context(), id))) }

// Table shows the table with an id, and its caption.
func Table(id string) { nb.Table(nb.Must(Results().Table(nb.Context(), id))) }

// Runs returns the runs of the experiments with the given names.
func Runs(names ...string) (rs []*runs.Run) {
	for _, name := range names {
		e := nb.Must(experiment.Named(name))
		rs = append(rs, nb.Must(e.Load(nb.Context(), Get()))...)
	}
	return rs
}

// Replay trains stretches of the stored runs of experiments again, and says
// whether they gave the stored bytes. In a page, which has one processor and no
// vectors, it takes at most 20 of the runs, 6 of the standard transformer, whose
// steps take three times as long; and says so first.
func Replay(names ...string) {
	rs := Runs(names...)
	if some := thinned(rs, mostInPage(rs)); runtime.GOOS == "js" && len(some) < len(rs) {
		nb.Printf("A page replays %d of the %d runs: it has one processor, and no vectors.\n", len(some), len(rs))
		rs = some
	}
	nb.Must(experiment.Replay(nb.Context(), nb.NewMeter("Replay"), rs...))
}

// mostInPage returns how many of the runs a page replays at most.
func mostInPage(rs []*runs.Run) int {
	if slices.ContainsFunc(rs, func(r *runs.Run) bool { _, mlp := r.Spec.Model.(train.MLP); return mlp }) {
		return 6
	}
	return 20
}

// thinned returns one in so many runs that at most n are left, the first among
// them.
func thinned(rs []*runs.Run, n int) (some []*runs.Run) {
	by := max(1, (len(rs)+n-1)/n)
	for i := 0; i < len(rs); i += by {
		some = append(some, rs[i])
	}
	return some
}

// Provenance shows what determines the runs of experiments, below a line that
// opens it.
func Provenance(names ...string) {
	nb.Details("What determines these runs", experiment.Provenance(Runs(names...)...))
}

// Live trains a run and draws, while it learns, the attention of the first layer
// after each of the given numbers of steps (see experiment.Live). It returns the
// states drawn last.
func Live(spec train.Spec, at ...int) []train.Snapshot {
	picture := nb.NewPicture()
	draw := func(shots []train.Snapshot) { picture.Figure(report.LiveFigure(spec, shots)) }
	shots := nb.Must(experiment.Live(nb.Context(), spec, nb.NewMeter("Live training"), draw, at...))
	draw(shots)
	return shots
}
