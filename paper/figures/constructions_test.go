package figures

import (
	"testing"

	"learncausal/pkg/graph"
	"learncausal/pkg/model"
)

// On the sequence of Figure 3 the limit is the empirical estimate: the tokens at
// positions 4 and 5, whose parents hold the query's token.
func TestForwardPassIsTheEmpiricalEstimate(t *testing.T) {
	c := model.ConstructionOne(graph.Figure1(), 3)
	f := make([]float64, 3)
	c.Limit(f, forwardPassTokens)
	if f[0] != 0 || f[1] != 0.5 || f[2] != 0.5 {
		t.Errorf("f = %v, want [0 0.5 0.5]", f)
	}
	if r := forwardPassRows(); r[0].Verdict != "reproduced" {
		t.Errorf("%+v", r)
	}
	c.Limit(f, []int{0, 1, 0, 2, 1, 0}) // with the first position, a root
	if f[0] != 0.5 || f[1] != 0.5 {
		t.Errorf("f = %v, want [0.5 0.5 0]", f)
	}
}

func TestForwardPassRefusesWhatItCannotDraw(t *testing.T) {
	for _, x := range [][]int{nil, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, -1}, {0, 0, 0, 0, 0, 26}} {
		if _, err := ForwardPassFigure("x", graph.Figure1(), x); err == nil {
			t.Errorf("no error for the sequence %v", x)
		}
	}
	long := graph.Chain(maxTrace)
	f, err := ForwardPassFigure("x", long, make([]int, maxTrace))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.TeX(); err != nil {
		t.Error(err)
	}
}
