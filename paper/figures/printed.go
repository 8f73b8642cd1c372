package figures

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"learncausal/internal/figure"
)

// Figure9Printed is the sweep of the authors' runs on the twenty graphs: their sequences, drawn again from the
// random stream of JAX 0.4.13, with the trainer of package train.
const Figure9Printed = "figure-9-printed"

// A PrintedRun compares the authors' run on a graph with the run on its sequences.
type PrintedRun struct {
	Graph             int
	Printed, Replayed float64 // mean attention on the parents
	Largest           float64 // difference of an edge, in absolute value
}

// PrintedRuns returns the twenty runs of [Figure9Printed].
func PrintedRuns() ([]PrintedRun, error) {
	c, err := LoadComparison(Figure9Printed)
	if err != nil {
		return nil, err
	}
	var all []PrintedRun
	for g := range c.Graphs {
		all = append(all, PrintedRun{Graph: g, Printed: c.Printed[g], Replayed: c.Mean[g][0]})
	}
	for _, e := range c.Edges() {
		r := &all[e.Graph]
		r.Largest = max(r.Largest, math.Abs(e.Printed-e.Ours[0]))
	}
	return all, nil
}

// printedTable lists the authors' runs, their replays and our runs.
func printedTable(ctx context.Context, r *Results) (*figure.Table, error) {
	runs, err := PrintedRuns()
	if err != nil {
		return nil, err
	}
	c, err := comparison(ctx, r)
	if err != nil {
		return nil, err
	}
	t := figure.NewTable(
		fmt.Sprintf(`Mean attention on the parents for each of the %d graphs: the value that the authors' run printed, `+
			`its replay on the same sequences, the largest difference of the two on an edge, and our %d runs on `+
			`sequences of our own (mean, standard deviation, smallest and largest).`, len(runs), c.Seeds()),
		"Graph", "Printed", "Replayed", "Largest difference", "Ours", "sd", "Min", "Max")
	for g, p := range runs {
		ours := c.Mean[g]
		mean, sd := stat.MeanStdDev(ours, nil)
		row := []any{g}
		for _, v := range []float64{p.Printed, p.Replayed, p.Largest, mean, sd, floats.Min(ours), floats.Max(ours)} {
			row = append(row, figure.Value(v, 4))
		}
		t.Add(row...)
	}
	return t, nil
}

// near is the difference of the mean attention on a graph below which a replay agrees with the printed run.
const near = 0.005

// printedRows is the row of the printed mean on the printed sequences. A draw of its own explains a printed value
// as far as the replay differs from the mean of our runs by as much, so the correlation of the two differences counts.
func printedRows(ctx context.Context, r *Results) ([]Row, error) {
	runs, err := PrintedRuns()
	if err != nil {
		return nil, err
	}
	c, err := comparison(ctx, r)
	if err != nil {
		return nil, err
	}
	var printed, replayed, printedLess, replayedLess []float64
	agree := 0
	for g, p := range runs {
		ours := stat.Mean(c.Mean[g], nil)
		printed, replayed = append(printed, p.Printed), append(replayed, p.Replayed)
		printedLess, replayedLess = append(printedLess, p.Printed-ours), append(replayedLess, p.Replayed-ours)
		if math.Abs(p.Printed-p.Replayed) < near {
			agree++
		}
	}
	a, b := stat.Mean(printed, nil), stat.Mean(replayed, nil)
	return []Row{{
		ID: "num-avg-attn", What: "the same on the printed sequences", Paper: "0.837", Ours: figure.Value(b, 4),
		Interval: "one run",
		Verdict: verdict(fmt.Sprintf("%.3f", a) == fmt.Sprintf("%.3f", b), fmt.Sprintf(
			"%.4f of the difference of %.4f remain; %d of %d graphs within %v; r = %.2f of printed and replayed, less our means",
			a-b, stat.Mean(printedLess, nil), agree, len(runs), near, stat.Correlation(printedLess, replayedLess, nil))),
	}}, nil
}
