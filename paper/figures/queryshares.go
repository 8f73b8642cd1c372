package figures

import (
	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
	"learncausal/pkg/task"
)

// QueryShares has the attention of the query of a disentangled transformer in the
// second layer on one sequence, by the kind of position. The shares sum to one.
type QueryShares struct {
	Matches  int     // number of positions whose parent has the query's token
	Matching float64 // on these positions
	Other    float64 // on the other positions with a parent
	Roots    float64 // on the roots except the query
	Itself   float64 // on the query
}

// queryShares returns the shares on each sequence of b, whose graph is g, for the first
// head of the second layer of w.
func queryShares(w *model.Weights, g *graph.Forest, b *task.Batch) []QueryShares {
	all := make([]QueryShares, b.Len())
	for k := range all {
		x, _ := b.Seq(k)
		query := g.T() - 1
		a := &all[k]
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
	return all
}

// QueryShares returns the shares of the trained model on its first n test sequences.
func (r SingleRun) QueryShares(n int) ([]QueryShares, error) {
	b, err := trial.TestSequences(r.Run.Spec, n)
	if err != nil {
		return nil, err
	}
	return queryShares(r.Weights(), r.Graph, b), nil
}
