package trial

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// The paper prints 0.837 ± 0.054 over the 20 graphs.
func TestPrintedValuesGiveThePapersNumber(t *testing.T) {
	var means []float64
	for k, g := range ManyGraphs() {
		sum, edges := 0.0, 0
		for i, v := range g.OneMinusAttention {
			if g.Graph.Parent(i) >= 0 {
				sum += v
				edges++
			} else if v != 0 {
				t.Errorf("graph %d: position %d is a root and has attention %v", k, i, v)
			}
		}
		if d := math.Abs(sum/float64(edges) - g.Mean); !(d < 1e-6) {
			t.Errorf("graph %d: mean %v, printed %v", k, sum/float64(edges), g.Mean)
		}
		means = append(means, 1-g.Mean)
	}
	mean, sd := stat.PopMeanStdDev(means, nil)
	if len(means) != 20 || math.Abs(mean-0.83663917) > 1e-6 || math.Abs(sd-0.054017633) > 1e-6 {
		t.Errorf("%d graphs, %v ± %v, want 20, 0.83663917 ± 0.054017633", len(means), mean, sd)
	}
}
