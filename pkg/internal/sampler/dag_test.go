package sampler

import (
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

// Rows that the present sequences may still use are never drawn over.
func TestQueuesKeepRowsInUse(t *testing.T) {
	m, err := NewDAG(graph.NGram(9, 2).Parents(), 3, 0.3, false)
	if err != nil {
		t.Fatal(err)
	}
	m.Draw(make([]int, 40000*9), make([]float64, 40000*3), num.Stream(1, "test"))
	for l, first := range m.first {
		if m.drawn-first > m.ring {
			t.Errorf("queue %d: %d rows were drawn since the first in use, of %d that are kept", l, m.drawn-first, m.ring)
		}
	}
}

// The ring is the first power of two that has twice the rows that a sequence of so many nodes
// may visit, with those that are drawn at once.
func TestRingIsAPowerOfTwo(t *testing.T) {
	for nodes, want := range map[int]int{3: 32, 8: 32, 9: 64, 24: 64, 25: 128} {
		parents := make([][]int, nodes)
		parents[nodes-1] = []int{0}
		m, err := NewDAG(parents, 2, 1, false)
		if err != nil || m.ring != want {
			t.Errorf("%d nodes: %d rows, %v, want %d", nodes, m.ring, err, want)
		}
	}
}
