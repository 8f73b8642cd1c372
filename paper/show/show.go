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
// whether they gave the stored bytes.
func Replay(names ...string) {
	nb.Must(experiment.Replay(nb.Context(), nb.NewMeter("Replay"), Runs(names...)...))
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
