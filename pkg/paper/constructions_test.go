package paper

import (
	"math"
	"testing"

	"learncausal/pkg/graph"
)

// Scales at which what is left of the softmax is below rounding: two scores of
// roots differ by at least 1/T^2.
const limitOne, limitTwo = 200, 1e4

// each calls f with all sequences of t tokens below s.
func each(s, t int, f func(x []int)) {
	x := make([]int, t)
	for {
		f(x)
		i := t - 1
		for ; i >= 0 && x[i] == s-1; i-- {
			x[i] = 0
		}
		if i < 0 {
			return
		}
		x[i]++
	}
}

// worst returns the largest difference between the dense transformer and limit
// over all sequences.
func (c *Construction) worst(limit func(f []float64, x []int)) float64 {
	w, diff := c.Weights(limitOne, limitTwo), 0.0
	f := make([]float64, c.S)
	each(c.S, w.T, func(x []int) {
		limit(f, x)
		for a, v := range w.Linear(x).RawRowView(w.T - 1) {
			diff = max(diff, math.Abs(v-f[a]))
		}
	})
	return diff
}

func constructions(t *testing.T) []*Construction {
	all := []*Construction{
		ConstructionOne(graph.Example(), 3), ConstructionOne(graph.Chain(6), 2), ConstructionOne(graph.InContext(6), 3),
		ConstructionTwo(graph.NGram(6, 2), 2), ConstructionTwo(graph.Halves(6), 3), ConstructionTwo(graph.NGram(7, 3), 2),
	}
	// Roots in between, and a last position without parents.
	g, err := graph.NewDAG([][]int{nil, nil, {1, 0}, nil, {3, 0}, nil, {2, 4}})
	if err != nil {
		t.Fatal(err)
	}
	return append(all, ConstructionTwo(g, 2))
}

func TestTheLimitIsThatOfTheTransformer(t *testing.T) {
	for k, c := range constructions(t) {
		if d := c.worst(c.Limit); d > 1e-9 {
			t.Errorf("construction %d: limit and transformer differ by %v", k, d)
		}
	}
}

// The check sees that roots take part.
func TestTheLimitWithoutRootsIsAnother(t *testing.T) {
	for k, c := range constructions(t) {
		withoutRoots := func(f []float64, x []int) {
			clear(f)
			n := 0.0
			for _, i := range c.Attended(x) {
				if len(c.parents[i]) > 0 || i == len(x)-1 {
					f[x[i]]++
					n++
				}
			}
			for a := range f {
				f[a] /= max(n, 1)
			}
		}
		if d := c.worst(withoutRoots); d < 0.1 {
			t.Errorf("construction %d: leaving roots out changes the limit by %v only", k, d)
		}
	}
}

// On the sequence of Figure 3 the limit is the empirical estimate: the tokens at
// positions 4 and 5, whose parents hold the query's token.
func TestForwardPassIsTheEmpiricalEstimate(t *testing.T) {
	c := ConstructionOne(graph.Example(), 3)
	f := make([]float64, 3)
	c.Limit(f, forwardPassTokens)
	if f[0] != 0 || f[1] != 0.5 || f[2] != 0.5 {
		t.Errorf("f = %v, want [0 0.5 0.5]", f)
	}
	if r := ForwardPassRow(); r.Verdict != "reproduced" {
		t.Errorf("%+v", r)
	}
	c.Limit(f, []int{0, 1, 0, 2, 1, 0}) // with the first position, a root
	if f[0] != 0.5 || f[1] != 0.5 {
		t.Errorf("f = %v, want [0.5 0.5 0]", f)
	}
}

func TestForwardPassRefusesWhatItCannotDraw(t *testing.T) {
	for _, x := range [][]int{nil, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, -1}, {0, 0, 0, 0, 0, 26}} {
		if _, err := ForwardPassFigure("x", graph.Example(), x); err == nil {
			t.Errorf("no error for the sequence %v", x)
		}
	}
	long := graph.Chain(MaxTrace)
	f, err := ForwardPassFigure("x", long, make([]int, MaxTrace))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.TeX(); err != nil {
		t.Error(err)
	}
}
