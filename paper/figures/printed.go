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
const near = 0.002

// printedRows is the row of the printed mean on the printed sequences.
func printedRows(context.Context, *Results) ([]Row, error) {
	runs, err := PrintedRuns()
	if err != nil {
		return nil, err
	}
	printed, replayed, agree := 0.0, 0.0, 0
	farthest := runs[0]
	for _, p := range runs {
		printed += p.Printed / float64(len(runs))
		replayed += p.Replayed / float64(len(runs))
		if math.Abs(p.Printed-p.Replayed) < near {
			agree++
		}
		if p.Largest > farthest.Largest {
			farthest = p
		}
	}
	same := math.Round(1000*printed) == math.Round(1000*replayed)
	rest := fmt.Sprintf("%d of %d graphs within %v; the largest difference of an edge is %.3f, on graph %d",
		agree, len(runs), near, farthest.Largest, farthest.Graph)
	v := differs("%s", rest)
	if same {
		v = reproduced + ": " + rest
	}
	return []Row{{
		ID: "num-avg-attn", What: "the same on the printed sequences", Paper: "0.837",
		Ours: figure.Value(replayed, 4), Interval: "one run", Verdict: v,
	}}, nil
}
