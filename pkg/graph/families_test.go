package graph

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestFamiliesHaveTheirParents(t *testing.T) {
	for _, test := range []struct {
		f    *Forest
		want string
	}{
		{Chain(2), "[-1 -1]"},
		{Chain(3), "[-1 0 -1]"},
		{Chain(6), "[-1 0 1 2 3 -1]"},
		{InContext(2), "[-1 -1]"},
		{InContext(5), "[-1 0 -1 2 -1]"},
		{InContext(6), "[-1 0 -1 2 -1 -1]"}, // position 5 is odd, but the query
		{Example(), "[-1 0 0 1 2 -1]"},
		{Random(5, 1, rand.NewPCG(1, 1)), "[-1 -1 -1 -1 -1]"},
		// First draws, so that graphs with a stored seed stay what they were.
		{Random(20, 0.5, rand.NewPCG(7, 0)), "[-1 0 -1 -1 -1 -1 -1 -1 2 -1 1 7 3 -1 11 -1 15 -1 7 -1]"},
		{RandomUniform(20, rand.NewPCG(7, 0)), "[-1 -1 -1 0 -1 4 4 2 3 5 3 10 1 0 8 10 5 4 12 -1]"},
	} {
		if got := test.f.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// Both laws against the frequencies of all 5! = 120 forests on 6 positions. A
// right sampler fails each with probability 1e-6; the sources are preset.
func TestRandomForestsFollowTheirLaw(t *testing.T) {
	const n, size, falseAlarm = 60_000, 6, 1e-6
	for _, test := range []struct {
		name string
		draw func(rand.Source) *Forest
		prob func(i, p int) float64 // of parent p for position i in 1..4
	}{
		{"Random(1/2)", func(src rand.Source) *Forest { return Random(size, 0.5, src) }, lawRandom(0.5)},
		{"Random(1/5)", func(src rand.Source) *Forest { return Random(size, 0.2, src) }, lawRandom(0.2)},
		{
			"RandomUniform", func(src rand.Source) *Forest { return RandomUniform(size, src) },
			func(i, _ int) float64 { return 1 / float64(i+1) },
		},
	} {
		src := rand.NewPCG(2024, 6)
		count := make(map[string]int)
		for range n {
			count[test.draw(src).String()]++
		}
		chi2, cells, seen, total := 0.0, 0, 0, 0.0
		forests(size, func(f *Forest) {
			prob := 1.0
			for i := 1; i < size-1; i++ {
				prob *= test.prob(i, f.Parent(i))
			}
			total += prob
			got, want := float64(count[f.String()]), n*prob
			chi2 += (got - want) * (got - want) / want
			cells++
			seen += count[f.String()]
		})
		p := distuv.ChiSquared{K: float64(cells - 1)}.Survival(chi2)
		if seen != n || total < 1-1e-12 || total > 1+1e-12 || p < falseAlarm {
			t.Errorf("%s: %d of %d draws in %d cells of total probability %v, chi2 = %.1f, p-value %.2g",
				test.name, seen, n, cells, total, chi2, p)
		}
	}
}

func lawRandom(root float64) func(i, p int) float64 {
	return func(i, p int) float64 {
		if p == Root {
			return root
		}
		return (1 - root) / float64(i)
	}
}

func TestMisuseOfFamiliesPanics(t *testing.T) {
	src := rand.NewPCG(1, 1)
	nan := func() float64 { z := 0.0; return z / z }()
	for name, f := range map[string]func(){
		"Chain(1)":          func() { Chain(1) },
		"InContext(0)":      func() { InContext(0) },
		"Random(1)":         func() { Random(1, 0.5, src) },
		"Random(p = 1.1)":   func() { Random(5, 1.1, src) },
		"Random(p = NaN)":   func() { Random(5, nan, src) },
		"RandomUniform(-1)": func() { RandomUniform(-1, src) },
		"NGram(3, 0)":       func() { NGram(3, 0) },
		"NGram(3, 4)":       func() { NGram(3, 4) },
		"Halves(1)":         func() { Halves(1) },
		"RandomDAG(k = 0)":  func() { RandomDAG(3, 0, 0.5, src) },
		"RandomDAG(k = 4)":  func() { RandomDAG(3, 4, 0.5, src) },
		"RandomDAG(p < 0)":  func() { RandomDAG(3, 2, -0.1, src) },
		"TEffLambda(-0.1)":  func() { Chain(5).TEffLambda(-0.1) },
		"TEffLambda(NaN)":   func() { Chain(5).TEffLambda(nan) },
		"Parent(5)":         func() { Chain(5).Parent(5) },
		"Distance(-1, 0)":   func() { Chain(5).Distance(-1, 0) },
		"Distance(-1, -1)":  func() { Chain(5).Distance(-1, -1) },
		"Distance(0, 5)":    func() { Chain(5).Distance(0, 5) },
	} {
		func() {
			defer func() {
				if e := fmt.Sprint(recover()); len(e) < 7 || e[:7] != "graph: " {
					t.Errorf("%s: got %s, want a panic with the package prefix", name, e)
				}
			}()
			f()
		}()
	}
}
