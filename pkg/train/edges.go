package train

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"learncausal/pkg/model"
)

// An Edge is the largest attention that a head of the first layer pays, in the row of
// position Child, to position Parent.
type Edge struct {
	Child, Parent int
	Attention     float64
}

// Edges returns where the first layer attends: each edge of the graph, and for each
// position and head the position that it attends to most, the first of equal ones; by
// child and then by parent. What [Spec.Attention] averages is that of the edges of the
// graph. It panics if the spec is wrong, or w is not of its model.
func (s Spec) Edges(w model.Model) []Edge {
	heads := s.HeadAttentions(w)
	var edges []Edge
	for i, parents := range s.Task.parents() {
		parents = slices.Clone(parents)
		for _, head := range heads {
			parents = append(parents, floats.MaxIdx(head.RawRowView(i)[:i+1]))
		}
		slices.Sort(parents)
		for _, p := range slices.Compact(parents) {
			best := 0.0
			for _, head := range heads {
				best = max(best, head.At(i, p))
			}
			edges = append(edges, Edge{i, p, best})
		}
	}
	return edges
}
