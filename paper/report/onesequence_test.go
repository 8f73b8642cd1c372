package report

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"learncausal/paper/figure"
	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// With the weights of the construction itself the attention of the trained model
// is the construction's, and its prediction the softmax of the construction's.
func TestOneSequenceFigureOfTheConstructionIsTheConstruction(t *testing.T) {
	g, x := graph.Figure1(), []int{1, 0, 0, 2, 1, 0}
	w := model.ConstructionOne(g, 3).Weights(200, 200)
	f := OneSequenceFigure("one", g, w, 0.1, x)
	attention, prediction := f.Rows[0][0].(*figure.Axes), f.Rows[0][1].(*figure.Axes)
	want := map[*figure.Axes][]float64{attention: {0, 0, 0, 0.5, 0.5, 0}, prediction: {1, math.Sqrt(math.E), math.Sqrt(math.E)}}
	for i := range want[prediction] {
		want[prediction][i] /= 1 + 2*math.Sqrt(math.E)
	}
	for a, values := range want {
		if got := a.Series[1].Y; !floats.EqualApprox(got, values, 1e-9) {
			t.Errorf("%s: %v, want %v", a.Title.Text, got, values)
		}
		for _, s := range a.Series {
			if most := floats.Max(s.Y); a.Y.Max <= most {
				t.Errorf("%s: the axis ends at %v, the largest value is %v", a.Title.Text, a.Y.Max, most)
			}
		}
	}
	if _, err := f.PNG(); err != nil {
		t.Fatal(err)
	}
}
