// Package paper is the paper's experiments: their settings, and one function
// for each of its figures and numbers.
package report

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"learncausal/pkg/graph"
	"learncausal/pkg/train"
)

// Seeds is the number of runs of each of the 20 graphs.
const Seeds = 5

// RandomGraph returns the random causal graph of Figures 6 and 8, as the
// authors' released seed draws it.
func RandomGraph() *graph.Forest {
	return mustGraph(-1, -1, 1, -1, -1, 4, -1, 5, 3, 4, 8, 6, 1, 3, 5, -1, 6, 1, 3, -1)
}

func mustGraph(parents ...int) *graph.Forest {
	g, err := graph.New(parents)
	if err != nil {
		panic("report: " + err.Error())
	}
	return g
}

// SingleParent is one of the three experiments of Figures 2 and 6.
type SingleParent struct {
	ID    string // chain, icl or random
	Title string
	Graph *graph.Forest
}

// SingleParents returns the experiments of Figure 6, in its order.
func SingleParents() []SingleParent {
	return []SingleParent{
		{"chain", "Markov chain", graph.Chain(20)},
		{"icl", "In-context learning", graph.InContext(20)},
		{"random", "Random causal graph", RandomGraph()},
	}
}

// Spec returns the experiment at the authors' settings: S=10, T=20, rows
// Dirichlet(0.1), 2^17 steps on 1024 fresh sequences each, learning rate 1
// with cosine decay, zero initialisation, 2^16 test sequences.
func (e SingleParent) Spec() train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: e.Graph.Parents(), States: 10, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Cosine},
		Batch:     1024, Steps: 1 << 17, Test: 1 << 16, Every: 1 << 10,
	}
}

// PrintedGraph is one of the 20 graphs of the quantitative comparison with
// what the authors' run printed for it.
type PrintedGraph struct {
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
		panic(fmt.Sprintf("report: many_graphs.json: %v", err))
	}
	var all []PrintedGraph
	for _, g := range file.Graphs {
		p := PrintedGraph{Graph: mustGraph(append(g.Parents, graph.Root)...), Mean: g.Mean}
		// The file starts at position 1 and ends before the query.
		p.OneMinusAttention = append(append([]float64{0}, g.OneMinusAttention...), 0)
		all = append(all, p)
	}
	return all
}

// Spec returns the comparison's run of seed on the graph at the authors'
// settings: S=3, T=20, rows Dirichlet(0.1), 2^14 steps on 1024 fresh sequences
// each, constant learning rate 1, zero initialisation, 2^16 test sequences.
func (p PrintedGraph) Spec(seed int) train.Spec {
	return train.Spec{
		Task:      train.Task1{Parents: p.Graph.Parents(), States: 3, Prior: "dirichlet(0.1)"},
		Model:     train.Disentangled{Heads: [2]int{1, 1}},
		Optimiser: train.SGD{Rate: 1, Schedule: train.Constant},
		Batch:     1024, Steps: 1 << 14, Seed: uint64(seed), Test: 1 << 16, Every: 1 << 9,
	}
}

// Specs returns the specification of every run that the figures need.
func Specs() []train.Spec {
	var specs []train.Spec
	for _, e := range SingleParents() {
		specs = append(specs, e.Spec())
	}
	for seed := range Seeds {
		for _, g := range ManyGraphs() {
			specs = append(specs, g.Spec(seed))
		}
	}
	return append(append(specs, MultiSpecs()...), MLPSpecs()...)
}
