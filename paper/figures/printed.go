package figures

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/internal/figure"
	"learncausal/paper/trial"
)

// Figure9Printed is the sweep of the authors' runs on the twenty graphs: their sequences, drawn again from the
// random stream of JAX 0.4.13, with the trainer of package train.
const Figure9Printed = "figure-9-printed"

// Figure9Seeds is the sweep of the same sampler and keys with other seeds.
const Figure9Seeds = "figure-9-seeds"

// ensembles are our runs on the twenty graphs, and those on sequences of the released sampler with other seeds.
type ensembles struct{ ours, released *Comparison }

func bothEnsembles(ctx context.Context, r *Results) (both ensembles, err error) {
	if both.ours, err = comparison(ctx, r); err != nil {
		return both, err
	}
	both.released, err = once(r, Figure9Seeds, func() (*Comparison, error) { return LoadComparison(Figure9Seeds) })
	return both, err
}

// A replay is the authors' run on a graph beside the run on its sequences and our runs on sequences of our own.
type replay struct {
	printed, replayed float64   // mean attention on the parents
	largest           float64   // difference of an edge, in absolute value
	ours              []float64 // mean attention, by seed
}

// replays returns the twenty runs of [Figure9Printed], in the order of the graphs.
func replays(ctx context.Context, r *Results) ([]replay, error) {
	ours, err := comparison(ctx, r)
	if err != nil {
		return nil, err
	}
	again, err := once(r, Figure9Printed, func() (*Comparison, error) { return LoadComparison(Figure9Printed) })
	if err != nil {
		return nil, err
	}
	all := make([]replay, len(again.Graphs))
	for g := range all {
		all[g] = replay{printed: again.Printed[g], replayed: again.Mean[g][0], ours: ours.Mean[g]}
	}
	for _, e := range again.Edges() {
		all[e.Graph].largest = max(all[e.Graph].largest, math.Abs(e.Printed-e.Ours[0]))
	}
	return all, nil
}

func printedTable(all []replay) *figure.Table {
	t := figure.NewTable(
		fmt.Sprintf(`Mean attention on the parents for each of the %d graphs: the value that the authors' run printed, `+
			`its replay on the same sequences, the largest difference of the two on an edge, and our %d runs on `+
			`sequences of our own (mean, standard deviation, smallest and largest).`, len(all), len(all[0].ours)),
		"Graph", "Printed", "Replayed", "Largest difference", "Ours", "sd", "Min", "Max")
	for g, p := range all {
		mean, sd := stat.MeanStdDev(p.ours, nil)
		row := []any{g}
		for _, v := range []float64{p.printed, p.replayed, p.largest, mean, sd, floats.Min(p.ours), floats.Max(p.ours)} {
			row = append(row, figure.Value(v, 4))
		}
		t.Add(row...)
	}
	return t
}

// near is the difference of the mean attention on a graph below which a replay agrees with the printed run.
const near = 0.005

// printedRows is the row of the printed mean on the printed sequences: reproduced if it has the three printed digits.
// Its sequences explain a printed value as far as the replay is as far from the mean of our runs, so the row has the
// correlation of the two distances.
func printedRows(all []replay) []Row {
	var printed, replayed, printedLess, replayedLess []float64
	for _, p := range all {
		ours := stat.Mean(p.ours, nil)
		printed, replayed = append(printed, p.printed), append(replayed, p.replayed)
		printedLess, replayedLess = append(printedLess, p.printed-ours), append(replayedLess, p.replayed-ours)
	}
	agree := count(all, func(p replay) bool { return math.Abs(p.printed-p.replayed) < near })
	a, b := stat.Mean(printed, nil), stat.Mean(replayed, nil)
	return []Row{{
		ID: "num-avg-attn", What: "the same on the printed sequences", Paper: "0.837", Ours: figure.Value(b, 4),
		Interval: "one run",
		Verdict: verdict(fmt.Sprintf("%.3f", a) == fmt.Sprintf("%.3f", b), fmt.Sprintf(
			"within %.3f, where the mean of our runs is %.4f away; %d of %d graphs within %v; "+
				"r = %.2f of printed and replayed, less our means",
			math.Ceil(1e3*math.Abs(a-b))/1e3, stat.Mean(printedLess, nil), agree, len(all), near,
			stat.Correlation(printedLess, replayedLess, nil))),
	}}
}

// releasedRows is the row of the mean of other seeds of the released sampler, which the paper does not state.
func releasedRows(both ensembles) []Row {
	d := both.released.Less(both.ours)
	mean, half := both.released.Variance().Mean, distuv.UnitNormal.Quantile(0.975)*d.StdErr
	return []Row{{
		ID: "num-avg-attn", What: fmt.Sprintf("the same on sequences of the released sampler, %d other seeds",
			both.released.Seeds()),
		Ours: figure.Value(mean, 4), Interval: fmt.Sprintf("%.3f to %.3f (95 %%)", mean-half, mean+half),
		Verdict: fmt.Sprintf("%s: less our sampler %s ± %.4f", notStated, number("%+.*f", 4, d.Mean), d.StdErr),
	}}
}

// Figure8Printed is the sweep of the authors' run of Figure 8: their initial weights and sequences, drawn again.
const Figure8Printed = "figure-8-printed"

// mlpReplayRows is the row of the run of [Figure8Printed]: reproduced if its attention is that of the authors' plot, to
// the error of reading the plot.
func mlpReplayRows(ctx context.Context, r *Results) ([]Row, error) {
	again, err := trial.Outcomes(Figure8Printed)
	if err != nil {
		return nil, err
	}
	ms, err := mlpRuns(ctx, r)
	if err != nil {
		return nil, err
	}
	v, ours := float64(again[0].End().Attention), ms[0].Ends(lastAttention) // of the chain with trained embeddings
	return []Row{{
		Figure: 8, ID: "fig-mlp", What: "the same with the printed seed, Markov chain, trained embeddings", Setting: "code",
		Paper: "colours of the authors' plot: 0.736", Ours: figure.Value(v, 3), Interval: "one run",
		Verdict: verdict(math.Abs(plottedAttention-v) < 0.003, fmt.Sprintf(
			"the plot is %s from the replay; as one more of our seeds the replay has p = %.1g",
			number("%+.*f", 3, plottedAttention-v), ours.PValue(v))),
	}}, nil
}
