package trial

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"learncausal/pkg/graph"
)

var regenOrder = flag.String("order", "", "write order.jsonl: predict, or measure what has no run")

// orders returns the graphs and settings of order.jsonl. The predictions for all sets but the first were committed
// before their runs were made.
func orders() (all []Order) {
	add := func(set string, g *graph.Forest, states int, alpha float64, steps int) {
		all = append(all, Order{Set: set, Parents: g.Parents(), States: states, Alpha: alpha, Steps: steps})
	}
	for _, g := range ManyGraphs() {
		add("printed", g.Graph, 3, 0.1, 1<<14)
	}
	for k := range uint64(20) {
		add("fresh", graph.Random(20, 0.5, rand.NewPCG(k, 51)), 3, 0.1, 1<<14)
	}
	for k := range uint64(20) {
		add("uniform-rows", graph.Random(20, 0.5, rand.NewPCG(k, 51)), 3, 1, 1<<16)
	}
	for _, g := range []*graph.Forest{graph.Chain(20), graph.InContext(20), RandomGraph()} {
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
	all := orders()
	if *regenOrder == "predict" {
		for k := range all {
			var err error
			if all[k].Predicted, err = all[k].Predict(orderDilution); err != nil {
				t.Fatal(err)
			}
		}
		writeOrders(t, all)
		return
	}
	stored, err := Orders()
	if err != nil || len(stored) != len(all) {
		t.Fatalf("%d orders, %v, want %d", len(stored), err, len(all))
	}
	for k, o := range stored {
		if *regenOrder == "measure" && o.Measured == nil {
			if stored[k].Measured, err = o.Measure(o.Steps); err != nil {
				t.Fatal(err)
			}
			writeOrders(t, stored)
		}
		settings := o
		settings.Predicted, settings.Measured = nil, nil
		if !reflect.DeepEqual(settings, all[k]) {
			t.Errorf("order %d: settings %+v, want %+v", k, settings, all[k])
		}
	}
}

// A prediction and the beginning of a run of each set come out again, of other graphs each day, and one whole run.
func TestOrdersComeOutAgain(t *testing.T) {
	stored, err := Orders()
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string][]Order{}
	for _, o := range stored {
		sets[o.Set] = append(sets[o.Set], o)
	}
	for k, set := range slices.Sorted(maps.Keys(sets)) {
		all, steps := sets[set], 1024
		o := all[Today()%len(all)]
		if Today()%len(sets) == k && !testing.Short() {
			o = all[Today()/len(sets)%len(all)]
			steps = o.Steps
		}
		predicted, err := o.Predict(orderDilution)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(predicted) != fmt.Sprint(o.Predicted) {
			t.Errorf("%s %v: predicted %v, stored %v", set, o.Parents, predicted, o.Predicted)
		}
		measured, err := o.Measure(steps)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range measured {
			if want := o.Measured[i]; m != want && (min(m, want) <= float64(steps) || steps == o.Steps) {
				t.Errorf("%s %v: position %d is learned at step %g, stored %g", set, o.Parents, i, m, want)
			}
		}
	}
}
