package answers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"learncausal/paper/experiment"
	"learncausal/pkg/num"
	"learncausal/pkg/train"
)

// Seeds is the comparison of Figure 9 with as many runs of each graph as a sweep has.
type Seeds struct {
	*experiment.Comparison
	Steps []int         // of the evaluations
	Along [][][]float64 // graph x seed x evaluation: mean attention on the parents
}

// LoadSeeds reads the results of sweeps/figure-9.toml.
func LoadSeeds() (*Seeds, error) { return loadSeeds(figure9) }

// LoadQuarterBatch reads those of sweeps/figure-9-batch.toml, the same with a quarter of
// the batch.
func LoadQuarterBatch() (*Seeds, error) { return loadSeeds(quarterBatch) }

func loadSeeds(name string) (*Seeds, error) {
	all, err := experiment.Outcomes(name)
	if err != nil {
		return nil, err
	}
	return newSeeds(all)
}

func newSeeds(all []*experiment.Outcome) (*Seeds, error) {
	s := &Seeds{Comparison: &experiment.Comparison{Graphs: experiment.ManyGraphs()}}
	for _, g := range s.Graphs {
		var edges, along [][]float64
		var means []float64
		for _, o := range all {
			if of, ok := o.Spec.Task.(train.Task1); !ok || !slices.Equal(of.Parents, g.Graph.Parents()) {
				continue
			}
			if o.Diverged != "" {
				return nil, fmt.Errorf("answers: run %s on %s has diverged", o.Address, g.Name)
			}
			edges, along = append(edges, onParents(o)), append(along, attentionAlong(o))
			means = append(means, float64(o.End().Attention))
			if s.Steps == nil {
				s.Steps = stepsOf(o)
			}
		}
		s.Edge, s.Along, s.Mean = append(s.Edge, edges), append(s.Along, along), append(s.Mean, means)
		s.Printed = append(s.Printed, 1-g.Mean)
		if n := len(s.Mean[0]); len(means) != n || n < 2 {
			return nil, fmt.Errorf("answers: %d runs on %s, want as many on each, two or more", len(means), g.Name)
		}
	}
	return s, nil
}

// onParents returns the attention of each position on its parent, NaN for a root.
func onParents(o *experiment.Outcome) []float64 {
	on := slices.Repeat([]float64{math.NaN()}, o.Spec.T())
	for _, e := range o.Edges {
		if e.Given {
			on[e.Child] = e.Attention
		}
	}
	return on
}

func attentionAlong(o *experiment.Outcome) (along []float64) {
	for _, p := range o.Curve {
		along = append(along, float64(p.Attention))
	}
	return along
}

func stepsOf(o *experiment.Outcome) (steps []int) {
	for _, p := range o.Curve {
		steps = append(steps, p.Step)
	}
	return steps
}

// A OneDraw asks whether the printed mean over the twenty graphs is one draw of ours: a
// run of each graph, chosen at random among ours.
type OneDraw struct {
	Printed float64   // the mean of the authors' run over the graphs
	Draws   []float64 // such means of ours, in increasing order
	Above   float64   // the share of them that is at least the printed one
}

// OneDraw draws n times.
func (s *Seeds) OneDraw(n int) OneDraw {
	d := OneDraw{Printed: stat.Mean(s.Printed, nil), Draws: make([]float64, n)}
	rng := rand.New(num.Stream(1, "answers/one draw"))
	for k := range d.Draws {
		for _, of := range s.Mean {
			d.Draws[k] += of[rng.IntN(len(of))] / float64(len(s.Mean))
		}
		if d.Draws[k] >= d.Printed {
			d.Above += 1 / float64(n)
		}
	}
	slices.Sort(d.Draws)
	return d
}

// Outside returns the graphs whose printed value is below all of our runs, and those on
// which it is above. Either has a probability of 1/(n+1) if it is one more of the n.
func (s *Seeds) Outside() (below, above []int) {
	for g, of := range s.Mean {
		if s.Printed[g] < slices.Min(of) {
			below = append(below, g)
		}
		if s.Printed[g] > slices.Max(of) {
			above = append(above, g)
		}
	}
	return below, above
}

// Fails returns in how many runs less than half of the attention lies on the edge.
func Fails(e experiment.Edge) int {
	n := 0
	for _, v := range e.Ours {
		if v < 0.5 {
			n++
		}
	}
	return n
}

// WithEnd returns for each evaluation the correlation, over the seeds, of the mean
// attention on the parents of graph g with that at the end: near 1 who leads by then leads
// in the end, near -1 who trails does. It is NaN where the runs are equal.
func (s *Seeds) WithEnd(g int) []float64 {
	out := make([]float64, len(s.Steps))
	for e := range out {
		var now []float64
		for _, along := range s.Along[g] {
			now = append(now, along[e])
		}
		out[e] = stat.Correlation(now, s.Mean[g], nil)
	}
	return out
}
