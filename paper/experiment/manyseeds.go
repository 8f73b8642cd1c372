package experiment

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"learncausal/pkg/num"
)

// A OneDraw asks whether the printed mean over the twenty graphs is one draw of ours: a
// run of each graph, chosen at random among ours.
type OneDraw struct {
	Printed float64   // the mean of the authors' run over the graphs
	Draws   []float64 // such means of ours, in increasing order
	Above   float64   // the share of them that is at least the printed one
}

// OneDraw draws n times.
func (c *Comparison) OneDraw(n int) OneDraw {
	d := OneDraw{Printed: stat.Mean(c.Printed, nil), Draws: make([]float64, n)}
	rng := rand.New(num.Stream(1, "answers/one draw"))
	for k := range d.Draws {
		for _, of := range c.Mean {
			d.Draws[k] += of[rng.IntN(len(of))] / float64(len(c.Mean))
		}
		if d.Draws[k] >= d.Printed {
			d.Above += 1 / float64(n)
		}
	}
	slices.Sort(d.Draws)
	return d
}

// WithEnd returns for each evaluation the correlation, over the seeds, of the mean
// attention on the parents of graph g with that at the end: near 1 who leads by then leads
// in the end, near -1 who trails does. It is NaN where the runs are equal.
func (c *Comparison) WithEnd(g int) []float64 {
	out := make([]float64, len(c.Steps))
	for e := range out {
		var now []float64
		for _, along := range c.Along[g] {
			now = append(now, along[e])
		}
		out[e] = stat.Correlation(now, c.Mean[g], nil)
	}
	return out
}
