package figures

import (
	"math"
	"testing"

	"learncausal/pkg/theory"
)

// In Figure 4 the parent's entry of the row is the largest, and the attention on it grows
// to one.
func TestProofSketchShowsTheParent(t *testing.T) {
	g, i := sketchGraph(), sketchRow
	grad := theory.G(sketchPrior(), g)
	row := grad.RawRowView(i)[:i+1]
	times, attention := flow(row)
	last := attention[len(attention)-1]
	for j := range row {
		if p := g.Parent(i); j != p && (row[j] >= row[p] || last[j] >= attention[0][j]) {
			t.Errorf("position %d: gradient %v, attention %v; parent: %v, %v", j, row[j], last[j], row[p], last[p])
		}
	}
	if last[g.Parent(i)] < 0.9 || times[len(times)-1] != flowEnd {
		t.Errorf("attention on the parent is %v at %v", last[g.Parent(i)], times[len(times)-1])
	}
	// Along the flow the mean of g under the attention does not fall.
	before := math.Inf(-1)
	for n, a := range attention {
		mean := 0.0
		for j := range a {
			mean += a[j] * row[j]
		}
		if mean < before {
			t.Fatalf("the mean of g falls at time %v", times[n])
		}
		before = mean
	}
}
