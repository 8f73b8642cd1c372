package train

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/internal/engine"
	"learncausal/pkg/model"
)

// HeadAttentions returns the attention of each head of the first layer: T x T, row-stochastic, lower
// triangular. For the disentangled transformer it is S(MASK(A1)) with A1 the position-position block, for the
// MLP it is [Spec.MeanAttention], and for weights of one's own their PositionAttentions() []*mat.Dense, if they have
// that method, or nil. It panics if the spec is wrong, or if w is not of its model.
func (s Spec) HeadAttentions(w model.Model) []*mat.Dense {
	s = s.mustHold(w)
	return s.attention(w)
}

// attention is HeadAttentions for a valid spec.
func (s Spec) attention(w model.Model) []*mat.Dense {
	switch w := w.(type) {
	case *model.MLP:
		return s.MeanAttention(w)
	case interface{ PositionAttentions() []*mat.Dense }:
		return w.PositionAttentions()
	}
	return nil
}

// AttentionSequences is the number of test sequences of [Spec.MeanAttention].
const AttentionSequences = 1024

// MeanAttention returns the attention of each head of the first layer, averaged over the first
// AttentionSequences of the test set: T x T, row-stochastic, lower triangular. It
// panics if the spec is wrong, or if w is not of its model.
func (s Spec) MeanAttention(w model.Model) []*mat.Dense {
	s = s.mustHold(w)
	s.Test = min(s.Test, AttentionSequences)
	b, err := s.TestSet()
	if err != nil {
		panic("train: " + err.Error())
	}
	return engine.New(w).MeanAttention(b.X)
}

// Attention returns the mean of max_h P_h(i, p) over the edges p -> i of the graph, where P_h
// are the HeadAttentions; NaN for a graph without edges between positions, or a model without
// HeadAttentions. With one head it is the quantity of Figure 9. It panics if the spec is wrong, or if w is not of its
// model.
func (s Spec) Attention(w model.Model) float64 { return s.onParents(s.HeadAttentions(w)) }

// onParents is Attention for given attentions of the heads.
func (s Spec) onParents(heads []*mat.Dense) float64 {
	sum, edges := 0.0, 0
	for i, ps := range s.Task.ParentSets() {
		for _, p := range ps {
			sum += largest(heads, i, p)
			edges++
		}
	}
	if edges == 0 || len(heads) == 0 {
		return math.NaN() // the bits that parsing "NaN" gives
	}
	return sum / float64(edges)
}

// largest returns the largest entry (i, p) of the heads.
func largest(heads []*mat.Dense, i, p int) float64 {
	best := 0.0
	for _, head := range heads {
		best = max(best, head.At(i, p))
	}
	return best
}

// An Edge is the largest attention of a head of the first layer from position Child to position Parent.
type Edge struct {
	Child, Parent int
	Attention     float64
}

// Edges returns the attention of the first layer on the edges of the graph, and, for each
// position and head, on the position with the largest attention, the first of equal ones.
// They are ordered by child and then by parent. It panics if the spec is wrong, or if w is not of its model.
func (s Spec) Edges(w model.Model) []Edge {
	heads := s.HeadAttentions(w)
	var edges []Edge
	for i, parents := range s.Task.ParentSets() {
		parents = slices.Clone(parents)
		for _, head := range heads {
			parents = append(parents, floats.MaxIdx(head.RawRowView(i)[:i+1]))
		}
		slices.Sort(parents)
		for _, p := range slices.Compact(parents) {
			edges = append(edges, Edge{i, p, largest(heads, i, p)})
		}
	}
	return edges
}

// mustHold returns the canonical spec. It panics if the spec is wrong, or if w is not of its model.
func (s Spec) mustHold(w model.Model) Spec {
	s = s.mustValid()
	if w == nil || !model.SameShape(w, s.Model.New(s.S(), s.T())) {
		panic(fmt.Sprintf("train: weights of another model than that of the spec, %s", s.describe()))
	}
	return s
}
