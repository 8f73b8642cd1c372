package figures

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"learncausal/paper/trial"
	"learncausal/pkg/graph"
)

var regenOrder = flag.String("order", "", "write order.jsonl: predict, or measure what has no run")

// orders returns the graphs and settings of order.jsonl. The predictions for all sets but the first were committed
// before their runs were made.
func orders() (all []Order) {
	add := func(set string, g *graph.Forest, states int, alpha float64, steps int) {
		all = append(all, Order{Set: set, Parents: g.Parents(), States: states, Alpha: alpha, Steps: steps})
	}
	for _, g := range trial.ManyGraphs() {
		add("printed", g.Graph, 3, 0.1, 1<<14)
	}
	for k := range uint64(20) {
		add("fresh", graph.Random(20, 0.5, rand.NewPCG(k, 51)), 3, 0.1, 1<<14)
	}
	for k := range uint64(20) {
		add("uniform-rows", graph.Random(20, 0.5, rand.NewPCG(k, 51)), 3, 1, 1<<16)
	}
	for _, g := range []*graph.Forest{graph.Chain(20), graph.InContext(20), trial.RandomGraph()} {
		add("figure-6", g, 10, 0.1, 1<<16)
	}
	return all
}

func writeOrders(t *testing.T, all []Order) {
	t.Helper()
	var b bytes.Buffer
	for _, o := range all {
		if err := json.NewEncoder(&b).Encode(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("order.jsonl", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOrdersAreStored(t *testing.T) {
	if *regenOrder == "predict" {
		all := orders()
		for k := range all {
			var err error
			if all[k].Predicted, err = all[k].Predict(orderDilution); err != nil {
				t.Fatal(err)
			}
		}
		writeOrders(t, all)
		return
	}
	all, err := Orders()
	if err != nil {
		t.Fatal(err)
	}
	for k, o := range all {
		if *regenOrder == "measure" && o.Measured == nil {
			if all[k].Measured, err = o.Measure(o.Steps); err != nil {
				t.Fatal(err)
			}
			writeOrders(t, all)
		}
	}
}
