package trial

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"learncausal/pkg/graph"
)

// PrintedGraph is one of the 20 graphs of the quantitative comparison, with the
// values that the authors' run printed for it.
type PrintedGraph struct {
	Name              string // graph-0 to graph-19, in the authors' order
	Graph             *graph.Forest
	OneMinusAttention []float64 // 1 - S(A1)_{i,p(i)} of positions i = 0..T-1, 0 for a root
	Mean              float64   // over the graph's edges
}

//go:embed many_graphs.json
var manyGraphs []byte

// ManyGraphs returns the authors' 20 graphs (Figure 9).
func ManyGraphs() []PrintedGraph {
	var file struct {
		Graphs []struct {
			Parents           []int
			OneMinusAttention []float64 `json:"one_minus_attention"`
			Mean              float64   `json:"mean_one_minus_attention"`
		}
	}
	if err := json.Unmarshal(manyGraphs, &file); err != nil {
		panic(fmt.Sprintf("trial: many_graphs.json: %v", err))
	}
	var all []PrintedGraph
	for i, g := range file.Graphs {
		p := PrintedGraph{Name: fmt.Sprintf("graph-%d", i), Mean: g.Mean}
		p.Graph = graph.MustNew(append(g.Parents, graph.Root)...)
		// The file starts at position 1 and ends before the query.
		p.OneMinusAttention = append(append([]float64{0}, g.OneMinusAttention...), 0)
		all = append(all, p)
	}
	return all
}

// RandomGraph returns the random causal graph of Figures 6 and 8, as the authors' released seed draws it.
func RandomGraph() *graph.Forest {
	return graph.MustNew(-1, -1, 1, -1, -1, 4, -1, 5, 3, 4, 8, 6, 1, 3, 5, -1, 6, 1, 3, -1)
}
