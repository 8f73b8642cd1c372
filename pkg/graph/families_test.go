package graph

import (
	"math"
	"math/rand/v2"
	"slices"
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
		{Spider(8, 2), "[-1 0 0 1 2 3 4 -1]"},
		{Spider(8, 3), "[-1 0 0 0 1 2 3 -1]"},
		{BinaryTree(8), "[-1 0 0 1 1 2 2 -1]"},
		{Star(5), "[-1 0 0 0 -1]"},
		{Figure1(), "[-1 0 0 1 2 -1]"},
		{Random(5, 1, rand.NewPCG(1, 1)), "[-1 -1 -1 -1 -1]"},
		// First draws, so that graphs with a stored seed do not change.
		{Random(20, 0.5, rand.NewPCG(7, 0)), "[-1 0 -1 -1 -1 -1 -1 -1 2 -1 1 7 3 -1 11 -1 15 -1 7 -1]"},
		{uniform(20, rand.NewPCG(7, 0)), "[-1 -1 -1 0 -1 4 4 2 3 5 3 10 1 0 8 10 5 4 12 -1]"},
	} {
		if got := test.f.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// uniform is the law of the authors' released script: the parent of i is drawn
// uniformly from -1..i-1.
func uniform(t int, src rand.Source) *Forest {
	rnd := rand.New(src)
	return Grow(t, func(i int) int { return rnd.IntN(i+1) - 1 })
}

func TestFamiliesHaveTheirEffectiveLength(t *testing.T) {
	for n := 3; n <= 40; n++ {
		odd := float64(n % 2)
		for name, want := range map[string]float64{
			"chain":       float64(n),
			"in-context":  float64(n),
			"spider":      float64(n) / math.Floor(math.Sqrt(float64(n))),
			"binary tree": 2 * (float64(n) - 1 + odd) / float64(n-1),
			"star":        float64(n) / float64(n-2),
		} {
			if got := FamilyNamed(name).New(n).TEff(); math.Abs(got-want) > 1e-15*want {
				t.Errorf("%s on %d positions: TEff = %v, want %v", name, n, got, want)
			}
		}
	}
	if n := len(Families()); n != 5 {
		t.Errorf("%d families, 5 of them are tested", n)
	}
}

func TestAllForestsAreDistinctAndInOrder(t *testing.T) {
	for n, want := range map[int]int{2: 1, 3: 2, 4: 6, 6: 120} {
		var all [][]int
		for f := range All(n) {
			all = append(all, f.Parents())
		}
		if len(all) != want || !slices.IsSortedFunc(all, slices.Compare[[]int]) {
			t.Errorf("%d forests on %d positions, want %d in order", len(all), n, want)
		}
		for k, parents := range all {
			if k > 0 && slices.Equal(parents, all[k-1]) {
				t.Errorf("forest %v comes twice", parents)
			}
			if _, err := New(parents); err != nil {
				t.Error(err)
			}
		}
	}
	for range All(5) {
		break
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
			"uniform", func(src rand.Source) *Forest { return uniform(size, src) },
			func(i, _ int) float64 { return 1 / float64(i+1) },
		},
	} {
		src := rand.NewPCG(2024, 6)
		count := make(map[string]int)
		for range n {
			count[test.draw(src).String()]++
		}
		chi2, cells, seen, total := 0.0, 0, 0, 0.0
		for f := range All(size) {
			prob := 1.0
			for i := 1; i < size-1; i++ {
				prob *= test.prob(i, f.Parent(i))
			}
			total += prob
			got, want := float64(count[f.String()]), n*prob
			chi2 += (got - want) * (got - want) / want
			cells++
			seen += count[f.String()]
		}
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
