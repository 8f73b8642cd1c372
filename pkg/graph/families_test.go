package graph

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

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

// Frequencies of all 5! = 120 forests on 6 positions. A right sampler fails each with
// probability 1e-6; the sources are preset.
func TestRandomForestsFollowTheirLaw(t *testing.T) {
	const n, size, falseAlarm = 60_000, 6, 1e-6
	for _, root := range []float64{0.5, 0.2} {
		src := rand.NewPCG(2024, 6)
		count := make(map[string]int)
		for range n {
			count[Random(size, root, src).String()]++
		}
		chi2, cells, seen := 0.0, 0, 0
		for f := range All(size) {
			prob := 1.0
			for i := 1; i < size-1; i++ {
				if f.Parent(i) == Root {
					prob *= root
				} else {
					prob *= (1 - root) / float64(i)
				}
			}
			got, want := float64(count[f.String()]), n*prob
			chi2 += (got - want) * (got - want) / want
			cells++
			seen += count[f.String()]
		}
		if p := (distuv.ChiSquared{K: float64(cells - 1)}).Survival(chi2); seen != n || p < falseAlarm {
			t.Errorf("%v: %d of %d draws in %d cells, chi2 = %.1f, p-value %.2g", root, seen, n, cells, chi2, p)
		}
	}
}

// First draws, so that graphs with a stored seed do not change.
func TestDrawsOfFamiliesArePinned(t *testing.T) {
	const want = "[-1 0 -1 -1 -1 -1 -1 -1 2 -1 1 7 3 -1 11 -1 15 -1 7 -1]"
	if got := Random(20, 0.5, rand.NewPCG(7, 0)).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
