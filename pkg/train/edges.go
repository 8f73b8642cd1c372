package train

import (
	"slices"

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
			most := 0
			for j, p := range head[i][:i+1] {
				if p > head[i][most] {
					most = j
				}
			}
			parents = append(parents, most)
		}
		slices.Sort(parents)
		for _, p := range slices.Compact(parents) {
			best := 0.0
			for _, head := range heads {
				best = max(best, head[i][p])
			}
			edges = append(edges, Edge{i, p, best})
		}
	}
	return edges
}
