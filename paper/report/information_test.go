package report

import (
	"bytes"
	"math"
	"testing"

	"learncausal/pkg/figure"
	"learncausal/pkg/theory"
)

// What Figure 4 shows: the parent's entry of the row is the largest, and the
// attention on it grows to one.
func TestProofSketchShowsTheParent(t *testing.T) {
	g, i := SketchGraph(), 8
	grad := theory.G(SketchPrior(), g)
	row := grad[i*g.T() : i*g.T()+i+1]
	times, attention := flow(row)
	last := attention[len(attention)-1]
	for j := range row {
		if p := g.Parent(i); j != p && (row[j] >= row[p] || last[j] >= attention[0][j]) {
			t.Errorf("position %d: gradient %v and attention %v, the parent's are %v and %v", j, row[j], last[j], row[p], last[p])
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

func TestInformationFiguresAreDeterministic(t *testing.T) {
	for _, draw := range []func() *figure.Figure{ProofSketch, GradientMap} {
		a, err := draw().TeX()
		if err != nil {
			t.Fatal(err)
		}
		b, err := draw().TeX()
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: the bytes change, error %v", draw().ID, err)
		}
		if _, err := draw().PNG(); err != nil {
			t.Error(err)
		}
	}
}
