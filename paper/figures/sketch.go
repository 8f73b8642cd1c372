package figures

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"learncausal/paper/trial"
	"learncausal/pkg/graph"
	"learncausal/pkg/markov"
	"learncausal/pkg/num"
)

// SketchPrior is the prior of the pictures of Section 5.1: the relabelings of two matrices, one
// that tends to stay in its state and one that tends to leave it, whose traces have mean one.
func SketchPrior() *markov.Finite {
	return trial.MustPrior("orbit(0.8 0.15 0.05; 0.2 0.7 0.1; 0.15 0.45 0.4 | " +
		"0.05 0.85 0.10; 0.75 0.03 0.22; 0.13 0.85 0.02)")
}

// SketchGraph has two trees on 11 positions. Its ninth position has earlier relatives of
// every kind: parent, grandparent, sibling, uncle, and positions of the other tree.
func SketchGraph() *graph.Forest { return graph.MustNew(-1, 0, 0, 1, -1, 3, 1, 4, 3, 8, -1) }

// A NamedGraph is a graph with the title of its panel.
type NamedGraph struct {
	Title string
	Graph *graph.Forest
}

// SketchGraphs are four kinds of forest on 12 positions.
func SketchGraphs() []NamedGraph {
	return []NamedGraph{
		{"Markov chain", graph.Chain(12)},
		{"In-context learning", graph.InContext(12)},
		{"Binary tree", graph.MustNew(-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, -1)},
		{"Two trees", graph.MustNew(-1, 0, -1, 1, 2, 0, 4, 3, 2, 6, 3, -1)},
	}
}

// margin returns m_ip - max_{j != p, j <= i} m_ij for a T x T matrix such as g or ghat.
// It is positive if row i is largest at position p.
func margin(m mat.Matrix, i, p int) float64 {
	largest := math.Inf(-1)
	for j := range i + 1 {
		if j != p {
			largest = max(largest, m.At(i, j))
		}
	}
	return m.At(i, p) - largest
}

// LeastMargin returns min_i m_ip(i) - max_{j != p(i), j <= i} m_ij over the positions
// with a parent in g, for a T x T matrix m such as g or ghat.
func LeastMargin(m mat.Matrix, g *graph.Forest) float64 {
	if rows, columns := m.Dims(); rows != g.T() || columns != g.T() {
		panic(fmt.Sprintf("figures: a %d x %d matrix for a graph of %d positions", rows, columns, g.T()))
	}
	least := math.Inf(1)
	for _, e := range g.Edges() {
		least = min(least, margin(m, e[1], e[0]))
	}
	return least
}

// FlowEnd is the time at which [Flow] ends.
const FlowEnd = 60.0

// Flow returns times and attentions of gradient descent on one row of A1 along a fixed
// g_i, in small steps from A_i = 0:
//
//	dA_i/dt = J(S(A_i)) g_i
func Flow(g []float64) (times []float64, attention [][]float64) {
	const step, each = 0.05, 10
	a, s := make([]float64, len(g)), make([]float64, len(g))
	for n := 0; float64(n)*step <= FlowEnd; n++ {
		num.Softmax(s, a)
		if n%each == 0 {
			times = append(times, float64(n)*step)
			attention = append(attention, slices.Clone(s))
		}
		mean := floats.Dot(s, g)
		for j := range a {
			a[j] += step * s[j] * (g[j] - mean)
		}
	}
	return times, attention
}
