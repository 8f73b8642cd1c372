package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// someDAGs returns graphs of every family, and mixed ones in any order.
func someDAGs(t *testing.T) []*DAG {
	t.Helper()
	src := rand.NewPCG(3, 4)
	rnd := rand.New(src)
	gs := []*DAG{NGram(1, 1), NGram(12, 3), Halves(2), Halves(12)}
	for n := 3; n <= 12; n++ {
		gs = append(gs, RandomDAG(n, 1+n%3, 0.3, src))
		parents := make([][]int, n+1)
		for i := range parents {
			parents[i] = rnd.Perm(i)[:rnd.IntN(min(i, 4)+1)]
		}
		parents[n] = append([]int{n - 1}, rnd.Perm(n - 1)[:n%3]...)
		g, err := NewDAG(parents)
		if err != nil {
			t.Fatal(err)
		}
		gs = append(gs, g)
	}
	return gs
}

func sameDAG(g, h *DAG) bool {
	return slices.EqualFunc(g.Parents(), h.Parents(), slices.Equal[[]int])
}

// In-degrees may be mixed; only Uniform refuses them, and names the first node.
func TestInDegreesMayDiffer(t *testing.T) {
	for _, test := range []struct {
		parents [][]int
		k       int
		want    string // the error
	}{
		{[][]int{{}, {}, {1, 0}, {}, {0, 3}}, 2, ""},
		{[][]int{{}, {0}, {0}, {1}}, 1, ""},
		{[][]int{{}, {0}, {0, 1}}, 0, "graph: node 1 has 1 parents and the label 2, want none or as many"},
		{[][]int{{}, {}, {0, 1}, {0, 1, 2}, {3, 0}}, 0, "graph: node 3 has 3 parents and the label 2, want none or as many"},
	} {
		g, err := NewDAG(test.parents)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		k, err := g.Uniform()
		if err != nil {
			text = err.Error()
		}
		if k != test.k || text != test.want {
			t.Errorf("%v: %d parents, error %q; want %d, %q", test.parents, k, text, test.k, test.want)
		}
	}
}

func TestFamiliesOfDAGsHaveTheirParents(t *testing.T) {
	for _, test := range []struct {
		g    *DAG
		want string
	}{
		{NGram(4, 2), "[[] [] [0 1] [1 2] [2 3]]"},
		{NGram(3, 3), "[[] [] [] [0 1 2]]"},
		{Halves(5), "[[] [] [0 1] [1 2] [1 3] [2 4]]"},
		{RandomDAG(3, 1, 1, rand.NewPCG(1, 1)), "[[] [] [] [1]]"},
		{RandomDAG(3, 3, 0, rand.NewPCG(1, 1)), "[[] [] [] [0 1 2]]"},
		// First draws, so that graphs with a stored seed do not change.
		{RandomDAG(4, 1, 0, rand.NewPCG(1, 1)), "[[] [0] [1] [1] [3]]"},
		{RandomDAG(10, 2, 0.3, rand.NewPCG(7, 0)), "[[] [] [0 1] [] [] [0 2] [0 2] [5 6] [1 4] [1 8] [5 7]]"},
	} {
		if got := fmt.Sprint(test.g.Parents()); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// Against the frequencies of all graphs on 4 positions: with two parents, a root
// or 1 set at position 2, a root or 3 sets at position 3, and 6 sets at the
// label. A right sampler fails each with probability 1e-6; the source is preset.
func TestRandomDAGsFollowTheirLaw(t *testing.T) {
	const n, size, falseAlarm = 60_000, 4, 1e-6
	for _, test := range []struct {
		k, graphs int
		p         float64
	}{{1, 2 * 3 * 4 * 4, 0.5}, {2, 2 * 4 * 6, 0.3}, {3, 2 * 4, 0.2}} {
		src := rand.NewPCG(2024, 7)
		prob, count := map[string]float64{}, map[string]float64{}
		for range n {
			g := RandomDAG(size, test.k, test.p, src)
			if k, err := g.Uniform(); k != test.k || err != nil {
				t.Fatalf("%v: %d parents, error %v", g.Parents(), k, err)
			}
			key, p := fmt.Sprint(g.Parents()), 1.0
			for i, ps := range g.Parents()[test.k:] {
				sets := float64(combin.Binomial(i+test.k, test.k))
				switch {
				case i+test.k == size:
					p /= sets
				case len(ps) == 0:
					p *= test.p
				default:
					p *= (1 - test.p) / sets
				}
			}
			prob[key] = p
			count[key]++
		}
		chi2, total := 0.0, 0.0
		for key, p := range prob {
			chi2 += (count[key] - n*p) * (count[key] - n*p) / (n * p)
			total += p
		}
		p := distuv.ChiSquared{K: float64(test.graphs - 1)}.Survival(chi2)
		if len(prob) != test.graphs || total < 1-1e-12 || total > 1+1e-12 || p < falseAlarm {
			t.Errorf("k = %d: %d graphs of total probability %v, want %d of 1; chi2 = %.1f, p-value %.2g",
				test.k, len(prob), total, test.graphs, chi2, p)
		}
	}
}
