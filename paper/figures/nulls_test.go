package figures

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"

	"learncausal/pkg/graph"
	"learncausal/pkg/num"
)

func TestTwoKinds(t *testing.T) {
	normal := distuv.Normal{Sigma: 1, Src: num.Stream(1, "two kinds")}
	one, two := make([]float64, 50), make([]float64, 50)
	for k := range one {
		one[k] = normal.Rand()
		if two[k] = normal.Rand(); k < 10 {
			two[k] += 6
		}
	}
	if gain, _ := TwoKinds(one); gain > 0 {
		t.Errorf("one kind has a gain of %.1f", gain)
	}
	if gain, less := TwoKinds(two); gain < 20 || math.Abs(less-0.2) > 0.02 {
		t.Errorf("two kinds, a fifth and the rest: gain %.1f, share %.2f", gain, less)
	}
}

func TestOrderedPairs(t *testing.T) {
	var graphs []*Joint
	for _, length := range []int{10, 20, 30} {
		for _, g := range []*graph.Forest{graph.Chain(length), graph.Spider(length, 4), graph.Star(length)} {
			graphs = append(graphs, &Joint{Graph: g})
		}
	}
	// Nine pairs. All are ordered by 6^3 = 216 deals once.
	ordered, pairs, p := OrderedPairs(graphs, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	if ordered != 9 || pairs != 9 || math.Abs(p-1./216) > 0.002 {
		t.Errorf("%d of %d pairs, p = %.4f, want 9 of 9 and 0.0046", ordered, pairs, p)
	}
	if ordered, _, p := OrderedPairs(graphs, []float64{3, 2, 1, 6, 5, 4, 9, 8, 7}); ordered != 0 || p < 0.999 {
		t.Errorf("the reverse: %d pairs, p = %.4f", ordered, p)
	}
}

// Of the choices of as many edges of each graph, one share has siblings alone.
func TestSiblingChance(t *testing.T) {
	c, err := LoadComparison(Figure9)
	if err != nil {
		t.Fatal(err)
	}
	want := 1.0
	for g := range c.Mean {
		edges, siblings, fail := 0, 0, 0
		for _, e := range c.Edges() {
			if e.Graph != g {
				continue
			}
			if edges++; e.Sibling {
				siblings++
			}
			if e.Unlearned() {
				fail++
			}
		}
		want *= float64(combin.Binomial(siblings, fail)) / float64(combin.Binomial(edges, fail))
	}
	if got := c.SiblingChance(); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
}

func TestPrintedRank(t *testing.T) {
	c := &Comparison{Printed: []float64{2.5, 0, 9}, Mean: [][]float64{{1, 2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}}}
	if mean, p := c.PrintedRank(); math.Abs(mean-0.5) > 1e-12 || math.Abs(p-1) > 1e-12 {
		t.Errorf("in the middle: %g, p = %g", mean, p)
	}
	c.Printed[1] = 9 // the mean of three uniform numbers has the variance 1/36
	want := 2 * distuv.UnitNormal.Survival(2)
	if mean, p := c.PrintedRank(); math.Abs(mean-5./6) > 1e-12 || math.Abs(p-want) > 1e-12 {
		t.Errorf("near the top: %g, p = %g, want %g", mean, p, want)
	}
}
