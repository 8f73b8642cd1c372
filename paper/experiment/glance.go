package experiment

import (
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// A Glance is where the query of a disentangled transformer looks on one
// sequence: the shares of its attention in the second layer, which sum to one.
type Glance struct {
	Matches  int     // positions whose parent has the query's token
	Matching float64 // the share on these
	Other    float64 // on the other positions that have a parent
	Roots    float64 // on the roots but the query
	Itself   float64 // on the query
}

// Glances returns where the query looks on each sequence of b, whose graph is g,
// by the first head of the second layer of w.
func Glances(w *model.Weights, g *graph.Forest, b *task.Batch) []Glance {
	glances := make([]Glance, b.Len())
	for k := range glances {
		x, _ := b.Seq(k)
		query := g.T() - 1
		a := &glances[k]
		for i, share := range w.Attention(x)[1][0].RawRowView(query) {
			switch p := g.Parent(i); {
			case i == query:
				a.Itself = share
			case p == graph.Root:
				a.Roots += share
			case x[p] == x[query]:
				a.Matches++
				a.Matching += share
			default:
				a.Other += share
			}
		}
	}
	return glances
}

// Glances returns where the query of the trained model looks on its first n test
// sequences.
func (r SingleRun) Glances(n int) ([]Glance, error) {
	spec := r.Run.Spec
	spec.Test = n
	b, err := spec.TestSet()
	if err != nil {
		return nil, err
	}
	return Glances(r.Weights(), r.Graph, b), nil
}
