package figures

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// Weights of every shape are drawn: of any number of tokens, positions, layers and
// heads, beside a graph of either task.
func TestWeightsOfEveryShapeAreDrawn(t *testing.T) {
	shapes := [][]int{{}, {1}, {3}, {1, 1}, {2, 1}, {2, 2}, {1, 3}, {1, 1, 1}, {2, 1, 2}}
	for _, size := range [][2]int{{1, 2}, {2, 2}, {1, 7}, {5, 3}, {12, 2}, {3, 12}} {
		for _, heads := range shapes {
			s, length := size[0], size[1]
			w := model.NewWeights(s, length, heads...)
			for i, m := range w.Matrices() {
				m.Data[0], m.Data[len(m.Data)-1] = float64(i), -1
			}
			parents := make([]int, length)
			lists := make([][]int, length+1)
			for i := range parents {
				parents[i] = graph.Root
			}
			lists[length] = []int{0}
			dag, err := graph.NewDAG(lists)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range []Graph{graph.MustNew(parents...), dag} {
				f, err := WeightsFigure("own", w, g)
				if err != nil {
					t.Fatalf("S = %d, T = %d, heads %v, %T: %v", s, length, heads, g, err)
				}
				if _, err := f.SVG(); err != nil {
					t.Errorf("S = %d, T = %d, heads %v, %T: %v", s, length, heads, g, err)
				}
				if f.Caption == "" {
					t.Error("no caption")
				}
			}
		}
	}
}

// Figures of weights that do not go together are refused by name.
func TestWeightsThatDoNotFitAreRefused(t *testing.T) {
	chain := graph.Chain(6)
	short := model.NewWeights(3, 6, 2, 1)
	short.A[0][1] = mat.NewDense(8, 9, nil)
	long := model.NewWeights(3, 6, 1)
	long.W = mat.NewDense(19, 3, nil)
	for _, c := range []struct {
		w    model.Model
		g    Graph
		want string
	}{
		{model.NewMLP(3, 6, 9), chain, "*model.MLP"},
		{(*model.Weights)(nil), chain, "want"},
		{model.NewWeights(3, 5, 1, 1), chain, "T = 5"},
		{model.NewWeights(3, 6, 1, 1), nil, "T = 6"},
		{&model.Weights{T: 6}, chain, "S=0"},
		{short, chain, "head 2 of layer 1"},
		{long, chain, "W is 19 x 3"},
	} {
		f, err := WeightsFigure("own", c.w, c.g)
		if err == nil || f != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T beside %v: error %v, want one with %q", c.w, c.g, err, c.want)
		}
	}
}
